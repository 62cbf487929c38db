"""Models live in a child process: what kills it costs one answer, and says why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxsift.backends.base import Limits, ModelSpec
from ctxsift.backends.llama_worker import LlamaWorkerBackend
from ctxsift.backends.registry import create_backend
from ctxsift.backends.worker import WorkerBackend
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

"""One opened model: asked from a thread or from a loop, ended, loaded again, told from others."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from ctxsift.asking import ask_async
from ctxsift.backends.base import Ability, Limits, LoadInfo, ModelOptions, ModelSpec
from ctxsift.backends.registry import BASELINES, GGUF, SERVICE
from ctxsift.errors import (
    LoadError,
    RefusedError,
    TransientError,
    WeightsError,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from ctxsift.intents import Intent
from ctxsift.models.filtered import BEFORE
from ctxsift.models.opened import Opened, Patience
from ctxsift.programs import Program
from ctxsift.prompts import FixedPrompt, Message, Request, RequestPrompt
from ctxsift.settings import Settings
from tests.conftest import ROOT
from tests.support.fault_service import FaultService, Script, completion, hang, refusal

PATIENCE = Patience(load_s=60, answer_s=60, attempt_s=20, retries=1)
PROMPT = FixedPrompt((Message("user", "which test failed?"),))
LIMITS = Limits(64)


@contextmanager
def opened(name: str, spec: ModelSpec, patience: Patience = PATIENCE, **more: Any) -> Iterator[Opened]:
    model = Opened(name, spec, patience, **more)
    try:
        yield model
    finally:
        model.close()


def scripted(folder: Path, **fields: Any) -> ModelSpec:
    path = folder / "script.json"
    path.write_text(json.dumps({"default": "fine.", "log": str(folder / "log")} | fields))
    return ModelSpec(str(path))


def asked(folder: Path) -> int:
    return len((folder / "log").read_text().splitlines())


def workers() -> list[psutil.Process]:
    """Return the processes of scripted models; models of other tests may be open yet."""
    found = []
    for child in psutil.Process().children():
        # One that has just ended has no command line.
        with suppress(psutil.Error):
            found += [child] if child.cmdline()[-1:] == ["scripted"] else []
    return found


def end_its_process() -> None:
    (child,) = workers()
    child.kill()


def test_a_local_model_is_loaded_with_the_first_question_and_once(tmp_path: Path) -> None:
    with opened("scripted", scripted(tmp_path)) as model:
        assert not workers()
        assert model.ask(PROMPT, LIMITS).generation.text == "fine."
        assert model.load() is model.load()
        assert (model.is_service, model.reads_batches, asked(tmp_path)) == (False, False, 1)
        assert model.cpu_s > 0
        assert model.rss_bytes is not None
    assert not workers()


def test_one_that_died_is_loaded_again_and_asked_once_more(tmp_path: Path) -> None:
    with opened("scripted", scripted(tmp_path)) as model:
        model.load()
        for _ in range(2):
            end_its_process()
            assert model.ask(PROMPT, LIMITS).generation.text == "fine."
        end_its_process()
        with pytest.raises(WorkerCrashedError, match="SIGKILL"):
            model.ask(PROMPT, LIMITS, again=False)
        assert asked(tmp_path) == 2


def test_one_that_dies_over_a_question_costs_that_question(tmp_path: Path) -> None:
    with opened("scripted", scripted(tmp_path, crash_on="which")) as model:
        with pytest.raises(WorkerCrashedError, match="SIGSEGV"):
            model.ask(PROMPT, LIMITS)
        assert model.ask(FixedPrompt((Message("user", "what else?"),)), LIMITS).generation.text == "fine."


def test_it_is_not_waited_for_without_end(tmp_path: Path) -> None:
    patience = Patience.of(Settings(), 60, timeout_s=0.5)
    with (
        opened("scripted", scripted(tmp_path, hang_on="which"), patience) as model,
        pytest.raises(WorkerTimeoutError, match=r"no answer within 0\.5 s"),
    ):
        model.ask(PROMPT, LIMITS, again=False)


def test_it_is_ended_from_another_thread_for_good(tmp_path: Path) -> None:
    with opened("scripted", scripted(tmp_path, hang_on="which")) as model:
        model.load()
        killer = threading.Timer(0.3, model.kill)
        killer.start()
        begun = time.monotonic()
        with pytest.raises(WorkerCrashedError):
            model.ask(PROMPT, LIMITS)
        killer.join()
        assert time.monotonic() - begun < 20
        with pytest.raises(WorkerCrashedError):
            model.load()


def test_patience_of_settings() -> None:
    settings = Settings(timeout_ms=5000, retries=3)
    assert Patience.of(settings, 600) == Patience(600, 600, 5, 3)
    assert Patience.of(settings, 600, 7) == Patience(7, 7, 7, 3)


@pytest.mark.parametrize("fields", [{}, {"crash_first_decode": True}])
def test_a_loop_asks_it_as_a_service_is_asked(tmp_path: Path, fields: dict[str, Any]) -> None:
    with opened("scripted", scripted(tmp_path, **fields)) as model:
        model.load()

        async def ask() -> str:
            async with aclosing(model.backend) as backend:
                await backend.aopen()
                end_its_process()
                attempted = await model.retry.run(lambda: ask_async(PROMPT, backend, LIMITS))
                assert attempted.attempts == 2
                return attempted.value.generation.text

        if fields:
            # Loading it again does not mend what kills it.
            with pytest.raises(WorkerCrashedError, match="SIGSEGV"):
                asyncio.run(ask())
        else:
            assert asyncio.run(ask()) == "fine."


def test_what_tells_it_from_others_is_what_journals_hold(tmp_path: Path) -> None:
    spec = scripted(tmp_path, engine_version="7")
    with opened("scripted", spec, gguf_filename="m.gguf", host="h.example") as model:
        load: LoadInfo = model.load()
        known = [spec.model, "m.gguf", "h.example", "scripted", load.engine, "7", load.chat_template_sha256, 0]
        assert json.loads(model.identity) == known


def test_weights_are_found_where_its_backend_reads_them(tmp_path: Path) -> None:
    with opened(GGUF, ModelSpec(str(tmp_path / "none.gguf"))) as model:
        with pytest.raises(WeightsError, match="no such file or folder"):
            model.load()
        assert model.abilities >= {Ability.LOG_PROBABILITIES}
    # Where the path is known, nothing is looked for.
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    with opened(GGUF, ModelSpec("no/such-model", str(broken))) as model, pytest.raises(LoadError):
        model.load()


def test_one_that_is_not_there() -> None:
    with pytest.raises(LoadError, match="no backend is registered as 'scriptd'; did you mean scripted"):
        Opened("scriptd", ModelSpec("m"), PATIENCE)


def test_what_it_cannot_do_is_refused_and_not_asked(tmp_path: Path) -> None:
    with opened("scripted", scripted(tmp_path)) as model, pytest.raises(RefusedError, match="cannot tell log-prob"):
        model.log_probabilities("a text")
    with opened(SERVICE, ModelSpec("m")) as model, pytest.raises(LoadError, match="CTXSIFT_LLM_BASE_URL is not set"):
        model.log_probabilities("a text")


def test_from_a_thread_too_it_reads_what_the_program_before_it_prints() -> None:
    before = ModelSpec("tail", options=ModelOptions(program=Program(("tail", "-n", "1"))))
    with opened(BASELINES, ModelSpec("echo"), before=before) as model:
        assert BEFORE in model.load().settings
        answer = model.ask(RequestPrompt(Request("one\ntwo\n", "what?", Intent.SUMMARY)), LIMITS)
        assert answer.generation.read == "two\n"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[FaultService], ModelSpec]:
    def spec(service: FaultService) -> ModelSpec:
        monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", service.url)
        monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
        return ModelSpec("openai/m", device="remote")

    return spec


@pytest.mark.slow
@pytest.mark.xdist_group("remote")
def test_a_service_is_asked_again_from_one_loop(at: Callable[[FaultService], ModelSpec]) -> None:
    busy = Script("which", [refusal(503, "busy"), completion("at last")])
    with FaultService(busy, default=completion("fine")) as service, opened(SERVICE, at(service)) as model:
        assert model.is_service
        assert model.ask(PROMPT, LIMITS).generation.text == "at last"
        assert model.ask(FixedPrompt((Message("user", "else?"),)), LIMITS).generation.text == "fine"
        assert (len(service.requests), model.cpu_s, model.rss_bytes) == (3, 0.0, None)
        # There is no process to end.
        model.kill()


@pytest.mark.slow
@pytest.mark.xdist_group("remote")
def test_a_service_that_does_not_answer(at: Callable[[FaultService], ModelSpec]) -> None:
    with FaultService(default=hang) as service:
        with (
            opened(SERVICE, at(service), Patience(60, 60, 0.5, 0)) as model,
            pytest.raises(TransientError, match=r"no answer within 0\.5 s"),
        ):
            model.ask(PROMPT, LIMITS)
        assert len(service.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("package:qwen", "did you mean package:qwen2.5-coder-0.5b"),
        ("gpt-4o-mini", "no such file, folder or packaged model; to ask a service for it, add --remote"),
        ("./mine.gguf", "./mine.gguf: no such file or folder"),
        ("package:qwen2.5-coder-0.5b", "models on this machine need: pip install"),
    ],
)
@pytest.mark.parametrize("command", ["compress", "compact"])
def test_a_name_is_refused_before_an_engine_is_missed(command: str, model: str, told: str) -> None:
    words = {"compress": ["what failed?"], "compact": [str(ROOT / "docs" / "examples" / "session.json")]}[command]
    if command == "compact":
        words += ["--keep-last", "60", "--budget", "400"]
    arguments = [command, *words, "--model", model]
    # As it is where no extra is installed.
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['jinja2', 'llama_cpp'])); "
        f"from ctxsift.cli.main import main; sys.exit(main({arguments!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="FAILED test_cart\n" * 900, capture_output=True, text=True, check=False
    )
    assert told in done.stderr
    assert ("on this machine need: pip" in done.stderr) == ("0.5b" in model)

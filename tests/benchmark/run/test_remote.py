"""The remote track against services on loopback that fail in every way there is."""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from tenacity import RetryCallState

from benchmark.cases import Corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.record.base import to_json
from benchmark.record.read import find_results
from benchmark.record.result import Outcome
from benchmark.run.asking import AskingStop, Event
from benchmark.run.recorder import UnitRecorder
from benchmark.run.selection import select_cases
from ctxsift.backends import retry
from ctxsift.backends.litellm_reasoning import reasoning_options
from tests.conftest import Run, write_matrix
from tests.support.fault_service import (
    Fault,
    FaultService,
    Script,
    close_in_the_middle,
    completion,
    hang,
    hang_up,
    refusal,
    reply,
    slowly,
    trickle,
)
from tests.support.packaged import keep_corpus
from tests.support.remote import clean_environ, remote
from tests.support.runs import ended, start, wait_for

# Together with the other modules that import LiteLLM, so that one worker does.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("remote")]

KEY = "planted-k3y-8c1f"
# LiteLLM knows it, and its price.
LISTED = "gpt-4o-mini"


@pytest.fixture(autouse=True)
def kept_corpus(monkeypatch: pytest.MonkeyPatch, corpus: Corpus) -> None:
    keep_corpus(monkeypatch, corpus)


def settings(folder: Path, url: str, **values: object) -> list[str]:
    """Write an env file and return the options that name it."""
    given = {"LLM_BASE_URL": url, "LLM_API_KEY": KEY, "TIMEOUT_MS": 1500, "RETRIES": 2, **values}
    file = folder / ".env"
    file.write_text("".join(f"CTXSIFT_{name}={value}\n" for name, value in given.items()))
    return ["--remote", "--env-file", str(file)]


def result_of(folder: Path) -> dict[str, Any]:
    (path,) = (p for p in (folder / "results").glob("*/*.json"))
    (stored,) = find_results([path])
    found: dict[str, Any] = to_json(stored.record)
    return found


def cases_of(folder: Path) -> dict[str, dict[str, Any]]:
    return {case["case_id"]: case for case in result_of(folder)["cases"]}


FAULTS: dict[str, tuple[Sequence[Fault], str, int, str]] = {
    # what happens -> (one fault an attempt, how the case ends, attempts, what is said of it)
    "429 with Retry-After": ([refusal(429, "slow down", retry_after="1"), completion("a")], "scored", 2, ""),
    "429 without": ([refusal(429, "slow down"), completion("a")], "scored", 2, ""),
    "429 for ever": ([refusal(429, "slow down")], "instrument_failure", 3, "the service answered 429: slow down"),
    "429 for an hour": ([refusal(429, "quota", retry_after="3600")], "instrument_failure", 1, "answered 429: quota"),
    "500 burst": ([refusal(500, "boom"), refusal(503, "boom"), completion("a")], "scored", 3, ""),
    "hang": ([hang], "instrument_failure", 3, "no answer within 1.5 s"),
    "hang once": ([hang, completion("a")], "scored", 2, ""),
    "slow trickle": ([trickle], "instrument_failure", 3, "no answer within 1.5 s"),
    "closed in the middle": ([close_in_the_middle], "instrument_failure", 3, "the connection broke in the middle"),
    "hung up once": ([hang_up, completion("a")], "scored", 2, ""),
    "invalid JSON": ([reply(200, b'{"id": "1", "choices": [')], "instrument_failure", 1, "but with no chat completion"),
    "no choice": ([reply(200, b'{"id": "1", "choices": []}')], "instrument_failure", 1, "without a choice"),
    "a list": ([reply(200, b"[1, 2]")], "instrument_failure", 1, "but with no chat completion"),
    "empty at the limit": ([completion("", "length")], "model_failure", 1, "truncated_reasoning"),
    "null at the limit": ([completion(None, "length", reasoning="Hm")], "model_failure", 1, "truncated_reasoning"),
    "cut inside thought": ([completion("<think>The user", "length")], "model_failure", 1, "truncated_reasoning"),
    "cut": ([completion("half an answ", "length")], "model_failure", 1, "token_limit"),
    "empty": ([completion("")], "model_failure", 1, "empty_answer"),
    "HTML page": ([reply(200, b"<html>login</html>", "text/html")], "instrument_failure", 1, "no chat completion"),
    "HTML 502": ([reply(502, b"<html>bad gateway</html>", "text/html")], "instrument_failure", 3, "answered 502"),
    "wrong type": ([reply(200, b"hello", "text/plain")], "instrument_failure", 1, "but with no chat completion"),
    "bad request": ([refusal(400, "no seed here")], "instrument_failure", 1, "the service answered 400: no seed here"),
    "redirect": ([reply(307, b"", location="http://192.0.2.1/v1")], "instrument_failure", 1, "answered 307"),
}


# Writes down whom a runner calls, and that LiteLLM loads the nearest .env above its own folder.
_WATCHED = """
import dotenv, runpy, sys
seen = set()
def note(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        address = arguments[1] if event == "socket.connect" else arguments[0]
        seen.add(str(address[0] if isinstance(address, tuple) else address))
dotenv.load_dotenv = lambda *_, **__: open("loaded", "w").close()
sys.addaudithook(note)
try:
    runpy.run_module("benchmark.runner", run_name="__main__", alter_sys=True)
finally:
    open("addresses", "w").write("\\n".join(sorted(seen)))
"""


@pytest.fixture(scope="module")
def faulty(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus
) -> tuple[Path, dict[str, str], subprocess.CompletedProcess[str], FaultService]:
    """One run in which every kind of fault happens to a case of its own, among as many healthy ones.

    It is a process, and watched: what LiteLLM does while it is imported belongs to it.
    """
    folder = tmp_path_factory.mktemp("faulty")
    chosen = select_cases(corpus, max_cases=3 * len(FAULTS))
    struck = {name: chosen[3 * index].case_id for index, name in enumerate(FAULTS)}
    needles = {case.case_id: case.instruction.strip() for case in chosen}
    scripts = [Script(needles[struck[name]], faults) for name, (faults, *_) in FAULTS.items()]
    write_matrix(folder, remote(model=LISTED, concurrency=4))
    with FaultService(*scripts, default=completion("a healthy answer")) as service:
        options = ["--max-cases", str(len(chosen)), *settings(folder, service.url)]
        done = subprocess.run(
            [sys.executable, "-c", _WATCHED, *options],
            cwd=folder,
            env=clean_environ(LITELLM_PRINT_STANDARD_LOGGING_PAYLOAD="1"),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    return folder, struck, done, service


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_ends_as_what_it_is(name: str, faulty: Any) -> None:
    folder, struck, done, _ = faulty
    assert "Traceback" not in done.stderr
    _, outcome, attempts, said = FAULTS[name]
    case = cases_of(folder)[struck[name]]
    assert (case["outcome"], case["attempts"]) == (outcome, attempts), case
    assert said in (case.get("failure_reason") or case.get("error") or "")


def test_the_run_goes_on_and_counts_are_right(faulty: Any) -> None:
    folder, struck, done, _ = faulty
    assert done.returncode == 1
    record = result_of(folder)
    endings = [outcome for _, outcome, _, _ in FAULTS.values()]
    summary = record["summary"]
    assert summary["planned_count"] == 3 * len(FAULTS) == len(record["cases"])
    assert summary["instrument_failure_count"] == endings.count("instrument_failure")
    assert summary["case_count"] == 3 * len(FAULTS) - endings.count("instrument_failure")
    assert summary["model_failure_counts"] == {"empty_answer": 1, "token_limit": 1, "truncated_reasoning": 3}
    assert not record["run"]["complete"]
    assert record["run"]["error"] is None
    healthy = [case for case in record["cases"] if case["case_id"] not in struck.values()]
    assert {case["outcome"] for case in healthy} == {"scored"}
    assert {case["output"] for case in healthy} == {"a healthy answer"}
    assert [case["case_id"] for case in record["cases"]] == record["run"]["case_ids"]
    assert "truncated reasoning" in done.stdout


def test_latency_is_that_of_the_attempt_that_answered(faulty: Any) -> None:
    folder, struck, _, _ = faulty
    cases = cases_of(folder)
    # The service asked for one second; a question that hangs is given up after a second and a half.
    for name, lost_ms in (("429 with Retry-After", 1000), ("hang once", 1500)):
        case = cases[struck[name]]
        assert 0 < case["inference_ms"] <= case["elapsed_ms"] - lost_ms, name


def test_every_attempt_is_in_the_journal(faulty: Any) -> None:
    folder, struck, _, service = faulty
    (path,) = (folder / "results").glob("*/*.journal.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    attempts = [line for line in lines if line["type"] in ("failure", "generation")]
    assert len(attempts) == len(service.requests) == sum(case["attempts"] for case in cases_of(folder).values())
    mine = [line for line in attempts if line["case_id"] == struck["500 burst"]]
    assert [(line["type"], line["attempt"]) for line in mine] == [("failure", 1), ("failure", 2), ("generation", 3)]


def test_nobody_else_talks_on_the_terminal(faulty: Any) -> None:
    _, _, done, _ = faulty
    assert "litellm" not in done.stdout.lower()
    assert "standard_built_in_tools_params" not in done.stdout
    others = [line for line in done.stderr.splitlines() if not re.match(r"remote-test: |\S+: no answer: ", line)]
    assert others == []


def test_concurrency_is_the_number_in_flight(faulty: Any) -> None:
    *_, service = faulty
    # What was given up here may still be in the service's hands.
    assert 4 <= service.most_in_flight <= 12


def test_what_is_asked(faulty: Any) -> None:
    *_, service = faulty
    for body in service.requests:
        assert (body["temperature"], body["seed"], body["max_tokens"], body["model"]) == (0, 0, 512, LISTED)
        assert [m["role"] for m in body["messages"]] == ["system", "user"]
        assert set(body) == {"model", "messages", "temperature", "seed", "max_tokens"}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (refusal(401, f"Incorrect API key provided: {KEY}"), "does not accept the key (CTXSIFT_LLM_API_KEY): 401, Inc"),
        (refusal(403, "not yours"), "does not allow this key to use this model: 403, not yours"),
        (refusal(404, "The model `m` does not exist"), "knows no such model, or the address (CTXSIFT_LLM_BASE_URL) is"),
    ],
)
def test_a_refusal_ends_the_scenario_at_once(fault: Fault, said: str, runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote(concurrency=4))
    with FaultService(default=fault) as service:
        done = runner("--max-cases", "40", *settings(tmp_path, service.url))
        asked = len(service.requests)
    assert done.returncode == 1
    assert asked <= 4
    assert said in done.stdout
    assert "Traceback" not in done.stderr
    assert said in result_of(tmp_path)["run"]["error"]
    everything = done.stdout + done.stderr + "".join(p.read_text() for p in tmp_path.rglob("results/*/*"))
    assert KEY not in everything


def test_the_key_goes_to_the_service_and_nowhere_else(faulty: Any) -> None:
    folder, _, done, service = faulty
    assert all(f"authorization: Bearer {KEY}".lower() in head.lower() for head in service.headers)
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".env"]
    assert any(path.suffix == ".jsonl" for path in files)
    assert all(KEY not in path.read_text() for path in files)
    assert KEY not in done.stdout + done.stderr


def test_nothing_but_the_configured_address_is_called(faulty: Any) -> None:
    folder, *_ = faulty
    assert set((folder / "addresses").read_text().split()) == {"127.0.0.1"}


def test_a_model_of_the_list_of_litellm_has_a_price(faulty: Any) -> None:
    folder, *_ = faulty
    summary = result_of(folder)["summary"]
    # Every completion tells 11 tokens of prompt and 7 of answer.
    assert summary["cost_usd"] == pytest.approx(summary["case_count"] * (11 * 0.15e-6 + 7 * 0.6e-6))


def test_an_env_file_that_happens_to_lie_about_is_left_alone(faulty: Any) -> None:
    # Its address would be the next scenario's.
    folder, *_ = faulty
    assert not (folder / "loaded").exists()


@pytest.mark.parametrize(
    ("settings_text", "missing"),
    [
        ("", "CTXSIFT_LLM_BASE_URL is not set"),
        ("CTXSIFT_LLM_BASE_URL=http://127.0.0.1:9/v1\n", "CTXSIFT_LLM_API_KEY is not set"),
    ],
)
def test_what_is_missing_is_named(settings_text: str, missing: str, runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    (tmp_path / ".env").write_text(settings_text)
    done = runner("--max-cases", "2", "--remote", "--env-file", ".env")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [next(line for line in done.stderr.splitlines() if missing in line)]


def test_reasoning_comes_apart_and_is_not_the_answer(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    write_matrix(tmp_path, remote())
    apart, inline = select_cases(corpus, max_cases=2)
    scripts = (
        Script(apart.instruction.strip(), [completion("5", reasoning="Let me think", reasoning_tokens=3)]),
        Script(inline.instruction.strip(), [completion("<think>Let me think</think>5")]),
    )
    with FaultService(*scripts) as service:
        assert runner("--max-cases", "2", *settings(tmp_path, service.url)).returncode == 0
    cases = cases_of(tmp_path)
    first, second = cases[apart.case_id], cases[inline.case_id]
    assert (first["raw_view"]["output"], first["reasoning"], first["reasoning_tokens"]) == ("5", "Let me think", 3)
    assert first["model"] == "served-name"
    # LiteLLM would move it out of sight; a leak is to be seen, and recovered from, as on every other track.
    assert (second["raw_view"]["output"], second["reasoning"]) == ("<think>Let me think</think>5", "")
    assert second["output"] == "5"


@pytest.mark.parametrize(
    ("model", "mode", "asked", "room"),
    [
        ("openai/anything-at-home", "auto", {}, 0),
        ("openai/anything-at-home", "false", {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}, 0),
        ("openai/anything-at-home", "true", {"extra_body": {"chat_template_kwargs": {"enable_thinking": True}}}, 900),
        ("openai/gpt-4o-mini", "true", {}, 0),
        ("openai/gpt-5-mini", "auto", {}, 900),
        ("openai/gpt-5-mini", "true", {"reasoning_effort": "medium"}, 900),
        ("openai/gpt-5-mini", "false", {"reasoning_effort": "minimal"}, 900),
        ("openai/gpt-5.4-mini", "auto", {}, 0),
        ("openai/gpt-5.4-mini", "true", {"reasoning_effort": "medium"}, 900),
        ("openai/o3", "false", {"reasoning_effort": "low"}, 900),
        ("anthropic/claude-haiku-4-5", "auto", {}, 0),
        ("anthropic/claude-haiku-4-5", "true", {"thinking": {"type": "enabled", "budget_tokens": 900}}, 900),
        ("gemini/gemini-2.5-flash-lite", "false", {"reasoning_effort": "none"}, 0),
    ],
)
def test_what_is_said_of_reasoning(
    model: str, mode: Any, asked: dict[str, Any], room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")
    found = reasoning_options(litellm, model, mode, 900)
    assert (found.request, found.budget) == (asked, room)


def test_the_budget_of_reasoning_is_added_to_the_limit_of_the_answer(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    with FaultService() as service:
        options = settings(tmp_path, service.url, LLM_REASONING_MODE="true", LLM_REASONING_BUDGET=700)
        assert runner("--max-cases", "1", *options).returncode == 0
        (body,) = service.requests
    assert body["max_tokens"] == 512 + 700
    assert body["chat_template_kwargs"] == {"enable_thinking": True}
    assert result_of(tmp_path)["run"]["backend"]["settings"]["reasoning_budget"] == 700


def test_what_else_a_request_says(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote(extra_body={"repeat_penalty": 1.0}))
    with FaultService() as service:
        options = settings(tmp_path, service.url, LLM_REASONING_MODE="false")
        assert runner("--max-cases", "1", *options).returncode == 0
        (body,) = service.requests
    assert body["repeat_penalty"] == 1.0
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    told = result_of(tmp_path)["run"]["backend"]["settings"]["request"]
    assert told == {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}, "repeat_penalty": 1.0}}


def test_an_input_that_does_not_fit_is_cut(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    case = max(corpus.cases, key=lambda case: len(case.raw_input))
    write_matrix(tmp_path, remote())
    full = refusal(400, "This model's maximum context length is 2048 tokens. However, your messages resulted in 9000.")
    with FaultService(Script("Command output", [full, full, completion("a")])) as service:
        assert runner("--case-id", case.case_id, *settings(tmp_path, service.url)).returncode == 0
        lengths = [len(body["messages"][-1]["content"]) for body in service.requests]
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) == 3
    (row,) = cases_of(tmp_path).values()
    assert row["input_chars_cut"] > 0
    assert row["attempts"] == 1


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that would have been waited before asking again; nobody waits."""
    found: list[float] = []
    wait = retry._wait

    def note(state: RetryCallState) -> float:
        found.append(wait(state))
        return 0.0

    monkeypatch.setattr(retry, "_wait", note)
    return found


def test_retry_after_may_be_a_date(runner: Run, tmp_path: Path, waits: list[float]) -> None:
    write_matrix(tmp_path, remote())
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    with FaultService(Script("Command", [refusal(429, "later", retry_after=then), completion("a")])) as service:
        assert runner("--max-cases", "1", *settings(tmp_path, service.url)).returncode == 0
    (row,) = cases_of(tmp_path).values()
    assert row["attempts"] == 2
    (waited,) = waits
    # Up to a second more than is asked for, and less by what went by since then.
    assert 10 < waited <= 101


def test_an_interruption_keeps_what_was_answered(tmp_path: Path) -> None:
    write_matrix(tmp_path, remote(concurrency=4))
    with FaultService(default=slowly(0.2, completion("a"))) as service:
        process = start(tmp_path, *settings(tmp_path, service.url))
        wait_for(lambda: len(service.requests) >= 20, process)
        code, told = ended(process, by=signal.SIGINT)
        asked = len(service.requests)
    assert code == 130, told
    assert "Traceback" not in told
    record = result_of(tmp_path)
    assert record["run"]["error"] == "interrupted"
    assert asked - 4 <= len(record["cases"]) <= asked < 280


def test_a_full_disk_ends_the_questions(tmp_path: Path) -> None:
    write_matrix(tmp_path, remote(concurrency=4))

    with FaultService(default=slowly(0.05, completion("a"))) as service:
        process = start(tmp_path, *settings(tmp_path, service.url))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (30_000, 30_000))
        code, told = ended(process)
        asked = len(service.requests)
    assert code == 1
    assert "File too large" in told
    assert "what was answered is in its journal; fix that, then resume" in told
    assert "Traceback" not in told
    assert asked < 140


def test_other_providers_use_our_client_too(runner: Run, tmp_path: Path, waits: list[float]) -> None:
    claude: dict[str, Any] = {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "stop_reason": "end_turn",
    }
    claude |= {"content": [{"type": "text", "text": "hello"}], "usage": {"input_tokens": 5, "output_tokens": 2}}
    away = reply(307, b"", location="http://localhost:9/v1/messages")
    faults = [refusal(529, "overloaded", retry_after="1"), reply(200, json.dumps(claude).encode())]
    write_matrix(tmp_path, remote(model="anthropic/claude-haiku-4-5", concurrency=1))
    with FaultService(default=away) as service:
        done = runner("--max-cases", "1", *settings(tmp_path, service.url.removesuffix("/v1")))
        assert len(service.requests) == 1
    assert "answered 307" in done.stdout + done.stderr
    with FaultService(Script("Command", faults)) as service:
        options = ["--max-cases", "1", "--output-dir", "again", *settings(tmp_path, service.url.removesuffix("/v1"))]
        done = runner(*options)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (tmp_path / "again").glob("*/*.json")
    (case,) = to_json(find_results([path])[0].record)["cases"]
    assert (case["output"], case["attempts"], case["prompt_tokens"]) == ("hello", 2, 5)
    assert [1 <= waited <= 2 for waited in waits] == [True]


@pytest.mark.parametrize("url", ["http://[oops/v1", "127.0.0.1:8000/v1", "ftp://host/v1", "http://host:99999/v1"])
def test_an_address_that_is_none_is_named(url: str, runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    done = runner("--max-cases", "2", *settings(tmp_path, url))
    assert done.returncode == 1
    assert "CTXSIFT_LLM_BASE_URL is not an address" in done.stderr
    assert url not in done.stderr


def test_what_a_service_does_not_tell_is_not_made_up(runner: Run, tmp_path: Path) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "abort"}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    write_matrix(tmp_path, remote(model="Qwen/Qwen3-8B"))
    with FaultService(default=reply(200, json.dumps(body).encode())) as service:
        assert runner("--max-cases", "1", *settings(tmp_path, service.url)).returncode == 0
        assert service.requests[0]["model"] == "Qwen/Qwen3-8B"
    (case,) = cases_of(tmp_path).values()
    assert (case["finish_reason"], case["prompt_tokens"], case["completion_tokens"]) == ("other", None, None)
    assert case["ending"] == "abort"


def test_two_scenarios_of_one_run(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote(name="a"), remote(name="b"))
    with FaultService() as service:
        options = settings(tmp_path, service.url, LLM_REASONING_MODE="false")
        done = runner("--max-cases", "3", "--name", "both", *options)
        # The second is no better known to LiteLLM than the first was.
        assert all("chat_template_kwargs" in body for body in service.requests)
        assert len(service.requests) == 6
    assert done.returncode == 0, done.stdout + done.stderr
    assert [result.record.summary.case_count for result in find_results([tmp_path / "results"])] == [3, 3]


def test_a_service_that_is_down_ends_the_scenario_not_the_run(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote(concurrency=2))
    done = runner("--max-cases", "40", *settings(tmp_path, "http://127.0.0.1:9/v1", RETRIES=0))
    assert done.returncode == 1
    assert "4 cases in a row got no answer; the last one: no connection to the service" in done.stdout
    assert "Traceback" not in done.stderr


_GIVEN_UP = """
import asyncio, gc, threading
from concurrent.futures import ThreadPoolExecutor
from ctxsift import Limits, Message, ModelSpec, create_backend

prepared, given_up = threading.Event(), threading.Event()

class Slow(ThreadPoolExecutor):
    def submit(self, work, /, *args, **kwargs):
        def run():
            made = work(*args, **kwargs)
            prepared.set()
            given_up.wait(30)
            return made
        return super().submit(run)

async def main():
    backend = create_backend("litellm")
    backend.load(ModelSpec("openai/m", None, "remote", "none", 8192))
    loop = asyncio.get_running_loop()
    loop.set_default_executor(Slow())
    asked = loop.create_task(backend.agenerate([Message("user", "?")], Limits(8)))
    while not prepared.is_set():
        await asyncio.sleep(0.01)
    asked.cancel()
    await asyncio.wait([asked])
    given_up.set()
    print("cancelled", asked.cancelled())

asyncio.run(main())
gc.collect()
"""


def test_a_question_given_up_while_it_is_prepared_leaves_no_warning(tmp_path: Path) -> None:
    environ = clean_environ(CTXSIFT_LLM_BASE_URL="http://127.0.0.1:9/v1", CTXSIFT_LLM_API_KEY=KEY)
    done = subprocess.run(
        [sys.executable, "-c", _GIVEN_UP], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("cancelled True\n", "")


def test_what_was_not_scored_when_a_run_was_interrupted_is_scored_when_it_is_resumed(
    runner: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_matrix(tmp_path, remote(concurrency=4))
    settle = UnitRecorder.settle

    def interrupted(self: UnitRecorder[Outcome], events: Sequence[Event]) -> AskingStop | None:
        # Not `os.kill`: another thread may take that signal, and Python hears of it later.
        signal.raise_signal(signal.SIGINT)
        # The main thread hears of it when its turn comes.
        deadline = time.monotonic() + 60
        while not self._stop.requested and time.monotonic() < deadline:
            time.sleep(0.001)
        return settle(self, events)

    def no_baseline(*_: object, **__: object) -> None:
        raise AssertionError("somebody waits for the end")

    with FaultService(default=completion("a")) as service:
        options = settings(tmp_path, service.url)
        with monkeypatch.context() as patch:
            patch.setattr(UnitRecorder, "settle", interrupted)
            patch.setattr(ReferenceScores, "scores", no_baseline)
            done = runner("--max-cases", "12", *options)
        assert done.returncode == 130, done.stderr
        outcomes = [case["outcome"] for case in result_of(tmp_path)["cases"]]
        assert set(outcomes) == {"instrument_failure"}
        assert f"interrupted; {len(outcomes)} of 12 answers are in" in done.stderr
        asked = len(service.requests)
        assert runner("--resume", "results", *options).returncode == 0
        assert len(service.requests) == asked + 12 - len(outcomes)
    assert [case["outcome"] for case in result_of(tmp_path)["cases"]] == ["scored"] * 12


def test_a_model_for_which_a_part_of_litellm_is_missing_is_refused_before_it_is_asked(
    runner: Run, tmp_path: Path
) -> None:
    # LiteLLM asks it through another interface, which it imports together with its client of MCP.
    write_matrix(tmp_path, remote(model="openai/o1-pro"))
    with FaultService(default=completion("a")) as service:
        done = runner("--max-cases", "2", *settings(tmp_path, service.url))
        assert service.requests == []
    assert "openai/o1-pro: LiteLLM needs the package 'mcp' to ask this model: pip install mcp" in done.stdout

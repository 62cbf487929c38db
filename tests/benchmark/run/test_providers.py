"""Providers other than `openai/` through the command line, on loopback: redirects, refusals, what answers say."""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.record.base import to_json
from benchmark.record.read import find_results
from benchmark.report import main as report_main
from benchmark.run.options import add_options, options_of
from benchmark.run.selection import select_cases
from tests.conftest import Run, scenario, write_matrix
from tests.support.fault_service import Fault, FaultService, Script, completion, refusal, reply
from tests.support.packaged import keep_corpus
from tests.support.remote import run_here
from tests.support.warm import call_ctxsift

# Together with the other modules that import LiteLLM, so that one worker does.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("remote")]

REDIRECTED = "hosted_vllm groq deepseek together_ai xai fireworks_ai azure_ai cloudflare cometapi edenai".split()  # noqa: SIM905
STRAY = "the second reply to an earlier question"


def remote(model: str, **fields: Any) -> dict[str, Any]:
    name = model.replace("/", "-")
    row = {"name": name, "track": "remote", "device": "remote", "model": model, "gguf_filename": None}
    return scenario(**row | fields)


@pytest.fixture(autouse=True)
def kept_corpus(monkeypatch: pytest.MonkeyPatch, corpus: Corpus) -> None:
    keep_corpus(monkeypatch, corpus)


def settings(folder: Path, url: str, **values: object) -> list[str]:
    """Write an env file and return the options that name it."""
    given = {"LLM_BASE_URL": url, "LLM_API_KEY": "planted-k3y-8c1f", "TIMEOUT_MS": 60_000, "RETRIES": 2, **values}
    file = folder / ".env"
    file.write_text("".join(f"CTXSIFT_{name}={value}\n" for name, value in given.items()))
    return ["--remote", "--env-file", str(file)]


def cases_of(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return by model what was stored of each case."""
    records = [to_json(stored.record) for stored in find_results(sorted(folder.glob("results/*/*.json")))]
    return {record["scenario"]["model"]: {case["case_id"]: case for case in record["cases"]} for record in records}


def test_no_provider_takes_the_corpus_to_where_it_is_redirected(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, *(remote(f"{name}/m") for name in REDIRECTED))
    with FaultService() as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        fault = reply(307, b"", location=f"{elsewhere}/chat/completions")
        with FaultService(default=fault) as service:
            done = runner("--max-cases", "1", *settings(tmp_path, service.url))
        assert other.requests == []
        assert len(service.requests) == len(REDIRECTED)
    assert "Traceback" not in done.stderr
    stored = cases_of(tmp_path)
    assert set(stored) == {f"{name}/m" for name in REDIRECTED}
    for model, cases in stored.items():
        (case,) = cases.values()
        assert "the service answered 307" in case["error"], model


def test_a_provider_that_nobody_proved_is_refused_before_anything_is_sent(runner: Run, tmp_path: Path) -> None:
    refused = ["replicate/m", "huggingface_hub/m", "petals/m", "aiohttp_openai/m"]
    write_matrix(tmp_path, *(remote(model) for model in refused))
    with FaultService() as service:
        done = runner("--max-cases", "1", *settings(tmp_path, service.url))
        # What is no prefix of LiteLLM is a name that the service knows.
        assert [body["model"] for body in service.requests] == ["huggingface_hub/m"]
    lines = [line for line in done.stderr.splitlines() if line.startswith("not ready: ")]
    assert lines == [
        f"not ready: {name}-m: LiteLLM's provider {name} may follow redirects or call other hosts than "
        f"CTXSIFT_LLM_BASE_URL; accept that with --allow-provider {name} (or CTXSIFT_ALLOW_PROVIDER={name})"
        for name in ("replicate", "petals", "aiohttp_openai")
    ]
    assert done.returncode == 1


def test_who_accepts_a_provider_is_not_stopped_and_resumes_with_it(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote("maritalk/m", concurrency=1))
    with FaultService(Script("", [refusal(401, "not yet"), completion("fine")])) as service:
        done = runner("--max-cases", "2", "--allow-provider", "maritalk", *settings(tmp_path, service.url))
        assert len(service.requests) == 1
        assert done.returncode == 1
        # The setting says it as well.
        done = runner("--resume", "results", *settings(tmp_path, service.url, ALLOW_PROVIDER="petals,maritalk"))
        assert len(service.requests) == 3
    assert done.returncode == 0, done.stderr
    assert {case["raw_view"]["output"] for case in cases_of(tmp_path)["maritalk/m"].values()} == {"fine"}


def test_the_resume_command_repeats_every_accepted_provider() -> None:
    options = options_of(parsed("--allow-provider", "maritalk", "--allow-provider", "a b"))
    options.check()
    command = options.resume_command(Path("results"))
    assert command == "python -m benchmark.runner --resume results --allow-provider maritalk --allow-provider 'a b'"
    assert options_of(parsed(*shlex.split(command)[3:])).allow_provider == ("maritalk", "a b")


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(arguments)


def _raw(**fields: Any) -> Fault:
    """Answer with a chat completion whose one choice has these fields, and that counts nothing."""
    choice = {"index": 0, "finish_reason": "stop", **fields}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return reply(200, json.dumps(body).encode())


def test_an_answer_is_told_as_the_service_sent_it(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    leak = "<think>The user wants</think>the answer"
    faults = {
        "leak": _raw(message={"role": "assistant", "content": leak}),
        "no reason": _raw(message={"role": "assistant", "content": "said"}, finish_reason=None),
        "malformed": reply(200, b'{"id": "1", "choi'),
        "no choices": reply(200, b'{"id": "1", "object": "chat.completion", "choices": null}'),
    }
    chosen = select_cases(corpus, max_cases=len(faults) + 4)
    struck = {name: chosen[index].case_id for index, name in enumerate(faults)}
    scripts = [Script(chosen[index].instruction.strip(), [fault]) for index, fault in enumerate(faults.values())]
    write_matrix(tmp_path, *(remote(f"{name}/m") for name in ("hosted_vllm", "deepseek")))
    with FaultService(*scripts) as service:
        runner("--max-cases", str(len(chosen)), *settings(tmp_path, service.url))
        assert len(service.requests) == 2 * len(chosen)
    stored = cases_of(tmp_path)
    assert len(stored) == 2
    for model, cases in stored.items():
        leaked = cases[struck["leak"]]
        assert leaked["raw_view"]["output"] == leak, model
        assert (leaked["prompt_tokens"], leaked["completion_tokens"]) == (None, None), model
        assert cases[struck["no reason"]]["finish_reason"] == "unknown", model
        for name, said in {"malformed": "200, but with no chat completion", "no choices": "without a choice"}.items():
            assert f"the service answered {said}" in cases[struck[name]]["error"], model


def _twice(after_s: float) -> Fault:
    """Answer, and then once more on the same connection: in the same packet, or later."""

    def chat(content: str) -> bytes:
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        body = json.dumps(
            {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        ).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        return head + body

    async def later(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(after_s)
        writer.write(chat(STRAY))

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(chat("its own answer") + (chat(STRAY) if after_s == 0 else b""))
        await writer.drain()
        if after_s:
            tasks.append(asyncio.create_task(later(writer)))

    tasks: list[asyncio.Task[None]] = []
    return send


async def _slow(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.3)
    await completion("its own answer")(writer)


def test_a_second_reply_to_a_question_answers_no_other(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    chosen = select_cases(corpus, max_cases=6)
    faults = {0: _twice(0), 2: _twice(0.1), 4: _twice(0.01)}
    scripts = [Script(chosen[index].instruction.strip(), [fault]) for index, fault in faults.items()]
    write_matrix(tmp_path, *(remote(f"{name}/m", concurrency=1) for name in ("openai", "hosted_vllm")))
    with FaultService(*scripts, default=_slow) as service:
        done = runner("--max-cases", str(len(chosen)), *settings(tmp_path, service.url))
    assert done.returncode == 0, done.stderr
    stored = cases_of(tmp_path)
    assert len(stored) == 2
    for model, cases in stored.items():
        assert {case["raw_view"]["output"] for case in cases.values()} == {"its own answer"}, model


def test_compress_gives_back_what_it_would_not_send(tmp_path: Path) -> None:
    printed = "error: one\nerror: two\n"
    with FaultService() as service:
        options = settings(tmp_path, service.url)
        done = call_ctxsift(
            "compress",
            "what failed?",
            "--min-bytes",
            "0",
            "--model",
            "maritalk/m",
            *options,
            cwd=tmp_path,
            given=printed,
        )
        assert service.requests == []
    assert (done.returncode, done.stdout) == (0, printed)
    assert "LiteLLM's provider maritalk may follow redirects or call other hosts" in done.stderr


def test_figures_that_are_none_leave_a_result_that_can_be_read(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    message = {"role": "assistant", "content": "said"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    odd: list[dict[str, Any]] = [
        {"usage": {"prompt_tokens": -1, "completion_tokens": -1, "total_tokens": -2}},
        {"model": 7},
        {"usage": {"prompt_tokens": 10**30, "completion_tokens": "7", "total_tokens": None}},
    ]
    chosen = select_cases(corpus, max_cases=len(odd))
    scripts = [
        Script(case.instruction.strip(), [reply(200, json.dumps(whole | fields).encode())])
        for case, fields in zip(chosen, odd, strict=True)
    ]
    write_matrix(tmp_path, *(remote(f"{name}/m", concurrency=1) for name in ("openai", "hosted_vllm", "deepseek")))
    with FaultService(*scripts) as service:
        done = runner("--max-cases", str(len(odd)), *settings(tmp_path, service.url))
    assert done.returncode == 0, done.stderr
    reported = run_here(report_main, "results", "--json", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    for model, cases in cases_of(tmp_path).items():
        for case in cases.values():
            assert case["raw_view"]["output"] == "said", model
            assert all(case[name] is None or case[name] >= 0 for name in ("prompt_tokens", "completion_tokens")), case
            assert isinstance(case["model"], str)

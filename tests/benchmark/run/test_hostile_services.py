"""Services that answer anything at all: hostile answers among as many healthy ones, through the command line."""

from __future__ import annotations

import json
import random
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.report import main as report_main
from benchmark.rescore import main as rescore_main
from benchmark.viewer.__main__ import main as viewer_main
from tests.conftest import Run, write_matrix
from tests.support.depth import FUZZ, depth
from tests.support.fault_service import Fault, FaultService, reply
from tests.support.hostile_answers import (
    Hostile,
    anthropic_message,
    broken_http,
    mutated,
    openai_completion,
    spoiled,
)
from tests.support.packaged import keep_corpus
from tests.support.remote import clean_environ, remote, run_here
from tests.support.warm import call_ctxsift

# Together with the other modules that import LiteLLM, so that one worker does.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("remote")]

KEY = 'planted-k3y/8c1f+"q'
MOST_RSS_MB = 500
# What a terminal obeys, and what turns the order of its letters around.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def settings(folder: Path, url: str, **values: object) -> list[str]:
    given = {"LLM_BASE_URL": url, "LLM_API_KEY": KEY, "TIMEOUT_MS": 4000, "RETRIES": 0, **values}
    file = folder / ".env"
    file.write_text("".join(f"CTXSIFT_{name}='{value}'\n" for name, value in given.items()))
    return ["--remote", "--env-file", str(file)]


def write_corpus(path: Path, count: int) -> Path:
    """Write cases of which each has an answer of its own: `file_NNN.c`."""
    rows = [
        {
            "case_id": f"case-{number:03d}",
            "instruction": f"Which file of part {number:03d} failed?",
            "raw_input": f"building part {number:03d}\nfile_{number:03d}.c: error: expected ';'\n",
            "family": "recall",
            "intent": "recall",
            "expected_output": answer_of(number),
            "required_anchors": [f"file_{number:03d}.c"],
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answer_of(number: int) -> str:
    return f"file_{number:03d}.c failed."


def asked(body: dict[str, Any]) -> int:
    found = re.search(r"Which file of part (\d+) failed", json.dumps(body["messages"]))
    assert found
    return int(found[1])


_WATCHED = """
import runpy, sys
seen = set()
def note(event, arguments):
    if event == "socket.connect":
        seen.add(str(arguments[1]))
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        seen.add(str(arguments[0]))
sys.addaudithook(note)
try:
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
finally:
    # Not ru_maxrss, which begins with that of the process that started this one.
    peak_kb = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    open("watched", "w").write(f"{int(peak_kb) // 1024} {sorted(seen)}")
"""


def run_watched(folder: Path, module: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a module that writes down whom it calls and how much memory it takes at most."""
    return subprocess.run(
        [sys.executable, "-c", _WATCHED, module, *arguments],
        cwd=folder,
        env=clean_environ(**environ),
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=110,
        check=False,
    )


def cases_of(folder: Path) -> dict[str, dict[str, Any]]:
    (path,) = folder.glob("results/*/*.json")
    return {case["case_id"]: case for case in json.loads(path.read_text())["cases"]}


@contextmanager
def unvisited() -> Iterator[tuple[str, list[object]]]:
    """Listen where nobody is to come; gives the address and who came."""
    came: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                came.append(peer)
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1/chat/completions", came
        server.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True)
class Words:
    """How a service speaks: the model's name, what its address lacks, and how it answers."""

    model: str
    without: str
    make: Callable[[str], dict[str, Any]]


SPOKEN = {
    "openai": Words("m", "", openai_completion),
    "hosted_vllm": Words("hosted_vllm/m", "", openai_completion),
    "anthropic": Words("anthropic/claude-haiku-4-5", "/v1", anthropic_message),
}


def hostile_answers(words: Words, elsewhere: str, seed: int, *, most: int | None) -> dict[int, Hostile]:
    """Return what happens to every second case: every way to break HTTP and to spoil a body, and some mutations.

    Args:
        words: the service's.
        elsewhere: where nobody may be sent.
        seed: for what is drawn.
        most: of each of the three kinds; None for all.

    """
    rng = random.Random(seed)

    def broken(answer: str) -> dict[str, Fault]:
        return broken_http(rng, words.make, answer, elsewhere) | spoiled(rng, words.make, answer)

    def some(names: Iterable[str]) -> list[str]:
        return list(names) if most is None else rng.sample(list(names), most)

    names: list[str | None] = [*some(broken_http(rng, words.make, "", elsewhere)), *some(spoiled(rng, words.make, ""))]
    names += [None] * (most or depth(40, 120))
    rng.shuffle(names)
    found = {}
    for number, name in zip(range(0, 2 * len(names), 2), names, strict=True):
        answer = answer_of(number)
        found[number] = Hostile(name, broken(answer)[name]) if name else mutated(rng, words.make, answer)
    return found


@pytest.fixture(autouse=True)
def kept_corpus(monkeypatch: pytest.MonkeyPatch, corpus: Corpus) -> None:
    keep_corpus(monkeypatch, corpus)


@pytest.mark.parametrize("name", SPOKEN)
def test_hostile_answers_cost_their_own_case_at_most(name: str, runner: Run, tmp_path: Path) -> None:
    words = SPOKEN[name]
    # The client is the same for all of them; what LiteLLM does between differs.
    whole = FUZZ or name == "openai"
    write_matrix(tmp_path, remote(model=words.model, concurrency=4))
    with unvisited() as (elsewhere, came):
        hostile = hostile_answers(words, elsewhere, seed=len(name), most=None if whole else 4)
        data = write_corpus(tmp_path / "cases.jsonl", 2 * len(hostile))
        sick = True

        def chosen(body: dict[str, Any]) -> Fault:
            number = asked(body)
            if sick and number in hostile:
                return hostile[number].fault
            return reply(200, json.dumps(words.make(answer_of(number))).encode())

        with FaultService(chosen=chosen) as service:
            options = settings(tmp_path, service.url.removesuffix(words.without))
            asked_for = ["--dataset", str(data), "--show-output", *options]
            if whole:
                done = run_watched(tmp_path, "benchmark.runner", *asked_for)
                rss, called = (tmp_path / "watched").read_text().split(" ", 1)
                assert int(rss) < MOST_RSS_MB
                port = service.url.split(":")[2].split("/")[0]
                assert set(re.findall(r"127\.0\.0\.1', (\d+)", called)) == {port}
            else:
                done = runner(*asked_for)
            assert "Traceback" not in done.stdout + done.stderr
            assert done.returncode == 1, done.stderr
            assert came == []
            assert not OBEYED.search((done.stdout + done.stderr).replace("\r\n", "\n")), name
            cases = cases_of(tmp_path)
            lost = {number: cases[f"case-{number:03d}"] for number in range(1, 2 * len(hostile), 2)}
            wrong = {number: case for number, case in lost.items() if case.get("output") != answer_of(number)}
            assert not wrong
            for number, each in hostile.items():
                case = cases[f"case-{number:03d}"]
                if each.answer is not None:
                    assert case.get("output") == each.answer, (each.name, case)
                if case["outcome"] == "scored":
                    # Nobody else's answer, and no more than a damaged one of its own.
                    assert case["output"] == answer_of(number) or not re.search(
                        r"file_\d+\.c|somebody", case["output"]
                    ), (
                        each.name,
                        case["output"],
                    )
            (result,) = tmp_path.glob("results/*/*.json")
            for main, more in (
                (report_main, ["--markdown", str(tmp_path / "r.md"), "--csv", str(tmp_path / "r.csv")]),
                (rescore_main, ["--dataset", str(data)]),
                (viewer_main, ["--output", str(tmp_path / "page.html")]),
            ):
                read = run_here(main, str(result), *more, cwd=tmp_path)
                assert read.returncode == 0, (more, read.stderr)
                assert "Traceback" not in read.stderr
            sick = False
            before = len(service.requests)
            resumed = runner("--resume", "results", "--dataset", str(data), *options)
            assert resumed.returncode == 0, resumed.stderr
            unanswered = [case for case in cases.values() if case["outcome"] == "instrument_failure"]
            assert len(service.requests) - before == len(unanswered)
            assert {case["outcome"] for case in cases_of(tmp_path).values()} <= {"scored", "model_failure"}


@pytest.mark.parametrize("name", ["bomb", "endless tiny chunks"])
def test_compress_gives_the_original_back(name: str, tmp_path: Path) -> None:
    original = "3 passed\nFAILED test_cart.py::test_total\n"
    fault = broken_http(random.Random(1), openai_completion, "a", "http://127.0.0.1:9/")[name]
    with FaultService(default=fault) as service:
        options = settings(tmp_path, service.url, TIMEOUT_MS=60_000)
        done = call_ctxsift(
            "compress", "--min-bytes", "0", "--model", "m", *options, "which test failed?", cwd=tmp_path, given=original
        )
    assert (done.returncode, done.stdout) == (0, original)
    assert "sends more than any answer has" in done.stderr
    assert "Traceback" not in done.stderr

"""Services that answer anything at all: 400 hostile answers among as many healthy ones, through the command line."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, scenario, write_matrix
from tests.support.fault_service import Fault, FaultService, reply
from tests.support.hostile_answers import (
    Hostile,
    anthropic_message,
    broken_http,
    mutated,
    openai_completion,
    spoiled,
)

pytestmark = pytest.mark.slow

KEY = 'planted-k3y/8c1f+"q'
MOST_RSS_MB = 500
# What a terminal obeys, and what turns the order of its letters around.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def remote(**fields: Any) -> dict[str, Any]:
    row = {"name": "hostile", "track": "remote", "device": "remote", "model": "m", "gguf_filename": None}
    return scenario(**row | fields)


def settings(folder: Path, url: str, **values: object) -> list[str]:
    given = {"LLM_BASE_URL": url, "LLM_API_KEY": KEY, "TIMEOUT_MS": 3000, "RETRIES": 0, **values}
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
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CTXSIFT_") and not k.lower().endswith("_proxy")}
    return subprocess.run(
        [sys.executable, "-c", _WATCHED, module, *arguments],
        cwd=folder,
        env=kept | environ,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=300,
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
    faults: int


SPOKEN = {
    "openai": Words("m", "", openai_completion, 160),
    "hosted_vllm": Words("hosted_vllm/m", "", openai_completion, 120),
    "anthropic": Words("anthropic/claude-haiku-4-5", "/v1", anthropic_message, 120),
}


def hostile_answers(words: Words, elsewhere: str, seed: int) -> dict[int, Hostile]:
    """Return what happens to every second case."""
    rng = random.Random(seed)
    found = {}
    for number in range(0, 2 * words.faults, 2):
        kind = rng.choice(("mutated", "mutated", "broken", "broken", "spoiled"))
        if kind == "mutated":
            found[number] = mutated(rng, words.make, answer_of(number))
        elif kind == "spoiled":
            found[number] = spoiled(rng, words.make, answer_of(number))
        else:
            found[number] = broken_http(rng, words.make, answer_of(number), elsewhere)
    return found


@pytest.mark.parametrize("name", SPOKEN)
def test_hostile_answers_cost_their_own_case_at_most(name: str, runner: Run, tmp_path: Path) -> None:
    words = SPOKEN[name]
    data = write_corpus(tmp_path / "cases.jsonl", 2 * words.faults)
    write_matrix(tmp_path, remote(model=words.model, concurrency=4))
    with unvisited() as (elsewhere, came):
        hostile = hostile_answers(words, elsewhere, seed=len(name))
        sick = True

        def chosen(body: dict[str, Any]) -> Fault:
            number = asked(body)
            if sick and number in hostile:
                return hostile[number].fault
            return reply(200, json.dumps(words.make(answer_of(number))).encode())

        with FaultService(chosen=chosen) as service:
            options = settings(tmp_path, service.url.removesuffix(words.without))
            done = run_watched(tmp_path, "benchmark.runner", "--dataset", str(data), "--show-output", *options)
            assert "Traceback" not in done.stdout + done.stderr
            assert done.returncode == 1, done.stderr
            rss, called = (tmp_path / "watched").read_text().split(" ", 1)
            assert int(rss) < MOST_RSS_MB
            port = service.url.split(":")[2].split("/")[0]
            assert set(re.findall(r"127\.0\.0\.1', (\d+)", called)) == {port}
            assert came == []
            assert not OBEYED.search((done.stdout + done.stderr).replace("\r\n", "\n")), name
            cases = cases_of(tmp_path)
            lost = {number: cases[f"case-{number:03d}"] for number in range(1, 2 * words.faults, 2)}
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
            for module, more in (
                ("report", ["--markdown", str(tmp_path / "r.md"), "--csv", str(tmp_path / "r.csv")]),
                ("rescore", ["--dataset", str(data)]),
                ("viewer", ["--output", str(tmp_path / "page.html")]),
            ):
                read = subprocess.run(
                    [sys.executable, "-m", f"benchmark.{module}", str(result), *more],
                    cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
                )  # fmt: skip
                assert read.returncode == 0, (module, read.stderr)
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
    with FaultService(
        default=broken_http(random.Random(1), openai_completion, "a", "http://127.0.0.1:9/", name).fault
    ) as service:
        options = settings(tmp_path, service.url, TIMEOUT_MS=30_000)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "ctxsift", "compress", "--model", "m", *options, "which test failed?"],
            cwd=tmp_path, input=original, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, original)
    assert "sends more than any answer has" in done.stderr
    assert "Traceback" not in done.stderr

"""A minute's watch over speed: `make perf-quick`. Exit code 1 when a row is broken.

Each row is CPU time divided by that of a fixed piece of work measured in the same run, so that limits hold on any
machine. Samples are small; `make perf` measures the whole thing.
"""

from __future__ import annotations

import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmark.corpus import load_corpus
from benchmark.record.read import find_results
from benchmark.scoring import Embedder, score_view
from benchmark.sessions.loader import DEFAULT_SESSIONS, SESSION
from ctxsift.compression import examine
from ctxsift.errors import InputError
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from ctxsift.sessions.redacting import Redactor
from tests.conftest import ROOT, scripted, write_matrix
from tests.perf.__main__ import answers, load_all, probe, rescore_all, score_all
from tests.perf.sessions import write_session

# A row is broken above its usual figure times this: what differs from run to run stays below.
MARGIN = 1.6
# Every fourteenth case.
_STRIDE = 14
_CASES = 36
_MEGABYTE = 1_000_000
_SESSION_MB = 10
# Pairs: what runs beside them slows both.
_STARTS = 20


@dataclass(frozen=True)
class Row:
    """What something usually costs.

    Attributes:
        usual: probes (CPU time over that of the fixed piece of work), or what `unit` says.
        known: why it costs more than `make perf` allows, where it does; the usual figure is the limit until then.

    """

    name: str
    usual: float
    measured: float
    unit: str = "probes"
    known: str = ""

    @property
    def limit(self) -> float:
        """Return what it may cost."""
        return self.usual * MARGIN

    @property
    def verdict(self) -> str:
        """Return what the table says of it."""
        if self.measured > self.limit:
            return "broken"
        return f"kept (known: {self.known})" if self.known else "kept"


def spent(folder: Path, module: str, *arguments: str) -> tuple[float, float]:
    """Run a command and return the CPU seconds of it and its children, and its peak memory in MB."""
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, " ".join(command)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def cpu_of(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a piece of work."""
    started = time.process_time()
    work()
    return time.process_time() - started


def scorer_rows(unit_s: float) -> Iterator[Row]:
    """Yield what scoring costs, on a sample of cases."""
    corpus = load_corpus()
    yield Row("loading the corpus", 1.2, load_all() / unit_s)
    sample = dataclasses.replace(corpus, cases=corpus.cases[::_STRIDE])
    views = answers(sample)
    scoring, rescoring = (min(work(sample, views) for _ in range(2)) for work in (score_all, rescore_all))
    yield Row("scoring 1,000 views", 2.8, scoring / unit_s / len(views) * 1000)
    known = "an answer is read more than once"
    yield Row("rescoring 1,000 answers", 8.0, rescoring / unit_s / len(views) * 2000, known=known)


def hostile_rows(unit_s: float) -> Iterator[Row]:
    """Yield what the worst of hostile answers and files cost."""
    case, embedder = load_corpus().cases[0], Embedder()
    embedder.count_tokens("loads what the first text pays for")

    def judge(unit: str) -> None:
        for view in examine(unit * (_MEGABYTE // len(unit)), case.request)[:2]:
            score_view(view.text, view.validation, case, embedder)

    slowest = max(cpu_of(partial(judge, unit)) for unit in ("```\n", "- \n", "a: b\n", "</think>", "Okay, so. ", "["))
    yield Row("judging a megabyte of one unit, the slowest", 4.5, slowest / unit_s)
    lines = "".join(f"[{n:05}] step {n} of the build went well, wrote dist/x{n}.js\n" for n in range(20_000))
    thought = "".join(f"I should check step {n} of the build. Wait, dist/x{n}.js is there. " for n in range(450))
    for name, usual, answer, output, intent in (
        ("30 KB of fences that never close", 3.2, "```json\n{\n" * 3000, "3 passed", Intent.JSON),
        ("30 KB of thought about a megabyte", 3.0, f"Okay, let me see. {thought}", lines[:_MEGABYTE], Intent.SUMMARY),
        ("200 KB of marks", 5.0, "<|a|>" * 40_000, "3 passed", Intent.SUMMARY),
    ):
        request = Request(output, "What failed?", intent)
        yield Row(f"recovering {name}", usual, cpu_of(partial(examine, answer, request)) / unit_s)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.json")
        with path.open("wb") as file:
            file.truncate(100 * _MEGABYTE)

        def refuse() -> None:
            try:
                find_results([path])
            except InputError:
                return
            raise AssertionError("a file of null bytes was read as a result")

        yield Row("refusing a result of 100 MB", 5.5, cpu_of(refuse) / unit_s)


def command_rows(unit_s: float) -> Iterator[Row]:
    """Yield what the commands cost, on a sample of cases."""
    corpus = load_corpus()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = [[case.instruction.strip(), case.expected_output] for case in corpus.cases]
        write_matrix(folder, scripted(folder, answers=script))
        # Easy cases are short: figures over them would say little of the others.
        many = ("--max-cases", str(1 + _CASES), "--order", "mixed")
        # The better of two: the first start of all reads everything from disk, and differences double what is noise.
        (one, _), (whole, peak) = (
            min(spent(folder, "benchmark.runner", *cases, "--output-dir", f"{kind}{n}") for n in range(2))
            for kind, cases in (("one", ("--max-cases", "1")), ("whole", many))
        )
        for result in folder.glob("whole0/*/*.json"):
            result.unlink()
        resumed, _ = spent(folder, "benchmark.runner", "--resume", "whole0")
        yield Row("start-up and one case", 8.5, one / unit_s)
        yield Row("what the runner adds to 100 cases", 8.5, (whole - one) / unit_s / _CASES * 100)
        yield Row("resuming 100 cases that are there", 2, (resumed - one) / unit_s / _CASES * 100)
        yield Row("memory of the runner", 140, peak, "MB")
        control = ("--matrix", str(ROOT / "matrix.json"), "--phase", "control", *many, "--output-dir", "control")
        spent(folder, "benchmark.runner", *control)
        page, _ = spent(folder, "benchmark.viewer", "control", "-o", "page.html")
        yield Row(f"page of 12 results x {1 + _CASES} cases", 14, page / unit_s)


def start_rows(unit_s: float) -> Iterator[Row]:
    """Yield what commands that stand in front of an agent cost, in starts of Python."""
    del unit_s
    with tempfile.TemporaryDirectory() as folder:
        for name, usual, lines in (("of 1 KB", 3.0, 20), ("of 30 KB", 7.0, 550)):
            yield Row(
                f"ctxsift hook claude, a result {name}", usual, _starts(folder, lines, "hook", "claude"), "starts"
            )
        yield Row("ctxsift run -- true", 3.1, _starts(folder, 0, "run", "--", "true"), "starts")


def _starts(state: str, lines: int, *arguments: str) -> float:
    """Return how many times longer than Python alone a command takes; a hook is told of so many lines."""
    output = "".join(f"[{n:03}] compiling module_{n * 37 % 991}.c into build/obj\n" for n in range(lines))
    response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    event = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": response}
    told, environ = json.dumps(event).encode(), {**os.environ, "XDG_STATE_HOME": state}
    ratios = []
    for _ in range(_STARTS):
        bare = _seconds_of(["-c", "pass"], b"", environ)
        ratios.append(_seconds_of(["-m", "ctxsift", *arguments], told, environ) / bare)
    return statistics.median(ratios)


def _seconds_of(arguments: list[str], told: bytes, environ: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], input=told, stdout=subprocess.DEVNULL, env=environ, check=True)
    return time.perf_counter() - started


def session_rows(unit_s: float) -> Iterator[Row]:
    """Yield what reading sessions costs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_session(folder / "session.jsonl", _SESSION_MB)
        seconds, peak = spent(folder, "ctxsift", "session", "stats", "session.jsonl")
        recorded = str(DEFAULT_SESSIONS / "ledgerline" / SESSION)
        compacting, memory = spent(folder, "ctxsift", "compact", recorded, "--threshold", "20000", "-o", "short.md")
        asking, most = spent(folder, "benchmark.probes", "own", recorded)
        (folder / "damaged.jsonl").write_bytes(_begun() + b'{"type":\n' * 220_000)
        damaged, _ = spent(folder, "ctxsift", "session", "stats", "damaged.jsonl")
        (folder / "helped.jsonl").write_bytes(_begun() + b"".join(map(_subagent, range(4000))))
        helped, _ = spent(folder, "ctxsift", "session", "stats", "helped.jsonl")
    yield Row(f"stats of a session of {_SESSION_MB} MB", 4.5, seconds / unit_s)
    yield Row("... its memory", 75, peak, "MB")
    yield Row("compacting a session of 105,000 tokens in seven cycles", 2.6, compacting / unit_s)
    yield Row("... its memory", 75, memory, "MB")
    yield Row("what 17 methods would lose of it", 18, asking / unit_s)
    yield Row("... its memory", 85, most, "MB")
    yield Row("stats of a session with 2 MB of damaged lines", 5.0, damaged / unit_s)
    yield Row("stats of a session with 4,000 subagents", 2.5, helped / unit_s)

    def redact(unit: str) -> None:
        Redactor().text(unit * (_MEGABYTE // len(unit)))

    units = ("eyJ-", "a@a.aa", "@", "://a:", "sk-A", "password=", 'token="', "-----BEGIN PRIVATE KEY-----")
    slowest = max(cpu_of(partial(redact, unit)) for unit in units)
    yield Row("taking secrets out of a megabyte of one unit, the slowest", 3.0, slowest / unit_s)


def _begun() -> bytes:
    return _record(uuid="u0", type="user", message={"role": "user", "content": "Begin."})


def _subagent(number: int) -> bytes:
    name = {"isSidechain": True, "agentId": f"a{number}"}
    order = _record(uuid=f"v{number}", type="user", message={"role": "user", "content": "Look."}, **name)
    found = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    return order + _record(uuid=f"w{number}", parentUuid=f"v{number}", type="assistant", message=found, **name)


def _record(**fields: object) -> bytes:
    whole = {"sessionId": "s", "timestamp": "2026-11-27T10:00:00Z", "cwd": "/work", "version": "2.0.0", **fields}
    return json.dumps(whole).encode() + b"\n"


def main() -> int:
    """Measure every row and print the table; return 1 when one is broken."""
    started = time.monotonic()
    table = Table(title=f"CPU time in probes (a fixed piece of work); limits are {MARGIN} x what is usual")
    for title in ("what", "measured", "usual", "limit", "", ""):
        table.add_column(title, justify="left" if title in ("what", "") else "right")
    broken = 0
    # Commands first: what a process forks from counts as its memory.
    for rows in (start_rows, command_rows, session_rows, scorer_rows, hostile_rows):
        unit_s = min(probe() for _ in range(5))
        for row in rows(unit_s):
            broken += row.measured > row.limit
            figures = (f"{value:.1f}" for value in (row.measured, row.usual, row.limit))
            table.add_row(row.name, *figures, row.unit, row.verdict)
    console = Console(width=140)
    console.print(table)
    console.print(f"measured in {time.monotonic() - started:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

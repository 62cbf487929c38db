"""Runners as processes, which are watched, killed and resumed; what they leave behind."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import Signals
from typing import Any

from tests.conftest import ROOT
from tests.support.processes import default_signals

# Nothing here takes so long, unless it hangs; less than the limit of a test, so that it is told what hung.
PATIENCE_S = 60
# Twelve cases. A process reads them in no time; the packaged corpus takes it a second.
SMALL = ("--dataset", str(ROOT / "tests" / "data" / "journals" / "corpus.jsonl"))
# What differs from run to run of the same answers.
# A run that goes on reads again what its model had read.
CLOCKS = {"elapsed_ms", "cpu_rss_bytes", "inference_ms", "prefill_ms", "decode_ms", "cached_tokens", "cached_ms"}


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a runner in a folder."""
    command = [sys.executable, "-m", "benchmark.runner", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, preexec_fn=default_signals)


def ended(process: subprocess.Popen[str], *, by: Signals | None = None) -> tuple[int, str]:
    """End a runner, or wait for its end, and return its exit code and what it said on stderr."""
    if by is not None:
        process.send_signal(by)
    try:
        _, stderr = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"the runner did not end; {killed(process)}") from None
    return process.returncode, stderr


def killed(process: subprocess.Popen[str]) -> str:
    """Kill a process that was waited for in vain, and return what it had said."""
    process.kill()
    try:
        # A child of it may hold its streams open.
        stdout, stderr = process.communicate(timeout=30)
    except subprocess.TimeoutExpired as still:
        stdout, stderr = (str(said or b"") for said in (still.stdout, still.stderr))
    return f"it was killed, and had said: {stdout or ''}{stderr or ''}"


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something holds or the runner has ended; kill it and fail after a minute."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition() and process.poll() is None:
        if time.monotonic() > deadline:
            raise AssertionError(f"what was waited for did not come; {killed(process)}")
        time.sleep(0.005)


def first_words(process: subprocess.Popen[str], words: str) -> None:
    """Wait until a line on stderr begins with `words`; kill the process and fail when none does."""
    assert process.stderr
    said, deadline = b"", time.monotonic() + PATIENCE_S
    # What is left in the pipe is for communicate(): nothing is read past the buffer of the stream.
    pipe = process.stderr.fileno()
    while not re.search(rb"^" + re.escape(words.encode()) + rb".*\n", said, re.MULTILINE):
        readable, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        more = os.read(pipe, 65536) if readable else b""
        if not more:
            raise AssertionError(f"no line began with {words!r}: {said.decode()}; {killed(process)}")
        said += more


def cut_after(folder: Path, answers: int) -> None:
    """Leave of the finished runs below a folder what a kill leaves: journals with so many answers, and nothing else."""
    for path in [*folder.glob("results/*/*"), *folder.glob("results/*.*")]:
        if path.name.endswith(".journal.jsonl"):
            lines = path.read_bytes().splitlines(keepends=True)
            ends = [number for number, line in enumerate(lines, 1) if b'"type": "generation"' in line]
            path.write_bytes(b"".join(lines[: ends[answers - 1]]))
        else:
            path.unlink()


def journal_of(folder: Path) -> Path | None:
    """Return the journal of the one run below a folder."""
    return next(iter(folder.glob("results/*/*.journal.jsonl")), None)


def answered(folder: Path) -> int:
    """Return how many answers the journal of the one run below a folder holds."""
    path = journal_of(folder)
    return path.read_bytes().count(b'"type": "generation"') if path else 0


def result_of(folder: Path) -> dict[str, Any]:
    """Return the result of the one run below a folder."""
    (path,) = folder.glob("results/*/*.json")
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def timeless(record: dict[str, Any]) -> dict[str, Any]:
    """Return scores and answers of a record, without clocks."""
    cases = [{name: value for name, value in case.items() if name not in CLOCKS} for case in record["cases"]]
    summary = {name: value for name, value in record["summary"].items() if "ms" not in name and "rss" not in name}
    summary.pop("prefill_tokens_per_s", None)
    summary.pop("decode_tokens_per_s", None)
    return {"cases": cases, "summary": summary, "breakdowns": record["breakdowns"]}


def files_of(folder: Path) -> set[str]:
    """Return the names of all files of the runs below a folder."""
    return {path.name for path in folder.glob("results/*/*")}


def complete(folder: Path) -> bool:
    """Return True if the one run below a folder has its result and its reports."""
    result = result_of(folder)
    named = {"scripted.json", "scripted.md", "scripted.journal.jsonl", "report.md", "cases.csv"}
    return bool(result["run"]["complete"]) and files_of(folder) == named


@contextlib.contextmanager
def held(process: subprocess.Popen[str], folder: Path, name: str) -> Iterator[None]:
    """Keep a runner from writing a file of its run: somebody else is writing it."""
    wait_for(lambda: journal_of(folder) is not None, process)
    journal = journal_of(folder)
    assert journal
    with (journal.parent / f".{name}.tmp").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

"""What the runner itself costs, measured with answers that take no time: `python -m tests.perf.runner` prints JSON."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmark.corpus import load_corpus
from tests.conftest import scripted, write_matrix

_ROUNDS = 3


def run(folder: Path, *arguments: str) -> tuple[float, int]:
    """Run the runner in `folder` and return its seconds and its peak memory in bytes."""
    command = [sys.executable, "-m", "benchmark.runner", *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, " ".join(arguments)
    return time.perf_counter() - started, usage.ru_maxrss * 1024


def measure() -> dict[str, float]:
    """Return seconds and bytes."""
    corpus = load_corpus()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answers = [[case.instruction.strip(), case.expected_output] for case in corpus.cases]
        write_matrix(folder, scripted(folder, answers=answers))
        listing = statistics.median(run(folder, "--list-scenarios")[0] for _ in range(_ROUNDS))
        one = statistics.median(run(folder, "--max-cases", "1", "--output-dir", "one")[0] for _ in range(_ROUNDS))
        whole, peak = run(folder, "--output-dir", "whole")
        for result in folder.glob("whole/*/*.json"):
            result.unlink()
        resumed, _ = run(folder, "--resume", "whole")
    cases = len(corpus.cases) - 1
    return {
        "list_s": listing,
        "one_s": one,
        "case_s": (whole - one) / cases,
        "resumed_case_s": (resumed - one) / cases,
        "peak_bytes": peak,
    }


if __name__ == "__main__":
    print(json.dumps(measure()))

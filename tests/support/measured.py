"""Runs a command as a process of its own and tells how it ended and the most memory it took."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO


@dataclass(frozen=True)
class Measured:
    """How a process ended.

    Attributes:
        peak_mb: most memory that it, or a child that it has waited for, took.

    """

    code: int
    stdout: str
    stderr: str
    peak_mb: float


# A process begins with the peak of the one that it was forked from: this one is small.
_LAUNCHER = """
import resource, subprocess, sys
code = subprocess.call([sys.executable, "-m", *sys.argv[2:]])
with open(sys.argv[1], "w") as told:
    told.write(f"{code} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}")
"""


def measured(*arguments: str, cwd: Path, timeout_s: float = 300) -> Measured:
    """Run `python -m` with `arguments`. Raises AssertionError when it does not end in time."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("CTXSIFT_")}
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr, tempfile.NamedTemporaryFile() as told:
        process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCHER, told.name, *arguments],
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise AssertionError(f"{arguments} did not end within {timeout_s} s") from None
        code, peak = map(int, told.read().split())
        # Linux tells kilobytes, macOS bytes.
        return Measured(code, _text(stdout), _text(stderr), peak / (1e6 if sys.platform == "darwin" else 1e3))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")

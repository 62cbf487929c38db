"""Runs of the remote track inside the test's own process: LiteLLM takes seconds to import, and is imported once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import scenario
from tests.support.processes import Main, run_inside


def remote(**fields: Any) -> dict[str, Any]:
    """Return a matrix row of the remote track."""
    row = {"name": "remote-test", "track": "remote", "device": "remote", "model": "m", "gguf_filename": None}
    return scenario(**row | fields)


def clean_environ(**more: str) -> dict[str, str]:
    """Return the environment without settings of ours and without proxies, and with `more`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CTXSIFT_") and not k.lower().endswith("_proxy")}
    return kept | more


def run_here(
    main: Main, *arguments: str, cwd: Path, given: str = "", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Call a command's `main` in this process, in a clean environment and `environ`, with `given` on stdin."""
    with _reading(given.encode()):
        return run_inside(main, arguments, cwd, clean_environ(**environ))


def run_process(module: str, *arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a module as a process, in a clean environment and `environ`."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd, env=clean_environ(**environ), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


@contextmanager
def _reading(given: bytes) -> Iterator[None]:
    """Let stdin be a file with these bytes."""
    kept, stream = os.dup(0), sys.stdin
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        os.dup2(file.fileno(), 0)
        sys.stdin = open(os.dup(0), encoding="utf-8")  # noqa: PTH123, SIM115 - a descriptor, closed below
        try:
            yield
        finally:
            sys.stdin.close()
            sys.stdin = stream
            os.dup2(kept, 0)
            os.close(kept)

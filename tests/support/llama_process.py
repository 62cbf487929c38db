"""llama.cpp's own server as a process on loopback, which answers or says why it does not."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parents[2]
# A generous net: on a quiet machine it takes two seconds.
_START_S = 100


@contextmanager
def serving(model: str, log: Path) -> Iterator[str]:
    """Serve the weights in a file; gives the base URL.

    Raises:
        AssertionError: the server does not come up; with the end of its log.

    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "tests.support.llama_service", "--model", model, "--port", str(port)]
    with log.open("wb") as said:
        process = subprocess.Popen(command, cwd=_ROOT, stdout=said, stderr=said)
    try:
        _wait_for(process, port, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    problem = "is not up" if process.poll() is None else f"ended with {process.returncode}"
    told = log.read_text(encoding="utf-8", errors="replace")[-4000:]
    raise AssertionError(f"the service {problem}; its log ends like this:\n{told}")

"""What reading sessions costs: `python -m tests.perf.sessions` prints JSON."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_MEGABYTE = 1_000_000
_HEAD = {"type": "session", "id": "p-1", "timestamp": "2026-03-01T10:00:00Z", "cwd": "/work/shop"}


def turns() -> Iterator[bytes]:
    """Yield the lines of turns as Pi writes them: about five kilobytes, most of them output of tools."""
    rng = random.Random(7)
    parts = ("cart", "total = price", "def f(x): return", "/src/", "token: str", "=")
    words = [f"{part}{letter}" for part in parts for letter in "abc"]
    block = "\n".join(" ".join(rng.choice(words) for _ in range(9)) for _ in range(2000))
    number = 0
    while True:
        number += 1
        when = f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        call = {"type": "toolCall", "id": f"k{number}", "name": "bash", "arguments": {"command": "cat src/cart.py"}}
        start = rng.randrange(len(block) // 2)
        said, printed = ({"type": "text", "text": block[start : start + length]} for length in (600, 4000))
        usage = {"input": 900, "output": 40, "cacheRead": 70_000, "cacheWrite": 300}
        agent = {"role": "assistant", "content": [said, call], "usage": usage, "stopReason": "toolUse"}
        answer = {"role": "toolResult", "toolCallId": f"k{number}", "content": [printed], "isError": False}
        for message in (agent, answer):
            yield json.dumps({"type": "message", "timestamp": when, "message": message}).encode() + b"\n"


def write_session(path: Path, megabytes: float) -> None:
    """Write a session of this size."""
    with path.open("wb") as file:
        file.write(json.dumps(_HEAD).encode() + b"\n")
        for line in turns():
            if file.tell() > megabytes * _MEGABYTE:
                return
            file.write(line)


def stats(path: Path) -> tuple[float, int]:
    """Run `ctxsift session stats` and return its seconds and its peak memory in bytes."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "ctxsift", "session", "stats", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - started, usage.ru_maxrss * 1024


def measure() -> dict[str, float]:
    """Return seconds and bytes."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "session.jsonl")
        write_session(path, 20)
        seconds = min(stats(path)[0] for _ in range(3))
        write_session(path, 500)
        large_s, peak = stats(path)
    return {"stats_s": seconds, "large_s": large_s, "peak_bytes": peak}


if __name__ == "__main__":
    print(json.dumps(measure()))

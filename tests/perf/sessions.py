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
from typing import NamedTuple

from tests.support.growing import KINDS

_MEGABYTE = 1_000_000
STATS = ("session", "stats")
# What takes less is not told from the start of the command.
_LEAST_S = 0.1
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


class Spent(NamedTuple):
    """What a command took: seconds of the clock and of the processor, and bytes of memory."""

    clock_s: float
    cpu_s: float
    peak_bytes: int


def spent(path: Path, *command: str) -> Spent:
    """Run `ctxsift` with a session."""
    started = time.perf_counter()
    whole = [sys.executable, "-m", "ctxsift", *command, str(path)]
    process = subprocess.Popen(whole, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, whole
    return Spent(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def growth(path: Path) -> float:
    """Return how many times as long twice as much of a kind takes, for the kind for which that is most.

    To compact a session is to read it, and to make its index; of the start of a command, nothing grows.
    """
    path.write_bytes(KINDS["short lines"][1](1))
    worst = 0.0
    for command in (("compact",), ("session", "show")):
        start = min(spent(path, *command).cpu_s for _ in range(3))
        for size, write in KINDS.values():
            taken = []
            for times in (1, 2):
                path.write_bytes(write(times * size))
                taken.append(min(spent(path, *command).cpu_s for _ in range(2)) - start)
            worst = max(worst, taken[1] / max(taken[0], _LEAST_S))
    return worst


def measure() -> dict[str, float]:
    """Return seconds and bytes."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "session.jsonl")
        write_session(path, 20)
        seconds = min(spent(path, *STATS).clock_s for _ in range(3))
        write_session(path, 100)
        hundred = [spent(path, *command).cpu_s for command in (STATS, ("session", "files"), ("compact",))]
        write_session(path, 500)
        large = spent(path, *STATS)
        path.write_bytes(damaged(2))
        damaged_s = spent(path, *STATS).cpu_s
        grown = growth(path)
    return {
        "stats_s": seconds,
        "large_s": large.clock_s,
        "peak_bytes": large.peak_bytes,
        "hundred_stats_s": hundred[0],
        "hundred_files_s": hundred[1],
        "hundred_compact_s": hundred[2],
        "damaged_s": damaged_s,
        "growth": grown,
    }


def damaged(megabytes: float) -> bytes:
    """Return a session of which nearly all lines are damaged."""
    return KINDS["damaged lines"][1](int(megabytes * _MEGABYTE) // len(b'{"type":\n'))


if __name__ == "__main__":
    print(json.dumps(measure()))

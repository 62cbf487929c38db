"""How many threads a busy machine has room for.

Threads that share their work wait for the slowest of them at every step, and one that has to share its core is slow. So
a thread on a core that another process keeps busy costs more than it brings: docs/footguns.md, "A busy machine".
"""

from __future__ import annotations

import time
from typing import Any

import psutil

# Shorter stretches than this say little: the system counts in ticks of 10 ms.
_LEAST_S = 0.25


class Room:
    """Counts the cores that other processes leave to this one.

    Args:
        threads: how many to use on a machine that does nothing else.

    """

    def __init__(self, threads: int) -> None:
        self._most = self._now = threads
        self._cores = _cores()
        self._before = self._read()

    def threads(self) -> int:
        """Return how many threads have room: from 1 to all, by what happened since an earlier call."""
        if time.perf_counter() - self._before[0] >= _LEAST_S:
            before, self._before = self._before, self._read()
            wall, others = (b - a for a, b in zip(before, self._before, strict=True))
            self._now = room(self._most, len(self._cores), others / wall)
        return self._now

    def _read(self) -> tuple[float, float]:
        """Return the clock, and the CPU seconds that others have used on the cores of this process."""
        times = psutil.cpu_times(percpu=True)
        return time.perf_counter(), sum(busy_s(times[core]) for core in self._cores) - time.process_time()


def busy_s(times: Any) -> float:
    """Return the seconds that were not idle in CPU times of psutil."""
    idle = times.idle + getattr(times, "iowait", 0.0)
    # Time of guests is contained in that of users.
    guest = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    return float(sum(times) - idle - guest)


def room(threads: int, cores: int, others: float) -> int:
    """Return how many of `threads` have room on `cores`, of which others use `others` (a half core counts as free)."""
    return max(1, min(threads, round(cores - others)))


def _cores() -> list[int]:
    process = psutil.Process()
    count = psutil.cpu_count() or 1
    allowed = process.cpu_affinity() if hasattr(process, "cpu_affinity") else range(count)
    return [core for core in allowed if core < count]

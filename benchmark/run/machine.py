"""Whether the machine was quiet while a scenario ran: samples of it, and what they come to."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchmark.record.journal import Hardware, Sample
from benchmark.record.result import Disturbance
from ctxsift.backends.base import LoadInfo
from ctxsift.backends.room import busy_s

# Above this share of the machine, other processes make llama.cpp's spinning threads wait for each other.
MAX_OTHER_CPU_SHARE = 0.05
# Share of the time in which something waited for memory: weights that are mapped are read again and again then.
MAX_MEMORY_STALL_SHARE = 0.05
# Slower by this share at the end than at the beginning: a throttled clock, or a neighbour on the same host.
MAX_DRIFT = 0.25


_GPU = "gpu"


def hardware(load: LoadInfo | None = None) -> Hardware:
    """Return what kind of machine this is, with the GPU that a model was loaded on."""
    gpu = load.settings.get(_GPU) if load else None
    return Hardware(
        cpu=_cpu_name(),
        cpu_cores_physical=psutil.cpu_count(logical=False),
        cpu_cores_logical=psutil.cpu_count(),
        accelerator=str(gpu) if gpu else None,
    )


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def disturbance_of(samples: Sequence[Sample], drift: float | None) -> Disturbance:
    """Return what the samples come to.

    Args:
        samples: of the whole scenario.
        drift: how much longer the probe took at the end than at the beginning; None when it did not come to that.

    """
    wall = max(1e-3, sum(s.wall_s for s in samples))
    cores = psutil.cpu_count() or 1
    others, steal = sum(s.other_cpu_s for s in samples), sum(s.steal_s for s in samples)
    clocks = [s.mhz for s in samples if s.mhz is not None]
    other_share = min(1.0, max(0.0, others) / (wall * cores))
    stall_share = min(1.0, sum(s.memory_stall_s for s in samples) / wall)
    reasons = _reasons(other_share, stall_share, drift)
    return Disturbance(
        other_cpu_share=other_share,
        steal_share=min(1.0, max(0.0, steal) / (wall * cores)),
        memory_stall_share=stall_share,
        load_average=(samples[0].load, samples[-1].load) if samples else (0.0, 0.0),
        mhz=(min(clocks), max(clocks)) if clocks else None,
        drift=drift,
        latency_clean=not reasons,
        reasons=reasons,
    )


def _reasons(other_cpu_share: float, memory_stall_share: float, drift: float | None) -> list[str]:
    """Return why latency measured meanwhile cannot be trusted; empty when it can."""
    found = []
    if other_cpu_share > MAX_OTHER_CPU_SHARE:
        found.append(f"other processes used {other_cpu_share:.0%} of the machine")
    if memory_stall_share > MAX_MEMORY_STALL_SHARE:
        found.append(f"memory was short for {memory_stall_share:.0%} of the time")
    if drift is not None and drift > MAX_DRIFT:
        found.append(f"the machine was {drift:.0%} slower at the end")
    return found


class Meter:
    """Samples the machine, from construction on. Safe to use from several threads.

    Args:
        child_cpu_s: CPU time that the processes that work for us have used before.

    """

    def __init__(self, child_cpu_s: float = 0.0) -> None:
        self._lock = threading.Lock()
        self._before = self._read(child_cpu_s)

    @property
    def due(self) -> bool:
        """A second has passed since the last sample; more of them would cost what they measure."""
        return time.perf_counter() - self._before[0] >= 1.0

    def sample(self, child_cpu_s: float) -> Sample:
        """Return the sample since the last one; `child_cpu_s` is the CPU time of all processes that worked for us."""
        with self._lock:
            before, now = self._before, self._read(child_cpu_s)
            self._before = now
        wall, busy, own, steal, stall = (b - a for a, b in zip(before, now, strict=True))
        frequency = psutil.cpu_freq()
        return Sample(
            wall_s=round(wall, 3),
            # A child's clock runs ahead of what was told of it last; over a scenario that evens out.
            other_cpu_s=round(busy - own, 3),
            steal_s=round(steal, 3),
            memory_stall_s=round(stall, 3),
            load=round(os.getloadavg()[0], 2),
            mhz=round(frequency.current, 1) if frequency else None,
        )

    def _read(self, child_cpu_s: float) -> tuple[float, float, float, float, float]:
        """Return clock, CPU seconds of everything and of ours, steal, and memory stall."""
        times = psutil.cpu_times()
        busy = busy_s(times)
        own = time.process_time() + child_cpu_s
        return time.perf_counter(), busy, own, float(getattr(times, "steal", 0.0)), _memory_stall_s()


def children_cpu_s() -> float:
    """Return the CPU seconds of the processes that this one has started, and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _memory_stall_s() -> float:
    try:
        some = Path("/proc/pressure/memory").read_text(encoding="ascii").splitlines()[0]
        return int(some.rpartition("total=")[2]) / 1e6
    except (OSError, ValueError, IndexError):
        return 0.0


def probe_s() -> float:
    """Return how long a fixed piece of work takes now, in seconds: the best of five, to leave out what passes by."""
    found = []
    for _ in range(5):
        started = time.perf_counter()
        numbers = list(range(20_000))
        sorted(str(number) for number in numbers)
        found.append(time.perf_counter() - started)
    return min(found)

"""What reproducing a run needs to know of the machine, the versions and the code; and whether it was quiet."""

from __future__ import annotations

import os
import platform
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

_PACKAGES = (
    "ctxsift-bench",
    "llama-cpp-python",
    "litellm",
    "numpy",
    "rapidfuzz",
    "tokenizers",
    "torch",
    "transformers",
    "wordllama",
)
# Above this share of the machine, other processes make llama.cpp's spinning threads wait for each other.
MAX_OTHER_CPU_SHARE = 0.05
# Share of the time in which something waited for memory: weights that are mapped are read again and again then.
MAX_MEMORY_STALL_SHARE = 0.05
# Slower by this share at the end than at the beginning: a throttled clock, or a neighbour on the same host.
MAX_DRIFT = 0.25


def describe_environment() -> dict[str, Any]:
    """Return hardware, versions and commit as JSON values."""
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cpu": _cpu_name(),
        "cpu_cores_physical": psutil.cpu_count(logical=False),
        "cpu_cores_logical": psutil.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "packages": _versions(),
        **_commit(),
    }


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _commit() -> dict[str, Any]:
    """Return git commit and dirty flag of this code; None where it is no checkout."""
    root = Path(__file__).parents[2]

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    if git("ls-files", "--error-unmatch", "benchmark/run/environment.py") is None:
        return {"git_commit": None, "git_dirty": None}
    status = git("status", "--porcelain", "--untracked-files=no")
    return {"git_commit": git("rev-parse", "HEAD"), "git_dirty": None if status is None else bool(status)}


@dataclass(frozen=True)
class Sample:
    """The machine since the sample before.

    Attributes:
        wall_s: how long that was.
        other_cpu_s: CPU seconds of all other processes, steal included.
        steal_s: CPU seconds that a host gave to others.
        memory_stall_s: seconds in which something waited for memory (Linux PSI `some`); 0 where it is not told.
        load: one-minute load average.
        mhz: mean clock of the cores; None where it is not told.

    """

    wall_s: float
    other_cpu_s: float
    steal_s: float
    memory_stall_s: float
    load: float
    mhz: float | None


@dataclass(frozen=True)
class Disturbance:
    """How much others disturbed the machine while a scenario ran.

    Attributes:
        other_cpu_share: CPU time of all other processes, steal included, as a share of all cores in [0, 1].
        steal_share: the part of it that the host of a virtual machine took.
        memory_stall_share: share of the time in which something waited for memory.
        load_average: one-minute load average at the first and the last sample.
        mhz: lowest and highest mean clock of the samples; None where it is not told.
        drift: how much longer the probe took after the scenario than before it; 0.1 is a tenth. None when it did not
            come to that.

    """

    other_cpu_share: float
    steal_share: float
    memory_stall_share: float
    load_average: tuple[float, float]
    mhz: tuple[float, float] | None
    drift: float | None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why latency measured meanwhile cannot be trusted; empty when it can."""
        found = []
        if self.other_cpu_share > MAX_OTHER_CPU_SHARE:
            found.append(f"other processes used {self.other_cpu_share:.0%} of the machine")
        if self.memory_stall_share > MAX_MEMORY_STALL_SHARE:
            found.append(f"memory was short for {self.memory_stall_share:.0%} of the time")
        if self.drift is not None and self.drift > MAX_DRIFT:
            found.append(f"the machine was {self.drift:.0%} slower at the end")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, with the verdict."""
        return asdict(self) | {"latency_clean": not self.reasons, "reasons": list(self.reasons)}


def disturbance_of(samples: Sequence[Sample], drift: float | None) -> Disturbance:
    """Return what the samples come to."""
    wall = max(1e-3, sum(s.wall_s for s in samples))
    cores = psutil.cpu_count() or 1
    others, steal = sum(s.other_cpu_s for s in samples), sum(s.steal_s for s in samples)
    clocks = [s.mhz for s in samples if s.mhz is not None]
    return Disturbance(
        other_cpu_share=min(1.0, max(0.0, others) / (wall * cores)),
        steal_share=min(1.0, steal / (wall * cores)),
        memory_stall_share=min(1.0, sum(s.memory_stall_s for s in samples) / wall),
        load_average=(samples[0].load, samples[-1].load) if samples else (0.0, 0.0),
        mhz=(min(clocks), max(clocks)) if clocks else None,
        drift=drift,
    )


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
        # guest time is contained in user time already
        idle = times.idle + getattr(times, "iowait", 0.0)
        guest = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
        busy = float(sum(times)) - idle - guest
        own = time.process_time() + child_cpu_s
        return time.perf_counter(), busy, own, float(getattr(times, "steal", 0.0)), _memory_stall_s()


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

"""What reproducing a run needs to know of the machine, the versions and the code; and whether it was quiet."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from dataclasses import dataclass
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
class Disturbance:
    """How much of the machine others used while a scenario ran.

    Attributes:
        other_cpu_share: CPU time of all other processes, steal included, as a share of all cores in [0, 1].
        load_average: one-minute load average when the scenario began and ended.

    """

    other_cpu_share: float
    load_average: tuple[float, float]

    @property
    def clean(self) -> bool:
        """Latency measured meanwhile can be trusted."""
        return self.other_cpu_share <= MAX_OTHER_CPU_SHARE


class DisturbanceMeter:
    """Watches from construction to `stop`."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._busy = _busy_seconds()
        self._own = time.process_time()
        self._load = os.getloadavg()[0]

    def stop(self, child_cpu_s: float) -> Disturbance:
        """Return what was seen; `child_cpu_s` is the CPU time of the processes that worked for us."""
        wall = max(1e-3, time.perf_counter() - self._started)
        others = _busy_seconds() - self._busy - (time.process_time() - self._own) - child_cpu_s
        share = max(0.0, others) / (wall * (psutil.cpu_count() or 1))
        return Disturbance(min(1.0, share), (self._load, os.getloadavg()[0]))


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    # guest time is contained in user time already
    return float(sum(times)) - idle - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)

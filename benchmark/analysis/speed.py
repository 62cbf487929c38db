"""How fast two results are, one beside the other: within one machine, and never as a part of their quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchmark.matrix import Track
from benchmark.record.base import known
from benchmark.record.read import StoredResult
from benchmark.record.result import Run
from benchmark.statistics import Clusters, Interval, bootstrap_means, interval_of, mean


class SpeedFinding(StrEnum):
    """What a ratio of times says of B, in words."""

    TOO_FEW = "too few captures"
    CANNOT_TELL = "not significant"
    FASTER = "B faster"
    SLOWER = "B slower"


@dataclass(frozen=True)
class Speed:
    """Times of the same cases on one machine.

    Attributes:
        a_ms, b_ms: mean generation time of a case.
        ratio: of B's time to A's, with its 95% interval over the captures.

    """

    a_ms: float
    b_ms: float
    ratio: float
    interval: Interval | None

    @property
    def turned(self) -> Speed:
        """The times of A beside those of B."""
        ends = self.interval and Interval(1 / self.interval.high, 1 / self.interval.low)
        return Speed(self.b_ms, self.a_ms, 1 / self.ratio, ends)

    @property
    def verdict(self) -> SpeedFinding:
        """Whether B is faster."""
        if self.interval is None:
            return SpeedFinding.TOO_FEW
        if self.interval.low <= 1 <= self.interval.high:
            return SpeedFinding.CANNOT_TELL
        return SpeedFinding.FASTER if self.ratio < 1 else SpeedFinding.SLOWER


def machine(run: Run) -> tuple[object, ...]:
    """Return what two runs on one machine have in common."""
    told = run.environment
    return told.cpu, told.cpu_cores_physical, told.cpu_cores_logical, told.memory_bytes


def speed(a: StoredResult, b: StoredResult, cases: Sequence[str], clusters: Clusters) -> Speed | None:
    """Return how fast two results answered these cases.

    None where times do not tell: of two machines, of several, of one that was disturbed, of a service, or of nothing
    that took any time.
    """
    if not same_machine(a, b) or not (a.record.latency_clean and b.record.latency_clean):
        return None
    a_ms, b_ms = (np.array([result.cases[case].time_ms for case in cases]) for result in (a, b))
    if not a_ms.sum() or not b_ms.sum():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = bootstrap_means(b_ms, clusters) / bootstrap_means(a_ms, clusters)
    interval = interval_of(drawn, clusters) if np.isfinite(drawn).all() else None
    return Speed(mean(a_ms), mean(b_ms), float(b_ms.sum() / a_ms.sum()), interval)


def why_untimed(a: StoredResult, b: StoredResult) -> str:
    """Return why `speed` says nothing of two results; empty where their times can be compared."""
    if Track.REMOTE in (a.track, b.track):
        return "a service is among them"
    if not (a.record.latency_clean and b.record.latency_clean):
        return "the machine was busy with other work during a run (the result is marked 'disturbed')"
    return "" if same_machine(a, b) else "they were measured on different machines"


def same_machine(a: StoredResult, b: StoredResult) -> bool:
    """Say whether both are known to be timed on one machine; a service is on none that is known."""
    ours, theirs = _place(a), _place(b)
    return ours is not None and ours == theirs


def _place(result: StoredResult) -> tuple[object, ...] | None:
    """Return the one machine whose times these are; None where there is none."""
    run = result.record.run
    if run is None or result.track is Track.REMOTE:
        return None
    return None if known(run.machines) else machine(run)

"""The gate for CI: whether B may replace A."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from benchmark.analysis.comparison import Comparison, Measure
from benchmark.statistics import Difference


class GateFinding(Enum):
    """What the gate found."""

    UNANSWERED = auto()  # B has no answer to cases that A answered
    TOO_FEW = auto()  # captures for an interval
    DROP = auto()  # more than allowed, with 95% confidence
    POSSIBLE_DROP = auto()  # the interval does not rule out more than allowed
    NO_DROP = auto()


@dataclass(frozen=True)
class Gate:
    """The outcome of the gate.

    Attributes:
        allowed: points of `measure` that B may lose.
        shared: cases both answered.
        captures: raw outputs that these are about.
        unanswered: cases that only A answered.

    """

    finding: GateFinding
    measure: Measure
    allowed: float
    difference: Difference
    shared: int
    captures: int
    unanswered: int

    @property
    def passed(self) -> bool:
        """B may replace A."""
        return self.finding not in (GateFinding.UNANSWERED, GateFinding.DROP)


def judge_drop(comparison: Comparison, measure: Measure, allowed: float) -> Gate:
    """Say whether B answered every case of A and did not surely drop by more than `allowed` points."""
    difference = comparison.difference(measure)
    shared, unanswered = len(comparison.shared), comparison.only_a
    return Gate(
        finding=_finding(difference, allowed, unanswered),
        measure=measure,
        allowed=allowed,
        difference=difference,
        shared=shared,
        captures=comparison.captures,
        unanswered=unanswered,
    )


def _finding(difference: Difference, allowed: float, unanswered: int) -> GateFinding:
    if unanswered:
        return GateFinding.UNANSWERED
    if difference.interval is None:
        return GateFinding.TOO_FEW
    if difference.interval.high < -allowed:
        return GateFinding.DROP
    return GateFinding.POSSIBLE_DROP if difference.interval.low < -allowed else GateFinding.NO_DROP

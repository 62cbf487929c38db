"""What was published elsewhere, to stand beside our figures. It was measured otherwise, and cannot be compared."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from benchmark.judges.rubric import RubricDimension


@dataclass(frozen=True)
class PublishedRow:
    """A published row: answers of a model to probes, graded by another model, over 36,611 messages.

    Attributes:
        overall: as published; it is said to be the unweighted mean of the dimensions, and is not.
        left: share of all tokens that was left.

    """

    method: str
    overall: float
    left: float
    dimensions: dict[RubricDimension, float]

    @property
    def mean(self) -> float:
        """The unweighted mean of its dimensions."""
        return fmean(self.dimensions.values())


def _row(method: str, overall: float, left: float, *scores: float) -> PublishedRow:
    return PublishedRow(method, overall, left, dict(zip(RubricDimension, scores, strict=True)))


PUBLISHED = (
    _row("anchored", 3.70, 0.014, 4.04, 4.01, 2.45, 4.44, 3.80, 4.99),
    _row("regenerative", 3.44, 0.013, 3.74, 3.56, 2.33, 4.37, 3.67, 4.95),
    _row("opaque", 3.35, 0.007, 3.43, 3.64, 2.19, 4.37, 3.77, 4.92),
)

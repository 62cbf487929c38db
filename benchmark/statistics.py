"""Statistics of case scores: percentiles, seeded bootstrap, paired comparison. The primitives are numpy's.

Percentile bootstrap after Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 16, expanded for
small samples after Hesterberg, What Teachers Should Know About the Bootstrap (2015), section 5.3; step-down correction
after Holm (1979). Cases are what is drawn: they stand for the outputs an agent will meet.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
SEED = 0
DRAWS = 2000
CONFIDENCE = 0.95
# From fewer cases nothing can be said of how others would come out.
MIN_CASES = 5
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    """A two-sided confidence interval, in the units of the figure it belongs to."""

    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """How far B lies above A on the same cases.

    Attributes:
        value: the observed difference, B - A.
        interval: None below MIN_CASES cases.
        p: two-sided probability of one at least as large if there were none; 1 below MIN_CASES cases.

    """

    value: float
    interval: Interval | None
    p: float


def mean(values: Sequence[float] | Floats) -> float:
    """Return the arithmetic mean. Raises ValueError when there are no values."""
    if not len(values):
        raise ValueError("no values")
    return float(np.mean(values))


def percentile(values: Sequence[float] | Floats, percent: float) -> float:
    """Return the percentile, linearly interpolated between ranks. Raises ValueError when there are no values."""
    if not len(values):
        raise ValueError("no values")
    return float(np.percentile(values, percent, method="linear"))


@functools.lru_cache(maxsize=128)
def resamples(size: int, seed: int = SEED, draws: int = DRAWS) -> npt.NDArray[np.int32]:
    """Return indexes of `draws` samples with replacement from `size` cases, shape (draws, size).

    The same for every list of that length, so that figures drawn from the same cases are drawn together.
    """
    return np.random.default_rng(seed).integers(0, size, (draws, size), dtype=np.int32)


def row_percentile(rows: Floats, percent: float) -> Floats:
    """Return `percentile` of every row of an array of shape (rows, values)."""
    place = (rows.shape[1] - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, rows.shape[1] - 1)
    # A partition finds two ranks in linear time, where numpy's percentile spends five times as long.
    parts = np.partition(rows, (low, high), axis=1)
    found: Floats = parts[:, low] + (place - low) * (parts[:, high] - parts[:, low])
    return found


def bootstrap_means(values: Sequence[float] | Floats) -> Floats:
    """Return the means of the resampled values, shape (draws,)."""
    array = np.asarray(values, dtype=np.float64)
    means: Floats = array[resamples(len(array))].mean(axis=1)
    return means


def interval_of(drawn: Floats, cases: int) -> Interval | None:
    """Return the 95 % interval of a figure of `cases` cases from its bootstrap distribution; None below MIN_CASES.

    The plain percentile interval is too narrow by sqrt((n-1)/n) and knows no Student's t; the tails are moved outwards
    for both.
    """
    if cases < MIN_CASES:
        return None
    tail = 100 * _NORMAL.cdf(-_student_quantile(cases - 1) * math.sqrt(cases / (cases - 1)))
    low, high = np.percentile(drawn, [tail, 100 - tail])
    return Interval(float(low), float(high))


@functools.lru_cache
def _student_quantile(freedom: int) -> float:
    """Return the upper 2.5 % point of Student's t, by its Cornish-Fisher expansion (right to 1 % from 4 degrees on)."""
    z = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def difference_of(observed: float, drawn: Floats, cases: int) -> Difference:
    """Return an observed difference on `cases` cases with interval and p value, given its bootstrap distribution.

    The p value takes the bootstrap's standard error and Student's t (Wallace's approximation of its tail): counting
    draws could not tell 0.0001 from 0.00001, which correcting a whole leaderboard needs.
    """
    interval = interval_of(drawn, cases)
    if interval is None:
        return Difference(observed, None, 1.0)
    freedom = cases - 1
    error = float(np.std(drawn, ddof=1)) * math.sqrt(cases / freedom)
    if error <= 1e-12:
        return Difference(observed, interval, float(abs(observed) <= 1e-12))
    t = abs(observed) / error
    z = (8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(t * t / freedom))
    return Difference(observed, interval, math.erfc(z / math.sqrt(2)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values corrected for having asked that many questions (Holm), in the same order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected

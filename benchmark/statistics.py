"""Statistics of case scores: percentiles, seeded bootstrap, paired comparison. The primitives are numpy's.

Percentile bootstrap after Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 16; step-down
correction after Holm (1979). Cases are what is drawn: they stand for the outputs an agent will meet.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
SEED = 0
DRAWS = 2000
CONFIDENCE = 0.95


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
        p: two-sided probability of one at least as large if there were none.

    """

    value: float
    interval: Interval
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


def interval_of(draws: Floats) -> Interval:
    """Return the 95 % percentile interval of a bootstrap distribution."""
    low, high = np.percentile(draws, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)])
    return Interval(float(low), float(high))


def difference_of(observed: float, draws: Floats) -> Difference:
    """Return an observed difference with its interval and p value, given its bootstrap distribution.

    The p value takes the bootstrap's standard error and the normal curve: counting draws could not tell 0.0001 from
    0.00001, which correcting a whole leaderboard needs.
    """
    error = float(np.std(draws, ddof=1))
    p = math.erfc(abs(observed) / error / math.sqrt(2)) if error > 1e-12 else float(abs(observed) <= 1e-12)
    return Difference(observed, interval_of(draws), p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values corrected for having asked that many questions (Holm), in the same order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected

"""Statistics of case scores: percentiles, seeded bootstrap, paired comparison. The primitives are numpy's.

Percentile bootstrap after Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 16, expanded for
small samples after Hesterberg, What Teachers Should Know About the Bootstrap (2015), section 5.3. Clusters are drawn
whole (Davison & Hinkley, Bootstrap Methods and their Application (1997), section 3.8): cases on one capture tend to
come out alike, and captures stand for the outputs an agent will meet. Step-down correction after Holm (1979).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]
SEED = 0
DRAWS = 2000
CONFIDENCE = 0.95
# From fewer clusters nothing can be said of how others would come out.
MIN_CLUSTERS = 5
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
        interval: None below MIN_CLUSTERS clusters.
        p: two-sided probability of one at least as large if there were none; 1 below MIN_CLUSTERS clusters.

    """

    value: float
    interval: Interval | None
    p: float

    @property
    def turned(self) -> Difference:
        """How far A lies above B."""
        ends = self.interval and Interval(-self.interval.high, -self.interval.low)
        return Difference(-self.value, ends, self.p)


@dataclass(frozen=True)
class Clusters:
    """Which values of a list are drawn together.

    Attributes:
        labels: the cluster of each value, numbered from 0 in the order in which they first appear.

    """

    labels: tuple[int, ...]

    @classmethod
    def of(cls, names: Iterable[Hashable]) -> Clusters:
        """Return the clusters of values, given the name of each value's cluster."""
        numbers: dict[Hashable, int] = {}
        return cls(tuple(numbers.setdefault(name, len(numbers)) for name in names))

    @functools.cached_property
    def count(self) -> int:
        """How many there are."""
        return max(self.labels, default=-1) + 1

    @functools.cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of values of each, shape (count,)."""
        return np.bincount(np.asarray(self.labels, dtype=np.intp))

    @functools.cached_property
    def effective_count(self) -> float:
        """How many of equal size would tell as much: (sum of sizes)^2 / sum of sizes^2 (Kish, 1965).

        The count itself where all have one size, less where a few hold most values.
        """
        sizes = self.sizes
        return float(sizes.sum() ** 2 / (sizes**2).sum()) if len(sizes) else 0.0

    def joined(self, other: Clusters) -> Clusters:
        """Return the smallest clusters of the same values that keep together what either keeps together."""
        if self.labels == other.labels:
            return self
        leaders = list(range(self.count))

        def leader(label: int) -> int:
            while leaders[label] != label:
                label = leaders[label]
            return label

        first: dict[int, int] = {}
        for ours, theirs in zip(self.labels, other.labels, strict=True):
            leaders[leader(ours)] = leader(first.setdefault(theirs, ours))
        return Clusters.of(leader(label) for label in self.labels)


def mean(values: Sequence[float] | Floats) -> float:
    """Return the arithmetic mean. Raises ValueError when there are no values."""
    if not len(values):
        raise ValueError("no values")
    return float(np.mean(values))


def percentile(values: Sequence[float] | Floats, percent: float) -> float:
    """Return the percentile, linearly interpolated between ranks. Raises ValueError when there are no values."""
    if not len(values):
        raise ValueError("no values")
    (found,) = _percentiles(np.asarray(values, dtype=np.float64)[np.newaxis], [percent])
    return float(found[0])


@functools.lru_cache(maxsize=128)
def resamples(count: int, seed: int = SEED, draws: int = DRAWS) -> Counts:
    """Return indexes of `draws` samples with replacement from `count` clusters, shape (draws, count).

    The same for every list with that many clusters, so that figures drawn from the same cases are drawn together.
    """
    return np.random.default_rng(seed).integers(0, count, (draws, count), dtype=np.int32)


@functools.lru_cache(maxsize=32)
def _multiplicities(count: int) -> Counts:
    """Return how often each of `count` clusters is in each of the `resamples`, shape (count, draws)."""
    drawn = resamples(count)
    cells = drawn + count * np.arange(len(drawn))[:, np.newaxis]
    found = np.bincount(cells.ravel(), minlength=count * len(drawn)).reshape(len(drawn), count)
    return np.ascontiguousarray(found.T, dtype=np.int32)


@functools.lru_cache(maxsize=128)
def _drawn_sizes(clusters: Clusters) -> npt.NDArray[np.int64]:
    """Return how many values each of the `resamples` holds, shape (draws,)."""
    sizes: npt.NDArray[np.int64] = clusters.sizes[resamples(clusters.count)].sum(axis=1)
    return sizes


def bootstrap_means(values: Sequence[float] | Floats, clusters: Clusters) -> Floats:
    """Return the mean of the values of each bootstrap sample of the clusters, shape (draws,)."""
    sums = np.bincount(np.asarray(clusters.labels, dtype=np.intp), np.asarray(values, dtype=np.float64))
    means: Floats = sums[resamples(clusters.count)].sum(axis=1) / _drawn_sizes(clusters)
    return means


def bootstrap_percentiles(values: Sequence[float] | Floats, percent: float, clusters: Clusters) -> Floats:
    """Return the `percentile` of the values of each bootstrap sample of the clusters, shape (draws,).

    No sample is sorted: the values are sorted once, and counting how often each was drawn leads to its rank.
    """
    array = np.asarray(values, dtype=np.float64)
    order = np.argsort(array)
    ranked = array[order]
    times_drawn = _multiplicities(clusters.count)[np.asarray(clusters.labels, dtype=np.intp)[order]]
    reached = np.cumsum(times_drawn, axis=0, dtype=np.int32)
    sizes = _drawn_sizes(clusters)
    places = (sizes - 1) * percent / 100
    low = np.floor(places).astype(np.int32)
    high = np.minimum(low + 1, sizes - 1).astype(np.int32)
    # The value of rank r, from 0, is the first that more than r values of the sample reach.
    at_low, at_high = (ranked[(reached <= rank).sum(axis=0)] for rank in (low, high))
    found: Floats = at_low + (places - low) * (at_high - at_low)
    return found


def interval_of(drawn: Floats, clusters: Clusters) -> Interval | None:
    """Return the 95% interval of a figure, given its bootstrap distribution; None below MIN_CLUSTERS clusters.

    The plain percentile interval of n values is too narrow by sqrt((n-1)/n) and knows no Student's t; the tails are
    moved outwards for both, n being the effective number of clusters.
    """
    if clusters.count < MIN_CLUSTERS:
        return None
    low, high = _percentiles(drawn[np.newaxis], _tails(clusters))
    return Interval(float(low[0]), float(high[0]))


def _tails(clusters: Clusters) -> tuple[float, float]:
    """Return which percentiles of a bootstrap distribution over these clusters end its 95% interval."""
    count = clusters.effective_count
    tail = 100 * _NORMAL.cdf(-student_quantile(count - 1) * math.sqrt(count / (count - 1)))
    return tail, 100 - tail


def _percentiles(values: Floats, percents: Sequence[float]) -> list[Floats]:
    """Return what `np.percentile` says of each row: a tenth of the work, which every pair of a leaderboard needs.

    Args:
        values: shape (rows, values of each).
        percents: of these values.

    """
    last = values.shape[1] - 1
    places = [last * (percent / 100) for percent in percents]
    below = [min(math.floor(place), last - 1) for place in places]
    ranked = np.partition(values, sorted({rank for low in below for rank in (low, low + 1)}), axis=1)
    return [_between(ranked[:, low], ranked[:, low + 1], place - low) for low, place in zip(below, places, strict=True)]


def _between(low: Floats, high: Floats, share: float) -> Floats:
    # As numpy does it, to the last digit.
    found: Floats = low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share)
    return found


@functools.lru_cache(maxsize=1024)
def student_quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return where Student's t is between its negative and itself with this confidence.

    By its Cornish-Fisher expansion, which is right to 1% from 4 degrees on at 95%.
    """
    z = _NORMAL.inv_cdf((1 + confidence) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def difference_of(observed: float, drawn: Floats, clusters: Clusters) -> Difference:
    """Return an observed difference with interval and p value, given its bootstrap distribution over `clusters`.

    The p value takes the bootstrap's standard error and Student's t (Wallace's approximation of its tail): counting
    draws could not tell 0.0001 from 0.00001, which correcting a whole leaderboard needs.
    """
    return differences_of([observed], drawn[np.newaxis], clusters)[0]


def differences_of(observed: Sequence[float], drawn: Floats, clusters: Clusters) -> list[Difference]:
    """Return several differences over the same `clusters`, each as `difference_of` does.

    Args:
        observed: each of them.
        drawn: their bootstrap distributions, shape (differences, draws).
        clusters: that were drawn.

    """
    if clusters.count < MIN_CLUSTERS:
        return [Difference(value, None, 1.0) for value in observed]
    freedom = clusters.effective_count - 1
    errors = np.std(drawn, axis=1, ddof=1) * math.sqrt((freedom + 1) / freedom)
    lows, highs = _percentiles(drawn, _tails(clusters))
    told = zip(observed, lows.tolist(), highs.tolist(), errors.tolist(), strict=True)
    return [Difference(value, Interval(low, high), _p_value(value, error, freedom)) for value, low, high, error in told]


def _p_value(observed: float, error: float, freedom: float) -> float:
    if error <= 1e-12:
        return float(abs(observed) <= 1e-12)
    t = abs(observed) / error
    z = (8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(t * t / freedom))
    return math.erfc(z / math.sqrt(2))


def paired_difference(
    a: Mapping[str, tuple[float, Hashable]], b: Mapping[str, tuple[float, Hashable]]
) -> Difference | None:
    """Return how far the mean score of B lies above that of A on the units both have; None where they share none.

    Args:
        a: unit id -> its score and its cluster; units of one cluster are drawn together.
        b: the same of another run.

    """
    shared = sorted(a.keys() & b.keys())
    if not shared:
        return None
    # Of two runs one may know more of what belongs together.
    ours, theirs = (Clusters.of(scored[unit][1] for unit in shared) for scored in (a, b))
    gains = [b[unit][0] - a[unit][0] for unit in shared]
    clusters = ours.joined(theirs)
    return difference_of(mean(gains), bootstrap_means(gains, clusters), clusters)


def corrected(
    differences: Sequence[Difference], freedom: Sequence[float] = (), most: float = math.inf
) -> list[Difference]:
    """Return the differences corrected for having asked that many questions (Holm): p values and intervals alike.

    What is not below 0.05 after the correction has an interval that reaches 0.

    Args:
        differences: all that were asked about.
        freedom: degrees of freedom of each; without them, many.
        most: no difference can be farther from 0.

    """
    found = []
    p_values = holm([difference.p for difference in differences])
    for place, (difference, p) in enumerate(zip(differences, p_values, strict=True)):
        questions = p / difference.p if difference.p > 0 else len(differences)
        degrees = freedom[place] if freedom else math.inf
        ends = _widened(difference, max(1.0, questions), degrees, p)
        found.append(replace(difference, interval=ends and Interval(max(ends.low, -most), min(ends.high, most)), p=p))
    return found


def _widened(difference: Difference, questions: float, freedom: float, p: float) -> Interval | None:
    ends, value = difference.interval, difference.value
    if ends is None:
        return None
    alpha = 1 - CONFIDENCE
    factor = student_quantile(freedom, 1 - alpha / questions) / student_quantile(freedom)
    low, high = value - factor * (value - ends.low), value + factor * (ends.high - value)
    return Interval(low, high) if p < alpha else Interval(min(low, 0.0), max(high, 0.0))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values corrected for having asked that many questions (Holm), in the same order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected

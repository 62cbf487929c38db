"""Figures that every experiment has: means and paired differences over cases, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmark.statistics import Clusters, Interval, bootstrap_means, interval_of, mean, paired_difference

# Case id -> value and the cluster that is drawn together.
Values = Mapping[str, tuple[float, tuple[str, str]]]


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95% interval, in the units of its values; None below five captures."""

    value: float
    interval: Interval | None


def estimate(values: Values) -> Estimate | None:
    """Return the mean of values with its interval; None where there are none."""
    if not values:
        return None
    numbers = [value for value, _ in values.values()]
    clusters = Clusters.of(cluster for _, cluster in values.values())
    return Estimate(mean(numbers), interval_of(bootstrap_means(numbers, clusters), clusters))


def gain(before: Values, after: Values) -> Estimate | None:
    """Return how far the mean of `after` lies above that of `before` on the cases both have; None where none is."""
    found = paired_difference(before, after)
    return None if found is None else Estimate(found.value, found.interval)


def estimate_text(found: Estimate | None, digits: int = 1, *, signed: bool = False, suffix: str = "") -> str:
    """Return `value [low, high]`; a dash for None."""
    if found is None:
        return "-"
    form = f"{{:{'+' if signed else ''},.{digits}f}}"
    ends = found.interval
    told = f" [{form.format(ends.low)}, {form.format(ends.high)}]" if ends else ""
    return form.format(found.value) + suffix + told

"""Agreement of scores with labels: the figures are scikit-learn's and scipy's."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark.judges.records import Agreement
from benchmark.judges.rubric import FULL
from benchmark.record.base import Interval
from benchmark.statistics import MIN_CLUSTERS, Clusters, resamples
from ctxsift.errors import InputError
from ctxsift.extras import Extra, install_hint

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
WRONG, PASSED = 1.0, 4.0
# Half points: two readers differ by one, and a label is their mean.
_STEPS = 2
# A library's kappa takes a millisecond or more.
_DRAWS = 400


def kappa(some: Floats, others: Floats) -> float | None:
    """Return Cohen's kappa with quadratic weights, both sides rounded to half points; None where it is not defined.

    Raises:
        InputError: scikit-learn is not installed.

    """
    metrics = _library("sklearn.metrics")
    a, b = _steps(some), _steps(others)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = float(metrics.cohen_kappa_score(a, b, weights="quadratic", labels=range(int(FULL) * _STEPS + 1)))
    return None if np.isnan(found) else found


def rho(some: Floats, others: Floats) -> float | None:
    """Return Spearman's rank correlation; None where one side is constant. Raises as `kappa` does."""
    if not some.size or np.ptp(some) == 0 or np.ptp(others) == 0:
        return None
    return float(_library("scipy.stats").spearmanr(some, others).statistic)


def _steps(values: Floats) -> npt.NDArray[np.int64]:
    return np.clip(np.floor(values * _STEPS + 0.5), 0, FULL * _STEPS).astype(np.int64)


def _library(name: str) -> Any:
    """Return a module of the extra. Raises InputError."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(
            "agreement of judges", f"needs the package {error.name}", install_hint(Extra.JUDGES)
        ) from error


def agreement_of(
    scores: Sequence[float | None], labels: Sequence[float], sessions: Sequence[str], *, intervals: bool = True
) -> Agreement:
    """Return how far scores agree with labels.

    Args:
        scores: 0 to 5; None for unscored, which is left out and counted.
        labels: 0 to 5, in the same order.
        sessions: that the answers are about; intervals draw them.
        intervals: work them out.

    Raises:
        InputError: scikit-learn is not installed.

    """
    rows = [row for row in zip(scores, labels, sessions, strict=True) if row[0] is not None]
    if not rows:
        return Agreement(answers=0, unscored=len(scores))
    given, known = (np.asarray([row[place] for row in rows], dtype=float) for place in (0, 1))
    clusters = Clusters.of(row[2] for row in rows)
    drawn = functools.partial(_interval, clusters=clusters) if intervals else lambda _: None
    return Agreement(
        answers=len(rows),
        unscored=len(scores) - len(rows),
        kappa=kappa(given, known),
        kappa_interval=drawn(lambda at: kappa(given[at], known[at])),
        rho=rho(given, known),
        rho_interval=drawn(lambda at: rho(given[at], known[at])),
        bias=float(given.mean() - known.mean()),
        wrong=int((known <= WRONG).sum()),
        passed=int(((known <= WRONG) & (given >= PASSED)).sum()),
    )


def lead_of(
    ours: Sequence[float], theirs: Sequence[float], labels: Sequence[float], sessions: Sequence[str]
) -> tuple[float | None, Interval | None]:
    """Return by how much one judge's kappa is above another's on the same answers, and its interval."""
    a, b, known = (np.asarray(values, dtype=float) for values in (ours, theirs, labels))

    def lead(at: Places) -> float | None:
        first, second = kappa(a[at], known[at]), kappa(b[at], known[at])
        return None if first is None or second is None else first - second

    return lead(np.arange(len(known))), _interval(lead, Clusters.of(sessions))


def _interval(figure: Callable[[Places], float | None], clusters: Clusters) -> Interval | None:
    """Return the 95% interval of a figure of rows, given by their places; None where it cannot be told."""
    if clusters.count < MIN_CLUSTERS:
        return None
    labels = np.asarray(clusters.labels)
    rows = [np.flatnonzero(labels == number) for number in range(clusters.count)]
    draws = [tuple(sorted(draw)) for draw in resamples(clusters.count, draws=_DRAWS).tolist()]
    values = {draw: figure(np.concatenate([rows[each] for each in draw])) for draw in set(draws)}
    told = [value for draw in draws if (value := values[draw]) is not None]
    if len(told) < len(draws) / 2:
        return None
    low, high = np.percentile(told, (2.5, 97.5))
    return float(low), float(high)


def stretched(values: Sequence[float], labels: Sequence[float]) -> list[float]:
    """Return values with the mean and the spread of labels, within 0 to 5: the best that they could come to."""
    found = np.asarray(values, dtype=float)
    spread = float(np.std(found)) or 1.0
    moved = (found - found.mean()) / spread * float(np.std(labels)) + fmean(labels)
    return list(np.clip(moved, 0, FULL))

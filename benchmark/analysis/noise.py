"""How far two runs of one identity differ, which is what no verdict on two others can be finer than."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmark.analysis.comparison import Measure, compare
from benchmark.analysis.speed import machine
from benchmark.record.identity import identity_differences
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered, Run
from benchmark.statistics import Clusters, Floats, bootstrap_means, interval_of, mean, percentile
from ctxsift.errors import InputError

_TAIL = 95


@dataclass(frozen=True)
class LatencyNoise:
    """Times of the same cases.

    Attributes:
        cases: that took any time in both.
        median_ratio: of B's time of a case to A's.
        wide_ratio: the longer time of a case to the shorter; 95% of the cases stay below.
        sums_ratio: of B's time in all to A's.
        floor: how much the time in all may differ by chance, as a share: the farther end of the 95% interval of
            `sums_ratio`, over bootstrap samples of the captures. None where these are too few.

    """

    cases: int
    median_ratio: float
    wide_ratio: float
    sums_ratio: float
    floor: float | None


@dataclass(frozen=True)
class Noise:
    """Two runs of one identity, B against A; scores from 0 to 100.

    Attributes:
        cases: both answered.
        equal_answers: share of them that were answered to the letter alike.
        mean_difference, largest_difference: of the case scores, whichever is higher.
        final_difference: of the final scores, B - A.
        same_machine: both ran on the same processors with as much memory.
        latency: None where nothing took any time.

    """

    a: StoredResult
    b: StoredResult
    cases: int
    equal_answers: float
    mean_difference: float
    largest_difference: float
    final_difference: float
    same_machine: bool
    latency: LatencyNoise | None


def noise(a: StoredResult, b: StoredResult) -> Noise:
    """Return how far two runs of one identity differ.

    Raises:
        InputError: they are not of one identity, do not tell it, or have no answered case in common.

    """
    ours_run, theirs_run = _run_of(a), _run_of(b)
    if found := identity_differences((a.record.scenario, ours_run), (b.record.scenario, theirs_run)):
        raise InputError(
            f"--same {a.path} {b.path}",
            f"are not two runs of the same model and questions: {'; '.join(found)}",
            "name two runs of the same row over the same corpus",
        )
    comparison = compare(a, b)
    gaps = [100 * abs(b.cases[case].score - a.cases[case].score) for case in comparison.shared]
    ours, theirs = _answers(a), _answers(b)
    return Noise(
        a=a,
        b=b,
        cases=len(gaps),
        equal_answers=mean([float(ours[case] == theirs[case]) for case in comparison.shared]),
        mean_difference=mean(gaps),
        largest_difference=max(gaps),
        final_difference=comparison.difference(Measure.FINAL).value,
        same_machine=machine(ours_run) == machine(theirs_run),
        latency=_latency(a, b, comparison.shared),
    )


def _run_of(result: StoredResult) -> Run:
    run = result.record.run
    if run is None:
        raise InputError(str(result.path), "does not record how it was run", "name results of this version")
    return run


def _answers(result: StoredResult) -> dict[str, str]:
    return {c.question.case_id: c.raw.output for c in result.record.cases if isinstance(c, Answered)}


def _latency(a: StoredResult, b: StoredResult, shared: tuple[str, ...]) -> LatencyNoise | None:
    timed = [case for case in shared if a.cases[case].time_ms > 0 and b.cases[case].time_ms > 0]
    if not timed:
        return None
    ours, theirs = (np.array([result.cases[case].time_ms for case in timed]) for result in (a, b))
    ratios = theirs / ours
    clusters, others = (Clusters.of(result.cases[case].cluster for case in timed) for result in (a, b))
    return LatencyNoise(
        cases=len(timed),
        median_ratio=percentile(ratios, 50),
        wide_ratio=percentile(np.maximum(ratios, 1 / ratios), _TAIL),
        sums_ratio=float(theirs.sum() / ours.sum()),
        floor=_floor(ours, theirs, clusters.joined(others)),
    )


def _floor(ours: Floats, theirs: Floats, clusters: Clusters) -> float | None:
    ends = interval_of(bootstrap_means(theirs, clusters) / bootstrap_means(ours, clusters), clusters)
    return None if ends is None else max(ends.high, 1 / ends.low) - 1

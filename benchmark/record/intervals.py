"""Intervals of one view of a scenario, from the scores and times of its cases."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from benchmark.record.base import Interval as Ends
from benchmark.record.views import Intervals, ViewSummary
from benchmark.scoring import bootstrap_final_scores
from benchmark.statistics import Clusters, Floats, Interval, bootstrap_means, interval_of


def with_intervals(
    figures: ViewSummary, case_scores: Sequence[float], times_ms: Sequence[float], clusters: Clusters
) -> tuple[ViewSummary, Floats]:
    """Return the figures of one view with their intervals, and the bootstrap distribution of its final score.

    Args:
        figures: of the view.
        case_scores: one in [0, 1] a case.
        times_ms: generation latency of the same cases, in the same order.
        clusters: which of these cases are drawn together.

    """
    draws = bootstrap_final_scores(case_scores, times_ms, clusters)
    intervals = Intervals(
        final_score=pair(draws, clusters),
        avg_case_score=pair(bootstrap_means(case_scores, clusters), clusters),
    )
    return replace(figures, intervals=intervals), draws


def pair(draws: Floats, clusters: Clusters) -> Ends | None:
    """Return the ends of the 95% interval of a bootstrap distribution; None below five clusters."""
    return ends(interval_of(draws, clusters))


def ends(interval: Interval | None) -> Ends | None:
    """Return an interval as files hold it."""
    return (interval.low, interval.high) if interval else None

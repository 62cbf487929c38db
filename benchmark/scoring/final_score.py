"""Case scores -> the score of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.scoring.component_score import clamp
from benchmark.statistics import Clusters, Floats, bootstrap_means, bootstrap_percentiles, mean, percentile

FREE_LATENCY_MS = 2000.0


@dataclass(frozen=True)
class ScenarioScore:
    """quality_core in [0, 1], latency_factor in [0.85, 1], final_score in [0, 100]."""

    quality_core: float
    latency_factor: float
    final_score: float


def latency_factor(observed_ms: float) -> float:
    """Return the mild penalty for mean generation latency above 2 s, in [0.85, 1]."""
    return clamp((FREE_LATENCY_MS / max(1.0, observed_ms)) ** 0.15, 0.85, 1.00)


def quality_core(average: float, p10: float) -> float:
    """Return the quality core, in [0, 1], from mean and 10th percentile of the case scores."""
    return 0.80 * average + 0.20 * p10


def scenario_score(case_scores: Sequence[float] | Floats, observed_ms: float) -> ScenarioScore:
    """Return the roll-up: 0.8 mean + 0.2 p10 of the case scores, times the latency factor.

    Raises:
        ValueError: no case scores.

    """
    core = quality_core(mean(case_scores), percentile(case_scores, 10))
    factor = latency_factor(observed_ms)
    return ScenarioScore(core, factor, 100 * core * factor)


def bootstrap_final_scores(
    case_scores: Sequence[float] | Floats, times_ms: Sequence[float] | Floats, clusters: Clusters
) -> Floats:
    """Return the final score of every bootstrap sample of the cases, shape (draws,), in [0, 100].

    Args:
        case_scores: one figure in [0, 1] a case.
        times_ms: the generation latency of the same cases, in the same order.
        clusters: which of these cases are drawn together.

    """
    finals: Floats = 100 * bootstrap_cores(case_scores, clusters) * bootstrap_factors(times_ms, clusters)
    return finals


def bootstrap_cores(case_scores: Sequence[float] | Floats, clusters: Clusters) -> Floats:
    """Return the quality core of every bootstrap sample of the cases, shape (draws,), in [0, 1]."""
    cores: Floats = 0.80 * bootstrap_means(case_scores, clusters)
    cores += 0.20 * bootstrap_percentiles(case_scores, 10, clusters)
    return cores


def bootstrap_factors(times_ms: Sequence[float] | Floats, clusters: Clusters) -> Floats:
    """Return the latency factor of every bootstrap sample of the cases, shape (draws,), in [0.85, 1]."""
    observed_ms = np.maximum(1.0, bootstrap_means(times_ms, clusters))
    factors: Floats = np.clip((FREE_LATENCY_MS / observed_ms) ** 0.15, 0.85, 1.00)
    return factors

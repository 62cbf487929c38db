"""Scores, as pure functions. The formulas are in docs/scoring.md."""

from benchmark.scoring.case_score import SCORER_VERSION, Scores, case_score, case_score_of, score_view
from benchmark.scoring.components import COMPONENTS, Component
from benchmark.scoring.embedder import Embedder
from benchmark.scoring.final_score import (
    ScenarioScore,
    bootstrap_cores,
    bootstrap_factors,
    bootstrap_final_scores,
    latency_factor,
    scenario_score,
)

__all__ = [
    "COMPONENTS",
    "SCORER_VERSION",
    "Component",
    "Embedder",
    "ScenarioScore",
    "Scores",
    "bootstrap_cores",
    "bootstrap_factors",
    "bootstrap_final_scores",
    "case_score",
    "case_score_of",
    "latency_factor",
    "scenario_score",
    "score_view",
]

"""What gold and the baselines score on the packaged corpus, as the tables of docs/runner.md and docs/scoring.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.analysis.references import ALWAYS_SHOWN, SHOWN_BASELINES
from benchmark.cases import Case
from benchmark.grading.baselines import GOLD, ReferenceScores
from benchmark.scoring import scenario_score
from ctxsift.backends.baselines import BASELINES


def control_scores(cases: Sequence[Case], references: ReferenceScores) -> dict[str, float]:
    """Return the final scores of gold and each baseline, best first."""
    scores = references.scores(cases)
    finals = {name: scenario_score(values, 0.0).final_score for name, values in scores.items()}
    return dict(sorted(finals.items(), key=lambda item: -item[1]))


def control_table(scores: Mapping[str, float]) -> str:
    """Return the table of all of them."""
    return _table(scores, [GOLD, *(name for name in scores if name != GOLD)])


def board_table(scores: Mapping[str, float]) -> str:
    """Return the table of those that stand on every board."""
    baselines = [name for name in scores if name != GOLD]
    return _table(scores, list(dict.fromkeys([GOLD, *baselines[:SHOWN_BASELINES], ALWAYS_SHOWN])))


def _table(scores: Mapping[str, float], names: Sequence[str]) -> str:
    rows = [f"| {name} | {_does(name)} | {scores[name]:.1f} |" for name in names]
    return "\n".join(["| on the packaged corpus | | final score |", "|---|---|---|", *rows])


def _does(name: str) -> str:
    said = "Give the right answer." if name == GOLD else (BASELINES[name].__doc__ or "").splitlines()[0]
    return said.rstrip(".").replace("|", "\\|")

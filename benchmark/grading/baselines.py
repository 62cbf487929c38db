"""Floor and ceiling: what gold and the compressors without a model score on cases, by the path of every answer."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.cases import Case
from benchmark.scoring import Embedder, case_score_of
from ctxsift.backends.baselines import BASELINES, baseline_answer
from ctxsift.compression import examine

GOLD = "gold"


class ReferenceScores:
    """Scores gold and every baseline, each case once."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._case_scores: dict[tuple[str, str, bool], float] = {}

    def scores(self, cases: Sequence[Case], *, recovery_enabled: bool = True) -> dict[str, list[float]]:
        """Return for gold and each baseline the recovered case scores of `cases`, in their order."""
        return {name: [self._score(name, case, recovery_enabled) for case in cases] for name in (GOLD, *BASELINES)}

    def _score(self, name: str, case: Case, recovery_enabled: bool) -> float:
        key = name, case.case_id, recovery_enabled
        if key not in self._case_scores:
            text = case.expected_output if name == GOLD else baseline_answer(name, case.request)
            view = examine(text, case.request, recovery_enabled=recovery_enabled)[1]
            self._case_scores[key] = case_score_of(view.text, view.validation, case, self.embedder)
        return self._case_scores[key]

"""What rules gave for answers, as a judge: they know more of a question than any `JudgeInput` tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.judges.named_judges import RULES, Verdicts
from benchmark.judges.protocol import JudgeInput
from benchmark.judges.records import JudgedAnswer
from benchmark.judges.rubric import Criterion
from benchmark.record.judged_quality import ScoredCriterion

NO_RULES = "rules do not judge it"


class RulesJudge:
    """Scores that rules gave; see Judge.

    Args:
        scores: 0 to 5, by `JudgeInput.input_id` and criterion.
        rules: which ones.
        version: of these.

    """

    name = RULES

    def __init__(self, scores: Mapping[str, Mapping[Criterion, float]], rules: str, version: str) -> None:
        self._scores = scores
        self.version, self.identity = f"version {version}, no model", f"{rules}, version {version}"

    def verdicts(self, inputs: Sequence[JudgeInput]) -> Verdicts:
        """Return the scores of each; see Judge."""
        return Verdicts(
            {
                each.input_id: JudgedAnswer(
                    input_id=each.input_id, scores={name: self._score(each, name) for name in each.rubric_criteria}
                )
                for each in inputs
                if each.input_id in self._scores
            }
        )

    def _score(self, judged: JudgeInput, criterion: Criterion) -> ScoredCriterion:
        score = self._scores[judged.input_id].get(criterion)
        return ScoredCriterion(score=score, reasoning=NO_RULES if score is None else "")

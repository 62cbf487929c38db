"""Prose of the corpus as judges see it, their verdicts, and the scorer's own quality."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from msgspec import UNSET
from msgspec.structs import replace

from benchmark.cases import Case
from benchmark.grading.summary import with_prose
from benchmark.judges.named_judges import Judge, Verdicts
from benchmark.judges.protocol import JudgeInput
from benchmark.judges.records import Calibration, JudgedTask
from benchmark.judges.rubric import FULL, Criterion
from benchmark.judges.rules import RulesJudge
from benchmark.record.judged_quality import CriterionUse, JudgedQuality, ProseJudge
from benchmark.record.result import Answered, Outcome, Result
from benchmark.scoring import SCORER_VERSION
from benchmark.scoring.said import is_prose

# Is it true, and is it all: the other criteria are of sessions.
CRITERIA = (Criterion.ACCURACY_FACTUAL, Criterion.COMPLETENESS_COVERAGE)


def prose_input(case: Case, text: str, *, with_context: bool = False) -> JudgeInput:
    """Return the input of judges for an answer to a case.

    Args:
        case: asked in prose.
        text: the answer, without wrappers.
        with_context: judges see the raw output, too.

    """
    return JudgeInput(
        probe_question=case.instruction,
        model_response=text,
        rubric_criteria=CRITERIA,
        ground_truth=case.expected_output,
        compacted_context=case.request.raw_input if with_context else "",
    )


def scorer_as_judge(quality: Mapping[str, float]) -> RulesJudge:
    """Return the scorer's quality as a judge: it knows one figure, and gives it for every criterion.

    Args:
        quality: 0 to 1, by `JudgeInput.input_id`.

    """
    scores = {name: dict.fromkeys(CRITERIA, FULL * value) for name, value in quality.items()}
    return RulesJudge(scores, "quality of the scorer", SCORER_VERSION)


class ProseAnswers:
    """The answers in prose of a result.

    Args:
        result: scored by today's corpus.
        cases: of that corpus, by id.
        with_context: judges see the raw output, too.

    """

    def __init__(self, result: Result, cases: Mapping[str, Case], *, with_context: bool = False) -> None:
        self.result, self._cases, self._with_context = result, cases, with_context

    def inputs(self) -> Iterator[tuple[JudgeInput, float]]:
        """Yield the input of judges for each answer that has a text, and the scorer's quality of it."""
        for outcome in self.result.cases:
            if isinstance(outcome, Answered) and self._is_prose(outcome) and outcome.recovered.output.strip():
                yield self._input(outcome), outcome.recovered.quality

    def judged(self, judge: Judge, verdicts: Verdicts, calibration: Calibration | None) -> Result:
        """Return the result with what a judge says, in the place of what one said before.

        Args:
            judge: who was asked.
            verdicts: of these answers, and maybe of others.
            calibration: of the judge, with prose; None where there is none.

        """
        cases = [self._with_verdict(outcome, verdicts) for outcome in self.result.cases]
        spent = [each for name in {told.input_id for told, _ in self.inputs()} for each in verdicts.spent.get(name, ())]
        tokens = [each.tokens for each in spent if each.tokens is not None]
        told = ProseJudge(
            name=judge.name,
            version=judge.version,
            identity=judge.identity,
            with_context=self._with_context,
            seconds=sum(each.ms for each in spent) / 1000 if spent else None,
            tokens=sum(tokens) if spent and len(tokens) == len(spent) else None,
            calibrated=_uses(calibration),
            error=verdicts.error,
        )
        return replace(self.result, cases=cases, judge=told, summary=with_prose(self.result.summary, cases))

    def _with_verdict(self, outcome: Outcome, verdicts: Verdicts) -> Outcome:
        if not isinstance(outcome, Answered):
            return outcome
        return replace(outcome, judged_quality=self._verdict(outcome, verdicts) if self._is_prose(outcome) else UNSET)

    def _verdict(self, outcome: Answered, verdicts: Verdicts) -> JudgedQuality:
        if not outcome.recovered.output.strip():
            # A judge that says so is not needed, and one that says otherwise is wrong.
            return JudgedQuality(quality=0.0)
        found = verdicts.judged.get(self._input(outcome).input_id)
        if found is None:
            return JudgedQuality(quality=None)
        scored = [found.scored[name] for name in CRITERIA if name in found.scored]
        quality = fmean(scored) / FULL if len(scored) == len(CRITERIA) else None
        return JudgedQuality(quality=quality, criteria={str(name): each for name, each in found.scores.items()})

    def _is_prose(self, outcome: Answered) -> bool:
        return is_prose(self._cases[outcome.question.case_id])

    def _input(self, outcome: Answered) -> JudgeInput:
        case = self._cases[outcome.question.case_id]
        return prose_input(case, outcome.recovered.output, with_context=self._with_context)


def scorer_of(answers: Iterable[ProseAnswers]) -> RulesJudge:
    """Return the scorer as a judge of answers that it has scored."""
    return scorer_as_judge({told.input_id: quality for each in answers for told, quality in each.inputs()})


def judge_prose(answers: Sequence[ProseAnswers], judge: Judge, calibration: Calibration | None) -> list[Result]:
    """Return results with what a judge says of their prose; what several have in common is judged once.

    Args:
        answers: of each result.
        judge: who is asked.
        calibration: see `ProseAnswers.judged`.

    Raises:
        InputError: the judge cannot be asked.
        KeyboardInterrupt: a person ended it; what was judged until then is not asked again.

    """
    verdicts = judge.verdicts([told for each in answers for told, _ in each.inputs()])
    return [each.judged(judge, verdicts, calibration) for each in answers]


def _uses(calibration: Calibration | None) -> dict[str, CriterionUse]:
    if calibration is None or calibration.asked is not JudgedTask.CASES:
        return {}
    return {
        str(each.criterion): CriterionUse(
            use=each.use, kappa=each.agreement.kappa, kappa_interval=each.agreement.kappa_interval
        )
        for each in calibration.criteria
        if each.criterion in CRITERIA
    }

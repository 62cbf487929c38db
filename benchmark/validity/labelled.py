"""Answers of known truth as labelled answers: what judges of prose are calibrated with.

A label has two values: all that is known is that an answer is right or wrong. Of a fluent one about something else it
is known that it covers nothing, not whether it is true; of names with nothing said of them, neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from benchmark.cases import Case, Corpus
from benchmark.corpus.answers import IRRELEVANT, RIGHT, STUFFING, AnswerSet
from benchmark.judges.calibration import LabelledAnswer
from benchmark.judges.prose import CRITERIA, prose_input, scorer_as_judge
from benchmark.judges.rubric import FULL, Criterion
from benchmark.judges.rules import RulesJudge
from benchmark.record.validity import Half
from benchmark.scoring import Embedder, score_view
from benchmark.scoring.components import ComponentName
from benchmark.validity.measures import half_of, without_writer
from ctxsift.compression import examine
from ctxsift.errors import InputError, did_you_mean

_RIGHT, _WRONG = dict.fromkeys(CRITERIA, FULL), dict.fromkeys(CRITERIA, 0.0)
_LABELS: Mapping[str, Mapping[Criterion, float]] = {
    RIGHT: _RIGHT,
    IRRELEVANT: {Criterion.COMPLETENESS_COVERAGE: 0.0},
}


@dataclass(frozen=True)
class LabelledProse:
    """A labelled answer to a case.

    Attributes:
        half: whether anybody may have tuned the scorer on it.
        kind: right, irrelevant, or in which way it is wrong.

    """

    case: Case
    half: Half
    kind: str
    answer: LabelledAnswer


def labelled_prose(
    corpus: Corpus, answers: AnswerSet, halves: Collection[Half], *, with_context: bool = False
) -> list[LabelledProse]:
    """Return the answers that are right or wrong, as judges are shown them; intervals draw captures.

    Args:
        corpus: with the cases of the answers.
        answers: whose truth is known.
        halves: which of them.
        with_context: judges see the raw output, too.

    Raises:
        InputError: there are answers of a case that the corpus does not have.

    """
    by_id = {case.case_id: case for case in corpus.cases}
    found = []
    for each in answers.answers:
        if each.case_id not in by_id:
            raise InputError(each.case_id, "has answers, but is not in the corpus", did_you_mean(each.case_id, by_id))
        half = half_of(each)
        if half in halves and each.kind != STUFFING:
            case = without_writer(by_id[each.case_id], each.writer)
            told = prose_input(case, each.text, with_context=with_context)
            labels = _LABELS.get(each.kind, _WRONG)
            answer = LabelledAnswer(told, case.capture.name, case.intent, labels)
            found.append(LabelledProse(case, half, each.kind, answer))
    return found


def scorer_on(answers: Sequence[LabelledProse], embedder: Embedder) -> RulesJudge:
    """Return the scorer as a judge of labelled answers."""
    return scorer_as_judge({each.answer.judged.input_id: _quality(each, embedder) for each in answers})


def _quality(labelled: LabelledProse, embedder: Embedder) -> float:
    case = labelled.case
    view = examine(labelled.answer.judged.model_response, case.request)[1]
    return score_view(view.text, view.validation, case, embedder).parts[ComponentName.QUALITY].score

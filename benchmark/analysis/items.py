"""Item analysis: how hard each case was for the models in some results, and whether it tells good ones from weak ones.

Figures of classical test theory (Lord and Novick, 1968): difficulty is the mean score; discrimination correlates a
case's score with the mean of the other cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

import numpy as np

from benchmark.record.read import StoredResult
from benchmark.record.result import Question
from benchmark.statistics import mean

# Below five models, a correlation means little: with five, it is significant only from .88 on.
FEWEST_RESULTS = 5
_EASY, _HARD = 0.75, 0.4


# The default of --top for --cases: nobody reads hundreds of rows.
SHOWN_CASES = 20


class ItemOrder(StrEnum):
    """Which cases to look at, and which of them first."""

    HARDEST = auto()
    FAILED = auto()
    DIVIDED = auto()
    WEAK_WIN = "weak-win"

    @property
    def words(self) -> str:
        """The selection and order of cases, in words."""
        return _ORDERS[self]


_ORDERS = {
    ItemOrder.HARDEST: "lowest mean score first",
    ItemOrder.FAILED: "passed by no model",
    ItemOrder.DIVIDED: "largest spread of scores first",
    ItemOrder.WEAK_WIN: "weak models score higher than strong ones",
}


class ItemRemark(StrEnum):
    """What is odd about a case."""

    ALL_PASS = "all pass"
    ALL_FAIL = "all fail"
    WEAK_WIN = "weak models win"


@dataclass(frozen=True)
class Item:
    """One case over several results.

    Attributes:
        mean: of the case scores, in [0, 1]: high is easy.
        spread: their standard deviation.
        passed: share of the results whose answer passes; see `ScoredView.passed`.
        discrimination: correlation with the mean of the other cases, in [-1, 1]; None for fewer than five results or
            scores that are all the same.
        winners: labels of the results with the best score, where not all share it.
        measured: the difficulty that the mean stands for; None for fewer than five results.
        labelled: the difficulty that its author saw; None where files do not tell.

    """

    case_id: str
    results: int
    mean: float
    spread: float
    passed: float
    discrimination: float | None
    winners: tuple[str, ...]
    measured: str | None
    labelled: str | None
    remarks: tuple[ItemRemark, ...]


def analyse(
    results: Sequence[StoredResult], labels: Sequence[str], questions: Mapping[str, Question] | None = None
) -> list[Item]:
    """Return every case that some results answered, those that tell least first.

    Args:
        results: of models; reference rows and programs that are not told the question say nothing of a case and are
            passed over.
        labels: their names, in the same order.
        questions: what was asked, by id of the case; None where the results hold it themselves.

    """
    models = [
        (result, label)
        for result, label in zip(results, labels, strict=True)
        if not result.is_reference and result.record.scenario.question
    ]
    if questions is None:
        questions = {c.question.case_id: c.question for result, _ in models for c in result.record.cases}
    items = [_item(question, models) for question in questions.values()]
    return sorted(filter(None, items), key=_least_telling)


def in_order(order: ItemOrder, items: Sequence[Item]) -> list[Item]:
    """Return the items that an order is about, in that order."""
    if order is ItemOrder.FAILED:
        items = [item for item in items if item.passed == 0]
    if order is ItemOrder.WEAK_WIN:
        items = [item for item in items if item.discrimination is not None and item.discrimination < 0]
        return sorted(items, key=lambda item: (item.discrimination or 0.0, item.case_id))
    if order is ItemOrder.DIVIDED:
        return sorted(items, key=lambda item: (-item.spread, item.case_id))
    return sorted(items, key=lambda item: (item.mean, item.passed, item.case_id))


def _discrimination(case_id: str, answered: Sequence[StoredResult]) -> float | None:
    """Return the correlation of the scores of a case with the mean scores of the same results on all other cases."""
    others = [[each.score for each in result.cases.values() if each.case_id != case_id] for result in answered]
    # Who answered nothing else says nothing of how good it is.
    known = [(r.cases[case_id].score, mean(rest)) for r, rest in zip(answered, others, strict=True) if rest]
    return _correlation([score for score, _ in known], [rest for _, rest in known])


def _item(question: Question, models: Sequence[tuple[StoredResult, str]]) -> Item | None:
    case_id = question.case_id
    answered = [(result, label) for result, label in models if case_id in result.cases]
    if not answered:
        return None
    figures = [result.cases[case_id] for result, _ in answered]
    scores = [each.score for each in figures]
    discrimination = _discrimination(case_id, [result for result, _ in answered])
    best = max(scores)
    winners = [label for (_, label), score in zip(answered, scores, strict=True) if score == best]
    passed = mean([float(each.passed) for each in figures])
    return Item(
        case_id=case_id,
        results=len(answered),
        mean=mean(scores),
        spread=float(np.std(scores)),
        passed=passed,
        discrimination=discrimination,
        winners=tuple(winners) if min(scores) < best else (),
        measured=_difficulty(mean(scores)) if len(answered) >= FEWEST_RESULTS else None,
        labelled=question.difficulty,
        remarks=tuple(_remarks(passed, discrimination)),
    )


def _difficulty(score: float) -> str:
    return "easy" if score >= _EASY else "hard" if score < _HARD else "medium"


def _remarks(passed: float, discrimination: float | None) -> Iterator[ItemRemark]:
    if passed in (0, 1):
        yield ItemRemark.ALL_PASS if passed else ItemRemark.ALL_FAIL
    if discrimination is not None and discrimination < 0:
        yield ItemRemark.WEAK_WIN


def _correlation(scores: Sequence[float], others: Sequence[float]) -> float | None:
    if len(scores) < FEWEST_RESULTS or np.ptp(scores) == 0 or np.ptp(others) == 0:
        return None
    return float(np.corrcoef(scores, others)[0, 1])


def _least_telling(item: Item) -> tuple[float, float, str]:
    # What all answer alike tells nothing; what weak models win tells less than nothing.
    return (0.0 if item.discrimination is None else item.discrimination, item.spread, item.case_id)

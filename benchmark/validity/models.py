"""Does the scorer order what models really answer? Its scores beside the labels of two readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmark.cases import Case
from benchmark.corpus.model_answers import AnswerLabel, ModelAnswer
from benchmark.record.validity import Half, Limit, ValidityFigure
from benchmark.scoring import Embedder, score_view
from benchmark.statistics import mean
from ctxsift.compression import examine

# A wrong answer above the first would pass for a good one; a right one below the second would count as a failure.
_PASSES, _FAILS = 0.70, 0.50
_GOOD, _BAD = (AnswerLabel.RIGHT, AnswerLabel.PARTLY), (AnswerLabel.WRONG,)
AUC_OF_MODELS = "AUC, right against wrong, models"


@dataclass(frozen=True, slots=True)
class ScoredModelAnswer:
    """A labelled answer with its case score, in [0, 1]."""

    answer: ModelAnswer
    score: float


def scored_answers(
    answers: Sequence[ModelAnswer], cases: Mapping[str, Case], embedder: Embedder
) -> list[ScoredModelAnswer]:
    """Return labelled answers with their scores; another corpus than the packaged one has none of their cases."""
    found = []
    for each in answers:
        if (case := cases.get(each.case_id)) is not None:
            view = examine(each.text, case.request)[1]
            found.append(ScoredModelAnswer(each, score_view(view.text, view.validation, case, embedder).case_score))
    return found


def agreement(answers: Sequence[ModelAnswer]) -> float:
    """Return Cohen's kappa of two readers over right, partly and wrong (no answer counts as wrong), in [-1, 1].

    Args:
        answers: with two labels each, at least one.

    """
    pairs = [tuple(AnswerLabel.WRONG if one is AnswerLabel.NONE else one for one in each.labels) for each in answers]
    count = len(pairs)
    same = sum(one is other for one, other in pairs) / count
    chance = sum(
        sum(one is label for one, _ in pairs) * sum(other is label for _, other in pairs) / count**2
        for label in AnswerLabel
    )
    return 1.0 if chance == 1 else (same - chance) / (1 - chance)


def figures_of(scored: Sequence[ScoredModelAnswer]) -> Iterator[ValidityFigure]:
    """Yield the figures: agreement of the readers first, then of the scorer with them."""
    if twice := [each.answer for each in scored if len(each.answer.labels) > 1]:
        yield _figure("kappa of two readers", max(0.0, agreement(twice)), len(twice), (Limit.LEAST, 0.80))
    right, partly, wrong = (
        _scores(scored, (label,)) for label in (AnswerLabel.RIGHT, AnswerLabel.PARTLY, AnswerLabel.WRONG)
    )
    for name, scores in (("right", right), ("partly right", partly), ("wrong", wrong)):
        if scores:
            yield _figure(f"{name}, models, mean", mean(scores), len(scores))
    if right and wrong:
        yield _figure(AUC_OF_MODELS, ahead(right, wrong), len(right) * len(wrong))
        yield _figure(
            "AUC, right or partly right against wrong, models",
            ahead([*right, *partly], wrong),
            (len(right) + len(partly)) * len(wrong),
            (Limit.LEAST, 0.90),
        )
        yield _figure("wrong above 0.70, models, share", sum(x > _PASSES for x in wrong) / len(wrong), len(wrong))
        yield _figure("right below 0.50, models, share", sum(x < _FAILS for x in right) / len(right), len(right))


def ahead(better: Sequence[float], worse: Sequence[float]) -> float:
    """Return the share of pairs in which the better one scores more; ties count half (Mann-Whitney, the AUC)."""
    return sum((a > b) + 0.5 * (a == b) for a in better for b in worse) / (len(better) * len(worse))


def _scores(scored: Sequence[ScoredModelAnswer], labels: Sequence[AnswerLabel]) -> list[float]:
    return [each.score for each in scored if each.answer.label in labels]


def _figure(measure: str, value: float, count: int, told: tuple[Limit, float] | None = None) -> ValidityFigure:
    limit, bar = told or (None, None)
    return ValidityFigure(half=Half.MODELS, measure=measure, value=value, count=count, limit=limit, bar=bar)

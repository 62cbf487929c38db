"""How far the judge of answers may be trusted: bars over every labelled answer that ships."""

from __future__ import annotations

import functools
from functools import cache
from statistics import fmean

import numpy as np
import pytest

from benchmark.probes.answer_rules import AnswerJudge
from tests.support.answer_agreement import (
    PASSED,
    TRIVIAL,
    Labelled,
    by_rules,
    interval,
    kappa,
    lead,
    questions,
    shipped,
    stretched,
)

pytestmark = pytest.mark.slow


@cache
def judged() -> list[tuple[Labelled, float]]:
    rows = shipped()
    asked = questions(sorted({row.session for row in rows}))
    rules = by_rules(AnswerJudge())
    return [(row, rules(asked[row.session, row.probe], row.answer)) for row in rows]


@pytest.mark.parametrize("kind", ["invented-file", "superseded-value", "denied", "changed-number"])
def test_hardly_a_confident_wrong_answer_passes(kind: str) -> None:
    scores = [score for row, score in judged() if row.kind == kind]
    assert len(scores) == 24
    assert sum(score >= PASSED for score in scores) <= 0.1 * len(scores)


def test_right_answers_are_right() -> None:
    assert fmean(score for row, score in judged() if row.method == "gold") >= 4.7


def test_readers_agree_with_it_more_than_with_any_trivial_judge() -> None:
    rows = [row for row, _ in judged()]
    sessions, scores, labels = (
        [row.session for row in rows],
        np.asarray([score for _, score in judged()]),
        np.asarray([row.coverage for row in rows]),
    )
    assert kappa(scores, labels) >= 0.85
    asked = questions(sorted(set(sessions)))
    for name, judge in TRIVIAL.items():
        theirs = stretched([judge(asked[row.session, row.probe], row.answer) for row in rows], list(labels))
        low, _ = interval(sessions, functools.partial(lead, scores, np.asarray(theirs), labels))
        assert low > 0, name

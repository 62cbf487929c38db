"""How far the judge of answers may be trusted: bars over every labelled answer that ships."""

from __future__ import annotations

import functools
from functools import cache
from statistics import fmean

import numpy as np
import pytest

from benchmark.probes.answer_rules import AnswerJudge
from benchmark.probes.loading import written_probes
from tests.support.answer_agreement import (
    PASSED,
    RIGHT,
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
    scores = [score for row, score in judged() if (row.part, row.kind) == ("wrong", kind)]
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


def test_no_right_answer_breaks_a_rule_of_what_it_must_not_say() -> None:
    rows = [row for row, _ in judged()]
    asked = questions(sorted({row.session for row in rows}))
    right = [(key, question, question.gold) for key, question in asked.items()]
    right += [
        (key, asked[key], row.answer) for row in rows if row.coverage >= RIGHT for key in [(row.session, row.probe)]
    ]
    judge = AnswerJudge()
    assert [key for key, question, text in right if judge.judge(question.probe, text, question.files).must_not] == []


@pytest.mark.parametrize(
    ("session", "probe", "answer", "is_wrong"),
    [
        ("harvestlog", "packages-now", 'He took "standard library only" back.', False),
        ("harvestlog", "packages-now", "Standard library only, as he said at the start.", True),
        ("noticeboard", "off-is-false", "0 would silence the hint, so off is really false.", False),
        ("noticeboard", "off-is-false", "With false the hint is silenced, as was wanted.", True),
        ("quayside", "references-kept", "A redraw costs 0.5 s with 2,000 bookings, 6 s with 8,000.", False),
        ("quayside", "references-kept", "Drawing again costs nothing, 0.5 s with 8,000 bookings.", True),
    ],
)
def test_what_must_not_be_said_is_told_from_what_it_resembles(
    session: str, probe: str, answer: str, is_wrong: bool
) -> None:
    (written,) = written_probes([session])
    (asked,) = [each for each in written.probes if each.probe_id == probe]
    assert bool(AnswerJudge().judge(asked, answer).must_not) == is_wrong

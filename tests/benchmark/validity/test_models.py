"""Answers of models with the labels of two readers: the agreed label, agreement, and the figures, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.cases import Corpus
from benchmark.corpus.model_answers import AnswerLabel, ModelAnswer, read_model_answers
from benchmark.record.validity import Half
from benchmark.scoring import Embedder
from benchmark.validity.models import ScoredModelAnswer, agreement, ahead, figures_of, scored_answers
from ctxsift.errors import InputError

R, P, W, N = AnswerLabel.RIGHT, AnswerLabel.PARTLY, AnswerLabel.WRONG, AnswerLabel.NONE


def answer(*labels: AnswerLabel, case_id: str = "c", text: str = "x") -> ModelAnswer:
    return ModelAnswer(case_id=case_id, model="m", text=text, labels=list(labels))


@pytest.mark.parametrize(
    ("labels", "agreed"),
    [
        ((R, R), R),
        ((P, P), P),
        ((R, P), P),
        ((P, W), P),
        ((P, N), P),
        ((W, N), W),
        ((N, N), W),
        ((R, W), None),
        ((R, N), None),
    ],
)
def test_the_label_that_both_can_stand_behind(
    labels: tuple[AnswerLabel, AnswerLabel], agreed: AnswerLabel | None
) -> None:
    assert answer(*labels).label is agreed
    assert answer(*reversed(labels)).label is agreed


def test_one_reader_is_believed_until_there_are_two() -> None:
    assert answer(N).label is W
    assert answer(P).label is P
    measures = {
        figure.measure for figure in figures_of([ScoredModelAnswer(answer(R), 0.9), ScoredModelAnswer(answer(W), 0.1)])
    }
    assert "kappa of two readers" not in measures
    assert "AUC, right against wrong, models" in measures


def test_agreement_by_hand() -> None:
    # Of 10 pairs 8 agree. By chance: right .5 x .5, wrong .5 x .5: (.8 - .5) / .5.
    answers = [answer(R, R)] * 4 + [answer(W, N)] * 4 + [answer(R, W), answer(W, R)]
    assert agreement(answers) == pytest.approx(0.6)
    assert agreement([answer(R, R)] * 3) == 1


def test_figures_by_hand() -> None:
    scored = [
        ScoredModelAnswer(answer(R, R), 0.9),
        ScoredModelAnswer(answer(R, R), 0.4),
        ScoredModelAnswer(answer(P, R), 0.6),
        ScoredModelAnswer(answer(W, W), 0.8),
        ScoredModelAnswer(answer(W, N), 0.0),
        ScoredModelAnswer(answer(R, W), 1.0),
    ]
    figures = {figure.measure: figure for figure in figures_of(scored)}
    assert {figure.half for figure in figures.values()} == {Half.MODELS}
    assert figures["AUC, right against wrong, models"].value == pytest.approx(3 / 4)
    assert figures["AUC, right or partly right against wrong, models"].value == pytest.approx(4 / 6)
    assert figures["wrong above 0.70, models, share"].value == pytest.approx(1 / 2)
    assert figures["right below 0.50, models, share"].value == pytest.approx(1 / 2)
    assert figures["partly right, models, mean"].value == pytest.approx(0.6)
    assert not figures["AUC, right or partly right against wrong, models"].met


def test_ties_count_half() -> None:
    assert ahead([0.5, 1.0], [0.5]) == 0.75


def test_what_is_shipped_is_of_the_corpus_and_enough(corpus: Corpus) -> None:
    answers = read_model_answers().answers
    assert {each.case_id for each in answers} <= {case.case_id for case in corpus.cases}
    assert sum(each.label is R for each in answers) >= 40
    assert len({(each.case_id, each.model) for each in answers}) == len(answers)


def test_answers_to_cases_of_another_corpus_are_left_out(corpus: Corpus) -> None:
    by_id = {case.case_id: case for case in corpus.cases}
    assert scored_answers([answer(R, R, case_id="none-such")], by_id, Embedder()) == []
    assert not list(figures_of([]))


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "l.jsonl"
    file.write_text('{"case_id": "a", "model": "m", "text": "t", "labels": ["right", "maybe"]}\n', encoding="utf-8")
    with pytest.raises(InputError, match="labels"):
        read_model_answers(file)
    file.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="has no answers"):
        read_model_answers(file)

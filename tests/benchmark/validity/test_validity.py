"""The score tells right from wrong, on answers whose truth is known; and the command that says so can fail."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from benchmark.cases import Corpus, Difficulty
from benchmark.record.validity import MEASURED, Half, Limit, Validity, ValidityFigure, read_validity, validity_text
from benchmark.scoring import SCORER_VERSION, Embedder
from benchmark.validity.__main__ import main
from benchmark.validity.answers import DEFAULT_ANSWERS, AnswerSet, half_of, read_answers
from benchmark.validity.measures import measure
from ctxsift.contracts import Intent
from ctxsift.errors import InputError
from tests.support.validity_table import DOCUMENTS, renewed, validity_table


@pytest.fixture(scope="module")
def answers() -> AnswerSet:
    return read_answers()


def test_every_case_with_statements_has_its_answers(corpus: Corpus, answers: AnswerSet) -> None:
    cases = {case.case_id: case for case in corpus.cases if case.statements}
    assert {each.case_id for each in answers.cases} == cases.keys()
    for each in answers.cases:
        assert (len(each.right), len(each.wrong)) == (4, 6), each.case_id
        texts = [text for _, text in each.labelled()]
        assert len(set(texts)) == len(texts)
        assert cases[each.case_id].expected_output not in texts


def test_the_first_cases_are_of_all_kinds_of_prose(corpus: Corpus) -> None:
    cases = [case for case in corpus.cases if case.statements]
    assert len(cases) == 36
    kinds = Counter("bullets" if case.intent is Intent.BULLET_LIST else str(case.family) for case in cases)
    assert kinds == {"summary": 12, "recall": 12, "explanation": 6, "bullets": 6}
    assert sum(case.difficulty is Difficulty.EASY for case in cases) == 18
    for case in cases:
        assert len(case.instruction.split()) <= 20, case.case_id
        assert case.capture.command
        assert case.capture.exit_code is not None


def test_the_split_is_by_id_and_even(answers: AnswerSet) -> None:
    assert half_of("perl-confess-fatal-recall") is Half.TUNED
    assert half_of("git-bisect-summary") is Half.HELD_OUT
    assert Counter(half_of(each.case_id) for each in answers.cases) == {Half.HELD_OUT: 18, Half.TUNED: 18}


@pytest.fixture(scope="module")
def validity(corpus: Corpus, answers: AnswerSet, embedder: Embedder) -> Validity:
    return measure(corpus, answers, embedder)


@pytest.mark.slow
def test_every_figure_meets_its_bar(validity: Validity) -> None:
    missed = [figure for figure in validity.figures if not figure.met]
    assert not missed
    assert Counter(figure.half for figure in validity.figures) == {Half.HELD_OUT: 12, Half.TUNED: 12, Half.ALL: 4}


@pytest.mark.slow
def test_what_the_page_shows_is_what_is_measured(validity: Validity) -> None:
    """After a change of the scorer: `python -m benchmark.validity --write`."""
    assert MEASURED.read_text(encoding="utf-8") == validity_text(validity)
    assert read_validity().scorer_version == SCORER_VERSION


def test_the_documents_show_what_is_recorded() -> None:
    """After a change of the scorer: `python -m tests.support.validity_table`."""
    table = validity_table(read_validity())
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        assert text == renewed(text, table)


@pytest.mark.slow
def test_a_scorer_that_confuses_them_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in DEFAULT_ANSWERS.glob("*.yaml"):
        told = yaml.safe_load(file.read_text(encoding="utf-8"))
        right = [wrong["text"] for wrong in told["wrong"][:4]]
        wrong = [{"kind": "blame", "text": text} for text in told["right"]]
        (tmp_path / file.name).write_text(yaml.safe_dump(told | {"right": right, "wrong": wrong}), encoding="utf-8")
    assert main(["--answers", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "missed" in shown
    assert main(["--answers", str(tmp_path), "--json"]) == 1
    figures = json.loads(capsys.readouterr().out)["figures"]
    auc = [figure["value"] for figure in figures if figure["measure"].startswith("AUC")]
    assert len(auc) == 2
    assert max(auc) < 0.5


@pytest.mark.parametrize(
    ("value", "limit", "bar", "met"),
    [
        (0.4, Limit.MOST, 0.4, True),
        (0.41, Limit.MOST, 0.4, False),
        (99.9999, Limit.LEAST, 100.0, False),
        (100 - 1e-12, Limit.LEAST, 100.0, True),
        (0.0, None, None, True),
    ],
)
def test_a_bar_is_met_on_it(value: float, limit: Limit | None, bar: float | None, met: bool) -> None:
    figure = ValidityFigure(half=Half.ALL, measure="x", value=value, count=1, limit=limit, bar=bar)
    assert figure.met is met


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("case_id: x\n", "/right: required field is missing"),
        ("[", "not valid YAML"),
        ("case_id: x\nright: [a]\nwrong: [{kind: blame}]\nstuffing: s\nirrelevant: i\n", "/wrong/0/text"),
        ("case_id: x\nrite: []\n", "unknown field"),
    ],
)
def test_damaged_answers_are_named(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "x.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as refusal:
        read_answers(tmp_path)
    assert problem in str(refusal.value)
    assert "x.yaml" in str(refusal.value)


def test_answers_of_a_case_that_is_not_there_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "case_id: perl-confess-fatal-recal\nright: [a]\nwrong: [{kind: blame, text: b}]\nstuffing: s\nirrelevant: i\n"
    )
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    assert main(["--answers", str(tmp_path)]) == 2
    assert "perl-confess-fatal-recall" in capsys.readouterr().err
    assert main(["--answers", str(tmp_path / "nowhere")]) == 2
    assert "has no answers" in capsys.readouterr().err


def test_a_damaged_measurement_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is no measurement"):
        read_validity(path)

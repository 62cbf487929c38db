"""The score tells right from wrong, on answers whose truth is known; and the command that says so can fail."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from benchmark.cases import Corpus, Difficulty
from benchmark.corpus.jsonl import case_row
from benchmark.record.validity import Half, Limit, ValidityFigure, read_validity, validity_text
from benchmark.scoring import SCORER_VERSION
from benchmark.scoring.said import is_prose
from benchmark.validity.__main__ import main
from benchmark.validity.answers import DEFAULT_ANSWERS, AnswerSet, read_answers
from ctxsift.errors import InputError
from ctxsift.intents import Intent
from ctxsift.strict_json import printable_json


@pytest.fixture(scope="module")
def answers() -> AnswerSet:
    return read_answers()


def test_every_case_with_statements_has_its_answers(corpus: Corpus, answers: AnswerSet) -> None:
    cases = {case.case_id: case for case in corpus.cases if case.statements}
    assert {each.case_id for each in answers.cases} == cases.keys()
    for each in answers.cases:
        assert len(each.right) >= 4, each.case_id
        assert len(each.wrong) >= 5, each.case_id
        texts = [text for _, text in each.labelled()]
        assert len(set(texts)) == len(texts)
        assert cases[each.case_id].expected_output not in texts


def test_later_answers_are_others(answers: AnswerSet) -> None:
    known = {text for each in answers.cases for _, text in each.labelled()}
    assert len(answers.later) >= 76
    for each, _ in answers.later:
        assert len(each.right) >= 4, each.case_id
        assert len(each.wrong) >= 4, each.case_id
        assert known.isdisjoint(text for _, text in each.labelled())


def test_every_case_in_prose_has_statements(corpus: Corpus) -> None:
    cases = [case for case in corpus.cases if case.statements]
    assert {case.case_id for case in cases} == {case.case_id for case in corpus.cases if is_prose(case)}
    kinds = Counter("bullets" if case.intent is Intent.BULLET_LIST else str(case.family) for case in cases)
    assert min(kinds[kind] for kind in ("summary", "recall", "explanation", "bullets")) >= 6
    assert {case.difficulty for case in cases} == set(Difficulty)


def test_the_last_set_is_held_out(answers: AnswerSet) -> None:
    assert Counter(half for _, half in answers.later) == {Half.HELD_OUT: 30, Half.TUNED: 46}


def test_what_is_recorded_is_of_this_scorer_and_has_every_figure() -> None:
    recorded = read_validity()
    assert recorded.scorer_version == SCORER_VERSION
    assert Counter(figure.half for figure in recorded.figures) == {
        Half.HELD_OUT: 13,
        Half.TUNED: 19,
        Half.ALL: 4,
    }


@pytest.mark.slow
def test_a_scorer_that_confuses_them_is_found(
    corpus: Corpus, answers: AnswerSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = answers.cases[:12]
    known = {each.case_id for each in chosen}
    dataset = tmp_path / "corpus.jsonl"
    rows = [printable_json(case_row(case)) for case in corpus.cases if case.case_id in known]
    dataset.write_text("\n".join(rows), encoding="utf-8")
    told_to = ["--answers", str(tmp_path), "--dataset", str(dataset)]
    for each in chosen:
        file = DEFAULT_ANSWERS / f"{each.case_id}.yaml"
        told = yaml.safe_load(file.read_text(encoding="utf-8"))
        right = [wrong["text"] for wrong in told["wrong"][:4]]
        wrong = [{"kind": "blame", "text": text} for text in told["right"]]
        (tmp_path / file.name).write_text(yaml.safe_dump(told | {"right": right, "wrong": wrong}), encoding="utf-8")
    assert main(told_to) == 1
    shown = capsys.readouterr().out
    assert "missed" in shown
    assert main([*told_to, "--json"]) == 1
    figures = json.loads(capsys.readouterr().out)["figures"]
    auc = [figure["value"] for figure in figures if figure["measure"].startswith("AUC")]
    assert len(auc) == 1  # There are no later answers in that folder.
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


def test_answers_of_a_case_that_is_not_there_are_refused(
    answers: AnswerSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    near = answers.cases[0].case_id
    text = f"case_id: {near}x\nright: [a]\nwrong: [{{kind: blame, text: b}}]\nstuffing: s\nirrelevant: i\n"
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    assert main(["--answers", str(tmp_path)]) == 2
    assert f"did you mean {near}" in capsys.readouterr().err
    assert main(["--answers", str(tmp_path / "nowhere")]) == 2
    assert "has no answers" in capsys.readouterr().err


def test_a_damaged_measurement_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    figure = '"value": 100.0'
    whole = validity_text(read_validity())
    for damaged in ("{}", whole.replace(figure, '"value": 99.0'), whole.replace(figure, '"value": 101.0')):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match="is no measurement"):
            read_validity(path)

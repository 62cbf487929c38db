"""The score tells right from wrong, on answers whose truth is known; and the command that says so can fail."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec import json as msgspec_json
from msgspec import structs

from benchmark.cases import Corpus, Difficulty
from benchmark.corpus.answers import RIGHT, AnswerSet, CorpusAnswer, read_answers
from benchmark.corpus.jsonl import case_row
from benchmark.record.validity import Half, Limit, ValidityFigure, read_validity, validity_text
from benchmark.scoring import SCORER_VERSION
from benchmark.scoring.said import is_prose
from benchmark.validity.__main__ import main
from ctxsift.errors import InputError
from ctxsift.intents import Intent
from ctxsift.strict_json import printable_json


@pytest.fixture(scope="module")
def answers() -> AnswerSet:
    return read_answers()


def write(path: Path, answers: Iterable[CorpusAnswer]) -> None:
    """Write a file of answers."""
    path.write_bytes(b"".join(msgspec_json.encode(each) + b"\n" for each in answers))


def test_every_case_in_prose_has_known_answers(corpus: Corpus) -> None:
    """At least 40 each, of which a third is right and a third is wrong, and none of them gold."""
    for case in corpus.cases:
        right = sum(each.is_right for each in case.known)
        wrong = len(case.known) - right
        if is_prose(case):
            assert len(case.known) >= 40, case.case_id
            assert min(right, wrong) >= len(case.known) / 3, case.case_id
            assert case.expected_output not in {each.text for each in case.known}
        else:
            assert not case.known


def test_no_answer_is_there_twice(answers: AnswerSet) -> None:
    counts = Counter((each.case_id, " ".join(each.text.split())) for each in answers.answers)
    assert counts.most_common(1)[0][1] == 1


def test_every_case_in_prose_has_statements(corpus: Corpus) -> None:
    cases = [case for case in corpus.cases if case.statements]
    assert {case.case_id for case in cases} == {case.case_id for case in corpus.cases if is_prose(case)}
    kinds = Counter("bullets" if case.intent is Intent.BULLET_LIST else str(case.family) for case in cases)
    assert min(kinds[kind] for kind in ("summary", "recall", "explanation", "bullets")) >= 6
    assert {case.difficulty for case in cases} == set(Difficulty)


def test_what_is_held_out_is_not_known(corpus: Corpus, answers: AnswerSet) -> None:
    held_out = [each for each in answers.answers if each.held_out]
    assert len({each.case_id for each in held_out}) == 90
    known = {each.text for case in corpus.cases for each in case.known}
    assert not known & {each.text for each in held_out}
    assert not {each.writer for each in held_out} & {each.writer for each in answers.answers if not each.held_out}


def test_what_is_recorded_is_of_this_scorer_and_has_every_figure() -> None:
    recorded = read_validity()
    assert recorded.scorer_version == SCORER_VERSION
    assert Counter(figure.half for figure in recorded.figures) == {
        Half.HELD_OUT: 15,
        Half.TUNED: 21,
        Half.MODELS: 8,
        Half.SIMULATED: 3,
        Half.ALL: 4,
    }


@pytest.mark.slow
def test_a_scorer_that_confuses_them_is_found(
    corpus: Corpus, answers: AnswerSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = sorted({each.case_id for each in answers.answers})[:12]
    dataset = tmp_path / "corpus.jsonl"
    rows = [printable_json(case_row(case)) for case in corpus.cases if case.case_id in known]
    dataset.write_text("\n".join(rows), encoding="utf-8")
    told_to = ["--answers", str(tmp_path / "answers.jsonl"), "--dataset", str(dataset)]
    confused = []
    for each in answers.answers:
        if each.case_id in known and each.writer == "first":
            kind = "blame" if each.is_right else RIGHT if each.is_wrong else each.kind
            confused.append(structs.replace(each, kind=kind))
    write(tmp_path / "answers.jsonl", confused)
    assert main(told_to) == 1
    shown = capsys.readouterr().out
    assert "missed" in shown
    assert main([*told_to, "--json"]) == 1
    figures = json.loads(capsys.readouterr().out)["figures"]
    auc = [each["value"] for each in figures if each["measure"].startswith("AUC") and each["half"] != Half.MODELS]
    assert len(auc) == 2  # None of these answers is held out.
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
        ('{"case_id": "x"}', ":1: /writer: required field is missing"),
        ("[", ":1: is not JSON"),
        ('{"case_id": "x", "writer": "w", "kind": "blame", "text": " "}', ":1: /text"),
        ('{"case_id": "x", "rite": []}', "unknown field"),
        ("\n", "has no answers"),
    ],
)
def test_damaged_answers_are_named(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as refusal:
        read_answers(path)
    assert problem in str(refusal.value)
    assert "x.jsonl" in str(refusal.value)


def test_answers_of_a_case_that_is_not_there_are_refused(
    answers: AnswerSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = answers.answers[0]
    write(tmp_path / "x.jsonl", [structs.replace(first, case_id=f"{first.case_id}x")])
    assert main(["--answers", str(tmp_path / "x.jsonl")]) == 2
    assert f"did you mean {first.case_id}" in capsys.readouterr().err
    assert main(["--answers", str(tmp_path / "nowhere")]) == 2
    assert "no such file" in capsys.readouterr().err


def test_a_damaged_measurement_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    figure = '"value": 100.0'
    whole = validity_text(read_validity())
    for damaged in ("{}", whole.replace(figure, '"value": 99.0'), whole.replace(figure, '"value": 101.0')):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match="is not a valid measurement"):
            read_validity(path)

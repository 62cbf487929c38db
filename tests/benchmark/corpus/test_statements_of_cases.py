"""Statements in case files and in JSON lines: read, refused with their place, shown and exported."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Case, Corpus
from benchmark.corpus import load_corpus
from benchmark.corpus.__main__ import main
from benchmark.corpus.checks import check_case
from benchmark.corpus.statement_checks import statement_findings
from benchmark.statements.model import MustNot, Statement, Weight
from ctxsift.errors import InputError

ROW: dict[str, Any] = {
    "case_id": "refund-summary",
    "instruction": "Why did the test fail?",
    "raw_input": "\n".join(f"tests/test_{n}.py .. ok, db-session {n} open" for n in range(30))
    + "\nFAILED tests/test_pay.py::test_refund - db-session is closed\n",
    "family": "summary",
    "intent": "summary",
    "expected_output": "test_refund failed because db-session was already closed.",
    "required_anchors": ["test_refund", "db-session"],
    "statements": [
        {"says": "test_refund fails", "names": ["test_refund"], "terms": [["fail", "break"]]},
        {
            "says": "db-session was closed",
            "names": ["db-session"],
            "terms": [["closed", "shut down"]],
            "weight": "okay",
        },
    ],
    "must_not": [{"says": "db-session was never opened", "names": ["db-session"], "terms": [["never opened"]]}],
}


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "mine.jsonl"
    path.write_text(json.dumps(ROW | changes) + "\n", encoding="utf-8")
    return path


def test_json_lines_hold_statements(tmp_path: Path) -> None:
    (case,) = load_corpus(written(tmp_path)).cases
    assert [s.weight for s in case.statements] == [Weight.VITAL, Weight.OKAY]
    assert case.must_not == (MustNot("db-session was never opened", names=("db-session",), terms=(("never opened",),)),)


def changed(index: int, **fields: Any) -> dict[str, Any]:
    return {"statements": [s | fields if i == index else s for i, s in enumerate(ROW["statements"])]}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (changed(0, weight="vitl"), "/statements/0/weight: 'vitl' is unknown"),
        (changed(1, terms=[["open"], []]), "/statements/1/terms/1: is empty"),
        (changed(1, terms=[["open"], [" "]]), "/statements/1/terms/1/0: is empty"),
        (changed(1, names=["a", []]), "/statements/1/names/1: is empty"),
        (
            changed(1, terms=[["closed", "db_session is gone"]]),
            "/statements/1/terms/0: 'db_session is gone' contains an identifier",
        ),
        (changed(1, terms=[["closed", "~mising"]]), "/statements/1/terms/0: '~mising' is not a family"),
        (changed(1, terms=[["closed", "~mising"]]), "did you mean ~missing"),
        (changed(1, names=[], terms=[]), "/statements/1: has neither names nor terms nor pairs"),
        (changed(0, within="page"), "/statements/0/within: 'page' is unknown"),
        (changed(0, terms=[["skipped", "left out"]]), "/statements/0: gold does not say it"),
        (changed(0, terms=[["skipped", "left out"]]), "none of skipped | left out"),
        (
            changed(0, pairs=[[["test_refund"], ["closed"]], [["db-session"], ["fail"]]]),
            "/statements/0: gold contradicts it",
        ),
        (changed(0, weight="okay"), "/statements: has no vital statement"),
        (
            {"must_not": [{"says": "it failed", "names": ["test_refund"], "terms": [["fail"]]}]},
            "/must_not: gold says",
        ),
        ({"must_not": [{"says": "nothing", "terms": []}]}, "/must_not/0: has neither names nor terms"),
        (
            changed(0, terms=[[f"fails {n}" for n in range(2_000)]]),
            "/statements: together with must_not they have",
        ),
        ({"statements": []}, "/must_not: is used without statements"),
        ({"intent": "json", "family": "structured", "expected_output": "{}"}, "cannot be used with the intent json"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refusal:
        load_corpus(written(tmp_path, **change))
    assert problem in str(refusal.value)
    assert "mine.jsonl:1" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_statements_travel_as_json_lines(
    corpus: Corpus, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["export"]) == 0
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(capfdbinary.readouterr().out)
    back = {case.case_id: case for case in load_corpus(path).cases}
    with_statements = [case for case in corpus.cases if case.statements]
    assert with_statements
    for case in with_statements:
        assert (back[case.case_id].statements, back[case.case_id].must_not) == (case.statements, case.must_not)


def test_show_prints_what_an_answer_must_and_must_not_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "refund-summary", "--dataset", str(written(tmp_path))]) == 0
    shown = capsys.readouterr().out
    assert "says (vital): test_refund fails\n    =test_refund\n    fail | break" in shown
    assert "must not say: db-session was never opened" in shown


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return load_corpus(written(tmp_path)).cases[0]


def test_a_good_case_has_no_findings(case: Case) -> None:
    assert list(statement_findings(case)) == []


def test_the_check_finds_what_loading_the_packaged_corpus_does_not_look_for(case: Case) -> None:
    assert list(check_case(case)) == []
    statement = replace(case.statements[1], terms=(("db_session is gone",),))
    found = replace(case, statements=(case.statements[0], statement))
    assert any("'db_session is gone' contains an identifier" in problem for problem in check_case(found))


def test_an_anchor_that_no_statement_has_is_found(case: Case) -> None:
    found = replace(case, required_anchors=(*case.required_anchors, "tests/test_3.py"))
    assert any("tests/test_3.py" in problem for problem in statement_findings(found))


def test_a_pair_that_is_missing_is_found(case: Case) -> None:
    loose = replace(
        case,
        expected_output="a.py has 2 errors and b.py has 5 errors.",
        required_anchors=("a.py", "b.py"),
        statements=(
            Statement("a.py has 2 errors", names=("a.py",), terms=(("error",),)),
            Statement("b.py has 5 errors", names=("b.py",), terms=(("5 errors",),)),
        ),
        must_not=(),
    )
    assert any("swapped is as good" in problem for problem in statement_findings(loose))
    bound = replace(
        loose,
        statements=(Statement("2 and 5", pairs=((("a.py",), ("2 errors", "2")), (("b.py",), ("5 errors", "5")))),),
    )
    assert list(statement_findings(bound)) == []


def rules(count: int) -> dict[str, Any]:
    return {"must_not": tuple(MustNot(f"rule {n}", terms=(("never opened",),)) for n in range(count))}


def vital(count: int) -> dict[str, Any]:
    said = tuple(Statement(f"it fails, {n}", names=("test_refund", "db-session")) for n in range(count))
    bound = Statement("who is what", pairs=((("test_refund",), ("fail",)), (("db-session",), ("closed",))))
    return {"statements": (*said, bound)}


def alternatives(count: int) -> dict[str, Any]:
    group = ("fail", *(f"word {chr(97 + n)}" for n in range(count - 1)))
    return {"statements": (Statement("it fails", names=("test_refund", "db-session"), terms=(group,)),)}


@pytest.mark.parametrize(
    ("parts", "most", "problem"),
    [
        (rules, 10, "11 must_not are more than 10"),
        (vital, 4, "5 vital statements are more than 4"),
        (alternatives, 12, "'it fails' has a group of 13 alternatives, more than 12"),
    ],
)
def test_check_holds_the_limits(case: Case, parts: Callable[[int], dict[str, Any]], most: int, problem: str) -> None:
    assert list(statement_findings(replace(case, **parts(most)))) == []
    (found,) = statement_findings(replace(case, **parts(most + 1)))
    assert problem in found


def test_findings_of_statements_are_findings_of_the_case(case: Case) -> None:
    found = replace(case, required_anchors=(*case.required_anchors, "tests/test_3.py"))
    assert any("is in no statement" in problem for problem in check_case(found))

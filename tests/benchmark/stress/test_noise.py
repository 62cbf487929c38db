"""`python -m benchmark.stress noise`: what is changed, which gold goes with it, and what a change costs."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Case
from benchmark.corpus import load_corpus
from benchmark.corpus.checks import check_scores
from benchmark.matrix import DEFAULT_MATRIX
from benchmark.scoring import Embedder
from benchmark.stress.__main__ import main
from benchmark.stress.noising import UNCHANGED, HarmlessChange, noising
from tests.conftest import ROOT, scripted, write_matrix
from tests.support.runs import SMALL

SLICE = load_corpus(Path(SMALL[1])).cases
NEW_STAMP = re.compile(r"(?m)^2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def noise(*options: str) -> int:
    return main(["noise", *SMALL, "--max-tokens", "1200", "--output-dir", "out", *options])


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("out/noise.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def changed() -> dict[tuple[str, str], Case]:
    made = noising(SLICE, Embedder(), list(HarmlessChange), count=12, most_tokens=1200, seed=1)
    return {(each.base, each.kind): each.case for each in made.cases}


def without(kind: HarmlessChange, text: str) -> str:
    """Return a changed text without the change."""
    if kind is HarmlessChange.COLOURS:
        return re.sub(r"\x1b\[[0-9]{1,2}m", "", text)
    if kind is HarmlessChange.TIMES:
        return NEW_STAMP.sub("", text)
    if kind is HarmlessChange.CRLF:
        return text.replace("\r\n", "\n")
    mark = {
        HarmlessChange.PROGRESS: re.compile(r"^[# ]{20} +\d+%\r"),
        HarmlessChange.NEIGHBOUR: re.compile(r"^\[(?:assets|relay)\] "),
    }
    if kind in mark:
        return "\n".join(line for line in text.split("\n") if not mark[kind].match(line))
    return text.replace("\n", "")


@pytest.mark.parametrize("kind", HarmlessChange)
def test_a_change_takes_nothing_away_and_gold_keeps_its_hundred(
    kind: HarmlessChange, changed: dict[tuple[str, str], Case]
) -> None:
    bases = {case.case_id: case for case in SLICE}
    found = {base: case for (base, change), case in changed.items() if change == kind}
    assert len(found) >= 6
    for base, case in found.items():
        before = bases[base].raw_input
        assert case.raw_input != before
        # A capture may have colours or returns of its own.
        whole = (
            without(kind, before)
            if kind in (HarmlessChange.COLOURS, HarmlessChange.CRLF, HarmlessChange.WRAPPED)
            else before
        )
        assert without(kind, case.raw_input) == whole
        assert list(check_scores(case, Embedder())) == []
        if kind is HarmlessChange.WRAPPED:
            assert max(map(len, case.raw_input.split("\n"))) <= 80


def test_gold_that_copies_lines_goes_through_the_change(changed: dict[tuple[str, str], Case]) -> None:
    base = next(case for case in SLICE if case.case_id == "cmake-starchart-lines")
    stamped = changed[base.case_id, HarmlessChange.TIMES]
    for line in stamped.expected_output.splitlines():
        assert line in stamped.raw_input.split("\n")
    assert NEW_STAMP.sub("", stamped.expected_output) == base.expected_output


def test_one_document_gets_no_lines() -> None:
    case = dataclasses.replace(SLICE[0], raw_input=json.dumps({"text": SLICE[0].raw_input}, indent=1))
    made = noising([case], Embedder(), list(HarmlessChange), count=1, most_tokens=5000, seed=1)
    assert not {each.kind for each in made.cases} & {
        HarmlessChange.PROGRESS,
        HarmlessChange.NEIGHBOUR,
        HarmlessChange.TIMES,
        HarmlessChange.WRAPPED,
    }
    assert made.skipped[HarmlessChange.PROGRESS] == 1


def test_a_change_is_compared_with_the_same_cases_unchanged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = [[case.instruction, case.expected_output] for case in SLICE]
    # It knows everything, unless another program says something in between.
    row = scripted(folder, "distracted", answers=[["[assets] ", "x"], ["[relay] ", "x"], *right], default="x")
    rows = json.loads((ROOT / DEFAULT_MATRIX).read_text(encoding="utf-8"))["scenarios"]
    gold = next(row for row in rows if row["name"] == "control-gold")
    matrix = str(write_matrix(folder, row, gold))
    asked = ("--matrix", matrix, "--scenario", "distracted", "--scenario", "control-gold")
    only = ("--change", "other program", "--change", "crlf")
    assert noise(*asked, *only) == 0
    found = {(each["scenario"], each["change"]): each for each in document()["scenarios"]}
    assert {change for _, change in found} == {UNCHANGED, "other program", "crlf"}
    assert found["distracted", UNCHANGED]["score"]["value"] == pytest.approx(100)
    assert found["distracted", UNCHANGED]["score_gain"] is None
    assert found["distracted", "crlf"]["score_gain"]["value"] == pytest.approx(0)
    lost = found["distracted", "other program"]["score_gain"]
    assert lost["interval"]["high"] < -90
    assert found["distracted", "other program"]["anchors_gain"]["value"] < -50
    for change in (UNCHANGED, "other program", "crlf"):
        assert found["control-gold", change]["score"]["value"] == 100
    capsys.readouterr()
    assert noise(*asked, *only) == 0
    assert capsys.readouterr().err.count("already answered") == 2


def test_skipped_cases_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert noise("--cases", "12") == 0
    assert "(no model)" in capsys.readouterr().out
    found = document()
    bases = sum(case["change"] == UNCHANGED for case in found["cases"])
    for kind in HarmlessChange:
        made = sum(case["change"] == kind for case in found["cases"])
        assert made + found["skipped"].get(kind, 0) == bases

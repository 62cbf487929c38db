"""`python -m benchmark.stress variants`: the same cases with other names, and answers that have the old ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.corpus import load_corpus
from benchmark.corpus.checks import check_scores
from benchmark.corpus.variants import variant_of
from benchmark.matrix import DEFAULT_MATRIX
from benchmark.scoring import Embedder
from benchmark.scoring.anchors import missing_anchors
from benchmark.stress.__main__ import main
from benchmark.stress.varying import ALL, AS_IT_IS, Varying, varying
from tests.conftest import ROOT, scripted, write_matrix
from tests.support.runs import SMALL

CORPUS = load_corpus(Path(SMALL[1]))
MOST_TOKENS = 1200


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def variants(*options: str) -> int:
    return main(["variants", *SMALL, "--max-tokens", str(MOST_TOKENS), "--output-dir", "out", *options])


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("out/variants.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def varied() -> Varying:
    return varying(CORPUS, Embedder(), variants=2, count=12, most_tokens=MOST_TOKENS, seed=1)


def test_a_variant_is_that_of_the_dataset_and_gold_keeps_its_hundred(varied: Varying) -> None:
    bases = {case.case_id: case for case in CORPUS.cases}
    others = {number: {case.case_id: case for case in variant_of(CORPUS, number).cases} for number in (1, 2)}
    found = [each for each in varied.cases if each.changed.kind != AS_IT_IS]
    assert len({each.changed.base for each in found}) >= 4
    assert {each.changed.kind for each in found} == {"variant 1", "variant 2"}
    for each in found:
        case = each.changed.case
        expected = others[int(each.changed.kind[-1])][each.changed.base]
        assert (case.raw_input, case.instruction) == (expected.raw_input, expected.instruction)
        assert list(check_scores(case, Embedder())) == []
        # What counts as an old name is part of the old answer, and neither in the new output nor in a right answer.
        assert each.old
        assert set(each.old) <= set(bases[each.changed.base].anchors)
        known = "\n".join((case.raw_input, case.instruction, *case.references))
        assert missing_anchors(known, each.old) == list(each.old)


def test_who_remembers_gives_the_old_names_and_who_reads_does_not(
    folder: Path, capsys: pytest.CaptureFixture[str], varied: Varying
) -> None:
    gold = {case.case_id: case.expected_output for case in CORPUS.cases}
    # It knows the question, whatever the output says.
    script = [[each.changed.case.instruction, gold[each.changed.base]] for each in varied.cases]
    row = scripted(folder, "rote", answers=script, default="x")
    rows = json.loads((ROOT / DEFAULT_MATRIX).read_text(encoding="utf-8"))["scenarios"]
    reader = next(row for row in rows if row["name"] == "control-gold")
    matrix = str(write_matrix(folder, row, reader))
    asked = ("--variants", "2", "--matrix", matrix, "--scenario", "rote", "--scenario", "control-gold")
    assert variants(*asked) == 0
    written = document()
    found = {(each["scenario"], each["variant"]): each for each in written["scenarios"]}
    assert {variant for _, variant in found} == {AS_IT_IS, "variant 1", "variant 2", ALL}
    assert found["rote", AS_IT_IS]["score"]["value"] == pytest.approx(100)
    assert found["rote", AS_IT_IS]["score_gain"] is None
    assert found["rote", AS_IT_IS]["old_names"] is None
    for variant in ("variant 1", "variant 2", ALL):
        assert found["rote", variant]["old_names"]["value"] == 100
        assert found["rote", variant]["score_gain"]["value"] < -30
        assert found["rote", variant]["anchors_gain"]["value"] < 0
        assert found["control-gold", variant]["old_names"]["value"] == 0
        assert found["control-gold", variant]["score"]["value"] == 100
        assert found["control-gold", variant]["score_gain"]["value"] == pytest.approx(0)
    assert found["rote", ALL]["cases"] == sum(case["variant"] != AS_IT_IS for case in written["cases"])
    renamed = {case["case_id"]: case["renamed"] for case in written["cases"]}
    for answer in written["answers"]:
        old = renamed[answer["case_id"]] if answer["scenario"] == "rote" else []
        assert answer["old_names"] == old
    capsys.readouterr()
    assert variants(*asked) == 0
    assert capsys.readouterr().err.count("already answered") == 2


def test_cases_without_a_renamed_anchor_are_skipped_and_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert variants("--cases", "12") == 0
    assert "(no model)" in capsys.readouterr().out
    found = document()
    made = sum(case["variant"] == "variant 1" for case in found["cases"])
    assert found["skipped"]["variant 1"] > 0
    assert made + found["skipped"]["variant 1"] + found["too_long"] == len(CORPUS.cases)
    assert Path("out", found["dataset"]).exists()


def test_no_more_variants_than_make_sense(folder: Path) -> None:
    with pytest.raises(SystemExit) as left:
        variants("--variants", "101")
    assert left.value.code == 2

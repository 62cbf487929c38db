"""Results of earlier versions and of the published layout: figures stay what they were, to the last digit."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmark import compare, report, rescore
from benchmark.record.read import find_results, read_result
from tests.conftest import ROOT
from tests.support.figures import nearly

STORED = ROOT / "tests" / "data" / "results"
V1, V2, PUBLISHED, EXPECTED = (STORED / name for name in ("v1", "v2", "published", "expected"))
CORPUS = EXPECTED.parent / "corpus.jsonl"


_RENAMED = {"scenario": "result", "cases": "answered", "quality": "quality core"}


def expected(name: str) -> Any:
    return json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def tables(page: str) -> dict[str, dict[str, str]]:
    """Return the rows of every board of a page by their labels, as cells by the titles of their columns."""
    rows: dict[str, dict[str, str]] = {}
    for table in page.split("\n\n"):
        if not table.startswith("| rank |"):
            continue
        # Rows to measure by are in italics.
        lines = [[cell.strip().strip("*") for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
        rows |= {cells[1]: dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]}
    return rows


def test_the_boards_show_the_same_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.md"
    assert report.main([str(V2), str(PUBLISHED), "--markdown", str(page)]) == 0
    assert "Published layout, " in capsys.readouterr().out
    before, after = tables((EXPECTED / "board.md").read_text()), tables(page.read_text())
    # Gold and baselines on the cases of the results stand between them now.
    beside = after.keys() - before.keys()
    assert beside == {"gold (reference)", "baseline last-20-lines", "baseline error-lines"}
    assert before.keys() < after.keys()
    # These files hold 20 of their 280 cases: the board has the scores that a comparison has, which are of the 20.
    (core,) = (figure for figure in expected("published_pair")["figures"] if figure["name"] == "quality")
    of_a_part = dict(zip(("cpu-LFM2.5-350M", "remote-gpt-4o-mini"), (core["a"], core["b"]), strict=True))
    for label, score in of_a_part.items():
        assert (after[label]["answered"], after[label]["quality core"]) == ("20/20", f"{score:.1f}")
    for label in before.keys() - of_a_part.keys():
        for title, cell in before[label].items():
            # A column that nobody fills is left out; the published layout does not tell the lift, it is worked out now.
            new = after[label].get(_RENAMED.get(title, title), "-")
            assert title == "rank" or new == cell or (title, cell) == ("lift", "-"), (label, title)


def test_the_case_table_holds_the_same_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.csv"
    assert report.main([str(V2), str(PUBLISHED), "--csv", str(path)]) == 0
    capsys.readouterr()
    with path.open(newline="") as new, (EXPECTED / "cases.csv").open(newline="") as old:
        rows, before = list(csv.DictReader(new)), list(csv.DictReader(old))
    # A younger column, which none of these files fills.
    assert {row.pop("capture") for row in rows} == {""}
    assert rows[0].keys() == before[0].keys()
    for row, was in zip(rows, before, strict=True):
        if was["timestamp"]:
            assert row == was
        else:
            # What a published file does not tell was left empty.
            assert {column: cell for column, cell in was.items() if cell}.items() <= row.items()


def test_two_results_compare_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    for name, paths in (
        ("pair", [V2 / "model-01.json.gz", V2 / "model-02.json.gz"]),
        ("published_pair", sorted(PUBLISHED.iterdir())),
    ):
        before = expected(name)
        gate = ["--fail-on-drop", "1"] if before["gate"] else []
        assert compare.main([*map(str, paths), "--json", *gate]) == 0
        after = printed(capsys)
        for side in ("a", "b"):
            after[side]["path"] = Path(after[side]["path"]).name
        # Words may get better.
        for told in (before, after):
            told["warnings"] = len(told["warnings"])
            told["gate"] = told["gate"] and told["gate"]["passed"]
        # The verdict was on the final score, latency included.
        assert (after.pop("verdict"), before.pop("verdict")) == ("not significant", "even") or name == "published_pair"
        old, new = before.pop("figures"), {figure["name"]: figure for figure in after.pop("figures")}
        for was in old:
            # The time of a published file leaves failed cases out, and so does its factor now.
            if name == "pair" or was["name"] == "quality":
                assert_the_same(new[was["name"]], was)
        for now, was in zip(after.pop("intents"), before.pop("intents"), strict=True):
            assert_the_same(now, was)
        # An answer needs half of its score now, to pass.
        del after["passed_only_in_a"], before["passed_only_in_a"]
        assert before.items() <= after.items()
        assert after.keys() - before.keys() == {"why_no_verdict", "speed"}


def assert_the_same(now: Any, was: Any) -> None:
    """Compare a figure of two results with what it was; an interval may have become wider, as its p is corrected."""
    new, old = now.pop("difference"), was.pop("difference")
    assert now == was
    assert_not_narrower(new, old)


def assert_not_narrower(new: Any, old: Any) -> None:
    assert (new["value"], new["p"]) == (old["value"], old["p"])
    assert (new["interval"] is None) is (old["interval"] is None)
    if old["interval"]:
        assert new["interval"]["low"] <= max(old["interval"]["low"], -100.0) + 1e-9
        assert new["interval"]["high"] >= min(old["interval"]["high"], 100.0) - 1e-9


def test_many_results_compare_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    before = expected("matrix")
    assert compare.main([str(V2), "--json", "--score", "quality"]) == 0
    after = printed(capsys)
    assert after["results"] == before["results"]
    for new, old in zip(after["differences"], before["differences"], strict=True):
        assert (new["a"], new["b"]) == (old["a"], old["b"])
        assert_not_narrower(new, old)


@pytest.mark.slow
def test_rescoring_gives_the_same_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (V1, V2):
        for path in folder.iterdir():
            shutil.copy(path, tmp_path / path.name)
    corpus = ["--dataset", str(CORPUS)]
    assert rescore.main([str(tmp_path), *corpus]) == 0
    before, seen = expected("rescored"), set()
    for path in tmp_path.glob("*.json.gz"):
        after = json.loads(gzip.decompress(path.read_bytes()))
        was = before[after["scenario"]["name"]]
        seen.add(after["scenario"]["name"])
        assert after["schema_version"] == 3
        # Younger figures.
        assert after["summary"].pop("rightly_held_back_count") <= after["summary"].pop("held_back_count")
        halves = [after["summary"].pop(f"{half}_count") for half in ("exact", "prose")]
        assert sum(halves) == after["summary"]["case_count"]
        for half in ("exact", "prose"):
            assert 0 <= after["summary"].pop(f"{half}_score") <= 1
            after["summary"].pop(f"{half}_interval")
        # The error of the scorer is known for the packaged corpus alone.
        assert [after["summary"].pop(key) for key in ("right_share", "right_share_interval")] == [None, None]
        reference = after["summary"]["reference"]
        core = 100 * after["summary"]["quality_core"] - reference["floor_score"]
        assert reference.pop("core_difference") == pytest.approx(core)
        low, high = reference.pop("core_difference_interval")
        assert low <= core <= high
        # The verdict was on the final score.
        assert (reference.pop("beats_floor"), was["summary"]["reference"].pop("beats_floor")) in (
            (low > 0, False),
            (True, True),
        )
        # A younger baseline.
        assert (
            after["summary"]["reference"]["controls"].pop("told-lines") < after["summary"]["reference"]["floor_score"]
        )
        assert after["summary"] == nearly(was["summary"])
        assert after["breakdowns"] == nearly(was["breakdowns"])
        scores = {c["case_id"]: [c["case_score"], c["raw_view"]["case_score"]] for c in after["cases"] if "output" in c}
        assert scores == nearly(was["case_scores"])
    assert seen == before.keys()
    capsys.readouterr()
    assert rescore.main([str(tmp_path), *corpus]) == 0
    assert "nothing changed" in capsys.readouterr().out


def test_the_first_version_is_shown_and_says_what_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = V1.iterdir()
    assert report.main([str(path)]) == 0
    shown = capsys.readouterr().out
    assert "an early version, without intervals; run benchmark.rescore on it" in shown
    record = read_result(path).record
    assert record.schema_version == 1
    assert f"{record.summary.final_score:.1f}" in shown


def test_published_files_cannot_be_rescored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copies = [Path(shutil.copy(path, tmp_path)) for path in PUBLISHED.iterdir()]
    before = {path: path.read_bytes() for path in copies}
    assert rescore.main([str(tmp_path)]) == 2
    assert "rescore only results of this runner" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_all_stored_results_are_read_together() -> None:
    assert len(find_results([V1, V2, PUBLISHED])) == 8

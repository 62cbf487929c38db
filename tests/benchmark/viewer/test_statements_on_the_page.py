"""Statements and the recorded measurement, as the page and the pictures are given them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmark.record.read import StoredResult, read_result, stored
from benchmark.record.result import Result
from benchmark.record.validity import validity_text
from benchmark.scoring import Embedder
from benchmark.scoring.remarks import Remark
from benchmark.viewer import __main__ as viewer
from benchmark.viewer.board_data import overview
from benchmark.viewer.chart_records import Measured
from benchmark.viewer.charts import chart_rows, write_pictures
from benchmark.viewer.page_data import gather, shelve
from tests.conftest import ROOT
from tests.support.pages import overview_of, pack
from tests.support.statements import NO_PROSE, STATEMENTS, WITH, WITHOUT, measurement, result_of, worded_cases

PUBLISHED = ROOT / "tests" / "data" / "results" / "published" / "cpu-LFM2.5-350M.result.json.gz"


@pytest.fixture(scope="module")
def record(embedder: Embedder) -> Result:
    return result_of(worded_cases(), embedder)


@pytest.fixture
def result(record: Result) -> StoredResult:
    return stored(Path("worded.json"), record)


def scored_by(record: Result, version: str, name: str) -> StoredResult:
    """Return the result as another version of the scorer would have left it."""
    assert record.run is not None
    return stored(Path(f"{name}.json"), replace(record, run=replace(record.run, scorer_version=version)))


# Statements -------------------------------------------------------------------------------------------------------


def test_questions_tell_their_statements_and_cases_by_wording_are_marked(result: StoredResult) -> None:
    catalog, shelves = shelve(gather([result]).asked)
    entries = {entry.case_id: entry for entry in catalog}
    assert {name: entry.by_wording for name, entry in entries.items()} == {WITH: False, WITHOUT: True, NO_PROSE: False}
    says = {name: shelves[entry.shelf].questions[entry.place].says for name, entry in entries.items()}
    assert says == {WITH: [statement.says for statement in STATEMENTS], WITHOUT: [], NO_PROSE: []}


def test_a_file_that_tells_nothing_of_statements_marks_no_case() -> None:
    catalog, _ = shelve(gather([read_result(PUBLISHED)]).asked)
    assert catalog
    assert not [entry for entry in catalog if entry.by_wording]


def test_the_page_knows_how_reasons_begin_and_what_is_judged_by_wording(result: StoredResult) -> None:
    shown = overview(gather([result]), [])
    assert {remark.kind: remark.prefix for remark in shown.remarks} == {r.name.lower(): r.value for r in Remark}
    note, scores = shown.boards[0].notes
    assert note == f"1 of 2 prose cases has no statements: {shown.by_wording}"
    assert scores.startswith("the score is ")
    assert [row.wording_note for row in shown.results] == [f"{note}; {scores}"]


# How far scores can be trusted ------------------------------------------------------------------------------------


def test_figures_of_the_measurement_are_rows_of_a_picture(result: StoredResult) -> None:
    validity = measurement()
    rows = {(row.half, row.label): row for row in chart_rows(gather([result], validity)).measured}
    assert len(rows) == len(validity.figures)
    # Held-out cases are what counts: they come first.
    assert [half for half, _ in rows] == ["held out"] * 3 + ["tuned"] + ["whole corpus"] * 2
    verdicts = {name: row.verdict for name, row in rows.items() if row.verdict != "met"}
    assert verdicts == {
        ("held out", "right answers, mean"): "missed",
        ("held out", "irrelevant answers, mean"): "no bar",
        ("whole corpus", "best baseline, final score"): "missed",
    }

    def drawn(row: Measured) -> tuple[float, float | None, float | None, str, str]:
        return row.share, row.good_from, row.good_to, row.text, row.bar

    assert drawn(rows["held out", "right answers, mean"]) == (0.9, 0.93, 1, "0.90, missed", "at least 0.93")
    assert drawn(rows["held out", "wrong answers, mean"]) == (0.31, 0, 0.4, "0.31", "at most 0.4")
    assert drawn(rows["held out", "irrelevant answers, mean"]) == (0.05, None, None, "0.05", "")
    baseline = rows["whole corpus", "best baseline, final score"]
    assert drawn(baseline) == (0.2625, 0, 0.25, "26.2, missed", "at most 25")
    assert (baseline.value, baseline.is_whole) == (26.25, True)


def test_the_page_is_told_what_is_missed_and_the_answers_that_tell_most(result: StoredResult) -> None:
    validity = measurement()
    info = overview(gather([result], validity), []).validity
    assert info is not None
    assert (info.figures, info.mismatch) == (5, "")
    assert info.missed == ["best baseline, final score (whole corpus)", "right answers, mean (held out)"]
    for told, answers in ((info.worst_right, validity.worst_right), (info.best_wrong, validity.best_wrong)):
        assert [(a.score, a.case_id, a.kind, a.text) for a in told] == [
            (a.case_score, a.case_id, a.kind, a.text) for a in answers
        ]


@pytest.mark.parametrize(
    ("versions", "told"),
    [(["9"], "scored by 9"), (["8", "9"], "scored by 8 and 9"), ([], "an unknown one")],
)
def test_a_measurement_of_another_scorer_is_not_shown(record: Result, versions: list[str], told: str) -> None:
    results = [scored_by(record, version, f"of-{version}") for version in versions] or [read_result(PUBLISHED)]
    gathered = gather(results, measurement("current"))
    info = overview(gathered, []).validity
    assert info is not None
    assert "measured for version current of the scorer" in info.mismatch
    assert told in info.mismatch
    assert (info.figures, info.missed, info.worst_right, info.best_wrong) == (0, [], [], [])
    assert chart_rows(gathered).measured == []


def test_a_measurement_of_the_scorer_of_some_results_is_shown_with_a_word(record: Result) -> None:
    results = [scored_by(record, version, f"of-{version}") for version in ("current", "9", "8")]
    info = overview(gather(results, measurement("current")), []).validity
    assert info is not None
    assert (info.mismatch, info.other_versions, info.figures) == ("", "8 and 9", 5)


def test_results_that_do_not_tell_their_scorer_do_not_hide_the_measurement(record: Result) -> None:
    gathered = gather([scored_by(record, "current", "of-current"), read_result(PUBLISHED)], measurement("current"))
    info = overview(gathered, []).validity
    assert info is not None
    assert not info.mismatch
    assert len(chart_rows(gathered).measured) == 6


@pytest.mark.slow
def test_the_command_shows_a_measurement_as_far_as_there_is_one(
    record: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmark.record.write import write_result

    write_result(tmp_path / "worded.json", record)
    page, file = tmp_path / "page.html", tmp_path / "elsewhere" / "measured.json"
    file.parent.mkdir()
    monkeypatch.setattr(viewer, "MEASURED", file)

    def built() -> tuple[dict[str, object], list[str]]:
        assert viewer.main([str(tmp_path / "worded.json"), "-o", str(page)]) == 0
        return overview_of(page.read_text(encoding="utf-8")), capsys.readouterr().err.splitlines()

    shown, errors = built()
    assert "validity" not in shown
    assert not errors
    file.write_text(validity_text(measurement()), encoding="utf-8")
    shown, errors = built()
    assert json.loads(json.dumps(shown["validity"]))["figures"] == 5
    assert not errors
    assert len(pack(page.read_text(encoding="utf-8"), "charts")["rows"]["measured"]) == 6
    for damaged in ('{"scorer_version": 3}', validity_text(measurement())[:200], "\x00", "[]"):
        file.write_text(damaged, encoding="utf-8")
        shown, errors = built()
        assert "validity" not in shown
        (line,) = errors
        assert line.startswith(f"skipped: {file}: is not a valid measurement (")
        # The page names no folder of this machine.
        assert shown["skipped"] == [line.removeprefix("skipped: ").replace(str(file), "…/elsewhere/measured.json")]


@pytest.mark.slow
def test_pictures_of_the_measurement_are_files_where_there_is_one(result: StoredResult, tmp_path: Path) -> None:
    without = {file.name for file in write_pictures(gather([result]), tmp_path / "without", "svg")}
    written = {file.name for file in write_pictures(gather([result], measurement()), tmp_path / "with", "svg")}
    assert written - without == {"validity.svg", "validity-corpus.svg"}
    text = (tmp_path / "with" / "validity.svg").read_text(encoding="utf-8")
    assert all(words in text for words in ("right answers, mean", "0.90, missed", "held out", "tuned"))
    assert "final score" not in text
    assert "26.2, missed" in (tmp_path / "with" / "validity-corpus.svg").read_text(encoding="utf-8")

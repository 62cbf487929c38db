"""One board, written for terminals, documents and programs: the same figures in all of them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from benchmark import report
from benchmark.analysis.leaderboard import (
    Flag,
    Form,
    Headline,
    Leaderboard,
    build_leaderboard,
)
from benchmark.record.read import find_results, read_result, stored
from benchmark.record.result import InstrumentFailure
from benchmark.record.summary import Summary
from benchmark.render.figures import (
    column_text,
    flag_marks,
    form_text,
    headline_text,
    interval_text,
    marked,
    rank_text,
    signed,
)
from benchmark.render.markdown import leaderboard_markdown, plain_cell, scenario_markdown
from benchmark.render.notes import notes, notes_together
from benchmark.render.terminal import print_leaderboard
from tests.conftest import ROOT

V2 = ROOT / "tests" / "data" / "results" / "v2"


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    return build_leaderboard(find_results([V2]))


def shown(board: Leaderboard, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    print_leaderboard(console, board)
    return console.export_text()


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (Form(), 12.345, "12.3"),
        (Form(), None, "-"),
        (Form(digits=2, scale=0.001), 1234.5, "1.23"),
        (Form(signed=True), 3.0, "+3.0"),
        (Form(digits=0, scale=100, suffix="%"), 0.456, "46%"),
        (Form(digits=0, suffix="x"), 23.6, "24x"),
    ],
)
def test_numbers_by_their_form(form: Form, value: float | None, text: str) -> None:
    assert form_text(form, value) == text


def test_intervals_differences_and_marks() -> None:
    assert interval_text(Form(), (1.25, 2.0)) == " [1.2, 2.0]"
    assert interval_text(Form(), None) == ""
    assert [signed(value) for value in (-0.04, 0.0, 0.06, -1.0)] == ["+0.0", "+0.0", "+0.1", "-1.0"]
    assert flag_marks([Flag.INCOMPLETE, Flag.DISTURBED, Flag.BELOW_FLOOR, Flag.PUBLISHED]) == " * !"
    assert flag_marks([]) == ""


def test_ranks(board: Leaderboard) -> None:
    ranks = {row.label: rank_text(row) for row in board.rows}
    assert ranks == {"model-03": "1=", "model-02": "1=", "model-01": "2=", "model-00": "2=", "control-tf-idf": "ref"}


def test_headlines(board: Leaderboard) -> None:
    row, other = board.rows[:2]
    for headline, text in (
        (Headline((), measured=False, beats_floor=False), "Reference rows only."),
        (Headline((), measured=True, beats_floor=False), "No model has an answer that could be scored."),
        (Headline((row,), measured=True, beats_floor=True), "Best: model-03."),
        (Headline((row, other), measured=True, beats_floor=True), "Best, statistically tied: model-03, model-02."),
        (
            Headline((row,), measured=True, beats_floor=False),
            "Best: model-03. No model beats the best baseline beyond chance.",
        ),
    ):
        assert headline_text(headline) == text


@pytest.mark.parametrize("width", [200, 80])
def test_terminal_and_markdown_show_the_same_cells(board: Leaderboard, width: int) -> None:
    text = shown(board, width).replace("\u00a0", " ")
    page = leaderboard_markdown(board)
    for row in board.rows:
        assert marked(row) in text
        for column in board.columns:
            cell = column_text(column, row.summary)
            assert cell == "-" or cell in text
            assert f"| {plain_cell(cell)} |" in page
        for note in notes(row.result):
            # A note is one line, however long.
            assert f"* {row.label}: {note}\n" in text
            assert f"- {plain_cell(f'{row.label}: {note}')}\n" in page
    for note in notes_together(board):
        assert note in text
        assert plain_cell(note) in page
    assert headline_text(board.headline) in text
    for term, meaning in board.legend:
        assert f"| {plain_cell(term)} | {plain_cell(meaning)} |" in page


def test_notes_of_a_run_that_went_wrong(board: Leaderboard) -> None:
    found = {row.label: notes(row.result) for row in board.rows}
    assert "9 cases got no answer that could be scored" in found["model-03"]
    assert "incomplete: 7/16 cases (44%)" in found["model-03"]
    assert "does not beat the best baseline (tf-idf, 5.9) beyond chance" in found["model-00"]
    assert found["control-tf-idf"] == []


def test_the_board_for_programs(capsys: pytest.CaptureFixture[str], board: Leaderboard) -> None:
    assert report.main([str(V2), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["label"] for row in document["results"]] == [row.label for row in board.rows]
    for told, row in zip(document["results"], board.rows, strict=True):
        assert told["rank"] == (None if row.rank is None else {"place": row.rank.place, "tied": row.rank.tied})
        assert told["flags"] == list(row.flags)
        assert told["figures"]["score"] == row.summary.final_score
        assert told["figures"].keys() == {figure["key"] for figure in document["figures"]}
    assert document["best"] == [row.label for row in board.headline.best]


def test_the_report_of_an_incomplete_scenario() -> None:
    text = scenario_markdown(read_result(V2 / "model-03.json.gz"))
    cases = text[text.index("## Cases") :]
    assert cases.count("| not scored |") == 9
    assert cases.index("not scored") < cases.index("| accepted |")
    for part in ("## Profile", "## Beside the score", "## Between floor and ceiling", "## By intent", "## Identity"):
        assert part in text


def test_the_report_of_a_scenario_without_any_answer() -> None:
    record = read_result(V2 / "model-03.json.gz").record
    lost = [case for case in record.cases if isinstance(case, InstrumentFailure)]
    summary = Summary(planned_count=16, case_count=0, coverage=0.0, instrument_failure_count=len(lost))
    nothing = stored(Path("x.json"), replace(record, summary=summary, cases=lost, breakdowns=None))
    text = scenario_markdown(nothing)
    assert "9 cases got no answer that could be scored" in text
    assert "## Profile" not in text
    assert shown(build_leaderboard([nothing]), 200).count("No model has an answer that could be scored.") == 1


@pytest.mark.parametrize("name", ["cpu-LFM2.5-350M", "remote-gpt-4o-mini"])
def test_the_report_of_a_published_scenario(name: str) -> None:
    result = read_result(V2.parent / "published" / f"{name}.result.json.gz")
    text = scenario_markdown(result)
    assert "published layout" in text
    assert "## Profile" in text
    assert "## Identity" not in text

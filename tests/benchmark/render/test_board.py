"""One board, written for terminals, documents and programs: the same figures in all of them."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from benchmark import report
from benchmark.analysis.figures import Form
from benchmark.analysis.judged import judged
from benchmark.analysis.leaderboard import Conclusion, Flag, Headline, Leaderboard, build_leaderboard
from benchmark.analysis.references import References
from benchmark.cases import Corpus
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.record.read import StoredResult, find_results, read_result, stored
from benchmark.record.result import Answered, InstrumentFailure, Scored
from benchmark.record.summary import Summary
from benchmark.render.figures import (
    board_title,
    column_text,
    flag_marks,
    form_text,
    headline_text,
    interval_text,
    marked,
    rank_text,
    signed,
)
from benchmark.render.markdown import leaderboards_markdown, plain_cell, scenario_markdown
from benchmark.render.notes import notes, notes_together, reference_notes, wording_notes
from benchmark.render.terminal import print_leaderboards, print_table
from benchmark.scoring import Embedder
from benchmark.viewer.page_data import gather
from ctxsift.answers.recovery import STEPS, RecoveryStep
from tests.conftest import ROOT
from tests.support.statements import NO_PROSE, WITH, WITHOUT, result_of, worded_cases

V2 = ROOT / "tests" / "data" / "results" / "v2"


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    return build_leaderboard(find_results([V2]))


def shown(board: Leaderboard, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    print_leaderboards(console, [board])
    return console.export_text()


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (Form(), 12.345, "12.3"),
        (Form(), None, "-"),
        (Form(digits=2, scale=0.001), 1234.5, "1.23"),
        (Form(signed=True), 3.0, "+3.0"),
        (Form(), -0.04, "0.0"),
        (Form(digits=0, scale=100, suffix="%"), 0.456, "46%"),
        (Form(digits=0, suffix="x"), 23.6, "24x"),
    ],
)
def test_numbers_by_their_form(form: Form, value: float | None, text: str) -> None:
    assert form_text(form, value) == text


def test_intervals_differences_and_marks() -> None:
    assert interval_text(Form(), (1.25, 2.0)) == " [1.3, 2.0]"
    assert interval_text(Form(), None) == ""
    assert [signed(value) for value in (-0.04, 0.0, 0.06, -1.0)] == ["+0.0", "+0.0", "+0.1", "-1.0"]
    assert flag_marks([Flag.INCOMPLETE, Flag.DISTURBED, Flag.BELOW_FLOOR, Flag.PUBLISHED]) == " * !"
    assert flag_marks([Flag.BLIND]) == " ~"
    assert flag_marks([]) == ""


def test_ranks(board: Leaderboard) -> None:
    ranks = {row.label: rank_text(row) for row in board.rows}
    assert ranks == {"model-03": "-", "model-02": "-", "model-01": "-", "model-00": "-", "control-tf-idf": "ref"}


def test_headlines(board: Leaderboard) -> None:
    row, other = board.rows[:2]
    for headline, text in (
        (Headline((), Conclusion.REFERENCES_ONLY), "Reference rows only."),
        (Headline((), Conclusion.NO_ANSWER), "No model has an answer that could be scored."),
        (Headline((), Conclusion.INCOMPLETE), "No run is complete, so there is no ranking."),
        (Headline((row,), Conclusion.BEST), "Best: model-02."),
        (Headline((row, other), Conclusion.BEST), "Best, statistically tied: model-02, model-01."),
        (
            Headline((), Conclusion.BELOW_FLOOR),
            "No complete run is significantly better than the best baseline (tf-idf, 5.9).",
        ),
        (
            Headline((), Conclusion.TOO_FEW_CASES),
            "Too few cases to tell whether a model beats the best baseline (tf-idf, 5.9).",
        ),
    ):
        assert headline_text(dataclasses.replace(board, headline=headline)) == text


def test_boards_are_told_apart_by_what_they_have_in_common(board: Leaderboard) -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    print_leaderboards(console, [board, board])
    title = board_title(board)
    assert title.startswith("16 of 280 cases, corpus ")
    assert console.export_text().count(title) == 2
    assert leaderboards_markdown([board, board]).count(f"# {plain_cell(title)}\n") == 2
    assert title not in leaderboards_markdown([board])


@pytest.mark.parametrize(("folder", "cases"), [("easy", "40 of 280 cases (easy tier)"), ("mixed", "80 of 280 cases")])
def test_a_page_and_a_terminal_name_the_same_cases(folder: str, cases: str) -> None:
    results = find_results([PACKAGED_RESULTS / folder])
    (shown,) = gather(results).boards
    assert board_title(shown) == board_title(build_leaderboard(results))
    assert board_title(shown).partition(", corpus ")[0] == cases


@pytest.mark.parametrize("width", [200, 80])
def test_terminal_and_markdown_show_the_same_cells(board: Leaderboard, width: int) -> None:
    text = shown(board, width).replace("\u00a0", " ")
    page = leaderboards_markdown([board])
    for row in board.rows:
        assert marked(row) in text
        for column in board.columns:
            cell = column_text(column, row.summary)
            assert cell == "-" or cell in text
            written = f"*{plain_cell(cell)}*" if row.result.is_reference else plain_cell(cell)
            assert f"| {written} |" in page
        for note in notes(row.result):
            # A note is one line, however long, and there once, whomever it is about.
            (line,) = (line for line in text.splitlines() if line.endswith(f": {note}"))
            assert row.label in line
            assert f"- {plain_cell(line.removeprefix('* '))}\n" in page
    for note in notes_together(board):
        assert note in text
        assert plain_cell(note) in page
    assert headline_text(board) in text
    for term, meaning in board.legend:
        assert f"| {plain_cell(term)} | {plain_cell(meaning)} |" in page


@pytest.mark.parametrize("width", [200, 80])
def test_reference_rows_are_on_every_board(board: Leaderboard, width: int) -> None:
    lines = shown(board, width).splitlines()
    page = leaderboards_markdown([board])
    assert [row.name for row in board.references.rows] == ["gold", "last-20-lines", "error-lines"]
    for row in board.references.rows:
        (line,) = (number for number, line in enumerate(lines) if row.label in line and "ref" in line)
        # A narrow terminal has the figures on the next line.
        figures = lines[line] + lines[line + 1]
        assert f"{row.score:.1f}" in figures
        assert f"{row.normalised_score:.1f}" in figures
        assert f"\n| *ref* | *{row.label}* | *16/16* | *{row.score:.1f}* | *-* |" in page
    (note,) = reference_notes(board)
    assert note.endswith("scored on the 16 cases of model-02")
    assert f"* {note}\n" in "\n".join(lines)
    assert f"- {plain_cell(note)}\n" in page


def test_reference_rows_look_like_none_of_the_results(board: Leaderboard) -> None:
    console = Console(width=200, record=True, file=io.StringIO(), force_terminal=True, color_system="standard")
    print_leaderboards(console, [board])
    dim = "\x1b[2m"
    styled = {line.count(dim) > 1 for line in console.export_text(styles=True).splitlines() if " model-0" in line[:60]}
    assert styled == {False}
    console = Console(width=200, record=True, file=io.StringIO(), force_terminal=True, color_system="standard")
    print_leaderboards(console, [board])
    for row in board.references.rows:
        (line,) = (line for line in console.export_text(styles=True, clear=False).splitlines() if row.label in line)
        assert dim in line


def test_the_note_says_what_ok_says_and_how_many_cases(board: Leaderboard) -> None:
    alone = build_leaderboard([board.rows[-1].result])
    (note,) = reference_notes(alone)
    assert note.endswith("a program that uses no model; both are scored on the same 7 cases")
    reference = alone.references.rows[1]
    with_ok = dataclasses.replace(
        alone, references=dataclasses.replace(alone.references, rows=(dataclasses.replace(reference, name="ok"),))
    )
    assert "(ok always answers ok)" in reference_notes(with_ok)[0]
    nothing = dataclasses.replace(alone, references=References())
    assert reference_notes(nothing) == []


def test_notes_of_a_run_that_went_wrong(board: Leaderboard) -> None:
    found = {row.label: notes(row.result) for row in board.rows}
    assert "9 cases have no answer that could be scored" in found["model-03"]
    assert "incomplete: 7/16 cases" in found["model-03"]
    (floor,) = (note for note in found["model-00"] if "best baseline" in note)
    assert floor == (
        "not significantly better than the best baseline (tf-idf, 5.9): -1.6 [-5.2, +1.8] on the same cases"
    )
    assert found["control-tf-idf"] == []


def test_what_was_read_once_for_several_answers_is_told(board: Leaderboard) -> None:
    (row,) = (row for row in board.rows if row.label == "model-03")
    assert row.summary.latency is not None
    latency = replace(row.summary.latency, cached_cases=3, cached_tokens=1280, cached_ms=2400.0)
    record = replace(row.result.record, summary=replace(row.summary, latency=latency))
    (note,) = set(notes(dataclasses.replace(row.result, record=record))) - set(notes(row.result))
    assert note.startswith("3 prompts shared a beginning with the one before: 1,280 tokens were not read again")
    assert "the 2.4 s that the first reading took" in note


def test_the_board_for_programs(capsys: pytest.CaptureFixture[str], board: Leaderboard) -> None:
    assert report.main([str(V2), "--json"]) == 0
    everything = json.loads(capsys.readouterr().out)
    (document,) = everything["boards"]
    assert [row["label"] for row in document["results"]] == [row.label for row in board.rows]
    for told, row in zip(document["results"], board.rows, strict=True):
        assert told["rank"] == (None if row.rank is None else {"place": row.rank.place, "tied": row.rank.tied})
        assert told["flags"] == list(row.flags)
        assert told["figures"]["score"] == row.summary.final_score
        assert told["figures"].keys() == {figure["key"] for figure in everything["figures"]}
    assert [(row["name"], row["label"], row["figures"]["score"]) for row in document["references"]] == [
        (row.name, row.label, row.score) for row in board.references.rows
    ]
    assert document["references"][0]["figures"].keys() == {figure["key"] for figure in everything["figures"]}
    assert reference_notes(board)[0] in document["notes"]
    assert document["best"] == [row.label for row in board.headline.best]
    assert (document["about"], document["headline"]) == (board_title(board), headline_text(board))


def test_the_report_of_an_incomplete_scenario() -> None:
    text = scenario_markdown(read_result(V2 / "model-03.json.gz"))
    cases = text[text.index("## Cases") :]
    assert cases.count("| not scored |") == 9
    assert cases.index("not scored") < cases.index("| accepted |")
    for part in ("## Profile", "## Beside the score", "## Between floor and ceiling", "## By intent", "## Identity"):
        assert part in text


def test_the_report_says_what_recovery_removed() -> None:
    record = read_result(V2 / "model-03.json.gz").record
    answered = next(case for case in record.cases if isinstance(case, Answered))
    steps = [
        RecoveryStep("reasoning_block", "<think>x</think>"),
        RecoveryStep("thought_prose", "Wait."),
        RecoveryStep("of_old", "y"),
    ]
    text = scenario_markdown(stored(Path("x.json"), replace(record, cases=[replace(answered, recovery_steps=steps)])))
    removed = text[text.index("## Removed by recovery") : text.index("## Cases")]
    assert f"| reasoning block | {STEPS['reasoning_block']} | 1 | 16 |" in removed
    assert "| of old | a step of an earlier version | 1 | 1 |" in removed
    assert "removed: reasoning block, removed: thought prose" in text
    untouched = replace(record, cases=[replace(answered, recovery_steps=[])])
    assert "## Removed by recovery" not in scenario_markdown(stored(Path("x.json"), untouched))


def test_the_report_of_a_scenario_without_any_answer() -> None:
    record = read_result(V2 / "model-03.json.gz").record
    lost = [case for case in record.cases if isinstance(case, InstrumentFailure)]
    summary = Summary(planned_count=16, case_count=0, coverage=0.0, instrument_failure_count=len(lost))
    nothing = stored(Path("x.json"), replace(record, summary=summary, cases=lost, breakdowns=None))
    text = scenario_markdown(nothing)
    assert "9 cases have no answer that could be scored" in text
    assert "## Profile" not in text
    assert shown(build_leaderboard([nothing]), 200).count("No model has an answer that could be scored.") == 1


@pytest.mark.parametrize("name", ["cpu-LFM2.5-350M", "remote-gpt-4o-mini"])
def test_the_report_of_a_published_scenario(name: str) -> None:
    result = read_result(V2.parent / "published" / f"{name}.result.json.gz")
    text = scenario_markdown(result)
    assert "published layout" in text
    assert "## Profile" in text
    assert "## Identity" not in text


# Statements -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def worded(corpus: Corpus, embedder: Embedder) -> StoredResult:
    return stored(Path("worded.json"), result_of(worded_cases(), embedder))


def row_of(text: str, case_id: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {case_id} |"))
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_the_report_says_what_an_answer_leaves_out_and_contradicts(worded: StoredResult) -> None:
    text = scenario_markdown(worded)
    why = row_of(text, WITH)[4]
    # What is wrong comes first; what is right and what is only measured is left out.
    assert why.startswith("contradicts: the database is at 9d51b8c2e7f0, does not say: patients.email has duplicates")
    assert "7c93e0f4ab68 is the last revision" in why
    assert "says: 9d51b8c2e7f0 could not create" not in why
    assert "cosine" not in why


def test_cases_that_are_judged_by_wording_are_marked_and_counted(worded: StoredResult) -> None:
    text = scenario_markdown(worded)
    marks = {case_id: row_of(text, case_id)[1].endswith("\\~") for case_id in (WITH, WITHOUT, NO_PROSE)}
    assert marks == {WITH: False, WITHOUT: True, NO_PROSE: False}
    parts = judged(worded)
    assert parts is not None
    assert set(parts.by_truth.result.cases) == {WITH, NO_PROSE}
    scores = {True: f"{parts.by_truth.score:.1f}", False: f"{parts.by_wording.score:.1f}"}
    assert "\\~ no statements yet: their quality is only similarity to the wording of gold" in text
    notes = [
        "1 of 2 prose cases has no statements: their quality is only similarity to the wording of gold",
        f"the score is {scores[True]} over 2 cases judged by truth, {scores[False]} over 1 case judged by wording",
    ]
    assert wording_notes(worded) == notes
    assert all(f"- {plain_cell(note)}\n" in text for note in notes)


def test_reasons_of_a_case_without_statements_stay_out_of_the_report(corpus: Corpus, embedder: Embedder) -> None:
    record = result_of(worded_cases(), embedder)
    first = record.cases[0]
    assert isinstance(first, Scored)
    bare = replace(first, question=replace(first.question, says=[]))
    text = scenario_markdown(stored(Path("bare.json"), replace(record, cases=[bare])))
    assert "does not say" not in text
    assert row_of(text, WITH)[1].endswith("\\~")


def test_results_that_agree_on_statements_share_one_note(corpus: Corpus, embedder: Embedder) -> None:
    cases = worded_cases()
    two = [stored(Path(f"{name}.json"), result_of(cases, embedder, name)) for name in ("one", "two")]
    note, scores = wording_notes(two[0])
    assert notes_together(build_leaderboard(two)) == [note, scores]
    plain = [dataclasses.replace(case, statements=(), must_not=()) for case in cases]
    other = stored(Path("three.json"), result_of(plain, embedder, "three"))
    other_note, *_ = wording_notes(other)
    found = notes_together(build_leaderboard([*two, other]))
    assert f"three: {other_note}" in found
    assert {f"one, two: {note}", f"two, one: {note}"} & set(found)
    # Where one has nothing to note, the note is not of all.
    whole = replace(two[1].record, cases=[c for c in two[1].record.cases if c.question.case_id != WITHOUT])
    assert f"one: {note}" in notes_together(build_leaderboard([two[0], stored(Path("whole.json"), whole)]))
    many = [stored(Path(f"{name}.json"), result_of(cases, embedder, name)) for name in "abcdefg"]
    (listed,) = (line for line in notes_together(build_leaderboard([*many, other])) if line.endswith(note))
    assert listed.endswith(f" and 2 more: {note}")


def test_files_that_tell_nothing_of_statements_get_no_mark(board: Leaderboard) -> None:
    for row in board.rows:
        assert wording_notes(row.result) == []
        assert "no statements" not in scenario_markdown(row.result)
    assert not [note for note in notes_together(board) if "statements" in note]


def test_nothing_is_noted_where_every_case_in_prose_has_statements(worded: StoredResult) -> None:
    record = replace(worded.record, cases=[c for c in worded.record.cases if c.question.case_id != WITHOUT])
    assert wording_notes(stored(Path("all.json"), record)) == []


@pytest.mark.parametrize(("width", "parts"), [(80, 1), (40, 2), (30, 3)])
def test_a_table_that_is_too_wide_stands_in_parts(width: int, parts: int) -> None:
    console = Console(width=width, record=True, file=io.StringIO())
    print_table(console, ["method", "score", "kept at the end", "ratio"], [["anchored", "3.1", "56%", "9.2x"]])
    lines = console.export_text().splitlines()
    heads = [line for line in lines if "method" in line]
    assert (len(heads), max(map(len, lines)) <= width) == (parts, True), lines

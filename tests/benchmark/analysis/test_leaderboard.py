"""The leaderboard as data: order, ranks, flags, headline, columns."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmark.analysis.figures import COLUMNS, FIGURES
from benchmark.analysis.leaderboard import (
    FLAGS,
    Conclusion,
    Flag,
    Headline,
    build_leaderboard,
    build_leaderboards,
    flags_of,
)
from benchmark.analysis.ranking import Rank
from benchmark.matrix import Track
from benchmark.record.read import StoredResult, find_results, stored
from benchmark.record.summary import Summary
from tests.conftest import ROOT, published_layout

V2 = ROOT / "tests" / "data" / "results" / "v2"


@pytest.fixture(scope="module")
def results() -> list[StoredResult]:
    return find_results([V2])


def named(results: list[StoredResult], name: str) -> StoredResult:
    return next(result for result in results if result.name == name)


def renamed(result: StoredResult, name: str, track: Track = Track.CPU) -> StoredResult:
    scenario = dataclasses.replace(result.record.scenario, name=name, track=track)
    return stored(Path(f"{name}.json"), replace(result.record, scenario=scenario))


def test_best_first_and_neither_references_nor_incomplete_runs_have_a_rank(results: list[StoredResult]) -> None:
    board = build_leaderboard(results)
    scores = [row.summary.final_score or 0.0 for row in board.rows if Flag.INCOMPLETE not in row.flags]
    assert scores == sorted(scores, reverse=True)
    # A score over some of the cases stands below all that are over the whole, however high it is.
    assert [row.label for row in board.rows][len(scores) :] == ["model-03"]
    assert board.entries[-1] == board.rows[-1]
    assert all(row.rank is None for row in board.rows)
    ranked = build_leaderboard([with_gap(each, True) for each in results])
    assert [row.label for row in ranked.rows if row.rank is None] == ["control-tf-idf", "model-03"]


def test_results_without_any_answer_come_last_and_unranked(results: list[StoredResult]) -> None:
    empty = replace(named(results, "model-00").record, summary=Summary(planned_count=16, case_count=0), cases=[])
    board = build_leaderboard([stored(Path("empty.json"), empty), with_gap(named(results, "model-01"), True)])
    assert [row.rank is None for row in board.rows] == [False, True]


def test_flags_say_what_the_record_says(results: list[StoredResult]) -> None:
    flags = {result.name: flags_of(result) for result in results}
    assert flags["control-tf-idf"] == ()
    assert Flag.INCOMPLETE in flags["model-03"]
    assert Flag.BELOW_FLOOR in flags["model-00"]
    assert Flag.BELOW_FLOOR not in flags["model-03"]
    assert FLAGS.keys() == set(Flag)


def test_published_files_are_flagged_and_ranked(tmp_path: Path) -> None:
    paths = [
        published_layout(tmp_path / f"{name}.json", name, {f"c{n}": score for n in range(30)})
        for name, score in (("good", 0.9), ("bad", 0.1))
    ]
    board = build_leaderboard(find_results(paths))
    assert all(row.flags == (Flag.PUBLISHED,) for row in board.rows)
    assert [row.rank.place for row in board.rows if row.rank] == [1, 2]


def complete(result: StoredResult, name: str) -> StoredResult:
    assert result.record.run
    return renamed(stored(result.path, replace(result.record, run=replace(result.record.run, complete=True))), name)


def with_gap(result: StoredResult, beats_floor: bool | None) -> StoredResult:
    standing = result.record.summary.standing
    assert standing
    told = replace(standing, reference=replace(standing.reference, beats_floor=beats_floor))
    summary = replace(result.record.summary, standing=told)
    return stored(result.path, replace(result.record, summary=summary))


def test_the_headline_names_a_best_only_where_it_beats_the_best_baseline(results: list[StoredResult]) -> None:
    best, floor = complete(named(results, "model-03"), "whole"), named(results, "control-tf-idf")
    both = build_leaderboard([best, renamed(best, "twin"), floor]).headline
    assert ([row.label for row in both.best], both.conclusion) == (["twin", "whole"], Conclusion.BEST)
    for beats, standing in ((False, Conclusion.BELOW_FLOOR), (None, Conclusion.TOO_FEW_CASES)):
        assert build_leaderboard([with_gap(best, beats), floor]).headline == Headline((), standing)
    references = build_leaderboard([floor, renamed(floor, "other", Track.CONTROL)]).headline
    assert references == Headline((), Conclusion.REFERENCES_ONLY)


def test_an_incomplete_run_is_never_crowned(results: list[StoredResult]) -> None:
    cut, other = named(results, "model-03"), named(results, "model-02")
    assert build_leaderboard([cut]).headline == Headline((), Conclusion.INCOMPLETE)
    board = build_leaderboard([cut, with_gap(other, True)])
    assert [row.label for row in board.rows] == ["model-02", "model-03"]
    assert [row.label for row in board.headline.best] == ["model-02"]
    assert [row.rank for row in board.rows] == [Rank(1, tied=False), None]


def test_what_was_asked_or_scored_otherwise_has_a_board_of_its_own(results: list[StoredResult]) -> None:
    first, second = (with_gap(named(results, name), True) for name in ("model-01", "model-02"))
    run = second.record.run
    assert run
    changes: tuple[dict[str, Any], ...] = (
        {"scorer_version": "0"},
        {"corpus_sha256": "b" * 64},
        {"case_ids": run.case_ids[:-1]},
    )
    others = [
        renamed(stored(second.path, replace(second.record, run=replace(run, **change))), f"other-{number}")
        for number, change in enumerate(changes)
    ]
    boards = build_leaderboards([*others, first, second])
    assert [[row.label for row in board.rows] for board in boards] == [
        ["model-02", "model-01"], ["other-0"], ["other-1"], ["other-2"],
    ]  # fmt: skip
    assert all(row.rank and row.rank.place == 1 for board in boards[1:] for row in board.rows)


def test_columns_that_nobody_fills_are_left_out(results: list[StoredResult]) -> None:
    shown = build_leaderboard([named(results, "control-tf-idf")]).columns
    titles = [column.title for column in shown]
    assert titles == [column.title for column in COLUMNS if column.title in titles]
    assert "cost $" not in titles


def test_every_figure_has_its_own_name_and_says_what_it_is() -> None:
    assert len({figure.key for figure in FIGURES}) == len(FIGURES)
    assert len({figure.title for figure in FIGURES}) == len(FIGURES)
    assert all(figure.hint for figure in FIGURES)


def test_the_legend_explains_all_that_is_shown(results: list[StoredResult]) -> None:
    board = build_leaderboard([*results, renamed(with_gap(named(results, "model-02"), True), "twin")])
    board = dataclasses.replace(board, rows=(*board.rows, dataclasses.replace(board.rows[0], rank=Rank(1, tied=True))))
    terms = [term for term, _ in board.legend]
    assert len(set(terms)) == len(terms)
    for column in board.columns:
        assert {figure.title for figure in column.figures} <= set(terms)
    assert {"rank", "=", "ref", "*", "!"} <= set(terms)
    assert "*" not in dict(build_leaderboard([named(results, "control-tf-idf")]).legend)

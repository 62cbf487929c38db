"""Reference rows: whose cases they are on, which of them there are, and where they stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from benchmark.analysis.leaderboard import build_leaderboard
from benchmark.analysis.references import ReferenceRow, reference_rows
from benchmark.matrix import Track
from benchmark.record.read import StoredResult, read_result, stored
from benchmark.record.summary import Standing
from benchmark.render.figures import is_reference
from tests.conftest import ROOT

V2 = ROOT / "tests" / "data" / "results" / "v2"
SCORES = {"empty": 0.0, "ok": 2.0, "echo": 5.0, "tf-idf": 20.0, "grep": 10.0, "tail": 7.0}


def result(
    name: str = "m",
    *,
    cases: int = 7,
    scores: Mapping[str, float] = SCORES,
    ceiling: float = 100.0,
    control: str = "",
    timestamp: str = "20260101T000000Z",
) -> StoredResult:
    """A result over the first `cases` of 16 whose file tells these scores of the baselines."""
    record = read_result(V2 / "model-02.json.gz").record
    assert record.run is not None
    before = record.summary.reference
    assert before is not None
    floor = max(scores, key=lambda each: scores[each])
    reference = replace(before, floor=floor, floor_score=scores[floor], ceiling_score=ceiling, baselines=dict(scores))
    scenario = dataclasses.replace(record.scenario, name=name)
    if control:
        scenario = dataclasses.replace(scenario, track=Track.CONTROL, model=control)
    summary = replace(record.summary, standing=Standing(normalised_score=1.0, reference=reference))
    return stored(
        Path(f"{name}.json"),
        replace(
            record,
            scenario=scenario,
            summary=summary,
            cases=record.cases[:cases],
            run=replace(record.run, timestamp=timestamp),
        ),
    )


def told(*results: StoredResult) -> list[str]:
    return [row.name for row in reference_rows(results).rows]


def test_gold_the_three_best_and_ok() -> None:
    rows = reference_rows([result()]).rows
    assert rows == (
        ReferenceRow("gold", 100.0, 100.0, 7, is_floor=False),
        ReferenceRow("tf-idf", 20.0, 0.0, 7, is_floor=True),
        ReferenceRow("grep", 10.0, -12.5, 7, is_floor=False),
        ReferenceRow("tail", 7.0, -16.25, 7, is_floor=False),
        ReferenceRow("ok", 2.0, -22.5, 7, is_floor=False),
    )
    assert [row.label for row in rows[:2]] == ["gold (reference)", "baseline tf-idf"]
    assert [row.is_ceiling for row in rows[:2]] == [True, False]


def test_ok_is_there_once_and_older_files_do_not_know_it() -> None:
    assert told(result(scores={"ok": 9.0, "echo": 1.0})) == ["gold", "ok", "echo"]
    assert told(result(scores={"echo": 1.0})) == ["gold", "echo"]


def test_where_the_floor_is_the_ceiling_nothing_lies_between() -> None:
    rows = reference_rows([result(ceiling=20.0)]).rows
    assert {row.normalised_score for row in rows} == {None}


def test_they_are_those_of_the_most_cases_then_of_the_most_results() -> None:
    many, few = result("many", cases=9, scores={"a": 1.0}), result("few", cases=5, scores={"b": 1.0})
    assert reference_rows([few, many]).source is many
    assert told(few, few, many) == ["gold", "a"]
    # As many cases, but others.
    other = result("other", cases=9, scores={"c": 1.0})
    other = dataclasses.replace(other, cases={f"x-{case}": figures for case, figures in other.cases.items()})
    assert reference_rows([many, other, result("again", cases=9)]).source is not other
    # Of the same cases, the newest file counts: its scorer is.
    newer = result("newer", cases=9, scores={"d": 1.0}, timestamp="20270101T000000Z")
    assert told(newer, many) == told(many, newer) == ["gold", "d"]


def test_models_come_before_references_with_more_cases() -> None:
    control = result("control-grep", cases=9, control="grep")
    model = result("model", cases=5)
    found = reference_rows([control, model])
    assert found.source is model
    # Over other cases, a baseline is another row.
    assert "grep" in [row.name for row in found.rows]
    assert found.results == ()


def test_what_is_a_result_itself_is_not_shown_twice() -> None:
    model, gold, grep = result("model"), result("control-gold", control="gold"), result("control-grep", control="grep")
    found = reference_rows([model, gold, grep])
    assert [row.name for row in found.rows] == ["tf-idf", "tail", "ok"]
    assert found.results == (gold, grep)
    # A model of that name is a model.
    assert "grep" in told(dataclasses.replace(model), result("grep"))
    everything = [result(f"control-{name}", control=name) for name in ("gold", *SCORES)]
    assert told(*everything) == []


def test_without_any_told_there_are_none() -> None:
    assert told() == []
    record = read_result(V2 / "model-02.json.gz").record
    silent = stored(Path("x.json"), replace(record, summary=replace(record.summary, standing=None)))
    assert told(silent) == []
    assert reference_rows([silent]).source is None
    assert told(result(cases=0)) == []


def test_an_interrupted_run_has_those_of_its_answers() -> None:
    interrupted = read_result(V2 / "model-03.json.gz")
    own = interrupted.record.summary.reference
    assert own is not None
    rows = reference_rows([interrupted]).rows
    assert {row.case_count for row in rows} == {7} == {len(interrupted.cases)}
    assert rows[1].score == own.floor_score


def test_they_stand_between_the_results_by_score_without_a_rank() -> None:
    board = build_leaderboard([result(), result("control-grep", control="grep")])
    scores = [
        entry.score if isinstance(entry, ReferenceRow) else entry.summary.final_score or 0.0 for entry in board.entries
    ]
    assert scores == sorted(scores, reverse=True)
    assert [entry.label for entry in board.entries if is_reference(entry)].count("baseline grep") == 0
    assert len(board.entries) == 2 + 4
    assert [row.label for row in board.rows if not row.result.is_reference] == ["m"]
    assert not any(row.rank for row in board.rows if row.result.is_reference)

"""A score in two parts, and models whose order depends on which part is looked at."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from benchmark.analysis.judged import judged, opposed
from benchmark.analysis.leaderboard import build_leaderboard
from benchmark.record.read import CaseFigures, StoredResult, read_result
from benchmark.render.notes import notes_together
from tests.conftest import published_layout

TRUE, WORDED = 40, 30


def result(folder: Path, name: str, by_truth: float, by_wording: float | None) -> StoredResult:
    """Return a result with these mean scores, give or take a little."""
    template = read_result(published_layout(folder / f"{name}.json", name, {"a": 0.5, "b": 0.25}))
    cases = {}
    for number in range(TRUE + WORDED):
        worded = number >= TRUE
        mean = by_truth if not worded else by_truth if by_wording is None else by_wording
        score = mean + 0.05 * (number % 3 - 1)
        cases[f"c{number}"] = CaseFigures(
            f"c{number}",
            score,
            score,
            1000.0,
            True,
            ("capture", str(number)),
            {},
            None if by_wording is None else worded,
        )
    return dataclasses.replace(template, cases=cases)


def test_each_part_has_the_score_of_its_own_cases(tmp_path: Path) -> None:
    parts = judged(result(tmp_path, "a", 0.5, 0.75))
    assert parts is not None
    assert [len(part.result.cases) for part in parts] == [TRUE, WORDED]
    # 0.8 of the mean and 0.2 of the tenth percentile, which is .05 below it.
    assert [part.score for part in parts] == pytest.approx([49, 74], abs=0.2)


def test_a_file_that_does_not_tell_has_no_parts(tmp_path: Path) -> None:
    assert judged(result(tmp_path, "a", 0.5, None)) is None


def test_only_a_significant_contradiction_is_noted(tmp_path: Path) -> None:
    honest, fluent = result(tmp_path, "honest", 0.6, 0.4), result(tmp_path, "fluent", 0.4, 0.7)
    better, alike = result(tmp_path, "better", 0.7, 0.8), result(tmp_path, "alike", 0.6, 0.4)
    assert [(a.name, b.name) for a, b in opposed([honest, fluent])] == [("honest", "fluent")]
    assert [(a.name, b.name) for a, b in opposed([fluent, honest])] == [("honest", "fluent")]
    assert list(opposed([honest, better])) == []
    assert list(opposed([honest, alike])) == []
    notes = notes_together(build_leaderboard([honest, fluent, better]))
    said = (
        "honest is significantly better than fluent on cases judged by truth, "
        "and significantly worse on cases judged by wording"
    )
    assert said in notes
    assert sum("significantly" in note for note in notes) == 1

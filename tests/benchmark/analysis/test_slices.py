"""Slices: which cases a text names, and what results score on them alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.analysis import parts
from benchmark.analysis.choosing import ALL, shelves
from benchmark.analysis.comparison import Comparisons
from benchmark.analysis.leaderboard import Leaderboard, build_leaderboards
from benchmark.analysis.slices import Facet, parts_of, read_slice, values_of
from benchmark.cases import Corpus
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.grading.outcome import question_of
from benchmark.record.read import StoredResult, find_results
from benchmark.record.result import Question
from benchmark.record.summary import Dimension
from benchmark.report import main
from benchmark.statistics import percentile
from ctxsift.errors import InputError
from tests.conftest import ROOT

MIXED = PACKAGED_RESULTS / "mixed"
V2 = ROOT / "tests" / "data" / "results" / "v2"


@pytest.fixture(scope="module")
def results() -> list[StoredResult]:
    return find_results([MIXED])


@pytest.fixture(scope="module")
def board(results: list[StoredResult]) -> Leaderboard:
    (board,) = build_leaderboards(results)
    return board


@pytest.fixture(scope="module")
def questions(results: list[StoredResult]) -> dict[str, Question]:
    return {case.question.case_id: case.question for case in results[0].record.cases}


FOUR = [
    Question(case_id="a", tags=[], tool="pytest", domain="python", difficulty="hard"),
    Question(case_id="b", tags=[], tool="mypy", domain="python", difficulty="easy"),
    Question(case_id="c", tags=[], tool="python", domain="docs", difficulty="hard"),
    Question(case_id="d", tags=[], tool="cargo test", domain="rust", difficulty="hard"),
]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("tool=pytest", "a"),
        ("tool=pytest,tool=mypy", "ab"),
        ("tool=pytest,difficulty=hard", "a"),
        # The first facet that knows it.
        ("python", "ab"),
        ("tool=python", "c"),
        ("Python, HARD", "a"),
        ("Tool = Cargo Test", "d"),
        ("tier=other cases", "abcd"),
    ],
)
def test_a_text_names_cases(text: str, ids: str) -> None:
    found = read_slice(text, FOUR)
    assert "".join(question.case_id for question in FOUR if found.holds(question)) == ids


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tool=pytst", "no case of these results has the tool 'pytst'; most similar values first: tool: pytest, "),
        ("pythn", "has the value 'pythn'; most similar values first: domain: python, "),
        ("colour=red", "there is no facet 'colour'; facets: intent, family, domain, tool, difficulty, tier"),
        ("tool=mypy,difficulty=hard", "no case has all of these values"),
        ("intent=json", "these results do not record the intent of a case"),
        ("", "has the value ''"),
    ],
)
def test_what_names_nothing_is_refused_with_what_there_is(text: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        read_slice(text, FOUR)
    assert told in str(refused.value)


def test_python_finds_all_47_of_the_corpus(corpus: Corpus) -> None:
    every = [question_of(case) for case in corpus.cases]
    found = read_slice("python", every)
    assert str(found) == "domain python"
    assert sum(map(found.holds, every)) == 47


def test_a_part_is_what_its_cases_alone_come_to(board: Leaderboard, questions: Mapping[str, Question]) -> None:
    parts = parts_of(board, questions, Facet.INTENT)
    assert [part.case_count for part in parts] == sorted((part.case_count for part in parts), reverse=True)
    assert sum(part.case_count for part in parts) == len(questions)
    part = next(part for part in parts if part.value == "json")
    row = board.rows[0]
    scores = [row.result.cases[i].score for i, question in questions.items() if question.intent == "json"]
    placed = next(placed for placed in part.placed if placed.label == row.label)
    assert placed.case_count == len(scores) == part.case_count
    assert placed.core == pytest.approx(100 * (0.8 * sum(scores) / len(scores) + 0.2 * percentile(scores, 10)))
    assert placed.interval is not None
    assert placed.core is not None
    assert placed.interval.low <= placed.core <= placed.interval.high


def test_the_whole_ranks_as_the_board_does(board: Leaderboard, questions: Mapping[str, Question]) -> None:
    (whole,) = parts_of(board, questions, None)
    assert [placed.rank for placed in whole.placed] == [row.rank for row in board.rows]


def test_what_does_not_beat_the_best_baseline_has_no_rank(
    board: Leaderboard, questions: Mapping[str, Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(**baselines: float) -> None:
        told = {"gold": 1.0} | baselines
        monkeypatch.setattr(parts, "_shipped", lambda names: {name: [each] * len(names) for name, each in told.items()})

    score(silent=0.0, perfect=1.0)
    (whole,) = parts_of(board, questions, None, baselines=True)
    assert whole.floor == ("perfect", 100.0)
    assert all(placed.rank is None for placed in whole.placed)
    score(silent=0.0)
    (whole,) = parts_of(board, questions, None, baselines=True)
    assert whole.placed[0].rank is not None


def test_a_slice_says_what_the_chooser_says(board: Leaderboard, questions: Mapping[str, Question]) -> None:
    sliced = {part.value: part for part in parts_of(board, questions, Facet.INTENT, baselines=True)}
    shelves_of = {shelf.use: shelf for shelf in shelves(board) if shelf.use != ALL}
    assert sliced.keys() == shelves_of.keys()
    for use, shelf in shelves_of.items():
        assert sliced[use].floor == shelf.floor
        options = {shelf.candidates[option.candidate].row.label for option in shelf.options}
        assert {placed.label for placed in sliced[use].placed if placed.rank} == options
    assert any(shelf.options for shelf in shelves_of.values())


def test_a_result_without_answers_in_a_part_has_no_score(results: list[StoredResult]) -> None:
    first, *others = results
    silent = replace(first, cases={i: c for i, c in first.cases.items() if c.group[Dimension.INTENT] != "json"})
    (board,) = build_leaderboards([silent, *others])
    asked = {case.question.case_id: case.question for case in first.record.cases}
    part = next(part for part in parts_of(board, asked, Facet.INTENT) if part.value == "json")
    (placed,) = (p for p, row in zip(part.placed, board.rows, strict=True) if row.result is silent)
    assert (placed.case_count, placed.core, placed.rank) == (0, None, None)
    assert sum(p.core is not None for p in part.placed) == len(others)


def test_values_come_with_the_most_frequent_first() -> None:
    assert list(values_of(Facet.DIFFICULTY, FOUR).items()) == [("hard", 3), ("easy", 1)]


def test_the_report_of_a_slice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(MIXED), "--slice", "python"]) == 0
    told = capsys.readouterr()
    assert "only domain python: 15 cases on 14 raw outputs" in told.err
    assert main([str(MIXED), "--slice", "tier"]) == 0
    told = capsys.readouterr()
    assert "easy tier (17)" in told.out
    assert "best baseline" in told.out


def test_a_part_without_baselines_and_a_wrong_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(V2), "--slice", "difficulty", "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert {part["value"] for part in document["parts"]} <= {"easy", "medium", "hard"}
    assert all(part["floor"] is None for part in document["parts"])
    assert main([str(V2), "--slice", "tool=pytst"]) == 2
    assert "most similar values first: tool: " in capsys.readouterr().err


def test_the_report_of_some_cases(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([str(MIXED), "--cases", "failed", "--top", "2"]) == 0
    told = capsys.readouterr().out
    assert "Cases: passed by no model (2 of" in told
    assert "  3  cpu-smollm2-135m-q4_1" in told
    assert main([str(MIXED), "--cases", "divided", "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    spreads = [item["spread"] for item in document["items"]]
    assert len(spreads) == 20
    assert spreads == sorted(spreads, reverse=True)
    assert set(document["items"][0]["scores"]) == set(document["items"][1]["scores"])
    # Three models are too few to tell weak ones from strong ones.
    assert main([str(MIXED), "--cases", "weak-win"]) == 2
    assert "these results contain no such case" in capsys.readouterr().err


def test_all_at_once_is_what_each_pair_says(results: list[StoredResult]) -> None:
    for timed in (False, True):
        together = Comparisons().differences(results, timed=timed)
        assert set(together) == {(0, 1), (0, 2), (1, 2)}
        for (i, j), found in together.items():
            alone = Comparisons().difference(results[i], results[j], timed=timed)
            assert alone is not None
            assert found.value == alone.value
            assert found.p == pytest.approx(alone.p, rel=1e-9)
            assert found.interval is not None
            assert alone.interval is not None
            assert found.interval.low == pytest.approx(alone.interval.low, abs=1e-9)
    # Where two did not answer the same cases, each pair has its own.
    first, *others = results
    cut = replace(first, cases=dict(list(first.cases.items())[:20]))
    told = Comparisons().differences([cut, *others], timed=False)
    assert told[0, 1] == Comparisons().difference(cut, others[0], timed=False)

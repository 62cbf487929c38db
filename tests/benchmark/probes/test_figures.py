"""Figures of probes: means over ages, differences on the same questions, intervals that draw sessions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchmark.judges.rubric import Criterion, RubricDimension
from benchmark.probes.figures import ProbeBoard, boards
from benchmark.probes.model import Maker, ProbeType
from benchmark.probes.printing import (
    boards_csv,
    boards_json,
    boards_markdown,
    findings_of,
    print_boards,
    tables_of,
)
from benchmark.probes.records import (
    AskedProbe,
    GoldStatement,
    JudgedStatement,
    LeftContext,
    MeasuredMethod,
    PosedProbe,
    ProbedSession,
    ProbeResult,
    RightAnswer,
)
from benchmark.statements.model import Weight


def asked(session: str, age: int, score: float, *, probe: str = "p", maker: Maker = Maker.HAND) -> AskedProbe:
    criteria = {Criterion.ACCURACY_FACTUAL: score, Criterion.COMPLETENESS_COVERAGE: 5.0}
    return AskedProbe(
        session=session,
        probe=probe,
        type=ProbeType.RECALL,
        made_by=maker,
        at=age,
        age=age,
        score=score,
        criteria=criteria,
        uptake=score < 1,
    )


def result(methods: dict[str, list[AskedProbe]]) -> ProbeResult:
    names = sorted({each.session for found in methods.values() for each in found})
    return ProbeResult(
        timestamp="20261125T030000Z",
        judge="rules, version 1",
        keep_last=4000,
        leaks=0,
        sessions=[
            ProbedSession(name=name, split="dev", sha256="0" * 64, steps=9, cuts=[4, 9], probes={}) for name in names
        ],
        methods=[
            MeasuredMethod(
                method=name,
                budget=2000,
                contexts=[LeftContext(session="a", at=0, tokens=50, tokens_whole=200, seconds=2)],
                asked=found,
            )
            for name, found in methods.items()
        ],
    )


def only_board(found: ProbeResult) -> ProbeBoard:
    (board,) = boards(found)
    return board


def test_every_age_weighs_the_same() -> None:
    """Three probes are asked once, one of them again: who keeps the end alone gets a half, not three quarters."""
    young = [asked("a", 0, 5, probe=name) for name in "pqr"]
    (row,) = only_board(result({"end": [*young, asked("a", 1, 0)]})).rows
    assert row.score.value == 2.5
    assert row.kept == (1.0, 0.0)
    assert row.types[ProbeType.RECALL].value == 2.5
    assert row.uptake == 0.25
    assert (row.ratio, row.seconds) == (4, 2)


def test_what_is_told_in_other_words_stands_beside_the_score() -> None:
    """The score is what it would be without."""
    says = [GoldStatement(says="half up", weight=Weight.VITAL), GoldStatement(says="since 0.4", weight=Weight.OKAY)]
    posed = PosedProbe(
        session="a",
        probe="p",
        type=ProbeType.RECALL,
        made_by=Maker.HAND,
        question="?",
        evidence=[1],
        gold=[RightAnswer(at=0, text="half up", statements=says)],
        must_not=[],
    )
    states = [JudgedStatement(index=0, share=0, reworded=True), JudgedStatement(index=1, share=0)]
    told = [replace(asked("a", 0, 0), statements=states), asked("a", 1, 4)]
    found = replace(result({"m": told, "n": [asked("a", 0, 0), asked("a", 1, 4)]}), probes=[posed])
    shares = {row.method: (row.score.value, row.other_words) for row in only_board(found).rows}
    assert shares == {"m": (2, 0.5), "n": (2, 0)}
    assert {row.other_words for row in only_board(replace(found, probes=[])).rows} == {None}


def test_dimensions_are_means_of_what_is_scored() -> None:
    (row,) = only_board(result({"m": [asked("a", 0, 3)]})).rows
    assert {name: found.value for name, found in row.dimensions.items()} == {
        RubricDimension.ACCURACY: 3,
        RubricDimension.COMPLETENESS: 5,
    }
    assert row.overall.value == 4


@pytest.mark.parametrize(("sessions", "tied"), [("abcd", True), ("abcdefgh", False)])
def test_ranks_need_sessions(sessions: str, tied: bool) -> None:
    good = [asked(name, 0, 4 + number % 2) for number, name in enumerate(sessions)]
    bad = [asked(name, 0, number % 2) for number, name in enumerate(sessions)]
    board = only_board(result({"bad": bad, "good": good}))
    first, second = board.rows
    assert first.rank
    assert second.rank
    assert (first.method, first.rank.tied, second.rank.place) == ("good", tied, 1 if tied else 2)
    assert board.differences["bad 2k", "good 2k"].value == 4
    assert (first.score.interval is None) is tied
    if first.score.interval:
        assert first.score.interval[0] < 4.5 < first.score.interval[1]


def test_words_of_their_own_are_not_ranked_among_copies() -> None:
    """Neither do they change the ranks of others, nor what is told of their differences."""
    scores = {"good": 4, "bad": 0, "recorded": 2}
    made = {
        name: [asked(each, 0, score + n % 2) for n, each in enumerate("abcdefgh")] for name, score in scores.items()
    }
    found = result(made)
    own = [replace(each, own_words=each.method == "recorded") for each in found.methods]
    board = only_board(replace(found, methods=own))
    assert [(row.method, row.rank and row.rank.place) for row in board.rows] == [
        ("good", 1),
        ("bad", 2),
        ("recorded", None),
    ]
    assert board.differences == only_board(replace(found, methods=own[:2])).differences
    # Answers are ranked whatever they were read from.
    answers = [replace(each, asked=[replace(it, answer="so") for it in each.asked]) for each in own]
    assert {row.rank is None for row in only_board(replace(found, methods=answers)).rows} == {False}


def eight(score: float) -> list[AskedProbe]:
    """Return one question to each of eight sessions, answered a little better in every other one."""
    return [asked(name, 0, score + 0.5 * (number % 2)) for number, name in enumerate("abcdefgh")]


def test_draws_of_random_lines_are_one_row() -> None:
    """Its figures are means over the draws; to whom it is compared makes no difference."""
    board = only_board(result({"random-1": eight(0), "m": eight(4), "random-2": eight(1), "random-3": eight(2)}))
    assert (board.asked, board.probes, board.ages) == (8, 8, (8,))
    row = board.rows[1]
    assert (row.label, row.score.value, row.score.count) == ("random 2k", 1.25, 24)
    assert row.uptake == pytest.approx(1 / 3)
    assert (row.ratio, row.seconds) == (4, 2)
    alone = only_board(result({"random-2": eight(1), "m": eight(4)}))
    assert alone.rows[1].score.interval == row.score.interval
    assert alone.rows[1].rank == row.rank
    assert board.differences == {("random 2k", "m 2k"): alone.differences["random 2k", "m 2k"]}


def test_draws_with_an_index_or_another_budget_are_other_rows() -> None:
    found = result({"random-1": eight(0), "random-1+index": eight(2), "random-2": eight(1)})
    others = replace(found.methods[0], budget=4000)
    board = only_board(replace(found, methods=[*found.methods, others]))
    assert {row.label: row.score.value for row in board.rows} == {
        "random 2k": 0.75,
        "random+index 2k": 2.25,
        "random 4k": 0.25,
    }


def test_lift_is_over_the_best_null_with_the_same_budget() -> None:
    scores = {"first": 0, "text-cut": 2, "random-1": 1, "drop": 0, "good": 4, "first+index": 2, "mask": 3, "other": 4}
    found = result({name: eight(score) for name, score in scores.items()})
    budgets = {"mask": None, "other": 1000}
    methods = [replace(each, budget=budgets.get(each.method, 2000)) for each in found.methods]
    board = only_board(replace(found, methods=methods))
    lifts = {row.label: row.lift and (row.lift.over, row.lift.above.value) for row in board.rows}
    assert lifts == {
        "good 2k": ("text-cut 2k", 2),
        "first+index 2k": ("text-cut 2k", 0),
        "drop 2k": ("text-cut 2k", -2),
        "mask": None,
        "other 1k": None,
        "first 2k": None,
        "random 2k": None,
        "text-cut 2k": None,
    }
    # It is the difference of any two methods, whichever was measured first.
    good = next(row.lift for row in board.rows if row.method == "good")
    assert good
    assert good.above == board.differences["text-cut 2k", "good 2k"]
    again = only_board(replace(found, methods=methods[::-1]))
    assert lifts == {row.label: row.lift and (row.lift.over, row.lift.above.value) for row in again.rows}
    assert good.above.p < 0.05
    only_nulls = only_board(result({"first": eight(0), "last": eight(1)}))
    assert {row.lift for row in only_nulls.rows} == {None}


def test_lift_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    made = result({"good": eight(4), "random-1": eight(1), "last": eight(0), "equal": eight(1)})
    board = only_board(made)
    table = next(tables_of(board))
    at = table.header.index("lift")
    assert {row[0]: row[at] for row in table.rows} == {
        "good 2k": "+3.00",
        "random 2k": "-",
        "equal 2k": "+0.00=",
        "last 2k": "-",
    }
    assert "the best of random, first, last and text-cut with the same budget (random 2k)" in table.note
    print_boards(made, [board])
    assert "+3.00" in capsys.readouterr().out
    assert "| +3.00 |" in boards_markdown(made, [board])
    lines = boards_csv([board]).splitlines()
    assert "hand,1,good,2000,lift,3.0,3.0,3.0," in lines
    assert any(line.startswith("hand,1,good,2000,p of lift,0.0") for line in lines)
    assert not any("random,2000,lift" in line for line in lines)
    rows = {row["method"]: row for row in boards_json([board])[0]["rows"]}
    assert rows["good"]["lift_over"] == "random 2k"
    assert rows["good"]["figures"]["lift"] == {"value": 3, "interval": (3, 3)}
    assert rows["last"]["lift_over"] is None
    assert "lift" not in rows["last"]["figures"]
    assert "lift" not in next(tables_of(only_board(result({"good": eight(4)})))).header


def test_makers_have_boards_of_their_own() -> None:
    mixed = [asked("a", 0, 5), asked("a", 0, 0, probe="q", maker=Maker.RULE)]
    assert [(board.maker, board.rows[0].score.value) for board in boards(result({"m": mixed}))] == [
        (Maker.HAND, 5),
        (Maker.RULE, 0),
    ]


def test_the_ends_of_the_scale_have_no_rank_and_budgets_are_ranked_apart() -> None:
    made = {"gold": eight(4.5), "everything": eight(4.4), "mask": eight(4), "anchored": eight(1), "other": eight(0)}
    found = result(made)
    free = [replace(each, budget=None) if number < 3 else each for number, each in enumerate(found.methods)]
    board = only_board(replace(found, methods=free))
    ranks = [(row.method, row.rank and row.rank.place) for row in board.rows]
    assert ranks == [("gold", None), ("everything", None), ("mask", 1), ("anchored", 1), ("other", 2)]
    assert not [pair for pair in board.differences if {"gold", "everything"} & set(pair)]
    note = next(tables_of(board)).note
    assert "gold and everything mark the top of the scale" in note
    assert "another dash" not in note


def test_drift_is_of_the_probes_that_are_asked_at_every_age() -> None:
    often = [replace(asked("a", age, 5 - age), probe="often") for age in (0, 1, 2)]
    once = [replace(asked("a", 0, 0), probe="once"), replace(asked("a", 1, 5), probe="late")]
    board = only_board(result({"m": [*often, *once]}))
    (row,) = board.rows
    assert (board.ages, board.at_every_age) == ((2, 2, 1), 1)
    assert row.kept == pytest.approx((0.5, 0.9, 0.6))
    assert row.kept_of_same == pytest.approx((1, 0.8, 0.6))
    table = list(tables_of(board))[1]
    assert table.header[2:] == ["age 0 (2)", "age 1 (2)", "age 2 (1)", "same, age 0", "same, age 1", "same, age 2"]
    assert "the 1 probe that" in table.note.replace("probes", "probe")


def test_a_shared_rank_with_intervals_apart_has_a_word() -> None:
    scores = {name: eight(score) for name, score in zip("abcdefgh", (0, 0.6, 1.2, 1.8, 2.4, 3, 3.6, 4.2), strict=True)}
    board = only_board(result(scores))
    shared = [row for row in board.rows if row.rank and row.rank.tied]
    note = next(tables_of(board)).note
    assert ("share a rank, although their intervals do not overlap" in note) is bool(shared)


def test_the_finding_names_those_than_which_none_is_better() -> None:
    def found(sessions: str, **scores: float) -> list[str]:
        asked_of = {
            name: [asked(session, 0, score + (0.3 if session in "aceg" else 0)) for session in sessions]
            for name, score in scores.items()
        }
        return list(findings_of(only_board(result(asked_of))))

    limit = "With at most 2,000 tokens for a summary, "
    assert found("abcdefgh", one=3, two=1) == [f"{limit}one 2k keeps the most (3.15 of 5, with 25% of the tokens)."]
    (shared,) = found("abcdefgh", one=3, two=1, three=3)
    assert shared == (
        f"{limit}one 2k and three 2k keep the most; the differences between them are not significant (highest: one 2k, "
        "3.15 of 5, with 25% of the tokens)."
    )
    (few,) = found("abcd", one=3, two=1)
    assert few.startswith(f"{limit}one 2k has the highest score (3.15 of 5")
    assert "fewer than 5 sessions" in few
    # The ends of the scale are found nowhere.
    assert found("abcdefgh", gold=5, one=3) == found("abcdefgh", one=3)

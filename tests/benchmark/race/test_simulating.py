"""Races replayed on boards: what they save, and how often they are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.analysis.race import RaceRules
from benchmark.race.boards import RaceBoard, board_of, drawn_board, with_means
from benchmark.race.mistakes import mistakes
from benchmark.race.simulating import Shuffled, order, orders, right, simulate
from benchmark.record.read import find_results
from ctxsift.errors import InputError
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def board() -> RaceBoard:
    return drawn_board(12, np.random.default_rng(0))


@pytest.mark.parametrize("shuffled", Shuffled)
def test_an_order_holds_every_case_once(board: RaceBoard, shuffled: Shuffled) -> None:
    first, second = orders(board, shuffled, 2, seed=3)
    assert sorted(first) == sorted(second) == list(range(280))
    assert first.tolist() != second.tolist()
    assert first.tolist() == next(orders(board, shuffled, 1, seed=3)).tolist()


def test_captures_stay_together(board: RaceBoard) -> None:
    captures = board.captures[order(board, Shuffled.CAPTURES, np.random.default_rng(1))]
    changes = int((captures[1:] != captures[:-1]).sum())
    assert changes == len(set(board.captures)) - 1


def test_a_stratified_order_takes_intents_in_turn(board: RaceBoard) -> None:
    intents = board.intents[order(board, Shuffled.STRATIFIED, np.random.default_rng(1))]
    rarest = np.bincount(board.intents).min()
    assert all(len(set(intents[start : start + 8])) == 8 for start in range(0, 8 * rarest, 8))


def test_a_race_finds_the_best_for_less_than_asking_everybody(board: RaceBoard) -> None:
    board = with_means(board, np.linspace(0.5, 0.8, 12))
    drawn = list(orders(board, Shuffled.CASES, 20, seed=0))
    exact, wide = simulate(board, [RaceRules(3), RaceRules(3, 0.05)], drawn)
    assert exact.right == exact.same == 1
    assert wide.right == 1
    assert wide.share < exact.share < 0.9
    assert exact.low <= exact.share <= exact.high
    assert exact.even[-1].share == exact.even[-1].right == 1
    assert exact.even_right < 1


def test_right_is_within_the_tolerance() -> None:
    means = np.array([0.9, 0.8, 0.79, 0.1])
    chosen = np.array([[True, True, False, False], [True, False, True, False], [False, True, True, False]])
    assert right(means, chosen, 0.0).tolist() == [True, False, False]
    assert right(means, chosen, 0.01).tolist() == [True, True, False]
    assert right(means, chosen, 0.11).tolist() == [True, True, True]


def test_means_are_what_was_asked_for(board: RaceBoard) -> None:
    means = np.linspace(0.2, 0.9, 12)
    shifted = with_means(board, means)
    assert shifted.means == pytest.approx(means, abs=1e-9)
    assert shifted.scores.min() >= 0
    assert shifted.scores.max() <= 1


@pytest.mark.parametrize("shuffled", Shuffled)
def test_near_ties_are_seldom_decided_wrongly(shuffled: Shuffled) -> None:
    found = list(mistakes(shuffled, runs=20, seed=0))
    assert {(each.tolerance, each.gap) for each in found} >= {(0.0, 0.0), (2.0, 1.0), (2.0, 2.01)}
    # 5% of 20 runs.
    assert all(each.wrong <= (1 if each.gap > each.tolerance else 0) for each in found)


def test_a_board_is_of_cases_that_all_answered() -> None:
    results = find_results([ROOT / "tests" / "data" / "results" / "v2"])
    board = board_of(results * 2)
    assert board.scores.shape[0] == 2 * len(results)
    with pytest.raises(InputError, match="is not enough for a race"):
        board_of(results[:1])

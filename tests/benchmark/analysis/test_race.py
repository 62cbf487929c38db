"""The rule of a race: what is sure, who stops, who is chosen."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.analysis.race import ERROR, RaceResults, RaceRules, Sure, run_races, standing, when_sure
from benchmark.statistics import Floats

CASES = 120


def drawn(means: Floats, seed: int = 0, noise: float = 0.2) -> Floats:
    generator = np.random.default_rng(seed)
    hard = generator.normal(0, 0.1, CASES)
    return np.clip(means[:, np.newaxis] + hard + generator.normal(0, noise, (len(means), CASES)), 0, 1)


def raced(scores: Floats, rules: RaceRules) -> RaceResults:
    return run_races(scores[np.newaxis], Sure.stacked([when_sure(scores, rules)]), rules)


def by_hand(first: Floats, second: Floats, tolerance: float, stake: float) -> int:
    """Return after how many cases the capital that bets on `first` reaches the stake, one bet after the other."""
    gains = first - second
    logarithm = 0.0
    for seen, gain in enumerate(gains):
        before = gains[:seen]
        left = len(gains) - seen
        at_most, tied = ((-mean * len(gains) - before.sum()) / left for mean in (tolerance, 0.0))
        variance = (0.25 + ((before - before.mean()) ** 2).sum() if seen else 0.25) / (seen + 1)
        bet = np.sqrt(2 * stake / (max(variance, 1e-9) * (seen + 1) * np.log(seen + 2)))
        logarithm += np.log1p(min(bet, 0.99 / max(1 + tied, 1e-9)) * (gain - at_most))
        if logarithm >= stake:
            return seen + 1
    return len(gains) + 1


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
def test_the_bets_are_those_of_the_formula(tolerance: float) -> None:
    scores, rules = drawn(np.array([0.8, 0.6, 0.55, 0.3])), RaceRules(1, tolerance)
    sure, stake = when_sure(scores, rules), np.log(1 * 3 / ERROR)
    assert rules.stake(4) == pytest.approx(stake)
    for first in range(4):
        for second in range(4):
            if first != second:
                assert sure.as_good[first, second] == by_hand(scores[first], scores[second], 0.0, stake)
                assert sure.tolerable[first, second] == by_hand(scores[first], scores[second], tolerance, stake)
    assert (sure.tolerable <= sure.as_good).all()
    assert (np.diag(sure.as_good) > CASES).all()


def test_the_capital_of_a_tie_seldom_grows() -> None:
    # Four permutations of the same scores: every pair ties, and the stake is that of 4 pairs.
    claims = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        scores = np.stack([generator.permutation(np.linspace(0, 1, CASES)) for _ in range(4)])
        claims += bool((when_sure(scores, RaceRules(2)).as_good <= CASES).any())
    # 12 directions, of which each may be claimed with a probability of 5% / 4.
    assert claims / 200 <= 12 * ERROR / 4


@pytest.mark.parametrize("alike", [1, 4])
def test_one_pair_of_scores_of_0_and_1_is_wrong_nearly_as_often_as_allowed(alike: int) -> None:
    # Where the bound has the least room: one is right once more than the other. Cases on one capture come out alike,
    # which does no harm as long as they are strewn among the others.
    generator, rules = np.random.default_rng(0), RaceRules(1)
    scores = np.array([_one_more(generator, alike) for _ in range(600)])
    found = run_races(scores, Sure.stacked([when_sure(each, rules) for each in scores]), rules)
    wrong = found.chosen[:, 0].mean()
    # And what 600 runs can tell.
    assert 0.01 < wrong < ERROR + 1.645 * np.sqrt(ERROR * (1 - ERROR) / 600)


def _one_more(generator: np.random.Generator, alike: int) -> Floats:
    captures = np.arange(CASES // alike) % 2
    worse, better = (np.repeat(generator.permutation(captures), alike).astype(float) for _ in range(2))
    better[better.argmin()] = 1
    return np.stack([worse, better])[:, generator.permutation(CASES)]


def test_who_is_far_off_stops_and_who_is_near_is_asked_everything() -> None:
    scores = drawn(np.array([0.8, 0.79, 0.4, 0.3, 0.2]))
    found = raced(scores, RaceRules(1))
    assert (found.asked[0, :2] == CASES).all()
    assert (found.asked[0, 2:] < CASES / 2).all()
    assert found.chosen[0].tolist() == (scores.mean(axis=1) == scores.mean(axis=1).max()).tolist()
    assert not found.waiting.any()


def test_a_sure_winner_is_taken_in_and_stops() -> None:
    found = raced(drawn(np.array([0.95, 0.5, 0.49, 0.48, 0.05])), RaceRules(2))
    assert found.asked[0, 0] < CASES
    assert found.asked[0, 4] < CASES
    assert found.asked[0, 1:4].max() == CASES
    assert found.chosen[0, 0]
    assert found.chosen.sum() == 2


def test_a_tie_within_the_tolerance_needs_no_resolving() -> None:
    scores = drawn(np.array([0.8, 0.795, 0.3]), noise=0.05)
    assert raced(scores, RaceRules(1)).asked[0].max() == CASES
    assert raced(scores, RaceRules(1, 0.05)).asked[0].max() < CASES


@pytest.mark.parametrize("seed", range(5))
def test_whoever_runs_to_the_end_is_placed_by_its_exact_mean(seed: int) -> None:
    scores = drawn(np.full(6, 0.6), seed)
    # Apart by a thousandth.
    scores += (
        0.6 + 0.001 * np.random.default_rng(seed).permutation(6)[:, np.newaxis] - scores.mean(axis=1, keepdims=True)
    )
    found = raced(scores, RaceRules(3))
    assert (found.asked == CASES).all()
    assert set(np.flatnonzero(found.chosen[0])) == set(np.argsort(-scores.mean(axis=1))[:3])


def test_all_of_them_are_no_race() -> None:
    with pytest.raises(ValueError, match="the best 3 of 3 are no race"):
        standing(np.full((3, CASES), 0.5), RaceRules(3))


def test_equal_scenarios_end() -> None:
    found = raced(np.full((4, CASES), 0.5), RaceRules(2))
    assert found.chosen.sum() == 2
    assert (found.asked == CASES).all()


def test_scores_at_the_ends_of_their_range_are_no_fault() -> None:
    found = raced(np.repeat([[1.0], [0.0], [0.0]], CASES, axis=1), RaceRules(1))
    assert found.chosen[0].tolist() == [True, False, False]
    assert found.asked.max() < CASES / 2


def test_a_race_that_goes_on_says_whom_to_ask() -> None:
    rules, scores = RaceRules(2, 0.01), drawn(np.linspace(0.3, 0.8, 6))
    whole = raced(scores, rules)
    answers, rounds = np.full_like(scores, np.nan), 0
    while (found := standing(answers, rules)).waiting.any():
        for scenario in np.flatnonzero(found.waiting[0]):
            until = found.asked[0, scenario]
            answers[scenario, :until] = scores[scenario, :until]
        rounds += 1
    assert 1 < rounds <= CASES / rules.round
    assert (found.asked == whole.asked).all()
    assert (found.chosen == whole.chosen).all()
    assert np.isnan(answers).any()


def test_what_is_behind_a_missing_answer_decides_nothing() -> None:
    scores = drawn(np.array([0.9, 0.5, 0.1]))
    scores[1, 3] = np.nan
    found = standing(scores, RaceRules(1))
    assert found.waiting[0].tolist() == [False, True, False]
    assert found.asked[0].tolist() == [8, 8, 8]
    assert not found.chosen.any()

"""Intervals cover the truth, tests do not cry wolf, and the fast paths agree with the plain ones."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.scoring import bootstrap_final_scores, scenario_score
from benchmark.statistics import (
    DRAWS,
    Difference,
    Floats,
    Interval,
    bootstrap_means,
    difference_of,
    holm,
    interval_of,
    mean,
    percentile,
    resamples,
    row_percentile,
)

RUNS = 1000
CASES = 280
LATENCY_MS = (8.2, 0.5)  # of a log-normal distribution: 3.6 s, as a small model on a laptop has it

# Case scores as they come: many rejected (0), some perfect (1), the rest between.
SHAPES = {"good": (6.0, 1.5, 0.03, 0.25), "middling": (2.0, 2.0, 0.25, 0.08), "poor": (1.2, 4.0, 0.70, 0.0)}


def case_scores(shape: str, size: int, rng: np.random.Generator) -> Floats:
    a, b, zeros, ones = SHAPES[shape]
    scores = rng.beta(a, b, size)
    place = rng.random(size)
    scores[place < zeros] = 0.0
    scores[place > 1 - ones] = 1.0
    return scores


def latencies(size: int, rng: np.random.Generator) -> Floats:
    return rng.lognormal(*LATENCY_MS, size)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_interval_covers_the_truth(shape: str) -> None:
    rng = np.random.default_rng(0)
    everyone = case_scores(shape, 2_000_000, rng)
    mean_latency = float(np.exp(LATENCY_MS[0] + LATENCY_MS[1] ** 2 / 2))
    truth = scenario_score(everyone, mean_latency).final_score
    covered = 0
    for _ in range(RUNS):
        drawn = bootstrap_final_scores(case_scores(shape, CASES, rng), latencies(CASES, rng))
        interval = interval_of(drawn, CASES)
        assert interval is not None
        covered += interval.low <= truth <= interval.high
    print(f"{shape}: the 95 % interval covers the truth in {covered / RUNS:.1%} of {RUNS} runs of {CASES} cases")
    assert 0.93 <= covered / RUNS <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_paired_test_seldom_cries_wolf(shape: str) -> None:
    rng = np.random.default_rng(1)
    alarms = outside = 0
    for _ in range(RUNS):
        common = case_scores(shape, CASES, rng)
        runs = []
        for _ in "AB":
            noise = np.where(common > 0, rng.normal(0, 0.15, CASES), 0.0)
            runs.append((np.clip(common + noise, 0, 1), latencies(CASES, rng)))
        (a, a_ms), (b, b_ms) = runs
        observed = scenario_score(b, mean(b_ms)).final_score - scenario_score(a, mean(a_ms)).final_score
        drawn = bootstrap_final_scores(b, b_ms) - bootstrap_final_scores(a, a_ms)
        difference = difference_of(observed, drawn, CASES)
        assert difference.interval is not None
        alarms += difference.p < 0.05
        outside += not difference.interval.low <= 0 <= difference.interval.high
    print(f"{shape}: equals called different in {alarms / RUNS:.1%} (p) and {outside / RUNS:.1%} (interval) of {RUNS}")
    assert alarms / RUNS <= 0.06
    assert 0.03 <= outside / RUNS <= 0.07


def test_a_real_difference_is_seen() -> None:
    rng = np.random.default_rng(13)
    a = case_scores("middling", CASES, rng)
    b = np.clip(a + 0.05, 0, 1)
    times = latencies(CASES, rng)
    observed = scenario_score(b, mean(times)).final_score - scenario_score(a, mean(times)).final_score
    drawn = bootstrap_final_scores(b, times) - bootstrap_final_scores(a, times)
    difference = difference_of(observed, drawn, CASES)
    assert difference.p < 1e-6
    assert difference.interval is not None
    assert difference.interval.low > 0


def test_equal_runs_do_not_differ() -> None:
    assert difference_of(0.0, np.zeros(DRAWS), CASES) == Difference(0.0, Interval(0.0, 0.0), 1.0)
    assert difference_of(3.0, np.full(DRAWS, 3.0), CASES).p == 0.0


@pytest.mark.parametrize("cases", range(1, 5))
def test_a_handful_of_cases_says_nothing(cases: int) -> None:
    drawn = bootstrap_means(np.full(cases, 7.0))
    assert interval_of(drawn, cases) is None
    assert difference_of(7.0, drawn, cases) == Difference(7.0, None, 1.0)


@pytest.mark.parametrize("cases", [5, 8, 20, 48])
def test_intervals_of_means_hold_in_small_groups(cases: int) -> None:
    rng = np.random.default_rng(16)
    covered = false_alarms = 0
    for _ in range(RUNS):
        values = rng.normal(0.0, 1.0, cases)
        drawn = bootstrap_means(values)
        interval = interval_of(drawn, cases)
        assert interval is not None
        covered += interval.low <= 0 <= interval.high
        false_alarms += difference_of(mean(values), drawn, cases).p < 0.05
    print(f"{cases} cases: covered {covered / RUNS:.1%}, false alarms {false_alarms / RUNS:.1%} of {RUNS}")
    assert covered / RUNS >= 0.91
    assert false_alarms / RUNS <= 0.07


def test_bootstrap_of_final_scores_is_the_formula_on_every_sample() -> None:
    rng = np.random.default_rng(14)
    scores, times = case_scores("middling", 30, rng), latencies(30, rng)
    drawn = bootstrap_final_scores(scores, times)
    for row, final in list(zip(resamples(30), drawn, strict=True))[:50]:
        assert final == pytest.approx(scenario_score(scores[row], mean(times[row])).final_score, abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 11, 280])
@pytest.mark.parametrize("percent", [0, 10, 50, 95, 100])
def test_row_percentile_is_the_percentile(size: int, percent: float) -> None:
    rows = np.random.default_rng(15).random((20, size))
    expected = [percentile(row, percent) for row in rows]
    assert row_percentile(rows, percent) == pytest.approx(expected, abs=1e-12)


def test_resamples_are_seeded_and_shared() -> None:
    assert resamples(9) is resamples(9)
    assert (resamples(9, seed=1) != resamples(9)).any()
    assert resamples(9).shape == (DRAWS, 9)
    assert (bootstrap_means([0.0, 1.0, 1.0]) == bootstrap_means([0.0, 1.0, 1.0])).all()


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.5, 0.001, 0.02, 0.6], [1.0, 0.004, 0.06, 1.0]),
    ],
)
def test_holm(p_values: list[float], corrected: list[float]) -> None:
    assert holm(p_values) == pytest.approx(corrected)


def test_nothing_has_no_mean() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean([])
    with pytest.raises(ValueError, match="no values"):
        percentile([], 10)

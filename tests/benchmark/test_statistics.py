"""Intervals cover the truth, tests do not cry wolf, and the fast paths agree with the plain ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from benchmark.cases import Corpus
from benchmark.scoring import bootstrap_final_scores, scenario_score
from benchmark.statistics import (
    DRAWS,
    Clusters,
    Difference,
    Floats,
    Interval,
    _tails,
    bootstrap_means,
    bootstrap_percentiles,
    difference_of,
    differences_of,
    holm,
    interval_of,
    mean,
    paired_difference,
    percentile,
    resamples,
)
from tests.support.depth import depth

RUNS = depth(150, 1000)
# Of means in small groups, which take little time.
SMALL_RUNS = 1000
CASES = 280
LATENCY_MS = (8.2, 0.5)  # of a log-normal distribution: 3.6 s, as a small model on a laptop has it

# Case scores as they come: many rejected (0), some perfect (1), the rest between.
SHAPES = {"good": (6.0, 1.5, 0.03, 0.25), "middling": (2.0, 2.0, 0.25, 0.08), "poor": (1.2, 4.0, 0.70, 0.0)}
# Intraclass correlation: how alike the cases on one capture come out.
LITTLE, MUCH = ALIKE = (0.2, 0.5)


@pytest.fixture(scope="module")
def captures(corpus: Corpus) -> Clusters:
    """The captures of the packaged corpus."""
    found = Clusters.of(case.capture.name for case in corpus.cases)
    assert len(found.labels) == CASES
    return found


def alone(size: int) -> Clusters:
    """Return clusters of one value each: a bootstrap of cases."""
    return Clusters.of(range(size))


def of_sizes(*sizes: int) -> Clusters:
    return Clusters.of(np.repeat(np.arange(len(sizes)), sizes).tolist())


def case_scores(shape: str, size: int, rng: np.random.Generator) -> Floats:
    a, b, zeros, ones = SHAPES[shape]
    scores = rng.beta(a, b, size)
    place = rng.random(size)
    scores[place < zeros] = 0.0
    scores[place > 1 - ones] = 1.0
    return scores


def latencies(size: int, rng: np.random.Generator) -> Floats:
    return rng.lognormal(*LATENCY_MS, size)


def correlated(
    draw: Callable[[int], Floats], clusters: Clusters, correlation: float, rng: np.random.Generator
) -> Floats:
    """Return values of the distribution that `draw` draws from, with that correlation within clusters.

    A value is its cluster's with probability sqrt(correlation), so two are the same one with probability `correlation`.
    """
    size = len(clusters.labels)
    shared = rng.random(size) < correlation**0.5
    return np.where(shared, draw(clusters.count)[list(clusters.labels)], draw(size))


def one_run(shape: str, captures: Clusters, correlation: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return case scores and latencies of a run over the corpus."""
    return (
        correlated(lambda size: case_scores(shape, size, rng), captures, correlation, rng),
        correlated(lambda size: latencies(size, rng), captures, correlation, rng),
    )


def equal_runs(
    shape: str, captures: Clusters, correlation: float, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the runs of two models that are equally good: each does better than the other on captures of its own."""
    common, _ = one_run(shape, captures, correlation, rng)
    for _ in "AB":
        noise = correlated(lambda size: rng.normal(0, 0.15, size), captures, correlation, rng)
        times = correlated(lambda size: latencies(size, rng), captures, correlation, rng)
        yield np.clip(common + np.where(common > 0, noise, 0.0), 0, 1), times


def by_chance(runs: int) -> float:
    """Return how far a share of 95% (or 5%) may lie off in so many runs: three standard deviations."""
    return float(3 * (0.95 * 0.05 / runs) ** 0.5)


def drawing(captures: Clusters, correlation: float) -> dict[str, Clusters]:
    """Return what to draw: captures; and cases, to see it fail where they are much alike."""
    return {"captures": captures} | ({"cases": alone(CASES)} if correlation == MUCH else {})


def difference(a: tuple[Floats, Floats], b: tuple[Floats, Floats], clusters: Clusters) -> Difference:
    """Return how far the final score of run B lies above that of run A."""
    ours, theirs = (scenario_score(scores, mean(times)).final_score for scores, times in (a, b))
    return difference_of(
        theirs - ours, bootstrap_final_scores(*b, clusters) - bootstrap_final_scores(*a, clusters), clusters
    )


def test_correlated_values_are_correlated_and_keep_their_distribution() -> None:
    rng = np.random.default_rng(20)
    pairs = of_sizes(*[2] * 200_000)
    for correlation in ALIKE:
        values = correlated(lambda size: case_scores("middling", size, rng), pairs, correlation, rng)
        assert np.corrcoef(values[::2], values[1::2])[0, 1] == pytest.approx(correlation, abs=0.01)
        assert mean(values) == pytest.approx(mean(case_scores("middling", 400_000, rng)), abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", ALIKE)
def test_the_interval_covers_the_truth(correlation: float, captures: Clusters) -> None:
    rng = np.random.default_rng(0)
    mean_latency = float(np.exp(LATENCY_MS[0] + LATENCY_MS[1] ** 2 / 2))
    ways = drawing(captures, correlation)
    covered = {drawn: dict.fromkeys(SHAPES, 0) for drawn in ways}
    for shape in SHAPES:
        truth = scenario_score(case_scores(shape, 2_000_000, rng), mean_latency).final_score
        for _ in range(RUNS):
            run = one_run(shape, captures, correlation, rng)
            for drawn, clusters in ways.items():
                interval = interval_of(bootstrap_final_scores(*run, clusters), clusters)
                assert interval is not None
                covered[drawn][shape] += interval.low <= truth <= interval.high
    print(f"correlation {correlation}: 95% intervals cover the truth in {covered}, each of {RUNS} runs")
    for shape, count in covered["captures"].items():
        assert abs(count / RUNS - 0.95) <= by_chance(RUNS), shape
    shares = {drawn: sum(counts.values()) / (RUNS * len(SHAPES)) for drawn, counts in covered.items()}
    assert abs(shares["captures"] - 0.95) <= by_chance(RUNS * len(SHAPES))
    if "cases" in shares:
        # It is as sure as if each case told something of its own; were cases drawn, the line above would fail.
        assert shares["cases"] < min(0.92, 0.95 - by_chance(RUNS * len(SHAPES)))


@pytest.mark.slow
@pytest.mark.parametrize("correlation", ALIKE)
def test_the_paired_test_seldom_cries_wolf(correlation: float, captures: Clusters) -> None:
    rng = np.random.default_rng(1)
    ways = drawing(captures, correlation)
    alarms, outside = ({drawn: dict.fromkeys(SHAPES, 0) for drawn in ways} for _ in "AB")
    for shape in SHAPES:
        for _ in range(RUNS):
            a, b = equal_runs(shape, captures, correlation, rng)
            for drawn, clusters in ways.items():
                found = difference(a, b, clusters)
                assert found.interval is not None
                alarms[drawn][shape] += found.p < 0.05
                outside[drawn][shape] += not found.interval.low <= 0 <= found.interval.high
    print(f"correlation {correlation}: equals called different (p) in {alarms}, (interval) {outside} of {RUNS} runs")
    for shape in SHAPES:
        assert alarms["captures"][shape] / RUNS <= 0.05 + by_chance(RUNS), shape
        assert abs(outside["captures"][shape] / RUNS - 0.05) <= by_chance(RUNS), shape
    total, chance = RUNS * len(SHAPES), by_chance(RUNS * len(SHAPES))
    shares = {drawn: [sum(found[drawn].values()) / total for found in (alarms, outside)] for drawn in ways}
    assert shares["captures"][0] <= 0.05 + chance
    assert abs(shares["captures"][1] - 0.05) <= chance
    if "cases" in shares:
        # Were cases drawn, twice as many as promised would be false alarms, or nearly.
        assert min(shares["cases"]) > max(shares["captures"]) + chance


def test_drawing_cases_would_take_copies_for_evidence() -> None:
    rng = np.random.default_rng(21)
    values = rng.random(40)
    copies, thrice = np.repeat(values, 3), of_sizes(*[3] * 40)
    assert bootstrap_means(copies, thrice) == pytest.approx(bootstrap_means(values, alone(40)))
    once, again = (
        interval_of(bootstrap_means(values, alone(40)), alone(40)),
        interval_of(bootstrap_means(copies, thrice), thrice),
    )
    wrong = interval_of(bootstrap_means(copies, alone(120)), alone(120))
    assert once is not None
    assert again is not None
    assert wrong is not None
    assert (again.low, again.high) == pytest.approx((once.low, once.high))
    assert wrong.high - wrong.low < 0.65 * (once.high - once.low)


def test_a_real_difference_is_seen(captures: Clusters) -> None:
    rng = np.random.default_rng(13)
    scores, times = one_run("middling", captures, 0.5, rng)
    found = difference((scores, times), (np.clip(scores + 0.05, 0, 1), times), captures)
    assert found.p < 1e-6
    assert found.interval is not None
    assert found.interval.low > 0


def test_equal_runs_do_not_differ(captures: Clusters) -> None:
    assert difference_of(0.0, np.zeros(DRAWS), captures) == Difference(0.0, Interval(0.0, 0.0), 1.0)
    assert difference_of(3.0, np.full(DRAWS, 3.0), captures).p == 0.0


@pytest.mark.parametrize("sizes", [(), (1,), (1, 1), (1, 1, 1, 1), (3, 3, 3, 3), (280, 1, 1, 1)])
def test_a_handful_of_captures_says_nothing(sizes: tuple[int, ...]) -> None:
    clusters = of_sizes(*sizes)
    drawn = np.full(DRAWS, 7.0)
    assert interval_of(drawn, clusters) is None
    assert difference_of(7.0, drawn, clusters) == Difference(7.0, None, 1.0)


@pytest.mark.parametrize(
    "sizes",
    [
        (1,) * 5,
        (1,) * 8,
        (1,) * 20,
        (1,) * 48,
        (3,) * 5,
        (2, 1, 1, 1, 1),
        (3, 2, 2, 1, 1, 1, 1, 1),
        (3,) * 6 + (1,) * 30,
        # One capture holds half of the cases: that many cases tell little.
        (10,) + (1,) * 10,
    ],
)
@pytest.mark.slow
def test_intervals_of_means_hold_in_small_groups(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(16)
    clusters = of_sizes(*sizes)
    covered = false_alarms = 0
    for _ in range(SMALL_RUNS):
        values = correlated(lambda size: rng.normal(0.0, 1.0, size), clusters, 0.5, rng)
        drawn = bootstrap_means(values, clusters)
        interval = interval_of(drawn, clusters)
        assert interval is not None
        covered += interval.low <= 0 <= interval.high
        false_alarms += difference_of(mean(values), drawn, clusters).p < 0.05
    print(f"{sizes}: covered {covered / SMALL_RUNS:.1%}, false alarms {false_alarms / SMALL_RUNS:.1%} of {SMALL_RUNS}")
    assert covered / SMALL_RUNS >= (0.89 if len(sizes) < 8 else 0.93)
    assert false_alarms / SMALL_RUNS <= 0.07


# Cases of one capture need not stand together, and scores are often equal.
MIXED = Clusters.of("abcadbeacfgg")


def replicated(values: Floats, clusters: Clusters) -> Iterator[Floats]:
    """Yield the bootstrap samples, written out: each drawn capture brings all its cases."""
    members = [np.flatnonzero(np.asarray(clusters.labels) == label) for label in range(clusters.count)]
    for row in resamples(clusters.count):
        yield values[np.concatenate([members[label] for label in row])]


@pytest.mark.parametrize("clusters", [MIXED, of_sizes(1), of_sizes(4), of_sizes(1, 3), of_sizes(*[1] * 11)])
@pytest.mark.slow
def test_draws_are_those_of_the_samples_written_out(clusters: Clusters) -> None:
    rng = np.random.default_rng(15)
    for values in (rng.random(len(clusters.labels)), rng.integers(0, 3, len(clusters.labels)) / 2):
        samples = list(replicated(values, clusters))
        assert bootstrap_means(values, clusters) == pytest.approx([mean(s) for s in samples], abs=1e-12)
        for percent in (0, 10, 50, 95, 100):
            expected = [percentile(sample, percent) for sample in samples]
            drawn = bootstrap_percentiles(values, percent, clusters)
            assert drawn == pytest.approx(expected, abs=1e-12), f"percentile {percent}"


def test_bootstrap_of_final_scores_is_the_formula_on_every_sample(captures: Clusters) -> None:
    rng = np.random.default_rng(14)
    for clusters in (MIXED, captures):
        size = len(clusters.labels)
        scores, times = case_scores("middling", size, rng), latencies(size, rng)
        drawn = bootstrap_final_scores(scores, times, clusters)
        samples = zip(replicated(scores, clusters), replicated(times, clusters), strict=True)
        for (some, some_times), final in list(zip(samples, drawn, strict=True))[:50]:
            assert final == pytest.approx(scenario_score(some, mean(some_times)).final_score, abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 11, 280])
def test_captures_of_one_case_are_cases(size: int) -> None:
    """Their draws are, to the last bit, those of a bootstrap of cases."""
    values = np.random.default_rng(17).random(size)
    samples = values[resamples(size)]
    assert (bootstrap_means(values, alone(size)) == samples.mean(axis=1)).all()
    place = (size - 1) * 10 / 100
    low = int(place)
    ranked = np.sort(samples, axis=1)
    above = ranked[:, min(low + 1, size - 1)]
    tenth = ranked[:, low] + (place - low) * (above - ranked[:, low])
    assert (bootstrap_percentiles(values, 10, alone(size)) == tenth).all()


def test_resamples_are_seeded_and_shared() -> None:
    assert resamples(9) is resamples(9)
    assert (resamples(9, seed=1) != resamples(9)).any()
    assert resamples(9).shape == (DRAWS, 9)
    # Two figures of the same cases move together: their difference has no spread where they differ by a constant.
    values = np.random.default_rng(18).random(len(MIXED.labels))
    assert np.ptp(bootstrap_means(values + 0.25, MIXED) - bootstrap_means(values, MIXED)) < 1e-12
    apart = bootstrap_percentiles(values + 0.25, 10, MIXED) - bootstrap_percentiles(values, 10, MIXED)
    assert np.ptp(apart) < 1e-12


def test_clusters_are_numbered_as_they_appear() -> None:
    assert Clusters.of(["b", "a", "b", ("c", 1)]).labels == (0, 1, 0, 2)
    assert Clusters.of([]).count == 0
    assert MIXED.count == 7
    assert MIXED.sizes.tolist() == [3, 2, 2, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("sizes", "effective"), [((), 0), ((7,), 1), ((1,) * 9, 9), ((3,) * 9, 9), ((2, 1, 1), 16 / 6), ((98, 1, 1), 1.041)]
)
def test_the_effective_number_is_lower_where_sizes_differ(sizes: tuple[int, ...], effective: float) -> None:
    assert of_sizes(*sizes).effective_count == pytest.approx(effective, abs=1e-3)


@pytest.mark.parametrize(
    ("ours", "theirs", "joined"),
    [
        ("aabb", "xxyy", "0011"),
        ("abcd", "wxyz", "0123"),
        ("abcd", "xyyz", "0112"),
        ("aabc", "xyyz", "0001"),
        ("abab", "xyzz", "0000"),
        ("abcdab", "xyxzww", "000100"),
        ("aabbcc", "xyyzzw", "000000"),
    ],
)
def test_joined_clusters_keep_together_what_either_keeps_together(ours: str, theirs: str, joined: str) -> None:
    expected = tuple(map(int, joined))
    assert Clusters.of(ours).joined(Clusters.of(theirs)).labels == expected
    assert Clusters.of(theirs).joined(Clusters.of(ours)).labels == expected


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


def test_scores_of_two_runs_are_paired_by_unit_and_drawn_by_cluster() -> None:
    rng = np.random.default_rng(3)
    a = {f"{cluster}/{n}": (float(rng.random()), cluster) for cluster in "abcdefgh" for n in range(3)}
    b = {unit: (score + 0.1 + 0.01 * float(rng.random()), cluster) for unit, (score, cluster) in a.items()}
    found = paired_difference(a, b | {"only/b": (9.0, "x")})
    assert found is not None
    assert found.value == pytest.approx(0.105, abs=0.002)
    assert found.interval is not None
    assert 0.1 < found.interval.low < found.value < found.interval.high < 0.11
    assert found.p < 1e-6
    back = paired_difference(b, a)
    assert back is not None
    assert back.value == pytest.approx(-found.value)
    # Whatever either holds together is drawn together: eight clusters become two.
    halves = {unit: (score, unit < "e") for unit, (score, _) in a.items()}
    joined = paired_difference(halves, b)
    assert joined is not None
    assert joined.interval is None
    assert paired_difference(a, {"other": (1.0, "a")}) is None


def test_ends_of_intervals_are_the_percentiles_of_numpy_to_the_last_digit() -> None:
    rng, clusters = np.random.default_rng(5), alone(40)
    for drawn in (rng.normal(size=DRAWS), rng.integers(0, 4, DRAWS).astype(float), np.zeros(DRAWS)):
        interval = interval_of(drawn, clusters)
        assert interval is not None
        tails = _tails(clusters)
        assert (interval.low, interval.high) == tuple(np.percentile(drawn, tails).tolist())
        (together,) = differences_of([0.0], drawn[np.newaxis], clusters)
        assert together == difference_of(0.0, drawn, clusters)
        assert together.interval == interval

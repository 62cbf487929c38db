"""Many results against each other: ranks with ties."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.analysis.comparison import MOST, Comparisons, beyond_chance, time_scale
from benchmark.record.read import StoredResult
from benchmark.scoring import scenario_score
from benchmark.statistics import Difference, corrected, mean


def _observed(result: StoredResult, timed: bool) -> float:
    cases = result.cases.values()
    observed_ms = time_scale(result) * mean([case.time_ms for case in cases]) if timed else 0.0
    return scenario_score([case.score for case in cases], observed_ms).final_score


@dataclass(frozen=True)
class Rank:
    """A place on a leaderboard.

    Attributes:
        place: 1 + the number of results that are significantly better.
        tied: at least one other result cannot be told from this one.

    """

    place: int
    tied: bool


@dataclass(frozen=True)
class Ranking:
    """Results against each other.

    Attributes:
        results: in the order they were given.
        scores: of each, over all its cases.
        ranks: a rank for each.
        differences: (i, j), i < j -> score of j minus that of i on shared cases, corrected for all pairs (Holm).

    """

    results: tuple[StoredResult, ...]
    scores: tuple[float, ...]
    ranks: tuple[Rank, ...]
    differences: dict[tuple[int, int], Difference]


def rank_results(
    results: Sequence[StoredResult], *, timed: bool = False, comparisons: Comparisons | None = None
) -> Ranking:
    """Rank results by quality core (with latency if `timed`); who cannot be told apart on shared cases ties.

    Results that share no case, or are of different corpora or scorers, are not compared, and so tie. `comparisons` may
    know some of them already.
    """
    comparisons = comparisons or Comparisons()
    alone = comparisons.differences(results, timed=timed)
    differences = dict(zip(alone, corrected(list(alone.values()), most=MOST), strict=True))
    ranks = ranks_of(len(results), differences)
    scores = tuple(_observed(result, timed) if result.cases else 0.0 for result in results)
    return Ranking(tuple(results), scores, ranks, differences)


def ranks_of(count: int, differences: Mapping[tuple[int, int], Difference]) -> tuple[Rank, ...]:
    """Return a rank for each of `count` rivals; those whose difference is missing or within chance tie.

    Args:
        count: of the rivals.
        differences: (i, j), i < j -> score of j minus that of i, its p corrected for all pairs.

    """
    places, tied = [1] * count, [False] * count
    for i, j in itertools.combinations(range(count), 2):
        difference = differences.get((i, j))
        if difference is None or not beyond_chance(difference):
            tied[i] = tied[j] = True
        else:
            places[i if difference.value > 0 else j] += 1
    return tuple(Rank(place, tie) for place, tie in zip(places, tied, strict=True))

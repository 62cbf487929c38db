"""Two results on the cases they share, and many results as a leaderboard with ties."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmark.scoring import bootstrap_final_scores, scenario_score
from benchmark.statistics import Difference, Floats, bootstrap_means, difference_of, holm, mean
from benchmark.stored import StoredCase, StoredResult
from ctxsift.errors import InputError

# One point of a hundred: closer scores of a case are a tie.
TIE = 0.01
ALPHA = 0.05


def beyond_chance(difference: Difference) -> bool:
    """Say whether a difference is more than chance: its p value is below 0.05 and its interval does not hold 0."""
    interval = difference.interval
    return interval is not None and difference.p < ALPHA and not interval.low <= 0 <= interval.high


@dataclass(frozen=True)
class Figure:
    """One figure of both results on the shared cases."""

    name: str
    a: float
    b: float
    difference: Difference


@dataclass(frozen=True)
class Group:
    """The mean case scores of both results, 0 to 100, in one group of cases."""

    name: str
    case_count: int
    a: float
    b: float
    difference: Difference


@dataclass(frozen=True)
class Comparison:
    """B against A.

    Attributes:
        shared: ids of the cases both answered.
        only_a, only_b: cases that only one of them answered; they are left out.
        figures: final score first, then raw, lift and quality (the score without latency), 0 to 100.
        wins, losses, ties: cases where B is better, worse, or less than a point away.
        won, lost: cases that only B, or only A, passed (usable, with every anchor).
        intents: per intent, as far as the files tell it; their p values are corrected for each other (Holm).

    """

    a: StoredResult
    b: StoredResult
    shared: tuple[str, ...]
    only_a: int
    only_b: int
    figures: tuple[Figure, ...]
    wins: int
    losses: int
    ties: int
    won: tuple[str, ...]
    lost: tuple[str, ...]
    intents: tuple[Group, ...]

    def difference(self, name: str) -> Difference:
        """Return the difference of the figure `name` (final, raw, lift or quality)."""
        return next(figure.difference for figure in self.figures if figure.name == name)


def compare(a: StoredResult, b: StoredResult) -> Comparison:
    """Compare two results case by case. Raises InputError when they share no case."""
    shared = tuple(sorted(a.cases.keys() & b.cases.keys()))
    if not shared:
        raise InputError(f"{a.path} and {b.path}", "share no answered case", "compare runs over the same corpus")
    ours, theirs = [a.cases[case] for case in shared], [b.cases[case] for case in shared]
    gains = [y.score - x.score for x, y in zip(ours, theirs, strict=True)]
    return Comparison(
        a=a,
        b=b,
        shared=shared,
        only_a=len(a.cases) - len(shared),
        only_b=len(b.cases) - len(shared),
        figures=_figures(ours, theirs),
        wins=sum(gain >= TIE for gain in gains),
        losses=sum(gain <= -TIE for gain in gains),
        ties=sum(abs(gain) < TIE for gain in gains),
        won=tuple(y.case_id for x, y in zip(ours, theirs, strict=True) if y.passed and not x.passed),
        lost=tuple(x.case_id for x, y in zip(ours, theirs, strict=True) if x.passed and not y.passed),
        intents=_intents(ours, theirs),
    )


def _figures(ours: Sequence[StoredCase], theirs: Sequence[StoredCase]) -> tuple[Figure, ...]:
    finals = [_score(cases) for cases in (ours, theirs)]
    raws = [_score(cases, raw=True) for cases in (ours, theirs)]
    lifts = [(final[0] - raw[0], final[1] - raw[1]) for final, raw in zip(finals, raws, strict=True)]
    qualities = [_score(cases, timed=False) for cases in (ours, theirs)]
    named = {"final": finals, "raw": raws, "lift": lifts, "quality": qualities}
    return tuple(
        Figure(name, a, b, difference_of(b - a, b_draws - a_draws, len(ours)))
        for name, ((a, a_draws), (b, b_draws)) in named.items()
    )


def _score(cases: Sequence[StoredCase], *, raw: bool = False, timed: bool = True) -> tuple[float, Floats]:
    """Return a final score, with or without its latency factor, and its bootstrap distribution."""
    scores = [case.raw_score if raw else case.score for case in cases]
    times_ms = [case.time_ms if timed else 0.0 for case in cases]
    return _observed(cases, raw=raw, timed=timed), bootstrap_final_scores(scores, times_ms)


def _observed(cases: Sequence[StoredCase], *, raw: bool = False, timed: bool = True) -> float:
    scores = [case.raw_score if raw else case.score for case in cases]
    return scenario_score(scores, mean([case.time_ms if timed else 0.0 for case in cases])).final_score


def _intents(ours: Sequence[StoredCase], theirs: Sequence[StoredCase]) -> tuple[Group, ...]:
    groups: dict[str, list[tuple[float, float]]] = {}
    for x, y in zip(ours, theirs, strict=True):
        if "intent" in x.group:
            groups.setdefault(x.group["intent"], []).append((100 * x.score, 100 * y.score))
    found: list[Group] = []
    for name, pairs in sorted(groups.items()):
        a, b = mean([x for x, _ in pairs]), mean([y for _, y in pairs])
        gains = bootstrap_means([y - x for x, y in pairs])
        found.append(Group(name, len(pairs), a, b, difference_of(b - a, gains, len(pairs))))
    corrected = holm([group.difference.p for group in found])
    return tuple(
        replace(group, difference=replace(group.difference, p=p)) for group, p in zip(found, corrected, strict=True)
    )


@dataclass(frozen=True)
class Rank:
    """A place on a leaderboard.

    Attributes:
        place: 1 + the number of results that are better beyond chance.
        tied: at least one other result cannot be told from this one.

    """

    place: int
    tied: bool

    def __str__(self) -> str:
        return f"{self.place}{'=' if self.tied else ''}"


@dataclass(frozen=True)
class Leaderboard:
    """Results against each other.

    Attributes:
        results: in the order they were given.
        scores: of each, over all its cases.
        ranks: a rank for each.
        differences: (i, j), i < j -> score of j minus that of i on shared cases, its p corrected for all pairs (Holm).

    """

    results: tuple[StoredResult, ...]
    scores: tuple[float, ...]
    ranks: tuple[Rank, ...]
    differences: dict[tuple[int, int], Difference]


def leaderboard(results: Sequence[StoredResult], *, timed: bool = True) -> Leaderboard:
    """Rank results by final score (without latency unless `timed`); who cannot be told apart on shared cases ties.

    Results that share no case are not compared, and so tie.
    """
    draws = _Draws(results, timed)
    pairs = list(itertools.combinations(range(len(results)), 2))
    alone = {pair: found for pair in pairs if (found := draws.difference(*pair)) is not None}
    corrected = holm([difference.p for difference in alone.values()])
    differences = {pair: replace(found, p=p) for (pair, found), p in zip(alone.items(), corrected, strict=True)}
    places, tied = [1] * len(results), [False] * len(results)
    for i, j in pairs:
        difference = differences.get((i, j))
        if difference is None or not beyond_chance(difference):
            tied[i] = tied[j] = True
        else:
            places[i if difference.value > 0 else j] += 1
    ranks = tuple(Rank(place, tie) for place, tie in zip(places, tied, strict=True))
    scores = tuple(_observed(list(result.cases.values()), timed=timed) if result.cases else 0.0 for result in results)
    return Leaderboard(tuple(results), scores, ranks, differences)


class _Draws:
    """Bootstrap distributions of final scores, drawn once for all results with the same cases."""

    def __init__(self, results: Sequence[StoredResult], timed: bool) -> None:
        self._results, self._timed = results, timed
        self._known: dict[tuple[int, tuple[str, ...]], tuple[float, Floats]] = {}

    def difference(self, i: int, j: int) -> Difference | None:
        shared = tuple(sorted(self._results[i].cases.keys() & self._results[j].cases.keys()))
        if not shared:
            return None
        (a, a_draws), (b, b_draws) = self._of(i, shared), self._of(j, shared)
        return difference_of(b - a, b_draws - a_draws, len(shared))

    def _of(self, index: int, shared: tuple[str, ...]) -> tuple[float, Floats]:
        if (index, shared) not in self._known:
            cases = [self._results[index].cases[case] for case in shared]
            self._known[index, shared] = _score(cases, timed=self._timed)
        return self._known[index, shared]

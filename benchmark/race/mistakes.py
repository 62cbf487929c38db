"""How often races are wrong where it is hardest: ties, and differences about as large as the tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmark.analysis.race import RaceRules, Sure, run_races, when_sure
from benchmark.race.boards import drawn_board, with_means
from benchmark.race.simulating import Shuffled, order, right

RUNS = 1000
_SCENARIOS, _TOP = 8, 3
_MEAN, _POINT = 0.7, 0.01
# Just above the tolerance: what is left out then is better by too much.
_ABOVE = 0.01
TRIED = (
    *((0.0, gap) for gap in (0.0, _ABOVE)),
    *((1.0, gap) for gap in (0.0, 0.5, 1 + _ABOVE)),
    *((2.0, gap) for gap in (0.0, 1.0, 2 + _ABOVE)),
)


@dataclass(frozen=True)
class Mistakes:
    """Races on boards of one kind, each drawn anew.

    Attributes:
        tolerance, gap: in points of 100; the best K are better than the others by the gap, and equal among themselves.
        share: mean share of all generations that were asked, 0 to 1.
        early: share of the runs in which somebody stopped before the last case.
        wrong: runs in which a chosen one was worse than one left out by more than the tolerance.

    """

    shuffled: Shuffled
    tolerance: float
    gap: float
    runs: int
    share: float
    early: float
    wrong: int


def mistakes(shuffled: Shuffled, runs: int, seed: int) -> Iterator[Mistakes]:
    """Yield how often races are wrong for each tolerance and gap that is tried."""
    for tolerance, gap in TRIED:
        yield _mistakes(shuffled, tolerance, gap, runs, np.random.default_rng(seed))


def _mistakes(shuffled: Shuffled, tolerance: float, gap: float, runs: int, generator: np.random.Generator) -> Mistakes:
    means = np.where(np.arange(_SCENARIOS) < _TOP, _MEAN + gap * _POINT, _MEAN)
    rules = RaceRules(_TOP, tolerance * _POINT)
    boards = (with_means(drawn_board(_SCENARIOS, generator), means) for _ in range(runs))
    scores = np.stack([board.scores[:, order(board, shuffled, generator)] for board in boards])
    # The best stand anywhere: where all is equal, the first are taken.
    places = generator.permutation(_SCENARIOS)
    scores, means = scores[:, places], means[places]
    races = run_races(scores, Sure.stacked([when_sure(each, rules) for each in scores]), rules)
    return Mistakes(
        shuffled=shuffled,
        tolerance=tolerance,
        gap=gap,
        runs=runs,
        share=float(races.asked.mean()) / scores.shape[2],
        early=float((races.asked < scores.shape[2]).any(axis=1).mean()),
        wrong=int((~right(means, races.chosen, rules.tolerance)).sum()),
    )

"""Races over stored scores in many orders: what is asked, and whether the best are found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

import numpy as np

from benchmark.analysis.race import Flags, RaceRules, Sure, Whole, run_races, when_sure
from benchmark.race.boards import RaceBoard
from benchmark.statistics import Floats, mean, percentile

# Sums of floats in another order.
_ROUNDING = 1e-9
_TAIL = 5


class Shuffled(StrEnum):
    """What an order is drawn of."""

    CASES = auto()
    # As a run orders them: in turn one of each intent.
    STRATIFIED = auto()
    # Cases on one capture stay together, which is what a race does not allow for.
    CAPTURES = auto()


@dataclass(frozen=True)
class Even:
    """Everybody asked the same cases, and the best K of that taken.

    Attributes:
        share: of all cases, 0 to 1.
        right: share of the orders in which these are the best within the tolerance.

    """

    share: float
    right: float


@dataclass(frozen=True)
class Simulated:
    """Races of one kind over many orders.

    Attributes:
        tolerance: as a case score, 0 to 1.
        share: mean share of all generations that were asked, 0 to 1.
        low, high: in all but 5% of the orders it was at least, or at most, that much.
        right: share of the orders in which no chosen one was worse than one left out by more than the tolerance.
        same: share of the orders in which the chosen were the best K of the full board.
        even: what comes of asking everybody the same, round by round.

    """

    top: int
    tolerance: float
    orders: int
    share: float
    low: float
    high: float
    right: float
    same: float
    even: tuple[Even, ...]

    @property
    def even_right(self) -> float:
        """How often the best are found if the same number of generations is spread evenly, rounded up."""
        return next(each.right for each in self.even if each.share >= min(self.share, 1))


def orders(board: RaceBoard, shuffled: Shuffled, count: int, seed: int) -> Iterator[Whole]:
    """Yield `count` orders of the cases of a board."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        yield order(board, shuffled, generator)


def order(board: RaceBoard, shuffled: Shuffled, generator: np.random.Generator) -> Whole:
    """Return one order of the cases of a board."""
    drawn = generator.permutation(len(board.captures))
    if shuffled is Shuffled.CAPTURES:
        places = generator.permutation(board.captures.max() + 1)[board.captures[drawn]]
        return drawn[np.argsort(places, kind="stable")]
    if shuffled is Shuffled.STRATIFIED:
        intents = board.intents[drawn]
        turn = np.array([(intents[:place] == intent).sum() for place, intent in enumerate(intents)])
        return drawn[np.lexsort((intents, turn))]
    return drawn


def simulate(board: RaceBoard, rules: Sequence[RaceRules], drawn: Sequence[Whole]) -> Iterator[Simulated]:
    """Yield what races by each of the rules come to, over the same orders."""
    scores = np.stack([board.scores[:, each] for each in drawn])
    ends = [*range(rules[0].round, scores.shape[2], rules[0].round), scores.shape[2]]
    so_far = np.cumsum(scores, axis=2)[:, :, [end - 1 for end in ends]]
    for rule in rules:
        races = run_races(scores, Sure.stacked([when_sure(each, rule) for each in scores]), rule)
        shares = races.asked.mean(axis=1) / scores.shape[2]
        even = (
            Even(end / scores.shape[2], _mean(right(board.means, _top(so_far[:, :, place], rule.top), rule.tolerance)))
            for place, end in enumerate(ends)
        )
        yield Simulated(
            top=rule.top,
            tolerance=rule.tolerance,
            orders=len(drawn),
            share=mean(shares),
            low=percentile(shares, _TAIL),
            high=percentile(shares, 100 - _TAIL),
            right=_mean(right(board.means, races.chosen, rule.tolerance)),
            same=_mean(right(board.means, races.chosen, 0.0)),
            even=tuple(even),
        )


def right(means: Floats, chosen: Flags, tolerance: float) -> Flags:
    """Return in which races no chosen one is worse than one left out by more than the tolerance, shape (races,)."""
    worst = np.where(chosen, means, np.inf).min(axis=-1)
    best_left_out = np.where(chosen, -np.inf, means).max(axis=-1)
    found: Flags = best_left_out - worst <= tolerance + _ROUNDING
    return found


def _top(sums: Floats, count: int) -> Flags:
    return np.argsort(np.argsort(-sums, axis=1, kind="stable"), axis=1) < count


def _mean(flags: Flags) -> float:
    return float(flags.mean())

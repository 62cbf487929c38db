"""Which scenarios are the best, asked as little as it takes: they race over one order of the cases.

After every round of cases a scenario stops that is surely not among the best K, or surely one of them. What is sure is
decided by betting (Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting, Journal of the
Royal Statistical Society B 86 (2024), their form for sampling without replacement, their predictable plug-in bets). Of
two scenarios, the differences d of their case scores lie in [-1, 1]. Say that their mean over all N cases is at most m.
After t - 1 cases, the next difference is expected to be at most m_t = (N m - the sum so far) / (N - t + 1), so nobody
grows rich by betting on more: the capital, a product of 1 + bet_t (d_t - m_t) that begins at 1, ever reaches 1 / error
with a probability of at most `error`, however often one looks (Ville's inequality). Where it does, the mean is above m.

A race goes wrong only by a wrong claim that one of the others is as good as one of the best K of the full board: to
stop one of the best, K others have to be as good, and one of these is not among the best; to take in one of the others,
it has to be as good as all but K - 1, and one of those is among the best; a wrong set at the end needs such a pair too.
So the error is shared by K (n - K) pairs, not by all. With the probability 1 - ERROR, no chosen scenario is worse than
one that is left out by more than the tolerance; at a tolerance of 0 the chosen are the best K. Whoever runs to the last
case has its exact mean.

All of this rests on an order as good as drawn: each case that is left is as likely to be the next one. An order by hash
is, as long as nobody writes cases with it in mind. Cases on one capture come out alike, which does no harm where they
are strewn among the others, since the means are those of these very cases; asked one behind the other, they are no such
order. A race is about mean case scores. It says nothing of p10 or latency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmark.statistics import Floats

ERROR = 0.05
# A stretch of eight cases of the stratified order holds all intents.
ROUND = 8
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
# The share of its capital that a bet may lose: no single case ruins it.
_MOST_RISKED = 0.99
# What is taken for the variance before anything is seen, and weighs like one case.
_PRIOR_VARIANCE = 0.25
_SMALLEST = 1e-9


@dataclass(frozen=True)
class RaceRules:
    """What a race is to find.

    Attributes:
        top: how many are wanted.
        tolerance: by how much one that is left out may be better than a chosen one, as a case score, 0 to 1.
        round: cases between two decisions.

    """

    top: int
    tolerance: float = 0.0
    round: int = ROUND

    def stake(self, count: int) -> float:
        """Return the logarithm of the capital that makes a claim sure among `count` scenarios.

        Raises:
            ValueError: there are no more scenarios than are wanted.

        """
        if count <= self.top:
            raise ValueError(f"the best {self.top} of {count} are no race")
        return math.log(self.top * (count - self.top) / ERROR)


@dataclass(frozen=True)
class Sure:
    """After how many cases it is sure how a scenario (row) stands to another (column); N + 1 for never.

    Attributes:
        as_good: that it is as good or better, shape (n, n), with those of several races (races, n, n).
        tolerable: that it is worse by the tolerance at most; never later.

    """

    as_good: Whole
    tolerable: Whole

    @classmethod
    def stacked(cls, each: Sequence[Sure]) -> Sure:
        """Return those of several races as one."""
        return cls(np.stack([sure.as_good for sure in each]), np.stack([sure.tolerable for sure in each]))


@dataclass(frozen=True)
class RaceResults:
    """The state of races at their ends, or where answers run out.

    Attributes:
        asked: how many cases of the order each scenario was asked, or is to be, shape (races, n).
        chosen: the top K, shape (races, n); before the end, as it stood after the last full round.
        waiting: for whose answers a race waits, shape (races, n).

    """

    asked: Whole
    chosen: Flags
    waiting: Flags


def when_sure(scores: Floats, rules: RaceRules) -> Sure:
    """Return from when on it is sure of each pair how it stands.

    Args:
        scores: of the cases in their order, in [0, 1], shape (n, N); NaN where it is not known.
        rules: of the race.

    """
    count, cases = scores.shape
    seen = np.arange(cases)
    left = cases - seen
    first, second = np.triu_indices(count, 1)
    gains = np.nan_to_num(scores[first] - scores[second])
    # Of the cases before each one.
    sums = np.cumsum(gains, axis=1) - gains
    squares = np.cumsum(gains * gains, axis=1) - gains * gains
    variance = (_PRIOR_VARIANCE + squares - sums * sums / np.maximum(seen, 1)) / (seen + 1)
    stake = rules.stake(count)
    wanted = np.sqrt(2 * stake / (np.maximum(variance, _SMALLEST) * (seen + 1) * np.log(seen + 2)))
    as_good, tolerable = np.full((2, count, count), cases + 1)
    for places, lead, case in (((first, second), sums / left, gains), ((second, first), -sums / left, -gains)):
        bets = np.minimum(wanted, _MOST_RISKED / np.maximum(1 - lead, _SMALLEST))
        as_good[places] = tolerable[places] = _first_rich(bets * (case + lead), stake)
        if rules.tolerance:
            # The same bets: where the narrow claim is sure the wide one is, so that both of a pair share one error.
            tolerable[places] = _first_rich(bets * (case + lead + rules.tolerance * cases / left), stake)
    return Sure(as_good, tolerable)


def _first_rich(wins: Floats, stake: float) -> Whole:
    """Return after how many cases the capital of each row reaches the stake."""
    rich = np.cumsum(np.log1p(wins), axis=1) >= stake
    found: Whole = np.where(rich.any(axis=1), rich.argmax(axis=1) + 1, wins.shape[1] + 1)
    return found


def run_races(scores: Floats, sure: Sure, rules: RaceRules) -> RaceResults:
    """Run races to their ends.

    Args:
        scores: shape (races, n, N), of each in its own order.
        sure: `when_sure` of each, stacked.
        rules: of them all.

    """
    return _run(scores, np.full(scores.shape[:2], scores.shape[2]), sure, rules)


def standing(scores: Floats, rules: RaceRules) -> RaceResults:
    """Return how one race stands, given the answers so far: who is to be asked how many cases, or who has won.

    Args:
        scores: shape (n, N), in the fixed order; NaN where there is no answer yet. What stands behind one is not used.
        rules: of the race.

    """
    unknown = np.isnan(scores)
    known = np.where(unknown.any(axis=1), unknown.argmax(axis=1), scores.shape[1])
    return _run(scores[np.newaxis], known[np.newaxis], Sure.stacked([when_sure(scores, rules)]), rules)


def _run(scores: Floats, known: Whole, sure: Sure, rules: RaceRules) -> RaceResults:
    cases = scores.shape[2]
    asked = np.zeros(known.shape, dtype=np.int64)
    inside, chosen, running = (np.full(known.shape, value) for value in (False, False, True))
    for seen in (*range(rules.round, cases, rules.round), cases):
        asked = np.where(running, seen, asked)
        waiting = running & (known < seen)
        if waiting.any():
            return RaceResults(asked, chosen, waiting)
        goes_on = running.any(axis=1, keepdims=True)
        out, taken = _stopping(sure.as_good, asked, rules.top)
        inside = inside | (running & taken)
        running = running & ~out & ~taken
        merit = np.where(inside, np.inf, np.where(running, scores[:, :, :seen].sum(axis=2), -np.inf))
        chosen = np.where(goes_on, _best(merit, rules.top), chosen)
        running = running & _unsettled(sure.tolerable > seen, running & chosen, running & ~chosen)
        if not running.any():
            break
    return RaceResults(asked, chosen, np.zeros_like(running))


def _stopping(as_good: Whole, asked: Whole, top: int) -> tuple[Flags, Flags]:
    """Return who is out, since `top` others are as good, and who is in, being as good as all but `top` - 1 others."""
    # Two are compared on the cases that both were asked.
    claims = as_good <= np.minimum(asked[:, :, np.newaxis], asked[:, np.newaxis])
    return claims.sum(axis=1) >= top, claims.sum(axis=2) >= asked.shape[1] - top


def _best(merit: Floats, top: int) -> Flags:
    best = np.zeros(merit.shape, dtype=bool)
    np.put_along_axis(best, np.argsort(-merit, axis=1, kind="stable")[:, :top], values=True, axis=1)
    return best


def _unsettled(unsure: Flags, chosen: Flags, others: Flags) -> Flags:
    """Return which races go on: an other may be better than a chosen one by more than the tolerance."""
    found: Flags = np.any(unsure & chosen[:, :, np.newaxis] & others[:, np.newaxis], axis=(1, 2), keepdims=True)
    return found[:, 0]

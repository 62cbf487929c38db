"""Are intervals with judge error as wide as they should be? Models of known truth, made of answers of known truth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.record.validity import Half, Limit, ScoredSource, ValidityFigure
from benchmark.scoring.judge_error import FEWEST_SOURCES, AnswerSource, JudgeError
from benchmark.statistics import SEED, Floats

_SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9)
_REPEATS, _DRAWS = 12, 2000
# Models this far apart in truth must not be ranked the wrong way round.
_APART = 0.10


@dataclass(frozen=True)
class SimulatedAnswers:
    """Case scores of right and wrong answers of one source, one of each or more, by a scorer that knows none."""

    name: str
    right: Sequence[float]
    wrong: Sequence[float]

    @property
    def source(self) -> AnswerSource:
        """Their means."""
        return AnswerSource(float(np.mean(self.right)), float(np.mean(self.wrong)))

    @property
    def record(self) -> ScoredSource:
        """Their means and counts, as a measurement stores them."""
        source = self.source
        return ScoredSource(
            name=self.name,
            right_count=len(self.right),
            right_mean=source.right_mean,
            wrong_count=len(self.wrong),
            wrong_mean=source.wrong_mean,
        )

    def drawn(self, share: float, count: int, rng: np.random.Generator) -> Floats:
        """Return scores of `count` answers, of which about `share` are right."""
        is_right = rng.random(count) < share
        found: Floats = np.where(is_right, rng.choice(self.right, count), rng.choice(self.wrong, count))
        return found


def simulated_figures(answers: Sequence[SimulatedAnswers], cases: int) -> Iterator[ValidityFigure]:
    """Yield how often intervals of the share right hold it, and how often verdicts on two models are wrong.

    Each source plays a model in turn, and the error is measured on the others.

    Args:
        answers: of at least seven sources; of fewer there is nothing to say.
        cases: how many answers in prose a model gives.

    """
    if len(answers) < FEWEST_SOURCES + 2:
        return
    rng = np.random.default_rng(SEED)
    held = [
        _holds(each, _others(answers, (each,)), share, cases, rng)
        for each, share, _ in itertools.product(answers, _SHARES, range(_REPEATS))
    ]
    yield _figure("intervals that hold the share right", held, Limit.LEAST, 0.93)
    for apart, name, limit, bar in (
        (_APART, "models 10 points apart, the worse one called better", Limit.MOST, 0.03),
        (0.0, "models of equal truth, one called better", Limit.MOST, 0.10),
    ):
        wrong = []
        for a, b in itertools.permutations(answers, 2):
            error = _others(answers, (a, b))
            for share in _SHARES[1:6:2]:
                said = _verdict(a.drawn(share, cases, rng), b.drawn(share + apart, cases, rng), error, rng)
                wrong.append(said < 0 if apart else said != 0)
        yield _figure(name, wrong, limit, bar)


def _others(answers: Sequence[SimulatedAnswers], without: Sequence[SimulatedAnswers]) -> JudgeError:
    return JudgeError(tuple(each.source for each in answers if each not in without))


def _holds(model: SimulatedAnswers, error: JudgeError, share: float, cases: int, rng: np.random.Generator) -> bool:
    scores = model.drawn(share, cases, rng)
    drawn = error.drawn_shares(_bootstrap(scores, rng), _name(rng))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return bool(low <= share <= high)


def _verdict(a: Floats, b: Floats, error: JudgeError, rng: np.random.Generator) -> int:
    """Return 1 where B is called better, -1 where A is, 0 where neither is."""
    drawn = _bootstrap(b - a, rng)
    drawn += error.shift(float(b.mean()), _name(rng)) - error.shift(float(a.mean()), _name(rng))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return int(low > 0) - int(high < 0)


def _bootstrap(values: Floats, rng: np.random.Generator) -> Floats:
    means: Floats = values[rng.integers(0, len(values), (_DRAWS, len(values)))].mean(axis=1)
    return means


def _name(rng: np.random.Generator) -> str:
    return str(rng.integers(2**62))


def _figure(measure: str, found: Sequence[bool], limit: Limit, bar: float) -> ValidityFigure:
    value = sum(found) / len(found)
    return ValidityFigure(half=Half.SIMULATED, measure=measure, value=value, count=len(found), limit=limit, bar=bar)

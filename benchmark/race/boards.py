"""Case scores to race over: of results, or drawn from a model of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.analysis.race import Whole
from benchmark.record.read import StoredResult, labels
from benchmark.record.summary import Dimension
from benchmark.statistics import Clusters, Floats
from ctxsift.errors import InputError

# Of the model that boards are drawn from; they come near to the spread and the correlations of published results.
_CASES, _CAPTURES, _INTENTS = 280, 173, 8
_ABILITY, _SPREAD, _DIFFICULTY, _NOISE, _OF_CAPTURE, _FAILING = 1.6, 0.9, 1.6, 0.9, 0.7, 0.05
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class RaceBoard:
    """Who races, and what each scores on each case.

    Attributes:
        names: of the scenarios.
        scores: of the cases, in [0, 1], shape (n, N).
        captures: of each case, numbered from 0; shape (N,).
        intents: likewise.

    """

    names: tuple[str, ...]
    scores: Floats
    captures: Whole
    intents: Whole

    @property
    def means(self) -> Floats:
        """The mean case scores, shape (n,)."""
        means: Floats = self.scores.mean(axis=1)
        return means


def board_of(results: Sequence[StoredResult]) -> RaceBoard:
    """Return the scores of the cases that all results answered.

    Raises:
        InputError: there are fewer than two results, or no case that all of them answered.

    """
    if len(results) < 2:
        raise InputError(
            f"{len(results)} result", "is not enough for a race", "name two or more, or a folder that contains them"
        )
    cases = sorted(set.intersection(*(set(result.cases) for result in results)))
    if not cases:
        raise InputError(f"the {len(results)} results", "have no answered case in common", "race over one corpus")
    first = [results[0].cases[case] for case in cases]
    return RaceBoard(
        names=tuple(labels(results)),
        scores=np.array([[result.cases[case].score for case in cases] for result in results]),
        captures=_numbered([case.cluster for case in first]),
        intents=_numbered([case.group.get(Dimension.INTENT, "") for case in first]),
    )


def _numbered(names: Sequence[object]) -> Whole:
    return np.array(Clusters.of(names).labels)


def drawn_board(count: int, generator: np.random.Generator) -> RaceBoard:
    """Return a board of `count` scenarios that are able in different degrees, and fail at times.

    A case is hard for all, and hard together with the others on its capture, for all and for this scenario alone.
    """
    captures = np.concatenate([np.arange(_CAPTURES), generator.integers(0, _CAPTURES, _CASES - _CAPTURES)])
    together, alone = generator.standard_normal(_CAPTURES)[captures], generator.standard_normal(_CASES)
    ease = _DIFFICULTY * (np.sqrt(_OF_CAPTURE) * together + np.sqrt(1 - _OF_CAPTURE) * alone)
    ability = generator.normal(_ABILITY, _SPREAD, (count, 1))
    read = np.sqrt(_OF_CAPTURE) * generator.standard_normal((count, _CAPTURES))[:, captures]
    own = _NOISE * (read + np.sqrt(1 - _OF_CAPTURE) * generator.standard_normal((count, _CASES)))
    scores = 1 / (1 + np.exp(-(ability + ease + own)))
    scores[generator.random(scores.shape) < _FAILING] = 0.0
    names = tuple(f"drawn {number + 1}" for number in range(count))
    return RaceBoard(names, scores, captures, generator.integers(0, _INTENTS, _CASES))


def with_means(board: RaceBoard, means: Floats) -> RaceBoard:
    """Return the board with its scores shifted, within [0, 1], until each scenario has its mean; shape (n,)."""
    low, high = np.full((len(means), 1), -1.0), np.full((len(means), 1), 1.0)
    for _ in range(_HALVINGS):
        shift = (low + high) / 2
        below = np.clip(board.scores + shift, 0, 1).mean(axis=1, keepdims=True) < means[:, np.newaxis]
        low, high = np.where(below, shift, low), np.where(below, high, shift)
    return RaceBoard(board.names, np.clip(board.scores + high, 0, 1), board.captures, board.intents)

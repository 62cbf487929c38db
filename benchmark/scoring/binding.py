"""Who goes with what: the cheapest assignment of values to labels by their distance in a text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

from benchmark.scoring.phrases import Place
from benchmark.scoring.tokens import Kind, Prose
from benchmark.scoring.vocabulary import CLAUSE_WORDS

_SEPARATOR_COSTS = {",": 3, ";": 6, ":": 1, "(": 0, ")": 1}
_CLAUSE_COSTS = 3
_SENTENCE_COSTS = 20
# More labels are assigned greedily.
_MOST_PERMUTED = 6
# Closer than this, distances do not tell who goes with whom.
_MARGIN = 2


def distance(text: Prose, a: Place, b: Place) -> int:
    """Return how far two places lie apart, in tokens; separators between them count for several."""
    if a.first > b.first:
        a, b = b, a
    cost = max(0, b.first - a.last)
    weights = _weights(text)
    if b.first > a.last + 1:
        cost += weights[b.first] - weights[a.last + 1]
    return cost + _SENTENCE_COSTS * (text.sentence_of(b.first) - text.sentence_of(a.last))


@lru_cache(maxsize=1024)
def _weights(text: Prose) -> tuple[int, ...]:
    """Return the sums of what separators cost before each token."""
    costs = []
    for token in text.tokens:
        if token.kind is Kind.STOP:
            costs.append(_SEPARATOR_COSTS.get(token.norm, 0) - 1)
        else:
            costs.append(_CLAUSE_COSTS if token.kind is Kind.WORD and token.norm in CLAUSE_WORDS else 0)
    return (0, *itertools.accumulate(costs))


def nearest(text: Prose, ours: Sequence[Place], theirs: Sequence[Place]) -> int:
    """Return the least distance between two sets of places."""
    return min(distance(text, a, b) for a in ours for b in theirs)


def crossed(costs: Sequence[Sequence[int]]) -> list[int]:
    """Return the labels whose values go with another label, given the distance of each label to each value.

    The assignment as it should be stands unless another one is cheaper; where they tie ("respectively"), it stands.
    """
    size = len(costs)
    straight = sum(costs[i][i] for i in range(size))
    if size <= _MOST_PERMUTED:
        best = min(itertools.permutations(range(size)), key=lambda p: sum(costs[i][j] for i, j in enumerate(p)))
        cost = sum(costs[i][j] for i, j in enumerate(best))
        return [i for i, j in enumerate(best) if i != j] if cost + _MARGIN < straight else []
    # Two at a time: whoever gains by swapping with another.
    found = set()
    for i, j in itertools.combinations(range(size), 2):
        if costs[i][j] + costs[j][i] < costs[i][i] + costs[j][j]:
            found |= {i, j}
    return sorted(found)

"""Who goes with what: the cheapest assignment of values to labels by their distance in a text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from benchmark.statements.phrases import PhrasePlace
from benchmark.statements.text import Text, TokenKind
from benchmark.statements.vocabulary import CLAUSE_WORDS

# In tokens.
_SEPARATOR_COSTS = {",": 3, ";": 6, ":": 1, "(": 0, ")": 1}
_CLAUSE_COSTS = 3
_SENTENCE_COSTS = 20
# More labels are assigned greedily.
_MOST_PERMUTED = 6
# Closer than this, distances do not tell who goes with whom.
_MARGIN = 2


def crossed(text: Text, labels: Sequence[Sequence[PhrasePlace]], values: Sequence[Sequence[PhrasePlace]]) -> list[int]:
    """Return the labels whose values go with another label.

    The assignment as it should be stands unless another one is cheaper; where they tie ("respectively"), it stands.

    Args:
        text: the answer.
        labels: for each its places, at least one.
        values: for each label, the places of its value, at least one.

    """
    weights = _weights(text)
    size = len(labels)
    costs = [
        [min(_distance(text, weights, a, b) for a in ours for b in theirs) for theirs in values] for ours in labels
    ]
    if size <= _MOST_PERMUTED:
        best = min(itertools.permutations(range(size)), key=lambda p: sum(costs[i][j] for i, j in enumerate(p)))
        cost, straight = sum(costs[i][j] for i, j in enumerate(best)), sum(costs[i][i] for i in range(size))
        return [i for i, j in enumerate(best) if i != j] if cost + _MARGIN < straight else []
    # Two at a time: whoever gains by swapping with another.
    return sorted(
        {
            index
            for i, j in itertools.combinations(range(size), 2)
            if costs[i][j] + costs[j][i] < costs[i][i] + costs[j][j]
            for index in (i, j)
        }
    )


def _weights(text: Text) -> list[int]:
    """Return the sums of what separators cost before each token."""
    costs = []
    for token in text.tokens:
        if token.kind is TokenKind.STOP:
            costs.append(_SEPARATOR_COSTS.get(token.norm, 0) - 1)
        else:
            costs.append(_CLAUSE_COSTS if token.kind is TokenKind.WORD and token.norm in CLAUSE_WORDS else 0)
    return [0, *itertools.accumulate(costs)]


def _distance(text: Text, weights: Sequence[int], a: PhrasePlace, b: PhrasePlace) -> int:
    """Return how far two places lie apart, in tokens; separators between them count for several."""
    if a.first > b.first:
        a, b = b, a
    cost = max(0, b.first - a.last)
    if b.first > a.last + 1:
        cost += weights[b.first] - weights[a.last + 1]
    return cost + _SENTENCE_COSTS * (text.sentence_of(b.first) - text.sentence_of(a.last))

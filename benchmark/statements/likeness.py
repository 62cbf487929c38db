"""How much a text is like texts that are right, and like texts that are wrong: which words stand together in them.

A falsehood that somebody makes of a right answer keeps nearly all of its words; what is new is what stands with what.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmark.statements.text import Text, TokenKind, read

# Words of a pair are at most so many words apart. Only words that say something, or weights by how rare they are, tell
# right answers from wrong ones less well.
_REACH = 12

Pair = tuple[str, str]


@dataclass(frozen=True)
class KnownPairs:
    """The pairs of all texts that are known to be right, and of all that are known to be wrong."""

    right: frozenset[Pair]
    wrong: frozenset[Pair]


def known_pairs(right: Iterable[str], wrong: Iterable[str]) -> KnownPairs:
    """Return the pairs of texts that are known."""
    return KnownPairs(_pairs_of_all(right), _pairs_of_all(wrong))


def likeness(text: str, known: KnownPairs) -> float:
    """Return the share of the pairs of `text` that right texts have, less the share that wrong ones have; in [-1, 1].

    What both have counts for neither, and what none has lowers both shares. A text without pairs has 0.
    """
    pairs = pairs_of(text)
    if not pairs:
        return 0.0
    return (len(pairs & known.right) - len(pairs & known.wrong)) / len(pairs)


# A case has some 35 known texts; those of a whole corpus stay.
@functools.lru_cache(maxsize=8192)
def pairs_of(text: str) -> frozenset[Pair]:
    """Return which words, numbers and names stand together in a sentence of a text, in their order."""
    return frozenset(_pairs(read(text)))


def _pairs(text: Text) -> Iterator[Pair]:
    for first, past in text.sentences:
        tokens = [token for token in text.tokens[first:past] if token.kind is not TokenKind.STOP]
        keys = [token.bare_norm if token.kind in (TokenKind.NAME, TokenKind.NUMBER) else token.norm for token in tokens]
        for index, key in enumerate(keys):
            yield from ((key, other) for other in keys[index + 1 : index + 1 + _REACH])


def _pairs_of_all(texts: Iterable[str]) -> frozenset[Pair]:
    return frozenset().union(*map(pairs_of, texts))

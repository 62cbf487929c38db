"""Whether a text is another one with its words shuffled."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

SALAD = "has gold's words, but not its sentences"
# What it leaves of the quality.
SALAD_LEAVES = 0.0
# Share of gold's words from which, and of its neighbours up to which, a text is gold shuffled.
_SAME_WORDS, _OTHER_NEIGHBOURS = 0.8, 0.5
_FEW_WORDS = 8


def is_shuffled(text: str, reference: str) -> bool:
    """Say whether a text has the words of another, but next to none of its neighbours; whatever else it has."""
    said, wanted = text.split(), reference.split()
    if len(wanted) < _FEW_WORDS:
        return False
    return _held(said, wanted) > _SAME_WORDS and _held(_neighbours(said), _neighbours(wanted)) < _OTHER_NEIGHBOURS


def _neighbours(words: Sequence[str]) -> list[str]:
    return [f"{a} {b}" for a, b in itertools.pairwise(words)]


def _held(said: Sequence[str], wanted: Sequence[str]) -> float:
    """Return the share of `wanted` that is in `said`."""
    return sum((Counter(said) & Counter(wanted)).values()) / len(wanted)

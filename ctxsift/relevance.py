"""Which lines of an output are nearest to a question: by shared words, rare ones more, and by signs of a failure."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

# Bounds that keep the time linear in the length of the output.
_MOST_LINES, _MOST_LINE_CHARS, _MOST_WORDS = 100, 400, 200
_FAULT_WEIGHT = 2.0
_FAULT = re.compile(r"error|fail|fatal|exception|panic|cannot|denied|not found")
_FAULT_IN_ANY_CASE = re.compile(_FAULT.pattern, re.IGNORECASE)
_NOTHING: frozenset[str] = frozenset()
_WORD = re.compile(r"[A-Za-z]{2,}|\d+")


@dataclass(frozen=True)
class OutputLine:
    """A line of output.

    Attributes:
        place: its number, from 0.
        text: what it says, up to 400 characters.
        words: that it shares with the question, by their first six letters.
        weight: how near it is; 0 where it shares nothing and shows no failure.

    """

    place: int
    text: str
    words: frozenset[str]
    weight: float


def _has_fault(text: str) -> bool:
    """Say whether a line has a word of something that failed."""
    # Both find the same in ASCII; this way takes a sixth of the time.
    found = _FAULT.search(text.lower()) if text.isascii() else _FAULT_IN_ANY_CASE.search(text)
    return found is not None


def nearest_lines(lines: Sequence[str], question: str) -> list[OutputLine]:
    """Return the hundred lines nearest to a question, nearest first; blank ones are none."""
    filled = [(place, line) for place, line in enumerate(lines) if line.strip()]
    shared = shared_words((line[:_MOST_LINE_CHARS] for _, line in filled), question)
    counts = Counter(word for found in shared for word in found)
    rarity = {word: math.log((1 + len(filled)) / (1 + count)) + 1 for word, count in counts.items()}
    weighed = (
        (-sum(rarity[word] for word in sorted(found)) - (_FAULT_WEIGHT if _has_fault(line) else 0.0), place, found)
        for (place, line), found in zip(filled, shared, strict=True)
    )
    nearest = heapq.nsmallest(_MOST_LINES, weighed, key=itemgetter(0, 1))
    return [OutputLine(place, lines[place][:_MOST_LINE_CHARS], found, -weight) for weight, place, found in nearest]


def shared_words(lines: Iterable[str], question: str) -> list[frozenset[str]]:
    """Return the words that each line has in common with a question, by their first six letters."""
    asked = frozenset(words(question)[:_MOST_WORDS])
    # Most lines share nothing, and this is sooner seen than their words.
    hint = re.compile("|".join(map(re.escape, sorted(asked))) or r"(?!)")
    return [asked.intersection(words(line)) if hint.search(line.lower()) else _NOTHING for line in lines]


def words(text: str) -> list[str]:
    """Return the words and numbers of a text by their first six letters, in small letters."""
    # Plurals and other endings are not worth a stemmer here.
    return [word.lower()[:6] for word in _WORD.findall(text)]

"""Opaque: not meant to be read. The lines that say most that could not be expected are kept, in their order.

Without a model, a line says the more the rarer its words are in what it is chosen from (self-information, as in
Li et al. 2023, "Compressing context to enhance inference efficiency", with counts in place of a model's probabilities).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from ctxsift.sessions.compaction.records import CompactionSummary, Cycle
from ctxsift.sessions.compaction.transcript import text_of
from ctxsift.sessions.figures import CHARACTERS_PER_TOKEN

# What is longer is cut: one line may be a whole file.
_MOST_CHARACTERS = 300
_FEWEST_WORDS = 3
_WORD = re.compile(r"\w+")
Surprise = Callable[[Sequence[str]], Sequence[float]]


class Opaque:
    """Keep the lines with the rarest words, including outputs, in their order.

    Args:
        surprise: returns for each line how surprising it is, on any scale; by default, by the rarity of its words.

    """

    takes_budget = True
    must_shrink = True

    def __init__(self, surprise: Surprise | None = None) -> None:
        self._surprise = surprise or rarity

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the most surprising lines of the previous summary and the span."""
        text = f"{cycle.previous.text}\n{text_of(cycle.span)}"
        shortened = (" ".join(line.split())[:_MOST_CHARACTERS] for line in text.splitlines())
        lines = [line for line in dict.fromkeys(shortened) if len(_WORD.findall(line)) >= _FEWEST_WORDS]
        scores = self._surprise(lines)
        room = cycle.budget * CHARACTERS_PER_TOKEN
        kept: list[int] = []
        for at in sorted(range(len(lines)), key=lambda at: (-scores[at], at)):
            if len(lines[at]) + 1 <= room:
                kept.append(at)
                room -= len(lines[at]) + 1
        return CompactionSummary("\n".join(lines[at] for at in sorted(kept)))


def rarity(lines: Sequence[str]) -> list[float]:
    """Return the mean self-information of each line's words, in bits, by how often each occurs in all lines."""
    words = [_WORD.findall(line.casefold()) for line in lines]
    counts = Counter(word for found in words for word in found)
    total = sum(counts.values())
    bits = {word: math.log2(total / count) for word, count in counts.items()}
    return [sum(bits[word] for word in found) / len(found) if found else 0.0 for found in words]

"""Lines chosen for a budget: heavy ones first, none that says what is said already."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Sequence

from ctxsift.sessions.compaction.records import SummaryEntry
from ctxsift.sessions.compaction.transcript import tokens_in

# A line with a smaller share of words of its own repeats others.
_LEAST_NEW = 0.25
# Every line costs a little more than its text.
_OVERHEAD = 10
_WORD = re.compile(r"[A-Za-z][\w'-]{3,}|[\w./-]{0,100}\d[\w./-]*")
_NAME_WEIGHT = 2.0


def choose(entries: Sequence[SummaryEntry], tokens: int, said: Iterable[str] = ()) -> list[int]:
    """Return the places of the entries chosen, heaviest first, so that their text has at most `tokens` tokens.

    An entry counts by its weight, by the share of its words that nothing chosen before has, and, the longer it is,
    less a token. Entries of weight 0 or less are never chosen.

    Args:
        entries: to choose from.
        tokens: room for their text, two tokens for each line included.
        said: texts that stand there already.

    """
    covered = set[str]().union(*map(words_of, said))
    costs = {at: cost for at, entry in enumerate(entries) if entry.weight > 0 and (cost := _cost(entry)) <= tokens}
    # A "yes" says nothing without what it stands under.
    words = {at: words_of(entries[at].text) or words_of(entries[at].lead) for at in costs}
    sizes = {at: [1.0 if word.isalpha() else _NAME_WEIGHT for word in own] for at, own in words.items()}
    totals = {at: sum(own) for at, own in sizes.items()}

    def gain_of(at: int) -> float:
        if not words[at]:
            return 0.0
        new = sum(size for word, size in zip(words[at], sizes[at], strict=True) if word not in covered) / totals[at]
        return 0.0 if new < _LEAST_NEW else float(entries[at].weight * new / (costs[at] + _OVERHEAD) ** 0.6)

    heap = [(-gain_of(at), at) for at in costs]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap:
        _, at = heapq.heappop(heap)
        if costs[at] > tokens:
            continue
        gain = gain_of(at)
        if gain <= 0:
            continue
        # Others were chosen since its gain was counted.
        if heap and gain < -heap[0][0]:
            heapq.heappush(heap, (-gain, at))
            continue
        chosen.append(at)
        tokens -= costs[at]
        covered.update(words[at])
    return chosen


def _cost(entry: SummaryEntry) -> int:
    return tokens_in(entry.text) + 2


def listed_within(entries: Sequence[SummaryEntry], tokens: int) -> list[int]:
    """Return the places of the open tasks of a to-do list, in its order, as far as `tokens` tokens reach.

    Tasks of one list share words, and each of them is open all the same.
    """
    chosen: list[int] = []
    for at, entry in enumerate(entries):
        cost = _cost(entry)
        if entry.is_listed and cost <= tokens:
            chosen.append(at)
            tokens -= cost
    return chosen


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text that can tell it from others, each once, in small letters."""
    return tuple(dict.fromkeys(word.casefold() for word in _WORD.findall(text)))

"""Where things stand in a text: anchors, removed wrappers, leaked thought; counted in UTF-16 units, as browsers do."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Postfix, Prefix

from benchmark.scoring.anchors import token_spans
from ctxsift.contracts import Intent
from ctxsift.thought import find_thought

# A number may stand everywhere; the first places show that it does.
_MOST_PLACES = 50


@dataclass(frozen=True)
class Mark:
    """text[start:end] is something; what `label` says depends on who marks."""

    start: int
    end: int
    label: str


def anchor_places(text: str, anchors: Sequence[str]) -> list[list[int]]:
    """Return [start, end, index of the anchor] of what to mark, without overlaps, in order; longer anchors first."""
    found = [
        (start, -end, index)
        for index, anchor in enumerate(anchors)
        for start, end in itertools.islice(token_spans(text, anchor), _MOST_PLACES)
    ]
    places, position = [], 0
    units = _utf16(text)
    for start, minus_end, index in sorted(found):
        if start >= position:
            places.append([units(start), units(-minus_end), index])
            position = -minus_end
    return places


def thought_marks(text: str, raw_input: str, instruction: str, intent: Intent) -> list[Mark]:
    """Return the leaked thought of an answer, as recovery and scorer find it."""
    found = find_thought(text, raw_input=raw_input, instruction=instruction, intent=intent)
    return [Mark(span.start, span.end, "thought") for span in found.spans]


def removed_marks(raw: str, recovered: str, steps: Sequence[tuple[str, str]]) -> list[Mark]:
    """Return what the steps removed from `raw`; what the record cannot tell is marked as `removed`."""
    # Pieces of `raw` that are still there.
    kept = [(0, len(raw))]
    marks: list[Mark] = []
    for name, removed in steps:
        text = "".join(raw[start:end] for start, end in kept)
        cuts = _cuts(text, removed)
        if cuts is None:
            break
        kept, cut = _cut(kept, cuts)
        marks += [Mark(start, end, name) for start, end in cut]
    if "".join(raw[start:end] for start, end in kept) == recovered:
        return marks
    place = raw.find(recovered)
    if place < 0:
        return []
    edges = [Mark(0, place, "removed"), Mark(place + len(recovered), len(raw), "removed")]
    return [mark for mark in edges if mark.start < mark.end]


def _cuts(text: str, removed: str) -> list[tuple[int, int]] | None:
    """Return where `removed` stood in `text`: at one or both ends, else in parts; None when it did not."""
    size, total = len(removed), len(text)
    prefix, suffix = Prefix.similarity(text, removed), Postfix.similarity(text, removed)
    if size <= prefix + suffix:
        head = min(size, prefix)
        return [(0, head), (total - (size - head), total)]
    cuts, position, rest = [], 0, removed
    while rest:
        # The longest beginning of the rest that still comes: if it does, so does every shorter one.
        lengths = range(1, len(rest) + 1)
        length = bisect.bisect_left(lengths, True, key=lambda n: text.find(rest[:n], position) < 0)
        if not length:
            return None
        start = text.find(rest[:length], position)
        cuts.append((start, start + length))
        position, rest = start + length, rest[length:]
    return cuts


def _cut(
    kept: Iterable[tuple[int, int]], cuts: Sequence[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the pieces that stay and those that go, given cuts in the text that the kept pieces make."""
    stay: list[tuple[int, int]] = []
    gone: list[tuple[int, int]] = []
    position = 0
    for start, end in kept:
        edges = sorted({start, end, *(start + min(max(p - position, 0), end - start) for cut in cuts for p in cut)})
        for low, high in itertools.pairwise(edges):
            middle = position + low - start
            (gone if any(a <= middle < b for a, b in cuts) else stay).append((low, high))
        position += end - start
    return stay, gone


def flat(marks: Sequence[Mark], text: str) -> list[list[int | str]]:
    """Return marks of `text` as [start, end, labels] without overlaps; a piece under several has all their labels."""
    events = sorted(
        [(mark.start, True, mark.label) for mark in marks] + [(mark.end, False, mark.label) for mark in marks]
    )
    found: list[list[int | str]] = []
    open_labels: Counter[str] = Counter()
    position, units = 0, _utf16(text)
    for place, opens, label in events:
        if place > position and +open_labels:
            found.append([units(position), units(place), " ".join(sorted(+open_labels))])
        open_labels[label] += 1 if opens else -1
        position = place
    return found


def _utf16(text: str) -> Callable[[int], int]:
    """Return what turns an index of a Python string into UTF-16 units."""
    # Most texts are ASCII, nearly all of the rest is within 16 bits.
    wide = [] if text.isascii() else [index for index, character in enumerate(text) if character > "\uffff"]
    return lambda index: index + bisect.bisect_left(wide, index)

"""Where things stand in a text: anchors, removed wrappers, leaked thought; counted in UTF-16 units, as browsers do."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Postfix, Prefix

from benchmark.viewer.page_records import AnchorSpan, AnswerSpan
from benchmark.whole_tokens import token_spans
from ctxsift.answers.recovery import THOUGHT_STEPS, RecoveryStep
from ctxsift.answers.thought_density import find_thought
from ctxsift.prompts import Request

# A number may stand everywhere; the first places show that it does.
_MOST_PLACES = 50
# Steps of recovery that take away thought, those of earlier versions too; the others take away wrappers.
_THOUGHT_STEPS = THOUGHT_STEPS | {"thought_preamble", "thought_epilogue"}
# What the record cannot tell more of.
UNNAMED_STEP = "an unnamed step"


@dataclass(frozen=True)
class RemovedSpan:
    """text[start:end] was removed by a step of recovery, or is leaked thought that is still there."""

    start: int
    end: int
    removed_by: str | None = None


def anchor_spans(text: str, anchors: Sequence[str]) -> list[AnchorSpan]:
    """Return where anchors stand, in UTF-16 units, without overlaps, in order; longer anchors first."""
    found = [
        (start, -end, index)
        for index, anchor in enumerate(anchors)
        for start, end in itertools.islice(token_spans(text, anchor), _MOST_PLACES)
    ]
    places, position = [], 0
    units = _utf16(text)
    for start, minus_end, index in sorted(found):
        if start >= position:
            places.append(AnchorSpan(start=units(start), end=units(-minus_end), anchor=index))
            position = -minus_end
    return places


def thought_spans(text: str, request: Request) -> list[RemovedSpan]:
    """Return the leaked thought of an answer, as recovery and scorer find it."""
    found = find_thought(text, raw_input=request.quotable, instruction=request.instruction, intent=request.intent)
    return [RemovedSpan(span.start, span.end) for span in found.spans]


def removed_spans(raw: str, recovered: str, steps: Sequence[RecoveryStep]) -> list[RemovedSpan]:
    """Return what the steps removed from `raw`; where the record does not add up, what is gone has no named step."""
    # Pieces of `raw` that are still there.
    kept = [(0, len(raw))]
    spans: list[RemovedSpan] = []
    for step in steps:
        text = "".join(raw[start:end] for start, end in kept)
        cuts = _cuts(text, step.removed)
        if cuts is None:
            break
        kept, cut = _cut(kept, cuts)
        spans += [RemovedSpan(start, end, step.name) for start, end in cut]
    if "".join(raw[start:end] for start, end in kept) == recovered:
        return spans
    place = raw.find(recovered)
    if place < 0:
        return []
    edges = [RemovedSpan(0, place, UNNAMED_STEP), RemovedSpan(place + len(recovered), len(raw), UNNAMED_STEP)]
    return [span for span in edges if span.start < span.end]


def _cuts(text: str, removed: str) -> list[tuple[int, int]] | None:
    """Return where `removed` stood in `text`: at one or both ends, else in parts; None when it did not."""
    size, total = len(removed), len(text)
    prefix, suffix = Prefix.similarity(text, removed), Postfix.similarity(text, removed)
    if size <= prefix + suffix:
        # A cut at the end alone may begin like the text does: both begin with a mark.
        head = 0 if suffix >= size > prefix else min(size, prefix)
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


def answer_spans(spans: Sequence[RemovedSpan], text: str) -> list[AnswerSpan]:
    """Return spans of `text` without overlaps, in UTF-16 units; a piece under several spans is what all of them say."""
    events = sorted(
        [(span.start, True, span.removed_by or "") for span in spans]
        + [(span.end, False, span.removed_by or "") for span in spans]
    )
    found: list[AnswerSpan] = []
    open_spans: Counter[str] = Counter()
    position, units = 0, _utf16(text)
    for place, opens, step in events:
        if place > position and +open_spans:
            found.append(_answer_span(units(position), units(place), set(+open_spans)))
        open_spans[step] += 1 if opens else -1
        position = place
    return found


def _answer_span(start: int, end: int, labels: set[str]) -> AnswerSpan:
    steps = sorted(labels - {""})
    is_thought = "" in labels or not _THOUGHT_STEPS.isdisjoint(steps)
    return AnswerSpan(
        start=start, end=end, is_thought=is_thought, removed_as=[step.replace("_", " ") for step in steps]
    )


def _utf16(text: str) -> Callable[[int], int]:
    """Return what turns an index of a Python string into UTF-16 units."""
    # Most texts are ASCII, nearly all of the rest is within 16 bits.
    wide = [] if text.isascii() else [index for index, character in enumerate(text) if character > "\uffff"]
    return lambda index: index + bisect.bisect_left(wide, index)

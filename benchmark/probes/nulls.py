"""What a method has to beat: controls that understand nothing of what they keep, with the same budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from benchmark.probes.records import MeasuredMethod
from ctxsift.sessions.compaction.methods import DRAWS, INDEX, RANDOM, parted

NULLS = (RANDOM, "first", "last", "text-cut")
# The ends of the scale: the right answers, and all there is. They compete with nobody.
ORACLE = "gold"
ENDS = (ORACLE, "everything")


def row_of(method: MeasuredMethod) -> MeasuredMethod:
    """Return a method as the row of a board names it: draws of random lines are one row."""
    base, index = parted(method.method)
    return replace(method, method=RANDOM + (INDEX if index else "")) if base in DRAWS else method


def draws_joined(methods: Iterable[MeasuredMethod]) -> Iterator[MeasuredMethod]:
    """Yield methods, in place of draws one that has all that each of them was asked."""
    found: dict[str, list[MeasuredMethod]] = {}
    for row in map(row_of, methods):
        found.setdefault(row.label, []).append(row)
    for first, *others in found.values():
        rows = [first, *others]
        yield (
            replace(
                first,
                contexts=[each for row in rows for each in row.contexts],
                asked=[each for row in rows for each in row.asked],
                unanswerable=[each for row in rows for each in row.unanswerable],
            )
            if others
            else first
        )

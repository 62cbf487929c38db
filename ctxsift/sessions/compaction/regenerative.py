"""Regenerative: the whole summary is written anew in each cycle, from the previous one and the span.

Without a model, the lines of both are weighed by their cues alone: of the previous summary, nothing but its text is
known, and no section has a share of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxsift.sessions.compaction.choosing import choose
from ctxsift.sessions.compaction.entries import entries_from, entry_of
from ctxsift.sessions.compaction.lines import Line, without_marks
from ctxsift.sessions.compaction.records import Cycle, Entry, Summary
from ctxsift.sessions.compaction.superseding import current
from ctxsift.sessions.compaction.transcript import tokens_in

_HEADING = "## Summary"
_USER = "User: "


class Regenerative:
    """The regenerative method by rules."""

    takes_budget = True
    must_shrink = True

    def compact(self, cycle: Cycle) -> Summary:
        """Return a new summary."""
        new = list(entries_from(cycle.span))
        entries = current([*_said_before(cycle.previous.text), *new], len(new))
        room = cycle.budget - tokens_in(_HEADING) - 1
        while True:
            chosen = [entries[at] for at in sorted(choose(entries, room))]
            text = _text(chosen)
            over = tokens_in(text) - cycle.budget
            if over <= 0 or not chosen:
                return Summary(text if over <= 0 else "")
            room -= over


def _said_before(text: str) -> Iterator[Entry]:
    for place, raw in enumerate(text.splitlines()):
        line, _, is_heading = without_marks(raw)
        if line and not is_heading:
            by_user = line.startswith(_USER)
            yield entry_of(Line(line.removeprefix(_USER), 0, by_user, not by_user, False, "", 0, place))


def _text(entries: Sequence[Entry]) -> str:
    told = (f"{entry.lead}: {entry.text}" if entry.lead else entry.text for entry in entries)
    lines = (f"- {_USER if entry.by_user else ''}{text}" for entry, text in zip(entries, told, strict=True))
    return "\n".join((_HEADING, *lines))

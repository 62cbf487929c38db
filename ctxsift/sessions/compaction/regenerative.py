"""Regenerative: the whole summary is written anew in each cycle, from the previous one and the span.

Without a model, the lines of both are weighed by their cues alone: of the previous summary, nothing but its text is
known, and no section has a share of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxsift.sessions.compaction.choosing import choose, listed_within
from ctxsift.sessions.compaction.entries import USER_MARK, entries_from, entry_of, listed_entry, with_open_tasks
from ctxsift.sessions.compaction.lines import MessageLine, without_marks
from ctxsift.sessions.compaction.records import CompactionSummary, Cycle, SummaryEntry
from ctxsift.sessions.compaction.rejecting import still_wanted
from ctxsift.sessions.compaction.superseding import current
from ctxsift.sessions.compaction.transcript import tokens_in

_HEADING = "## Summary"
_OPEN = "To do: "
# What open tasks of a to-do list may take at most before all else.
_LISTED_SHARE = 1 / 3


class Regenerative:
    """Rewrite the summary at each cut, from the previous summary and the removed steps."""

    takes_budget = True
    must_shrink = True

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return a new summary."""
        new = list(entries_from(cycle.span))
        before, listed = with_open_tasks(_said_before(cycle.previous.text), cycle.span)
        entries = [*current([*before, *new], len(new)), *still_wanted(listed, new)]
        room = cycle.budget - tokens_in(_HEADING) - 1
        while True:
            chosen = _chosen(entries, room)
            text = _text(chosen)
            over = tokens_in(text) - cycle.budget
            if over <= 0 or not chosen:
                return CompactionSummary(text if over <= 0 else "")
            room -= over


def _chosen(entries: Sequence[SummaryEntry], room: int) -> list[SummaryEntry]:
    first = listed_within(entries, int(room * _LISTED_SHARE))
    left = [at for at in range(len(entries)) if at not in first]
    taken = sum(tokens_in(entries[at].text) + 2 for at in first)
    found = choose([entries[at] for at in left], room - taken, [entries[at].text for at in first])
    return [entries[at] for at in sorted((*first, *(left[at] for at in found)))]


def _said_before(text: str) -> Iterator[SummaryEntry]:
    for place, raw in enumerate(text.splitlines()):
        line, _, is_heading = without_marks(raw)
        if line.startswith(_OPEN):
            yield listed_entry(line.removeprefix(_OPEN))
        elif line and not is_heading:
            by_user = line.startswith(USER_MARK)
            yield entry_of(MessageLine(line.removeprefix(USER_MARK), 0, by_user, not by_user, False, "", 0, place))


def _text(entries: Sequence[SummaryEntry]) -> str:
    told = (f"{entry.lead}: {entry.text}" if entry.lead else entry.text for entry in entries)
    marks = (_OPEN if entry.is_listed else USER_MARK if entry.by_user else "" for entry in entries)
    lines = (f"- {mark}{text}" for mark, text in zip(marks, told, strict=True))
    return "\n".join((_HEADING, *lines))

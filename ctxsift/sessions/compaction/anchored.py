"""Anchored: one summary with sections stays; what is cut off is summarised by itself and merged section by section.

Without a model, the lines of what user and agent said compete for the budget with the lines of the summary so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ctxsift.sessions.compaction.choosing import choose, listed_within
from ctxsift.sessions.compaction.entries import EMPTY, entries_from, entries_of, with_open_tasks
from ctxsift.sessions.compaction.gone import Gone
from ctxsift.sessions.compaction.records import CompactionSummary, Cycle, SummaryEntry
from ctxsift.sessions.compaction.rejecting import still_wanted
from ctxsift.sessions.compaction.superseding import current
from ctxsift.sessions.compaction.transcript import tokens_in
from ctxsift.sessions.compaction.weights import SECTIONS

# The user's orders own a third of the budget, and of that the first task a third.
_USER_SHARE, _TASK_SHARE = 1 / 3, 1 / 3
# Open tasks of a to-do list own as much.
_LISTED_SHARE = 1 / 3


class Anchored:
    """Keep one summary with sections, and add lines of the removed steps to it at each cut."""

    takes_budget = True
    must_shrink = True

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the summary with the lines of the span merged into it."""
        knows_task = any(entry.is_task for entry in entries_before(cycle))
        return merged(cycle, list(entries_from(cycle.span, pins_task=not knows_task)))


def entries_before(cycle: Cycle) -> tuple[SummaryEntry, ...]:
    """Return the entries of the previous summary; those of a summary of another origin are read from its text."""
    return cycle.previous.entries or tuple(entries_of(cycle.previous.text))


def merged(cycle: Cycle, new: Sequence[SummaryEntry]) -> CompactionSummary:
    """Return the previous summary with new entries merged into it, section by section, within the budget.

    The open tasks follow from the previous summary and the span, whether rules or a model made the new entries.
    """
    previous, listed = with_open_tasks(entries_before(cycle), cycle.span)
    entries = current([*previous, *new], len(new))
    if cycle.artifacts is not None:
        entries = list(Gone(cycle.artifacts).said_before(entries))
    return _fitted([*entries, *still_wanted(listed, new)], cycle.budget)


def _fitted(entries: Sequence[SummaryEntry], budget: int) -> CompactionSummary:
    room = budget - tokens_in(text_of_entries(()))
    while True:
        chosen = _chosen(entries, room)
        text = text_of_entries(chosen)
        over = tokens_in(text) - budget
        if over <= 0:
            return CompactionSummary(text, tuple(chosen))
        if not chosen:
            return CompactionSummary()
        room -= over


def _chosen(entries: Sequence[SummaryEntry], room: int) -> list[SummaryEntry]:
    """Return the entries that are worth the room, in the order in which they were said."""
    places: list[int] = []

    def add(among: Iterable[int], tokens: int) -> int:
        """Choose among some entries; return how much room is left."""
        candidates = [at for at in among if at not in places]
        found = choose([entries[at] for at in candidates], tokens, [entries[at].text for at in places])
        places.extend(candidates[at] for at in found)
        return tokens - sum(tokens_in(entries[candidates[at]].text) + 2 for at in found)

    places.extend(listed_within(entries, int(room * _LISTED_SHARE)))
    for_listed = sum(tokens_in(entries[at].text) + 2 for at in places)
    for_user = int(room * _USER_SHARE)
    for_task = int(for_user * _TASK_SHARE)
    left = for_user - for_task + add((at for at, entry in enumerate(entries) if entry.is_task), for_task)
    left = room - for_user - for_listed + add((at for at, entry in enumerate(entries) if entry.by_user), left)
    left = add((at for at, entry in enumerate(entries) if not entry.by_user), left)
    add(range(len(entries)), left)
    return [entries[at] for at in sorted(places)]


def text_of_entries(entries: Sequence[SummaryEntry]) -> str:
    """Return a summary with all its sections; one without entries says so."""
    parts = []
    for section in SECTIONS:
        own = [entry for entry in entries if entry.section == section]
        parts.append("\n".join((f"## {section}", *(bullets(own) if own else [EMPTY]))))
    return "\n".join(parts)


def bullets(entries: Sequence[SummaryEntry]) -> Iterator[str]:
    """Yield entries as bullets; those that one heading introduced share a bullet with it."""
    for (lead, _), group in groupby(entries, lambda entry: (entry.lead, entry.step_id if entry.lead else None)):
        texts = [entry.text for entry in group]
        if lead:
            yield f"- {lead}: {'; '.join(texts)}"
        else:
            yield from (f"- {text}" for text in texts)

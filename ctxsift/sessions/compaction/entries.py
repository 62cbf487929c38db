"""Entries of a summary made from what user and agent said."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from ctxsift.sessions.compaction.index_text import HEADING as INDEX_HEADING
from ctxsift.sessions.compaction.lines import MessageLine, lines_of, summary_in, without_marks
from ctxsift.sessions.compaction.records import SummaryEntry
from ctxsift.sessions.compaction.superseding import taken_back
from ctxsift.sessions.compaction.tasks import open_tasks, task_of
from ctxsift.sessions.compaction.values import keys_in
from ctxsift.sessions.compaction.weights import (
    CONSTRAINTS,
    INTENT,
    NEXT,
    SECTIONS,
    STATE,
    names_in,
    section_of,
    weight_of,
)
from ctxsift.sessions.records import Step

# Of a section without entries; of lines of the user in a summary without sections.
EMPTY, USER_MARK = "(none)", "User: "
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*:?\s*\Z|\*\*(.+?):?\*\*:?\s*\Z")
# What an open task of a list weighs.
_WEIGHT_OF_TASK = 4.0
# What a task asks for stands at its beginning.
_FIRST_LINES, _FIRST_GAIN = 12, 3.0


def entries_from(span: Sequence[Step], *, pins_task: bool = False) -> Iterator[SummaryEntry]:
    """Yield each line of user and agent in a span as an entry.

    Args:
        span: steps in their order.
        pins_task: the first message of the user is the task, which stays.

    """
    handed_on = [entry for step in span for entry in entries_of(summary_in(step), step.step_id)]
    # The task of a session that goes on with a summary stands in that.
    pins_task = pins_task and not any(entry.section == INTENT for entry in handed_on)
    yield from (dataclasses.replace(entry, is_task=entry.section == INTENT) for entry in handed_on)
    lines = list(lines_of(span))
    gone = taken_back(lines)
    task = next((line.message for line in lines if line.by_user), None) if pins_task else None
    for line in lines:
        if line.message in gone and line.message != task:
            continue
        entry = entry_of(line)
        if line.message == task and not line.is_row:
            gain = _FIRST_GAIN * max(0.0, 1 - line.place / _FIRST_LINES)
            entry = dataclasses.replace(entry, section=INTENT, weight=entry.weight + gain, is_task=True)
        yield entry


def entries_of(text: str, step_id: int = 0) -> Iterator[SummaryEntry]:
    """Yield the lines of a summary of another origin, each under the section it stands in."""
    section, by_heading = STATE, {section.casefold(): section for section in (*SECTIONS, INDEX_HEADING)}
    for place, raw in enumerate(text.splitlines()):
        line, _, _ = without_marks(raw)
        if heading := _HEADING.match(raw.strip()):
            section = by_heading.get((heading[1] or heading[2]).casefold(), section)
            section = STATE if section == INDEX_HEADING else section
        elif line.startswith(USER_MARK):
            yield entry_of(MessageLine(line.removeprefix(USER_MARK), step_id, True, False, False, "", 0, place))
        elif line and line.casefold() != EMPTY:
            by_user = section in (INTENT, CONSTRAINTS)
            entry = entry_of(MessageLine(line, step_id, by_user, not by_user, False, "", 0, place))
            yield dataclasses.replace(entry, section=section)


def entry_of(line: MessageLine) -> SummaryEntry:
    """Return a line with its section and weight."""
    names = names_in(line.text)
    return SummaryEntry(
        section_of(line),
        line.text,
        weight_of(line, len(names)),
        line.step_id,
        line.by_user,
        lead=line.lead,
        keys=keys_in(line.text, line.lead),
        names=names,
    )


def with_open_tasks(
    entries: Iterable[SummaryEntry], span: Iterable[Step]
) -> tuple[list[SummaryEntry], list[SummaryEntry]]:
    """Return entries without those that are open tasks, and these as a span leaves them."""
    entries = list(entries)
    others = [entry for entry in entries if not entry.is_listed]
    listed = [entry for entry in entries if entry.is_listed]
    tasks = open_tasks(span, [task_of(entry.text, entry.step_id) for entry in listed])
    return others, listed if tasks is None else [listed_entry(task.shown, task.step_id) for task in tasks]


def listed_entry(text: str, step_id: int = 0) -> SummaryEntry:
    """Return an open task of a to-do list as an entry."""
    return SummaryEntry(NEXT, text, _WEIGHT_OF_TASK, step_id, is_listed=True)

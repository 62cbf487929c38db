"""What other agents' programs keep by rule when they compact, beside the summary that a model writes for them.

Facts of their public sources; where those are and what differs here is told in docs/compaction.md, "Named products".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from ctxsift.prompts import cut_middle
from ctxsift.sessions.compaction.records import CompactionSummary, Cycle, SummaryEntry
from ctxsift.sessions.compaction.transcript import text_of_step, tokens_in
from ctxsift.sessions.figures import CHARACTERS_PER_TOKEN
from ctxsift.sessions.records import Step, ToolCall

_CHANGED, _READ, _STEP = "Files changed", "Files read", ""
_SECTION_BY_TOOL = {"write": _CHANGED, "edit": _CHANGED, "read": _READ}
_PATH = ("path", "file_path")
_BETWEEN = "\n\n"
# What the marker of `cut_middle` takes, in characters; and what has to be left beside it for a step to say anything.
_MARKER, _LEAST_KEPT = 60, 40


class OpenCodeRules:
    """Keep what the rules of OpenCode keep: the newest whole steps that fit the budget.

    Its own limit is a quarter of what the model can take, at least 2,000 and at most 15,000 tokens; here it is the
    budget. Turns are kept whole while they fit; the one that does not is kept from its first step on that does.
    """

    takes_budget = True
    must_shrink = True

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the last steps that are gone, as they were."""
        return _summary(_newest(_steps(cycle), cycle.budget * CHARACTERS_PER_TOKEN))


class PiRules:
    """Keep what the rules of Pi keep: the files that its tools used, and the newest steps within the budget.

    Its own limit for the steps is 20,000 tokens, files not counted; here files and steps share the budget. The step
    with which the limit is reached stays unless its results alone reach it; what of it is above the budget goes from
    its middle.
    """

    takes_budget = True
    must_shrink = True

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the files that were touched, then the last steps that are gone."""
        files = _within(_files(cycle), cycle.budget)
        steps = _steps(cycle)
        room = cycle.budget * CHARACTERS_PER_TOKEN - (len(_text(files)) + len(_BETWEEN) if files else 0)
        kept = _newest(steps, room)
        room -= sum(len(step.text) + len(_BETWEEN) for step in kept)
        reached = steps[: len(steps) - len(kept)][-1:]
        begun = (_cut(step, room) for step in reached if room + step.weight > 0)
        return _summary([*files, *(step for step in begun if step.text), *kept])


def _steps(cycle: Cycle) -> list[SummaryEntry]:
    """Return the steps that are there as they were, the oldest first: those that stayed before, then the span.

    The characters of its results weigh against a step: a later cycle has to know them, and has no more than its text.
    """
    before = (entry for entry in cycle.previous.entries if entry.section == _STEP)
    new = (SummaryEntry(_STEP, text_of_step(step), -_characters_of_results(step), step.step_id) for step in cycle.span)
    return [*before, *(entry for entry in new if entry.text)]


def _characters_of_results(step: Step) -> int:
    return sum(len(result.text) for result in step.results)


def _newest(steps: Sequence[SummaryEntry], room: int) -> list[SummaryEntry]:
    """Return the last steps that fit, whole, in so many characters."""
    kept = 0
    for step in reversed(steps):
        if len(step.text) > room:
            break
        room -= len(step.text) + len(_BETWEEN)
        kept += 1
    return list(steps[len(steps) - kept :])


def _cut(step: SummaryEntry, room: int) -> SummaryEntry:
    """Return a step without its middle, so that it fits; without text where there is no room for it.

    All of it weighs against it, so that it goes when it does not fit again: a second cut could not tell what is gone.
    """
    text = cut_middle(step.text, room - _MARKER, what="of the step") if room >= _LEAST_KEPT + _MARKER else ""
    return dataclasses.replace(step, text=text, weight=-len(step.text))


def _files(cycle: Cycle) -> list[SummaryEntry]:
    """Return the files that were changed, then those that were only read, each by name."""
    touched = {(entry.section, entry.text) for entry in cycle.previous.entries if entry.section != _STEP}
    touched |= set(_touched(cycle.span))
    changed = {path for section, path in touched if section == _CHANGED}
    found = [(section, path) for section, path in touched if section == _CHANGED or path not in changed]
    return [SummaryEntry(section, path, 0) for section, path in sorted(found)]


def _touched(span: Iterable[Step]) -> Iterator[tuple[str, str]]:
    for step in span:
        for call in step.calls:
            section, path = _SECTION_BY_TOOL.get(call.name.lower()), _path_of(call)
            if section and path:
                yield section, path


def _path_of(call: ToolCall) -> str:
    found = (call.arguments.get(name) for name in _PATH)
    return next((path for path in found if isinstance(path, str)), "")


def _within(files: Sequence[SummaryEntry], budget: int) -> list[SummaryEntry]:
    """Return the first files whose list fits the budget."""
    count = len(files)
    while count and tokens_in(_text(files[:count])) > budget:
        count -= 1
    return list(files[:count])


def _summary(entries: Sequence[SummaryEntry]) -> CompactionSummary:
    return CompactionSummary(_text(entries), tuple(entries))


def _text(entries: Sequence[SummaryEntry]) -> str:
    lists = (_listed(section, entries) for section in (_CHANGED, _READ))
    steps = (entry.text for entry in entries if entry.section == _STEP)
    return _BETWEEN.join(part for part in (*lists, *steps) if part)


def _listed(section: str, entries: Sequence[SummaryEntry]) -> str:
    paths = [f"- {entry.text}" for entry in entries if entry.section == section]
    return "\n".join((f"{section}:", *paths)) if paths else ""

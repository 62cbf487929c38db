"""Controls: what methods are compared with. None of them understands what it keeps."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Mapping, Sequence

from ctxsift.sessions.compaction.lines import utterances
from ctxsift.sessions.compaction.records import CompactionSummary, Cycle, SummaryEntry
from ctxsift.sessions.compaction.transcript import text_of
from ctxsift.sessions.figures import CHARACTERS_PER_TOKEN
from ctxsift.sessions.records import Compaction, JsonValue, Source, Step

# Of an argument that is masked, this much stays.
_SHOWN_OF_ARGUMENT = 200


class Drop:
    """Remove the earlier steps and write no summary."""

    takes_budget = True
    must_shrink = True

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return an empty summary."""
        del cycle
        return CompactionSummary()


class Last:
    """Keep the end of the removed steps, whatever it contains."""

    takes_budget = True
    must_shrink = True

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the last characters of the previous summary and the span."""
        return CompactionSummary(_end(_joined(cycle.previous.text, text_of(cycle.span)), cycle.budget))


class First:
    """Keep the beginning of the removed steps, whatever it contains."""

    takes_budget = True
    must_shrink = True

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the first characters of the previous summary and the span."""
        text = _joined(cycle.previous.text, text_of(cycle.span))
        return CompactionSummary(text[: cycle.budget * CHARACTERS_PER_TOKEN])


class Random:
    """Keep random lines of the removed steps.

    Each draws its weight once, when it goes: what stands after the last cut is drawn from the whole history, and not
    from the last span above all.

    Args:
        seed: another one gives other lines.

    """

    takes_budget = True
    must_shrink = True

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the heaviest lines of the previous summary and the span that fit the budget, in their order."""
        lines = [*cycle.previous.entries, *self._weighed(text_of(cycle.span))]
        # The last line has no line break.
        room, kept = cycle.budget * CHARACTERS_PER_TOKEN + 1, list[int]()
        for at in sorted(range(len(lines)), key=lambda at: -lines[at].weight):
            if (size := len(lines[at].text) + 1) <= room:
                room -= size
                kept.append(at)
        entries = tuple(lines[at] for at in sorted(kept))
        return CompactionSummary("\n".join(entry.text for entry in entries), entries)

    def _weighed(self, text: str) -> list[SummaryEntry]:
        # Tools may print half characters.
        drawn = random.Random(f"{self._seed}:{text}".encode("utf-8", "surrogatepass"))
        return [SummaryEntry("", line, drawn.random()) for line in text.split("\n") if line.strip()]


class Mask:
    """Keep everything except tool outputs and long arguments."""

    takes_budget = False
    must_shrink = True

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return all steps that are gone, their outputs masked."""
        return CompactionSummary(_joined(cycle.previous.text, text_of(_masked(step) for step in cycle.span)))


class ConversationText:
    """Keep only what the user and the agent said.

    Args:
        cut: keep the end of it that fits the budget.
        sources: whose text.

    """

    must_shrink = True

    def __init__(self, *, cut: bool = False, sources: Sequence[Source] = (Source.USER, Source.AGENT)) -> None:
        self.takes_budget = cut
        self._sources = sources

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the text of all steps that are gone."""
        said = "\n".join(
            f"{source}: {message}"
            for step in cycle.span
            for source, message in utterances(step)
            if source in self._sources
        )
        text = _joined(cycle.previous.text, said, "\n")
        return CompactionSummary(_end(text, cycle.budget) if self.takes_budget else text)


class TextCut(ConversationText):
    """Keep the end of what the user and the agent said, within the budget."""

    def __init__(self) -> None:
        super().__init__(cut=True)


class UserText(ConversationText):
    """Keep only what the user said."""

    def __init__(self) -> None:
        super().__init__(sources=(Source.USER,))


class Everything:
    """Keep all removed steps unchanged: the highest possible score."""

    takes_budget = False
    must_shrink = False

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return all steps that are gone, as text."""
        return CompactionSummary(_joined(cycle.previous.text, text_of(cycle.span)))


class RecordedSummary:
    """Keep the last summary that the agent's own program made, if the session file contains one.

    Args:
        compactions: of the session.

    """

    takes_budget = False
    must_shrink = False

    def __init__(self, compactions: Iterable[Compaction]) -> None:
        self._compactions = sorted(compactions, key=lambda each: each.after_step)

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the last summary that was there at the cut; an empty one before the first."""
        found = [each.summary for each in self._compactions if each.after_step <= cycle.cut.after_step]
        return CompactionSummary(found[-1] if found else "")


class GivenSummary:
    """A summary made elsewhere: by another agent, by a script, or gold itself (the oracle).

    Args:
        text: what stands for the steps that are gone, at every cut.
        by_cut: ... where it differs from cut to cut, by the id of the last step that stood.

    """

    takes_budget = False
    must_shrink = False

    def __init__(self, text: str = "", by_cut: Mapping[int, str] | None = None) -> None:
        self._text, self._by_cut = text, by_cut or {}

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the summary that was given."""
        return CompactionSummary(self._by_cut.get(cycle.cut.after_step, self._text))


def _joined(before: str, after: str, between: str = "\n\n") -> str:
    return between.join(part for part in (before, after) if part)


def _end(text: str, budget: int) -> str:
    room = budget * CHARACTERS_PER_TOKEN
    return text[-room:] if room else ""


def _masked(step: Step) -> Step:
    results = tuple(
        dataclasses.replace(each, text=f"[output of {len(each.text):,} characters]") for each in step.results
    )
    calls = tuple(
        dataclasses.replace(call, arguments={name: _masked_value(value) for name, value in call.arguments.items()})
        for call in step.calls
    )
    return dataclasses.replace(step, results=results, calls=calls, reasoning="")


def _masked_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str) and len(value) > _SHOWN_OF_ARGUMENT:
        return f"{value[:_SHOWN_OF_ARGUMENT]} [{len(value) - _SHOWN_OF_ARGUMENT:,} characters more]"
    return value

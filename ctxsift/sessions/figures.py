"""What a session amounts to, counted while it is read: nothing but counts is kept."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from ctxsift.sessions.importers.base import Aside, Event, Skipped, TakenBack
from ctxsift.sessions.reading import Tally
from ctxsift.sessions.records import Compaction, SessionHead, Source, Step, StepEnding, TokenUsage

# Of English text and code; only an estimate, as the tokenizers of most agents' models are not public.
CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Figures:
    """Counts of a session.

    Attributes:
        taken_back: steps of branches that were left behind, and `branches` how many there are.
        characters: of all text of the main line: messages, reasoning, arguments (as JSON), results.
        counted: steps whose tokens a provider counted, and `usage` their sums.
        first, last: earliest and latest time of a step.
        subagents: steps by subagent.

    """

    head: SessionHead = field(default_factory=lambda: SessionHead(""))
    steps: Counter[Source] = field(default_factory=Counter)
    endings: Counter[StepEnding] = field(default_factory=Counter)
    copied: int = 0
    taken_back: int = 0
    branches: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    results: int = 0
    characters: int = 0
    counted: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    compactions: list[Compaction] = field(default_factory=list)
    first: datetime.datetime | None = None
    last: datetime.datetime | None = None
    demonstration: int = 0
    subagents: Counter[str] = field(default_factory=Counter)
    skipped: Tally = field(default_factory=Tally)

    @property
    def estimated_tokens(self) -> int:
        """Return about how many tokens the text has."""
        return round(self.characters / CHARACTERS_PER_TOKEN)


def figures_of(events: Iterable[Event]) -> Figures:
    """Return the counts of a session."""
    figures = Figures()
    for event in events:
        if isinstance(event, Step):
            _add_step(figures, event)
        elif isinstance(event, Aside):
            if event.subagent:
                figures.subagents[event.subagent] += 1
            else:
                figures.demonstration += 1
        elif isinstance(event, Compaction):
            figures.compactions.append(event)
        elif isinstance(event, Skipped):
            figures.skipped.add(event.kind)
        elif isinstance(event, TakenBack):
            figures.taken_back += len(event.steps)
            figures.branches += 1
        else:
            figures.head = event
    return figures


def _add_step(figures: Figures, step: Step) -> None:
    figures.steps[step.source] += 1
    figures.copied += step.copied
    if step.source is Source.AGENT:
        figures.endings[step.ending] += 1
    figures.characters += len(step.message) + len(step.reasoning) + sum(len(each.text) for each in step.results)
    for call in step.calls:
        figures.tools[call.name] += 1
        figures.characters += len(msgspec.json.encode(call.arguments))
    figures.results += len(step.results)
    if step.usage is not None:
        figures.counted += 1
        known = figures.usage
        figures.usage = TokenUsage(
            known.prompt_tokens + step.usage.prompt_tokens,
            known.completion_tokens + step.usage.completion_tokens,
            known.cached_tokens + step.usage.cached_tokens,
        )
    if (when := time_of(step.timestamp)) is not None:
        figures.first = when if figures.first is None else min(figures.first, when)
        figures.last = when if figures.last is None else max(figures.last, when)


def time_of(timestamp: str | None) -> datetime.datetime | None:
    """Return a point of time in UTC; one without a zone is taken for UTC."""
    try:
        found = datetime.datetime.fromisoformat(timestamp or "")
        return found.astimezone(datetime.UTC) if found.tzinfo else found.replace(tzinfo=datetime.UTC)
    except (ValueError, OverflowError):
        return None

"""What compaction takes and gives: cuts, summaries, and the context that is left at a cut."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ctxsift.sessions.artifacts.records import Artifacts
from ctxsift.sessions.compaction.transcript import text_of, tokens_in, tokens_of
from ctxsift.sessions.records import JsonValue, Step, standing

# A summary stands among messages in the user's place: how it begins there, and how it ends.
SUMMARY_BEGINS = "This is a summary of the session so far, not a message from the user."
# As earlier versions wrote it; sessions still contain such summaries.
SUMMARY_BEGAN = "This is a summary of the session so far, not a message of the user."
SUMMARY_ENDS = "(End of the summary.)"


@dataclass(frozen=True, slots=True)
class Cut:
    """A point at which a session is made short.

    Attributes:
        after_step: id of the last step that stood.
        first_kept: id of the earliest step that stays; all before it go, system prompts apart.

    """

    after_step: int
    first_kept: int


@dataclass(frozen=True, slots=True)
class Key:
    """What a value is given to.

    Attributes:
        name: what the value is called: `port`, `limit`.
        subject: words that tell which thing has it, as they are compared; empty where the line does not say.
        announced: the line says that something changes.
        files: configuration files that the value is set in; empty where the line names none.

    """

    name: str
    subject: tuple[str, ...] = ()
    announced: bool = False
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryEntry:
    """A line of a summary that is kept from cycle to cycle.

    Attributes:
        section: the heading it stands under.
        text: the line, without a bullet.
        weight: how much it matters; what is heavier stays longer.
        step_id: where it was said; 0 where that is not known.
        by_user: it is the user's.
        is_task: it is of the first message of the user, which stays.
        is_listed: it is an open task of a to-do list; only what happens to that list makes it go.
        lead: what introduced it: a heading, or a line that ends in a colon.
        keys: what it gives a value to; a later entry that gives one to the same takes its place.
        names: names and numbers in it, which a later line can declare to be out of date.

    """

    section: str
    text: str
    weight: float
    step_id: int = 0
    by_user: bool = False
    is_task: bool = False
    is_listed: bool = False
    lead: str = ""
    keys: tuple[Key, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompactionSummary:
    """What stands for the steps that are gone.

    Attributes:
        text: as it is shown to whoever goes on; empty where `items` is all there is, or nothing.
        entries: the lines of a summary that rules keep, in their order; empty for text of another origin.
        items: what a provider's compaction gave back, to be passed on as it came; then `text` is empty.
        fallback: why this was made by rules although a model was asked; empty where it was not.

    """

    text: str = ""
    entries: tuple[SummaryEntry, ...] = ()
    items: tuple[Mapping[str, JsonValue], ...] = ()
    fallback: str = ""

    @property
    def tokens(self) -> int:
        """About how many tokens it takes."""
        return tokens_in(self.text) + sum(tokens_in(json.dumps(dict(item))) for item in self.items)


@dataclass(frozen=True, slots=True)
class Cycle:
    """What a method is given at a cut.

    Attributes:
        cut: where.
        previous: what the cycle before left; empty in the first one.
        span: the steps that go now. Those that went before are in `previous` alone.
        budget: tokens that the new summary may take.
        artifacts: what the session has touched up to now; None without an index.

    """

    cut: Cut
    previous: CompactionSummary
    span: tuple[Step, ...]
    budget: int
    artifacts: Artifacts | None = None

    @property
    def tokens(self) -> int:
        """About how many tokens the new summary stands for."""
        return self.previous.tokens + tokens_of(self.span)


class Method(Protocol):
    """A way to make a session short. The same cycles give the same summaries.

    Attributes:
        takes_budget: its summaries stay within the budget of their cycle; others are as long as they come out.
        must_shrink: a summary that is not smaller than what it stands for is refused.

    """

    takes_budget: bool
    must_shrink: bool

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return what stands for the previous summary and the span."""
        ...


@dataclass(frozen=True, slots=True)
class Compacted:
    """The context that is left of a session at a cut.

    Attributes:
        method: its name.
        cut: where the session was cut.
        system: system prompts, which are never compacted.
        summary: what the method made; where it was refused, that of the cycle before.
        index: what the artifact index says; empty without one.
        steps: what stays as it was: a span that was refused, then the kept tail. The outputs of its last step may be
            elided in the middle.
        budget: tokens that summary and index may take together; None where the method takes none.
        tokens_before: of the context as it would have been without this cut.
        refused: why the cycle was refused; empty where it was not.
        fallback: why the rule-based summary stands here instead of a model's; empty where it does not.
        seconds: that the cycle took.

    """

    method: str
    cut: Cut
    system: tuple[Step, ...]
    summary: CompactionSummary
    index: str
    steps: tuple[Step, ...]
    budget: int | None
    tokens_before: int
    refused: str = ""
    fallback: str = ""
    seconds: float = 0.0

    @property
    def summary_text(self) -> str:
        """What is shown in place of the steps that are gone."""
        return "\n\n".join(part for part in (self.summary.text, self.index) if part)

    @property
    def text(self) -> str:
        """The context as one text, system prompts left out: what retention is judged on."""
        return "\n\n".join(part for part in (self.summary_text, text_of(self.steps)) if part)

    @property
    def summary_tokens(self) -> int:
        """About how many tokens stand in place of the steps that are gone."""
        return self.summary.tokens + tokens_in(self.index)

    @property
    def tokens(self) -> int:
        """About how many tokens the context has, system prompts included."""
        return tokens_of(self.system) + self.summary_tokens + tokens_of(self.steps)


def span_between(steps: Sequence[Step], first: int, end: int) -> tuple[Step, ...]:
    """Return the steps that stand with ids from `first` up to, not including, `end`."""
    return tuple(step for step in standing(steps) if first <= step.step_id < end)

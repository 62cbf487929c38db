"""A session in its internal form, with the fields of the Agent Trajectory Interchange Format (ATIF)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"


class Source(StrEnum):
    """Who speaks in a step."""

    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"


class StepEnding(StrEnum):
    """How a step of the agent ended, as its program recorded it."""

    COMPLETE = "complete"
    ABORTED = "aborted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the agent called.

    Attributes:
        call_id: unique within its session; importers number calls whose file gives none.
        name: the tool, as the agent's program names it.
        arguments: as the file has them, decoded; text that is no JSON object stands under the key `input`.

    """

    call_id: str
    name: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back.

    Attributes:
        call_id: the call it answers; empty where the file does not say.
        text: its output.
        exit_code: only where the file states one.
        is_error: only where the file says so.

    """

    call_id: str
    text: str
    exit_code: int | None = None
    is_error: bool | None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that a provider counted for one step; cached ones are part of the prompt's."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One turn: a message of one source, with the calls an agent made and what came of them.

    Attributes:
        step_id: counts from 1 within its session, in the order of the file.
        message, reasoning: text alone; images and files are named in square brackets.
        calls, results: results stand with the calls they answer, not where the file happens to hold them.
        timestamp: ISO 8601, as written.
        model: that wrote it, where the file says.
        usage: as the provider counted; None where it did not.
        folder: working folder of the step, where the file says.
        copied: it happened in an earlier session, from which this one was branched off.
        taken_back: somebody went back to before it; what it did to files, it did.

    """

    step_id: int
    source: Source
    message: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    timestamp: str | None = None
    model: str | None = None
    usage: TokenUsage | None = None
    folder: str | None = None
    ending: StepEnding = StepEnding.COMPLETE
    copied: bool = False
    taken_back: bool = False


@dataclass(frozen=True, slots=True)
class Compaction:
    """A point at which the agent's program replaced earlier steps by a summary.

    Attributes:
        after_step: the last step that stood before it.
        summary: what replaced them; empty where it is encrypted or not recorded.
        first_kept_step: the earliest step that stayed, where the file says.
        tokens_before: size of the context before it, where the file says.

    """

    after_step: int
    summary: str = ""
    first_kept_step: int | None = None
    tokens_before: int | None = None


@dataclass(frozen=True, slots=True)
class SessionHead:
    """What is known of a session apart from its steps; empty where its file does not say.

    Attributes:
        is_subagent: the agent of another session began it.

    """

    format: str
    session_id: str = ""
    agent: str = ""
    agent_version: str = ""
    model: str = ""
    folder: str = ""
    started: str | None = None
    title: str = ""
    is_subagent: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """A whole session.

    Attributes:
        demonstration: steps of a worked example that stood before the task; they are no history.
        skipped: kinds of records that were not read, with how many there were.
        redacted: kinds of secrets taken out, with how many.
        subagents: what agents did that the session's agent started; their steps are not among its own.

    """

    head: SessionHead
    steps: tuple[Step, ...]
    compactions: tuple[Compaction, ...] = ()
    demonstration: tuple[Step, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)
    subagents: tuple[Session, ...] = ()

    @property
    def standing_compactions(self) -> tuple[Compaction, ...]:
        """The compactions that led to where the session is now."""
        gone = {step.step_id for step in self.steps if step.taken_back}
        return tuple(each for each in self.compactions if each.after_step not in gone)


def standing(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return steps without those that were taken back."""
    return tuple(step for step in steps if not step.taken_back)

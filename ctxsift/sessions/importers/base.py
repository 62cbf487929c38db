"""What an importer is: values of a file in, events of a session out, one after the other.

Steps are numbered as they begin and leave in that order. A step is held back for a while after it began: parts of its
message and results of its calls may stand further down in the file.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from ctxsift.sessions.importers.identity import Seen
from ctxsift.sessions.records import (
    Compaction,
    JsonValue,
    SessionHead,
    Source,
    Step,
    StepEnding,
    TokenUsage,
    ToolCall,
    ToolResult,
)
from ctxsift.sessions.speakers import is_by_program

# How many steps may begin before one leaves: when all its calls are answered, and at the latest.
_HELD, _HELD_AT_MOST = 8, 64
# How many of the latest records are known by their id.
_RECENT = 50_000
_MOST_CHARACTERS_OF_KIND = 60


@dataclass(frozen=True, slots=True)
class Aside:
    """A step apart from the main line.

    Attributes:
        subagent: whose step it is; empty for one of a demonstration.

    """

    step: Step
    subagent: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in the file that is not read."""

    kind: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """Steps of a branch that somebody left to go on from an earlier step; comes after all steps of the main line."""

    steps: tuple[int, ...]


# A head may come again when more is known; the last one holds.
Event: TypeAlias = SessionHead | Step | Compaction | Aside | Skipped | TakenBack


@dataclass(slots=True)
class Turn:
    """A step that is still being put together.

    Attributes:
        name: to find it by.
        keys: ids of its calls, as the file has them.
        waiting: calls without a result, in their order; a step may have a hundred thousand.
        answered: its results, by call and text.
        request: which request it answers, where the file says.

    """

    step_id: int
    source: Source
    timestamp: str | None
    name: str = ""
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)
    waiting: OrderedDict[str, None] = field(default_factory=OrderedDict)
    answered: set[tuple[str, str]] = field(default_factory=set)
    model: str | None = None
    usage: TokenUsage | None = None
    folder: str | None = None
    ending: StepEnding = StepEnding.COMPLETE
    copied: bool = False
    request: str = ""

    def step(self) -> Step:
        """Return it as a step."""
        return Step(
            self.step_id,
            self.source,
            "\n".join(part for part in self.texts if part),
            "\n".join(part for part in self.reasoning if part),
            tuple(self.calls),
            tuple(self.results),
            self.timestamp,
            self.model,
            self.usage,
            self.folder,
            self.ending,
            self.copied,
        )


class AgentLine:
    """The steps of one agent: the main line of a session, or that of a subagent.

    Attributes:
        number: the id of the step that began last; 0 before the first.
        newest: that step.
        asked: the ids of the user's steps.

    """

    def __init__(self) -> None:
        self.number = 0
        self.newest: Turn | None = None
        self.asked = array("Q")
        self._held: deque[Turn] = deque()
        self._named: dict[str, Turn] = {}
        self._callers: dict[str, tuple[Turn, str]] = {}
        self._ids: set[str] = set()

    def begin(self, source: Source, message: str = "", timestamp: JsonValue = None, *, name: str = "") -> Turn:
        """Begin a step. A message in the user's name that only a program wrote is the system's.

        A `name` lets `named` find the step again.
        """
        if source is Source.USER and is_by_program(message):
            source = Source.SYSTEM
        self.number += 1
        turn = Turn(self.number, source, timestamp if isinstance(timestamp, str) else None, name, [message])
        self.newest = turn
        if source is Source.USER:
            self.asked.append(turn.step_id)
        self._held.append(turn)
        if name:
            self._named[name] = turn
        return turn

    def named(self, name: str) -> Turn | None:
        """Return the step of this name, unless it has left."""
        return self._named.get(name)

    def has_answer(self, call_id: str, output: str) -> bool:
        """Return True if a call has this result already."""
        turn, unique = self._callers.get(call_id, (None, ""))
        return turn is not None and (unique, output) in turn.answered

    def has_call(self, call_id: str) -> bool:
        """Return True if a call of a step that is still held has this id."""
        return call_id in self._callers

    def last_of_agent(self) -> Turn | None:
        """Return the latest step of the agent, unless it has left."""
        return next((turn for turn in reversed(self._held) if turn.source is Source.AGENT), None)

    def call(self, turn: Turn, call_id: str, name: str, arguments: Mapping[str, JsonValue]) -> str:
        """Add a call to a step, and return its id, which is unique: one that was used before gets a number."""
        base = call_id or "call"
        # A step may have thousands of calls without an id.
        number = max(1, len(turn.calls))
        unique = call_id or f"call-{turn.step_id}"
        while unique in self._ids:
            number += 1
            unique = f"{base}-{turn.step_id}-{number}"
        self._ids.add(unique)
        turn.calls.append(ToolCall(unique, name, arguments))
        turn.waiting[unique] = None
        key = call_id or unique
        turn.keys[key] = None
        self._callers[key] = turn, unique
        return unique

    def result(
        self, call_id: str, output: str, exit_code: int | None = None, *, is_error: bool | None = None
    ) -> Turn | None:
        """Add a result to the step of its call, and return the step; None when there is no such call (any more).

        Without a call id it answers the first call of the latest step that waits for a result.
        """
        if not call_id:
            turn = next((turn for turn in reversed(self._held) if turn.waiting), None)
            unique = next(iter(turn.waiting)) if turn else ""
        else:
            turn, unique = self._callers.get(call_id, (None, ""))
        if turn is None:
            return None
        turn.results.append(ToolResult(unique, output, exit_code, is_error))
        turn.answered.add((unique, output))
        turn.waiting.pop(unique, None)
        return turn

    def ready(self) -> Iterator[Step]:
        """Yield the steps that are complete as far as can be told."""
        while len(self._held) > _HELD and (not self._held[0].waiting or len(self._held) > _HELD_AT_MOST):
            yield self._leave()

    def rest(self) -> Iterator[Step]:
        """Yield the steps that are still held."""
        while self._held:
            yield self._leave()

    def _leave(self) -> Step:
        turn = self._held.popleft()
        if self._named.get(turn.name) is turn:
            del self._named[turn.name]
        for key in turn.keys:
            if key in self._callers and self._callers[key][0] is turn:
                del self._callers[key]
        return turn.step()


class Recent:
    """Which step the latest records belong to, by their ids; older ones are forgotten, so that memory is bounded."""

    def __init__(self) -> None:
        self._new: dict[str, int] = {}
        self._old: dict[str, int] = {}

    def put(self, name: str, step_id: int) -> None:
        """Note the step of a record."""
        if len(self._new) >= _RECENT:
            self._old, self._new = self._new, {}
        self._new[name] = step_id

    def get(self, name: str) -> int | None:
        """Return the step of a record."""
        return self._new.get(name, self._old.get(name))


class Importer(ABC):
    """Reads one session of a format.

    Attributes:
        format: its name.
        main: the session's own line.
        head: what is known so far.
        seen: what was read, where a file may hold it more than once.

    """

    format: ClassVar[str]

    def __init__(self) -> None:
        self.main = AgentLine()
        self.head = SessionHead(self.format)
        self._lines: dict[str, AgentLine] = {}
        # Those that may have got a step: a session may have thousands of subagents.
        self._touched: dict[str, AgentLine] = {}
        self._out: list[Event] = []
        self.seen = Seen()
        self._compaction: Compaction | None = None

    @classmethod
    @abstractmethod
    def recognises(cls, first: Sequence[JsonValue]) -> bool:
        """Return True if these are the first values of such a session: records, or one document."""

    @abstractmethod
    def read(self, value: JsonValue) -> None:
        """Read a value of the file."""

    def begin(self, first: Sequence[JsonValue]) -> None:  # noqa: B027
        """Look at the first values before they are read."""

    def finish(self) -> None:  # noqa: B027
        """Do what is left to do when all values are read."""

    def taken_back(self) -> Iterable[tuple[int, ...]]:
        """Return the steps of each branch that was left behind, when all values are read."""
        return ()

    def pass_over(self, damaged: Skipped) -> None:
        """Go past a line that could not be read."""
        self._out.append(damaged)

    def events(self, values: Iterable[JsonValue | Skipped]) -> Iterator[Event]:
        """Yield the events of a session. Only what is held back is in memory."""
        yield self.head
        for value in values:
            if isinstance(value, Skipped):
                self.pass_over(value)
            else:
                self.read(value)
            yield from self._told()
        self.finish()
        if self._compaction is not None:
            self._out.append(self._compaction)
        yield from self._told()
        yield from self.main.rest()
        yield from map(TakenBack, self.taken_back())
        for name, line in self._lines.items():
            yield from (Aside(step, name) for step in line.rest())

    def _told(self) -> Iterator[Event]:
        if self._out:
            yield from self._out
            self._out.clear()
        yield from self.main.ready()
        for name, line in self._touched.items():
            yield from (Aside(step, name) for step in line.ready())
        self._touched.clear()

    def line(self, subagent: str) -> AgentLine:
        """Return the line of a subagent, or, with an empty name, that of the demonstration; to be asked for anew."""
        found = self._touched[subagent] = self._lines.setdefault(subagent, AgentLine())
        return found

    def skip(self, kind: str) -> None:
        """Count something that is not read."""
        self._out.append(Skipped(kind[:_MOST_CHARACTERS_OF_KIND]))

    def is_repeated(self, kind: str, *identity: Hashable) -> bool:
        """Return True if something of this kind was read before, and count it as not read again."""
        again = self.seen.again(kind, *identity)
        if again:
            self.skip(f"repeated {kind}")
        return again

    def know(self, **fields: str | bool | None) -> None:
        """Add to what is known of the session; empty values add nothing."""
        new: dict[str, Any] = {
            name: value for name, value in fields.items() if value and getattr(self.head, name) != value
        }
        if new:
            self.head = dataclasses.replace(self.head, **new)
            self._out.append(self.head)

    def compact(
        self,
        summary: str = "",
        first_kept_step: int | None = None,
        tokens_before: int | None = None,
        *,
        after_step: int | None = None,
    ) -> None:
        """Note a compaction, here if not `after_step`; what several records say of one is put together."""
        after = self.main.number if after_step is None else after_step
        known = self._compaction
        if known is not None and known.after_step != after:
            self._out.append(known)
            known = None
        known = known or Compaction(after)
        self._compaction = Compaction(
            after,
            summary or known.summary,
            known.first_kept_step if first_kept_step is None else first_kept_step,
            known.tokens_before if tokens_before is None else tokens_before,
        )

"""Sessions of Pi (pi-mono's coding agent): JSON Lines, one record for each message."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from ctxsift.sessions.importers.base import Importer, Recent, Skipped, Turn
from ctxsift.sessions.importers.branches import BranchPlace, Tree
from ctxsift.sessions.importers.identity import content_hash
from ctxsift.sessions.importers.values import (
    arguments_of,
    count,
    first_text,
    flag,
    mapping,
    name_of_block,
    sequence,
    text,
    text_of,
    whole,
)
from ctxsift.sessions.records import JsonValue, Source, StepEnding, TokenUsage, ToolResult

_ROLES = ("user", "assistant", "toolResult", "bashExecution")
_ENDINGS = {"aborted": StepEnding.ABORTED, "error": StepEnding.FAILED}
# What extensions put into the context, under its names of three versions.
_OF_EXTENSIONS = ("custom", "hookMessage")


class Pi(Importer):
    """Read files of `~/.pi/agent/sessions`, versions 1 to 3."""

    format = "pi"

    def __init__(self) -> None:
        super().__init__()
        # The step of each record from 0 on, damaged lines included: compactions of version 1 count them.
        self._by_index = array("Q")
        self._by_id = Recent()
        self._tree = Tree()
        self._branched_at = ""
        self._model = ""

    @classmethod
    def recognises(cls, first: Sequence[JsonValue]) -> bool:
        """Return True for a session record, or for a message of one of its roles."""
        for value in first:
            record = mapping(value)
            if record.get("type") == "session" and "cwd" in record and "id" in record:
                return True
            if record.get("type") == "message" and mapping(record.get("message")).get("role") in _ROLES:
                return True
        return False

    def pass_over(self, damaged: Skipped) -> None:
        """Count a damaged line among the records."""
        super().pass_over(damaged)
        self._by_index.append(self.main.number + 1)

    def read(self, value: JsonValue) -> None:
        """Read a record."""
        record = mapping(value)
        name = text(record.get("id")) if record.get("type") != "session" else ""
        if name and self.is_repeated("record", name, content_hash(record.get("message", value))):
            self._by_index.append(self._by_id.get(name) or self.main.number + 1)
            return
        before = self.main.number
        turn = self._read(record)
        if record.get("type") != "session":
            begun = self.main.number if self.main.number > before else 0
            self._tree.leaf = self._tree.add(
                name, self._parent_of(record), BranchPlace.OPENS | BranchPlace.TURNS, begun
            )
        # What is no step belongs to the next one.
        step_id = turn.step_id if turn else self.main.number + 1
        self._by_index.append(step_id)
        if name:
            self._by_id.put(name, step_id)

    def _parent_of(self, record: dict[str, JsonValue]) -> int:
        """Return the place that a record follows: earlier versions write none; null begins the session anew."""
        if record.get("parentId", "") is None:
            return -1
        known = self._tree.find(text(record.get("parentId")))
        return self._tree.leaf if known is None else known

    def taken_back(self) -> Iterable[tuple[int, ...]]:
        """Return the steps of branches that do not lead to the last record."""
        return self._tree.left_behind()

    def _read(self, record: dict[str, JsonValue]) -> Turn | None:
        kind = text(record.get("type"))
        if kind == "session":
            self._session(record)
        elif kind == "message":
            return self._message(record, mapping(record.get("message")))
        elif kind == "compaction":
            self._compacted(record)
        elif kind == "model_change":
            self._model = text(record.get("modelId"))
        elif kind == "branch_summary":
            return self._say(Source.SYSTEM, text(record.get("summary")), record)
        elif kind == "custom_message":
            return self._say(Source.SYSTEM, text_of(record.get("content"), self.skip), record)
        elif kind == "session_info":
            self.know(title=text(record.get("name")))
        else:
            self.skip(f"record {kind}" if kind else "line that is no record")
        return None

    def _session(self, record: dict[str, JsonValue]) -> None:
        if self.head.session_id:
            self.skip("further session record")
            return
        self.know(
            session_id=text(record.get("id")),
            agent="Pi",
            model=text(record.get("modelId")),
            folder=text(record.get("cwd")),
            started=text(record.get("timestamp")),
        )
        if first_text(record, "branchedFrom", "parentSession"):
            self._branched_at = text(record.get("timestamp"))

    def _say(self, source: Source, message: str, record: dict[str, JsonValue]) -> Turn:
        turn = self.main.begin(source, message, record.get("timestamp"))
        turn.copied = bool(self._branched_at) and (turn.timestamp or self._branched_at) < self._branched_at
        return turn

    def _message(self, record: dict[str, JsonValue], message: dict[str, JsonValue]) -> Turn | None:
        role = text(message.get("role"))
        if role == "assistant":
            return self._assistant(record, message)
        if role == "toolResult":
            output = text_of(message.get("content"), self.skip)
            call_id = text(message.get("toolCallId")) or "?"
            turn = self.main.result(call_id, output, is_error=flag(message.get("isError")))
            if turn is None:
                self.skip("result without its call")
            return turn
        if role == "user":
            return self._say(Source.USER, text_of(message.get("content"), self.skip), record)
        if role == "bashExecution":
            turn = self._say(Source.USER, f"!{text(message.get('command'))}", record)
            turn.results.append(ToolResult("", text(message.get("output")), whole(message.get("exitCode"))))
            turn.ending = StepEnding.ABORTED if message.get("cancelled") is True else StepEnding.COMPLETE
            return turn
        if role in _OF_EXTENSIONS:
            return self._say(Source.SYSTEM, text_of(message.get("content"), self.skip), record)
        if role == "branchSummary":
            return self._say(Source.SYSTEM, text(message.get("summary")), record)
        self.skip(f"message of role {role}" if role else "message without a role")
        return None

    def _assistant(self, record: dict[str, JsonValue], message: dict[str, JsonValue]) -> Turn:
        turn = self._say(Source.AGENT, "", record)
        turn.model = text(message.get("model")) or self._model or None
        if not self.head.model:
            self.know(model=turn.model)
        turn.ending = _ENDINGS.get(text(message.get("stopReason")), StepEnding.COMPLETE)
        usage = mapping(message.get("usage"))
        if usage:
            cached = count(usage.get("cacheRead"))
            prompt = count(usage.get("input")) + count(usage.get("cacheWrite")) + cached
            turn.usage = TokenUsage(prompt, count(usage.get("output")), cached)
        content = message.get("content")
        for block in sequence(content) if isinstance(content, list) else [content]:
            fields = mapping(block)
            kind = text(fields.get("type"))
            if kind == "thinking":
                turn.reasoning.append(text(fields.get("thinking")))
            elif kind == "toolCall":
                # `partialJson` is what the arguments were read from while they came.
                arguments = arguments_of(fields.get("arguments"))
                self.main.call(turn, text(fields.get("id")), text(fields.get("name")), arguments)
            elif isinstance(block, str) or name_of_block(block) is not None:
                turn.texts.append(text_of(block, self.skip))
            elif block is not None:
                self.skip(f"block {kind or type(block).__name__}")
        return turn

    def _compacted(self, record: dict[str, JsonValue]) -> None:
        kept = self._by_id.get(text(record.get("firstKeptEntryId")))
        index = whole(record.get("firstKeptEntryIndex"))
        if kept is None and index is not None and 0 <= index < len(self._by_index):
            kept = self._by_index[index]
        if kept is not None and kept > self.main.number:
            kept = None
        self.compact(text(record.get("summary")), kept, whole(record.get("tokensBefore")))

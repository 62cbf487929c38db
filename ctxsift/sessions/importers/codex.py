"""Sessions of Codex: JSON Lines, one record for each item of a response."""

from __future__ import annotations

import datetime
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

from ctxsift.sessions.importers.base import Importer, Turn
from ctxsift.sessions.importers.codex_script import Call, call_of, calls_in
from ctxsift.sessions.importers.identity import content_hash
from ctxsift.sessions.importers.values import arguments_of, count, first_text, mapping, sequence, text, text_of, whole
from ctxsift.sessions.records import JsonValue, Source, StepEnding, TokenUsage

_RECORDS = ("session_meta", "turn_context", "event_msg", "response_item", "compacted")
# Events that repeat a response item, or say what the next record says.
_REPEATED = frozenset({"user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"})
_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "mcp_tool_call"}
)
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output", "mcp_tool_call_output"})
_COMPACTIONS = frozenset({"compaction", "context_compaction", "compaction_summary"})
# The program's own lines above a command's output say it.
_EXIT_CODE = re.compile(r"(?:^|\n)(?:Exit code: |Process exited with code )(-?\d{1,10})\n")
# A custom tool whose input is a script, and the items that repeat a message.
_SCRIPT, _JAVASCRIPT = "exec", "javascript"
_SAYING = {"UserMessage": Source.USER, "AgentMessage": Source.AGENT}
_SOURCES = {"user": Source.USER, "assistant": Source.AGENT}
_OUTPUT, _HEAD_OF_OUTPUT = "Output:\n", 400
# A fork is written with what it copies at once; a turn of its own takes longer to come.
_COPYING_S = 2.0


def _seconds(timestamp: JsonValue) -> float | None:
    try:
        return datetime.datetime.fromisoformat(text(timestamp)).timestamp()
    except (ValueError, OverflowError):
        return None


def _made_at(uuid: str) -> str:
    """Return the part of a UUID of version 7 that tells when it was made, to be compared; empty for other ids."""
    return uuid[:13] if uuid[14:15] == "7" else ""


def stated_exit_code(output: str) -> int | None:
    """Return the exit code that the program's own lines above an output tell."""
    head, mark, _ = output[:_HEAD_OF_OUTPUT].partition(_OUTPUT)
    stated = _EXIT_CODE.search(head) if mark else None
    return int(stated[1]) if stated else None


def _shown(value: JsonValue) -> str:
    """Return an argument as the command line that it may be."""
    words = [text(word) for word in sequence(value)]
    return words[-1] if words else text(value)


class Codex(Importer):
    """Read files of `~/.codex/sessions`, including the oldest form, whose items have no envelope."""

    format = "codex"

    def __init__(self) -> None:
        super().__init__()
        self._turn: Turn | None = None
        self._folder = ""
        self._model = ""
        # Items as hashes, odd ones of messages; and which of them comes next where the file repeats them.
        self._items = array("q")
        self._next: int | None = None
        self._rolled_back: list[tuple[int, ...]] = []
        # A script that runs, by the id of its call, with its step; and whether any of its calls has been told.
        self._script: tuple[str, Turn] | None = None
        self._told_calls = False
        # What items of the response, and items that were completed, have said, until the other ones say it again.
        self._said = (Counter[tuple[Source, str]](), Counter[tuple[Source, str]]())
        # When this was forked off another session; None once its own turns have begun.
        self._forked: float | None = None

    @classmethod
    def recognises(cls, first: Sequence[JsonValue]) -> bool:
        """Return True for an envelope of a known type, or a bare item of a response."""
        for value in first:
            record = mapping(value)
            kind = text(record.get("type"))
            if kind in _RECORDS and isinstance(record.get("payload"), dict):
                return True
            if kind in _CALLS | _OUTPUTS and ("call_id" in record or "action" in record):
                return True
            kinds = {text(mapping(block).get("type")) for block in sequence(record.get("content"))}
            if kind == "message" and kinds & {"input_text", "output_text"}:
                return True
        return False

    def read(self, value: JsonValue) -> None:
        """Read a record."""
        record = mapping(value)
        kind = text(record.get("type"))
        payload = mapping(record.get("payload"))
        when = text(record.get("timestamp"))
        self._forked = None if self._is_own(kind, payload, when) else self._forked
        if not record:
            self.skip("line that is no record")
        elif self._next and self._next < len(self._items) and kind in ("event_msg", "compacted"):
            self.skip("repeated record")
        elif kind == "session_meta" or (not kind and "instructions" in record):
            self._meta(payload or record, when)
        elif kind == "turn_context":
            self._turn_context(payload)
        elif kind == "event_msg":
            self._event(payload, when)
        elif kind == "compacted":
            self._compacted(payload)
        elif kind == "response_item" or "payload" not in record:
            self._item(payload if kind == "response_item" else record, when)
        else:
            self.skip(f"record {kind}")

    def _meta(self, payload: dict[str, JsonValue], when: str) -> None:
        if self.head.session_id:
            self.skip("further session_meta")
            if not self._items and text(payload.get("id")) != self.head.session_id:
                self._forked = _seconds(when or self.head.started)
            # A session that goes on may begin with all that it was.
            self._next = 0
            return
        if text(payload.get("forked_from_id")):
            self._forked = _seconds(when or payload.get("timestamp"))
        self.know(
            session_id=text(payload.get("id")),
            agent="Codex",
            agent_version=text(payload.get("cli_version")),
            folder=text(payload.get("cwd")),
            started=text(payload.get("timestamp")),
            is_subagent="subagent" in mapping(payload.get("source")) or payload.get("thread_source") == "subagent",
        )
        self._folder = self.head.folder

    def _turn_context(self, payload: dict[str, JsonValue]) -> None:
        self._folder = text(payload.get("cwd")) or self._folder
        self._model = text(payload.get("model")) or self._model
        self.know(model=self._model, folder=self._folder if not self.head.folder else "")

    def _is_own(self, kind: str, payload: dict[str, JsonValue], when: str) -> bool:
        """Return True for a record that is no copy of one of the session that this one was forked off."""
        if self._forked is None or kind == "session_meta":
            return False
        begun, forked = _made_at(text(payload.get("turn_id"))), _made_at(self.head.session_id)
        if begun and forked:
            return begun >= forked
        seconds = _seconds(when)
        return seconds is not None and seconds > self._forked + _COPYING_S

    def _is_repeated_item(self, item: dict[str, JsonValue], when: str) -> bool:
        """Return True for an item that was read before: by its id or its time, or told again from the first."""
        content = content_hash(item) & ~1 | (item.get("type") == "message")
        if self._next is not None:
            # A history told again may leave out what is no message.
            known, at = self._items, self._next
            while at < len(known) and known[at] != content and not known[at] & 1:
                at += 1
            self._next = at + 1 if at < len(known) and known[at] == content else None
        if self._next is not None:
            self.skip("repeated item")
            return True
        # What a fork copies has one time, whenever it was said.
        name = first_text(item, "call_id", "id") or (when if self._forked is None else "")
        if name and self.is_repeated("item", name, content):
            return True
        self._items.append(content)
        return False

    def _event(self, payload: dict[str, JsonValue], when: str) -> None:
        kind = text(payload.get("type"))
        last = self.main.last_of_agent()
        if kind == "token_count":
            usage = mapping(mapping(payload.get("info")).get("last_token_usage"))
            # A refresh of rate limits tells the same counts again, so they are not added up.
            if usage and last is not None:
                cached = count(usage.get("cached_input_tokens"))
                last.usage = TokenUsage(count(usage.get("input_tokens")), count(usage.get("output_tokens")), cached)
        elif kind == "turn_aborted":
            if last is not None:
                last.ending = StepEnding.ABORTED
        elif kind == "task_complete":
            # What the agent says after the end of its turn is a step of its own.
            self._turn = None
        elif kind == "context_compacted":
            self.compact()
        elif kind == "thread_rolled_back":
            self._roll_back(count(payload.get("num_turns")))
        elif kind == "item_completed":
            self._completed(mapping(payload.get("item")), when)
        elif kind not in _REPEATED:
            self.skip(f"event {kind or 'without a type'}")

    def _completed(self, item: dict[str, JsonValue], when: str) -> None:
        """Read an item that was completed: what an item of the response says as well is read once."""
        kind = text(item.get("type"))
        if kind in _SAYING:
            blocks = map(mapping, sequence(item.get("content")))
            said = "\n".join(filter(None, (text(block.get("text")) for block in blocks)))
            if not self._is_said(_SAYING[kind], said, completed=True):
                self._say(_SAYING[kind], said, when)
        elif (call := call_of(item)) is None:
            self.skip(f"completed {kind or 'item'}")
        elif self._is_called(text(item.get("id")), call):
            self.skip("repeated item")
        else:
            turn = self._script[1] if self._script else self._open(when)
            self._told_calls = True
            name, arguments = call
            call_id = self.main.call(turn, "", name, arguments)
            output = text(item.get("aggregated_output")) or text_of(
                mapping(item.get("result")).get("content"), self.skip
            )
            failed = text(item.get("status")) in ("failed", "declined")
            self.main.result(call_id, output, whole(item.get("exit_code")), is_error=failed or None)

    def _is_called(self, item_id: str, call: Call) -> bool:
        """Return True if an item of the response is this call: it has its id, or the step has the command."""
        if self._script is not None or not item_id:
            return False
        last = self.main.last_of_agent()
        command = sequence(call[1].get("command"))
        asked = text(command[-1]) if command else ""
        return self.main.has_call(item_id) or bool(
            asked and last and any(asked in map(_shown, each.arguments.values()) for each in last.calls)
        )

    def _is_said(self, source: Source, said: str, *, completed: bool) -> bool:
        """Return True if the other kind of items has said this, and this one has not said it again."""
        own, other = self._said if completed else self._said[::-1]
        if other[source, said]:
            other[source, said] -= 1
            return True
        own[source, said] += 1
        return False

    def _say(self, source: Source, said: str, when: str) -> None:
        if source is Source.AGENT:
            self._open(when).texts.append(said)
            return
        turn = self.main.begin(source, said, when)
        turn.folder = self._folder or None
        turn.copied = self._forked is not None
        self._turn = None

    def _roll_back(self, turns: int) -> None:
        """Take back the last turns of the user that still stand, with all that came since the first of them."""
        asked = self.main.asked
        if not turns or not asked:
            return
        first = asked[-min(turns, len(asked))]
        del asked[-turns:]
        gone = {step for branch in self._rolled_back for step in branch}
        self._rolled_back.append(tuple(step for step in range(first, self.main.number + 1) if step not in gone))
        self._turn = None

    def taken_back(self) -> Iterable[tuple[int, ...]]:
        """Return the steps of the turns that were rolled back, those of one rollback together."""
        return self._rolled_back

    def _compacted(self, payload: dict[str, JsonValue]) -> None:
        summary = text(payload.get("message"))
        if not summary:
            left = payload.get("replacement_history") or payload.get("replacement_history_entries")
            parts = (mapping(item) for item in sequence(left))
            summary = "\n\n".join(filter(None, (text_of(part.get("content"), self.skip) for part in parts)))
        self.compact(summary)
        self._turn = None

    def _item(self, item: dict[str, JsonValue], when: str) -> None:
        kind = text(item.get("type"))
        role = text(item.get("role"))
        if self._is_repeated_item(item, when):
            return
        if kind == "message":
            said = text_of(item.get("content"), self.skip)
            source = _SOURCES.get(role, Source.SYSTEM)
            if self._is_said(source, said, completed=False):
                self.skip("repeated item")
            else:
                self._say(source, said, when)
        elif kind == "reasoning":
            turn = self._open(when)
            for key in ("summary", "content"):
                turn.reasoning.append(text_of(item.get(key), self.skip))
        elif kind in _CALLS:
            given = next((item[key] for key in ("arguments", "input", "action") if item.get(key) is not None), None)
            call_id = first_text(item, "call_id", "id")
            turn = self._open(when)
            name, arguments = first_text(item, "name") or kind, arguments_of(given)
            if kind == "custom_tool_call" and name == _SCRIPT:
                arguments = {_JAVASCRIPT: text(given)}
                self._script, self._told_calls = (call_id, turn), False
            call = self.main.call(turn, call_id, name, arguments)
            if kind == "web_search_call":
                # Its result is never recorded.
                del turn.waiting[call]
        elif kind in _OUTPUTS:
            self._output(item)
        elif kind in _COMPACTIONS:
            self.compact()
            self._turn = None
        else:
            self.skip(f"item {kind or 'without a type'}")

    def _open(self, when: str) -> Turn:
        """Return the step that items of a response go to: a new one after a user's message or a batch of outputs."""
        if self._turn is None or self._turn.results:
            self._turn = self.main.begin(Source.AGENT, timestamp=when or None)
            self._turn.model = self._model or None
            self._turn.folder = self._folder or None
            self._turn.copied = self._forked is not None
        return self._turn

    def _output(self, item: dict[str, JsonValue]) -> None:
        given = item.get("output", item.get("tools"))
        exit_code = None
        if isinstance(given, dict):
            given = given.get("content", given.get("output"))
        elif isinstance(given, str) and given.startswith('{"output"'):
            fields = arguments_of(given)
            exit_code = whole(mapping(fields.get("metadata")).get("exit_code"))
            given = given if exit_code is None else fields.get("output")
        output = text_of(given, self.skip)
        exit_code = stated_exit_code(output) if exit_code is None else exit_code
        call_id = text(item.get("call_id")) or "?"
        if self.main.result(call_id, output, exit_code) is None:
            self.skip("result without its call")
        if self._script is not None and self._script[0] == call_id:
            self._end_script(self._script[1], output)

    def _end_script(self, turn: Turn, output: str) -> None:
        """Tell the calls that a script spells out, where the file has not told any of them."""
        self._script = None
        if self._told_calls:
            return
        script = next((text(each.arguments[_JAVASCRIPT]) for each in turn.calls if _JAVASCRIPT in each.arguments), "")
        found = list(calls_in(script))
        _, mark, printed = output.partition(_OUTPUT)
        for name, arguments in found:
            call_id = self.main.call(turn, "", name, arguments)
            # What several calls printed is not told apart.
            self.main.result(call_id, (printed if mark else output) if len(found) == 1 else "")

"""Sessions of Codex: JSON Lines, one record for each item of a response."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxsift.sessions.importers.base import Importer, Turn
from ctxsift.sessions.importers.values import arguments_of, count, first_text, mapping, sequence, text, text_of, whole
from ctxsift.sessions.records import JsonValue, Source, StepEnding, Usage

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
_OUTPUT, _HEAD_OF_OUTPUT = "Output:\n", 400


class Codex(Importer):
    """Reads what stands in `~/.codex/sessions`; also the oldest form, in which items stand without an envelope."""

    format = "codex"

    def __init__(self) -> None:
        super().__init__()
        self._turn: Turn | None = None
        self._folder = ""
        self._model = ""

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
        if not record:
            self.skip("line that is no record")
        elif kind == "session_meta" or (not kind and "instructions" in record):
            self._meta(payload or record)
        elif kind == "turn_context":
            self._folder = text(payload.get("cwd")) or self._folder
            self._model = text(payload.get("model")) or self._model
            self.know(model=self._model, folder=self._folder if not self.head.folder else "")
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "compacted":
            self._compacted(payload)
        elif kind == "response_item" or "payload" not in record:
            self._item(payload if kind == "response_item" else record, when)
        else:
            self.skip(f"record {kind}")

    def _meta(self, payload: dict[str, JsonValue]) -> None:
        if self.head.session_id:
            self.skip("further session_meta")
            return
        self.know(
            session_id=text(payload.get("id")),
            agent="Codex",
            agent_version=text(payload.get("cli_version")),
            folder=text(payload.get("cwd")),
            started=text(payload.get("timestamp")),
        )
        self._folder = self.head.folder

    def _event(self, payload: dict[str, JsonValue]) -> None:
        kind = text(payload.get("type"))
        last = self.main.last_of_agent()
        if kind == "token_count":
            usage = mapping(mapping(payload.get("info")).get("last_token_usage"))
            # A refresh of rate limits tells the same counts again, so they are not added up.
            if usage and last is not None:
                cached = count(usage.get("cached_input_tokens"))
                last.usage = Usage(count(usage.get("input_tokens")), count(usage.get("output_tokens")), cached)
        elif kind == "turn_aborted":
            if last is not None:
                last.ending = StepEnding.ABORTED
        elif kind == "context_compacted":
            self.compact()
        elif kind not in _REPEATED:
            self.skip(f"event {kind or 'without a type'}")

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
        if kind == "message" and role != "assistant":
            said = text_of(item.get("content"), self.skip)
            turn = self.main.begin(Source.USER if role == "user" else Source.SYSTEM, said, when)
            turn.folder = self._folder or None
            self._turn = None
        elif kind == "message":
            self._open(when).texts.append(text_of(item.get("content"), self.skip))
        elif kind == "reasoning":
            turn = self._open(when)
            for key in ("summary", "content"):
                turn.reasoning.append(text_of(item.get(key), self.skip))
        elif kind in _CALLS:
            given = next((item[key] for key in ("arguments", "input", "action") if item.get(key) is not None), None)
            call_id = first_text(item, "call_id", "id")
            turn = self._open(when)
            call = self.main.call(turn, call_id, first_text(item, "name") or kind, arguments_of(given))
            if kind == "web_search_call":
                # Its result is never recorded.
                turn.waiting.remove(call)
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
        head, mark, _ = output[:_HEAD_OF_OUTPUT].partition(_OUTPUT)
        if exit_code is None and mark and (stated := _EXIT_CODE.search(head)):
            exit_code = int(stated[1])
        if self.main.result(text(item.get("call_id")) or "?", output, exit_code) is None:
            self.skip("result without its call")

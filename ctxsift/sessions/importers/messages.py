"""Messages as services take them: OpenAI's and Anthropic's, as a list, under `messages`, or one a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxsift.sessions.importers.base import Importer, Turn
from ctxsift.sessions.importers.claude_code import usage_of
from ctxsift.sessions.importers.codex import stated_exit_code
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
)
from ctxsift.sessions.records import JsonValue, Source, TokenUsage

ROLES = {
    "system": Source.SYSTEM,
    "developer": Source.SYSTEM,
    "user": Source.USER,
    "assistant": Source.AGENT,
    "tool": None,
    "function": None,
}
# What Codex tells its model of the place it runs in.
_FOLDER = re.compile(r"<environment_context>\s*<cwd>([^<\n]{1,1000})</cwd>")
# Items of OpenAI's Responses that stand among messages.
_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_ITEMS = (*_CALLS, *_OUTPUTS, "reasoning")


def is_message(value: JsonValue) -> bool:
    """Return True for an object with a known role and something said or called, or for a response of OpenAI's."""
    fields = mapping(value)
    if fields.get("object") == "response" and isinstance(fields.get("output"), list):
        return True
    return text(fields.get("role")) in ROLES and not {"content", "tool_calls", "function_call"}.isdisjoint(fields)


def _listed(value: JsonValue) -> list[JsonValue]:
    """Return the messages of a session: a list, those of an object, or of a request of OpenAI's and its response."""
    fields = mapping(value)
    if is_message(response := fields.get("response")):
        return [*sequence(mapping(fields.get("responses_create_params")).get("input")), response]
    return value if isinstance(value, list) else sequence(fields.get("messages"))


class Messages(Importer):
    """Read lists of OpenAI or Anthropic messages from any program."""

    format = "messages"

    def __init__(self) -> None:
        super().__init__()
        self._whole = False

    @classmethod
    def recognises(cls, first: Sequence[JsonValue]) -> bool:
        """Return True for a message, a list with one among its first members, or an object with such a list."""
        return any(is_message(value) or any(map(is_message, _listed(value)[:5])) for value in first)

    def read(self, value: JsonValue) -> None:
        """Read a message, or a whole session at once."""
        fields = mapping(value)
        listed = _listed(value)
        if is_message(value):
            self.message(fields)
        elif listed and self._whole:
            self.skip("further session")
        elif listed:
            self._whole = True
            self.know(session_id=first_text(fields, "session_id", "id"), model=text(fields.get("model")))
            if system := text_of(fields.get("system"), self.skip):
                self.main.begin(Source.SYSTEM, system)
            for each in listed:
                self.message(mapping(each))
        else:
            self.skip(f"record {first_text(fields, 'type', 'role')}" if fields else "line that is no record")

    def message(self, message: dict[str, JsonValue]) -> None:
        """Read a message, a response of OpenAI's, or an item of one."""
        role, kind = text(message.get("role")), text(message.get("type"))
        if message.get("object") == "response":
            self.assistant(message)
        elif kind in _OUTPUTS:
            self.result({**message, "tool_call_id": message.get("call_id"), "content": message.get("output")})
        elif kind in _ITEMS:
            self._item(self._going_on(message), message)
        elif role == "assistant":
            self.assistant(message)
        elif role in ("tool", "function"):
            self.result(message)
        elif role in ROLES:
            self.said(message, ROLES[role] or Source.USER)
        else:
            self.skip(f"message of role {role}" if role else "message without a role")

    def said(self, message: dict[str, JsonValue], source: Source) -> None:
        """Read what a user or the system said; an Anthropic message of a user also holds results."""
        content = message.get("content")
        parts, results = [], False
        for block in sequence(content) if isinstance(content, list) else [content]:
            fields = mapping(block)
            if fields.get("type") == "tool_result":
                results = True
                self._answer(text(fields.get("tool_use_id")), fields.get("content"), flag(fields.get("is_error")))
            else:
                parts.append(text_of(block, self.skip))
        said = "\n".join(filter(None, parts))
        if not self.head.folder and (told := _FOLDER.match(said)):
            self.know(folder=told[1])
        if said or not results:
            self.main.begin(source, said, message.get("timestamp"))

    def result(self, message: dict[str, JsonValue]) -> None:
        """Read the result of a call."""
        self._answer(text(message.get("tool_call_id")), message.get("content"), None)

    def _answer(self, call_id: str, content: JsonValue, is_error: bool | None) -> None:
        output = text_of(content, self.skip)
        if self.main.result(call_id, output, stated_exit_code(output), is_error=is_error) is None:
            self.skip("result without its call")

    def assistant(self, message: dict[str, JsonValue]) -> Turn:
        """Read a turn of the model, and return its step."""
        turn = self.main.begin(Source.AGENT, timestamp=message.get("timestamp"))
        turn.model = text(message.get("model")) or None
        turn.reasoning.append(first_text(message, "reasoning_content", "reasoning"))
        turn.usage = self.usage(mapping(message.get("usage")))
        for item in map(mapping, sequence(message.get("output"))):
            # A response may hold a whole run: what its calls gave stands among them.
            if item.get("type") in _OUTPUTS or item.get("role", "assistant") != "assistant":
                self.message(item)
            else:
                self._item(self._going_on(item), item)
        content = message.get("content")
        for block in sequence(content) if isinstance(content, list) else [content]:
            self._block(turn, block)
        turn.texts.append(text(message.get("refusal")))
        calls = sequence(message.get("tool_calls"))
        if isinstance(message.get("function_call"), dict):
            calls = [*calls, {"function": message["function_call"]}]
        for each in calls:
            call = mapping(each)
            function = mapping(call.get("function")) or call
            name, call_id = text(function.get("name")), text(call.get("id"))
            # Blocks may have told of it.
            if not call_id or call_id not in turn.keys:
                self.main.call(turn, call_id, name, arguments_of(function.get("arguments")))
        return turn

    def _going_on(self, message: dict[str, JsonValue]) -> Turn:
        """Return the step that an item belongs to: a new one after a message of somebody else, or after a result."""
        last = self.main.newest
        if last is None or last.source is not Source.AGENT or last.results:
            return self.main.begin(Source.AGENT, timestamp=message.get("timestamp"))
        return last

    def _item(self, turn: Turn, item: dict[str, JsonValue]) -> None:
        """Add an item of a response to a step of the agent."""
        kind = text(item.get("type"))
        if kind == "message":
            turn.texts.append(text_of(item.get("content"), self.skip))
        elif kind == "reasoning":
            turn.reasoning += [text_of(item.get(key), self.skip) for key in ("summary", "content")]
        elif kind in _CALLS:
            given = item.get("arguments", item.get("input"))
            self.main.call(turn, first_text(item, "call_id", "id"), text(item.get("name")), arguments_of(given))
        else:
            self.skip(f"item {kind or 'without a type'}")

    def _block(self, turn: Turn, block: JsonValue) -> None:
        fields = mapping(block)
        kind = text(fields.get("type"))
        if isinstance(block, str) or name_of_block(block) is not None:
            turn.texts.append(text_of(block, self.skip))
        elif kind in ("thinking", "reasoning"):
            turn.reasoning.append(first_text(fields, "thinking", "text"))
        elif kind in ("tool_use", "tool_call"):
            name, arguments = text(fields.get("name")), arguments_of(fields.get("input", fields.get("arguments")))
            self.main.call(turn, first_text(fields, "id", "tool_call_id"), name, arguments)
        elif block is not None:
            self.skip(f"block {kind or type(block).__name__}")

    @staticmethod
    def usage(usage: dict[str, JsonValue]) -> TokenUsage | None:
        """Return the token counts of OpenAI's messages, its responses, or Anthropic's messages."""
        for prompt, completion in (("prompt", "completion"), ("input", "output")):
            details = usage.get(f"{prompt}_tokens_details")
            if f"{prompt}_tokens" in usage and (prompt == "prompt" or details is not None):
                cached = count(mapping(details).get("cached_tokens"))
                return TokenUsage(count(usage[f"{prompt}_tokens"]), count(usage.get(f"{completion}_tokens")), cached)
        return usage_of(usage)

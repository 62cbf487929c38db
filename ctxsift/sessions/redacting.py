"""Secrets taken out of sessions as they are imported, counted by kind: those of the table, and e-mail addresses."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ctxsift.secret_kinds import ASSIGNED, HIDDEN, FoundSecret, Where, found_in, hide, is_secret_under, printed_by
from ctxsift.sessions.importers.base import Aside, Event
from ctxsift.sessions.records import Compaction, JsonValue, SessionHead, Step, ToolCall, ToolResult

_DOMAIN = re.compile(r"(?!\d+x\.)[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}(?![\w-])(?!\.\w|:[^\s/]+/)")
_LONGEST_LOCAL, _OTHERS_IN_LOCAL = 64, frozenset("._+-")
_E_MAIL = "e-mail address"
_LEAST = 8
_COMMANDS = frozenset({"command", "cmd", "keystrokes"})
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_GIVEN, _FIELDS = frozenset({"value", "text"}), ("element", "selector", "label")
_OF_PASSWORD = re.compile(r"passw(?:or)?d|passphrase", re.IGNORECASE)
_PAIR = 2
_MOST_NAMES = 1000


def _given(arguments: Mapping[str, JsonValue]) -> str:
    """Return the name of what stands under `value` or `text`; nothing where the arguments do not tell."""
    # {"name": "API_TOKEN", "value": "..."}
    name = arguments.get("name")
    if isinstance(name, str):
        return name
    # {"selector": "#password", "text": "..."}, as a tool call for a browser has it.
    fields = (arguments.get(key) for key in _FIELDS)
    return "password" if any(isinstance(field, str) and _OF_PASSWORD.search(field[:100]) for field in fields) else ""


class Redactor:
    """Takes secrets out of the events of a session.

    Attributes:
        counts: how many were taken out, by kind.

    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._names: dict[str, str] = {}

    def text(self, text: str, *, where: Where = Where.TEXT) -> str:
        """Return a text without secrets; where one was, `***` stands."""
        if len(text) < _LEAST:
            return text
        found = found_in(text, where=where)
        self.counts.update(each.kind for each in found)
        text = hide(text, found)
        return self._without_addresses(text) if "@" in text else text

    def _folder(self, folder: str) -> str:
        # An address may be the name of a home folder.
        return hide(folder, found_in(folder))

    def _known(self, name: str) -> str:
        """Return a name that a session has over and over, as of a tool or a model, without secrets."""
        if name not in self._names:
            if len(self._names) >= _MOST_NAMES:
                self._names.clear()
            self._names[name] = self.text(name)
        return self._names[name]

    def _without_addresses(self, text: str) -> str:
        """Hide e-mail addresses. `package@1.2.3`, `icon@2x.png` and `git@host:path` are none."""
        parts, end, at = [], 0, text.find("@")
        while at >= 0:
            start = at
            while start > max(end, at - _LONGEST_LOCAL) and (
                text[start - 1].isalnum() or text[start - 1] in _OTHERS_IN_LOCAL
            ):
                start -= 1
            # What marks a line of a diff (`+@cached.property`) is no part of an address.
            while start < at and not text[start].isalnum():
                start += 1
            domain = _DOMAIN.match(text, at + 1) if start < at else None
            if domain and text[start:at] != "git":
                self.counts[_E_MAIL] += 1
                parts += [text[end:start], HIDDEN]
                end = domain.end()
            at = text.find("@", domain.end() if domain else at + 1)
        return "".join((*parts, text[end:])) if parts else text

    def value(self, value: JsonValue) -> JsonValue:
        """Return a value of JSON without secrets; a string under a name like `password` is one."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return self._list(value)
        if isinstance(value, dict):
            return self._arguments(value)
        return value

    def _list(self, values: list[JsonValue]) -> list[JsonValue]:
        """Return a list without secrets; one of texts may be a command line, whose options tell what follows them."""
        texts = [each for each in values if isinstance(each, str)]
        if len(texts) < len(values):
            return [self.value(each) for each in values]
        # ["Authorization", "..."], but not ["password", "firstname"].
        if len(texts) == _PAIR and not texts[1].isalpha() and (second := self._under(*texts)) != texts[1]:
            return [self.text(texts[0]), second]
        found = found_in(" ".join(texts), where=Where.LINE)
        shown: list[JsonValue] = []
        start = 0
        for text in texts:
            inside = [each for each in found if each.start < start + len(text) and each.end > start]
            self.counts.update(each.kind for each in inside)
            clipped = [
                FoundSecret(each.kind, max(0, each.start - start), min(len(text), each.end - start)) for each in inside
            ]
            shown.append(self.text(hide(text, clipped)))
            start += len(text) + 1
        return shown

    def _under(self, key: str, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            if is_secret_under(key, value):
                self.counts[ASSIGNED] += 1
                return HIDDEN
            if key in _COMMANDS:
                return self.text(value, where=Where.CALL)
            if key.lower() in _HEADERS:
                return self.text(f"{key}: {value}").removeprefix(f"{key}: ")
        return self.value(value)

    def _arguments(self, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        given = _given(arguments)
        return {
            self.text(key): self._under(given if given and key in _GIVEN else key, each)
            for key, each in arguments.items()
        }

    def _result(self, result: ToolResult, call: ToolCall | None) -> ToolResult:
        text = result.text
        if call is not None and (found := printed_by(lambda: " ".join(map(str, call.arguments.values())), text)):
            self.counts.update(each.kind for each in found)
            text = hide(text, found)
        return dataclasses.replace(result, text=self.text(text))

    def step(self, step: Step) -> Step:
        """Return a step without secrets."""
        calls = {call.call_id: call for call in step.calls}
        return dataclasses.replace(
            step,
            message=self.text(step.message),
            reasoning=self.text(step.reasoning),
            calls=tuple(
                dataclasses.replace(call, name=self._known(call.name), arguments=self._arguments(call.arguments))
                for call in step.calls
            ),
            results=tuple(self._result(result, calls.get(result.call_id)) for result in step.results),
            model=step.model and self._known(step.model),
            folder=step.folder and self._folder(step.folder),
        )

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield events without secrets."""
        for event in events:
            if isinstance(event, Step):
                yield self.step(event)
            elif isinstance(event, Aside):
                yield dataclasses.replace(event, step=self.step(event.step))
            elif isinstance(event, Compaction):
                yield dataclasses.replace(event, summary=self.text(event.summary))
            elif isinstance(event, SessionHead):
                yield dataclasses.replace(
                    event,
                    title=self.text(event.title),
                    folder=self._folder(event.folder),
                    session_id=self._known(event.session_id),
                    agent=self._known(event.agent),
                    agent_version=self._known(event.agent_version),
                    model=self._known(event.model),
                )
            else:
                yield event

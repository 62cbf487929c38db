"""Codex in code mode (0.146 and later): what a script in JavaScript calls, and what became of that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ctxsift.sessions.importers.values import mapping, sequence, text
from ctxsift.sessions.records import JsonValue

Call: TypeAlias = tuple[str, dict[str, JsonValue]]

_LITERAL = r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`"
_CALL = re.compile(r"\btools\.(\w{1,60})\(")
_COMMAND = re.compile(rf"[{{,]\s{{0,99}}[\"']?(?:cmd|command)[\"']?\s{{0,99}}:\s{{0,99}}({_LITERAL})", re.DOTALL)
_FIRST = re.compile(rf"\s{{0,99}}({_LITERAL})", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_KINDS = {"add": "Add", "update": "Update", "delete": "Delete"}


def calls_in(script: str) -> Iterator[Call]:
    """Yield the tools that a script calls with what it spells out: shell commands and patches."""
    starts = list(_CALL.finditer(script))
    for number, found in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(script)
        if found[1] == "apply_patch":
            given = _FIRST.match(script, found.end(), end)
            key = "input"
        else:
            given, key = _COMMAND.search(script, found.end(), end), "cmd"
        value = _said(given[1]) if given else None
        if value is not None:
            yield found[1], {key: value}


def _said(literal: str) -> str | None:
    """Return what a string of JavaScript says; None where that is known only when it runs."""
    inner = literal[1:-1]
    if literal[0] == "`" and "${" in inner:
        return None
    return _ESCAPE.sub(_unescaped, inner)


def _unescaped(found: re.Match[str]) -> str:
    number = found[1] or found[2] or found[3]
    if number:
        value = int(number, 16)
        return chr(value) if value <= 0x10FFFF and not 0xD800 <= value <= 0xDFFF else "?"
    return _PLAIN.get(found[4], found[4])


def call_of(item: Mapping[str, JsonValue]) -> Call | None:
    """Return an item that was completed as a call; None for one that is none."""
    kind = item.get("type")
    if kind == "CommandExecution":
        command = [text(word) for word in sequence(item.get("command"))]
        return "exec_command", {"command": list[JsonValue](command), "workdir": text(item.get("cwd"))}
    if kind == "FileChange":
        changes = mapping(item.get("changes"))
        return "apply_patch", {"input": _patch(changes)}
    if kind == "McpToolCall":
        name = ".".join(filter(None, (text(item.get("server")), text(item.get("tool")))))
        return name or "mcp", mapping(item.get("arguments"))
    return None


def _patch(changes: Mapping[str, JsonValue]) -> str:
    """Return changes of files as the program's own patches say them."""
    lines = ["*** Begin Patch"]
    for path, told in changes.items():
        change = mapping(told)
        kind = _KINDS.get(text(change.get("type")), "Update")
        lines.append(f"*** {kind} File: {path}")
        if moved := text(change.get("move_path")):
            lines.append(f"*** Move to: {moved}")
        if kind == "Add":
            lines += [f"+{line}" for line in text(change.get("content")).splitlines()]
        elif kind == "Update":
            lines += text(change.get("unified_diff")).splitlines()
    return "\n".join([*lines, "*** End Patch"])

"""Screens of a terminal that an agent types into (Harbor's terminus-2): which command showed what, and where."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxsift.sessions.importers.values import arguments_of, mapping, sequence, text
from ctxsift.sessions.records import JsonValue

KEYSTROKES = "keystrokes"
# So much of a line stands on the screen before it is wrapped.
_ECHOED = 40
_PROMPT = re.compile(r"^(?:\(\S{1,60}\) )?[\w.-]{1,60}@[\w.-]{1,60}:(/\S{0,300}|~)[#$] ?", re.MULTILINE)


def raw_turn(message: str) -> tuple[str, list[dict[str, JsonValue]]] | None:
    """Return what a reply in JSON says and what it types; None where it is none.

    Harbor records terminus-2's replies as they came where they are to be trained on.
    """
    start, end = message.find("{"), message.rfind("}")
    fields = arguments_of(message[start : end + 1]) if 0 <= start < end else {}
    commands = [mapping(each) for each in sequence(fields.get("commands"))]
    if not {"analysis", "plan"} <= fields.keys() or not all(KEYSTROKES in each for each in commands):
        return None
    told = [f"{name.capitalize()}: {text(fields[name])}" for name in ("analysis", "plan")]
    return "\n".join(told), commands


def divided(typed: Sequence[str], screen: str) -> list[str]:
    """Return for each command what the screen showed from its echo to the next one's.

    What was shown before the first echo is the first command's. Where none is echoed, all is the last command's.
    """
    starts = [0] * len(typed)
    at, last = 0, -1
    for number, keys in enumerate(typed):
        first = keys.strip().split("\n")[0][:_ECHOED]
        found = re.compile(rf"^[^\n]{{0,200}}[#$%>] {re.escape(first)}", re.MULTILINE).search(screen, at)
        if first and found:
            starts[number] = 0 if last < 0 else found.start()
            at, last = found.end(), number
        else:
            starts[number] = -1
    if last < 0:
        return [""] * (len(typed) - 1) + [screen]
    shown, end = [""] * len(typed), len(screen)
    for number in reversed(range(len(typed))):
        if starts[number] >= 0:
            shown[number], end = screen[starts[number] : end], starts[number]
    return shown


def folders(screen: str) -> tuple[str, str]:
    """Return the folders that the first and the last prompt name; empty where no prompt names one."""
    named = [found[1] for found in _PROMPT.finditer(screen)]
    # Whose home `~` is, it does not tell.
    told = ["" if each == "~" else each for each in named]
    return (told[0], told[-1]) if told else ("", "")

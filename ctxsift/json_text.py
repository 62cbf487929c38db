"""Changes to the text of a JSON document that leave every other byte of it as it is.

Values are added at the end of their container, in the style that is there; removed again, the text is what it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_BLANKS = re.compile(r"[ \t\r\n]*+")
_INDENT = re.compile(r"\n([ \t]+)")
_DEFAULT_INDENT = "  "
_DECODER = json.JSONDecoder()


class _JsonItem(NamedTuple):
    """What is in a container: its key or index, and where it and its value begin and end."""

    key: str | int
    start: int
    value: int
    end: int


def append(text: str, path: Sequence[str], value: Any) -> str:
    """Return a document with a value at the end of a list; the list and what it lies in are made where missing.

    Args:
        text: JSON that can be decoded, no key twice, objects along the path, and a list at its end.
        path: the keys that lead to the list.
        value: to add.

    """
    at, apart = _past_blanks(text, 0), "\n" + _unit(text)
    apart = apart.replace("\n", "\r\n") if "\r\n" in text else apart
    for depth, key in enumerate(path):
        apart = _apart(text, at, apart)
        found = _named(text, at, key)
        if found is None:
            return _inserted(text, at, apart, key, _nested(path[depth + 1 :], value))
        at = found.value
        apart = apart + _unit(text) if "\n" in apart else ""
    return _inserted(text, at, _apart(text, at, apart), None, value)


def remove(text: str, path: Sequence[str | int]) -> str:
    """Return a document without what a path of keys and indices leads to, and the comma that goes with it."""
    at = _past_blanks(text, 0)
    for key in path[:-1]:
        at = _at(text, at, key).value
    items, gone = _items(text, at), _at(text, at, path[-1])
    number = items.index(gone)
    if number:
        return text[: items[number - 1].end] + text[gone.end :]
    if len(items) > 1:
        return text[: gone.start] + text[items[1].start :]
    return text[: at + 1] + text[_past_blanks(text, gone.end) :]


def _nested(keys: Sequence[str], value: Any) -> Any:
    made: Any = [value]
    for key in reversed(keys):
        made = {key: made}
    return made


def _inserted(text: str, at: int, apart: str, key: str | None, value: Any) -> str:
    """Return a text with a value at the end of the container that begins at a place."""
    lines = "\n" in apart
    dumped = json.dumps(value, ensure_ascii=False, indent=_unit(text) if lines else None).replace("\n", apart)
    item = dumped if key is None else f"{json.dumps(key)}: {dumped}"
    if items := _items(text, at):
        end = items[-1].end
        return f"{text[:end]},{apart or ' '}{item}{text[end:]}"
    close = _past_blanks(text, at + 1)
    return f"{text[: at + 1]}{apart}{item}{apart.removesuffix(_unit(text)) if lines else ''}{text[close:]}"


def _apart(text: str, at: int, otherwise: str) -> str:
    """Return the blanks before each item of the container that begins at a place."""
    first = _past_blanks(text, at + 1)
    if text[first] in "]}":
        return otherwise
    # Of blank lines above it, none is for the others.
    blank = text[at + 1 : first]
    newline = "\r\n" if "\r\n" in blank else "\n"
    return newline + blank.rpartition("\n")[2] if "\n" in blank else ""


def _past_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else _DEFAULT_INDENT


def _at(text: str, at: int, key: str | int) -> _JsonItem:
    found = _named(text, at, key)
    if found is None:
        raise KeyError(key)
    return found


def _named(text: str, at: int, key: str | int) -> _JsonItem | None:
    return next((item for item in _items(text, at) if item.key == key), None)


def _items(text: str, at: int) -> list[_JsonItem]:
    found: list[_JsonItem] = []
    is_object = text[at] == "{"
    while True:
        start = _past_blanks(text, at + 1)
        if text[start] in "]}":
            return found
        key: str | int = len(found)
        value = start
        if is_object:
            key, value = _DECODER.raw_decode(text, start)
            colon = _past_blanks(text, value)
            value = _past_blanks(text, colon + 1)
        end = _DECODER.raw_decode(text, value)[1]
        found.append(_JsonItem(key, start, value, end))
        at = _past_blanks(text, end)
        if text[at] != ",":
            return found

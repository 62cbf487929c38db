"""JSON from outside: of the standard, with finite numbers, and bounded in depth and in what it becomes in memory."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec

from ctxsift.payloads import refuse_constant

# A result of 10,000 cases has about 1.4 million values; the worst of them take some 150 bytes each.
MOST_VALUES = 2_500_000
MOST_DEPTH = 64
# Beyond 64 bits, readers disagree.
_LARGEST = 2**64
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_WIDE = re.compile(rb"[\xf0-\xf4]")
_LARGE, _MOST_WIDE = 32_000_000, 48_000_000
_MOST_DIGITS = 25
_MARKS = (b",", b"[", b"{")


def decode(content: bytes, *, most_values: int = MOST_VALUES) -> Any:
    """Return the value of a JSON document; half characters are borne.

    Args:
        content: UTF-8.
        most_values: that it may hold, containers included; counted before any of them is made.

    Raises:
        ValueError: it is not JSON (then a json.JSONDecodeError or UnicodeDecodeError), or a number, its depth or its
            size is out of bounds.

    """
    if _values(content, most_values) > most_values:
        raise ValueError(f"holds more than {most_values:,} values")
    if len(content) > _LARGE and _wide(content) > _MOST_WIDE:
        raise ValueError("holds too much text that takes four bytes a character")
    try:
        value = msgspec.json.decode(content)
    except (ValueError, RecursionError):
        # The standard library is half as fast; it bears half characters, and says better what is wrong.
        value = _decode_carefully(content)
    check(value)
    return value


def _decode_carefully(content: bytes) -> Any:
    if len(content) > 2 * _LARGE and _WIDE.search(content):
        raise ValueError("is malformed, or holds half characters, and is too large to be looked at closely")
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=refuse_constant, parse_int=_whole)
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _values(content: bytes, most: int) -> int:
    """Return at least as many values as a document holds; beyond `most`, counting stops."""
    values = 1 + _marks(content)
    if values <= most:
        return values
    # The marks in strings do not count.
    values, end = 1, 0
    for number, string in enumerate(_STRING.finditer(content)):
        values += _marks(content[end : string.start()])
        end = string.end()
        # A value has two strings at most, its key and itself.
        if max(values, number // 2) > most:
            return most + 1
    return values + _marks(content[end:])


def _wide(content: bytes) -> int:
    """Return how many bytes lie in strings of which each character will take four."""
    if not _WIDE.search(content):
        return 0
    return sum(len(string[0]) for string in _STRING.finditer(content) if _WIDE.search(string[0]))


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"holds a number of {len(digits):,} digits")
    return int(digits)


def _marks(content: bytes) -> int:
    """Return how often something begins that may be a value."""
    return sum(map(content.count, _MARKS))


# A container, what it lies in, and its key there.
_Node = tuple[Any, Any, object]


def check(value: Any) -> None:
    """Raise ValueError, naming the place, when JSON values hold a number or a depth that is out of bounds."""
    level: list[_Node] = [([value], None, None)]
    for _ in range(MOST_DEPTH):
        inner: list[_Node] = []
        for node in level:
            container = node[0]
            for key, item in container.items() if isinstance(container, dict) else enumerate(container):
                if isinstance(item, dict | list):
                    if item:
                        inner.append((item, node, key))
                elif isinstance(item, float | int) and not _is_kept(item):
                    raise ValueError(f"{_pointer(node, key)}: is not a number of a size that can be kept")
        level = inner
        if not level:
            return
    raise ValueError(f"is nested more than {MOST_DEPTH} deep")


def _is_kept(number: float) -> bool:
    return abs(number) <= _LARGEST if isinstance(number, int) else math.isfinite(number)


def _pointer(node: _Node | None, key: object) -> str:
    keys = [key]
    while node is not None:
        _, node, key = node
        keys.append(key)
    # The outermost two are the list around the value and the value itself.
    return "/" + "/".join(str(each)[:100] for each in reversed(keys[:-2]))

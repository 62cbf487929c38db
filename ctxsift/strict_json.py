"""JSON from outside: of the standard, with finite numbers, and bounded in depth and in what it becomes in memory."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

# A result of 10,000 cases has about 1.4 million values; the worst of them take some 150 bytes each.
MOST_VALUES = 2_500_000
MOST_DEPTH = 64
# Beyond 64 bits, readers disagree.
_LARGEST = 2**64
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
# JSON need not escape them, and a terminal may obey some.
_NOT_ASCII = re.compile(r"[^ -~]")
_WIDE = re.compile(rb"[\xf0-\xf4]")
_LARGE, _MOST_WIDE = 32_000_000, 48_000_000
_MOST_DIGITS = 25
_MARKS = (b",", b"[", b"{")
# Begins what may be half a character.
_HALF = b"\\u"
_ESCAPED_COLON = b"\\u003a"


class TwiceError(ValueError):
    """One object has the same key twice, so that nobody knows which value its author meant."""


def decode(content: bytes, *, most_values: int = MOST_VALUES, told: bool = True, once: bool = False) -> Any:
    """Return the value of a JSON document; half characters are borne.

    Args:
        content: UTF-8.
        most_values: that it may hold, containers included; counted before any of them is made.
        told: somebody reads what the error says.
        once: no key may stand twice in one object, as of all that is written for us; else the last one counts.

    Raises:
        ValueError: it is not JSON (then a json.JSONDecodeError or UnicodeDecodeError), a number, its depth or its
            size is out of bounds, or a key stands twice (then a TwiceError, which names the place).

    """
    if _values(content, most_values) > most_values:
        raise ValueError(f"holds more than {most_values:,} values")
    if len(content) > _LARGE and _wide(content) > _MOST_WIDE:
        raise ValueError("holds too much text that takes four bytes a character")
    try:
        value = msgspec.json.decode(content)
    except (ValueError, RecursionError):
        # The standard library is half as fast; it bears half characters and a mark of order, and says better what is
        # wrong.
        if not told and _HALF not in content and not content.startswith(codecs.BOM_UTF8):
            raise
        value = _decode_carefully(content)
    check(value)
    if once:
        _refuse_twice(content, value)
    return value


def learn(kind: Any) -> None:
    """Let msgspec read a type, while it is imported: two threads that use it first at once crash msgspec 0.22."""
    msgspec.json.Decoder(kind)


def _decode_carefully(content: bytes) -> Any:
    if len(content) > 2 * _LARGE and _WIDE.search(content):
        raise ValueError("is malformed, or holds half characters, and is too large to be looked at closely")
    try:
        return _CAREFUL.decode(content.decode("utf-8-sig"))
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


class Container(NamedTuple):
    """A list or mapping among JSON values that is not empty.

    Attributes:
        level: how many others it lies in; 0 for the outermost.
        inside: the one that it lies in, and `key` its place there.

    """

    value: Any
    level: int = 0
    inside: Container | None = None
    key: object = None

    def items(self) -> Iterable[tuple[object, Any]]:
        """Return what is in it, by key or index."""
        return self.value.items() if isinstance(self.value, dict) else enumerate(self.value)

    def place(self, *keys: object) -> tuple[object, ...]:
        """Return the keys that lead from the outermost container to a place in this one."""
        found, node = list(reversed(keys)), self
        while node.inside is not None:
            found.append(node.key)
            node = node.inside
        return tuple(reversed(found))


def containers(value: Any) -> Iterator[Container]:
    """Yield the containers of JSON values, the outer ones first; without recursion, however deep they are."""
    level = [Container(value)] if _is_container(value) else []
    while level:
        inner: list[Container] = []
        for outer in level:
            yield outer
            for key, item in outer.items():
                if _is_container(item):
                    inner.append(Container(item, outer.level + 1, outer, key))
        level = inner


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list | tuple) and bool(value)


def check(value: Any) -> None:
    """Raise ValueError, naming the place, when JSON values hold a number or a depth that is out of bounds."""
    if not _is_kept(value):
        raise ValueError("/: is not a number of a size that can be kept")
    for container in containers(value):
        if container.level >= MOST_DEPTH - 1:
            raise ValueError(f"is nested more than {MOST_DEPTH} deep")
        for key, item in container.items():
            if not _is_kept(item):
                place = "/".join(str(each)[:100] for each in container.place(key))
                raise ValueError(f"/{place}: is not a number of a size that can be kept")


def _is_kept(value: Any) -> bool:
    return abs(value) <= _LARGEST if isinstance(value, int) else not isinstance(value, float) or math.isfinite(value)


def _refuse_twice(content: bytes, value: Any) -> None:
    """Raise TwiceError when the document of a value has a key twice.

    Each key has a colon, and other colons stand in strings: what is decoded has as many, unless a key was lost.
    """
    escaped = _ESCAPED_COLON in content.lower()
    if not escaped and content.count(b":") == _colons(value, is_large=len(content) > _LARGE):
        return
    for container in containers(_TWICE.decode(content.decode("utf-8-sig"))):
        if isinstance(container.value, _Twice):
            place = "/".join(str(each)[:100] for each in container.place(container.value.key))
            raise TwiceError(f"/{place} stands twice")


def _colons(value: Any, *, is_large: bool) -> int:
    """Return how many colons a value has as JSON that escapes none; a large one is not written for it."""
    if not is_large:
        try:
            return msgspec.json.encode(value).count(b":")
        except UnicodeEncodeError:
            # It holds half a character.
            pass
    if isinstance(value, str):
        return value.count(":")
    total = 0
    for container in containers(value):
        for key, item in container.items():
            if isinstance(container.value, dict):
                total += 1 + str(key).count(":")
            total += item.count(":") if isinstance(item, str) else 0
    return total


class _Twice(dict[str, Any]):
    """An object with a key that stands in it twice."""

    key = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = _Twice(found)
    seen: set[str] = set()
    twice.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return twice


def refuse_constant(constant: str) -> Any:
    """Refuse NaN and Infinity, which are not JSON; for `parse_constant`. Raises ValueError."""
    raise ValueError(f"{constant} is not valid JSON")


# Made once: a file may have a million damaged lines.
_TWICE = json.JSONDecoder(object_pairs_hook=_object)
_CAREFUL = json.JSONDecoder(parse_constant=refuse_constant, parse_int=_whole)


def printable_json(value: Any) -> str:
    """Return JSON on one line in which whatever no reader would see is escaped; letters of all languages stay."""
    line = json.dumps(value, ensure_ascii=False)
    return _NOT_ASCII.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], line)

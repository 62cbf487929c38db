"""What people write (matrix rows, corpus files) as typed values, with errors that name the place and the hint."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import types
import typing
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import read_text
from ctxsift.strict_json import containers, decode

T = TypeVar("T")
NonBlank = Annotated[str, msgspec.Meta(pattern=r"\S")]
NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
# Of lists and mappings in each other: more than anybody writes, and far from what breaks a reader.
_DEEPEST = 32
_SHOWN_PARTS = 4
_WHOLE_NUMBERS = range(-(2**63), 2**64)
_EXPECTED = re.compile(r"Expected `([^`]+)`(?:, got `([^`]+)`)?")
_BOUND = re.compile(r"Expected `(?:int|float)` ([<>])= (\S+)")
_EMPTY = (r"matching regex '\\S'", "of length >= 1")
_WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}


def json_lines(path: Path, hint: str, most_mb: float) -> Iterator[tuple[str, Any]]:
    """Yield place and value of each line of a file of JSON Lines; blank ones are passed over. Raises InputError."""
    for number, line in enumerate(read_text(path, hint, most_mb=most_mb).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            value = decode(line.encode(), once=True)
        except (ValueError, RecursionError) as error:
            raise InputError(where, f"is not JSON ({error})", hint) from error
        yield where, value


def place_in(where: str, *parts: object) -> str:
    """Return file and JSON pointer of a place below `where`, e.g. `matrix.json: /scenarios/3`."""
    return f"{where}{'' if ': /' in where else ': '}" + "".join(f"/{_shown(part)}" for part in parts)


def read_object(kind: type[T], value: object, where: str) -> T:
    """Return a mapping as `kind` (a record or a dataclass).

    Args:
        kind: what it is to be; a field of it that may be missing has a default.
        value: what was parsed there.
        where: file and place.

    Raises:
        InputError: it is not a mapping, or a field in it, however deep, is unknown (with the nearest known ones),
            missing, or of another type.

    """
    if not isinstance(value, dict):
        raise _unexpected(where, "a mapping", value)
    _refuse_unknown_below(kind, value, where)
    found: T = convert(kind, value, where)
    return found


def convert(kind: Any, value: object, where: str) -> Any:
    """Return a value as `kind`; unknown fields are passed over. Raises InputError as `read_object` does."""
    try:
        return msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as error:
        raise _refusal(str(error), kind, value, where) from None
    except RecursionError:
        raise InputError(where, "is nested too deeply") from None


def refuse_unwritable(value: object, where: str) -> None:
    """Raise InputError for the first part of JSON values that cannot be passed on in JSON.

    That is NaN, what is infinite or beyond 64 bits, half a character, and lists and mappings in each other for more
    than 32 levels.
    """
    if fault := _unwritable(value):
        raise InputError(where, *fault)
    for container in containers(value):
        if container.level >= _DEEPEST - 1:
            place = place_in(where, *container.place()[:_SHOWN_PARTS])
            raise InputError(place, "is nested too deeply", f"use at most {_DEEPEST} levels")
        for key, part in container.items():
            if fault := _unwritable(part):
                raise InputError(place_in(where, *container.place(key)), *fault)


def _unwritable(value: object) -> tuple[str, str] | None:
    """Return problem and hint."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not a number that JSON has", "write a finite number"
    if isinstance(value, int) and value not in _WHOLE_NUMBERS:
        return f"{_shown(value)} is too large", "write a number of at most 64 bits"
    for text in (value,) if isinstance(value, str) else value if isinstance(value, dict) else ():
        if not _is_text(text):
            return "holds half a character (a lone surrogate)", "write the whole character"
    return None


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_unknown(value: Iterable[object], known: Iterable[str], where: str) -> None:
    """Raise InputError for the first key that is not known."""
    known = list(known)
    for key in value:
        if key not in known:
            raise InputError(place_in(where, key), "unknown field", did_you_mean(_shown(key), known))


def keys_of(kind: Any) -> list[str]:
    """Return the keys of a record or dataclass, as they are written."""
    return list(_types_of(kind))


@functools.cache
def _types_of(kind: Any) -> dict[str, Any]:
    """Return key -> type of the fields of a record or dataclass."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return {field.encode_name: field.type for field in msgspec.structs.fields(kind)}


def _members(kind: Any) -> Iterator[Any]:
    """Yield what a type may be: the members of a union, each without its constraints."""
    origin = typing.get_origin(kind)
    if origin is Annotated:
        yield from _members(typing.get_args(kind)[0])
    elif origin in (typing.Union, types.UnionType):
        for member in typing.get_args(kind):
            yield from _members(member)
    else:
        yield kind


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, msgspec.Struct) or dataclasses.is_dataclass(kind))


@functools.cache
def _nesting(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Return key and type of the fields that may have records in them."""
    return tuple((key, inner) for key, inner in _types_of(kind).items() if _holds_record(inner))


def _holds_record(kind: Any) -> bool:
    return any(_is_record(member) or any(map(_holds_record, typing.get_args(member))) for member in _members(kind))


def _refuse_unknown_below(kind: Any, value: object, where: str) -> None:
    for member in _members(kind):
        if isinstance(value, dict) and _is_record(member):
            refuse_unknown(value, keys_of(member), where)
            for key, inner in _nesting(member):
                if key in value:
                    _refuse_unknown_below(inner, value[key], place_in(where, key))
        elif isinstance(value, list) and typing.get_origin(member) in (list, tuple):
            for index, item in enumerate(value):
                _refuse_unknown_below(typing.get_args(member)[0], item, place_in(where, index))


def _refusal(message: str, kind: Any, value: object, where: str) -> InputError:
    """Return what msgspec says of a value in the words of a person."""
    problem, _, pointer = message.partition(" - at `$")
    parts = re.findall(r"[^.\[\]`]+", pointer)
    if missing := re.match(r"Object missing required field `(.+)`", problem):
        return InputError(place_in(where, *parts, missing[1]), "required field is missing", f"add {missing[1]!r}")
    place, given = (place_in(where, *parts) if parts else where), _value_at(value, parts)
    if problem.startswith("Invalid enum value"):
        known = _enum_at(kind, parts)
        return InputError(place, f"{_shown(given)!r} is unknown", did_you_mean(_shown(given), known))
    if any(mark in problem for mark in _EMPTY):
        hint = "give it a value" if isinstance(given, str) else "add at least one entry"
        return InputError(place, "is empty", hint)
    if bound := _BOUND.match(problem):
        how, rest = ("small", "more") if bound[1] == ">" else ("large", "less")
        return InputError(place, f"{_shown(given)} is too {how}", f"give {bound[2]} or {rest}")
    if (expected := _EXPECTED.match(problem)) and expected[2]:
        return _unexpected(place, " or ".join(_WORDS.get(w.strip(), w.strip()) for w in expected[1].split("|")), given)
    return InputError(place, problem.replace("`", ""))


def _unexpected(where: str, wanted: str, given: object) -> InputError:
    return InputError(where, f"expected {wanted}, got {_kind(given)}")


def _enum_at(kind: Any, parts: Iterable[str]) -> list[str]:
    """Return the values of the enumeration that a place in a value of `kind` takes."""
    for part in parts:
        kind = next((found for member in _members(kind) if (found := _inner(member, part)) is not None), None)
    enums = [member for member in _members(kind) if isinstance(member, type) and issubclass(member, StrEnum)]
    return [str(value) for enum in enums for value in enum]


def _inner(kind: Any, part: str) -> Any:
    if _is_record(kind):
        return _types_of(kind).get(part)
    arguments = typing.get_args(kind)
    return arguments[-1 if typing.get_origin(kind) is dict else 0] if arguments else None


def _value_at(value: Any, parts: Iterable[str]) -> Any:
    for part in parts:
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return value


def _shown(value: object) -> str:
    """Return a value as text, short: Python refuses to print very long integers."""
    try:
        return str(value)[:100]
    except ValueError:
        return "a very long number"


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    for kind, word in ((bool, "bool"), (int, "int"), (float, "float"), (str, "str"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return _WORDS[word]
    return f"a {type(value).__name__}"

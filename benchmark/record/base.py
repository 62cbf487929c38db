"""What all records have in common: frozen, tolerant, and nested in Python where the file keeps one flat object.

The published layout puts everything about a case into one object. Here the parts of a case are records of their own;
a field that is marked as flat has its keys written into the object around it, and is taken from there when read.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
import typing
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
from msgspec import UnsetType

_T = TypeVar("_T")
Json = dict[str, Any]
# What is counted or timed is typed as a backend tells it: `Count` and `Milliseconds` of `ctxsift.backends.base`.
Ratio = Annotated[float, msgspec.Meta(ge=0, le=1)]
Score = Annotated[float, msgspec.Meta(ge=0, le=100)]
# Large enough for anything measured or divided by next to nothing; its sums and squares are still numbers.
Figure = Annotated[float, msgspec.Meta(ge=-1e21, le=1e21)]
# Of one process; a run may have many.
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
TotalSeconds = Annotated[float, msgspec.Meta(ge=0, le=1e18)]
Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64)]
# UTC, e.g. 20260518T065257Z; it becomes part of file names.
Timestamp = Annotated[str, msgspec.Meta(pattern="^[0-9]{8}T[0-9]{6}Z$", max_length=16)]
Interval = tuple[Figure, Figure]
_SEAL = "sha256"


@dataclasses.dataclass(frozen=True)
class Flat:
    """How a field lies in the object around it.

    Attributes:
        rename: field of the inner record -> key in the file, where they differ.
        without: fields of the inner record that are not written: the file has them elsewhere.

    """

    rename: Mapping[str, str] = dataclasses.field(default_factory=dict)
    without: frozenset[str] = frozenset()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all records: a field with a default may be missing in a file, an unknown one is passed over."""

    FLAT: ClassVar[Mapping[str, Flat]] = {}


class WithIntervals(Record, frozen=True, kw_only=True):
    """A record with intervals, none of which ends before it begins. Raises ValueError for one that does."""

    def __post_init__(self) -> None:
        """Check them."""
        for name, key in _intervals(type(self)):
            ends = getattr(self, name)
            if isinstance(ends, tuple) and ends[0] > ends[1]:
                raise ValueError(f"{key} is from {ends[0]:g} to {ends[1]:g}, and ends before it begins")


@functools.cache
def _intervals(kind: type[Record]) -> tuple[tuple[str, str], ...]:
    """Return attribute and key of each field that may hold an interval."""
    return tuple(
        (field.name, field.encode_name)
        for field in msgspec.structs.fields(kind)
        if Interval in (field.type, *typing.get_args(field.type))
    )


def known(value: _T | UnsetType) -> _T | None:
    """Return a field that a file may leave out; None where it does."""
    return None if isinstance(value, UnsetType) else value


def to_json(value: Any) -> Any:
    """Return a record, or a list or mapping of records, as JSON values with the keys of the file."""
    if isinstance(value, Record):
        return _record_json(value)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    return msgspec.to_builtins(value)


def _record_json(record: Record) -> Json:
    config = record.__struct_config__
    found: Json = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, key, flat in _layout(type(record)):
        value = getattr(record, name)
        if value is msgspec.UNSET or (flat is not None and value is None):
            continue
        if flat is None:
            found[key] = to_json(value)
        else:
            inner = to_json(value)
            found |= {flat.rename.get(k, k): v for k, v in inner.items() if k not in flat.without}
    return found


@functools.cache
def _layout(kind: type[Record]) -> tuple[tuple[str, str, Flat | None], ...]:
    """Return attribute, key and flatness of each field."""
    return tuple((field.name, field.encode_name, kind.FLAT.get(field.name)) for field in msgspec.structs.fields(kind))


def from_json(kind: Any, value: Any) -> Any:
    """Return JSON values as a record of `kind`, whose flat fields stand in the object around them.

    Raises:
        msgspec.ValidationError: the values are not of that kind; its message ends in the place, by attributes.

    """
    return msgspec.convert(nested(kind, value), kind, strict=True)


def refusal(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return place, as JSON pointer, and problem of what a record refused."""
    problem, _, place = str(error).partition(" - at `$")
    parts = re.findall(r"[^.\[\]`]+", place)
    # Flat fields have no name in the file.
    parts = [part for part in parts if part not in _flat_names(Record)]
    if missing := re.match(r"Object missing required field `(.+)`", problem):
        return "/" + "/".join([*parts, missing[1]]), "required field is missing"
    return "/" + "/".join(parts), problem.replace("`", "")[:200].replace("Expected", "expected")


def _flat_names(kind: type[Record]) -> set[str]:
    return set(kind.FLAT).union(*(_flat_names(child) for child in kind.__subclasses__()))


def nested(kind: Any, value: Any) -> Any:
    """Return JSON values with the flat fields of every record in them gathered, as `kind` nests them."""
    if isinstance(kind, type) and issubclass(kind, Record):
        return _nested_record(kind, value) if isinstance(value, dict) else value
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is list and isinstance(value, list):
        return [nested(arguments[0], item) for item in value]
    if typing.get_origin(kind) is dict and isinstance(value, dict):
        return {key: nested(arguments[1], item) for key, item in value.items()}
    records = [each for each in arguments if isinstance(each, type) and issubclass(each, Record)]
    if records and isinstance(value, dict):
        return nested(_member(records, value), value)
    return value


def _member(records: list[type[Record]], value: Json) -> type[Record]:
    """Return the record of a union that an object is, by its tag."""
    config = records[0].__struct_config__
    tag = None if config.tag_field is None else value.get(config.tag_field)
    return next((each for each in records if each.__struct_config__.tag == tag), records[0])


def _nested_record(kind: type[Record], value: Json) -> Json:
    found = dict(value)
    for key, inner in _children(kind):
        if key in found:
            found[key] = nested(inner, found[key])
    for name, keys, needed in _gathering(kind):
        part = {field: value[key] for field, key in keys if key in value}
        if all(field in part for field in needed):
            found[name] = part
    return found


@functools.cache
def _children(kind: type[Record]) -> tuple[tuple[str, Any], ...]:
    """Return key and type of each field that may hold records with flat fields."""
    fields = msgspec.structs.fields(kind)
    return tuple((f.encode_name, f.type) for f in fields if f.name not in kind.FLAT and _holds_flat(f.type))


def _holds_flat(kind: Any) -> bool:
    if isinstance(kind, type) and issubclass(kind, Record):
        return bool(kind.FLAT or _children(kind))
    return any(_holds_flat(each) for each in typing.get_args(kind))


@functools.cache
def _gathering(kind: type[Record]) -> tuple[tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]], ...]:
    """Return for each flat field its (inner key, key in the file) and the inner keys that tell it is there."""
    found = []
    for field in msgspec.structs.fields(kind):
        flat = kind.FLAT.get(field.name)
        if flat is None:
            continue
        fields = fields_of(inner_kind(field.type))
        optional = not field.required
        keys = tuple((key, flat.rename.get(key, key)) for _, key, _ in fields)
        # A part that may be missing is there when all it needs is; one that may not is refused for what it lacks.
        needed = tuple(key for _, key, required in fields if required)
        found.append((field.name, keys, needed if optional else ()))
    return tuple(found)


def inner_kind(annotation: Any) -> Any:
    """Return the record type of a field that may be None."""
    kinds = [kind for kind in typing.get_args(annotation) if kind is not type(None)]
    return kinds[0] if kinds else annotation


def fields_of(kind: Any) -> list[tuple[str, str, bool]]:
    """Return attribute, key and whether it is required, of each field of a record or dataclass."""
    if dataclasses.is_dataclass(kind):
        missing = dataclasses.MISSING
        return [
            (f.name, f.name, f.default is missing and f.default_factory is missing) for f in dataclasses.fields(kind)
        ]
    return [(f.name, f.encode_name, f.required) for f in msgspec.structs.fields(kind)]


def sealed_text(record: Record) -> str:
    """Return a record as a file that nobody is meant to change, with the SHA-256 of its content."""
    content = msgspec.json.encode(record)
    sealed = {_SEAL: hashlib.sha256(content).hexdigest()} | msgspec.json.decode(content)
    return msgspec.json.format(msgspec.json.encode(sealed), indent=1).decode() + "\n"


def unsealed(kind: type[_T], content: bytes) -> _T:
    """Return the record in a file of `sealed_text`.

    Raises:
        msgspec.MsgspecError: it is not one, or has been changed.

    """
    document = msgspec.json.decode(content, type=dict[str, Any])
    seal = document.pop(_SEAL, None)
    record = msgspec.convert(document, kind)
    if hashlib.sha256(msgspec.json.encode(record)).hexdigest() != seal:
        raise msgspec.ValidationError("its content is not what its SHA-256 is of")
    return record

"""Files of JSON as values, one after the other: JSON Lines of any length, or one document; packed or not."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import BinaryIO, cast

from ctxsift import strict_json
from ctxsift.errors import InputError
from ctxsift.sessions.importers.base import Skipped
from ctxsift.sessions.records import JsonValue

_MEGABYTE = 1_000_000
MOST_OF_LINE = 16 * _MEGABYTE
MOST_MB_OF_DOCUMENT = 64
# Packed, ten megabytes can be ten gigabytes.
_MOST_UNPACKED = 4_000 * _MEGABYTE
_PACKED = b"\x1f\x8b"
_CHUNK = 1 << 20


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return a file to read unpacked, whatever its name is."""
    packed = file.read(2) == _PACKED
    file.seek(0)
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file


def decoded(content: bytes, *, told: bool = True) -> JsonValue:
    """Return a value of JSON; halves of characters become question marks. Raises as `strict_json.decode` does."""
    value = strict_json.decode(content, told=told)
    if b"\\ud" in content or b"\\uD" in content:
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        value = strict_json.decode(whole)
    return cast(JsonValue, value)


def document(file: BinaryIO) -> JsonValue:
    """Return the only value of a file. Raises ValueError: it is none, or larger than MOST_MB_OF_DOCUMENT."""
    file.seek(0)
    content = file.read(MOST_MB_OF_DOCUMENT * _MEGABYTE + 1)
    if len(content) > MOST_MB_OF_DOCUMENT * _MEGABYTE:
        raise ValueError(f"is larger than {MOST_MB_OF_DOCUMENT} MB")
    return decoded(content)


def values_of(file: BinaryIO, where: str) -> Iterator[JsonValue | Skipped]:
    """Yield the value of each line that is not blank, or what is wrong with the line.

    Args:
        file: from its beginning.
        where: its name, for errors.

    Raises:
        InputError: it has more than _MOST_UNPACKED bytes, packed ones unpacked.

    """
    file.seek(0)
    most = MOST_OF_LINE
    number, size = 0, 0
    first_damaged, first_long = 0, 0
    packed = isinstance(file, gzip.GzipFile)
    while line := file.readline(most):
        number += 1
        size += len(line)
        torn = not line.endswith(b"\n")
        if torn and len(line) == most:
            size += _pass_line(file)
            first_long = first_long or number
            yield Skipped(f"line of more than {most // _MEGABYTE} MB (the first is line {first_long})")
            continue
        if packed and size > _MOST_UNPACKED:
            raise InputError(where, f"has more than {_MOST_UNPACKED // _MEGABYTE:,} MB unpacked", "unpack it first")
        if line.isspace():
            continue
        try:
            value = decoded(line, told=False)
        except (ValueError, RecursionError):
            if torn:
                yield Skipped(f"torn last line (line {number})")
                continue
            first_damaged = first_damaged or number
            yield Skipped(f"line that is no JSON (the first is line {first_damaged})")
            continue
        yield value


def _pass_line(file: BinaryIO) -> int:
    """Go to the end of a line, and return how many bytes that was."""
    size = 0
    while chunk := file.readline(_CHUNK):
        size += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return size

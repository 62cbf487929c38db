"""Files of JSON as values, one after the other: JSON Lines of any length, or one document; packed or not."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from ctxsift import strict_json
from ctxsift.errors import InputError
from ctxsift.sessions.importers.base import Skipped
from ctxsift.sessions.records import JsonValue

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_MEGABYTE = 1_000_000
MOST_OF_LINE = 16 * _MEGABYTE
MOST_MB_OF_DOCUMENT = 64
# Packed, ten megabytes can be ten gigabytes; but no session is so even that it shrinks to a few thousandths.
_MOST_UNPACKED = 4_000 * _MEGABYTE
_MOST_TIMES = 500
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 20


class _Unpacked(io.RawIOBase):
    """What a packed file holds, as far as it is no more than anybody's session."""

    def __init__(self, packed: BinaryIO, unpacking: BinaryIO, where: str) -> None:
        super().__init__()
        self._packed, self._unpacking, self._where = packed, unpacking, where
        self._size = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._size = self._unpacking.seek(offset, whence)
        return self._size

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._unpacking.read(len(buffer))
        except zstd.ZstdError as error:
            raise OSError(f"is damaged: {error}") from error
        buffer[: len(content)] = content
        self._size += len(content)
        if self._size > _MOST_UNPACKED:
            self._refuse(f"has more than {_MOST_UNPACKED // _MEGABYTE:,} MB unpacked")
        if self._size > MOST_MB_OF_DOCUMENT * _MEGABYTE and self._size > _MOST_TIMES * self._packed.tell():
            self._refuse(f"has more than {_MOST_TIMES} times its size unpacked")
        return len(content)

    def _refuse(self, problem: str) -> None:
        raise InputError(self._where, problem, "unpack it first")


def unpacked(file: BinaryIO, where: str) -> BinaryIO:
    """Return a file to read unpacked, whatever its name is.

    Args:
        file: from its beginning, packed with gzip or Zstandard, or not packed.
        where: its name, for errors.

    Raises:
        InputError: it unpacks to far more than sessions do; also while it is read.

    """
    first = file.read(len(_ZSTD))
    file.seek(0)
    if first.startswith(_GZIP):
        unpacking = cast(BinaryIO, gzip.GzipFile(fileobj=file))
    elif first == _ZSTD:
        unpacking = cast(BinaryIO, zstd.ZstdFile(file))
    else:
        return file
    raw = _Unpacked(file, unpacking, where)
    # Before any line is read: a bomb may be made of millions.
    while raw.tell() <= MOST_MB_OF_DOCUMENT * _MEGABYTE and raw.read(_CHUNK):
        pass
    raw.seek(0)
    return cast(BinaryIO, io.BufferedReader(raw, _CHUNK))


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


def values_of(file: BinaryIO) -> Iterator[JsonValue | Skipped]:
    """Yield the value of each line that is not blank, or what is wrong with the line; from its beginning."""
    file.seek(0)
    most = MOST_OF_LINE
    number = 0
    first_damaged, first_long = 0, 0
    while line := file.readline(most):
        number += 1
        torn = not line.endswith(b"\n")
        if torn and len(line) == most:
            _pass_line(file)
            first_long = first_long or number
            yield Skipped(f"line of more than {most // _MEGABYTE} MB (the first is line {first_long})")
            continue
        if line.isspace():
            number += _pass_blanks(file)
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


def _pass_blanks(file: BinaryIO) -> int:
    """Pass over what is blank, up to the next line that may not be, and return how many lines ended in it.

    A packed file may hold hundreds of millions of blank lines: line by line they would take minutes.
    """
    ended = 0
    buffered = cast(io.BufferedReader, file)
    while chunk := buffered.peek():
        blanks = len(chunk) - len(chunk.lstrip())
        ended += chunk.count(b"\n", 0, blanks)
        buffered.read(blanks)
        if blanks < len(chunk):
            break
    return ended


def _pass_line(file: BinaryIO) -> None:
    """Go to the end of a line."""
    while (chunk := file.readline(_CHUNK)) and not chunk.endswith(b"\n"):
        pass

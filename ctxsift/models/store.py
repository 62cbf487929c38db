"""Answers by key in a file, on disk as they come: whoever is interrupted goes on without asking again."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import msgspec

from ctxsift import strict_json
from ctxsift.errors import InputError
from ctxsift.files import exists, open_alone, open_regular, reading

_MEGABYTE = 1_000_000
_MOST_MB, _LONGEST_LINE = 500, 64 * _MEGABYTE
_OPENING = b'{"key"'


class StoreEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What a store keeps, with what it is known by."""

    key: str


_E = TypeVar("_E", bound=StoreEntry)


class Store(Generic[_E]):
    """Entries by key; of two with one key, the first stands. A JSON object a line, and no line is ever taken back.

    Several runs may use one file at once: a line is written under a lock, and what the others wrote is read before.
    Lines that a kill has torn, or that another version wrote, are passed over.

    Args:
        path: of the file; made with the first entry.
        kind: of the entries.
        problem: what is told of a file that holds something else.
        hint: what to do then.
        head: the line that earlier versions began the file with.

    Raises:
        InputError: the file holds something else, or cannot be read.

    """

    def __init__(
        self, path: Path, kind: type[_E], problem: str, hint: str, *, head: Mapping[str, str] | None = None
    ) -> None:
        self._path, self._kind, self._head = path, kind, head
        self._decoder = msgspec.json.Decoder(kind)
        self._fields = {field.encode_name for field in msgspec.structs.fields(kind)} - {"key"}
        self._known: dict[str, _E] = {}
        # Of the lines that were finished: where the last one ends, and what it is.
        self._end, self._last = 0, b""
        if not exists(path):
            return
        with reading(path, hint) as file:
            if os.fstat(file.fileno()).st_size > _MOST_MB * _MEGABYTE:
                raise InputError(str(path), f"is larger than {_MOST_MB} MB", hint)
            strange = self._read_on(file)
        if strange and not self._known:
            # Nothing is appended to that.
            raise InputError(f"{path}:{strange}", problem, hint)

    def get(self, key: str) -> _E | None:
        """Return an entry that this run or another one wrote."""
        if key not in self._known:
            with contextlib.suppress(OSError), open_regular(self._path) as file:
                self._read_on(file)
        return self._known.get(key)

    def entries(self) -> tuple[_E, ...]:
        """Return the entries that this run knows, in the order of the file."""
        return tuple(self._known.values())

    def put(self, entry: _E) -> _E:
        """Write an entry down, unless another run did; return the one that stands.

        Raises:
            OSError: it could not be written; in this process it is known all the same.

        """
        line = json.dumps(msgspec.to_builtins(entry)).encode() + b"\n"
        try:
            with open_alone(self._path) as file:
                self._read_on(file)
                if entry.key not in self._known:
                    # What a kill has torn must not take this line with it.
                    is_torn = file.seek(0, os.SEEK_END) > self._end
                    file.write(b"\n" + line if is_torn else line)
                    file.flush()
                    os.fsync(file.fileno())
        finally:
            standing = self._known.setdefault(entry.key, entry)
        return standing

    def _read_on(self, file: BinaryIO) -> int:
        """Take in the lines behind the last finished one; return the number of the first strange one, else 0."""
        file.seek(self._end - len(self._last))
        if file.read(len(self._last)) != self._last:
            # Somebody has removed the file, and another run has begun it anew.
            self._end, self._last = 0, b""
            file.seek(0)
        number = strange = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if line.endswith(b"\n") or len(line) == _LONGEST_LINE:
                self._end, self._last = self._end + len(line), line
            if not self._take(line):
                strange = strange or number
        return strange

    def _take(self, line: bytes) -> bool:
        """Take in a line; say whether it is one of ours, if only a torn one, or one of another version."""
        value: Any = None
        try:
            try:
                entry = self._decoder.decode(line)
            except (ValueError, RecursionError):
                # Slower, and bears half characters that a model wrote.
                value = strict_json.decode(line)
                entry = msgspec.convert(value, self._kind)
        except ValueError:
            if isinstance(value, dict):
                return value == self._head or bool("key" in value and self._fields & value.keys())
            # A file system may have made room for a line and not written it.
            return value is None and _OPENING.startswith(line.strip(b"\0\n")[: len(_OPENING)])
        self._known.setdefault(entry.key, entry)
        return True

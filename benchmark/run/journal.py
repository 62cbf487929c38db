"""Writes the journal of a scenario: append-only JSON lines, each on disk before its answer is graded."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from msgspec.structs import replace

from benchmark.record.journal import (
    JOURNAL_VERSION,
    JournalLine,
    Owner,
    ResumedLine,
    RunIdentity,
    RunLine,
    encode_line,
    read_journal,
)
from ctxsift.errors import InputError, InstrumentError
from ctxsift.files import PRIVATE, open_regular

_BLOCK = 1 << 20
_LOCK_TRIES, _LOCK_PAUSE_S = 5, 0.02


class Journal:
    """Appends lines to `path`, with the seconds since it was opened.

    The first line is the identity of the run, or, when the run is resumed, says so. While it is open, the file is
    locked; the lock ends with its process, however that ends, so it is never stale.

    Args:
        path: the file; made where it is missing.
        identity: of the run, written as the first line.
        resumed: the file holds an earlier part of the same run; a line that a crash tore is cut off.

    Raises:
        InputError: another process writes to the file, or the identity would not be read back.
        OSError: the line could not be written; nothing is swallowed.

    """

    def __init__(self, path: Path, identity: RunIdentity, *, resumed: bool = False) -> None:
        owner = Owner(pid=os.getpid(), host=socket.gethostname(), began=time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))
        first = ResumedLine(owner=owner) if resumed else _first_line(path, identity, owner)
        try:
            self._file = (
                open_regular(path, write=True) if resumed else _made(path, is_private=identity.scenario.is_private)
            )
        except FileExistsError:
            what = f"already exists, written by {_owner(path)}"
            raise InputError(str(path), what, "wait a second, or give another --name") from None
        try:
            _lock(self._file.fileno(), path)
            if resumed:
                end = _end_of_last_line(self._file)
                self._file.truncate(end)
                self._file.seek(end)
        except BaseException:
            self._file.close()
            raise
        self._path, self._opened = path, time.monotonic()
        try:
            self.append(first)
        except OSError:
            self._file.close()
            if not resumed:
                path.unlink(missing_ok=True)
            raise

    def append(self, line: JournalLine) -> None:
        """Write one line and wait until it is on disk.

        Raises:
            InstrumentError: naming the field for which the line would not be read back; nothing is written.

        """
        try:
            written = encode_line(replace(line, at_s=round(time.monotonic() - self._opened, 3)))
        except ValueError as error:
            raise InstrumentError(f"cannot be recorded: {error}") from error
        self._file.write(written)
        self._file.flush()
        os.fsync(self._file.fileno())
        if not os.fstat(self._file.fileno()).st_nlink:
            # Hours of answers would go to where nobody finds them.
            raise FileNotFoundError(errno.ENOENT, "was deleted while the run went on", str(self._path))

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _made(path: Path, *, is_private: bool) -> BinaryIO:
    """Make a file to write. Raises FileExistsError where there is one, or OSError."""
    mode = PRIVATE if is_private else 0o666
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    return cast(BinaryIO, os.fdopen(descriptor, "wb"))


def _lock(descriptor: int, path: Path) -> None:
    for tries_left in reversed(range(_LOCK_TRIES)):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tries_left:
                # `--status` looks whether somebody writes, for an instant.
                time.sleep(_LOCK_PAUSE_S)
                continue
            raise InputError(str(path), f"is being written by {_owner(path)}", "wait for it, or end it first") from None
        except OSError:
            # A file system without locks; there is nothing to be done about two runners.
            return
        return


def _owner(path: Path) -> str:
    owner: Owner | None = None
    try:
        for line in read_journal(path):
            owner = (line.owner if isinstance(line, RunLine | ResumedLine) else None) or owner
    except InputError:
        pass
    return f"process {owner.pid} on {owner.host} since {owner.began}" if owner else "another process"


def _first_line(path: Path, identity: RunIdentity, owner: Owner) -> RunLine:
    line = RunLine(journal_version=JOURNAL_VERSION, identity=identity, owner=owner)
    try:
        encode_line(line)
    except ValueError as error:
        # Before there is a file.
        raise InputError(str(path), f"cannot be written: {error}", "fix the scenario's row in the matrix") from error
    return line


def _end_of_last_line(file: BinaryIO) -> int:
    """Return the offset behind the last newline; 0 where there is none."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - _BLOCK)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0

"""Writes the journal of a scenario: append-only JSON lines, each on disk before its answer is graded."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from msgspec.structs import replace

from benchmark.record.base import to_json
from benchmark.record.journal import (
    JOURNAL_VERSION,
    JournalLine,
    Owner,
    ResumedLine,
    RunIdentity,
    RunLine,
    read_journal,
)
from ctxsift.errors import InputError


class Journal:
    """Appends lines to `path`, with the seconds since it was opened.

    The first line is the identity of the run, or, when the run is resumed, says so. While it is open, the file is
    locked; the lock ends with its process, however that ends, so it is never stale.

    Args:
        path: the file; made where it is missing.
        identity: of the run, written as the first line.
        resumed: the file holds an earlier part of the same run; a line that a crash tore is cut off.

    Raises:
        InputError: another process writes to the file.
        OSError: the line could not be written; nothing is swallowed.

    """

    def __init__(self, path: Path, identity: RunIdentity, *, resumed: bool = False) -> None:
        try:
            self._file = path.open("r+b" if resumed else "xb")
        except FileExistsError:
            what = f"already exists, written by {_owner(path)}"
            raise InputError(str(path), what, "wait a second, or give another --name") from None
        try:
            _lock(self._file.fileno(), path)
            if resumed:
                end = self._file.read().rfind(b"\n") + 1
                self._file.truncate(end)
                self._file.seek(end)
        except BaseException:
            self._file.close()
            raise
        self._path, self._opened = path, time.monotonic()
        began = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        owner = Owner(pid=os.getpid(), host=socket.gethostname(), began=began)
        if resumed:
            self.append(ResumedLine(owner=owner))
        else:
            self.append(RunLine(journal_version=JOURNAL_VERSION, identity=identity, owner=owner))

    def append(self, line: JournalLine) -> None:
        """Write one line and wait until it is on disk; Ctrl-C waits that long."""
        written = to_json(replace(line, at_s=round(time.monotonic() - self._opened, 3)))
        text = json.dumps(written, ensure_ascii=True)
        with _undisturbed():
            self._file.write(text.encode() + b"\n")
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


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM in this thread."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(str(path), f"is being written by {_owner(path)}", "wait for it, or end it first") from None
    except OSError:
        # A file system without locks; there is nothing to be done about two runners.
        return


def _owner(path: Path) -> str:
    try:
        owners = [line.owner for line in read_journal(path) if isinstance(line, RunLine | ResumedLine) and line.owner]
    except (InputError, OSError):
        owners = []
    return f"process {owners[-1].pid} on {owners[-1].host} since {owners[-1].began}" if owners else "another process"

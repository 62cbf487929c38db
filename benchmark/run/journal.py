"""The journal of a scenario: append-only JSON lines, each on disk before the next case begins."""

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
from typing import Any

from ctxsift.errors import InputError
from ctxsift.files import read_bytes

JOURNAL_VERSION = 2
SUFFIX = ".journal.jsonl"


class Journal:
    """Appends records to `path`, one line each, with the seconds since it was opened.

    The first record is the identity of the run, or, when the journal is gone on with, says so. While it is open, the
    file is locked; the lock ends with its process, however that ends, so it is never stale.

    Args:
        path: the file; made where it is missing.
        identity: of the run, written as the first line.
        resumed: the file holds an earlier part of the same run; a line that a crash tore is cut off.

    Raises:
        InputError: another process writes to the file.
        OSError: the record could not be written; nothing is swallowed.

    """

    def __init__(self, path: Path, identity: dict[str, Any], *, resumed: bool = False) -> None:
        try:
            self._file = path.open("r+b" if resumed else "xb")
        except FileExistsError:
            what = f"is there already, written by {_owner(path)}"
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
        owner = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "began": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
        }
        if resumed:
            self.append({"type": "resumed", **owner})
        else:
            self.append({"type": "run", "journal_version": JOURNAL_VERSION, **identity, **owner})

    def append(self, record: dict[str, Any]) -> None:
        """Write one line and wait until it is on disk; Ctrl-C waits that long."""
        line = json.dumps(record | {"at_s": round(time.monotonic() - self._opened, 3)}, ensure_ascii=True)
        with _undisturbed():
            self._file.write(line.encode() + b"\n")
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
        record = [record for record in read_journal(path) if "pid" in record][-1]
    except (InputError, OSError, IndexError):
        return "another process"
    return f"process {record['pid']} on {record['host']} since {record['began']}"


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Return the records of a journal; a last line that was torn by a crash is left out.

    Raises:
        InputError: it cannot be read, a line before the last is damaged, or the first is no run identity.

    """
    lines = read_bytes(path, "name another", most_mb=500).split(b"\n")
    complete = lines[:-1]  # a line without its newline was never finished
    records: list[dict[str, Any]] = []
    for number, line in enumerate(complete, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            # A file system may have torn a line that it had made room for.
            if number == len(complete) and not line.strip(b"\0"):
                break
            raise InputError(f"{path}:{number}", "the journal is damaged", "move it away and run again") from error
        if not isinstance(record, dict):
            raise InputError(f"{path}:{number}", "the journal is damaged", "move it away and run again")
        records.append(record)
    if not records or records[0].get("type") != "run":
        raise InputError(f"{path}:1", "is no journal of a run", "name another file")
    return records

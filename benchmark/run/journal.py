"""The journal of a scenario: append-only JSON lines, each on disk before the next case begins."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from ctxsift.errors import InputError

JOURNAL_VERSION = 1


class Journal:
    """Appends records to `path`; the first one is the identity of the run.

    Raises:
        OSError: the record could not be written; nothing is swallowed.

    """

    def __init__(self, path: Path, identity: dict[str, Any]) -> None:
        self._file = path.open("ab")
        self.append({"type": "run", "journal_version": JOURNAL_VERSION, **identity})

    def append(self, record: dict[str, Any]) -> None:
        """Write one line and wait until it is on disk."""
        self._file.write(json.dumps(record, ensure_ascii=True).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Return the records of a journal; a last line that was torn by a crash is left out.

    Raises:
        InputError: a line before the last is damaged, or the first is no run identity.

    """
    lines = path.read_bytes().split(b"\n")
    complete = lines[:-1]  # a line without its newline was never finished
    records = []
    for number, line in enumerate(complete, 1):
        try:
            records.append(json.loads(line))
        except ValueError as error:
            if number == len(complete):
                break
            raise InputError(f"{path}:{number}", "the journal is damaged", "move it away and run again") from error
    if not records or records[0].get("type") != "run":
        raise InputError(f"{path}:1", "is no journal of a run", "name another file")
    return records

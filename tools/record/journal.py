"""The journal of a recording: what was set up, then every step, each on disk before its output is shown."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from ctxsift.errors import InputError
from ctxsift.files import open_regular, reading

_HINT = "name the folder of a recording with --out or RECORDING"


class Begun(msgspec.Struct, frozen=True, kw_only=True, tag="begun", tag_field="type"):
    """What a recording was set up with; its first line.

    Attributes:
        name: of the project, and of its folder below the home of the sandbox.
        at: ISO 8601, UTC.
        commit: of the starting files, in the hidden repository.
        environment, tools, search: see `Sandbox`.
        private: texts that may stand nowhere in the session.

    """

    name: str
    at: str
    commit: str
    environment: dict[str, str] = {}
    tools: dict[str, str] = {}
    search: list[str] = []
    private: list[str] = []


class Taken(msgspec.Struct, frozen=True, kw_only=True, tag="step", tag_field="type"):
    """One step.

    Attributes:
        source: `user` or `agent`.
        at: when it began; ISO 8601, UTC.
        folder, folder_after: where the shell stood before and after.
        tool: the one that was called; empty for a message alone.
        commit: of the files after it, in the hidden repository.

    """

    source: str
    at: str
    message: str
    folder: str
    folder_after: str
    commit: str
    tool: str = ""
    arguments: dict[str, Any] = {}
    output: str = ""
    exit_code: int | None = None
    is_error: bool | None = None
    seconds: float = 0.0


class Dropped(msgspec.Struct, frozen=True, kw_only=True, tag="dropped", tag_field="type"):
    """The step before was taken out: its text was not fit to be shown."""

    at: str


Line: TypeAlias = Begun | Taken | Dropped
_DECODER = msgspec.json.Decoder(Line)


class Journal:
    """Appends lines to a file that is locked while it is open; a line that a crash tore is cut off.

    Attributes:
        begun: the first line.
        steps: those that stand.

    """

    def __init__(self, path: Path) -> None:
        """Open the journal of a recording. Raises InputError."""
        with reading(path, _HINT) as file:
            content = file.read()
        lines = content[: content.rfind(b"\n") + 1].splitlines()
        begun, self.steps = _read(path, lines)
        self.begun = begun
        self._file = open_regular(path, write=True)
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InputError(str(path), "another step is being recorded", "wait until it has ended") from None
        self._file.truncate(content.rfind(b"\n") + 1)
        self._file.seek(0, os.SEEK_END)

    def append(self, line: Taken | Dropped) -> None:
        """Write a line and wait until it is on disk. Raises OSError."""
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        if isinstance(line, Taken):
            self.steps.append(line)
        else:
            self.steps.pop()

    def close(self) -> None:
        """Let others write."""
        self._file.close()


def begin_journal(path: Path, begun: Begun) -> None:
    """Write the first line. Raises OSError, also if there is such a file."""
    with path.open("xb") as file:
        file.write(msgspec.json.encode(begun) + b"\n")
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def open_journal(path: Path) -> Iterator[Journal]:
    """Open the journal of a recording for one command. Raises InputError."""
    journal = Journal(path)
    try:
        yield journal
    finally:
        journal.close()


def _read(path: Path, lines: Sequence[bytes]) -> tuple[Begun, list[Taken]]:
    begun, steps = None, list[Taken]()
    for number, text in enumerate(lines, 1):
        try:
            line = _DECODER.decode(text)
        except msgspec.DecodeError as error:
            raise InputError(f"{path}, line {number}", f"is no line of a recording ({error})", _HINT) from error
        if isinstance(line, Begun):
            begun = line
        elif isinstance(line, Taken):
            steps.append(line)
        elif steps:
            steps.pop()
    if begun is None:
        raise InputError(str(path), "has no first line", "start the recording again, in another folder")
    return begun, steps

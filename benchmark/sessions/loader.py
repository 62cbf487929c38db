"""Finds recorded sessions, and checks that they are the ones that were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmark.sessions.records import Provenance, Split, StepTruth
from ctxsift import files
from ctxsift.errors import InputError
from ctxsift.files import read_bytes
from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Session

DEFAULT_SESSIONS = Path(__file__).parent / "data"
SESSION, TRUTH, START, PROVENANCE = "session.json.gz", "truth.jsonl.gz", "start.tar.gz", "provenance.json"
_MOST_MB = 64
_HINT = "restore the folder, or record the session again"


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session in its folder, unread but checked.

    Attributes:
        folder: holds the four files.

    """

    folder: Path
    provenance: Provenance

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def split(self) -> Split:
        """`dev`, or `test`: used for no tuning."""
        return self.provenance.split

    def session(self) -> Session:
        """Return its steps, as any session is read. Raises InputError."""
        return read_session(self.folder / SESSION, keep_secrets=True)

    def truth(self) -> list[StepTruth]:
        """Return what git says of the files after each step. Raises InputError."""
        path = self.folder / TRUTH
        decoder = msgspec.json.Decoder(StepTruth)
        found = []
        for number, line in enumerate(read_bytes(path, _HINT, most_mb=_MOST_MB).splitlines(), 1):
            try:
                found.append(decoder.decode(line))
            except msgspec.DecodeError as error:
                raise InputError(f"{path}, line {number}", str(error), _HINT) from error
        return found


def open_recorded(folder: Path) -> RecordedSession:
    """Return the recorded session in a folder.

    Raises:
        InputError: a file is missing, or is not the one that was recorded.

    """
    path = folder / PROVENANCE
    try:
        provenance = msgspec.json.decode(read_bytes(path, _HINT, most_mb=_MOST_MB), type=Provenance)
    except msgspec.DecodeError as error:
        raise InputError(str(path), str(error), _HINT) from error
    for name in (SESSION, TRUTH, START):
        if sha256_of(folder / name) != provenance.sha256.get(name):
            raise InputError(str(folder / name), f"is not the file that {PROVENANCE} describes (SHA-256)", _HINT)
    return RecordedSession(folder, provenance)


def recorded_sessions(folder: Path = DEFAULT_SESSIONS) -> Iterator[RecordedSession]:
    """Yield the recorded sessions below a folder, by name. Raises InputError."""
    for path in sorted(folder.glob(f"*/{PROVENANCE}")):
        yield open_recorded(path.parent)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as it is. Raises InputError."""
    try:
        return files.sha256_of(path)
    except OSError as error:
        raise InputError(str(path), f"cannot be read ({error.strerror or error})", _HINT) from error

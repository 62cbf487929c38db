"""What was measured until a run was killed: a line for each method and session, on disk at once."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path

import msgspec

from benchmark.probes.judging import JUDGE_VERSION
from benchmark.probes.records import AskedProbe, LeftContext
from benchmark.record.base import Record, Sha256, from_json, to_json
from ctxsift.files import append_line, read_bytes
from ctxsift.sessions import records
from ctxsift.strict_json import decode

_MOST_MB = 256
# Folders of all code that can change a figure.
_HERE = Path(__file__).parent
_CODE = (Path(records.__file__).parent, _HERE, _HERE.parent / "statements")


class JournalEntry(Record, frozen=True, kw_only=True):
    """What a method made of one session.

    Attributes:
        key: of everything that it depends on.

    """

    key: Sha256
    contexts: list[LeftContext]
    asked: list[AskedProbe]


class Journal:
    """Entries by key; those of other code or data are passed over, and so is a torn last line.

    Args:
        path: of the file; made with the first entry.

    Raises:
        InputError: it cannot be read.

    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, JournalEntry] = {}
        content = read_bytes(path, "remove it", most_mb=_MOST_MB) if path.exists() else b""
        for line in content.splitlines():
            try:
                entry: JournalEntry = from_json(JournalEntry, decode(line))
            except (ValueError, msgspec.ValidationError):
                continue
            self._known[entry.key] = entry

    def get(self, key: str) -> JournalEntry | None:
        """Return what was measured before."""
        return self._known.get(key)

    def put(self, entry: JournalEntry) -> None:
        """Write an entry down. Raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch()
        append_line(self._path, json.dumps(to_json(entry)).encode())
        self._known[entry.key] = entry

    def remove(self) -> None:
        """Remove the file: its entries are in the result. Raises OSError."""
        self._path.unlink(missing_ok=True)


def key_of(subject: str, method: str, budget: int) -> str:
    """Return what an entry is known by.

    Args:
        subject: name and SHA-256 of the session with its probes.
        method: its name.
        budget: tokens of a summary.

    """
    whole = json.dumps([JUDGE_VERSION, _code_sha256(), subject, method, budget])
    return hashlib.sha256(whole.encode()).hexdigest()


@functools.cache
def _code_sha256() -> str:
    digest = hashlib.sha256()
    for folder in _CODE:
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()

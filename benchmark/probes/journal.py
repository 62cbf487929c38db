"""What was measured until a run was killed: a line for each method and session, on disk at once."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path

from benchmark.probes.records import AskedProbe, LeftContext
from ctxsift.models.store import Store, StoreEntry
from ctxsift.sessions import records

# Folders of all code that can change a figure.
_HERE = Path(__file__).parent
_CODE = (Path(records.__file__).parent, _HERE, _HERE.parent / "statements")


class JournalEntry(StoreEntry, frozen=True, kw_only=True):
    """What a method made of one session; its key is of everything that this depends on.

    Attributes:
        texts: of the contexts, by SHA-256.
        own_words: see MeasuredMethod.

    """

    contexts: list[LeftContext]
    asked: list[AskedProbe]
    texts: dict[str, str]
    own_words: bool = False


def journal_of(path: Path) -> Store[JournalEntry]:
    """Return the entries in a file; those of other code or data have other keys. Raises InputError."""
    return Store(path, JournalEntry, "holds no measurements of probes", "remove it")


def key_of(subject: str, method: str, budget: int, judge: str) -> str:
    """Return what an entry is known by.

    Args:
        subject: name and SHA-256 of the session with its probes.
        method: its name.
        budget: tokens of a summary.
        judge: its name and version.

    """
    whole = json.dumps([judge, _code_sha256(), subject, method, budget])
    return hashlib.sha256(whole.encode()).hexdigest()


@functools.cache
def _code_sha256() -> str:
    digest = hashlib.sha256()
    for folder in _CODE:
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()

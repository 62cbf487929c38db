"""Versions of files: what one holds, and what is known of where it stood before."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum, auto

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.sessions.artifacts.records import Touch


class Before(Enum):
    """Whether a file stood there when the session began."""

    THERE = auto()
    MISSING = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Version:
    """What a file holds: versions with one token hold the same; the text is kept where it is known and short."""

    token: str
    text: str | None = None
    # What an edit was made on, when the text was not known: the edit backwards leads there.
    previous: Version | None = None
    old: str = ""
    new: str = ""


@dataclass(slots=True)
class Tracked:
    """All that is known of one file. A version of None: it is not there."""

    path: str
    start: Version
    before: Before = Before.UNKNOWN
    work: Version | None = None
    staged: Version | None = None
    head: Version | None = None
    touches: list[Touch] = field(default_factory=list)
    left_out: int = 0
    moved_from: str = ""
    moved_to: str = ""
    first_change: int = 0
    depth: int = 0
    # Its removal was asked for without minding whether it is there.
    unsure: bool = False

    def settle(self, before: Before) -> None:
        """Learn whether it stood there at the start; what was learnt first stands."""
        if self.before is not Before.UNKNOWN:
            return
        self.before = before
        if before is Before.MISSING:
            self.work = None if self.work is self.start else self.work
            self.staged = None if self.staged is self.start else self.staged
            self.head = None if self.head is self.start else self.head

    def was_there(self) -> None:
        """Learn from a look or an edit that it stood there, whatever a listing left out."""
        if not self.changed and self.before is not Before.THERE:
            self.before = Before.THERE
            self.work = self.staged = self.head = self.start

    def came(self) -> None:
        """Learn from a look or an edit that it is there, though it was not when the session began."""
        if not self.changed and self.before is not Before.THERE and self.work in (None, self.start):
            self.before = Before.MISSING
            self.work = self.staged = self.head = Version(f"came as {self.path}")

    def tracked(self) -> bool:
        """Return True if git is known to hold it; a file of unknown origin is held once it is added or committed."""
        held = [version for version in (self.staged, self.head) if version is not None]
        return any(version is not self.start or self.before is Before.THERE for version in held)

    @property
    def changed(self) -> bool:
        """Whether the session changed it at any time."""
        return self.first_change > 0


def same(one: Version | None, other: Version | None) -> bool:
    """Return True if two versions hold the same, or neither is there."""
    return one is other or (one is not None and other is not None and one.token == other.token)


def token_of(text: str) -> str:
    """Return a token that texts have in common if they are equal."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

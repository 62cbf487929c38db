"""Folders of a running process, removed with all that programs make of them; those of killed processes by the next."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ctxsift.confined import removed

_PREFIX = "ctxsift-scratch-"
# As tempfile names them; whatever else begins alike is somebody's.
_NAME = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Scratch:
    """A folder that nobody else may look into, locked while its owner is alive.

    The folder itself is locked, since a program could remove a file in it.

    Attributes:
        path: absolute, without links.
        lock: the open folder.

    """

    path: Path
    lock: int

    @classmethod
    def made(cls) -> Scratch:
        """Make an empty one. Raises OSError."""
        while True:
            path = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
            try:
                lock = os.open(path, _FOLDER)
            except FileNotFoundError:
                # Before it was locked, another process took it for one that was left.
                continue
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_at(lock, path):
                return cls(path, lock)
            os.close(lock)

    def removed(self) -> bool:
        """Remove it with all that is in it, and return False where something of it stays."""
        try:
            return removed(self.path)
        finally:
            os.close(self.lock)


def remove_left() -> None:
    """Remove the folders that this user's processes left behind when they were killed; no link is followed.

    What cannot be removed stays; so does all on a file system without locks.
    """
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_left(Path(entry.path))


def _remove_if_left(path: Path) -> None:
    """Remove a folder that nobody holds. Raises OSError where it is held, another user's, or cannot be opened."""
    lock = os.open(path, _FOLDER)
    try:
        if os.fstat(lock).st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(lock, path):
                removed(path)
    finally:
        os.close(lock)


def _is_at(opened: int, path: Path) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(opened), os.lstat(path))
    return False

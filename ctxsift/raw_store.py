"""Originals of outputs that were printed shortened: plain files that only their owner can read, kept for a while.

A file is whole or not there. Its ID is the beginning of the SHA-256 of its bytes, so that one output is kept once.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT_DAYS, MOST_FILES, MOST_MB = 7, 200, 200
_KEPT_S = KEPT_DAYS * 86_400
_MOST_BYTES = MOST_MB * 1_000_000
# What a writer that was killed has left behind.
_STALE_S = 3600
IDENTITY = re.compile(r"[0-9a-f]{12,64}")
_LEAST_DIGITS, _MOST_DIGITS, _STEP = 12, 64, 4
_SUFFIX = ".log"
# IDs of files that were removed, so that nobody looks for one again and again.
_EXPIRED, _MOST_EXPIRED = "expired", 1000
# What was shortened and read again, a line each; beside the files, so that to clear these leaves the counts.
_USES, _OLDER, _MOST_USES = "uses", "uses.old", 500_000
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OF_OTHERS, _WRITABLE = 0o077, 0o022


@dataclass(frozen=True)
class RawEntry:
    """What a listing tells of a file.

    Attributes:
        size: in bytes.
        used: when it was written or read last, in seconds of the epoch.

    """

    identity: str
    size: int
    used: float


def folder() -> Path:
    """Return where the files are; it need not be there. Raises OSError where there is no home."""
    return _outer() / "raw"


def path_of(identity: str) -> Path:
    """Return where the file with this ID is. Raises OSError."""
    return folder() / (identity + _SUFFIX)


def keep(data: bytes) -> str:
    """Write an output, or find it written, and return its ID. It is on disk then, and older files may be removed.

    Raises:
        OSError: it cannot be written; the folder belongs to somebody else or others may write to it; a link or a
            folder has the name of the file.

    """
    digest = _digest(data)
    _outer().parent.mkdir(parents=True, exist_ok=True)
    with _opened(make=True) as store:
        identity = _written(store, digest, data)
        with contextlib.suppress(OSError):
            _prune(store, identity)
    return identity


def check() -> None:
    """Write a file as `keep` would, and remove it. Raises OSError as `keep` does."""
    _outer().parent.mkdir(parents=True, exist_ok=True)
    with _opened(make=True) as store:
        name = f".check.{os.urandom(6).hex()}.tmp"
        _write(store, name, b"")
        os.unlink(name, dir_fd=store)


def _digest(data: bytes) -> str:
    # Most outputs are short, and none of them is kept.
    import hashlib

    return hashlib.sha256(data).hexdigest()


def read(identity: str) -> bytes:
    """Return the bytes of a file, whose time starts anew. Raises OSError; FileNotFoundError where it is not there."""
    with _opened() as store, _reading(store, identity + _SUFFIX) as descriptor:
        content = _content(descriptor)
        if not _digest(content).startswith(identity):
            raise OSError(errno.EIO, f"the file of {identity} was changed")
        _touch(descriptor)
        return content


def is_expired(identity: str) -> bool:
    """Say whether a file was there and was removed. Raises OSError."""
    with _opened() as store:
        return identity in _expired(store)


def entries() -> list[RawEntry]:
    """Return what is there, used last first. Raises OSError."""
    with _opened() as store:
        return _entries(store)


def clear() -> int:
    """Remove every file, and return how many there were. Raises OSError."""
    with _opened() as store:
        found = _entries(store)
        _remove(store, found)
        return len(found)


def log(*words: str | int) -> None:
    """Write down what became of an output, if that can be done; where nothing was kept yet, nothing is written."""
    line = " ".join(map(str, (int(time.time()), *words)))
    with contextlib.suppress(OSError), _opened_outer() as outer:
        descriptor = os.open(_USES, _APPEND, 0o600, dir_fd=outer)
        try:
            os.write(descriptor, f"{line}\n".encode())
            written = os.fstat(descriptor)
            if written.st_size > _MOST_USES:
                # Another that begins it anew between look and move would have its new file take the place of the old.
                fcntl.flock(outer, fcntl.LOCK_EX)
                if os.path.samestat(written, os.stat(_USES, dir_fd=outer)):
                    os.rename(_USES, _OLDER, src_dir_fd=outer, dst_dir_fd=outer)
        finally:
            os.close(descriptor)


def logged() -> list[list[str]]:
    """Return the words of each line that was written down, its time first; the oldest may be gone. Raises OSError."""
    found = b""
    with contextlib.suppress(FileNotFoundError), _opened_outer() as outer:
        for name in (_OLDER, _USES):
            with contextlib.suppress(FileNotFoundError), _reading(outer, name) as descriptor:
                found += _content(descriptor)
    return [line.split(" ") for line in found.decode(errors="replace").splitlines()]


def _outer() -> Path:
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    # A relative path is to be ignored, says the specification of these folders.
    try:
        return (given if given.is_absolute() else Path("~/.local/state").expanduser()) / "ctxsift"
    except RuntimeError as error:
        raise FileNotFoundError(errno.ENOENT, str(error)) from error


@contextlib.contextmanager
def _opened(*, make: bool = False) -> Iterator[int]:
    """Give a descriptor of the folder, by which all else is reached: nobody can put another in its place."""
    with _opened_outer(make=make) as outer:
        inner = _open_folder("raw", make=make, within=outer)
    try:
        yield inner
    finally:
        os.close(inner)


@contextlib.contextmanager
def _opened_outer(*, make: bool = False) -> Iterator[int]:
    outer = _open_folder(str(_outer()), make=make)
    try:
        yield outer
    finally:
        os.close(outer)


def _open_folder(path: str, *, make: bool, within: int | None = None) -> int:
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700, dir_fd=within)
    descriptor = os.open(path, _FOLDER, dir_fd=within)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "belongs to another user", str(folder()))
        if found.st_mode & _WRITABLE:
            raise OSError(errno.EPERM, "others may write to it", str(folder()))
        if found.st_mode & _OF_OTHERS and within is not None:
            os.fchmod(descriptor, 0o700)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def _reading(store: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, _READ, dir_fd=store)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "is not a file", name)
        yield descriptor
    finally:
        os.close(descriptor)


def _content(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


def _touch(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.utime(descriptor)


def _written(store: int, digest: str, data: bytes) -> str:
    for digits in range(_LEAST_DIGITS, _MOST_DIGITS + 1, _STEP):
        name = digest[:digits] + _SUFFIX
        try:
            with _reading(store, name) as descriptor:
                if os.fstat(descriptor).st_size == len(data) and _content(descriptor) == data:
                    _touch(descriptor)
                    return digest[:digits]
        except FileNotFoundError:
            _write(store, name, data)
            return digest[:digits]
    raise OSError(errno.EEXIST, "another output has its name", str(folder()))


def _write(store: int, name: str, data: bytes) -> None:
    temporary = f".{name}.{os.urandom(6).hex()}.tmp"
    descriptor = os.open(temporary, _WRITE, 0o600, dir_fd=store)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=store, dst_dir_fd=store)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=store)
        raise
    os.fsync(store)


def _entries(store: int) -> list[RawEntry]:
    found: list[RawEntry] = []
    for name in os.listdir(store):
        identity = name.removesuffix(_SUFFIX)
        if name == identity or not IDENTITY.fullmatch(identity):
            continue
        with contextlib.suppress(OSError):
            file = os.stat(name, dir_fd=store, follow_symlinks=False)
            if stat.S_ISDIR(file.st_mode):
                continue  # of somebody else: it cannot be removed like a file
            # Whoever reads it without us may leave a time of access.
            found.append(RawEntry(identity, file.st_size, max(file.st_mtime, file.st_atime)))
    return sorted(found, key=lambda each: (-each.used, each.identity))


def _prune(store: int, just_written: str) -> None:
    """Remove what is too old, and what is too much, used longest ago."""
    now, files, size = time.time(), 0, 0
    gone: list[RawEntry] = []
    for each in sorted(_entries(store), key=lambda each: each.identity != just_written):
        files, size = files + 1, size + each.size
        too_much = files > MOST_FILES or size > _MOST_BYTES or now - each.used > _KEPT_S
        if too_much and each.identity != just_written:
            gone.append(each)
    if gone:
        _remove(store, gone)
    for name in os.listdir(store):
        with contextlib.suppress(OSError):
            if name.endswith(".tmp") and now - os.stat(name, dir_fd=store, follow_symlinks=False).st_mtime > _STALE_S:
                os.unlink(name, dir_fd=store)


def _remove(store: int, files: list[RawEntry]) -> None:
    """Remove files, and write down first that they were there."""
    gone = [each.identity for each in files]
    known = [*(each for each in _expired(store) if each not in gone), *gone]
    with contextlib.suppress(OSError):
        _write(store, _EXPIRED, "\n".join(known[-_MOST_EXPIRED:]).encode())
    for identity in gone:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(identity + _SUFFIX, dir_fd=store)


def _expired(store: int) -> list[str]:
    try:
        with _reading(store, _EXPIRED) as descriptor:
            return _content(descriptor).decode("ascii", "replace").split()
    except OSError:
        return []

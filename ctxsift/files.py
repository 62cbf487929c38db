"""Files: reading what comes from outside, never half understood; writing so that nothing is ever half written."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from ctxsift.errors import InputError

_MEGABYTE = 1_000_000
# Of a file that nobody but its owner may read.
PRIVATE = 0o600
_NO_FILE = "is not a file"


def exists(path: Path) -> bool:
    """Say whether a path leads somewhere; one that cannot (too long a name, a loop of links) does not."""
    try:
        return path.exists()
    except OSError:
        return False


def open_regular(path: Path, *, write: bool = False) -> BinaryIO:
    """Open a regular file for reading, or for both; a pipe or a device would be read for ever. Raises OSError."""
    access, mode = (os.O_RDWR, "r+b") if write else (os.O_RDONLY, "rb")
    return _regular(os.open(path, access | os.O_NONBLOCK | os.O_CLOEXEC), path, mode)


def _regular(descriptor: int, path: Path, mode: str) -> BinaryIO:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, _NO_FILE, str(path))
    return cast(BinaryIO, os.fdopen(descriptor, mode))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal. Raises OSError."""
    import hashlib

    with open_regular(path) as file:
        return hashlib.file_digest(cast(BufferedReader, file), "sha256").hexdigest()


def read_bytes(path: Path, hint: str, *, most_mb: float) -> bytes:
    """Return the content of a file, unpacked if its name ends in .gz.

    Args:
        path: the file.
        hint: what to do when it cannot be read; ends the message.
        most_mb: the largest size that is read, in megabytes, unpacked.

    Raises:
        InputError: it is missing, no file, too large, or cannot be read.

    """
    most = int(most_mb * _MEGABYTE)
    with reading(path, hint) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise InputError(str(path), f"is larger than {most_mb} MB", hint)
        packed = path.name.endswith(".gz")
        content = gzip.GzipFile(fileobj=file).read(most + 1) if packed else file.read(most + 1)
    if len(content) > most:
        raise InputError(str(path), f"is larger than {most_mb} MB", hint)
    return content


def open_alone(path: Path) -> BinaryIO:
    """Open a regular file, made where it is missing, to read it and to append to it. Raises OSError.

    Whoever else opens it like this waits until it is closed, or its process has ended.
    """
    return _locked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, "r+b")


@contextlib.contextmanager
def reading(path: Path, hint: str) -> Iterator[BinaryIO]:
    """Open a regular file for reading; what goes wrong with it until it is closed becomes an InputError.

    Args:
        path: the file.
        hint: what to do when it cannot be read; ends the message.

    """
    try:
        with open_regular(path) as file:
            yield file
    except FileNotFoundError as error:
        raise InputError(str(path), "no such file", hint) from error
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = reason if reason == _NO_FILE else f"cannot be read ({reason})"
        raise InputError(str(path), problem, hint) from error


def read_text(path: Path, hint: str, *, most_mb: float, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file; see `read_bytes`. Raises InputError also when it is not UTF-8."""
    try:
        return read_bytes(path, hint, most_mb=most_mb).decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"cannot be read as UTF-8 ({error})", "save it as UTF-8") from error


def encoded(text: str) -> bytes:
    """Return the bytes of a text file; half characters that a model wrote become escapes."""
    return text.encode("utf-8", "backslashreplace")


def files_below(folder: Path, suffixes: tuple[str, ...], unreadable: Callable[[InputError], None]) -> Iterator[Path]:
    """Yield what is no folder below a folder and has a name that ends in one of `suffixes`, in the order of paths.

    Folders behind symbolic links belong to it, each folder once; hidden files do not. Pipes and links that lead nowhere
    are yielded, too: whoever reads them says what is wrong with them.

    Args:
        folder: where to look.
        suffixes: of the names, e.g. `.json`.
        unreadable: called with what is wrong with a folder that is left out.

    """

    def left_out(error: OSError) -> None:
        reason = error.strerror or str(error)
        unreadable(InputError(str(error.filename), f"cannot be read ({reason})", "check its permissions"))

    seen: set[tuple[int, int]] = set()
    found: list[Path] = []
    # A folder has the name it has, and not that of a link to it: links are followed last.
    waiting = [folder]
    while waiting:
        top = waiting.pop(0)
        if not _is_new(top, seen) and top != folder:
            continue
        for name, folders, files in os.walk(top, onerror=left_out):
            found += [Path(name, file) for file in files if file.endswith(suffixes) and not file.startswith(".")]
            inner = [Path(name, each) for each in sorted(folders)]
            waiting += [each for each in inner if each.is_symlink()]
            folders[:] = [each.name for each in inner if not each.is_symlink() and _is_new(each, seen)]
    yield from sorted(found)


def _is_new(folder: Path, seen: set[tuple[int, int]]) -> bool:
    """Say whether a folder was not seen before; links may lead round in a circle."""
    try:
        there = folder.stat()
    except OSError:
        return False
    identity = there.st_dev, there.st_ino
    if identity in seen:
        return False
    seen.add(identity)
    return True


def holds(path: Path, text: str) -> bool:
    """Say whether a file has this text (packed, if it is a .gz)."""
    content = encoded(text)
    try:
        return read_bytes(path, "", most_mb=len(content) / _MEGABYTE + 1) == content
    except InputError:
        # Missing, longer, or no file at all.
        return False


def refuse_input(output: Path | None, inputs: Iterable[Path | None], *, option: str = "-o") -> None:
    """Raise InputError if a file that is to be written is one that is read: that may be the only copy.

    Args:
        output: where somebody wants to write; None for nowhere.
        inputs: what is read, by whatever name or link; None for nothing.
        option: that named the output.

    """
    for each in inputs:
        if output is not None and each is not None and _is_same(output, each):
            raise InputError(f"{option} {output}", f"{each} is read, and would be lost", "name another file")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def temporary_of(path: Path) -> Path:
    """Return where `write_atomically` writes first; it is there when a writer is at work, or was killed."""
    return path.with_name(f".{path.name}.tmp")


def write_atomically(path: Path, text: str | bytes, *, mode: int | None = None) -> None:
    """Write a file, packed if it is a .gz, by way of a temporary one in the same folder. Raises OSError.

    The temporary file has always the same name, so that one whose writer was killed is used up by the next writer. A
    device is written to as it is: nothing may take the place of /dev/null. What takes the place of a private file is
    private.

    Args:
        path: the file.
        text: its content.
        mode: who may read and write it, from its first byte on; None for what is usual.

    """
    content = encoded(text) if isinstance(text, str) else text
    content = gzip.compress(content, mtime=0) if path.suffix == ".gz" else content
    if _is_device(path):
        path.write_bytes(content)
        return
    temporary = temporary_of(path)
    with _owned(temporary) as file:
        try:
            file.truncate()
            if mode is None and _is_private(path):
                mode = PRIVATE
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _is_private(path: Path) -> bool:
    try:
        return path.stat().st_mode & 0o077 == 0
    except OSError:
        return False


def _is_device(path: Path) -> bool:
    """Return True for a device, and for a name that the system gives to a stream (/dev/stdout)."""
    named = path.is_symlink() and path.absolute().parts[1:2] == ("dev",)
    return named or path.is_char_device() or path.is_block_device()


def _owned(path: Path) -> BinaryIO:
    """Open a file for writing that nobody else is writing to, waiting for them if need be."""
    access = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
    try:
        return _locked(path, access, "wb")
    except PermissionError as error:
        # Somebody else's writer was killed. Where the folder may be written to, it may be removed.
        try:
            path.unlink()
        except FileNotFoundError:
            raise error from None
        return _locked(path, access, "wb")


def _locked(path: Path, access: int, mode: str) -> BinaryIO:
    while True:
        # A pipe of that name would be waited for, and then written into.
        file = _regular(os.open(path, access | os.O_NONBLOCK | os.O_CLOEXEC, 0o666), path, mode)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
            # Whoever had it before may have renamed or removed it.
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    return file
        except BaseException:
            file.close()
            raise
        file.close()

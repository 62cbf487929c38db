"""Files: reading what comes from outside, never half understood; writing so that nothing is ever half written."""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from pathlib import Path

from ctxsift.errors import InputError

_MEGABYTE = 1_000_000


def exists(path: Path) -> bool:
    """Say whether a path leads somewhere; one that cannot (too long a name, a loop of links) does not."""
    try:
        return path.exists()
    except OSError:
        return False


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
    try:
        # A pipe or a device would be read for ever.
        if not path.is_file():
            raise InputError(str(path), "is not a file" if exists(path) else "no such file", hint)
        with path.open("rb") as file:
            packed = path.name.endswith(".gz")
            content = gzip.GzipFile(fileobj=file).read(most + 1) if packed else file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(str(path), f"cannot be read ({getattr(error, 'strerror', None) or error})", hint) from error
    if len(content) > most:
        raise InputError(str(path), f"is larger than {most_mb} MB", hint)
    return content


def read_text(path: Path, hint: str, *, most_mb: float, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file; see `read_bytes`. Raises InputError also when it is not UTF-8."""
    try:
        return read_bytes(path, hint, most_mb=most_mb).decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"cannot be read as UTF-8 ({error})", "save it as UTF-8") from error


def encoded(text: str) -> bytes:
    """Return the bytes of a text file; half characters that a model wrote become escapes."""
    return text.encode("utf-8", "backslashreplace")


def write_atomically(path: Path, text: str | bytes) -> None:
    """Write a file, packed if it is a .gz, by way of a temporary one in the same folder. Raises OSError."""
    content = encoded(text) if isinstance(text, str) else text
    content = gzip.compress(content, mtime=0) if path.suffix == ".gz" else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

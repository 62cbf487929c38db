"""Reads files from outside: never a pipe or a device, never more than is bearable, never half understood."""

from __future__ import annotations

import gzip
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


def read_bytes(path: Path, mend: str, *, most_mb: float) -> bytes:
    """Return the content of a file, unpacked if its name ends in .gz.

    Args:
        path: the file.
        mend: what to do when it cannot be read; ends the message.
        most_mb: the largest size that is read, in megabytes, unpacked.

    Raises:
        InputError: it is missing, no file, too large, or cannot be read.

    """
    most = int(most_mb * _MEGABYTE)
    try:
        # A pipe or a device would be read for ever.
        if not path.is_file():
            raise InputError(str(path), "is no file" if exists(path) else "no such file", mend)
        with path.open("rb") as file:
            packed = path.name.endswith(".gz")
            content = gzip.GzipFile(fileobj=file).read(most + 1) if packed else file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(str(path), f"cannot be read ({getattr(error, 'strerror', None) or error})", mend) from error
    if len(content) > most:
        raise InputError(str(path), f"is larger than {most_mb} MB", mend)
    return content


def read_text(path: Path, mend: str, *, most_mb: float, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file; see `read_bytes`. Raises InputError also when it is no UTF-8."""
    try:
        return read_bytes(path, mend, most_mb=most_mb).decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"cannot be read as UTF-8 ({error})", "save it as UTF-8") from error

"""Standard output and error of a command: closed, full or gone, they cost no result and no exit code."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_STANDARD = (0, 1, 2)


class _GuardedRaw(io.RawIOBase):
    """A standard stream that takes everything; what it cannot write any more is dropped.

    Attributes:
        lost: why something was dropped; None while all of it arrived.

    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.lost: OSError | None = None

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        """Write all of `data`; never raises OSError."""
        left = memoryview(data).cast("B")
        size = len(left)
        while left and self.lost is None:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:
                # Whoever shares the terminal may have made it non-blocking.
                select.select([], [self._descriptor], [])
            except OSError as error:
                self.lost = error
        return size

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Say whether it is a terminal."""
        return os.isatty(self._descriptor)


def guard_streams() -> None:
    """Make stdout and stderr of this process safe to print to; called first by every command.

    From then on printing raises no OSError and no UnicodeError: what a stream has no room or no letter for is dropped
    or escaped. Descriptors that the caller closed lead to nowhere, so that no file of ours takes their numbers.
    Streams that somebody else has put in place (tests do) are left alone.
    """
    for descriptor in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is the missing one. Commands that we run inherit it, like any standard stream.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is sys.__stdout__:
        sys.stdout = _guarded(sys.__stdout__, 1)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _guarded(sys.__stderr__, 2)


def _guarded(stream: TextIO | None, descriptor: int) -> TextIO:
    encoding = "utf-8"
    if stream is not None:
        encoding = stream.encoding
        with contextlib.suppress(OSError):
            stream.flush()
    raw = _GuardedRaw(descriptor)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),  # type: ignore[type-var]
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=raw.isatty() or descriptor == 2,
        write_through=descriptor == 2,
    )


def stdout_loss() -> OSError | None:
    """Return why some of stdout did not arrive; None when all of it did, or when its reader did not want more."""
    lost = _lost()
    return None if lost is None or lost.errno == errno.EPIPE else lost


def reader_gone() -> bool:
    """Say whether the reader of stdout did not want more."""
    lost = _lost()
    return lost is not None and lost.errno == errno.EPIPE


def stderr_has_room(within_s: float) -> bool:
    """Say whether a line to stderr would not block: its reader may have stopped reading."""
    poll = select.poll()
    poll.register(2, select.POLLOUT)
    return bool(poll.poll(within_s * 1000))


def _lost() -> OSError | None:
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.lost if isinstance(raw, _GuardedRaw) else None

"""Ctrl-C, SIGTERM and a terminal that goes away: the first ends a run in good order, the next at once."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from types import FrameType

from benchmark.cli.command import EXIT_INTERRUPTED
from benchmark.run.stop import Stop

_STDERR = 2
_TOLD = b"stopping: what was answered is kept; press again to leave at once\n"
# Progress bars hide it.
_SHOW_CURSOR = b"\x1b[?25h\n"
# timeout(1) sends its signal twice, and nobody has read the line above so soon.
_AGAIN_S = 0.5


@contextlib.contextmanager
def stopping_by_signals(stop: Stop) -> Iterator[None]:
    """Let signals ask for the end of the run while inside; nothing is ever raised in the middle of something.

    SIGINT is heeded also where a shell made a job in the background deaf to it; SIGHUP only where nobody did (nohup).
    A second SIGINT or SIGTERM ends the process with EXIT_INTERRUPTED. Main thread only.
    """
    asked: float | None = None

    def heed(number: int, frame: FrameType | None) -> None:
        del frame
        nonlocal asked
        now = time.monotonic()
        if asked is not None and number != signal.SIGHUP and now - asked >= _AGAIN_S:
            if os.isatty(_STDERR):
                _say(_SHOW_CURSOR)
            os._exit(EXIT_INTERRUPTED)
        first = not stop.requested
        # Kernel and shell both tell of a terminal that is gone; nobody asked twice.
        if asked is None and number != signal.SIGHUP:
            asked = now
        stop.request()
        if first:
            # A progress bar, or the ^C of the terminal, stands in this line.
            _say(b"\n" + _TOLD if os.isatty(_STDERR) else _TOLD)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, heed) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _say(words: bytes) -> None:
    """Write past the streams: a handler may have come in the middle of printing."""
    with contextlib.suppress(OSError):
        os.write(_STDERR, words)

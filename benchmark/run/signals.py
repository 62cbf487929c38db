"""Ctrl-C and SIGTERM: the first ends a run in good order, the second at once."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

from benchmark.cli.command import EXIT_INTERRUPTED


def heed_termination() -> None:
    """Take SIGTERM for Ctrl-C, also where a shell made a job in the background deaf to that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


def stop_at_once_next_time() -> None:
    """Leave without another word when a person asks again; whatever was answered is in the journal."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _leave)
        signal.signal(signal.SIGTERM, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    os._exit(EXIT_INTERRUPTED)

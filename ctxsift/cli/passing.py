"""Output that passes through unchanged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from ctxsift.cli.parser import EXIT_USAGE
from ctxsift.cli.signals import Signals
from ctxsift.cli.source import Source, standard_input
from ctxsift.streams import reader_gone, stderr_has_room
from ctxsift.terminal import tell

_ROOM_S = 1.0


def note(text: str) -> None:
    """Say something on stderr, unless that would keep the output waiting."""
    if stderr_has_room(_ROOM_S):
        tell(f"ctxsift: {text}")


def write(data: bytes) -> None:
    """Write to stdout at once."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def pass_on(chunks: Iterable[bytes], source: Source) -> None:
    """Write what is made of a source as it comes; when nobody reads it any more, neither does the source."""
    for chunk in chunks:
        write(chunk)
        if reader_gone():
            source.stop_reading()


def refuse(problem: str, command: list[str], signals: Signals) -> int:
    """Say what is wrong with the arguments; what is piped in passes through, a command is not run."""
    note(problem)
    if not command and not os.isatty(0):
        source = standard_input(signals)
        pass_on(source.everything(), source)
    return EXIT_USAGE

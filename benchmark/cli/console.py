"""Where results are printed: a terminal, a pipe, or a pipe whose reader has gone."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def terminal() -> Console:
    """Return a console on stdout; piped output has no width of its own, and a table that wraps there helps nobody."""
    # Here, so that commands that print no table start without it.
    from rich.console import Console

    class Terminal(Console):
        """Leaves it to the command what happens when the reader of a pipe has gone; rich would exit with 1."""

        def on_broken_pipe(self) -> None:
            """Raise BrokenPipeError."""
            raise BrokenPipeError

    return Terminal(width=None if sys.stdout.isatty() else 200)


@contextlib.contextmanager
def reader_may_go() -> Iterator[None]:
    """Let the reader of stdout leave (`| head`) without a fault: what it did not want is nobody's loss."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Where tables are printed: a terminal, or a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def terminal() -> Console:
    """Return a console on stdout; piped output has no width of its own, and a table that wraps there helps nobody."""
    # Here, so that commands that print no table start without it.
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 200)

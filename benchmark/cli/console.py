"""Where tables are printed: a terminal, or a pipe."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


# A table that wraps in a file helps nobody.
_PIPED = 200


def terminal() -> Console:
    """Return a console on stdout; piped output is as wide as COLUMNS says, or as whole tables need."""
    # Here, so that commands that print no table start without it.
    from rich.console import Console

    told = os.environ.get("COLUMNS", "")
    return Console(width=None if sys.stdout.isatty() else int(told) if told.isdecimal() and int(told) else _PIPED)

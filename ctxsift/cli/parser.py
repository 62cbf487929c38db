"""What the parsers of all subcommands have in common."""

from __future__ import annotations

import argparse
from typing import NoReturn

EXIT_USAGE = 2


class Parser(argparse.ArgumentParser):
    """Refuses bad usage in one line, like every other bad input."""

    def error(self, message: str) -> NoReturn:
        """Exit with EXIT_USAGE."""
        self.exit(EXIT_USAGE, f"ctxsift: {message}; see {self.prog} --help\n")


def positive(text: str) -> int:
    """Return a whole number of 1 or more; for `type=`. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)

"""What the parsers of all subcommands have in common."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from ctxsift.errors import CtxsiftError
from ctxsift.settings import MOST_TOKENS

EXIT_USAGE = 2
# Windows has codes of 32 bits; some callers write a signal as a negative number.
_MOST_SECONDS = 86_400
_EXIT_CODE = re.compile(r"-?[0-9]{1,10}")


class Parser(argparse.ArgumentParser):
    """Refuses bad usage in one line, like every other bad input."""

    def error(self, message: str) -> NoReturn:
        """Raise CtxsiftError; whoever catches it still has what was piped in to pass on."""
        raise CtxsiftError(f"{message}; see {self.prog} --help")


def exit_code(text: str) -> int:
    """Return an exit code; for `type=`. Raises ArgumentTypeError."""
    if not _EXIT_CODE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not an exit code")
    return int(text)


def size(text: str) -> int:
    """Return a number of bytes; for `type=`. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > 12:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of bytes")
    return int(text)


def seconds(text: str) -> float:
    """Return a time to wait, at most a day; for `type=`. Raises ArgumentTypeError."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of seconds above 0, at most {_MOST_SECONDS}")
    return found


def tokens(text: str) -> int:
    """Return a limit of tokens; for `type=`. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > 12 or not 1 <= int(text) <= MOST_TOKENS:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 1 to {MOST_TOKENS}")
    return int(text)

"""What the parsers of all subcommands have in common."""

from __future__ import annotations

import argparse
import os
import re

from ctxsift.errors import CtxsiftError, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, NoReturn

EXIT_USAGE = 2
# What answers `ctxsift compress` where nobody names a model, and the model that is named where one is missed.
EXTRACT = "extract"
PACKAGED_MODEL = "package:qwen2.5-coder-1.5b"
DEFAULT_MAX_OUTPUT_TOKENS = 512
DEFAULT_TIMEOUT_S = 600.0
# A screen of text: reading it costs an agent less than a wrong answer. And what an agent's program passes on whole.
DEFAULT_MIN_BYTES, DEFAULT_MAX_BYTES = 4096, 8000
DEFAULT_QUESTION = "errors, failures, warnings, result"
# Set to 0, nothing is shortened.
SWITCH = "CTXSIFT"
# Windows has codes of 32 bits; some callers write a signal as a negative number.
_MOST_SECONDS = 86_400
# As argparse says it; later versions of Python quote the choices no more.
_CHOICES = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")
_EXIT_CODE = re.compile(r"-?[0-9]{1,10}")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of a description, and does not import shutil to know the width of the terminal."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ["COLUMNS"])
        except (KeyError, ValueError):
            width = os.get_terminal_size(1).columns if os.isatty(1) else 0
        super().__init__(prog, width=(width if width > 0 else 80) - 2)


class CommandParser(argparse.ArgumentParser):
    """Refuses bad usage in one line, like every other bad input, and names what was probably meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter} | options)

    def error(self, message: str) -> NoReturn:
        """Raise CtxsiftError; whoever catches it still has what was piped in to pass on."""
        if choice := _CHOICES.search(message):
            known = [word.strip(" '") for word in choice[2].split(",")]
            message = f"{message[: choice.start()]}invalid choice: {choice[1][:40]!r}; {did_you_mean(choice[1], known)}"
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


def path(text: str) -> Path:
    """Return a path; for `type=`."""
    from pathlib import Path

    return Path(text)


def seconds(text: str) -> float:
    """Return a time to wait, at most a day; for `type=`. Raises ArgumentTypeError."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of seconds above 0 and up to {_MOST_SECONDS}")
    return found


def tokens(text: str) -> int:
    """Return a limit of tokens; for `type=`. Raises ArgumentTypeError."""
    from ctxsift.settings import MOST_TOKENS

    if not text.isdecimal() or len(text) > 12 or not 1 <= int(text) <= MOST_TOKENS:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 1 to {MOST_TOKENS}")
    return int(text)

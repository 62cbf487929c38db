"""What the parsers of all subcommands have in common."""

from __future__ import annotations

import argparse
import os
import re

from ctxsift.errors import CtxsiftError, did_you_mean, near_names

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
# Where the parser of a subcommand that takes a command leaves words that stand in front of `--`.
STRAY = "stray"
# Where a parser names the action that reads a file, for who names a file in place of an action.
READING = "reading"
# Windows has codes of 32 bits; some callers write a signal as a negative number.
_MOST_SECONDS = 86_400
# As argparse says it; later versions of Python quote the choices no more.
_CHOICES = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")
_UNKNOWN = re.compile(r"unrecognized arguments: (--[^\s=]+)")
_FILE = re.compile(r"unrecognized arguments: ([^-\s]\S*\.jsonl)")
# The question in a hint, if the user started with the command.
QUESTION = "what failed?"
_EXIT_CODE = re.compile(r"-?[0-9]{1,10}")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of a description, and does not import shutil to know the width of the terminal."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ["COLUMNS"])
        except (KeyError, ValueError):
            width = os.get_terminal_size(1).columns if os.isatty(1) else 0
        super().__init__(prog, width=(width if width > 0 else 80) - 2)


class SuggestingParser(argparse.ArgumentParser):
    """Names what was probably meant where an option or a choice is unknown.

    Where there is a default for STRAY, words in front of `--` are left there: they may be a command.
    Where there is one for READING, a file in place of an action is one for the action of that name.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse; what nobody knows is refused here, by the parser whose options they might have been."""
        found, left = super().parse_known_args(args, namespace)
        if left and self.get_default(STRAY) is not None and not left[0].startswith("-"):
            setattr(found, STRAY, left)
        elif self._is_command(found, left):
            setattr(found, STRAY, [found.wanted, *left])
            found.wanted = None
        elif left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found, []

    def _is_command(self, found: Any, left: list[str]) -> bool:
        """Return whether the question is a program, and what is left its options: `compress ls -l`."""
        if not left or self.get_default(STRAY) is None or left[0].startswith("--"):
            return False
        import shutil

        return shutil.which(getattr(found, "wanted", None) or "") is not None

    def suggesting(self, message: str) -> str:
        """Return a message of argparse with the near names of what is unknown."""
        if choice := _CHOICES.search(message):
            known = [word.strip(" '") for word in choice[2].split(",")]
            if self.get_default(READING) and path(choice[1]).is_file():
                import shlex

                meant = f"{self.prog} {self.get_default(READING)} {shlex.quote(choice[1])}"
                return f"{message[: choice.start()]}{choice[1][:40]!r} is a file; did you mean {meant}?"
            return f"{message[: choice.start()]}invalid choice: {choice[1][:40]!r}; {did_you_mean(choice[1], known)}"
        if (file := _FILE.fullmatch(message)) and "--dataset" in self._option_string_actions:
            return f"{message}; did you mean --dataset {file[1]}?"
        if unknown := _UNKNOWN.search(message):
            # An option that is not shown is an old name.
            shown = [action for action in self._actions if action.help != argparse.SUPPRESS]
            names = [name for action in shown for name in action.option_strings if name.startswith("--")]
            near = near_names(unknown[1], names)
            return f"{message}; did you mean {', '.join(near)}?" if near else message
        return message


class CommandParser(SuggestingParser):
    """Refuses bad usage in one line, like every other bad input."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter} | options)

    def error(self, message: str) -> NoReturn:
        """Raise CtxsiftError; whoever catches it still has what was piped in to pass on."""
        raise CtxsiftError(f"{self.suggesting(message)}; see {self.prog} --help")


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

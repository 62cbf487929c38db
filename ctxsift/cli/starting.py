"""A command that is started, or why it cannot be; what it has left behind."""

from __future__ import annotations

import re

from ctxsift.cli.passing import note
from ctxsift.cli.source import InputSource, command_output
from ctxsift.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.cli.signals import Signals

EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND = 126, 127
_OF_SHELL = re.compile(r"[\s|&;<>$`]|\A(?:\w+=|(?:cd|export|source|eval|alias|set|unset|if|for|while|!)\Z)")


def started(command: list[str], signals: Signals) -> InputSource | int:
    """Return the output of a command that runs, or the exit code where it does not, which is told on stderr."""
    if signals.first is not None:
        return 128 + signals.first
    try:
        return command_output(command, signals)
    except OSError as error:
        why = error.strerror or error
        note(str(InputError(command[0], f"cannot be run ({why})", _hint(command))))
        return EXIT_NOT_FOUND if isinstance(error, FileNotFoundError) else EXIT_NOT_EXECUTABLE


def tell_left_open(source: InputSource) -> None:
    """Say so where a process in the background holds the output."""
    if source.left_open:
        note("a background process still has the output of the command open; ctxsift did not wait for it")


def _hint(command: list[str]) -> str:
    """Return what to do about a command that cannot be run: what only a shell understands needs one."""
    if command[0].startswith(("/", "./")) or not _OF_SHELL.search(command[0]):
        return "check its name"
    import shlex

    line = command[0] if len(command) == 1 else shlex.join(command)
    return f"a line of a shell is run with: sh -c {shlex.quote(line)}"

"""The console script `ctxsift`: one module per subcommand."""

from __future__ import annotations

import os
import sys

from ctxsift.cli.signals import Signals
from ctxsift.streams import guard_streams, stdout_loss

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxsift.cli.parser import CommandParser


_DESCRIPTION = """\
Print only the part of a command's output that matters, and see what your session lost when it was compacted.

  command output     run, raw, compress
  agents             init, hook, doctor, stats
  recorded sessions  session, compact, lost
  packages           list
"""
_EPILOG = """\
examples:
  ctxsift run -- pytest -q
  ctxsift init claude
  ctxsift compact session.jsonl -o so-far.md

Only compress and compact can send anything to a service, and only with --remote or CTXSIFT_REMOTE=1.
`ctxsift COMMAND --help` explains each command.
"""
# By name; those that print what is piped in where the arguments are wrong are in _READING.
_SUBCOMMANDS = {
    "run": "run",
    "raw": "raw",
    "compress": "compress",
    "init": "init",
    "hook": "hook",
    "doctor": "doctor",
    "stats": "stats",
    "session": "session",
    "compact": "compact",
    "list": "listing",
}
_READING = ("compress",)
# Other installed packages add theirs here: a function that adds a parser, by the name of the subcommand.
GROUP = "ctxsift.commands"
# Those that take a command after --, or never fail.
_TAKING_COMMANDS = ("run", "compress", "hook")
# To who runs it, an exit code says what is to become of a result.
_UNFAILING = "hook"


def build_parser(named: str = "") -> CommandParser:
    """Return the parser of the console script; each subcommand adds its own, with the handler to call.

    Args:
        named: the one subcommand that is needed, so that the others are not imported; otherwise all are there.

    """
    from importlib import import_module

    from ctxsift import __version__
    from ctxsift.cli.parser import CommandParser

    parser = CommandParser(prog="ctxsift", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"ctxsift {__version__}")
    commands = parser.add_subparsers(dest="subcommand", required=True, metavar="COMMAND")
    for name, module in _SUBCOMMANDS.items():
        if named in (name, "") or named not in _SUBCOMMANDS:
            import_module(f"ctxsift.cli.{module}").add_parser(commands)
    if named not in _SUBCOMMANDS:
        from importlib.metadata import entry_points

        for each in entry_points(group=GROUP):
            each.load()(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the console script and return its exit code; what follows `--` is a command for the subcommand to run.

    Called once in a process: from here on no signal of ENDING ends it.
    """
    # Before anything else is imported: what is piped in would be lost with us.
    guard_streams()
    signals = Signals()
    exit_code = _run(list(sys.argv[1:] if argv is None else argv), signals)
    signals.block()
    if signals.left_behind:
        # Python would wait for what that thread has started.
        sys.stderr.flush()
        os._exit(exit_code)
    return exit_code


def _run(arguments: list[str], signals: Signals) -> int:
    from ctxsift.cli.parser import EXIT_USAGE, STRAY
    from ctxsift.cli.passing import note, refuse
    from ctxsift.errors import CtxsiftError, InputError

    at = arguments.index("--") if "--" in arguments else len(arguments)
    command = arguments[at + 1 :]
    named = "".join(arguments[:1])
    try:
        options = build_parser(named).parse_args(arguments[:at])
        if stray := getattr(options, STRAY, []):
            meant = _meant(arguments[:at], stray, command, getattr(options, "wanted", ""))
            raise InputError(named, "put the command after `--`", f"try: {meant}")
        if command and named not in _TAKING_COMMANDS:
            raise InputError("--", f"{named} takes no command", "leave out `--` and what follows it")
    except CtxsiftError as error:
        if named == _UNFAILING:
            note(str(error))
            exit_code = 0
        elif named in _SUBCOMMANDS and named not in _READING:
            # They take no data, so there is none to pass on.
            note(str(error))
            exit_code = EXIT_USAGE
        else:
            exit_code = refuse(str(error), command, signals)
    except SystemExit as left:
        # It has printed its help, if it could.
        exit_code = int(left.code or 0) if stdout_loss() is None else 1
    else:
        exit_code = int(options.handler(options, command, signals))
    if (loss := stdout_loss()) is not None:
        note(f"not all of the output could be written ({loss.strerror or loss})")
    return exit_code


def _meant(before: list[str], stray: list[str], command: list[str], question: str | None) -> str:
    """Return the whole line with `--` in front of the words of a command, and of what followed its own `--`."""
    import shlex

    from ctxsift.cli.parser import QUESTION

    ours = before[:]
    for word in reversed(stray):
        del ours[len(ours) - 1 - ours[::-1].index(word)]
    if question is None:
        ours.append(QUESTION)
    return shlex.join(["ctxsift", *ours, "--", *stray, *(["--", *command] if command else [])])

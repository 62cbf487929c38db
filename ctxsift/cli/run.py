"""`ctxsift run`: runs a command and prints its output, a long one as lines picked by rule; all of it is kept.

The command is started, read and ended as `ctxsift compress` does it. No model is asked.
"""

from __future__ import annotations

import argparse
import os

from ctxsift.cli.parser import (
    DEFAULT_MAX_BYTES,
    DEFAULT_MIN_BYTES,
    DEFAULT_QUESTION,
    EXIT_USAGE,
    STRAY,
    SWITCH,
    CommandParser,
    size,
)
from ctxsift.cli.passing import MOST_BYTES, MOST_MB, give_back, note, problem_with, told, write_text
from ctxsift.cli.signals import SignalledError
from ctxsift.cli.starting import started, tell_left_open
from ctxsift.errors import InputError

# What picks lines takes long to import, and most output is short: ctxsift/shortening.py.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.cli.signals import Signals
    from ctxsift.cli.source import InputSource

SUBCOMMAND = "run"

_EPILOG = f"""\
examples:
  ctxsift run -- pytest -q
  ctxsift run -q "which tests failed?" -- pytest -q
  ctxsift run -c 'make 2>&1 | tee build.log'
  ctxsift raw 3f2a9c81d04e --lines 120:180

If the output is {DEFAULT_MIN_BYTES:,} bytes or longer, `ctxsift run` prints only the most relevant lines, which it
selects by rules, without a model. The lines keep their order and wording, and each gap is marked with the number of
lines left out. The last line gives the number of lines, the exit code, the path of the full output, and
`ctxsift raw ID`, which prints the full output. The file contains the output unchanged, including any secrets, and only
you can read the file. It is deleted seven days after it was last read; at most 200 outputs and 200 MB are stored.

The output is printed unchanged if
  it is shorter than this, is not text, or is longer than {MOST_MB} MB
  shortening would save less than a quarter, or less than 1,500 bytes
  the command failed, and none of the lines that fit into the shortened output show why
  the full output cannot be stored
  it comes from `ctxsift raw`, or from a command that reads a stored file
  {SWITCH}=0 is set

`ctxsift run` reads the command's stdout and stderr, and prints both to stdout after the command ends. The command
receives your standard input and your signals.

exit code: the command's (128 + N if signal N killed it)
  2  the arguments are wrong; the command was not run
  126, 127  the command could not be run, or was not found
"""


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(
        SUBCOMMAND,
        help="run a command and print the part of its output that matters",
        usage="%(prog)s [OPTION ...] -- COMMAND [ARGUMENT ...]\n       %(prog)s [OPTION ...] -c LINE",
        epilog=_EPILOG,
    )
    one.set_defaults(handler=run)
    # All that follows the first word, so that no option of the command is taken for one of ours.
    one.add_argument(STRAY, nargs=argparse.REMAINDER, default=[], help=argparse.SUPPRESS)
    one.add_argument(
        "-q",
        "--question",
        default=DEFAULT_QUESTION,
        help="prefer lines related to this question (default: %(default)s)",
    )
    one.add_argument("-c", dest="line", metavar="LINE", help="run LINE in your shell ($SHELL) instead of COMMAND")
    one.add_argument(
        "--min-bytes",
        type=size,
        default=DEFAULT_MIN_BYTES,
        metavar="N",
        help="print output shorter than N bytes unchanged (default: %(default)s; 0: no minimum)",
    )
    one.add_argument(
        "--max-bytes",
        type=size,
        default=DEFAULT_MAX_BYTES,
        metavar="N",
        help="print at most N bytes of shortened output (default: %(default)s)",
    )
    one.add_argument(
        "--raw", "--no-store", dest="raw", action="store_true", help="print all output as it arrives, and store nothing"
    )


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Run it; return the exit code that the help tells."""
    if bool(command) == (options.line is not None):
        note(str(InputError("run", "give a command after --, or a line with -c", "see ctxsift run --help")))
        return EXIT_USAGE
    if options.line is not None:
        command = [os.environ.get("SHELL") or "/bin/sh", "-c", options.line]
    source = started(command, signals)
    if isinstance(source, int):
        return source
    code = _printed(options, command, source, signals)
    tell_left_open(source)
    return code


def _printed(options: argparse.Namespace, command: list[str], source: InputSource, signals: Signals) -> int:
    if options.raw or os.environ.get(SWITCH) == "0":
        return give_back(source, None, as_json=False)
    source.read(MOST_BYTES)
    if (problem := problem_with(source, signals)) is not None:
        return give_back(source, problem, as_json=False)
    if len(source.data) < options.min_bytes:
        return give_back(source, None, as_json=False)
    try:
        short = signals.interruptible(lambda: _short(options, command, source))
    except SignalledError:
        return give_back(source, problem_with(source, signals), as_json=False)
    except OSError as error:
        why = f"the full output cannot be stored ({error.strerror or error}; ctxsift doctor says where)"
        return give_back(source, why, as_json=False)
    except Exception as error:  # the output must not be lost over it
        return give_back(source, told(error), as_json=False)
    if short is None:
        return give_back(source, None, as_json=False)
    write_text(short)
    return source.exit_code


def _short(options: argparse.Namespace, command: list[str], source: InputSource) -> str | None:
    from ctxsift.shortening import reads_kept, shortened

    if reads_kept(" ".join(command)):
        return None
    return shortened(bytes(source.data), options.question, source.exit_code, options.max_bytes)

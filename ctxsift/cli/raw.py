"""`ctxsift raw`: the whole output behind an extract, byte for byte."""

from __future__ import annotations

import argparse
import os
import re

from ctxsift.cli.parser import EXIT_USAGE, CommandParser
from ctxsift.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.cli.signals import Signals

SUBCOMMAND = "raw"
EXIT_UNKNOWN, EXIT_EXPIRED = 1, 3
# Begins a line of the log.
READ = "read"
# A pattern that goes back and forth over a long line has no end.
_MOST_SECONDS = 5.0
_LINES = re.compile(r"([1-9][0-9]{0,11})?:([1-9][0-9]{0,11})?")

_EPILOG = """\
examples:
  ctxsift raw 3f2a9c81d04e
  ctxsift raw 3f2a9c81d04e --lines 120:180
  ctxsift raw 3f2a9c81d04e --grep 'test_cart|AssertionError'
  ctxsift raw --list

The last line that `ctxsift run` prints contains this command with the ID of the full output. Outputs are deleted seven
days after they were last read; at most 200 outputs and 200 MB are stored. Only you can read the files. They still
contain any secrets that the command printed.

exit code: 0 success; 2 the arguments are wrong, or the pattern took longer than five seconds
  1  there is no output with this ID, or the output could not be read or printed
  3  the output has been deleted; rerun the command that printed it
"""


def line_range(text: str) -> slice:
    """Return lines from A to B, both included, counted from 1; for `type=`. Raises ArgumentTypeError."""
    # A number alone is that one line.
    found = _LINES.fullmatch(text if ":" in text else f"{text}:{text}")
    if found is None or found.groups() == (None, None):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not A:B, A:, :B or A, lines counted from 1")
    first, last = found.groups()
    if first and last and int(first) > int(last):
        raise argparse.ArgumentTypeError(f"{text}: {first} is after {last}; put the smaller number first")
    return slice(int(first) - 1 if first else None, int(last) if last else None)


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="print the full output behind a shortened one", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument("identity", nargs="?", metavar="ID", help="12 or more hexadecimal digits")
    one.add_argument(
        "--lines", type=line_range, metavar="A:B", help="print only lines A to B (or line A), counted from 1"
    )
    one.add_argument(
        "--grep",
        metavar="RE",
        help="print only lines that match the regular expression RE (with --lines: within that range)",
    )
    one.add_argument("--path", action="store_true", help="print the path of the file instead of its contents")
    one.add_argument(
        "--list", action="store_true", help="list the stored outputs (ID, size, last use), the most recently used first"
    )
    one.add_argument("--clear", action="store_true", help="delete all stored outputs")


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Print it; return the exit code that the help tells."""
    from ctxsift.cli.passing import note

    del command, signals
    try:
        if sum((options.identity is not None, options.list, options.clear)) != 1:
            raise InputError(
                "ID", "name exactly one output, or give --list or --clear", "ctxsift raw --list shows them"
            )
        return _listed(clear=options.clear) if options.identity is None else _printed(options)
    except InputError as error:
        note(str(error))
        return EXIT_USAGE
    except OSError as error:
        note(f"cannot read the stored outputs ({error.strerror or error})")
        return EXIT_UNKNOWN


def _listed(*, clear: bool) -> int:
    from ctxsift import raw_store
    from ctxsift.terminal import show, show_columns

    try:
        found, removed = ([], raw_store.clear()) if clear else (raw_store.entries(), 0)
    except FileNotFoundError:
        found, removed = [], 0
    if clear:
        show(f"removed: {removed}")
    elif found:
        show_columns([(each.identity, f"{each.size:,}", _when(each.used)) for each in found])
    return 0


def _when(seconds: float) -> str:
    import time

    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _printed(options: argparse.Namespace) -> int:
    from ctxsift import raw_store
    from ctxsift.cli.passing import note, write
    from ctxsift.streams import reader_gone, stdout_loss
    from ctxsift.terminal import show

    identity: str = options.identity
    try:
        if not raw_store.IDENTITY.fullmatch(identity):
            raise FileNotFoundError
        data = raw_store.read(identity)
    except FileNotFoundError:
        return _missing(identity)
    if not options.path and (options.lines or options.grep is not None):
        # A pattern that is refused shows nothing, which is no read.
        data = _chosen(data, options.lines or slice(None), options.grep)
        if not data:
            named = [name for name, given in (("--lines", options.lines), ("--grep", options.grep)) if given]
            note(f"no line matches {' and '.join(named) or '--grep'}")
    raw_store.log(READ, identity)
    if options.path:
        path = raw_store.path_of(identity)
        # Who reads it opens it, whatever bytes it has; a terminal would obey some.
        show(str(path)) if os.isatty(1) else write(os.fsencode(path) + b"\n")
        return 0
    write(data)
    return EXIT_UNKNOWN if stdout_loss() and not reader_gone() else 0


def _missing(identity: str) -> int:
    import contextlib

    from ctxsift import raw_store
    from ctxsift.cli.passing import note
    from ctxsift.terminal import in_line

    with contextlib.suppress(OSError):
        if raw_store.is_expired(identity):
            note(f"{identity} has been deleted. Do not retry; run its command again")
            return EXIT_EXPIRED
    note(f"{in_line(identity, limit=80)}: no output has this ID; ctxsift raw --list shows the stored ones")
    return EXIT_UNKNOWN


def _chosen(data: bytes, lines: slice, pattern: str | None) -> bytes:
    """Return the lines in a range that match a pattern. Raises InputError."""
    import io

    chosen = io.BytesIO(data).readlines()[lines]
    return b"".join(chosen if pattern is None else _matching(chosen, pattern))


def _matching(lines: list[bytes], pattern: str) -> list[bytes]:
    import time

    # Unlike `re`, it takes a limit of time.
    import regex

    until = time.monotonic() + _MOST_SECONDS
    try:
        wanted = regex.compile(pattern)
        return [
            line
            for line in lines
            if wanted.search(
                line.rstrip(b"\r\n").decode("utf-8", "surrogateescape"), timeout=max(0.001, until - time.monotonic())
            )
        ]
    except TimeoutError as error:
        raise InputError("--grep", f"takes longer than {_MOST_SECONDS:g} s", "simplify the pattern") from error
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise InputError(
            "--grep", f"is not a regular expression ({error})", "quote it; \\( matches a parenthesis"
        ) from error

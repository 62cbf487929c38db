"""`ctxsift session`: what is in a coding agent's session. Reads files, writes only what `convert` is told to."""

from __future__ import annotations

import argparse

from ctxsift.cli.parser import EXIT_USAGE, READING, CommandParser, path
from ctxsift.errors import CtxsiftError, InputError
from ctxsift.streams import stdout_loss

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ctxsift.cli.signals import Signals
    from ctxsift.sessions.records import Session

SUBCOMMAND = "session"
EXIT_FAILED = 1
DEFAULT_MOST_LISTED = 20

_EXAMPLES = """\
examples:
  ctxsift session list
  ctxsift session stats
  ctxsift session show --step 12
  ctxsift session show rollout-2026-11-24.jsonl
  ctxsift session stats session.jsonl.gz --json
  ctxsift session files session.jsonl
  ctxsift session convert session.jsonl -o session.atif.json

The command reads sessions from Claude Code, Codex, Pi, SWE-agent and mini-SWE-agent, ATIF trajectories, and lists of
OpenAI or Anthropic messages. It recognises the format from the content. Without FILE, it reads the newest Claude Code
or Codex session in this folder. It replaces secrets with *** unless you give --keep-secrets. It does not send anything
over the network, and does not run any command.

exit code: 0 success; 128 + N after signal N
  1  stdout, or the output file of convert, could not be written to
  2  the arguments are wrong, or FILE cannot be read
"""


def step_number(text: str) -> int:
    """Return the id of a step; for `type=`. Raises ArgumentTypeError."""
    if not text.isdecimal() or not 1 <= len(text) <= 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number of at least 1")
    return int(text)


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand, with its own."""
    one = commands.add_parser(SUBCOMMAND, help="inspect a coding agent's session", epilog=_EXAMPLES)
    one.set_defaults(**{READING: "show"})
    actions = one.add_subparsers(
        dest="action", metavar="ACTION", required=True, help="list, show, stats, files or convert"
    )
    listing = actions.add_parser("list", help="list the Claude Code and Codex sessions on this machine, newest first")
    listing.add_argument(
        "-n",
        dest="most",
        type=step_number,
        default=DEFAULT_MOST_LISTED,
        metavar="N",
        help="list at most N sessions (default: %(default)s)",
    )
    show = actions.add_parser("show", help="print the steps in readable form; long outputs are truncated")
    show.add_argument("--step", type=step_number, metavar="N", help="show only this step, untruncated")
    stats = actions.add_parser(
        "stats", help="count steps, tools, tokens, compactions and skipped records, and show times"
    )
    files = actions.add_parser(
        "files", help="list touched files, failed commands, checks and commits, each with its steps"
    )
    convert = actions.add_parser("convert", help="convert the session to an ATIF 1.8 trajectory")
    for each in (show, stats, files, convert):
        each.add_argument(
            "file",
            nargs="?",
            type=path,
            metavar="FILE",
            help="session file (default: the newest session in this folder)",
        )
        each.add_argument("--keep-secrets", action="store_true", help="do not replace secrets")
    told = ((listing, "the list"), (show, "the session (or the step)"), (stats, "the figures"), (files, "the lists"))
    for each, what in told:
        each.add_argument("--json", action="store_true", help=f"print {what} as JSON")
    convert.add_argument(
        "-o",
        "--output",
        type=path,
        required=True,
        metavar="OUT",
        help="output file; gzip-compressed if the name ends in .gz",
    )
    for each, handler in ((listing, _list), (show, _show), (stats, _stats), (files, _files), (convert, _convert)):
        each.set_defaults(handler=run, act=handler)


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Do what is asked; return the exit code that the help tells."""
    from ctxsift.cli.passing import note
    from ctxsift.cli.signals import SignalledError

    del command
    try:
        act: Callable[[argparse.Namespace, Signals], int] = options.act
        exit_code = act(options, signals)
        return EXIT_FAILED if stdout_loss() is not None else exit_code
    except CtxsiftError as error:
        note(str(error))
        return EXIT_USAGE
    except SignalledError:
        return 128 + (signals.first or 0)


def _list(options: argparse.Namespace, signals: Signals) -> int:
    from itertools import islice

    from ctxsift.cli import session_view
    from ctxsift.sessions.finding import head_of, session_files

    found = session_files()
    own = ((each, head) for each in found if not (head := head_of(each.path)).is_subagent)
    shown = signals.interruptible(lambda: list(islice(own, options.most)))
    # How many of the others are subagents' is not known.
    total = len(found) if len(shown) == options.most else len(shown)
    session_view.print_list(shown, total, as_json=options.json)
    return 0


def chosen(options: argparse.Namespace) -> Path:
    """Return FILE, or, where none is given, the newest session of this folder, which is named on stderr.

    Raises InputError: there is none.
    """
    from pathlib import Path

    from ctxsift.cli.passing import note
    from ctxsift.sessions.finding import newest_session

    if options.file is not None:
        return Path(options.file)
    newest = newest_session(Path.cwd())
    note(f"reading {newest.path} ({newest.agent})")
    return newest.path


def _session(options: argparse.Namespace, signals: Signals, *, output: Path | None = None) -> Session:
    from ctxsift.files import refuse_input
    from ctxsift.sessions.reading import read_session, subagent_files

    source = chosen(options)
    refuse_input(output, (source, *subagent_files(source)))
    return signals.interruptible(lambda: read_session(source, keep_secrets=options.keep_secrets))


def _show(options: argparse.Namespace, signals: Signals) -> int:
    from ctxsift.cli import session_view

    session = _session(options, signals)
    if options.step is not None and not any(step.step_id == options.step for step in session.steps):
        raise InputError(f"--step {options.step}", "no such step", f"give a number from 1 to {len(session.steps)}")
    session_view.print_session(session, options.step, as_json=options.json)
    return 0


def _stats(options: argparse.Namespace, signals: Signals) -> int:
    from ctxsift.cli import session_view
    from ctxsift.sessions.figures import Figures, figures_of
    from ctxsift.sessions.reading import open_session
    from ctxsift.sessions.redacting import Redactor

    source = chosen(options)
    redactor = Redactor()

    def count() -> Figures:
        with open_session(source) as events:
            return figures_of(events if options.keep_secrets else redactor.events(events))

    session_view.print_figures(signals.interruptible(count), redactor.counts, as_json=options.json)
    return 0


def _files(options: argparse.Namespace, signals: Signals) -> int:
    from ctxsift.cli.session_files import print_files
    from ctxsift.sessions.artifacts.index import index_events
    from ctxsift.sessions.artifacts.records import Artifacts
    from ctxsift.sessions.reading import open_session
    from ctxsift.sessions.redacting import Redactor

    source = chosen(options)

    def read() -> Artifacts:
        with open_session(source) as events:
            return index_events(events if options.keep_secrets else Redactor().events(events))

    print_files(signals.interruptible(read), as_document=options.json)
    return 0


def _convert(options: argparse.Namespace, signals: Signals) -> int:
    import json

    from ctxsift.cli.passing import note
    from ctxsift.files import write_atomically
    from ctxsift.sessions.exporting import as_atif

    session = _session(options, signals, output=options.output)
    text = json.dumps(as_atif(session), indent=1) + "\n"
    try:
        write_atomically(options.output, text)
    except OSError as error:
        note(f"{options.output}: cannot be written ({error.strerror or error})")
        return EXIT_FAILED
    note(f"wrote {len(session.steps)} steps to {options.output}")
    return 0

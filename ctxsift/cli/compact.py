"""`ctxsift compact`: makes a coding agent's session short. The session's file is only read."""

from __future__ import annotations

import argparse

from ctxsift.cli.model_options import add_model_options, names_model
from ctxsift.cli.parser import EXIT_USAGE, CommandParser, path, tokens
from ctxsift.cli.passing import note
from ctxsift.cli.renamed import add_old_name
from ctxsift.errors import CtxsiftError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.cli.compact_asking import CompactionModel
    from ctxsift.cli.signals import Signals
    from ctxsift.sessions.compaction.records import Compacted
    from ctxsift.sessions.records import Session

SUBCOMMAND = "compact"
FORMATS = ("markdown", "openai", "anthropic", "atif")
# As in ctxsift.sessions.compaction, which takes long to import.
DEFAULT_METHOD, DEFAULT_BUDGET, DEFAULT_KEEP_LAST = "anchored+index", 2_000, 4_000

_EXAMPLES = """\
examples:
  ctxsift compact
  ctxsift compact session.jsonl -o so-far.md
  ctxsift compact session.jsonl --budget 1000 --keep-last 8000
  ctxsift compact session.jsonl --method regenerative
  ctxsift compact session.jsonl --threshold 100000 --json
  ctxsift compact --follow --threshold 100000 -o so-far.md
  ctxsift compact session.jsonl --format anthropic -o messages.json
  ctxsift compact session.jsonl --model package:qwen2.5-coder-1.5b -o so-far.md
  ctxsift compact session.jsonl --compacted summary.md --format openai

Replaces earlier steps with a summary. Keeps system prompts and the most recent steps unchanged. Token counts are
estimates (four characters per token). Without SESSION, the command reads the newest Claude Code or Codex session in
this folder. It replaces secrets with *** unless you give --keep-secrets. Nothing leaves this machine without --remote
or CTXSIFT_REMOTE=1; before sending anything, the command prints what it will send.

If you name a model, each of its answers is checked. If an answer is empty, looping, truncated or too long, contains
reasoning, or lacks a section, the model is asked again (with anchored, one heading at a time). If that fails too, the
rule-based method writes the summary.

Answers (and with --follow the state after each cut) are saved to a journal as they arrive; to resume after an
interruption, rerun the same command.

Methods: anchored (one summary with sections, extended at each cut), regenerative (a summary rewritten from scratch at
each cut), opaque (the lines with the rarest words). +index adds a list of files, checks and commits taken from the tool
calls. Controls for comparison: drop, last, first, random-1 (-2, -3), mask, text, text-cut, user, everything, recorded.
Rules used by other programs: opencode-rules, pi-rules, user (Codex). `ctxsift list methods` describes them all,
including those from installed packages.

The result goes to stdout or FILE. A table of the cuts (what was removed, kept and refused) goes to stderr.

exit code: 0 success; 128 + N after signal N
  1  stdout or FILE could not be written to; if FILE could not be, the result goes to stdout
  2  the arguments are wrong, or SESSION cannot be read
  3  a model failed, and the rule-based method wrote a summary instead (after a signal: 128 + N)
"""


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="compact a coding agent's session", epilog=_EXAMPLES)
    one.set_defaults(handler=run)
    one.add_argument(
        "file",
        nargs="?",
        type=path,
        metavar="SESSION",
        help="session file (default: the newest session in this folder)",
    )
    one.add_argument(
        "--method",
        metavar="NAME",
        help=f"method that writes the summary; NAME+index adds a list of files (default: {DEFAULT_METHOD})",
    )
    one.add_argument("--compacted", type=path, metavar="FILE", help="use the summary in FILE instead of a method")
    budget = one.add_argument(
        "--budget",
        type=tokens,
        default=DEFAULT_BUDGET,
        metavar="N",
        help="maximum tokens in the summary, including its index (default: %(default)s)",
    )
    add_old_name(one, "--max-tokens", budget, note)
    one.add_argument(
        "--keep-last",
        type=tokens,
        default=DEFAULT_KEEP_LAST,
        metavar="N",
        help="keep the last steps, up to N tokens in total; the very last step is always kept (default: %(default)s)",
    )
    one.add_argument(
        "--threshold",
        type=tokens,
        metavar="N",
        help="cut each time the context exceeds N tokens (default: cut once, at the end)",
    )
    one.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help="output format: Markdown, messages in the format of a service's API, or ATIF (default: %(default)s)",
    )
    model = one.add_argument_group(
        "asking a model", "only with --model, --backend or --remote; otherwise the summary is written by rules"
    )
    add_model_options(model)
    model.add_argument(
        "--journal",
        type=path,
        metavar="FILE",
        help="file to save answers and the cuts of --follow to, so that the command can resume (default: "
        "FILE.journal, with -o FILE)",
    )
    one.add_argument(
        "--follow",
        action="store_true",
        help="keep reading as SESSION grows, until Ctrl-C; after each cut at --threshold, print the result or "
        "rewrite FILE",
    )
    one.add_argument(
        "--json",
        action="store_true",
        help="print statistics and the summary as JSON (with --follow: one line per cycle)",
    )
    one.add_argument(
        "-o", "--output", type=path, metavar="FILE", help="write to FILE; gzip-compressed if the name ends in .gz"
    )
    one.add_argument("--keep-secrets", action="store_true", help="do not replace secrets")


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Compact; return the exit code that the help tells."""
    from ctxsift.cli.signals import SignalledError

    del command
    try:
        return _compact(options, signals)
    except CtxsiftError as error:
        note(str(error))
        return EXIT_USAGE
    except SignalledError:
        return 128 + (signals.first or 0)


def _compact(options: argparse.Namespace, signals: Signals) -> int:
    from ctxsift.cli.compact_output import print_table, written
    from ctxsift.cli.session import chosen
    from ctxsift.files import refuse_input
    from ctxsift.sessions.compaction.methods import create_method
    from ctxsift.sessions.reading import read_session, subagent_files

    source = chosen(options)
    for option, output in (("-o", options.output), ("--journal", options.journal)):
        refuse_input(output, (source, *subagent_files(source), options.compacted), option=option)
    refuse_input(options.journal, (options.output,), option="--journal")
    if options.follow and options.threshold is None:
        raise InputError("--follow", "needs a threshold at which to cut", "add --threshold N")
    if options.compacted and options.method:
        raise InputError("--compacted", "cannot be used together with --method", "leave out one of them")
    asking = _asking(options)
    if asking is None:
        create_method(options.method or DEFAULT_METHOD)
    try:
        if options.follow:
            from ctxsift.cli.compact_follow import follow

            return follow(options, source, signals, asking)
        session = signals.interruptible(lambda: read_session(source, keep_secrets=options.keep_secrets))
        made, exit_code = _made(options, session, signals, asking)
        print_table(made)
        return written(options, session.head, made) or exit_code
    finally:
        if asking is not None:
            asking.close(at_once=signals.left_behind)


def _asking(options: argparse.Namespace) -> CompactionModel | None:
    """Return the model that options name, not loaded yet; None where none is asked. Raises InputError."""
    if not names_model(options):
        return None
    from ctxsift.cli.compact_asking import CompactionModel

    if options.compacted:
        raise InputError("--compacted", "cannot be used together with a model", "leave out one of them")
    return CompactionModel(options, options.method or DEFAULT_METHOD)


def _made(
    options: argparse.Namespace, session: Session, signals: Signals, asking: CompactionModel | None
) -> tuple[list[Compacted], int]:
    """Return what is left after each cut, and the exit code; after a signal while a model is asked, by rules."""
    from ctxsift.cli.signals import SignalledError

    try:
        made = signals.interruptible(lambda: _cycles(options, session, asking))
    except SignalledError:
        if asking is None:
            raise
        return asking.interrupted(lambda: _cycles(options, session, asking, interrupted=True)), 128 + (
            signals.first or 0
        )
    return made, asking.ended(made) if asking is not None else 0


def _cycles(
    options: argparse.Namespace, session: Session, asking: CompactionModel | None, *, interrupted: bool = False
) -> list[Compacted]:
    """Return what is left after each cut, the last one with all steps since; where nothing is cut, the whole."""
    from ctxsift.cli.compact_method import method_of
    from ctxsift.sessions.compaction.context import continued, whole
    from ctxsift.sessions.compaction.cutting import cut_at_end, cuts_by_threshold, first_of
    from ctxsift.sessions.compaction.running import compact_session

    keep, budget, steps = options.keep_last, options.budget, session.steps
    if options.threshold is None:
        cuts = cut_at_end(steps, keep)
    else:
        cuts = list(cuts_by_threshold(steps, options.threshold, keep, budget))
    name, method = method_of(options, session, asking, interrupted=interrupted)
    if not cuts:
        return [whole(steps, name)]
    if asking is not None and not interrupted:
        asking.announce(steps, cuts, first_of(steps), budget)
    made = list(compact_session(session, name, cuts, budget=budget, keep_last=keep, method=method))
    return [*made[:-1], continued(made[-1], steps, keep)]

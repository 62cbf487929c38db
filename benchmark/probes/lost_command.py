"""`ctxsift lost`: what the last compaction of a session dropped. The command comes to `ctxsift` by an entry point."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import time

from ctxsift.cli.parser import EXIT_USAGE, CommandParser, path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark.probes.lost import Dropped, Loss
    from ctxsift.cli.signals import Signals

SUBCOMMAND = "lost"
_EVENT = "SessionStart"
# An agent reads this after each compaction.
MOST_LINES, _MOST_CHARACTERS = 10, 200
_MOST_OF_EVENT = 1_000_000
# Claude Code 2.1.332 makes the summary, calls us, and then records it; hooks that it waits for come between.
MOST_WAITED, _BETWEEN_LOOKS = 20.0, 0.2  # seconds
# The summary is so old at most when we are called; one of an earlier compaction is older.
_MOST_BEFORE = 60.0  # seconds
_MOST_OF_END = 8_000_000

_EPILOG = """\
examples:
  ctxsift lost
  ctxsift lost ~/.claude/projects/-home-me-shop/3f2a9c81.jsonl
  ctxsift lost --all session.jsonl

The command reads the summary that the agent's program recorded at the last compaction, and compares it with the steps
that the compaction removed. Rules find the user's instructions, open tasks, decisions, findings and files in these
steps, and search the summary for them. An entry marked "in other words" may be in the summary in different wording, so
check there. Nothing is sent over the network.

To have Claude Code show the agent after each compaction what it has lost, add this to settings.json:

  {"hooks": {"SessionStart": [{"matcher": "compact", "hooks": [
    {"type": "command", "command": "ctxsift lost --hook", "timeout": 30, "async": true}]}]}}

Claude Code records the summary only after calling its hooks, so this hook runs in the background ("async"), and the
agent sees the output of the hook in the next request.

exit code: 0 success, whether or not anything is lost; always 0 with --hook
  2  the arguments are wrong, SESSION cannot be read, or it does not contain a compaction with a readable summary
"""


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="show what the last compaction of a session dropped", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument(
        "file",
        nargs="?",
        type=path,
        metavar="SESSION",
        help="session file (default: the newest session in this folder)",
    )
    shown = one.add_mutually_exclusive_group()
    shown.add_argument("--all", action="store_true", help=f"show all lines instead of the first {MOST_LINES}")
    shown.add_argument("--json", action="store_true", help="print everything as JSON")
    shown.add_argument(
        "--hook",
        action="store_true",
        help="read the JSON of a SessionStart hook from stdin; print only if the session has just lost something",
    )


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Print it; return the exit code that the help tells."""
    from benchmark.probes.lost import loss_of
    from ctxsift.cli.passing import note
    from ctxsift.cli.session import chosen
    from ctxsift.cli.signals import SignalledError
    from ctxsift.errors import CtxsiftError
    from ctxsift.terminal import one_line, show

    del command
    if options.hook:
        return _answer_hook(signals)
    try:
        file = chosen(options)
        loss = signals.interruptible(lambda: loss_of(file))
    except CtxsiftError as error:
        note(str(error))
        return EXIT_USAGE
    except SignalledError:
        return 128 + (signals.first or 0)
    if options.json:
        show(json.dumps(_json(loss), indent=2, ensure_ascii=False))
        return 0
    for line in lines(loss, most=len(loss.dropped) if options.all else MOST_LINES):
        show(one_line(line))
    return 0


def _answer_hook(signals: Signals) -> int:
    """Tell an agent what it has just lost; whatever goes wrong, say nothing and return 0."""
    from pathlib import Path

    from benchmark.probes.lost import loss_of
    from ctxsift.cli.passing import note, told
    from ctxsift.cli.source import standard_input
    from ctxsift.terminal import one_line, show_json

    try:
        source = standard_input(signals)
        source.read(_MOST_OF_EVENT)
        event = json.loads(source.data)
        if event.get("hook_event_name") != _EVENT or event.get("source") != "compact":
            return 0
        path, since = Path(event["transcript_path"]), time.time() - _MOST_BEFORE
        if not signals.interruptible(lambda: _is_recorded(path, since)):
            return 0
        loss = signals.interruptible(lambda: loss_of(path))
        if loss.lost:
            told_lines = map(one_line, lines(loss.without_reworded, most=MOST_LINES - 2))
            context = {"hookEventName": _EVENT, "additionalContext": "\n".join(told_lines)}
            show_json({"hookSpecificOutput": context})
    except BaseException as error:  # an agent that starts must not be stopped
        note(f"nothing is reported about the compaction ({told(error)})")
    return 0


def _is_recorded(path: Path, since: float) -> bool:
    """Wait until a session of Claude Code holds a summary made after a time; say whether it does. Raises OSError."""
    end = time.monotonic() + MOST_WAITED
    while not any(made >= since for made in _summaries(path)):
        if time.monotonic() >= end:
            return False
        time.sleep(_BETWEEN_LOOKS)
    return True


def _summaries(path: Path) -> Iterator[float]:
    """Yield when the summaries were made that stand near the end of a session, in seconds. Raises OSError."""
    from datetime import datetime

    from ctxsift.files import open_regular

    with open_regular(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_OF_END))
        *whole, _ = file.read(_MOST_OF_END).split(b"\n")
    for line in whole:
        if b'"isCompactSummary"' in line:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                record = json.loads(line)
                if record.get("isCompactSummary") is True:
                    yield datetime.fromisoformat(record["timestamp"]).timestamp()


def lines(loss: Loss, most: int = MOST_LINES) -> list[str]:
    """Return the lines that `lost` prints: one that counts, at most so many things, and one for what is left out."""
    reworded = len(loss.dropped) - loss.lost
    beside = f"; {reworded} more may be there in other words" if reworded else ""
    head = (
        f"The compaction after step {loss.after_step} lost {loss.lost} of the {loss.asked} things that the rules look "
        "for"
    )
    left = len(loss.dropped) - most
    return [
        f"{head}{beside}.",
        *(_line(each) for each in loss.dropped[:most]),
        *([f"... and {left:,} more: ctxsift lost --all"] if left > 0 else []),
    ]


def _line(each: Dropped) -> str:
    kinds = {"constraint": "user's instruction", "continuation": "open task", "recall": "finding", "artifact": "file"}
    kind = kinds.get(each.type, str(each.type))
    text = each.text if len(each.text) <= _MOST_CHARACTERS else f"{each.text[:_MOST_CHARACTERS]}..."
    return f"- step {each.step}, {kind}{' (perhaps in other words)' if each.reworded else ''}: {text}"


def _json(loss: Loss) -> dict[str, object]:
    things = [
        {"type": str(each.type), "step": each.step, "text": each.text, "in_other_words": each.reworded}
        for each in loss.dropped
    ]
    return {"after_step": loss.after_step, "asked": loss.asked, "lost": loss.lost, "dropped": things}

"""`ctxsift lost`: what the last compaction of a session dropped. The command comes to `ctxsift` by an entry point."""

from __future__ import annotations

import argparse
import json

from ctxsift.cli.parser import EXIT_USAGE, Parser, path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from benchmark.probes.lost import Dropped, Loss
    from ctxsift.cli.signals import Signals

SUBCOMMAND = "lost"
# An agent reads this after each compaction.
MOST_LINES, _MOST_CHARACTERS = 10, 200
_MOST_OF_EVENT = 1_000_000

_EPILOG = """\
examples:
  ctxsift lost
  ctxsift lost ~/.claude/projects/-home-me-shop/3f2a9c81.jsonl
  ctxsift lost --all session.jsonl

The command reads the summary that the agent's program recorded at the last compaction, and compares it with the steps
that the compaction removed: the user's orders, open tasks, decisions, findings, files. Rules find these things and
search the summary for them. A thing marked "in other words" may be in the summary in different wording, so check
there. Nothing is sent anywhere.

To have Claude Code show the agent what it lost after each compaction, add this to settings.json:

  {"hooks": {"SessionStart": [{"matcher": "compact", "hooks": [
    {"type": "command", "command": "ctxsift lost --hook", "timeout": 30}]}]}}

exit code: 0 done, whether or not anything is lost; always 0 with --hook
  2  the arguments are wrong, or SESSION cannot be read or records no compaction with a readable summary
"""


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="show what the last compaction of a session dropped", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument(
        "file",
        nargs="?",
        type=path,
        metavar="SESSION",
        help="session file (default: the newest session of this folder)",
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
    from ctxsift.terminal import one_line, show

    try:
        source = standard_input(signals)
        source.read(_MOST_OF_EVENT)
        event = json.loads(source.data)
        if event.get("hook_event_name") != "SessionStart" or event.get("source") != "compact":
            return 0
        loss = signals.interruptible(lambda: loss_of(Path(event["transcript_path"])))
        # Without the summary that was just written, the file ends with steps that stand after an earlier one.
        if loss.lost and loss.is_at_end:
            for line in lines(loss.without_reworded, most=MOST_LINES - 2):
                show(one_line(line))
    except BaseException as error:  # an agent that starts must not be stopped
        note(f"nothing is reported about the compaction ({told(error)})")
    return 0


def lines(loss: Loss, most: int = MOST_LINES) -> list[str]:
    """Return the lines that `lost` prints: one that counts, at most so many things, and one for what is left out."""
    reworded = len(loss.dropped) - loss.lost
    beside = f"; {reworded} more may be there in other words" if reworded else ""
    head = f"The compaction after step {loss.after_step} lost {loss.lost} of {loss.asked} things that rules ask for"
    left = len(loss.dropped) - most
    return [
        f"{head}{beside}.",
        *(_line(each) for each in loss.dropped[:most]),
        *([f"... and {left:,} more: ctxsift lost --all"] if left > 0 else []),
    ]


def _line(each: Dropped) -> str:
    kinds = {"constraint": "user's order", "continuation": "open task", "recall": "finding", "artifact": "file"}
    kind = kinds.get(each.type, str(each.type))
    text = each.text if len(each.text) <= _MOST_CHARACTERS else f"{each.text[:_MOST_CHARACTERS]}..."
    return f"- step {each.step}, {kind}{' (perhaps in other words)' if each.reworded else ''}: {text}"


def _json(loss: Loss) -> dict[str, object]:
    things = [
        {"type": str(each.type), "step": each.step, "text": each.text, "in_other_words": each.reworded}
        for each in loss.dropped
    ]
    return {"after_step": loss.after_step, "asked": loss.asked, "lost": loss.lost, "dropped": things}

"""What `ctxsift compact` prints and writes: the context that is left, and a table of the cycles."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from ctxsift.cli.passing import note, write
from ctxsift.files import encoded, write_atomically
from ctxsift.rich_text import plain_text
from ctxsift.sessions.compaction.context import (
    as_anthropic_messages,
    as_atif_document,
    as_markdown,
    as_openai_messages,
)
from ctxsift.sessions.compaction.records import Compacted
from ctxsift.sessions.compaction.transcript import tokens_of
from ctxsift.streams import stderr_has_room, stdout_loss
from ctxsift.terminal import printable

if TYPE_CHECKING:
    import argparse

    from ctxsift.sessions.records import SessionHead

EXIT_NOT_WRITTEN = 1
_MOST_ROWS = 12
_NO_TERMINAL = 200
# The method that is asked for no summary.
_DROP = "drop"


def written(options: argparse.Namespace, head: SessionHead, made: Sequence[Compacted]) -> int:
    """Write the result to stdout or to a file; where that cannot be written, to stdout. Return the exit code."""
    text = result_text(options, head, made)
    if options.output is None:
        return _print(options, text)
    try:
        write_atomically(options.output, text)
    except OSError as error:
        note(f"{options.output}: cannot be written ({error.strerror or error}); the result follows on stdout")
        _print(options, text)
        return EXIT_NOT_WRITTEN
    note(f"wrote {made[-1].tokens:,} tokens to {options.output}")
    return 0


def _print(options: argparse.Namespace, text: str) -> int:
    """Print the result; return the exit code."""
    # A terminal would obey escape sequences that a session holds; a pipe gets them as they are. JSON has none.
    is_markdown = options.format == "markdown" and not options.json
    write(encoded(printable(text, limit=len(text)) if is_markdown and os.isatty(1) else text))
    return EXIT_NOT_WRITTEN if stdout_loss() is not None else 0


def result_text(options: argparse.Namespace, head: SessionHead, made: Sequence[Compacted]) -> str:
    """Return the result in the form that options ask for."""
    last = made[-1]
    if not options.json and options.format == "markdown":
        return as_markdown(last)
    value: Any
    if options.json:
        value = {"cycles": [_figures(each) for each in made], "summary": last.summary_text}
        value |= {"items": [dict(item) for item in last.summary.items]} if last.summary.items else {}
    elif options.format == "openai":
        value = as_openai_messages(last)
    elif options.format == "anthropic":
        value = as_anthropic_messages(last)
    else:
        value = as_atif_document(last, head)
    # In ASCII: a reader takes it as it is, a terminal obeys nothing in it. Of several results, each is a line.
    indent = None if options.follow and options.output is None else 1
    return json.dumps(value, indent=indent).replace("\x7f", "\\u007f") + "\n"


def _figures(each: Compacted) -> dict[str, Any]:
    return {
        "method": each.method,
        "after_step": each.cut.after_step,
        "kept_from_step": each.steps[0].step_id if each.steps else None,
        "tokens_before": each.tokens_before,
        "tokens": each.tokens,
        "summary_tokens": each.summary_tokens,
        "kept_tokens": tokens_of(each.steps),
        "system_tokens": tokens_of(each.system),
        "budget": each.budget,
        "refused": each.refused,
        "fallback": each.fallback,
        "seconds": round(each.seconds, 3),
    }


def print_table(made: Sequence[Compacted]) -> None:
    """Tell on stderr what was cut off, kept and refused, cycle by cycle."""
    last = made[-1]
    if not stderr_has_room(1.0):
        return
    begun = len(last.system) + 1
    if not last.refused and _first(last) == begun:
        note(f"nothing was cut; all {last.tokens:,} tokens stay")
        return
    table = Table(box=None, pad_edge=False)
    for name in ("cut after", "tokens", "left", "steps cut off", "summary", "steps kept", "their tokens", ""):
        table.add_column(name, justify="left" if not name else "right")
    shown = made[-_MOST_ROWS:]
    firsts = [_first(each) for each in made]
    for each, first in zip(shown, [begun, *firsts][-len(shown) - 1 :], strict=False):
        table.add_row(*map(plain_text, _row(each, first)))
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _NO_TERMINAL
    console.print(table)
    refused = sum(bool(each.refused) for each in made)
    cycles = f"{len(made)} cycle{'s' if len(made) > 1 else ''} of {last.method}"
    hidden = f", the last {len(shown)} shown" if len(shown) < len(made) else ""
    note(f"{cycles}{hidden}{f', {refused} refused' if refused else ''}; tokens are estimated")
    if last.budget is not None and not last.summary_tokens and last.method != _DROP:
        problem = f"nothing fits into {last.budget:,} tokens, so the steps are gone without a summary"
        note(f"warning: {problem}; raise --budget")


def _row(each: Compacted, first: int) -> tuple[str, ...]:
    """Return what the table tells of a cycle, of whose steps this was the first."""
    return (
        str(each.cut.after_step),
        f"{each.tokens_before:,}",
        f"{each.tokens:,}",
        _range(first, _first(each) - 1),
        f"{each.summary_tokens:,}",
        _range(_first(each), each.steps[-1].step_id if each.steps else 0),
        f"{tokens_of(each.steps):,}",
        f"refused: {each.refused}" if each.refused else each.fallback,
    )


def _first(each: Compacted) -> int:
    return each.steps[0].step_id if each.steps else each.cut.after_step + 1


def _range(first: int, last: int) -> str:
    return "none" if first > last else f"{first}" if first == last else f"{first}-{last}"

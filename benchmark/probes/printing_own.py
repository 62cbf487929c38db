"""What compaction would lose of one's own sessions, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmark.analysis.figures import Form
from benchmark.cli.console import terminal
from benchmark.probes.measuring import Subject
from benchmark.probes.model import ProbeType
from benchmark.probes.own import Lost, shown_examples
from benchmark.render.figures import MISSING, counted, form_text
from benchmark.render.terminal import print_table
from ctxsift.sessions.compaction.methods import RECORDED
from ctxsift.terminal import one_line, show

_SHARE = Form(0, 100, suffix="%")
_EXAMPLES = 8


def print_lost(subjects: Sequence[Subject], rows: Sequence[Lost], invented: Sequence[str] = ()) -> None:
    """Print the table, some of what is lost, and what a summary has of its own."""
    asked = sum(len(subject.asked) for subject in subjects)
    cuts = sum(len(subject.cuts) for subject in subjects)
    names = ", ".join(subject.name for subject in subjects)
    show(one_line(f"{names}: {counted(asked, 'question')} by rule at {counted(cuts, 'cut')}"))
    header = ["method", "lost", *ProbeType, "tokens left"]
    table = [
        [row.method, form_text(_SHARE, row.share), *(_cell(row, kind) for kind in ProbeType), f"{row.tokens:,}"]
        for row in rows
    ]
    print_table(terminal(), header, table, title="What would a compaction have lost?")
    show("Lost of asked. Rules ask for sentences with their names and rarest words: other words for the same are lost.")
    if any(row.method == RECORDED for row in rows):
        show(f"{RECORDED}: the summaries in the file; nothing before the first of them.")
    if invented:
        names = ", ".join(invented[:_EXAMPLES]) + (", ..." if len(invented) > _EXAMPLES else "")
        show(one_line(f"{counted(len(invented), 'name')} in the given summary that the session does not have: {names}"))
    shown = shown_examples(rows)
    if shown.examples:
        show(f"\nlost at the end by {shown.method}, {min(len(shown.examples), _EXAMPLES)} of {len(shown.examples)}:")
    for name, step, text in shown.examples[:_EXAMPLES]:
        where = f"{name}, step {step}" if len(subjects) > 1 else f"step {step}"
        show(one_line(f"  {where}: {text}"))


def _cell(row: Lost, kind: ProbeType) -> str:
    return f"{row.lost[kind]} of {row.asked[kind]}" if row.asked[kind] else MISSING


def lost_json(rows: Sequence[Lost]) -> list[dict[str, Any]]:
    """Return the table as JSON values."""
    return [
        {
            "method": row.method,
            "share_lost": row.share,
            "asked": row.asked,
            "lost": row.lost,
            "tokens_left": row.tokens,
            "lost_at_the_end": [{"session": name, "step": step, "text": text} for name, step, text in row.examples],
        }
        for row in rows
    ]

"""What compaction would lose of one's own sessions, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmark.analysis.figures import Form
from benchmark.cli.console import terminal
from benchmark.probes.measuring import Subject
from benchmark.probes.model import ProbeType
from benchmark.probes.own import Lost, shown_examples
from benchmark.probes.states import State
from benchmark.render.figures import MISSING, counted, form_text
from benchmark.render.terminal import print_table
from ctxsift.sessions.compaction.methods import RECORDED
from ctxsift.terminal import one_line, show

_SHARE = Form(0, 100, suffix="%")
_EXAMPLES = 8
_LEGEND = """\
Lost of asked. Rules ask for sentences by their names and rarest words. Other words: these do not meet, but all names
and numbers of what is missing stand together, in a place that is about it. Read whether it is told there."""


def print_lost(subjects: Sequence[Subject], rows: Sequence[Lost], invented: Sequence[str] = ()) -> None:
    """Print the table, some of what is lost, and what a summary has of its own."""
    asked = sum(len(subject.asked) for subject in subjects)
    cuts = sum(len(subject.cuts) for subject in subjects)
    names = ", ".join(subject.name for subject in subjects)
    show(one_line(f"{names}: {counted(asked, 'question')} by rule at {counted(cuts, 'cut')}"))
    header = ["method", "lost", "other words", *ProbeType, "tokens left"]
    table = [
        [
            row.method,
            *(form_text(_SHARE, share) for share in (row.share, row.share_in_other_words)),
            *(_cell(row, kind) for kind in ProbeType),
            f"{row.tokens:,}" if row.tokens else MISSING,
        ]
        for row in rows
    ]
    print_table(terminal(), header, table, title="What would a compaction have lost?")
    show(_LEGEND)
    if any(row.method == RECORDED for row in rows):
        show(f"{RECORDED}: the summaries in the file; before the first of them, nothing is asked.")
    if own := [row.method for row in rows if row.own_words]:
        show(f"{', '.join(own)}: below the others, as the words of these summaries are their own.")
    if invented:
        names = ", ".join(invented[:_EXAMPLES]) + (", ..." if len(invented) > _EXAMPLES else "")
        show(one_line(f"{counted(len(invented), 'name')} in the given summary that the session does not have: {names}"))
    _show_examples(shown_examples(rows), name_sessions=len(subjects) > 1)


def _show_examples(row: Lost, *, name_sessions: bool) -> None:
    for state in (State.LOST, State.OTHER_WORDS):
        found = [each for each in row.examples if each.state is state]
        if found:
            show(f"\n{state} at the end by {row.method}, {min(len(found), _EXAMPLES)} of {len(found)}:")
        for each in found[:_EXAMPLES]:
            where = f"{each.session}, step {each.step}" if name_sessions else f"step {each.step}"
            show(one_line(f"  {where}: {each.text}"))
            if each.found:
                show(one_line(f"    there: {each.found}"))


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
            "share_in_other_words": row.share_in_other_words,
            "in_other_words": row.other_words,
            "tokens_left": row.tokens,
            "lost_at_the_end": _examples_json(row, State.LOST),
            "in_other_words_at_the_end": _examples_json(row, State.OTHER_WORDS),
        }
        for row in rows
    ]


def _examples_json(row: Lost, state: State) -> list[dict[str, Any]]:
    return [
        {"session": each.session, "step": each.step, "text": each.text} | ({"there": each.found} if each.found else {})
        for each in row.examples
        if each.state is state
    ]

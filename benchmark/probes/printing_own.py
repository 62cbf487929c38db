"""What compaction would lose of one's own sessions, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.analysis.figures import Form
from benchmark.cli.console import terminal
from benchmark.probes.fetched import FetchedAgain, fetched_again
from benchmark.probes.measuring import Subject
from benchmark.probes.model import ProbeType
from benchmark.probes.own import Lost, shown_examples
from benchmark.probes.states import State
from benchmark.render.figures import MISSING, counted, form_text
from benchmark.render.terminal import print_table
from ctxsift.sessions.compaction.methods import RECORDED
from ctxsift.terminal import one_line, show

_SHARE = Form(0, 100, suffix="%")
# Of what there may be much of.
SHOWN = 8
# What is shown below what is not kept.
_BESIDE = {State.LOST: "nearest", State.OTHER_WORDS: "there"}
_LEGEND = """\
Lost of asked. Rules search for sentences by their names and rarest words. Other words: these do not occur together, but
all names and numbers of the missing part do, in a passage about it. Read whether the passage says it."""


def print_lost(
    subjects: Sequence[Subject], rows: Sequence[Lost], invented: Sequence[str] = (), *, whole: bool = False
) -> None:
    """Print the table, what is lost, and what a summary has of its own; of both, all if `whole`."""
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
        names = ", ".join(invented if whole else invented[:SHOWN]) + _further(invented, whole=whole)
        show(one_line(f"{counted(len(invented), 'name')} in the given summary that the session does not have: {names}"))
    for subject in subjects:
        for found in fetched_again(subject.session):
            show(one_line(f"{subject.name}: {_fetched(found, whole=whole)}"))
    _show_examples(shown_examples(rows), name_sessions=len(subjects) > 1, whole=whole)


def _fetched(found: FetchedAgain, *, whole: bool) -> str:
    told = (
        f"after the compaction at step {found.after_step}, the agent read {len(found.again)} of "
        f"{counted(found.read, 'file')} again that it had read before"
    )
    if not found.again:
        return told
    names = ", ".join(found.again if whole else found.again[:SHOWN]) + _further(found.again, whole=whole)
    return f"{told} ({found.tokens:,} tokens): {names}"


def _further(found: Sequence[object], *, whole: bool) -> str:
    """Return how many more there are than are shown, and how to see them; empty where there are none."""
    return "" if whole or len(found) <= SHOWN else f", and {len(found) - SHOWN} more (--all shows them)"


def _show_examples(row: Lost, *, name_sessions: bool, whole: bool) -> None:
    show(f"\nat the end by {row.method}: {', '.join(f'{count} {state}' for state, count in row.at_end.items())}")
    for state, beside in _BESIDE.items():
        found = [each for each in row.examples if each.state is state]
        if found:
            count = len(found) if whole else min(len(found), SHOWN)
            shown = "" if count == len(found) else f"; {count} of them are shown"
            show(f"\n{state} at the end by {row.method}: {len(found)}{shown}:")
        for each in found if whole else found[:SHOWN]:
            where = f"{each.session}, step {each.step}" if name_sessions else f"step {each.step}"
            show(f"  {one_line(f'{where}: {each.text}')}")
            if each.found:
                show(f"    {one_line(f'{beside}: {each.found}')}")
        if further := _further(found, whole=whole):
            show(f"  {further.removeprefix(', ')}")


def _cell(row: Lost, kind: ProbeType) -> str:
    return f"{row.lost[kind]} of {row.asked[kind]}" if row.asked[kind] else MISSING


def lost_json(rows: Sequence[Lost], answers: Mapping[str, Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the table as JSON values, with what was answered about each method, where anybody was asked."""
    return [
        {
            "method": row.method,
            "share_lost": row.share,
            "asked": row.asked,
            "lost": row.lost,
            "share_in_other_words": row.share_in_other_words,
            "in_other_words": row.other_words,
            "tokens_left": row.tokens,
            "at_the_end": row.at_end,
            "lost_at_the_end": _examples_json(row, State.LOST),
            "in_other_words_at_the_end": _examples_json(row, State.OTHER_WORDS),
        }
        | ({"answers": answers[row.method]} if answers.get(row.method) else {})
        for row in rows
    ]


def fetched_json(subjects: Sequence[Subject]) -> list[dict[str, Any]]:
    """Return what was read again after the compactions of sessions; nothing where none is recorded."""
    found = [
        {
            "session": subject.name,
            "after_step": each.after_step,
            "files_read_before": each.read,
            "read_again": each.again,
            "tokens_read_again": each.tokens,
        }
        for subject in subjects
        for each in fetched_again(subject.session)
    ]
    return [{"after_compactions": found}] if found else []


def _examples_json(row: Lost, state: State) -> list[dict[str, Any]]:
    return [
        {"session": each.session, "step": each.step, "text": each.text}
        | ({_BESIDE[state]: each.found} if each.found else {})
        for each in row.examples
        if each.state is state
    ]

"""What rescoring changed, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from benchmark.analysis.figures import RAW, RECOVERED, Figure, Form
from benchmark.analysis.leaderboard import NAME_TITLE
from benchmark.grading.rescoring import Rescored
from benchmark.record.read import labels
from benchmark.record.summary import Summary
from benchmark.render.figures import form_text
from benchmark.render.notes import prose_notes
from benchmark.render.terminal import print_table
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line

_SHOWN_MOVES = 10
_SCORE = Form(digits=2)
_CASE_SCORE = Form(digits=3)


def print_rescored(console: Console, done: Sequence[Rescored]) -> None:
    """Print scores before and after, and the cases that moved most."""
    titles = [NAME_TITLE, RECOVERED.title, RAW.title, "cases moved", "cases left out"]
    names = labels([rescored.stored for rescored in done])
    rows = [
        [
            *(label, _moved(RECOVERED, rescored), _moved(RAW, rescored)),
            *(f"{len(rescored.moves)} of {len(rescored.stored.cases)}", str(len(rescored.skipped))),
        ]
        for label, rescored in zip(names, done, strict=True)
    ]
    print_table(console, titles, rows, title="Rescored (final scores before -> after)")
    for label, rescored in zip(names, done, strict=True):
        for note in prose_notes(rescored.record):
            console.print(plain_text(one_line(f"{label}: {note}")), soft_wrap=True)
        for move in rescored.moves[:_SHOWN_MOVES]:
            scores = f"{form_text(_CASE_SCORE, move.before)} -> {form_text(_CASE_SCORE, move.after)}"
            console.print(plain_text(f"{label}: {move.case_id}  {scores}"), soft_wrap=True)
        if len(rescored.moves) > _SHOWN_MOVES:
            console.print(plain_text(f"{label}: ... and {len(rescored.moves) - _SHOWN_MOVES} more cases"))


def _moved(figure: Figure[Summary], rescored: Rescored) -> str:
    before, after = (figure.read(record.summary) for record in (rescored.stored.record, rescored.record))
    shown = form_text(_SCORE, before)
    return shown if before == after else f"{shown} -> {form_text(_SCORE, after)}"

"""The retention view in a terminal, as Markdown, as CSV and as a document."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from rich.console import Console

from benchmark.analysis.figures import RECOVERED, Form
from benchmark.analysis.retention import LeftOut, Retention, RetentionBoard
from benchmark.record.base import Interval
from benchmark.render.csv import harmless
from benchmark.render.figures import board_title, counted, form_text, interval_text
from benchmark.render.markdown import markdown_list, markdown_table
from benchmark.render.terminal import print_table
from ctxsift.rich_text import plain_text

TITLE = "What is kept of the output, most saved first"
BLIND = "blind"
_SHARE, _LIFT = Form(digits=2), Form(digits=2, signed=True)
_PERCENT, _TIMES, _MS, _SCORE = Form(scale=100), Form(suffix="x"), Form(digits=0), Form()


@dataclass(frozen=True)
class RetentionColumn:
    """A figure of the view."""

    title: str
    hint: str
    read: Callable[[Retention], float | None]
    form: Form
    interval: Callable[[Retention], Interval | None] = lambda _: None


COLUMNS = (
    RetentionColumn(
        "net saved %",
        "share of the input that an agent does not have to read; if an anchor is missing, the agent also reads the raw "
        "output",
        lambda r: r.net_saved,
        _PERCENT,
        lambda r: r.net_saved_interval,
    ),
    RetentionColumn(
        "anchors kept", "mean share of the anchors that are in the answer", lambda r: r.anchors_kept, _SHARE
    ),
    RetentionColumn(
        "all kept", "share of the cases in which the answer contains every anchor", lambda r: r.all_kept, _SHARE
    ),
    RetentionColumn("tokens left %", "answer tokens as a share of input tokens", lambda r: r.tokens_left, _PERCENT),
    RetentionColumn(
        "times shorter", "input tokens per answer token, across all answers judged here", lambda r: r.ratio, _TIMES
    ),
    RetentionColumn(
        "above random",
        "share of the anchors kept, minus the share that random lines of the same size keep",
        lambda r: r.lift,
        _LIFT,
    ),
    RetentionColumn(
        "tf-idf",
        "share of the anchors in the lines nearest to the question, cut at the same size",
        lambda r: r.tf_idf_kept,
        _SHARE,
    ),
    RetentionColumn(
        RECOVERED.title,
        "the final score on the leaderboard, which requires a specific format",
        lambda r: r.score,
        _SCORE,
    ),
    RetentionColumn(
        "ms per line",
        "milliseconds for one line of input: mostly the time that the program takes to start",
        lambda r: r.line_ms,
        _MS,
    ),
)
_LEFT_OUT = {
    LeftOut.DERIVED: "with anchors that the output does not contain (counts, keys)",
    LeftOut.NO_ANCHORS: "without anchors",
}


def print_retention(console: Console, boards: Sequence[RetentionBoard]) -> None:
    """Print each board as a table, and notes."""
    for number, board in enumerate(boards):
        if number:
            console.print()
        title = f"{board_title(board.board)}: {TITLE[0].lower()}{TITLE[1:]}" if len(boards) > 1 else TITLE
        columns = filled_columns(board)
        rows = [[_name(row), *(_cell(column, row) for column in columns)] for row in board.rows]
        print_table(console, ["result", *(column.title for column in columns)], rows, title=title)
        for note in retention_notes(board):
            console.print(plain_text(f"* {note}"), soft_wrap=True)


def retention_markdown(boards: Sequence[RetentionBoard]) -> str:
    """Return the boards as a section of Markdown."""
    return "\n\n".join(["## What is kept of the output", *retention_tables(boards)]) + "\n"


def retention_tables(boards: Sequence[RetentionBoard]) -> list[str]:
    """Return the boards as paragraphs of Markdown: table, notes, what the columns mean."""
    parts = []
    for board in boards:
        columns = filled_columns(board)
        rows = [[_name(row), *(_cell(column, row) for column in columns)] for row in board.rows]
        italic = {number for number, row in enumerate(board.rows) if row.is_reference}
        parts += [
            *([f"### {board_title(board.board)}"] if len(boards) > 1 else []),
            markdown_table(["result", *(column.title for column in columns)], rows, in_italics=italic),
            markdown_list(retention_notes(board)),
            markdown_table(["column", "meaning"], [[column.title, column.hint] for column in columns]),
        ]
    return parts


def retention_csv(boards: Sequence[RetentionBoard]) -> str:
    """Return one line a row, figures unrounded."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    fields = msgspec.structs.fields(_RetentionRow)
    writer.writerow(field.name for field in fields)
    for board in boards:
        for row in board.rows:
            found = msgspec.structs.asdict(_document_row(board, row))
            writer.writerow(harmless(found[field.name]) for field in fields)
    return target.getvalue()


def retention_document(boards: Sequence[RetentionBoard]) -> Any:
    """Return the boards as JSON values, figures unrounded."""
    return {
        "boards": [
            {
                "about": board_title(board.board),
                "left_out": {str(reason): count for reason, count in board.left_out.items()},
                "results": [msgspec.to_builtins(_document_row(board, row)) for row in board.rows],
                "notes": retention_notes(board),
            }
            for board in boards
        ]
    }


class _RetentionRow(msgspec.Struct, frozen=True):
    board: str
    label: str
    reference: bool
    blind: bool
    judged: int
    anchors_kept: float | None
    all_kept: float | None
    tokens_left: float | None
    ratio: float | None
    random_kept: float | None
    lift: float | None
    tf_idf_kept: float | None
    net_saved: float | None
    net_saved_low: float | None
    net_saved_high: float | None
    final_score: float | None
    line_ms: float | None


def _document_row(board: RetentionBoard, row: Retention) -> _RetentionRow:
    low, high = row.net_saved_interval or (None, None)
    return _RetentionRow(
        board=board_title(board.board),
        label=row.label,
        reference=row.is_reference,
        blind=row.is_blind,
        judged=row.case_count,
        anchors_kept=row.anchors_kept,
        all_kept=row.all_kept,
        tokens_left=row.tokens_left,
        ratio=row.ratio,
        random_kept=row.random_kept,
        lift=row.lift,
        tf_idf_kept=row.tf_idf_kept,
        net_saved=row.net_saved,
        net_saved_low=low,
        net_saved_high=high,
        final_score=row.score,
        line_ms=row.line_ms,
    )


def retention_notes(board: RetentionBoard) -> list[str]:
    """Return what a reader must know of a board."""
    judged = max((row.case_count for row in board.rows), default=0)
    left = ", ".join(f"{count} {_LEFT_OUT[reason]}" for reason, count in board.left_out.items())
    found = [f"{counted(judged, 'case')} judged" + (f"; left out: {left}" if left else "")]
    found += [
        f"{row.label}: {counted(row.case_count, 'case')} of them, so it stands last"
        for row in board.rows
        if row.case_count < judged
    ]
    if any(row.is_blind for row in board.rows):
        found.append(f"{BLIND}: does not receive the question, so its score says little")
    return found


def filled_columns(board: RetentionBoard) -> list[RetentionColumn]:
    """Return the columns that any row fills."""
    return [column for column in COLUMNS if any(column.read(row) is not None for row in board.rows)]


def _name(row: Retention) -> str:
    return f"{row.label} ({BLIND})" if row.is_blind else row.label


def _cell(column: RetentionColumn, row: Retention) -> str:
    return form_text(column.form, _rounded(column, column.read(row))) + interval_text(column.form, column.interval(row))


def _rounded(column: RetentionColumn, value: float | None) -> float | None:
    # No "-0.0": nothing has no sign.
    tiny = value is not None and abs(value * column.form.scale) < 0.5 * 10**-column.form.digits
    return 0.0 if tiny else value

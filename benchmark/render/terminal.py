"""The leaderboard in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table

from benchmark.analysis.leaderboard import NAME_TITLE, RANK_TITLE, Leaderboard, build_leaderboards
from benchmark.record.read import StoredResult
from benchmark.render.figures import (
    MISSING,
    board_title,
    entry_text,
    headline_text,
    is_reference,
    marked,
    rank_text,
)
from benchmark.render.models import TITLES, model_rows
from benchmark.render.notes import notes_of_rows, notes_together, reference_notes
from ctxsift.rich_text import plain_text

# In characters; wider columns are folded.
_MOST = 36
# Of the figures of a row, where rows are lines.
_INDENT = 6
_TITLE = "Results, best first (scores 0 to 100 with 95% intervals)"


def print_board(console: Console, results: Sequence[StoredResult]) -> None:
    """Rank results and print them; see `print_leaderboards`."""
    print_leaderboards(console, build_leaderboards(results))


def print_leaderboards(console: Console, boards: Sequence[Leaderboard]) -> None:
    """Print each board as a table, or as lines where it does not fit; then its headline, notes and marks."""
    for number, board in enumerate(boards):
        if number:
            console.print()
        _print_leaderboard(console, board, board_title(board) if len(boards) > 1 else "")


def _print_leaderboard(console: Console, board: Leaderboard, about: str) -> None:
    title = f"{about}, best first (scores 0 to 100 with 95% intervals)" if about else _TITLE
    table = _table(board, title)
    if Measurement.get(console, console.options.update(width=1000), table).maximum <= console.width:
        console.print(table)
    else:
        _print_lines(console, board, title)
    console.print(plain_text(headline_text(board)), soft_wrap=True)
    for note in [*notes_of_rows(board), *notes_together(board), *reference_notes(board)]:
        console.print(plain_text(f"* {note}"), soft_wrap=True)
    if models := model_rows(board):
        print_table(console, (NAME_TITLE, *TITLES), models, title="Model details")
    for mark, meaning in board.marks:
        for line in wrap(f"{mark}: {meaning}", console.width, subsequent_indent="   "):
            console.print(plain_text(line, style="dim"))


def print_table(
    console: Console, titles: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None
) -> None:
    """Print a table of texts; where it does not fit, as several with the first column in each.

    The first column, of names, and those without a title stand to the left, figures to the right.
    """
    names, *columns = zip(titles, *rows, strict=True)
    while columns:
        width = _width(names) + 1
        fitting = sum((width := width + _width(column)) <= console.width for column in columns)
        shown, columns = [names, *columns[: max(fitting, 1)]], columns[max(fitting, 1) :]
        table = Table(title=title)
        for number, column in enumerate(shown):
            justify: JustifyMethod = "left" if number == 0 or not column[0] else "right"
            table.add_column(column[0], justify=justify, overflow="fold", no_wrap=_width(column) < _MOST)
        for cells in list(zip(*shown, strict=True))[1:]:
            table.add_row(*map(plain_text, cells))
        console.print(table)
        title = None


def _width(column: Sequence[str]) -> int:
    """Return how wide a column is, a border and two blanks included, as far as it is not folded."""
    return min(3 + max(map(len, column)), _MOST)


def _table(board: Leaderboard, title: str) -> Table:
    table = Table(title=plain_text(title))
    table.add_column(RANK_TITLE, justify="right", no_wrap=True)
    table.add_column(NAME_TITLE, overflow="fold")
    for column in board.columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    for row in board.entries:
        cells = (plain_text(entry_text(column, row)) for column in board.columns)
        style = "dim" if is_reference(row) else ""
        table.add_row(rank_text(row), plain_text(marked(row)), *cells, style=style)
    return table


def _print_lines(console: Console, board: Leaderboard, title: str) -> None:
    console.print(plain_text(title, style="italic"))
    for row in board.entries:
        console.print(plain_text(f"{rank_text(row):>4}  {marked(row)}", style="dim" if is_reference(row) else "bold"))
        cells = [(column.title, entry_text(column, row)) for column in board.columns]
        # A no-break space keeps a figure beside its title, until lines are broken; rich would break there, too.
        pairs = [f"{title} {cell}".replace(" ", "\u00a0") for title, cell in cells if cell != MISSING]
        for line in wrap("   ".join(pairs), console.width - _INDENT, break_on_hyphens=False):
            text = " " * _INDENT + line.replace("\u00a0", " ")
            console.print(plain_text(text, style="dim" if is_reference(row) else ""))

"""Many results, each against each: in a terminal, and as Markdown."""

from __future__ import annotations

from rich.console import Console

from benchmark.analysis.comparison import ALPHA, Measure, beyond_chance
from benchmark.analysis.leaderboard import RANK_TITLE, Leaderboard
from benchmark.analysis.ranking import Ranking
from benchmark.render.figures import MISSING, rank_text, signed
from benchmark.render.markdown import markdown_list, markdown_table
from benchmark.render.notes import comparison_notes, notes_together
from benchmark.render.terminal import print_table
from ctxsift.rich_text import plain_text


def print_matrix(console: Console, board: Leaderboard, ranking: Ranking, measure: Measure) -> None:
    """Print the differences of the results of `ranking`, which are those of the rows of the board."""
    print_table(console, _titles(ranking, measure), _rows(board, ranking))
    for note in _notes(board, ranking, measure):
        console.print(plain_text(f"* {note}"), soft_wrap=True)


def matrix_markdown(board: Leaderboard, ranking: Ranking, measure: Measure) -> str:
    """Return the same as Markdown."""
    table = markdown_table(_titles(ranking, measure), _rows(board, ranking))
    return f"{table}\n\n{markdown_list(_notes(board, ranking, measure))}"


def _titles(ranking: Ranking, measure: Measure) -> list[str]:
    numbers = [str(number + 1) for number in range(len(ranking.results))]
    return ["row minus column", RANK_TITLE, "answered", measure.words, *numbers]


def _rows(board: Leaderboard, ranking: Ranking) -> list[list[str]]:
    size = len(ranking.results)
    return [
        [
            *(f"{i + 1} {row.label}", rank_text(row), str(len(row.result.cases)), f"{ranking.scores[i]:.1f}"),
            *(_cell(ranking, i, j) for j in range(size)),
        ]
        for i, row in enumerate(board.rows)
    ]


def _cell(ranking: Ranking, row: int, column: int) -> str:
    if row == column:
        return ""
    difference = ranking.differences.get((min(row, column), max(row, column)))
    if difference is None:
        return MISSING
    value = difference.value if row > column else -difference.value
    return f"{signed(value)}{' *' if beyond_chance(difference) else ''}"


def _notes(board: Leaderboard, ranking: Ranking, measure: Measure) -> list[str]:
    what = "final score" if measure is Measure.FINAL else measure.words
    return [
        f"differences in {what} on shared cases; "
        f"* = significant (p < {ALPHA} after Holm's correction, interval without 0)",
        *notes_together(board),
        *comparison_notes(ranking.results),
    ]

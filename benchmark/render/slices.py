"""Slices in a terminal and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console

from benchmark.analysis.figures import Form
from benchmark.analysis.leaderboard import TIE_MARK, Leaderboard
from benchmark.analysis.ranking import Rank
from benchmark.analysis.slices import FEW_CAPTURES, BoardSlice, Facet, SliceResult
from benchmark.render.figures import MISSING, board_title, counted, form_text
from benchmark.render.terminal import print_table
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line

_SCORE, _ROUND = Form(), Form(digits=0)
# Boards of more results have them as rows.
_MOST_COLUMNS = 6
SCORES_OF_PARTS = "quality core [95% interval] and rank on these cases alone"


def print_parts(console: Console, board: Leaderboard, facet: Facet, parts: Sequence[BoardSlice]) -> None:
    """Print what the results of a board score on each part of its cases."""
    title = f"By {facet}: {SCORES_OF_PARTS}; {board_title(board)}"
    labels = [one_line(placed.label) for placed in parts[0].placed]
    cells = [[placed_text(placed) for placed in part.placed] for part in parts]
    heads = [one_line(f"{part.value} ({part.case_count})") for part in parts]
    if len(labels) <= _MOST_COLUMNS:
        rows = [
            [head, str(part.captures), _floor_text(part), *row]
            for head, part, row in zip(heads, parts, cells, strict=True)
        ]
        print_table(console, [f"{facet} (cases)", "raw outputs", "best baseline", *labels], rows, title=title)
    else:
        rows = [[label, *(row[n] for row in cells)] for n, label in enumerate(labels)]
        print_table(console, ["result", *heads], rows, title=title)
    few = sum(part.captures < FEW_CAPTURES for part in parts)
    if few:
        told = counted(len(parts), "part")
        note = f"* {few} of {told} with fewer than {FEW_CAPTURES} raw outputs: the intervals are not reliable"
        console.print(plain_text(note), soft_wrap=True)


def _floor_text(part: BoardSlice) -> str:
    return MISSING if part.floor is None else f"{form_text(_SCORE, part.floor[1])} {one_line(part.floor[0])}"


def placed_text(placed: SliceResult) -> str:
    """Return score, interval and rank of a result on a part of the cases, e.g. `71.2 [60, 80] 1=`."""
    ends = placed.interval
    interval = f" [{form_text(_ROUND, ends.low)}, {form_text(_ROUND, ends.high)}]" if ends else ""
    return f"{form_text(_SCORE, placed.core)}{interval} {rank_text_of(placed.rank)}"


def rank_text_of(rank: Rank | None) -> str:
    """Return a rank, with `=` where it is shared; a dash where there is none."""
    return MISSING if rank is None else f"{rank.place}{TIE_MARK if rank.tied else ''}"


def parts_document(boards: Sequence[tuple[Leaderboard, Sequence[BoardSlice]]]) -> Any:
    """Return the parts of boards as JSON values, figures unrounded."""
    return [{"board": board_title(board), "parts": msgspec.to_builtins(list(parts))} for board, parts in boards]

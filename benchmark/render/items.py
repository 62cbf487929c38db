"""Item analysis as a table and as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console

from benchmark.analysis.items import FEWEST_RESULTS, Item, ItemOrder
from benchmark.analysis.leaderboard import Leaderboard
from benchmark.record.read import StoredResult
from benchmark.render.figures import MISSING, board_title
from benchmark.render.terminal import print_table
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line

_TITLES = ("case", "answers", "mean", "spread", "passed", "discrimination", "labelled", "measured", "best", "odd")
_MOST_WINNERS = 2


def print_items(console: Console, items: Sequence[Item], top: int | None = None) -> None:
    """Print a row for each case, or for the `top` that tell least, then what all of them come to."""
    rows = [_row(item) for item in items[:top]]
    title = "Cases, least informative first"
    print_table(console, _TITLES, rows, title=title if len(rows) == len(items) else f"{title}: {len(rows)}")
    remarks = Counter(remark for item in items for remark in item.remarks)
    told = [item for item in items if item.measured is not None and item.labelled is not None]
    moved = sum(item.labelled != item.measured for item in told)
    parts = [f"{count} {remark}" for remark, count in sorted(remarks.items())]
    if told:
        parts.append(f"{moved} whose difficulty differs from their label")
    console.print(plain_text(f"{len(items)} cases: {', '.join(parts)}"), soft_wrap=True)
    if max(item.results for item in items) < FEWEST_RESULTS:
        note = f"discrimination and measured difficulty need results of at least {FEWEST_RESULTS} models"
        console.print(plain_text(f"* {note}"), soft_wrap=True)


def _row(item: Item) -> list[str]:
    told = "" if item.discrimination is None else f"{item.discrimination:+.2f}"
    more = f" and {len(item.winners) - _MOST_WINNERS} more" if len(item.winners) > _MOST_WINNERS else ""
    best = ", ".join(item.winners[:_MOST_WINNERS]) + more
    figures = [f"{item.mean:.2f}", f"{item.spread:.2f}", f"{item.passed:.0%}", told]
    remarks = ", ".join(item.remarks)
    return [item.case_id, str(item.results), *figures, item.labelled or "", item.measured or "", best, remarks]


def print_answered(console: Console, board: Leaderboard, items: Sequence[Item], order: ItemOrder, top: int) -> None:
    """Print the first of some cases with the score of each model, then which model is which column."""
    rows = [row for row in board.rows if not row.result.is_reference]
    titles = ["case", "mean", "passed", *(str(n) for n in range(1, len(rows) + 1))]
    cells = [
        [item.case_id, f"{item.mean:.2f}", f"{item.passed:.0%}", *(_answered(row.result, item) for row in rows)]
        for item in items[:top]
    ]
    more = f" ({len(cells)} of {len(items)}; --top N shows more)" if len(cells) < len(items) else ""
    print_table(console, titles, cells, title=f"Cases: {order.words}{more}")
    console.print(
        plain_text(
            "scores from 0 to 100; +: passed (the answer is usable, contains every anchor and scores 50 or more)"
        ),
        soft_wrap=True,
    )
    for n, row in enumerate(rows, 1):
        console.print(plain_text(f"{n:>3}  {one_line(row.label)}"), soft_wrap=True)


def _answered(result: StoredResult, item: Item) -> str:
    figures = result.cases.get(item.case_id)
    return MISSING if figures is None else f"{100 * figures.score:.0f}{'+' if figures.passed else ''}"


def answered_document(board: Leaderboard, items: Sequence[Item]) -> Any:
    """Return cases with the score of each model as JSON values, figures unrounded."""
    rows = [row for row in board.rows if not row.result.is_reference]
    return {
        "board": board_title(board),
        "items": [
            msgspec.to_builtins(item)
            | {
                "scores": {
                    row.label: row.result.cases[item.case_id].score for row in rows if item.case_id in row.result.cases
                }
            }
            for item in items
        ],
    }


def items_document(items: Sequence[Item]) -> Any:
    """Return the items as JSON values, figures unrounded."""
    return msgspec.to_builtins(list(items))

"""Item analysis as a table and as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console

from benchmark.analysis.items import FEWEST_RESULTS, Item
from benchmark.render.terminal import print_table
from ctxsift.rich_text import plain_text

_TITLES = ("case", "answers", "mean", "spread", "passed", "discrimination", "labelled", "measured", "best", "odd")
_MOST_WINNERS = 2


def print_items(console: Console, items: Sequence[Item], top: int | None = None) -> None:
    """Print a row for each case, or for the `top` that tell least, then what all of them come to."""
    rows = [_row(item) for item in items[:top]]
    title = "Cases, the least telling first"
    print_table(console, _TITLES, rows, title=title if len(rows) == len(items) else f"{title}: {len(rows)}")
    remarks = Counter(remark for item in items for remark in item.remarks)
    told = [item for item in items if item.measured is not None and item.labelled is not None]
    moved = sum(item.labelled != item.measured for item in told)
    parts = [f"{count} {remark}" for remark, count in sorted(remarks.items())]
    if told:
        parts.append(f"{moved} whose difficulty differs from their label")
    console.print(plain_text(f"{len(items)} cases: {', '.join(parts)}"), soft_wrap=True)
    if max(item.results for item in items) < FEWEST_RESULTS:
        note = f"discrimination and difficulty need {FEWEST_RESULTS} results of models"
        console.print(plain_text(f"* {note}"), soft_wrap=True)


def _row(item: Item) -> list[str]:
    told = "" if item.discrimination is None else f"{item.discrimination:+.2f}"
    more = f" and {len(item.winners) - _MOST_WINNERS} more" if len(item.winners) > _MOST_WINNERS else ""
    best = ", ".join(item.winners[:_MOST_WINNERS]) + more
    figures = [f"{item.mean:.2f}", f"{item.spread:.2f}", f"{item.passed:.0%}", told]
    remarks = ", ".join(item.remarks)
    return [item.case_id, str(item.results), *figures, item.labelled or "", item.measured or "", best, remarks]


def items_document(items: Sequence[Item]) -> Any:
    """Return the items as JSON values, figures unrounded."""
    return msgspec.to_builtins(list(items))

"""What races come to, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.analysis.figures import Form
from benchmark.race.boards import RaceBoard
from benchmark.race.mistakes import Mistakes
from benchmark.race.simulating import Shuffled, Simulated
from benchmark.render.figures import counted, form_text

_PERCENT = Form(scale=100, suffix="%")
SIMULATED_TITLES = (
    "best K",
    "tolerance",
    "answers used",
    "answers used in 90% of the orders",
    "right",
    "exactly the best K",
    "right if spread evenly",
)
MISTAKES_TITLES = ("order", "tolerance", "gap", "answers used", "a scenario stopped early", "wrong", "of")


def about(board: RaceBoard, orders: int, shuffled: Shuffled) -> str:
    """Return what was raced over, in a line."""
    scenarios, cases = board.scores.shape
    return (
        f"{scenarios} scenarios, {counted(cases, 'case')} on {board.captures.max() + 1} captures; "
        f"{counted(orders, 'order')}, drawn of {shuffled}"
    )


def simulated_rows(found: Sequence[Simulated]) -> list[list[str]]:
    """Return a row for each setting."""
    return [
        [
            str(each.top),
            f"{100 * each.tolerance:g}",
            form_text(_PERCENT, each.share),
            f"{form_text(Form(scale=100), each.low)} to {form_text(_PERCENT, each.high)}",
            form_text(_PERCENT, each.right),
            form_text(_PERCENT, each.same),
            form_text(_PERCENT, each.even_right),
        ]
        for each in found
    ]


def mistakes_rows(found: Sequence[Mistakes]) -> list[list[str]]:
    """Return a row for each kind of board."""
    return [
        [
            str(each.shuffled),
            f"{each.tolerance:g}",
            f"{each.gap:g}",
            form_text(_PERCENT, each.share),
            form_text(_PERCENT, each.early),
            str(each.wrong),
            str(each.runs),
        ]
        for each in found
    ]

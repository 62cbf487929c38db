"""What methods cost, as a table in a terminal, Markdown, CSV, JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from benchmark.analysis.figures import Form
from benchmark.cli.console import terminal
from benchmark.probes.costs import Cost, Prices
from benchmark.probes.printing import SHARE, BoardTable
from benchmark.render.csv import harmless
from benchmark.render.figures import MISSING, form_text
from benchmark.render.markdown import markdown_table, plain_cell
from benchmark.render.terminal import print_table
from ctxsift.terminal import one_line, show

_CALLS, _SECONDS = Form(1), Form(2)


def print_costs(costs: Sequence[Cost], prices: Prices) -> None:
    """Print what methods cost; nothing where no file tells it."""
    if costs:
        table = costs_table(costs, prices)
        show("")
        print_table(terminal(), table.header, table.rows, title=table.title)
        show(one_line(table.note))


def costs_markdown(costs: Sequence[Cost], prices: Prices) -> str:
    """Return the same as Markdown; an empty text where no file tells it."""
    if not costs:
        return ""
    table = costs_table(costs, prices)
    return f"## {table.title}\n\n{markdown_table(table.header, table.rows)}\n\n{plain_cell(table.note)}\n"


def costs_table(costs: Sequence[Cost], prices: Prices) -> BoardTable:
    """Return the table, the cheapest method first."""
    header = ["method", "tokens left", "prefix kept", "break-even", "sent", "bill", "tokens/cycle", "s/cycle"]
    rows = [
        [
            each.label,
            f"{each.left:,.0f}",
            form_text(SHARE, each.kept),
            form_text(_CALLS, each.break_even) if each.break_even is not None else "never",
            form_text(SHARE, each.sent),
            form_text(SHARE, each.bill),
            f"{each.cycle:,.0f}" if each.cycle else MISSING,
            form_text(_SECONDS, each.seconds),
        ]
        for each in sorted(costs, key=_cheapest)
    ]
    note = (
        "tokens left: of a context after its cut, sent again by each call; prefix kept: share of them with which the "
        "context before the cut begins, too, so that a cache has them; break-even: calls after a cut until it has "
        "paid; sent: tokens of all calls, bill: what they and the cycles cost, by those without any cut. A cached "
        f"token of input costs {prices.cached:g} of a new one, a token that a model writes for a cycle "
        f"{prices.output:g}. System prompts are left out. tokens/cycle: read and written by a model; rules ask none."
    )
    return BoardTable("What does it cost?", header, rows, note)


def _cheapest(cost: Cost) -> tuple[bool, float, float]:
    return cost.bill is None, cost.bill or 0.0, cost.left


def costs_csv_rows(costs: Iterable[Cost]) -> Iterator[list[str]]:
    """Yield lines under the header of the boards; they are of no kind of probes, and have no rank."""
    for each in costs:
        for name, value in _figures(each).items():
            yield [
                str(harmless(cell))
                for cell in ("", "", each.label, "", name, "" if value is None else value, *[""] * 3)
            ]


def costs_json(costs: Iterable[Cost], prices: Prices) -> list[dict[str, Any]]:
    """Return one JSON value with all of them; none where no file tells it."""
    found = [{"method": each.label} | _figures(each) for each in costs]
    return [{"costs": found, "prices": asdict(prices)}] if found else []


def _figures(cost: Cost) -> dict[str, float | None]:
    return {
        "tokens left": cost.left,
        "tokens before": cost.before,
        "prefix kept": cost.kept,
        "break-even calls": cost.break_even,
        "sent": cost.sent,
        "bill": cost.bill,
        "tokens a cycle": cost.cycle,
    }

"""The figures in a terminal and as CSV."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence

from rich.table import Table

from benchmark.cli.console import terminal
from benchmark.render.csv import harmless
from benchmark.utilization.records import RowState, RowUtilization, Spread, Utilization
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line, show

_BARS = " ▁▂▃▄▅▆▇█"
_BOX_WIDTH = 51
_LOWEST_ROWS = 5
_MOST_VERDICTS = 40
_NOTHING = "-"
CSV_HEADER = ("row", "state", "utilization", "precision", "chunks", "relevant", "verdicts", "question")


def print_figures(found: Utilization) -> None:
    """Print table, histogram, box plot and the lowest rows, warnings."""
    show(f"Context utilization of {one_line(found.source)}: {headline(found)}")
    table = Table(show_header=False)
    table.add_column("figure")
    table.add_column("value", justify="right")
    for title, value in figure_rows(found):
        table.add_row(title, plain_text(value))
    terminal().print(table)
    if found.spread is not None:
        most = max(found.histogram)
        bars = "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in found.histogram)
        show(f"histogram  0 {bars} 1   {' '.join(map(str, found.histogram))}")
        show(f"box plot   0 {box_plot(found.spread)} 1")
    below = [row for row in found.rows if row.state is RowState.DEFINED and _value(row) < 1]
    if below:
        show("\nlowest rows:")
        for row in sorted(below, key=_value)[:_LOWEST_ROWS]:
            show(f"  {_value(row):.2f}  row {row.row}  {verdicts_shown(row)}  {one_line(row.question)}".rstrip())
    if found.undefined:
        show(f"\nundefined (no relevant chunk), left out of the mean: rows {_numbers(found.rows, RowState.UNDEFINED)}")
    if found.unscored:
        show(f"\nunscored (a verdict is missing), left out: rows {_numbers(found.rows, RowState.UNSCORED)}")
        missing = [verdict for row in found.rows for verdict in row.verdicts if verdict.relevant is None]
        show(one_line(f"{len(missing)} verdicts are missing; the first: {missing[0].reason}"))
    if found.warnings:
        show("")
    for warning in found.warnings:
        show(f"warning: {warning.text}")


def headline(found: Utilization) -> str:
    """Return who decided, which ranks count, how much is unscored, and the mean with undefined rows as 0."""
    ranks = "all ranks" if found.k is None else f"top {found.k}"
    parts = [f"verdicts by {one_line(found.verdicts_by)}", ranks]
    if found.unscored:
        verdicts = [verdict.relevant for row in found.rows for verdict in row.verdicts]
        rows = f"{100 * found.unscored_share:.0f}% of rows unscored ({found.unscored} of {len(found.rows)})"
        parts.append(f"{rows}, {verdicts.count(None)} of {len(verdicts)} chunks")
    if found.undefined and found.spread is not None:
        parts.append(
            f"mean {found.spread.mean:.3f} over {found.count} rows, {_figure(found.mean_with_zeros)} with the "
            f"{found.undefined} without a relevant chunk as 0"
        )
    return ", ".join(parts)


def figure_rows(found: Utilization) -> list[tuple[str, str]]:
    """Return title and value of each figure."""
    rows: list[tuple[str, str]] = []
    spread = found.spread
    if spread is not None:
        low_high = spread.interval and f"{spread.interval[0]:.3f} to {spread.interval[1]:.3f}"
        rows += [
            ("mean", f"{spread.mean:.3f}"),
            ("95% interval", low_high or _NOTHING),
            ("median", f"{spread.median:.3f}"),
            ("min", f"{spread.lowest:.3f}"),
            ("max", f"{spread.highest:.3f}"),
            ("std. dev.", _figure(spread.deviation)),
        ]
    return [
        *rows,
        ("count", str(found.count)),
        ("undefined", str(found.undefined)),
        ("unscored", str(found.unscored)),
        ("mean, undefined as 0", _figure(found.mean_with_zeros)),
        ("precision" if found.k is None else f"precision@{found.k}", _figure(found.mean_precision)),
        ("chunks per row", f"{statistics.fmean(row.chunks for row in found.rows):.1f}"),
    ]


def box_plot(spread: Spread) -> str:
    """Return the five figures on a line from 0 to 1: whiskers at least and most, a box of quartiles, the median."""
    low, first, middle, third, high = (
        round(value * (_BOX_WIDTH - 1))
        for value in (spread.lowest, spread.quartile_1, spread.median, spread.quartile_3, spread.highest)
    )
    line = [" "] * _BOX_WIDTH
    line[low : high + 1] = "─" * (high + 1 - low)
    line[first : third + 1] = "▒" * (third + 1 - first)
    line[low], line[high] = ("├" if low < first else line[low]), ("┤" if high > third else line[high])
    line[middle] = "█"
    return "".join(line)


def rows_csv(found: Utilization) -> str:
    """Return one line a row; empty where a row has no figure, verdicts as digits, `?` for a missing one."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for row in found.rows:
        writer.writerow(
            (
                *(row.row, row.state, row.utilization, row.precision, row.chunks, row.relevant),
                *(_all_verdicts(row), harmless(row.question)),
            )
        )
    return target.getvalue()


def _value(row: RowUtilization) -> float:
    return row.utilization or 0.0


def _figure(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.3f}"


def _all_verdicts(row: RowUtilization) -> str:
    return " ".join("?" if verdict.relevant is None else str(verdict.relevant) for verdict in row.verdicts)


def verdicts_shown(row: RowUtilization) -> str:
    """Return the verdicts of a row as digits, the first forty of them."""
    shown = _all_verdicts(row)[: 2 * _MOST_VERDICTS - 1]
    return shown + (f" ... ({row.chunks} chunks)" if row.chunks > _MOST_VERDICTS else "")


def _numbers(rows: Sequence[RowUtilization], state: RowState) -> str:
    numbers = [str(row.row) for row in rows if row.state is state]
    return ", ".join(numbers[:20]) + (f" and {len(numbers) - 20} more" if len(numbers) > 20 else "")

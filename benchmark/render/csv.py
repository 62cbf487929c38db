"""All cases of results as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from benchmark.record.case_table import CASE_TABLE_HEADER, Cell, case_table
from benchmark.record.read import StoredResult
from ctxsift.terminal import in_line


def case_csv(results: Sequence[StoredResult]) -> str:
    """Return one line a case and result, scores of both views, no texts."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(CASE_TABLE_HEADER)
    for result in sorted(results, key=lambda r: (r.name, r.timestamp)):
        writer.writerows([harmless(cell) for cell in row] for row in case_table(result))
    return target.getvalue()


def harmless(cell: Cell) -> Cell:
    """Return a cell that a spreadsheet does not run and a terminal does not obey."""
    if not isinstance(cell, str):
        return cell
    # A spreadsheet would run a text that begins like a formula.
    text = f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
    return in_line(text, limit=len(text))

"""How far judges may be believed: tables in a terminal, and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmark.analysis.figures import Form
from benchmark.cli.console import terminal
from benchmark.judges.records import Agreement, CalibratedCriterion, Calibration, JudgedTask
from benchmark.judges.rubric import Criterion
from benchmark.record.base import Interval, to_json
from benchmark.render.figures import MISSING, form_text
from benchmark.render.terminal import print_table
from ctxsift.terminal import one_line, show

SHARE = Form(0, 100, suffix="%")
_FIRST = {JudgedTask.PROBES: "probes", JudgedTask.CASES: "cases"}


@dataclass(frozen=True)
class CalibrationTable:
    """How far a judge may be believed in one criterion, as text."""

    title: str
    header: list[str]
    rows: list[list[str]]


def print_calibration(calibration: Calibration) -> None:
    """Print how far a judge may be believed: a table for each criterion that it scores, and what follows from it."""
    console = terminal()
    show(one_line(_headline(calibration)))
    for table in calibration_tables(calibration):
        print_table(console, table.header, table.rows, title=table.title)
    scored = [each for each in calibration.criteria if each.agreement.answers]
    for each in scored:
        show(one_line(f"{each.criterion}: {each.use}. {told_of(each)}"))
    silent = [each.criterion for each in calibration.criteria if each not in scored]
    rest = [each for each in Criterion if each not in {found.criterion for found in calibration.criteria}]
    if silent:
        told = f"It scores none of the answers that have a label for {', '.join(silent)}"
        show(one_line(f"{told}: not calibrated."))
    show(one_line(f"Not calibrated, since too few answers have a label: {', '.join(rest)}."))


def _headline(calibration: Calibration) -> str:
    told = f"{calibration.judge} ({calibration.version}) on {calibration.answers:,} labelled answers"
    judged = calibration.judged
    if judged is not None and judged < calibration.answers:
        told += f", of which it judges {judged:,}"
    return f"{told}; {form_text(SHARE, calibration.unread)} of the replies could not be read"


def told_of(found: CalibratedCriterion) -> str:
    """Return why a judge may or may not be used, in a sentence or two."""
    told = f"{found.why[:1].upper()}{found.why[1:]}."
    if found.lead is not None:
        lead = f"{form_text(Form(2, signed=True), found.lead)}{_interval(found.lead_interval)}"
        told += f" Its kappa is {lead} above the best degenerate judge: {found.rival}."
    return told


def calibration_tables(calibration: Calibration) -> Iterator[CalibrationTable]:
    """Yield a table for each criterion that is scored: all labelled answers, then by what was asked."""
    for found in (each for each in calibration.criteria if each.agreement.answers):
        rows = [["all", *agreement_cells(found.agreement), found.use]]
        rows += [[kind, *agreement_cells(each.agreement), each.use] for kind, each in found.types.items()]
        header = [_FIRST[calibration.asked], "n", "unscored", "kappa", "rho", "bias", "wrong ones passed", "use"]
        yield CalibrationTable(found.criterion, header, rows)


def agreement_cells(found: Agreement) -> list[str]:
    """Return the figures of an agreement as cells."""
    return [
        str(found.answers),
        str(found.unscored),
        MISSING if found.kappa is None else f"{found.kappa:.2f}{_interval(found.kappa_interval)}",
        MISSING if found.rho is None else f"{found.rho:.2f}{_interval(found.rho_interval)}",
        f"{found.bias:+.2f}",
        f"{found.passed} of {found.wrong}" if found.wrong else MISSING,
    ]


def _interval(found: Interval | None) -> str:
    return f" [{found[0]:.2f}, {found[1]:.2f}]" if found else ""


def calibration_json(calibration: Calibration) -> Any:
    """Return a calibration as JSON values."""
    return to_json(calibration)

"""Figures, ranks, flags and intervals as text, written here for every terminal, document and table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

from benchmark.analysis.figures import Column, Figure, Form, S
from benchmark.analysis.leaderboard import FLAGS, REFERENCE_MARK, TIE_MARK, BoardRow, Conclusion, Flag, Leaderboard
from benchmark.analysis.references import ReferenceRow
from benchmark.record.base import Interval
from benchmark.record.questions import questions_of
from benchmark.record.result import EASY
from benchmark.record.summary import Dimension, Summary
from benchmark.scoring import SCORER_VERSION
from ctxsift.terminal import one_line

MISSING = "-"
_SHOWN_HASH = 12
# Any figure of a record has a place in it.
_WIDE = Context(prec=60)
_SIGNED = Form(signed=True)


def form_text(form: Form, value: float | None) -> str:
    """Return a number as its form wants it; a dash for None. Halves go up, as on the page."""
    if value is None:
        return MISSING
    rounded = Decimal(value * form.scale).quantize(Decimal(1).scaleb(-form.digits), ROUND_HALF_UP, _WIDE)
    if not rounded:
        # Nothing has no minus.
        rounded = abs(rounded)
    return f"{rounded:{'+' if form.signed else ''}f}{form.suffix}"


def interval_text(form: Form, ends: Interval | None) -> str:
    """Return ` [low, high]` to stand behind the figure; an empty text where there is none."""
    return f" [{form_text(form, ends[0])}, {form_text(form, ends[1])}]" if ends else ""


def figure_text(figure: Figure[S], summary: S) -> str:
    """Return a figure with its interval, if it has one; a dash where the file does not tell it."""
    return form_text(figure.form, figure.read(summary)) + interval_text(figure.form, figure.interval(summary))


def column_text(column: Column[S], summary: S) -> str:
    """Return the cell of a column; one dash when none of its figures is told."""
    return _joined([figure_text(figure, summary) for figure in column.figures])


def entry_text(column: Column[Summary], entry: BoardRow | ReferenceRow) -> str:
    """Return the cell of a column for a row of the board, or for gold or a baseline beside it."""
    if isinstance(entry, ReferenceRow):
        return _joined([form_text(figure.form, figure.of_reference(entry)) for figure in column.figures])
    return column_text(column, entry.summary)


def _joined(cells: Sequence[str]) -> str:
    return MISSING if all(cell == MISSING for cell in cells) else "/".join(cells)


def rank_text(row: BoardRow | ReferenceRow) -> str:
    """Return the rank, with `=` where it is shared; `ref` for reference rows, a dash without answers."""
    if isinstance(row, ReferenceRow):
        return REFERENCE_MARK
    if row.rank is None:
        return REFERENCE_MARK if row.result.is_reference else MISSING
    return f"{row.rank.place}{TIE_MARK if row.rank.tied else ''}"


def flag_marks(flags: Sequence[Flag]) -> str:
    """Return the marks of flags, each once and with a space before it, to stand behind a name."""
    return "".join(f" {mark}" for mark in dict.fromkeys(FLAGS[flag].mark for flag in flags) if mark)


def marked(row: BoardRow | ReferenceRow) -> str:
    """Return label and marks of a row."""
    return row.label if isinstance(row, ReferenceRow) else row.label + flag_marks(row.flags)


def is_reference(row: BoardRow | ReferenceRow) -> bool:
    """Return True for reference rows, which are not ranked."""
    return isinstance(row, ReferenceRow) or row.result.is_reference


_NO_BEST = {
    Conclusion.BELOW_FLOOR: "No complete run is significantly better than the best baseline{floor}.",
    Conclusion.TOO_FEW_CASES: "Too few cases to tell whether a model beats the best baseline{floor}.",
    Conclusion.INCOMPLETE: "No run is complete, so there is no ranking.",
    Conclusion.NO_ANSWER: "No model has an answer that could be scored.",
    Conclusion.REFERENCES_ONLY: "Reference rows only.",
}


def headline_text(board: Leaderboard, name: Callable[[BoardRow], str] = lambda row: row.label) -> str:
    """Return in a sentence what the board comes to; `name` says how a row is called."""
    headline = board.headline
    if headline.conclusion is not Conclusion.BEST:
        floor = board.references.floor
        told = f" ({one_line(floor[0])}, {form_text(Form(), floor[1])})" if floor else ""
        return _NO_BEST[headline.conclusion].format(floor=told)
    names = ", ".join(map(name, headline.best))
    told = f"Best: {names}." if len(headline.best) == 1 else f"Best, statistically tied: {names}."
    return told if board.references.floor else f"{told} No baseline was measured on these cases."


def is_old(board: Leaderboard) -> bool:
    """Return whether another scorer than today's scored the results of a board; files without a run do not tell."""
    run = board.rows[0].result.record.run
    return run is not None and run.scorer_version != SCORER_VERSION


def board_title(board: Leaderboard) -> str:
    """Return what the results of a board have in common: cases, corpus, scorer."""
    result = board.rows[0].result
    run = result.record.run
    if run is None:
        return f"Published layout, {counted(len(result.cases), 'case')}"
    corpus = (questions_of(run).corpus_sha256 or "unknown")[:_SHOWN_HASH]
    old = f" (old: today's is {SCORER_VERSION})" if is_old(board) else ""
    asked, total = len(run.case_ids), counted(run.corpus_cases, "case")
    cases = total if asked == run.corpus_cases else f"{asked:,} of {total}"
    # A page lets go of the record's cases; their figures stay.
    tiers = {case.group.get(Dimension.TIER) for case in result.cases.values()}
    tier = f" ({EASY})" if tiers == {EASY} else ""
    return f"{cases}{tier}, corpus {corpus}, scorer {one_line(run.scorer_version)}{old}"


def counted(number: int, noun: str) -> str:
    """Return a number and its noun, which takes an s in the plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def signed(value: float) -> str:
    """Return a difference in points with its sign."""
    # No "-0.0": nothing has no sign.
    return form_text(_SIGNED, value if abs(value) >= 0.05 else 0.0)

"""What an answerer made of contexts, beside what they keep: tables in a terminal, Markdown, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from benchmark.cli.console import terminal
from benchmark.probes.answer_figures import AnsweredBoard, Fate, Fates
from benchmark.probes.figures import Row
from benchmark.probes.model import ProbeType
from benchmark.probes.printing import MADE, SHARE, BoardTable, begin, boards_json, place_of, points
from benchmark.probes.records import Answering
from benchmark.render.csv import harmless
from benchmark.render.figures import MISSING, counted, form_text
from benchmark.render.markdown import markdown_table, plain_cell
from benchmark.render.terminal import print_table
from benchmark.statistics import MIN_CLUSTERS
from ctxsift.terminal import one_line, show, tell

_FATES: Mapping[Fate, str] = {
    Fate.KEPT_SAID: "kept, said",
    Fate.KEPT_UNSAID: "kept, not said",
    Fate.LOST_UNSAID: "lost, not said",
    Fate.LOST_SAID: "lost, said",
}
_COUNTS = ("answerer", "version", "judge", "words", "questions", "unanswered", "foreign", "shortened", "error")


def tell_unanswered(answered: Iterable[Answering], boards: Iterable[AnsweredBoard]) -> None:
    """Say on stderr who answered no question under every method, so that there is no board."""
    shown = [board.answering for board in boards]
    for each in answered:
        if each not in shown and not each.acts:
            asked, few = counted(each.questions, "question"), each.questions - each.unanswered
            answers = f"{few} of the {asked}, and none under every method" if few else f"none of the {asked}"
            given = f", and gave {counted(each.foreign, 'answer')} to others" if each.foreign else ""
            why = f": {each.error}" if each.error else "; an id belongs to a context, a question and a limit of words"
            tell(one_line(f"{each.answerer} answered {answers}{given}{why}"))


def print_answered(boards: Sequence[AnsweredBoard], *, whole: bool = False) -> None:
    """Print what each answerer said; every table if `whole`."""
    console = terminal()
    for board in boards:
        show(f"\n{one_line(answered_heading(board))}")
        tables = list(answered_tables(board))
        for table in tables if whole else tables[:1]:
            print_table(console, table.header, table.rows, title=table.title)
            if table.note:
                show(one_line(table.note))


def answered_markdown(boards: Iterable[AnsweredBoard]) -> str:
    """Return the same as Markdown."""
    parts = []
    for board in boards:
        parts.append(f"## {plain_cell(answered_heading(board))}")
        for table in answered_tables(board):
            parts += [f"### {plain_cell(table.title)}", markdown_table(table.header, table.rows)]
            parts += [plain_cell(table.note)] if table.note else []
    return "\n\n".join(parts) + "\n" if parts else ""


def answered_heading(board: AnsweredBoard) -> str:
    """Return who answered what, and what of it is missing."""
    answering, said = board.answering, board.said
    return (
        f"Answers of {answering.answerer} ({answering.version}): {said.asked} questions under each of "
        f"{counted(len(said.rows), 'method')}, probes {MADE[said.maker]}, at most {answering.words} words. "
        f"Judge: {answering.judge}.{''.join(f' {each}.' for each in _lacks(answering))}"
    )


def _lacks(answering: Answering) -> Iterator[str]:
    if answering.unanswered:
        yield f"{answering.unanswered} of {counted(answering.questions, 'question')} got no answer and are unscored"
    if answering.foreign:
        yield f"{counted(answering.foreign, 'answer')} to other questions are left out"
    if answering.shortened:
        yield f"for {counted(answering.shortened, 'question')} the context did not fit, and its middle was left out"
    if answering.error:
        yield f"it ended early: {answering.error}"


def answered_tables(board: AnsweredBoard) -> Iterator[BoardTable]:
    """Yield the tables of a board."""
    yield _side_by_side(board)
    yield _by_type(board)


def _side_by_side(board: AnsweredBoard) -> BoardTable:
    kept = {row.label: row for row in board.kept.rows}
    header = ["method", "rank", "answered", "kept", *_FATES.values(), "abstains", "wrong", "unanswerable"]
    rows = [
        [*begin(row), points(row.score), points(kept[row.label].score), *_shares(board.fates[row.label])]
        for row in board.said.rows
    ]
    notes = [
        f"n = {board.said.asked}, the same for both",
        "0 to 5" + (", averaged over the age of the evidence" if len(board.said.ages) > 1 else ""),
        "vital statements: kept in the context or lost, said in the answer or not, each question alike",
        "abstains: answers that name what they do not know",
        "wrong: that contradict the right answer, or miss it without saying so",
        "unanswerable: share of the questions that the session never answers for which the answer says so; in no mean",
    ]
    if all(row.score.interval is None for row in board.said.rows):
        notes.append(f"with fewer than {MIN_CLUSTERS} sessions no difference is significant")
    title = f"Can it be answered? n = {board.said.asked}"
    return BoardTable(title, header, rows, "; ".join(notes) + ".")


def _shares(fates: Fates) -> list[str]:
    found = [*(fates.shares[fate] for fate in _FATES), fates.abstaining, fates.wrong]
    return [*(form_text(SHARE, share) for share in found), _abstained(fates)]


def _abstained(fates: Fates) -> str:
    found = fates.unanswerable
    return f"{found.abstained} of {found.asked}" if found else MISSING


def _by_type(board: AnsweredBoard) -> BoardTable:
    kept = {row.label: row for row in board.kept.rows}
    rows = [[*begin(row), *(_both(row, kept[row.label], kind) for kind in ProbeType)] for row in board.said.rows]
    return BoardTable("Answered / kept, by type", ["method", "rank", *ProbeType], rows)


def _both(said: Row, kept: Row, kind: ProbeType) -> str:
    return " / ".join(points(row.types.get(kind), bare=True) for row in (said, kept))


def answered_csv_rows(boards: Iterable[AnsweredBoard]) -> Iterator[list[str]]:
    """Yield lines under the header of the other boards; who answered stands in the name of the figure."""
    for board in boards:
        kept = {row.label: row for row in board.kept.rows}
        for row in board.said.rows:
            fates, name = board.fates[row.label], board.answering.answerer
            begun = (board.said.maker, place_of(row), row.method, row.budget or "")
            for what, found in (("answered", row.score), ("kept where asked", kept[row.label].score)):
                ends = found.interval or ("", "")
                yield _cells(*begun, f"{what}: {name}", found.value, *ends, found.count)
            for fate, told in _FATES.items():
                yield _cells(*begun, f"{told}: {name}", fates.shares[fate], "", "", fates.statements[fate])
            for told, share in (("abstains", fates.abstaining), ("wrong", fates.wrong)):
                yield _cells(*begun, f"{told}: {name}", share, "", "", row.score.count)
            if without := fates.unanswerable:
                yield _cells(*begun, f"unanswerable: {name}", without.abstained / without.asked, "", "", without.asked)


def _cells(*values: str | float | None) -> list[str]:
    return [str(harmless(value)) for value in values]


def answered_json(boards: Iterable[AnsweredBoard]) -> list[dict[str, Any]]:
    """Return the boards as JSON values; `answered` and `kept` are each as a board of contexts."""
    return [
        {name: getattr(board.answering, name) for name in _COUNTS}
        | {
            "answered": boards_json([board.said])[0],
            "kept": boards_json([board.kept])[0],
            "became": {label: msgspec.to_builtins(fates) for label, fates in board.fates.items()},
        }
        for board in boards
    ]

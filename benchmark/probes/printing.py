"""Boards of probes as tables: in a terminal, as Markdown, as CSV, as JSON."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from benchmark.analysis.comparison import beyond_chance
from benchmark.analysis.figures import Form
from benchmark.cli.console import terminal
from benchmark.judges.rubric import Criterion, Dimension
from benchmark.probes.figures import Board, Estimate, Row
from benchmark.probes.model import Maker, ProbeType
from benchmark.probes.nulls import ENDS, NULLS
from benchmark.probes.records import ProbeResult
from benchmark.probes.references import PUBLISHED
from benchmark.probes.states import State
from benchmark.render.csv import harmless
from benchmark.render.figures import MISSING, counted, form_text, interval_text
from benchmark.render.markdown import markdown_table, plain_cell
from benchmark.render.terminal import print_table
from benchmark.statistics import MIN_CLUSTERS, Difference
from ctxsift.terminal import one_line, show

POINTS, SHARE, _RATIO, _SECONDS = Form(2), Form(0, 100, suffix="%"), Form(1, suffix="x"), Form(2)
_GAIN = Form(2, signed=True)
_OTHER = "other words"
# Of names that are invented, so many are shown.
_SOME = 4
CSV_HEADER = ("probes", "rank", "method", "budget", "figure", "value", "low", "high", "count")
MADE = {Maker.HAND: "written by hand", Maker.RULE: "made by rule"}
_SHORT: Mapping[Criterion, str] = {
    Criterion.ACCURACY_FACTUAL: "factual",
    Criterion.ACCURACY_TECHNICAL: "technical",
    Criterion.CONTEXT_CONVERSATION_STATE: "state",
    Criterion.CONTEXT_ARTIFACT_STATE: "files",
    Criterion.ARTIFACT_FILES_CREATED: "created",
    Criterion.ARTIFACT_FILES_MODIFIED: "modified",
    Criterion.ARTIFACT_KEY_DETAILS: "details",
    Criterion.COMPLETENESS_COVERAGE: "coverage",
    Criterion.COMPLETENESS_DEPTH: "depth",
    Criterion.CONTINUITY_WORK_STATE: "work",
    Criterion.CONTINUITY_TODO_STATE: "to-do",
    Criterion.CONTINUITY_REASONING: "reasoning",
    Criterion.INSTRUCTION_FORMAT: "format",
    Criterion.INSTRUCTION_CONSTRAINTS: "constraints",
}


@dataclass(frozen=True)
class BoardTable:
    """A table of a board, as text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def print_boards(result: ProbeResult, boards: Sequence[Board], *, whole: bool = False) -> None:
    """Print the methods by type of probe; every table of every board if `whole`."""
    console = terminal()
    show(one_line(summary_of(result)))
    for board in boards if whole else boards[:1]:
        show(f"\n{one_line(heading_of(board))}")
        for table in tables_of(board) if whole else [_by_type(board, boards[1:])]:
            print_table(console, table.header, table.rows, title=table.title)
            if table.note:
                show(one_line(table.note))
    if boards and not whole:
        show("--all shows what is kept by age, dimensions, criteria, and each kind of probes by itself.")


def boards_markdown(result: ProbeResult, boards: Sequence[Board]) -> str:
    """Return the same as Markdown."""
    parts = ["# Probes", plain_cell(summary_of(result))]
    for board in boards:
        parts.append(f"## {plain_cell(heading_of(board))}")
        for table in tables_of(board):
            parts += [f"### {plain_cell(table.title)}", markdown_table(table.header, table.rows)]
            parts += [plain_cell(table.note)] if table.note else []
    return "\n\n".join(parts) + "\n"


def summary_of(result: ProbeResult) -> str:
    """Return what was measured, in a sentence or two."""
    names = ", ".join(
        f"{session.name}{'' if session.split == 'dev' else f' ({session.split})'}" for session in result.sessions
    )
    return (
        f"{counted(len(result.sessions), 'session')}: {names}. Judge: {result.judge}. Where the kept steps say a "
        f"statement as well, it does not count ({result.leaks} times)."
    )


def heading_of(board: Board) -> str:
    """Return whose probes a board is about."""
    return f"Probes {MADE[board.maker]}: {board.probes}, asked {board.asked} times"


def tables_of(board: Board) -> Iterator[BoardTable]:
    """Yield the tables of a board."""
    yield _by_type(board)
    yield _by_age(board)
    yield _by_dimension(board)
    yield _by_criterion(board)
    yield from _inventions(board)


def _by_type(board: Board, others: Sequence[Board] = ()) -> BoardTable:
    """Return the table by type; the score on the probes of other makers stands beside it."""
    uptake = any(row.uptake is not None for row in board.rows)
    beside = [({row.label: row.score for row in other.rows}, f"by {other.maker}") for other in others]
    reworded = any(row.other_words is not None for row in board.rows)
    lifted = any(row.lift is not None for row in board.rows)
    header = ["method", "rank", "score", *(["lift"] if lifted else []), *([_OTHER] if reworded else []), *ProbeType]
    header += ["uptake"] if uptake else []
    rows = [
        [
            *begin(row),
            points(row.score),
            *([lift_text(row)] if lifted else []),
            *([form_text(SHARE, row.other_words)] if reworded else []),
            *(points(row.types.get(kind), bare=True) for kind in ProbeType),
            *([form_text(SHARE, row.uptake)] if uptake else []),
            *(points(scores.get(row.label), bare=True) for scores, _ in beside),
            *(form_text(SHARE, share) for share in (row.kept[0], row.kept[-1])),
            form_text(_RATIO, row.ratio),
            form_text(_SECONDS, row.seconds),
        ]
        for row in board.rows
    ]
    header += [*(title for _, title in beside), "age 0", f"age {len(board.ages) - 1}", "ratio", "s/cycle"]
    notes = [
        "0 to 5, averaged over the age of the evidence",
        "rank: among the methods of the same budget, 1 + the number of significantly better ones; = means tied with "
        "others (no significant difference); gold and everything are the ends of the scale",
        *_apart(board),
        *([_lift_note(board)] if lifted else []),
        *(
            [
                f"{_OTHER}: share of the questions that the rules count as lost although the context may say the "
                "answer in other words"
            ]
            if reworded
            else []
        ),
        *(["uptake: probes for which the last statement in the context is wrong"] if uptake else []),
        "age: share kept, by number of cuts since the evidence was removed",
        "ratio: tokens before / tokens after",
    ]
    if any(row.rank is None and row.method not in ENDS for row in board.rows):
        notes.append(
            "another dash as rank: a model or a person wrote these summaries in their own words, which the rules "
            "cannot judge fairly"
        )
    if board.unasked:
        notes.append(f"{MISSING} in a whole row: the method has no summary at any cut, so no question was asked")
    if all(row.score.interval is None for row in board.rows):
        notes.append(f"with fewer than {MIN_CLUSTERS} sessions no difference is significant")
    rows += _unasked(board, header)
    return BoardTable("Is it still there?", header, rows, "; ".join(notes) + ".")


def _apart(board: Board) -> Iterator[str]:
    """Yield which methods share a rank though their intervals are apart: many pairs are compared, and corrected for."""
    for one, other in itertools.combinations(board.rows, 2):
        ends, theirs = one.score.interval, other.score.interval
        same = one.rank is not None and other.rank is not None and one.budget == other.budget
        if same and one.rank == other.rank and ends and theirs and (ends[0] > theirs[1] or ends[1] < theirs[0]):
            shared = f"{one.label} and {other.label} share a rank"
            yield f"{shared}, although their intervals do not overlap: many pairs are compared"


def lift_text(row: Row) -> str:
    """Return the lift of a row, with `=` where it cannot be told from its null; a dash where it has none."""
    if row.lift is None:
        return MISSING
    above = row.lift.above
    return f"{form_text(_GAIN, above.value)}{'' if beyond_chance(above) else '='}"


def _lift_note(board: Board) -> str:
    over = sorted({row.lift.over for row in board.rows if row.lift})
    nulls = f"{', '.join(NULLS[:-1])} and {NULLS[-1]}"
    return (
        f"lift: score minus that of the best of {nulls} with the same budget ({', '.join(over)}), which may leave "
        "more or fewer tokens (ratio); =: no significant difference"
    )


def _by_age(board: Board) -> BoardTable:
    every = range(len(board.ages))
    header = ["method", "rank", *(f"age {age} ({board.ages[age]:,})" for age in every)]
    header += [f"same, age {age}" for age in every] if board.at_every_age else []
    rows = [
        [*begin(row), *(form_text(SHARE, share) for share in row.kept + row.kept_of_same * bool(board.at_every_age))]
        for row in board.rows
    ]
    rows += _unasked(board, header)
    note = "Number of questions in brackets. Older evidence belongs to different probes, so the ages show no trend."
    if board.at_every_age:
        note += f" same: the {counted(board.at_every_age, 'probe')} that are asked at every age."
    return BoardTable("Share kept, by number of cuts since the evidence was removed", header, rows, note)


def _by_dimension(board: Board) -> BoardTable:
    header = ["method", "rank", "overall", *Dimension]
    rows = [
        [*begin(row), points(row.overall), *(points(row.dimensions.get(name), bare=True) for name in Dimension)]
        for row in board.rows
    ]
    rows += _unasked(board, header)
    rows += [
        [
            f"{published.method}, as published",
            MISSING,
            f"{form_text(POINTS, published.overall)} (mean {form_text(POINTS, published.mean)})",
            *(form_text(POINTS, published.dimensions[name]) for name in Dimension),
        ]
        for published in PUBLISHED
    ]
    note = (
        "Dimensions follow from the same probes, and from each other. As published: a model's answers to "
        "different probes, graded by a model; not comparable. The published overall is not the mean next to it."
    )
    return BoardTable("By dimension", header, rows, note)


def _by_criterion(board: Board) -> BoardTable:
    header = ["method", "rank", *(_SHORT[name] for name in Criterion)]
    rows = [[*begin(row), *(points(row.criteria.get(name), bare=True) for name in Criterion)] for row in board.rows]
    rows += _unasked(board, header)
    return BoardTable(
        "By criterion", header, rows, f"{MISSING} unscored: rules cannot judge it, or nothing asks for it."
    )


def _inventions(board: Board) -> Iterator[BoardTable]:
    """Yield the table of what summaries invent, where anybody looked."""
    found = [(row.label, row.inventions) for row in board.rows]
    rows = [
        [label, form_text(POINTS, each.per_hundred), f"{each.count:,} of {each.among:,}", _some(each.names)]
        for label, each in found
        if each
    ]
    if rows:
        note = (
            "Identifiers, paths, versions, numbers that are long or have a unit, of all summaries at all cuts, their "
            "index included, that no step up to the cut says. Right answers are in the words of those who wrote them."
        )
        yield BoardTable("Names and values that no step says", ["method", "per 100", "of", "e.g."], rows, note)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SOME]) + (", ..." if len(names) > _SOME else "")


def _unasked(board: Board, header: Sequence[str]) -> list[list[str]]:
    return [[label, *[MISSING] * (len(header) - 1)] for label in board.unasked]


def begin(row: Row) -> list[str]:
    """Return the cells of a row that say which method it is, and its rank."""
    return [row.label, f"{row.rank.place}{'=' if row.rank.tied else ''}" if row.rank else MISSING]


def place_of(row: Row) -> int | str:
    """Return the rank of a row as CSV has it; empty where it has none."""
    return row.rank.place if row.rank else ""


def points(found: Estimate | None, *, bare: bool = False) -> str:
    """Return a figure from 0 to 5, with its interval unless `bare`."""
    if found is None:
        return MISSING
    return form_text(POINTS, found.value) + ("" if bare else interval_text(POINTS, found.interval))


def _figures(row: Row) -> Iterator[tuple[str, Estimate]]:
    """Yield name and value of each figure of a row."""
    yield "score", row.score
    if row.lift is not None:
        yield "lift", Estimate(row.lift.above.value, 0, _ends(row.lift.above))
        yield "p of lift", Estimate(row.lift.above.p, 0)
    if row.other_words is not None:
        yield State.OTHER_WORDS, Estimate(row.other_words, 0)
    yield from row.types.items()
    yield "overall", row.overall
    yield from row.dimensions.items()
    yield from row.criteria.items()
    for age, share in enumerate(row.kept):
        if share is not None:
            yield f"kept at age {age}", Estimate(share, 0)
    if row.uptake is not None:
        yield "uptake", Estimate(row.uptake, 0)
    yield "ratio", Estimate(row.ratio, 0)
    yield "seconds a cycle", Estimate(row.seconds, 0)
    yield "refused cycles", Estimate(row.refused, 0)
    if row.inventions is not None:
        yield "invented per 100", Estimate(row.inventions.per_hundred, row.inventions.among)


def _ends(found: Difference) -> tuple[float, float] | None:
    return (found.interval.low, found.interval.high) if found.interval else None


def boards_csv(boards: Iterable[Board], further: Iterable[Sequence[str]] = ()) -> str:
    """Return one line a method and figure, and `further` ones under the same header."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for board in boards:
        for row in board.rows:
            for name, found in _figures(row):
                ends = found.interval or ("", "")
                method = row.method if row.model is None else f"{row.method} by {row.model}"
                cells = (board.maker, place_of(row), method, row.budget or "", name, found.value, *ends)
                writer.writerow([harmless(cell) for cell in (*cells, found.count or "")])
    writer.writerows(further)
    return target.getvalue()


def boards_json(boards: Iterable[Board]) -> list[dict[str, Any]]:
    """Return the boards as JSON values, with the difference of each two methods on the same questions."""
    return [
        {
            "probes": board.probes,
            "made_by": board.maker,
            "asked": board.asked,
            "asked_by_age": board.ages,
            "rows": [
                {
                    "rank": row.rank.place if row.rank else None,
                    "tied": bool(row.rank and row.rank.tied),
                    "method": row.method,
                    "budget": row.budget,
                    "model": row.model,
                    "lift_over": row.lift.over if row.lift else None,
                    "figures": {
                        name: {"value": found.value, "interval": found.interval} for name, found in _figures(row)
                    },
                    "inventions": msgspec.to_builtins(row.inventions),
                }
                for row in board.rows
            ],
            "unasked": board.unasked,
            "differences": [
                {
                    "method": label,
                    "over": over,
                    "value": found.value,
                    "interval": _ends(found),
                    "p": found.p,
                }
                for (over, label), found in board.differences.items()
            ],
        }
        for board in boards
    ]

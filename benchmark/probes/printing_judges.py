"""What judges say of answers, and how far they may be believed: tables in a terminal, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmark.cli.console import terminal
from benchmark.judges.printing import agreement_cells
from benchmark.judges.records import Agreement, Use
from benchmark.judges.rubric import Criterion, RubricDimension
from benchmark.probes.figures import ProbeEstimate, Row
from benchmark.probes.judged import Apart, JudgedBoard
from benchmark.probes.printing import MADE, SHARE, BoardTable, begin, boards_json, place_of, points
from benchmark.render.csv import harmless
from benchmark.render.figures import MISSING, counted, form_text
from benchmark.render.markdown import markdown_table, plain_cell
from benchmark.render.terminal import print_table
from benchmark.statistics import MIN_CLUSTERS
from ctxsift.terminal import in_line, one_line, show

# From this share of unscored answers on, a reader is warned.
WARN_UNSCORED = 0.05
_MARKS = {Use.LOWER_BOUND_ONLY: "≥ {}", Use.NOT_TO_BE_USED: "({})", Use.NOT_CALIBRATED: "({})"}
_MOST_TEXT = 300


def print_judged(boards: Sequence[JudgedBoard], *, whole: bool = False) -> None:
    """Print what each judge says; every table if `whole`."""
    console = terminal()
    for board in boards:
        show(f"\n{one_line(judged_heading(board))}")
        tables = list(judged_tables(board))
        for table in tables if whole else tables[:1]:
            print_table(console, table.header, table.rows, title=table.title)
            if table.note:
                show(one_line(table.note))


def judged_markdown(boards: Iterable[JudgedBoard]) -> str:
    """Return the same as Markdown."""
    parts = []
    for board in boards:
        parts.append(f"## {plain_cell(judged_heading(board))}")
        for table in judged_tables(board):
            parts += [
                f"### {plain_cell(table.title)}",
                markdown_table(table.header, table.rows),
                plain_cell(table.note),
            ]
    return "\n\n".join(parts) + "\n" if parts else ""


def judged_heading(board: JudgedBoard) -> str:
    """Return who judged whose answers, what is unscored, and what may be used."""
    judged, found = board.judged, board.board
    told = [
        f"{judged.judge} ({judged.version}) on the answers of {judged.answerer}: {found.asked} answers under each of "
        f"{counted(len(found.rows), 'method')}, probes {MADE[found.maker]}.",
        f"Unscored: {form_text(SHARE, board.unscored)} of all answers{_warned(board.unscored)}.",
        f"{_uses(judged.calibrated)}.",
    ]
    told += [f"{counted(board.labelled, 'answer')} labelled by a person count in its place."] if board.labelled else []
    if board.differing:
        told.append(
            f"Of {counted(board.differing, 'answer')} its own aggregate is not the mean of its criteria; these count."
        )
    told += [f"It ended early: {judged.error}."] if judged.error else []
    return " ".join(told)


def _warned(share: float) -> str:
    return " (warning: more than the figures can bear)" if share >= WARN_UNSCORED else ""


def _uses(calibrated: Mapping[Criterion, Use]) -> str:
    by_use: dict[Use, list[str]] = {}
    for criterion in Criterion:
        by_use.setdefault(calibrated.get(criterion, Use.NOT_CALIBRATED), []).append(criterion)
    told = [f"{use}: {', '.join(by_use[use])}" for use in Use if use in by_use and use is not Use.NOT_CALIBRATED]
    if not told:
        return "Not calibrated: nothing of it may be used (python -m benchmark.probes calibrate)"
    rest = len(by_use.get(Use.NOT_CALIBRATED, []))
    return "; ".join([*told, f"not calibrated: the other {rest}"] if rest else told).capitalize()


def judged_tables(board: JudgedBoard) -> Iterator[BoardTable]:
    """Yield the tables of a board: dimensions, then criteria."""
    rows = board.board.rows
    shown = [each for each in RubricDimension if any(each in row.dimensions for row in rows)]
    note = (
        "0 to 5; overall: mean of the dimensions of each answer, unweighted; dimension: mean of its scored criteria. "
        "In parentheses: the judge is not calibrated for all of its criteria, or not to be used; ≥: a lower bound."
    )
    if all(row.score.interval is None for row in rows):
        note += f" With fewer than {MIN_CLUSTERS} sessions no difference is significant."
    header = ["method", "rank", "overall", *shown]
    lines = [
        [
            *begin(row),
            _marked(points(row.score), _weakest(board, row.criteria)),
            *(_dimension(board, row, each) for each in shown),
        ]
        for row in rows
    ]
    yield BoardTable("By dimension", header, lines, note)
    criteria = [each for each in Criterion if any(each in row.criteria for row in rows)]
    lines = [[*begin(row), *(_criterion(board, row.criteria.get(each), each) for each in criteria)] for row in rows]
    yield BoardTable("By criterion", ["method", "rank", *criteria], lines, f"{MISSING}: unscored.")


def _dimension(board: JudgedBoard, row: Row, dimension: RubricDimension) -> str:
    scored = [each for each in dimension.criteria if each in row.criteria]
    return _marked(points(row.dimensions.get(dimension), bare=True), _weakest(board, scored))


def _criterion(board: JudgedBoard, found: ProbeEstimate | None, criterion: Criterion) -> str:
    return points(found) if found is None else _marked(points(found, bare=True), board.use_of(criterion))


def _weakest(board: JudgedBoard, criteria: Iterable[Criterion]) -> Use:
    """Return what may be made of a mean of criteria: no more than of the weakest of them."""
    order = list(Use)
    return max((board.use_of(each) for each in criteria), key=order.index, default=Use.NOT_CALIBRATED)


def _marked(text: str, use: Use) -> str:
    return text if text == MISSING else _MARKS.get(use, "{}").format(text)


def judged_csv_rows(boards: Iterable[JudgedBoard]) -> Iterator[list[str]]:
    """Yield lines under the header of the other boards; judge, answerer and use stand in the name of the figure."""
    for board in boards:
        who = f"{board.judged.judge} on {board.judged.answerer}"
        for row in board.board.rows:
            named: list[tuple[str, ProbeEstimate, Use]] = [("overall", row.score, _weakest(board, row.criteria))]
            named += [(name, found, board.use_of(name)) for name, found in row.criteria.items()]
            for name, found, use in named:
                cells = (board.board.maker, place_of(row), row.method, row.budget or "", f"{name}: {who}: {use}")
                ends = found.interval or ("", "")
                yield [str(harmless(cell)) for cell in (*cells, found.value, *ends, found.count)]


def judged_json(boards: Iterable[JudgedBoard]) -> list[dict[str, Any]]:
    """Return the boards as JSON values; `board` is as a board of contexts."""
    return [
        {
            "judge": board.judged.judge,
            "version": board.judged.version,
            "answerer": board.judged.answerer,
            "unscored": board.unscored,
            "labelled": board.labelled,
            "differing": board.differing,
            "use": {each: board.use_of(each) for each in Criterion},
            "board": boards_json([board.board])[0],
        }
        for board in boards
    ]


def print_agreement(first: str, second: str, agreements: Mapping[Criterion, Agreement], apart: Sequence[Apart]) -> None:
    """Print how far two judges agree, and the answers on which they differ most."""
    header = ["criterion", "n", "kappa", "rho", "difference"]
    rows = [[name, *_pair(found)] for name, found in agreements.items()]
    show(one_line(f"\n{second} and {first}: how well they agree, and where they differ most"))
    print_table(terminal(), header, rows)
    for each in apart:
        put = each.put
        show(one_line(f"\n{put.asked.session}, {put.asked.probe} ({put.judged.input_id}): {put.judged.probe_question}"))
        show(one_line(f"  right: {in_line(' '.join(each.right.text.split()), limit=_MOST_TEXT)}"))
        show(one_line(f"  answer: {in_line(' '.join(put.judged.model_response.split()), limit=_MOST_TEXT)}"))
        shared = [name for name in each.first if name in each.second and each.first[name] != each.second[name]]
        scores = (f"{name} {each.first[name]:g} / {each.second[name]:g}" for name in shared)
        show(one_line(f"  {first} / {second}: {', '.join(scores)}"))


def _pair(found: Agreement) -> list[str]:
    cells = agreement_cells(found)
    return [cells[0], cells[2], cells[3], cells[4]]

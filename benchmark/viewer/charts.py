"""What the pictures are drawn from, and the pictures as files; the page draws the same specifications in a browser."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
import numpy as np
import vl_convert

from benchmark.analysis.leaderboard import BoardRow, Leaderboard
from benchmark.analysis.references import ReferenceRow
from benchmark.grading.baselines import GOLD
from benchmark.record.base import Interval, Json, known
from benchmark.record.read import StoredResult
from benchmark.record.summary import Dimension, Group, Summary
from benchmark.render.figures import board_title
from benchmark.render.theme import light_theme, themes
from benchmark.scoring import bootstrap_cores
from benchmark.statistics import Clusters, interval_of, mean, percentile
from benchmark.statistics import Interval as Ends
from benchmark.viewer.chart_records import (
    UNLISTED,
    Bin,
    Cell,
    ChartPack,
    ChartRow,
    ChartRows,
    Point,
    TableColumn,
    Tail,
    Times,
    VerdictCount,
)
from benchmark.viewer.labels import Spot, names_with_room
from benchmark.viewer.page_data import NOT_SCORED, Gathered, Shown, words
from benchmark.viewer.page_records import PageRecord, ReferenceLine
from benchmark.viewer.validity_data import measured_rows
from ctxsift.answers.validation import Status
from ctxsift.files import write_atomically
from ctxsift.terminal import one_line

FOLDER = Path(__file__).parent / "charts"
# The picture whose points have names.
_POINTS = "score-latency"
_SCORES = "case-scores"
_BINS = 20
_VERDICTS = (*map(words, Status), NOT_SCORED)
# Rows of a picture in a file: more cannot be told apart.
_MOST_ROWS = 60
_WIDTH = 760
# Of a line of a title, in characters.
_TITLE_WIDTH = 110
# Data sets of which a picture shows a part, or that are of no result.
_APART = ("cells", "measured")
Row = TypeVar("Row", bound=ChartRow)


def specifications() -> dict[str, Json]:
    """Return the Vega-Lite specifications by name."""
    files = {file.name.split(".")[0]: file for file in FOLDER.glob("*.json")}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in sorted(files.items())}


def chart_pack(gathered: Gathered) -> ChartPack:
    """Return everything that the page draws pictures from."""
    return ChartPack(
        specifications=specifications(),
        themes=themes(),
        tables={name: table_columns(kind) for name, kind in data_sets().items()},
        rows=chart_rows(gathered),
    )


def data_sets() -> dict[str, type[PageRecord]]:
    """Return the kind of the rows of each data set, by its name in the specifications; lines are not among them."""
    return {each.name: get_args(each.type)[0] for each in msgspec.structs.fields(ChartRows)}


def table_columns(kind: type[PageRecord]) -> list[TableColumn]:
    """Return the columns of the table of a data set."""
    hints = get_type_hints(kind, include_extras=True)
    about = {name: next(iter(getattr(hints[name], "__metadata__", ())), None) for name in kind.__struct_fields__}
    return [
        TableColumn(field=name, title=words(name) if meta is None else meta.title)
        for name, meta in about.items()
        if meta is not UNLISTED
    ]


def chart_rows(gathered: Gathered) -> ChartRows:
    """Return the data sets of the specifications, best result first; `key` says whose a row is."""
    sources = [
        _Source(shown, row)
        for shown, row in zip(gathered.shown, (row for board in gathered.boards for row in board.rows), strict=True)
        if shown.result.cases
    ]
    return ChartRows(
        points=_named(gathered, [source.point() for source in sources]),
        cells=[cell for source in sources for cell in source.cells()],
        verdicts=[count for source in sources for count in source.verdicts()],
        bins=[bin_ for source in sources for bin_ in source.bins()],
        tails=[tail for source in sources for tail in source.tails()],
        times=[source.times() for source in sources],
        measured=list(measured_rows(gathered)),
    )


def _named(gathered: Gathered, points: Sequence[Point]) -> list[Point]:
    """Return the points of all boards, each with its name where the picture of its board has room for it."""
    names: dict[int, str] = {}
    keys = {shown.result: shown.key for shown in gathered.shown}
    for board in gathered.boards:
        ours = {keys[row.result] for row in board.rows if not row.result.is_reference}
        drawn = [point for point in points if point.key in ours and point.seconds and point.core is not None]
        spots = [Spot(each.label, each.seconds or 1.0, each.core or 0.0, each.front) for each in drawn]
        lines = [(line.label, line.score) for line in reference_lines(gathered, board)]
        names |= dict(zip((point.key for point in drawn), names_with_room(spots, lines), strict=True))
    return [msgspec.structs.replace(point, name=names.get(point.key, "")) for point in points]


@dataclass(frozen=True)
class _Source:
    """One result, as rows of each data set."""

    shown: Shown
    on_board: BoardRow

    @property
    def label(self) -> str:
        return self.on_board.label

    @property
    def latency(self) -> str:
        clean = self.result.record.latency_clean
        return "unknown" if clean is None else "clean" if clean else "disturbed"

    @property
    def result(self) -> StoredResult:
        return self.shown.result

    @property
    def summary(self) -> Summary:
        return self.result.record.summary

    def row(self, kind: Callable[..., Row], **values: Any) -> Row:
        return kind(key=self.shown.key, label=self.label, track=self.result.track, **values)

    def point(self) -> Point:
        summary = self.summary
        ends = self._core_interval()
        lift_low, lift_high = lift_interval(summary) or (None, None)
        return self.row(
            Point,
            core=None if summary.recovered is None else 100 * summary.recovered.quality_core,
            low=ends and ends.low,
            high=ends and ends.high,
            score=summary.final_score,
            raw=summary.raw_view and summary.raw_view.final_score,
            lift=summary.lift,
            lift_low=lift_low,
            lift_high=lift_high,
            complete=self.result.record.complete,
            seconds=summary.latency and summary.latency.avg_inference_ms / 1000,
            latency=self.latency,
            # What is not ranked is not compared, and a disturbed time is none.
            front=self.on_board.rank is not None and self.latency != "disturbed",
            name="",
        )

    def _core_interval(self) -> Ends | None:
        cases = self.result.cases.values()
        clusters = Clusters.of(case.cluster for case in cases)
        return interval_of(100 * bootstrap_cores([case.score for case in cases], clusters), clusters)

    def cells(self) -> Iterator[Cell]:
        for dimension, groups in (self.result.record.breakdowns or self._broken_down()).items():
            yield from (self._cell(dimension, group) for group in groups if group.case_count)

    def _broken_down(self) -> dict[Dimension, list[Group]]:
        """Return the means by group of a file that does not tell them, as far as its cases do."""
        scores: dict[Dimension, dict[str, list[float]]] = {}
        for case in self.result.cases.values():
            for dimension, group in case.group.items():
                scores.setdefault(dimension, {}).setdefault(group, []).append(case.score)
        return {
            dimension: [
                Group(group=name, planned_count=len(found), case_count=len(found), avg_case_score=mean(found))
                for name, found in sorted(groups.items())
            ]
            for dimension, groups in scores.items()
        }

    def _captures(self, dimension: Dimension, group: Group) -> int:
        """Return how many captures the cases of a group are about."""
        members = {case.cluster for case in self.result.cases.values() if case.group.get(dimension) == group.group}
        return len(members) or group.case_count

    def _cell(self, dimension: Dimension, group: Group) -> Cell:
        low, high = known(group.avg_case_score_interval) or (None, None)
        # Groups are columns; tools are rows, for there are a hundred of them.
        turned = dimension is Dimension.TOOL
        # What draws pictures ends at a control character.
        name = one_line(group.group)
        return self.row(
            Cell,
            dimension=dimension.words,
            row=name if turned else self.label,
            column=self.label if turned else name,
            group=name,
            score=100 * (known(group.avg_case_score) or 0.0),
            low=None if low is None else 100 * low,
            high=None if high is None else 100 * high,
            cases=group.case_count,
            captures=self._captures(dimension, group),
        )

    def verdicts(self) -> Iterator[VerdictCount]:
        counts = Counter(case.verdict for case in self.shown.cases)
        planned = self.summary.planned_count
        counts[NOT_SCORED] = 0 if planned is None else planned - self.summary.case_count
        for order, verdict in enumerate(_VERDICTS):
            if counts[verdict]:
                yield self.row(VerdictCount, verdict=verdict, count=counts[verdict], order=order)

    def bins(self) -> Iterator[Bin]:
        scores = [case.score for case in self.result.cases.values()]
        counts, edges = np.histogram(scores, bins=_BINS, range=(0, 1))
        for start, end, count in zip(edges, edges[1:], counts.tolist(), strict=False):
            if count:
                yield self.row(Bin, start=float(start), end=float(end), cases=count, share=count / len(scores))

    def tails(self) -> Iterator[Tail]:
        if self.summary.recovered:
            yield self.row(Tail, p10=self.summary.recovered.p10_case_score)

    def times(self) -> Times:
        seconds = [case.time_ms / 1000 for case in self.result.cases.values()]
        p5, p25, p50, p75, p95 = (percentile(seconds, percent) for percent in (5, 25, 50, 75, 95))
        return self.row(Times, p5=p5, p25=p25, p50=p50, p75=p75, p95=p95, latency=self.latency)


def lift_interval(summary: Summary) -> Interval | None:
    """Return the interval of recovered minus raw score."""
    return known(summary.recovered.intervals.recovery_lift) if summary.recovered else None


def keyed_references(gathered: Gathered, board: Leaderboard) -> dict[int, ReferenceRow]:
    """Return the reference rows of a board that are no results, by keys that no result and no other board has."""
    before = sum(len(each.references.rows) for each in itertools.takewhile(lambda b: b is not board, gathered.boards))
    return {-1 - before - place: row for place, row in enumerate(board.references.rows)}


def reference_lines(gathered: Gathered, board: Leaderboard) -> list[ReferenceLine]:
    """Return gold and the best baseline on the cases of a board."""
    references = board.references
    own = references.source.record.summary.reference if references.source else None
    if own is None:
        return []
    keys = {row.name: key for key, row in keyed_references(gathered, board).items()}
    for each in reversed(gathered.shown):
        if each.result in references.results:
            keys[each.result.record.scenario.model] = each.key
    floor = one_line(f"floor: {own.floor}")
    return [
        ReferenceLine(label=GOLD, score=own.ceiling_score, is_ceiling=True, key=keys.get(GOLD)),
        ReferenceLine(label=floor, score=own.floor_score, is_ceiling=False, key=keys.get(own.floor)),
    ]


# Pictures as files --------------------------------------------------------------------------------------------------


def write_pictures(gathered: Gathered, folder: Path, form: str) -> list[Path]:
    """Write every picture as `form` (png or svg) into `folder` and return the files. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    render: Callable[..., Any] = vl_convert.vegalite_to_png if form == "png" else vl_convert.vegalite_to_svg
    written = []
    for name, specification in _pictures(gathered).items():
        file = folder / f"{name}.{form}"
        picture = render(specification, **({"scale": 2} if form == "png" else {}))
        write_atomically(file, picture)
        written.append(file)
    return written


def preview(gathered: Gathered) -> bytes:
    """Return the first picture of the first board, as PNG: quality against latency, or scores of cases without it."""
    board, rows = gathered.boards[0], chart_rows(gathered)
    ours = {row.result for row in board.rows}
    timed = any(point.seconds for point in _of({s.key for s in gathered.shown if s.result in ours}, rows.points))
    found = dict(_pictures_of(gathered, board, rows, ""))
    picture: bytes = vl_convert.vegalite_to_png(found[_POINTS if timed else _SCORES], scale=2)
    return picture


def _pictures(gathered: Gathered) -> dict[str, Json]:
    """Return complete specifications by file name, board by board; those of the first have no number."""
    rows = chart_rows(gathered)
    found: dict[str, Json] = {}
    for number, board in enumerate(gathered.boards, 1):
        about = f"{board_title(board)}: " if len(gathered.boards) > 1 else ""
        for name, specification in _pictures_of(gathered, board, rows, about):
            found[name if number == 1 else f"board-{number}-{name}"] = specification
    measured = specifications()["validity"]
    for name, is_whole in (("validity", False), ("validity-corpus", True)):
        if figures := [row for row in rows.measured if row.is_whole is is_whole]:
            found[name] = _complete(measured, {"measured": figures})
    return found


def _unnamed(points: Sequence[Point]) -> str:
    """Return which points have no name in a picture, as a sentence behind others; nothing where all have one."""
    unnamed = [one_line(point.label) for point in points if point.seconds and not point.name]
    return f" Points without a name, for lack of room: {', '.join(unnamed)}." if unnamed else ""


def _pictures_of(gathered: Gathered, board: Leaderboard, rows: ChartRows, about: str) -> Iterator[tuple[str, Json]]:
    """Yield the pictures of one board by name: of the results that compete, or of all if none does."""
    ours = {row.result for row in board.rows}
    shown = [each for each in gathered.shown if each.result in ours]
    rivals = [each for each in shown if not each.result.is_reference]
    chosen = {each.key for each in (rivals or shown)[:_MOST_ROWS]}
    data = {name: _of(chosen, getattr(rows, name)) for name in data_sets() if name not in _APART}
    data["lines"] = reference_lines(gathered, board)
    drawn = specifications()
    heat, *_ = (drawn.pop(name) for name in ("heat", "validity", "histogram"))
    for name, specification in drawn.items():
        yield name, _complete(specification, data, about, _unnamed(data["points"]) if name == _POINTS else "")
    cells = _of(chosen, rows.cells)
    for dimension in dict.fromkeys(cell.dimension for cell in cells):
        of_it = [cell for cell in cells if cell.dimension == dimension]
        yield f"heat-{dimension.replace(' ', '-')}", _complete(heat, {"cells": of_it}, about)


def _of(keys: set[int], rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.key in keys]


class _Heading(msgspec.Struct, rename="camel"):
    """A title as Vega-Lite takes it, in lines."""

    text: list[str]
    anchor: str = "start"
    font_weight: str = "normal"


class _Frame(msgspec.Struct):
    """What a picture in a file has that the page gives by itself."""

    title: _Heading
    datasets: dict[str, Any]
    config: Json
    params: list[Any]
    width: int = _WIDTH


def _complete(specification: Json, data: dict[str, Any], about: str = "", also: str = "") -> Json:
    tracks = dict.fromkeys(row.track for rows in data.values() for row in rows if isinstance(row, ChartRow))
    heading = _Heading(wrap(about + specification["description"] + also, _TITLE_WIDTH))
    frame = _Frame(heading, data, light_theme(), [{"name": "tracks", "value": list(tracks)}])
    placed: Json = msgspec.to_builtins(frame)
    return specification | placed | _layers(specification, data)


def _layers(specification: Json, data: dict[str, Any]) -> Json:
    """Return the layers that have something to draw: one that is named like a field is of the rows that have it."""
    if "layer" not in specification:
        return {}

    def is_drawn(layer: Json) -> bool:
        return "name" not in layer or any(getattr(row, layer["name"]) for row in data[layer["data"]["name"]])

    return {"layer": [layer for layer in specification["layer"] if is_drawn(layer)]}

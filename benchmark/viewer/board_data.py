"""The leaderboard and the head of each result, as records of the page."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import msgspec

from benchmark.analysis import figures
from benchmark.analysis import leaderboard as board
from benchmark.analysis.model_facts import facts_of
from benchmark.analysis.references import ReferenceRow, References
from benchmark.analysis.retention import RetentionBoard
from benchmark.cases import Difficulty
from benchmark.matrix import Track
from benchmark.record.base import Interval as Ends
from benchmark.record.read import StoredResult
from benchmark.record.summary import Dimension, Summary
from benchmark.record.views import ViewSummary
from benchmark.render import models
from benchmark.render.figures import board_title, counted, headline_text, is_old
from benchmark.render.ladder import ABOUT
from benchmark.render.notes import BY_WORDING, failures_text, notes, notes_together, reference_notes, wording_notes
from benchmark.render.retention import filled_columns, retention_notes
from benchmark.scoring import COMPONENTS
from benchmark.scoring.remarks import Remark
from benchmark.viewer.charts import keyed_references, lift_interval, reference_lines
from benchmark.viewer.compaction_data import run_infos
from benchmark.viewer.ladder_data import ladder_infos
from benchmark.viewer.page_data import NO_ANSWER, Gathered, Shown, words
from benchmark.viewer.page_records import (
    BoardColumn,
    BoardInfo,
    ComponentInfo,
    Detail,
    FigureInfo,
    IdentityGroup,
    IdentityLine,
    ModelInfo,
    Overview,
    OwnLines,
    PageBoardRow,
    PageInterval,
    ProfileRow,
    RankInfo,
    ReasonCount,
    RemarkInfo,
    RetentionInfo,
    RetentionRow,
    Tile,
)
from benchmark.viewer.validity_data import validity_info
from ctxsift.answers.validation import Status
from ctxsift.backends.baselines import BASELINES
from ctxsift.errors import InputError
from ctxsift.terminal import one_line

_Figure = figures.Figure[Summary]
# An absolute path with more than two parts; what is kept of it are these two.
_PLACE = re.compile(r"(?<![\w.~:/-])(?:/[^\s/,;:'\"]{1,255}){1,40}/([^\s/,;:'\"]{1,255}/[^\s/,;:'\"]{1,255})")
_COVERED = (figures.ANSWERED, figures.PLANNED)
_VERDICTS = (figures.ACCEPTED, figures.SOFT_ACCEPTED, figures.REJECTED)
_DOUBTED = {figures.MEAN_TIME: board.Flag.DISTURBED, figures.P95_TIME: board.Flag.DISTURBED}
# Words of the page that are neither columns nor marks.
_TERMS = {
    "case": "one output of a command, with one question about it; a model answers each case once",
    "gold": "the reference answer to a case, checked by hand against the output",
    "anchor": "a string that the answer must contain, such as a file name, a number or an error code",
    str(Dimension.INTENT): "the kind of answer that a case asks for, e.g. summary, json or exact-lines",
    "easy tier": "the 40 cases with the shortest outputs and the plainest questions; scores on them are higher",
    "scorer": "the version of the scoring rules; only scores of one version can be compared",
    "loop": "the model repeated itself, so generation was stopped",
    "token limit": "the answer was cut off at the maximum number of tokens (see the result's Identity and environment)",
}
# The head of a result: figures, and those that stand below them.
_TILES: dict[_Figure, tuple[_Figure, ...]] = {
    figures.QUALITY_CORE: (),
    figures.RECOVERED: (),
    figures.RAW: (),
    figures.LIFT: (),
    figures.NORM: (),
    figures.COVERAGE: _COVERED,
    figures.MEAN_TIME: (figures.P95_TIME,),
    figures.DECODE_SPEED: (figures.PREFILL_SPEED,),
    figures.SAVED: (),
}


def overview(gathered: Gathered, skipped: Sequence[InputError]) -> Overview:
    """Return what the leaderboard needs; `skipped` are the files that were left out."""
    keys = {shown.result: shown.key for shown in gathered.shown}
    ids = {shown.result: shown.id for shown in gathered.shown}
    rows = [(row, each.references) for each in gathered.boards for row in each.rows]
    return Overview(
        built=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        figures=[_figure_info(figure) for figure in figures.FIGURES],
        columns=[column for column in _columns() if _is_filled(column, [row for row, _ in rows])],
        components=[ComponentInfo(name=component.name, hint=component.hint) for component in COMPONENTS],
        remarks=[RemarkInfo(kind=remark.name.lower(), prefix=remark) for remark in Remark],
        by_wording=BY_WORDING,
        difficulties=list(Difficulty),
        flags={flag: about.meaning for flag, about in board.FLAGS.items()},
        marks={
            board.TIE_MARK: board.TIE_HINT,
            board.REFERENCE_MARK: board.REFERENCE_HINT,
            **_baseline_hints(gathered.boards),
            **_TERMS,
            "ceiling": board.CEILING_HINT,
            "floor": board.FLOOR_HINT,
        },
        rank_hint=board.RANK_HINT,
        results=[
            _board_row(keys[row.result], ids[row.result], row, references, _core_interval(gathered, row.result))
            for row, references in rows
        ],
        boards=[_board(gathered, each, keys) for each in gathered.boards],
        skipped=[_without_places(one_line(str(error))) for error in skipped],
        validity=validity_info(gathered),
        retention=[_retention(each, ids) for each in gathered.retention],
        model_hints=models.HINTS,
        model_columns=[title for title in models.COLUMNS if any(title in _told(row.result) for row, _ in rows)],
        has_choosers=any(row.result.cases and not row.result.is_reference for row, _ in rows),
        probed=run_infos(gathered.probed),
        ladders=(ladders := list(ladder_infos(gathered))),
        ladder_words=ABOUT if ladders else "",
        stressed=bool(gathered.stressed),
    )


def _baseline_hints(boards: Sequence[board.Leaderboard]) -> dict[str, str]:
    """Return what each baseline of the boards answers, by the label of its row."""
    rows = {row.name: row.label for each in boards for row in each.references.rows}
    hints = {name: inspect.getdoc(baseline) for name, baseline in BASELINES.items()}
    return {label: hint.splitlines()[0] for name, label in rows.items() if (hint := hints.get(name))}


def _told(result: StoredResult) -> dict[str, str]:
    """Return what is known of a model, by title."""
    if result.is_reference:
        return {}
    texts = zip(models.TITLES, models.fact_texts(facts_of(result)), strict=True)
    return {title: text for title, text in texts if text != models.NOT_KNOWN}


def _model_info(result: StoredResult) -> ModelInfo | None:
    if result.is_reference:
        return None
    facts = facts_of(result)
    sizes = dict(
        zip(
            models.COLUMNS[1:],
            (facts.file.parameters, facts.file.size_bytes, facts.memory_bytes),
            strict=True,
        )
    )
    return ModelInfo(
        quantization=one_line(facts.file.quantization),
        figures={title: size for title, size in sizes.items() if size is not None},
        texts={title: text for title, text in _told(result).items() if title in models.COLUMNS},
    )


def _board(gathered: Gathered, about: board.Leaderboard, keys: Mapping[StoredResult, int]) -> BoardInfo:
    return BoardInfo(
        about=board_title(about),
        results=[keys[row.result] for row in about.rows],
        best=[keys[row.result] for row in about.headline.best],
        beaten_by={
            str(keys[result]): sorted(keys[other] for other in better) for result, better in about.beaten_by.items()
        },
        headline=headline_text(about),
        references=[_reference_row(*keyed) for keyed in keyed_references(gathered, about).items()],
        reference_note="; ".join(reference_notes(about)),
        lines=reference_lines(gathered, about),
        notes=[one_line(note) for note in notes_together(about)],
        is_old=is_old(about),
    )


def _figure_info(figure: _Figure) -> FigureInfo:
    info = _column_info(figure.key, figure.title, figure.hint, figure.form)
    doubted = _DOUBTED.get(figure, "")
    return msgspec.structs.replace(
        info, rounds_down=figure is figures.COVERAGE, doubted_by=doubted, needs_all=figure is figures.NORM
    )


def _column_info(key: str, title: str, hint: str, form: figures.Form) -> FigureInfo:
    return FigureInfo(
        key=key,
        title=title,
        hint=hint,
        digits=form.digits,
        scale=form.scale,
        signed=form.signed,
        suffix=form.suffix,
    )


def _columns() -> Iterator[BoardColumn]:
    """Yield a column for each figure, where narrow tables put several into one; verdicts belong together.

    The figure that ranks compare comes first.
    """
    yield BoardColumn(title=figures.QUALITY_CORE.title, figures=[figures.QUALITY_CORE.key], drawn=True)
    for column in figures.COLUMNS:
        if column.figures == _VERDICTS:
            yield BoardColumn(title=column.title, figures=[figure.key for figure in _VERDICTS])
            continue
        for figure in (figures.COVERAGE,) if column.figures == _COVERED else column.figures:
            if figure is not figures.QUALITY_CORE:
                yield BoardColumn(title=figure.title, figures=[figure.key])


def _is_filled(column: BoardColumn, rows: Sequence[board.BoardRow]) -> bool:
    # A column that nobody fills only takes room.
    return any(key in _figures(row.summary) for key in column.figures for row in rows)


def _figures(summary: Summary) -> dict[str, float]:
    found = {figure.key: figure.read(summary) for figure in figures.FIGURES}
    return {key: value for key, value in found.items() if value is not None}


def _reference_row(key: int, row: ReferenceRow) -> PageBoardRow:
    told = {figure.key: figure.of_reference(row) for figure in figures.FIGURES}
    return PageBoardRow(
        key=key,
        id="",
        label=row.label,
        scenario="",
        track=Track.CONTROL,
        phase="",
        model=one_line(row.name),
        timestamp="",
        is_reference=True,
        is_yardstick=True,
        answered=row.case_count,
        rank=None,
        flags=[],
        notes=[],
        figures={name: value for name, value in told.items() if value is not None},
        intervals={},
        lines=None,
    )


def _core_interval(gathered: Gathered, result: StoredResult) -> Ends | None:
    """Return the interval of the quality core, as a share of 1."""
    if not result.cases:
        return None
    _, ends = gathered.comparisons.core(result)
    return figures.wide((ends.low / 100, ends.high / 100)) if ends else None


def _board_row(
    key: int, run_id: str, row: board.BoardRow, references: References, core_interval: Ends | None
) -> PageBoardRow:
    result, summary = row.result, row.summary
    scenario, reference = result.record.scenario, summary.reference
    intervals = {figure.key: _interval(figure.interval(summary)) for figure in figures.FIGURES}
    intervals[figures.QUALITY_CORE.key] = _interval(core_interval)
    return PageBoardRow(
        key=key,
        id=run_id,
        label=row.label,
        scenario=one_line(scenario.name),
        track=scenario.track,
        phase=one_line(scenario.phase),
        model=_without_places(one_line(scenario.model)),
        timestamp=result.timestamp,
        is_reference=result.is_reference,
        is_yardstick=result in references.results,
        answered=summary.case_count,
        rank=None if row.rank is None else RankInfo(place=row.rank.place, tied=row.rank.tied),
        flags=list(row.flags),
        # The view lists failures with links to the answers.
        notes=[one_line(note) for note in notes(result) if note != failures_text(summary)],
        figures=_figures(summary),
        intervals={name: ends for name, ends in intervals.items() if ends},
        lines=OwnLines(floor=reference.floor_score, ceiling=reference.ceiling_score) if reference else None,
        part=_part(row),
        wording_note="; ".join(wording_notes(result)),
        about_model=_model_info(result),
        failures=[] if result.is_reference else _failures(summary),
    )


def _part(row: board.BoardRow) -> str:
    planned = row.summary.planned_count
    if board.Flag.INCOMPLETE not in row.flags or planned is None:
        return ""
    return f"{row.summary.case_count} of {counted(planned, 'case')}"


def _retention(kept: RetentionBoard, ids: Mapping[StoredResult, str]) -> RetentionInfo:
    columns = filled_columns(kept)
    names = {row.label: ids[row.result] for row in kept.board.rows}
    return RetentionInfo(
        about=board_title(kept.board),
        columns=[_column_info(column.title, column.title, column.hint, column.form) for column in columns],
        rows=[
            RetentionRow(
                label=one_line(row.label),
                id=names.get(row.label, ""),
                is_reference=row.is_reference,
                is_ceiling=row.is_ceiling,
                is_blind=row.is_blind,
                figures={c.title: value for c in columns if (value := c.read(row)) is not None},
                net_saved=_interval(row.net_saved_interval),
            )
            for row in kept.rows
        ],
        notes=[one_line(note) for note in retention_notes(kept)],
    )


def _interval(ends: Ends | None) -> PageInterval | None:
    return PageInterval(low=ends[0], high=ends[1]) if ends else None


# One result ---------------------------------------------------------------------------------------------------------


def detail(shown: Shown) -> Detail:
    """Return what the view of one result needs."""
    record = shown.result.record
    return Detail(
        has_run=record.run is not None,
        # The scale of an incomplete run has another zero than that of its neighbours.
        tiles=[
            _tile(figure, below, record.summary)
            for figure, below in _TILES.items()
            if figure is not figures.NORM or record.complete
        ],
        profile=list(_profile(record.summary)),
        reasons=_reasons(shown),
        identity=_identity(shown.result),
        cases=list(shown.cases),
    )


def _tile(figure: _Figure, below: Sequence[_Figure], summary: Summary) -> Tile:
    told = [each.key for each in below if each.read(summary) is not None]
    note = f"0 is {summary.reference.floor}, 100 is gold" if figure is figures.NORM and summary.reference else ""
    return Tile(figure=figure.key, interval=_interval(_tile_interval(figure, summary)), below=told, note=note)


def _tile_interval(figure: _Figure, summary: Summary) -> Ends | None:
    # Tables have no room for these two.
    if figure is figures.RAW and summary.raw_view:
        return summary.raw_view.intervals.final_score
    if figure is figures.LIFT:
        return lift_interval(summary)
    return figure.interval(summary)


_CASE_SCORE_HINT = "the score is 0.8 times the mean case score plus 0.2 times the 10th percentile"


def _profile(summary: Summary) -> Iterator[ProfileRow]:
    recovered, raw = summary.recovered, summary.raw_view
    if recovered is None:
        return

    def row(title: str, hint: str, read: Callable[[ViewSummary], float], *, is_component: bool = False) -> ProfileRow:
        told = None if raw is None else read(raw)
        return ProfileRow(title=title, hint=hint, recovered=read(recovered), raw=told, is_component=is_component)

    for component in COMPONENTS:
        yield row(component.name, component.hint, attrgetter(f"avg_{component.name}"), is_component=True)
    yield row("case score, mean", _CASE_SCORE_HINT, lambda view: view.avg_case_score)
    yield row("case score, 10th percentile", _CASE_SCORE_HINT, lambda view: view.p10_case_score)
    yield row("latency factor", "what latency leaves of the score", lambda view: view.latency_factor)


def _reasons(shown: Shown) -> list[ReasonCount]:
    """Return why answers were rejected, most frequent first, then how generation ended badly."""
    rejected = words(Status.REJECTED)
    counts = Counter(
        flag for case in shown.cases if case.verdict == rejected and case.recovered for flag in case.recovered.flags
    )
    return [
        *(
            ReasonCount(reason=one_line(reason), count=count, of_generation=reason == NO_ANSWER)
            for reason, count in counts.most_common()
        ),
        *_failures(shown.result.record.summary),
    ]


def _failures(summary: Summary) -> list[ReasonCount]:
    """Return how generation ended badly, and how often."""
    return [
        ReasonCount(reason=one_line(words(name)), count=count, of_generation=True)
        for name, count in summary.model_failure_counts.items()
    ]


def _identity(result: StoredResult) -> list[IdentityGroup]:
    record = result.record
    # The cases of the run stand in a table of their own.
    run = record.run and msgspec.structs.replace(record.run, case_ids=[])
    told = _told(result)
    groups = {
        # Where anything is known, it says what is not.
        "Model": {title: told.get(title, models.NOT_KNOWN) for title in models.TITLES} if told else {},
        "Scenario": record.scenario,
        "Run": run,
        "Loading": record.warmup,
        "File": {"path": str(result.path)},
    }
    facts = {heading: list(_facts(msgspec.to_builtins(about))) for heading, about in groups.items()}
    return [IdentityGroup(heading=heading, lines=lines) for heading, lines in facts.items() if lines]


def _facts(value: Any, path: tuple[str, ...] = ()) -> Iterator[IdentityLine]:
    """Yield a nested record as lines; what is empty says nothing."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _facts(inner, (*path, words(str(name))))
        return
    if isinstance(value, list | tuple):
        content = ", ".join(item if isinstance(item, str) else json.dumps(item) for item in value)
    else:
        content = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    if content:
        yield IdentityLine(label=one_line(" ".join(path)), content=_without_places(one_line(content)))


def _without_places(text: str) -> str:
    """Return a text with the ends of absolute paths alone: a page is sent on, and where it was made is nobody's."""
    return _PLACE.sub(r"…/\1", text)

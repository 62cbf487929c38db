"""What commands print with --json: figures unrounded, keys that stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from benchmark.analysis.comparison import ComparedFigure, ComparedGroup, Comparison, DifferenceVerdict, Measure
from benchmark.analysis.figures import FIGURES
from benchmark.analysis.gate import Gate
from benchmark.analysis.leaderboard import Flag, Leaderboard
from benchmark.analysis.model_facts import ModelFacts, facts_of
from benchmark.analysis.ranking import Rank, Ranking
from benchmark.analysis.speed import Speed
from benchmark.record.base import Interval as Ends
from benchmark.record.base import known, to_json
from benchmark.record.read import labels
from benchmark.render.figures import board_title, headline_text, rank_text
from benchmark.render.notes import comparison_notes, notes, notes_together, reference_notes
from benchmark.render.pair import gate_reason, no_verdict
from benchmark.statistics import Interval
from ctxsift.terminal import one_line


@dataclass(frozen=True)
class _Named:
    label: str
    path: str


@dataclass(frozen=True)
class _GateDocument:
    passed: bool
    reason: str


@dataclass(frozen=True)
class _PairDocument:
    a: _Named
    b: _Named
    shared_cases: int
    only_a: int
    only_b: int
    verdict: DifferenceVerdict | None
    why_no_verdict: str
    figures: tuple[ComparedFigure, ...]
    speed: Speed | None
    wins: int
    losses: int
    ties: int
    passed_only_in_a: tuple[str, ...]
    passed_only_in_b: tuple[str, ...]
    intents: tuple[ComparedGroup, ...]
    warnings: list[str]
    gate: _GateDocument | None


@dataclass(frozen=True)
class _Ranked:
    label: str
    rank: str
    score: float
    case_count: int


@dataclass(frozen=True)
class _PairDifference:
    a: str
    b: str
    value: float
    interval: Interval | None
    p: float


@dataclass(frozen=True)
class _MatrixDocument:
    results: list[_Ranked]
    differences: list[_PairDifference]
    warnings: list[str]


@dataclass(frozen=True)
class _RowDocument:
    label: str
    path: str
    reference: bool
    rank: Rank | None
    flags: tuple[Flag, ...]
    figures: dict[str, float | None]
    intervals: dict[str, Ends]
    judge: Any
    prose: Any
    notes: list[str]
    model: ModelFacts


@dataclass(frozen=True)
class _FigureDocument:
    key: str
    title: str
    hint: str


@dataclass(frozen=True)
class _ReferenceDocument:
    label: str
    name: str
    is_ceiling: bool
    is_floor: bool
    figures: dict[str, float | None]


@dataclass(frozen=True)
class _BoardDocument:
    about: str
    headline: str
    best: list[str]
    results: list[_RowDocument]
    references: list[_ReferenceDocument]
    notes: list[str]


@dataclass(frozen=True)
class _BoardsDocument:
    boards: list[_BoardDocument]
    figures: list[_FigureDocument]


def pair_document(comparison: Comparison, gate: Gate | None) -> Any:
    """Return a comparison as JSON values."""
    pair = comparison.a, comparison.b
    a, b = (_Named(label, str(result.path)) for label, result in zip(labels(pair), pair, strict=True))
    document = _PairDocument(
        a=a,
        b=b,
        shared_cases=len(comparison.shared),
        only_a=comparison.only_a,
        only_b=comparison.only_b,
        verdict=comparison.verdict(Measure.CORE),
        why_no_verdict=no_verdict(comparison),
        figures=comparison.figures,
        speed=comparison.speed,
        wins=comparison.wins,
        losses=comparison.losses,
        ties=comparison.ties,
        passed_only_in_a=comparison.lost,
        passed_only_in_b=comparison.won,
        intents=comparison.intents,
        warnings=comparison_notes(pair),
        gate=_GateDocument(gate.passed, gate_reason(gate)) if gate else None,
    )
    return msgspec.to_builtins(document)


def matrix_document(board: Leaderboard, ranking: Ranking) -> Any:
    """Return each result of a board against each as JSON values."""
    rows = [
        _Ranked(row.label, rank_text(row), score, len(row.result.cases))
        for row, score in zip(board.rows, ranking.scores, strict=True)
    ]
    differences = [
        _PairDifference(board.rows[i].label, board.rows[j].label, found.value, found.interval, found.p)
        for (i, j), found in ranking.differences.items()
    ]
    return msgspec.to_builtins(_MatrixDocument(rows, differences, comparison_notes(ranking.results)))


def boards_document(boards: Sequence[Leaderboard]) -> Any:
    """Return leaderboards as JSON values: figures in the units of result files, by the keys that `figures` tells."""
    figures = [_FigureDocument(figure.key, figure.title, figure.hint) for figure in FIGURES]
    return msgspec.to_builtins(_BoardsDocument([_board(board) for board in boards], figures))


def _board(board: Leaderboard) -> _BoardDocument:
    return _BoardDocument(
        about=board_title(board),
        headline=headline_text(board),
        best=[row.label for row in board.headline.best],
        results=[
            _RowDocument(
                label=row.label,
                path=str(row.result.path),
                reference=row.result.is_reference,
                rank=row.rank,
                flags=row.flags,
                figures={figure.key: figure.read(row.summary) for figure in FIGURES},
                intervals={f.key: ends for f in FIGURES if (ends := f.interval(row.summary))},
                judge=to_json(known(row.result.record.judge)),
                prose=to_json(known(row.summary.prose)),
                notes=notes(row.result),
                model=facts_of(row.result),
            )
            for row in board.rows
        ],
        references=[
            _ReferenceDocument(
                label=row.label,
                name=one_line(row.name),
                is_ceiling=row.is_ceiling,
                is_floor=row.is_floor,
                figures={figure.key: figure.of_reference(row) for figure in FIGURES},
            )
            for row in board.references.rows
        ],
        notes=notes_together(board) + reference_notes(board),
    )

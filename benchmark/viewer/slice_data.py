"""Slices of each leaderboard, as records of the page: what results score on the cases that have something in common."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.analysis.leaderboard import Leaderboard
from benchmark.analysis.slices import FEW_CAPTURES, BoardSlice, Facet, SliceResult, parts_of, values_of
from benchmark.render.figures import board_title
from benchmark.viewer.page_data import MOST_COMPARED, Gathered, questions_of
from benchmark.viewer.page_records import BoardSlices, PageInterval, RankInfo, SliceInfo, SlicePack, SliceRow
from ctxsift.terminal import one_line

# More than anybody reads.
_DIGITS = 3


def slice_pack(gathered: Gathered) -> SlicePack:
    """Return the slices of each board; those of few captures, and boards of very many results, are left to `report`."""
    return SlicePack(boards=[_board(gathered, board) for board in gathered.boards], fewest=FEW_CAPTURES)


def _board(gathered: Gathered, board: Leaderboard) -> BoardSlices:
    slices = list(_slices(gathered, board)) if len(board.rows) <= MOST_COMPARED else []
    return BoardSlices(about=board_title(board), slices=slices)


def _slices(gathered: Gathered, board: Leaderboard) -> Iterator[SliceInfo]:
    keys = {shown.result: shown.key for shown in gathered.shown}
    members = [row.result for row in board.rows if not row.result.is_reference]
    questions = {each.case_id: each for each in questions_of(gathered, board).values()}
    told = {facet for facet in Facet if values_of(facet, questions.values())}
    # Families say much the same as intents, which published files do not tell.
    for facet in (facet for facet in Facet if facet is not Facet.FAMILY or Facet.INTENT not in told):
        for part in parts_of(board, questions, facet, baselines=True, fewest=FEW_CAPTURES):
            # One part with all cases is the board.
            if part.case_count < len(questions):
                yield _info(facet, part, [keys[result] for result in members])


def _info(facet: Facet, part: BoardSlice, keys: list[int]) -> SliceInfo:
    return SliceInfo(
        facet=facet,
        name=one_line(part.value),
        cases=part.case_count,
        captures=part.captures,
        floor=f"{one_line(part.floor[0])}, {part.floor[1]:.1f}" if part.floor else "",
        rows=[_row(key, placed) for key, placed in zip(keys, part.placed, strict=True)],
    )


def _row(key: int, placed: SliceResult) -> SliceRow:
    rank = placed.rank
    gain, gain_ends = placed.gain or (None, None)
    return SliceRow(
        key=key,
        cases=placed.case_count,
        core=None if placed.core is None else round(placed.core, _DIGITS),
        interval=_interval((placed.interval.low, placed.interval.high) if placed.interval else None),
        gain=None if gain is None else round(gain, _DIGITS),
        gain_interval=_interval(gain_ends),
        rank=None if rank is None else RankInfo(place=rank.place, tied=rank.tied),
    )


def _interval(ends: tuple[float, float] | None) -> PageInterval | None:
    return PageInterval(low=round(ends[0], _DIGITS), high=round(ends[1], _DIGITS)) if ends else None

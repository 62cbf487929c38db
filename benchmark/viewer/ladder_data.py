"""Models at several quantizations, as records of the page."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.analysis.ladder import Rung, ladders
from benchmark.render.figures import board_title
from benchmark.render.ladder import ladder_notes, ladder_sentence, verdict_text
from benchmark.render.models import bytes_text
from benchmark.statistics import Interval
from benchmark.viewer.page_data import Gathered
from benchmark.viewer.page_records import LadderInfo, LadderRung, PageInterval
from ctxsift.terminal import one_line

# More than anybody reads.
_DIGITS = 3


def ladder_infos(gathered: Gathered) -> Iterator[LadderInfo]:
    """Yield the models that a board holds at several quantizations, board by board."""
    keys = {shown.result: shown.key for shown in gathered.shown}
    for board in gathered.boards:
        for ladder in ladders(board, gathered.comparisons):
            yield LadderInfo(
                about=board_title(board),
                model=one_line(ladder.model),
                words=ladder_sentence(ladder),
                rungs=[_rung(keys[rung.row.result], rung) for rung in ladder.rungs],
                notes=[one_line(note) for note in ladder_notes(ladder)],
            )


def _rung(key: int, rung: Rung) -> LadderRung:
    difference = rung.difference
    return LadderRung(
        key=key,
        quantization=one_line(rung.quantization),
        size=bytes_text(rung.size_bytes),
        score=round(rung.score, _DIGITS),
        interval=_interval(rung.interval),
        gain=None if difference is None else round(difference.value, _DIGITS),
        gain_interval=_interval(difference.interval) if difference else None,
        verdict=verdict_text(rung),
    )


def _interval(ends: Interval | None) -> PageInterval | None:
    return PageInterval(low=round(ends.low, _DIGITS), high=round(ends.high, _DIGITS)) if ends else None

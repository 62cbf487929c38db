"""Quantizations of one model, in words, as a table and as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from rich.console import Console

from benchmark.analysis.comparison import DifferenceVerdict, verdict_of
from benchmark.analysis.figures import MEAN_TIME, Form
from benchmark.analysis.ladder import NOT_QUANTIZED, Ladder, Rung
from benchmark.analysis.leaderboard import FLAGS, Flag, Leaderboard
from benchmark.analysis.model_facts import facts_of
from benchmark.render import models
from benchmark.render.figures import MISSING, board_title, figure_text, form_text, interval_text, marked
from benchmark.render.notes import comparison_notes
from benchmark.render.terminal import print_table
from benchmark.statistics import Difference, Interval
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line

_SCORE, _GAIN = Form(), Form(signed=True)
_UNQUANTIZED = "the unquantized model"
_QUANTIZATION, _, _FILE, _MEMORY = models.COLUMNS
_TITLES = (_QUANTIZATION, "result", "against the first", "", "quality core", _FILE, _MEMORY, MEAN_TIME.title)
ABOUT = (
    "The biggest stands first, and the others are measured against it on the same cases (quality core, 95% interval "
    "in brackets). Where both results have a rank, interval and verdict are corrected for all pairs of the "
    "leaderboard, as ranks are."
)
NO_LADDER = "these results contain no model at several quantizations"
_TOLD = {
    DifferenceVerdict.WORSE: ("is worse than", "are worse than"),
    DifferenceVerdict.BETTER: ("is better than", "are better than"),
    DifferenceVerdict.CANNOT_TELL: ("cannot be told apart from", "cannot be told apart from"),
    DifferenceVerdict.EQUAL: ("scores the same as", "score the same as"),
    DifferenceVerdict.TOO_FEW: ("has too few raw outputs to be told from", "have too few raw outputs to be told from"),
}
_DECIDED = (DifferenceVerdict.WORSE, DifferenceVerdict.BETTER)


def verdict_text(rung: Rung) -> str:
    """Return what the difference says of a rung; empty for the biggest, and where there is none."""
    return "" if rung.difference is None else verdict_of(rung.difference).removeprefix("B ")


def ladder_sentence(ladder: Ladder) -> str:
    """Return in a sentence which quantizations lose against the biggest."""
    top, *others = _names(ladder)
    parts = []
    for verdict, (one, several) in _TOLD.items():
        found = [
            f"{name} (by {form_text(_SCORE, abs(difference.value))} points)" if verdict in _DECIDED else name
            for name, rung in zip(others, ladder.rungs[1:], strict=True)
            if (difference := rung.difference) is not None and verdict_of(difference) is verdict
        ]
        if found:
            subject = " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))
            parts.append(f"{subject} {one if len(found) == 1 else several} {top}")
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _names(ladder: Ladder) -> list[str]:
    """Return what the rungs are called in a sentence: by quantization, and where two share one, by label too."""
    counts = Counter(rung.quantization for rung in ladder.rungs)
    names = []
    for rung in ladder.rungs:
        name = _UNQUANTIZED if rung.quantization == NOT_QUANTIZED else rung.quantization
        names.append(one_line(name if counts[rung.quantization] == 1 else f"{name} ({rung.row.label})"))
    return names


def ladder_notes(ladder: Ladder) -> list[str]:
    """Return what makes the rungs hard to compare."""
    results = [rung.row.result for rung in ladder.rungs]
    tracks = dict.fromkeys(str(result.track) for result in results)
    engines = dict.fromkeys(filter(None, (facts_of(result).engine for result in results)))
    found = []
    for words, values in (("tracks", tracks), ("engines", engines)):
        if len(values) > 1:
            told = one_line(", ".join(values))
            found.append(f"different {words} ({told}): a difference is not due to the quantization alone")
    return found[:1] + comparison_notes(results)


def gain_text(rung: Rung) -> str:
    """Return the difference from the biggest with its interval; a dash for the biggest."""
    if rung.difference is None:
        return MISSING
    return form_text(_GAIN, rung.difference.value) + interval_text(_GAIN, _ends(rung.difference.interval))


def score_text(rung: Rung) -> str:
    """Return the quality core with its interval."""
    return form_text(_SCORE, rung.score) + interval_text(_SCORE, _ends(rung.interval))


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    return (interval.low, interval.high) if interval else None


def print_ladders(console: Console, boards: Sequence[tuple[Leaderboard, Sequence[Ladder]]]) -> None:
    """Print each ladder of each board: a sentence, a table, and what makes its rungs hard to compare."""
    for board, found in boards:
        for ladder in found:
            title = f"{one_line(ladder.model)}; {board_title(board)}"
            print_table(console, _TITLES, [_cells(rung) for rung in ladder.rungs], title=title)
            for line in (ladder_sentence(ladder), *(f"* {note}" for note in ladder_notes(ladder))):
                console.print(plain_text(line), soft_wrap=True)
            console.print()
    console.print(plain_text(ABOUT), soft_wrap=True)
    raised = {flag for _, found in boards for ladder in found for rung in ladder.rungs for flag in rung.row.flags}
    for mark, meaning in ((FLAGS[flag].mark, FLAGS[flag].meaning) for flag in Flag if flag in raised):
        if mark:
            console.print(plain_text(f"{mark} {meaning}"), soft_wrap=True)


def _cells(rung: Rung) -> list[str]:
    memory = models.bytes_text(facts_of(rung.row.result).memory_bytes) or MISSING
    return [
        one_line(rung.quantization),
        one_line(marked(rung.row)),
        gain_text(rung),
        verdict_text(rung),
        score_text(rung),
        models.bytes_text(rung.size_bytes) or MISSING,
        memory,
        figure_text(MEAN_TIME, rung.row.summary),
    ]


@dataclass(frozen=True)
class _RungDocument:
    label: str
    quantization: str
    size_bytes: int | None
    score: float
    interval: Interval | None
    difference: Difference | None
    verdict: str


@dataclass(frozen=True)
class _LadderDocument:
    board: str
    model: str
    sentence: str
    rungs: list[_RungDocument]
    notes: list[str]


def ladders_document(boards: Sequence[tuple[Leaderboard, Sequence[Ladder]]]) -> Any:
    """Return the ladders as JSON values, figures unrounded."""
    found = [
        _LadderDocument(
            board=board_title(board),
            model=ladder.model,
            sentence=ladder_sentence(ladder),
            rungs=[
                _RungDocument(
                    label=rung.row.label,
                    quantization=rung.quantization,
                    size_bytes=rung.size_bytes,
                    score=rung.score,
                    interval=rung.interval,
                    difference=rung.difference,
                    verdict=verdict_text(rung),
                )
                for rung in ladder.rungs
            ],
            notes=ladder_notes(ladder),
        )
        for board, ladders_of_it in boards
        for ladder in ladders_of_it
    ]
    return msgspec.to_builtins(found)

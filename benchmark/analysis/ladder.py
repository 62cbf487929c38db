"""Ladders: results of one model at several quantizations, and what each loses against the biggest."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from benchmark.analysis.comparison import Comparisons
from benchmark.analysis.leaderboard import BoardRow, Leaderboard
from benchmark.analysis.model_facts import facts_of
from benchmark.matrix import Scenario, Track
from benchmark.record.read import StoredResult
from benchmark.statistics import Difference, Interval
from ctxsift.backends.packaged import known_model

NOT_QUANTIZED = "not quantized"
_NONE = "none"
# Weights that nobody quantized take 16 bits each, unless they say otherwise.
_FULL = 16
_BITS = re.compile(r"[0-9]{1,2}")
# As names of files have it: Q4_K_M, UD-Q4_K_XL, IQ3_XXS, bf16.
_PRECISION = re.compile(
    r"(?<![a-z0-9])(?:i?q[1-8](?:[-_](?:[01]|k|xxs|xs|nl))?(?:[-_](?:xl|[sml]))?|(?:b?f|fp)16|f32|mxfp4)(?![a-z0-9])",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[\s/_-]")
# Words of names that say how a file was made, not which model it is.
_OF_FILES = frozenset({"gguf", "awq", "gptq", "ud", "i1", "imat", "imatrix"})


@dataclass(frozen=True)
class Rung:
    """One quantization of a model.

    Attributes:
        quantization: e.g. `Q4_K_M`, or NOT_QUANTIZED.
        size_bytes: of the file of weights; None where the result does not tell it.
        score: the quality core, 0 to 100, with its 95% interval.
        difference: this score minus that of the biggest; None for the biggest. Where both results have a rank, it is
            the difference that ranks them, so that no verdict contradicts the leaderboard.

    """

    row: BoardRow
    quantization: str
    size_bytes: int | None
    score: float
    interval: Interval | None
    difference: Difference | None


@dataclass(frozen=True)
class Ladder:
    """One model on one leaderboard; the biggest first, at least two quantizations."""

    model: str
    rungs: tuple[Rung, ...]


def ladders(board: Leaderboard, comparisons: Comparisons | None = None) -> tuple[Ladder, ...]:
    """Return the models of a board that it holds at several quantizations, in the order of the board.

    Results are of one model if their files of weights have the same name, apart from the quantization, or if the
    headers of these files say the same. They must read the same: a model that sees chosen lines is another rung of
    another ladder.
    """
    comparisons = comparisons or Comparisons()
    ranked = _ranked(board)
    found = []
    for rows in _of_one_model(board):
        told = [(row, quantization_of(row.result)) for row in rows]
        if len({quantization for _, quantization in told}) > 1:
            told.sort(key=_size, reverse=True)
            top = told[0][0]
            rungs = tuple(_rung(row, quantization, top, comparisons, ranked) for row, quantization in told)
            found.append(Ladder(_title(top.result), rungs))
    return tuple(found)


def quantization_of(result: StoredResult) -> str:
    """Return the quantization of a result's weights: as the header says, else the file's name, else the row."""
    scenario, header = result.record.scenario, facts_of(result).file.quantization
    if header:
        return header
    if named := _PRECISION.search(_file_name(scenario)):
        return named[0].upper().replace("-", "_")
    return NOT_QUANTIZED if scenario.quantization == _NONE else scenario.quantization


def _size(told: tuple[BoardRow, str]) -> tuple[int, int, int]:
    row, quantization = told
    bits = _BITS.search(quantization)
    return int(bits[0]) if bits else _FULL, facts_of(row.result).file.size_bytes or 0, len(row.result.cases)


def _rung(
    row: BoardRow,
    quantization: str,
    top: BoardRow,
    comparisons: Comparisons,
    ranked: Mapping[tuple[StoredResult, StoredResult], Difference],
) -> Rung:
    score, interval = comparisons.core(row.result)
    pair = top.result, row.result
    difference = None if row is top else ranked.get(pair) or comparisons.difference(*pair, timed=False)
    return Rung(row, quantization, facts_of(row.result).file.size_bytes, score, interval, difference)


def _ranked(board: Leaderboard) -> dict[tuple[StoredResult, StoredResult], Difference]:
    """Return the differences that rank results, both ways round."""
    results, found = board.ranking.results, {}
    for (i, j), difference in board.ranking.differences.items():
        found[results[i], results[j]] = difference
        found[results[j], results[i]] = difference.turned
    return found


def _of_one_model(board: Leaderboard) -> list[list[BoardRow]]:
    """Return the rows of models that ran here, together where they are of one model."""
    groups: list[tuple[set[Hashable], list[BoardRow]]] = []
    for row in board.rows:
        if row.result.is_reference or not row.result.cases or row.result.track not in (Track.CPU, Track.GPU):
            continue
        names, rows = set(_names(row.result)), [row]
        for group in [group for group in groups if group[0] & names]:
            groups.remove(group)
            names, rows = group[0] | names, group[1] + rows
        groups.append((names, rows))
    return [rows for _, rows in groups]


def _names(result: StoredResult) -> Iterator[Hashable]:
    """Yield what a result calls its model: by its file's name and by its header, with what it read."""
    scenario, header = result.record.scenario, facts_of(result).file
    read = scenario.preselection, scenario.before
    if name := _plain(_file_name(scenario)):
        yield name, read
    if header.base_model and (name := _plain(header.name)):
        yield name, _plain(header.base_model), read


def _file_name(scenario: Scenario) -> str:
    packaged = known_model(scenario.model)
    path = scenario.gguf_filename or (packaged.filename if packaged else scenario.model)
    return path.rsplit("/", 1)[-1]


def _title(result: StoredResult) -> str:
    name = _PRECISION.sub("", _file_name(result.record.scenario).removesuffix(".gguf").removesuffix("-GGUF"))
    return name.strip(" -_.") or facts_of(result).file.name


def _plain(name: str) -> tuple[str, ...]:
    """Return the words of a name that say which model it is."""
    words = _PARTS.split(_PRECISION.sub("", name.casefold().removesuffix(".gguf")))
    return tuple(word for word in words if word.strip(".") and word not in _OF_FILES)

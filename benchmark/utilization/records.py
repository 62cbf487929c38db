"""What is asked, what is decided of each chunk, and the figures; the last two as records that become JSON."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from benchmark.record.base import Interval, Ratio, Record, WithIntervals
from benchmark.statements.model import Statement

BINS = 10


@dataclass(frozen=True)
class DataRow:
    """A row of the data.

    Attributes:
        number: of the row, from 1.
        where: file and row, for errors.
        contexts: the chunks, best rank first; none where nothing was retrieved.
        labels: given verdicts, one a chunk.
        statements: what a right answer says, where that is known.

    """

    number: int
    where: str
    question: str
    contexts: tuple[str, ...]
    answer: str
    labels: tuple[int, ...] | None = None
    statements: tuple[Statement, ...] = ()


class RowState(StrEnum):
    """Whether a row has a utilization."""

    DEFINED = "defined"
    # No chunk is relevant, or there is none: there is nothing to rank.
    UNDEFINED = "undefined"
    # A judge gave no verdict on some chunk.
    UNSCORED = "unscored"


class ChunkVerdict(Record, frozen=True):
    """Whether an answer needed a chunk.

    Attributes:
        relevant: 1 or 0; None when a judge gave no verdict.
        reason: in a few words.
        sentence: of the answer, that the chunk supports; or the statement that it says.

    """

    relevant: int | None
    reason: str
    sentence: str | None = None


class RowUtilization(Record, frozen=True):
    """The figures of one row.

    Attributes:
        chunks: how many count: all, or K.
        relevant: how many of these are relevant.
        precision: relevant / chunks; None where the row is unscored or has no chunk.

    """

    row: int
    question: str
    state: RowState
    utilization: Ratio | None
    precision: Ratio | None
    chunks: int
    relevant: int
    verdicts: list[ChunkVerdict]


class Spread(WithIntervals, frozen=True):
    """How the defined utilizations lie.

    Attributes:
        deviation: the standard deviation of the sample (n - 1); None for a single value.
        interval: of the mean, 95%, by bootstrap; rows over the same chunks are drawn together. None for fewer than
            five sets of chunks.

    """

    mean: Ratio
    median: Ratio
    lowest: Ratio
    quartile_1: Ratio
    quartile_3: Ratio
    highest: Ratio
    deviation: float | None
    interval: Interval | None


class RiskSign(Record, frozen=True):
    """A figure that is beyond its threshold, in a sentence."""

    figure: str
    value: float
    threshold: float
    text: str


class Utilization(Record, frozen=True):
    """The figures of a data set.

    Attributes:
        source: file, or how the rows came about.
        verdicts_by: who decided what is relevant.
        k: ranks that count; None for all.
        count, undefined, unscored: rows in each state.
        unscored_share: of all rows.
        spread: over the defined rows; None without any.
        mean_with_zeros: the mean with 0 for undefined rows, as other libraries report it.
        mean_precision: over the rows with chunks that are not unscored.
        histogram: defined rows in ten bins of equal width from 0 to 1; 1 belongs to the last.

    """

    source: str
    verdicts_by: str
    k: int | None
    count: int
    undefined: int
    unscored: int
    spread: Spread | None
    mean_with_zeros: Ratio | None
    mean_precision: Ratio | None
    histogram: list[int]
    warnings: list[RiskSign]
    rows: list[RowUtilization]
    unscored_share: Ratio = 0.0

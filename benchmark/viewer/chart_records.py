"""What pictures are drawn from, in the page and in files: the rows of each data set that specifications name."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from benchmark.viewer.page_records import PageRecord

# A field that is in no table: it places what is drawn.
UNLISTED = Meta(description="not in tables")


class ChartRow(PageRecord, frozen=True, kw_only=True, omit_defaults=False):
    """A row of a data set; its fields are the columns of a table, too, under their names unless a title is given."""

    key: Annotated[int, UNLISTED]
    label: Annotated[str, Meta(title="result")]
    track: str


class Point(ChartRow, frozen=True, kw_only=True):
    """A result.

    Attributes:
        latency: `clean`, `disturbed` or `unknown`.
        front: it may be on the line of the best: it has a rank, and its time was not disturbed.
        name: what stands beside it; empty where there is no room.

    """

    core: Annotated[float | None, Meta(title="quality core")]
    low: Annotated[float | None, Meta(title="core, low")]
    high: Annotated[float | None, Meta(title="core, high")]
    score: Annotated[float | None, Meta(title="recovered")]
    raw: float | None
    lift: float | None
    lift_low: float | None
    lift_high: float | None
    seconds: Annotated[float | None, Meta(title="mean s")]
    complete: bool
    latency: str
    front: Annotated[bool, UNLISTED]
    name: Annotated[str, UNLISTED]


class Cell(ChartRow, frozen=True, kw_only=True):
    """The mean case score, 0 to 100, of a result in one group of cases; `row` and `column` say where it is drawn.

    Attributes:
        captures: raw outputs that the cases are about; where the file does not tell them, as many as cases.

    """

    dimension: Annotated[str, UNLISTED]
    row: Annotated[str, UNLISTED]
    column: Annotated[str, UNLISTED]
    group: str
    score: Annotated[float, Meta(title="mean case score")]
    low: float | None
    high: float | None
    cases: int
    captures: int


class VerdictCount(ChartRow, frozen=True, kw_only=True):
    """How many cases of a result came to a verdict; `order` is the verdict's place."""

    verdict: str
    count: int
    order: Annotated[int, UNLISTED]


class Bin(ChartRow, frozen=True, kw_only=True):
    """How many case scores of a result lie in a range."""

    start: Annotated[float, Meta(title="from")]
    end: Annotated[float, Meta(title="to")]
    cases: int
    share: float


class Tail(ChartRow, frozen=True, kw_only=True):
    """The 10th percentile of the case scores of a result."""

    p10: Annotated[float, Meta(title="10th percentile")]


class Times(ChartRow, frozen=True, kw_only=True):
    """Percentiles of the generation time of a result, in seconds; `latency` as in `Point`."""

    p5: Annotated[float, Meta(title="5%")]
    p25: Annotated[float, Meta(title="25%")]
    p50: Annotated[float, Meta(title="median")]
    p75: Annotated[float, Meta(title="75%")]
    p95: Annotated[float, Meta(title="95%")]
    latency: str


class Measured(PageRecord, frozen=True, kw_only=True, omit_defaults=False):
    """A figure of how far scores can be trusted, of no result.

    Attributes:
        is_whole: it is taken over the whole corpus; the others are over answers of known truth.
        share: of the highest value there can be.
        good_from, good_to: where `share` should lie; None without a bar.
        text: the value as it stands in the picture.

    """

    label: Annotated[str, Meta(title="measure")]
    half: Annotated[str, Meta(title="which cases")]
    value: float
    bar: str
    verdict: str
    count: Annotated[int, Meta(title="over")]
    is_whole: Annotated[bool, UNLISTED]
    share: Annotated[float, UNLISTED]
    good_from: Annotated[float | None, UNLISTED]
    good_to: Annotated[float | None, UNLISTED]
    text: Annotated[str, UNLISTED]


class ChartRows(PageRecord, frozen=True, kw_only=True):
    """The data sets of the pictures, best result first; `cells` holds all dimensions, a picture shows one.

    `measured` is of no result.
    """

    points: list[Point]
    cells: list[Cell]
    verdicts: list[VerdictCount]
    bins: list[Bin]
    tails: list[Tail]
    times: list[Times]
    measured: list[Measured]


class TableColumn(PageRecord, frozen=True, kw_only=True):
    """A column of the table of a data set's figures."""

    field: str
    title: str


class ChartPack(PageRecord, frozen=True, kw_only=True):
    """Everything that pictures are drawn from.

    Attributes:
        specifications: Vega-Lite, by name.
        themes: Vega-Lite configuration, light and dark.
        tables: data set -> columns of the table of its figures.

    """

    specifications: dict[str, dict[str, object]]
    themes: dict[str, dict[str, object]]
    tables: dict[str, list[TableColumn]]
    rows: ChartRows

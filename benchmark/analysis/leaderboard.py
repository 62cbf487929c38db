"""The leaderboard as data: columns, ranks, flags and headline, defined once. `render` and the page write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from benchmark.analysis.comparison import Comparisons
from benchmark.analysis.ranking import Rank, rank_results
from benchmark.record.base import Interval
from benchmark.record.read import StoredResult, labels
from benchmark.record.summary import Latency, Summary


@dataclass(frozen=True)
class Form:
    """How a figure is written: `value * scale`, rounded to `digits`, with its sign if `signed`, then `suffix`."""

    digits: int = 1
    scale: float = 1.0
    signed: bool = False
    suffix: str = ""


@dataclass(frozen=True)
class Figure:
    """One number of a summary.

    Attributes:
        key: its name on the page and in addresses.
        read: returns it in the units of the record; None where the file does not tell it.
        interval: returns its 95 % interval, if it has one.

    """

    key: str
    title: str
    hint: str
    read: Callable[[Summary], float | None]
    form: Form = Form()
    interval: Callable[[Summary], Interval | None] = lambda _: None


def _latency(read: Callable[[Latency], float | None]) -> Callable[[Summary], float | None]:
    return lambda summary: None if summary.latency is None else read(summary.latency)


_SECONDS = Form(digits=2, scale=0.001)
_COUNT = Form(digits=0)
_SHARE = Form(digits=0, scale=100, suffix="%")

ANSWERED = Figure("answered", "answered", "cases whose answer could be scored", lambda s: s.case_count, _COUNT)
PLANNED = Figure(
    "planned",
    "planned",
    "cases in the run",
    lambda s: s.case_count if s.planned_count is None else s.planned_count,
    _COUNT,
)
COVERAGE = Figure(
    "covered", "covered", "share of the planned cases whose answer could be scored", lambda s: s.coverage, _SHARE
)
RECOVERED = Figure(
    "score",
    "recovered",
    "the headline score, 0 to 100, after wrappers were removed, with its 95 % interval",
    lambda s: s.final_score,
    interval=lambda s: s.recovered.intervals.final_score if s.recovered else None,
)
RAW = Figure(
    "raw",
    "raw",
    "the score before wrappers were removed",
    lambda s: s.raw_view.final_score if s.raw_view else None,
)
LIFT = Figure("lift", "lift", "recovered minus raw", lambda s: s.lift, Form(signed=True))
NORM = Figure(
    "norm",
    "norm",
    "0 is the best baseline on the same cases, 100 is gold",
    lambda s: s.standing.normalised_score if s.standing else None,
)
QUALITY_CORE = Figure(
    "core",
    "quality core",
    "the score without latency",
    lambda s: s.recovered.quality_core if s.recovered else None,
    Form(scale=100),
)
ACCEPTED = Figure(
    "accepted", "acc", "answers accepted", lambda s: s.recovered.accepted_count if s.recovered else None, _COUNT
)
SOFT_ACCEPTED = Figure(
    "soft",
    "soft",
    "answers accepted with flaws",
    lambda s: s.recovered.soft_accepted_count if s.recovered else None,
    _COUNT,
)
REJECTED = Figure(
    "rejected", "rej", "answers rejected", lambda s: s.recovered.rejected_count if s.recovered else None, _COUNT
)
THOUGHT = Figure(
    "thought",
    "thought",
    "share of the answers that is leaked reasoning, 0 to 1",
    lambda s: s.recovered.avg_thought_density if s.recovered else None,
    Form(digits=2),
)
RATIO = Figure(
    "ratio",
    "ratio",
    "input tokens per answer token, over usable answers",
    lambda s: s.compression.ratio if s.compression else None,
    Form(digits=0, suffix="x"),
)
SAVED = Figure(
    "saved",
    "saved",
    "share of the input an agent is spared without losing an anchor",
    lambda s: s.compression.tokens_saved_share if s.compression else None,
    _SHARE,
)
MEAN_TIME = Figure(
    "latency",
    "avg s",
    "mean generation time, without loading and waiting",
    _latency(lambda latency: latency.avg_inference_ms),
    _SECONDS,
)
P95_TIME = Figure(
    "p95",
    "p95 s",
    "95th percentile of the generation time",
    _latency(lambda latency: latency.p95_inference_ms),
    _SECONDS,
)
PREFILL_SPEED = Figure(
    "prefill",
    "read t/s",
    "prompt tokens per second, by the engine's own clock",
    _latency(lambda latency: latency.prefill_tokens_per_s),
    _COUNT,
)
DECODE_SPEED = Figure(
    "speed",
    "write t/s",
    "answer tokens per second, by the engine's own clock",
    _latency(lambda latency: latency.decode_tokens_per_s),
    _COUNT,
)
COST = Figure("cost", "cost $", "what the service charged", _latency(lambda latency: latency.cost_usd), Form(digits=3))


@dataclass(frozen=True)
class Column:
    """A column of a narrow table: one figure with its interval, or several with a slash between.

    Attributes:
        title: of the column; the figures in it have titles of their own for the legend.

    """

    title: str
    figures: tuple[Figure, ...]


def _column(*figures: Figure, title: str = "") -> Column:
    return Column(title or figures[0].title, figures)


# What terminal and Markdown show; the page has a column for each figure of PAGE_FIGURES.
COLUMNS = (
    _column(ANSWERED, PLANNED, title="answered"),
    _column(RECOVERED),
    _column(RAW),
    _column(LIFT),
    _column(NORM),
    _column(QUALITY_CORE),
    _column(ACCEPTED, SOFT_ACCEPTED, REJECTED, title="acc/soft/rej"),
    _column(THOUGHT),
    _column(RATIO),
    _column(SAVED),
    _column(MEAN_TIME, P95_TIME, title="avg/p95 s"),
    _column(PREFILL_SPEED, DECODE_SPEED, title="read/write t/s"),
    _column(COST),
)
FIGURES = (*dict.fromkeys(figure for column in COLUMNS for figure in column.figures), COVERAGE)

# What the report of a scenario shows beside its score, with room for words and digits.
AXES = (
    replace(MEAN_TIME, title="generation, mean s"),
    Figure(
        "p50",
        "generation, p50 s",
        "median of the generation time",
        _latency(lambda latency: latency.p50_inference_ms),
        _SECONDS,
    ),
    replace(P95_TIME, title="generation, p95 s"),
    Figure(
        "first",
        "time to first token, mean s",
        "mean time to read the prompt",
        _latency(lambda latency: latency.avg_time_to_first_token_ms),
        _SECONDS,
    ),
    replace(PREFILL_SPEED, title="prefill tokens/s"),
    replace(DECODE_SPEED, title="decode tokens/s"),
    replace(RATIO, title="input tokens per answer token (usable answers)", form=Form()),
    Figure(
        "spared",
        "tokens saved with all anchors",
        "tokens of the input an agent is spared without losing an anchor",
        lambda s: s.compression.tokens_saved if s.compression else None,
        _COUNT,
    ),
    replace(SAVED, title="... of all input tokens", form=Form(scale=100, suffix="%")),
    replace(COST, title="cost in $", form=Form(digits=4)),
)


class Flag(StrEnum):
    """A mark beside a figure."""

    INCOMPLETE = "incomplete"
    DISTURBED = "disturbed"
    BELOW_FLOOR = "below floor"
    PUBLISHED = "published layout"


@dataclass(frozen=True)
class FlagInfo:
    """What a flag is in a table of characters, and what it says."""

    mark: str
    meaning: str


# The columns before the figures; a place is followed by the tie mark where it is shared.
RANK_TITLE, NAME_TITLE = "rank", "result"
RANK_HINT = "1 + the number of results that are better beyond chance (paired bootstrap, Holm-corrected)"
TIE_MARK, TIE_HINT = "=", "tied with at least one other result (the difference may be chance)"
REFERENCE_MARK, REFERENCE_HINT = "ref", "a row to measure by, not a competitor"
MIXED_CASES = "the results answer different cases: a score covers its own, ranks compare the cases that two share"

FLAGS: dict[Flag, FlagInfo] = {
    Flag.INCOMPLETE: FlagInfo("*", "some planned cases have no answer that could be scored"),
    Flag.DISTURBED: FlagInfo("*", "the machine was disturbed, so its latency cannot be trusted"),
    Flag.BELOW_FLOOR: FlagInfo("!", "not better than the best baseline beyond chance"),
    Flag.PUBLISHED: FlagInfo(
        "", "published layout: other cases, another scorer; a dash marks what the file does not say"
    ),
}


@dataclass(frozen=True)
class BoardRow:
    """One result on the leaderboard.

    Attributes:
        label: tells it from the others.
        rank: None for reference rows and for results without an answer.

    """

    result: StoredResult
    label: str
    rank: Rank | None
    flags: tuple[Flag, ...]

    @property
    def summary(self) -> Summary:
        """Its figures."""
        return self.result.record.summary


@dataclass(frozen=True)
class Headline:
    """What the board comes to.

    Attributes:
        best: the best rows, which cannot be told apart; empty when no model has an answer.
        measured: there are results of models, not only reference rows.
        beats_floor: at least one of them may be better than the best baseline.

    """

    best: tuple[BoardRow, ...]
    measured: bool
    beats_floor: bool


@dataclass(frozen=True)
class Leaderboard:
    """Results, best first.

    Attributes:
        mixed_cases: the results do not all answer the same cases.

    """

    rows: tuple[BoardRow, ...]
    headline: Headline
    mixed_cases: bool

    @property
    def marks(self) -> tuple[tuple[str, str], ...]:
        """The marks that occur beside ranks and names, and what each means."""
        ranks = [row.rank for row in self.rows]
        raised = [flag for flag in Flag if any(flag in row.flags for row in self.rows)]
        meanings: dict[str, list[str]] = {}
        for flag in raised:
            meanings.setdefault(FLAGS[flag].mark, []).append(FLAGS[flag].meaning)
        return (
            *([(TIE_MARK, TIE_HINT)] if any(rank and rank.tied for rank in ranks) else []),
            *([(REFERENCE_MARK, REFERENCE_HINT)] if any(row.result.is_reference for row in self.rows) else []),
            *((mark, ", or ".join(found)) for mark, found in meanings.items() if mark),
        )

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """What tables show, and what it means: ranks, figures, marks."""
        figures = ((figure.title, figure.hint) for column in self.columns for figure in column.figures)
        return ((RANK_TITLE, RANK_HINT), *figures, *self.marks)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that any row fills; the others would only take room."""
        return tuple(
            column
            for column in COLUMNS
            if any(figure.read(row.summary) is not None for row in self.rows for figure in column.figures)
        )


def build_leaderboard(results: Sequence[StoredResult], comparisons: Comparisons | None = None) -> Leaderboard:
    """Rank results, best first, those without any answer last; equal scores by name."""
    ordered = sorted(results, key=_place)
    rivals = [result for result in ordered if result.cases and not result.is_reference]
    ranks = dict(zip(rivals, rank_results(rivals, comparisons=comparisons).ranks, strict=True))
    rows = tuple(
        BoardRow(result, label, ranks.get(result), flags_of(result))
        for result, label in zip(ordered, labels(ordered), strict=True)
    )
    selections = {frozenset(result.cases) for result in results if result.cases}
    return Leaderboard(rows, _headline(rows), mixed_cases=len(selections) > 1)


def _place(result: StoredResult) -> tuple[float, str, str]:
    score = result.record.summary.final_score
    return 1.0 if score is None else -score, result.name, result.timestamp


def flags_of(result: StoredResult) -> tuple[Flag, ...]:
    """Return what must be known of a result beside its figures."""
    record = result.record
    if record.run is None:
        return (Flag.PUBLISHED,)
    found = [] if record.complete else [Flag.INCOMPLETE]
    if result.is_reference:
        return tuple(found)
    if not record.latency_clean:
        found.append(Flag.DISTURBED)
    if record.summary.beats_floor is False:
        found.append(Flag.BELOW_FLOOR)
    return tuple(found)


def _headline(rows: Sequence[BoardRow]) -> Headline:
    ranked = [(row, row.rank) for row in rows if row.rank is not None]
    first = min((rank.place for _, rank in ranked), default=0)
    leaders = [row for row, rank in ranked if rank.place == first]
    # Who shares no case with the best was never compared with it.
    best = [row for row in leaders if row.result.cases.keys() & leaders[0].result.cases.keys()]
    useful = any(Flag.BELOW_FLOOR not in row.flags for row, _ in ranked)
    return Headline(tuple(best), any(not row.result.is_reference for row in rows), useful)

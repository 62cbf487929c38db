"""The figures of a result, as every table, document and chart shows them: names, units and columns, defined once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from benchmark.analysis.references import ReferenceRow
from benchmark.record.base import Interval, known
from benchmark.record.summary import Latency, Summary

# What a board's figures are read from; of the leaderboard, summaries.
S = TypeVar("S")


@dataclass(frozen=True)
class Form:
    """How a figure is written: `value * scale`, rounded to `digits`, with its sign if `signed`, then `suffix`."""

    digits: int = 1
    scale: float = 1.0
    signed: bool = False
    suffix: str = ""


@dataclass(frozen=True)
class Figure(Generic[S]):
    """One number of a summary, or of what else a board has in its rows.

    Attributes:
        key: its name on the page and in addresses.
        read: returns it in the units of the record; None where the file does not tell it.
        interval: returns its 95% interval, if it has one.
        of_reference: returns it for gold or a baseline; None where that is not known.

    """

    key: str
    title: str
    hint: str
    read: Callable[[S], float | None]
    form: Form = Form()
    interval: Callable[[S], Interval | None] = lambda _: None
    of_reference: Callable[[ReferenceRow], float | None] = lambda _: None


def wide(ends: Interval | None) -> Interval | None:
    """Return an interval; None for one without width: where all drawn values are equal, it is not known how far off."""
    return None if ends is None or ends[0] == ends[1] else ends


def _latency(read: Callable[[Latency], float | None]) -> Callable[[Summary], float | None]:
    return lambda summary: None if summary.latency is None else read(summary.latency)


_SECONDS = Form(digits=2, scale=0.001)
_COUNT = Form(digits=0)
_SHARE = Form(digits=0, scale=100, suffix="%")

ANSWERED = Figure[Summary](
    "answered",
    "answered",
    "cases whose answer could be scored",
    lambda s: s.case_count,
    _COUNT,
    of_reference=lambda r: r.case_count,
)
PLANNED = Figure[Summary](
    "planned",
    "planned",
    "cases in the run",
    lambda s: s.case_count if s.planned_count is None else s.planned_count,
    _COUNT,
    of_reference=lambda r: r.case_count,
)
COVERAGE = Figure[Summary](
    "covered", "covered", "share of the planned cases whose answer could be scored", lambda s: s.coverage, _SHARE
)
RECOVERED = Figure[Summary](
    "score",
    "recovered",
    "the final score, 0 to 100: the quality core of the recovered answers (without wrappers and leaked reasoning), "
    "times a factor for latency",
    lambda s: s.final_score,
    interval=lambda s: wide(s.recovered.intervals.final_score) if s.recovered else None,
    of_reference=lambda r: r.score,
)
RAW = Figure[Summary](
    "raw",
    "raw",
    "the score before recovery",
    lambda s: s.raw_view.final_score if s.raw_view else None,
)
LIFT = Figure[Summary](
    "lift",
    "lift",
    "recovered minus raw: what removing wrappers and leaked reasoning gains",
    lambda s: s.lift,
    Form(signed=True),
)
NORM = Figure[Summary](
    "norm",
    "norm",
    "recovered, on a scale where the best baseline on the same cases is 0 and gold is 100; includes latency",
    lambda s: s.standing.normalised_score if s.standing else None,
    of_reference=lambda r: r.normalised_score,
)
QUALITY_CORE = Figure[Summary](
    "core",
    "quality core",
    "80% mean and 20% 10th percentile of the case scores, without latency; ranks compare it",
    lambda s: s.recovered.quality_core if s.recovered else None,
    Form(scale=100),
    # References take no time, so latency leaves their score as it is.
    of_reference=lambda r: r.score / 100,
)
EXACT = Figure[Summary](
    "exact",
    "exact",
    "mean case score, times 100, of the answers that are checked exactly: values, lines, JSON, YAML, tables",
    lambda s: s.halves.exact_score if s.halves else None,
    Form(scale=100),
    interval=lambda s: wide(s.halves.exact_interval) if s.halves else None,
)
PROSE = Figure[Summary](
    "prose",
    "prose",
    "mean case score, times 100, of the prose answers, which the scorer judges less surely: docs/scoring.md",
    lambda s: s.halves.prose_score if s.halves else None,
    Form(scale=100),
    interval=lambda s: wide(s.halves.prose_interval) if s.halves else None,
)
RIGHT = Figure[Summary](
    "right",
    "right",
    "estimated share of the prose answers that are right",
    lambda s: s.halves.right_share if s.halves else None,
    _SHARE,
    interval=lambda s: wide(s.halves.right_share_interval) if s.halves else None,
)
ACCEPTED = Figure[Summary](
    "accepted",
    "acc",
    "answers in a usable form, right or wrong",
    lambda s: s.recovered.accepted_count if s.recovered else None,
    _COUNT,
)
SOFT_ACCEPTED = Figure[Summary](
    "soft",
    "soft",
    "answers in a usable form with flaws",
    lambda s: s.recovered.soft_accepted_count if s.recovered else None,
    _COUNT,
)
REJECTED = Figure[Summary](
    "rejected",
    "rej",
    "answers in an unusable form, or none",
    lambda s: s.recovered.rejected_count if s.recovered else None,
    _COUNT,
)
THOUGHT = Figure[Summary](
    "thought",
    "thought",
    "share of the answer text that is leaked reasoning, 0 to 1",
    lambda s: s.recovered.avg_thought_density if s.recovered else None,
    Form(digits=2),
)
RATIO = Figure[Summary](
    "ratio",
    "ratio",
    "input tokens per answer token, over usable answers",
    lambda s: s.compression.ratio if s.compression else None,
    Form(digits=0, suffix="x"),
)
SAVED = Figure[Summary](
    "saved",
    "saved",
    "share of the input that an agent does not have to read, counting only answers that keep all anchors; 'net "
    "saved' also subtracts the answers that were read in vain",
    lambda s: s.compression.tokens_saved_share if s.compression else None,
    _SHARE,
)
READ = Figure[Summary](
    "reads",
    "reads",
    "share of the input that reached the model (only for rows with `before`)",
    lambda s: known(s.compression.read_share) if s.compression else None,
    _SHARE,
)
MEAN_TIME = Figure[Summary](
    "latency",
    "avg s",
    "mean generation time, without loading and waiting time",
    _latency(lambda latency: latency.avg_inference_ms),
    _SECONDS,
)
P95_TIME = Figure[Summary](
    "p95",
    "p95 s",
    "95th percentile of the generation time",
    _latency(lambda latency: latency.p95_inference_ms),
    _SECONDS,
)
PREFILL_SPEED = Figure[Summary](
    "prefill",
    "read t/s",
    "prompt tokens per second, by the engine's own clock",
    _latency(lambda latency: latency.prefill_tokens_per_s),
    _COUNT,
)
DECODE_SPEED = Figure[Summary](
    "speed",
    "write t/s",
    "answer tokens per second, by the engine's own clock",
    _latency(lambda latency: latency.decode_tokens_per_s),
    _COUNT,
)
COST = Figure[Summary](
    "cost", "cost $", "what the service charged", _latency(lambda latency: latency.cost_usd), Form(digits=3)
)


@dataclass(frozen=True)
class Column(Generic[S]):
    """A column of a narrow table: one figure with its interval, or several with a slash between.

    Attributes:
        title: of the column; the figures in it have titles of their own for the legend.

    """

    title: str
    figures: tuple[Figure[S], ...]


def _column(*figures: Figure[Summary], title: str = "") -> Column[Summary]:
    return Column(title or figures[0].title, figures)


# What terminal and Markdown show; the page has a column for each of FIGURES.
COLUMNS = (
    _column(ANSWERED, PLANNED, title="answered"),
    _column(RECOVERED),
    _column(RAW),
    _column(LIFT),
    _column(NORM),
    _column(QUALITY_CORE),
    _column(EXACT, PROSE, title="exact/prose"),
    _column(RIGHT),
    _column(ACCEPTED, SOFT_ACCEPTED, REJECTED, title="acc/soft/rej"),
    _column(THOUGHT),
    _column(RATIO),
    _column(SAVED),
    _column(READ),
    _column(MEAN_TIME, P95_TIME, title="avg/p95 s"),
    _column(PREFILL_SPEED, DECODE_SPEED, title="read/write t/s"),
    _column(COST),
)
FIGURES = (*dict.fromkeys(figure for column in COLUMNS for figure in column.figures), COVERAGE)

# What the report of a scenario shows beside its score, with room for words and digits.
AXES = (
    replace(MEAN_TIME, title="generation, mean s"),
    Figure[Summary](
        "p50",
        "generation, p50 s",
        "median of the generation time",
        _latency(lambda latency: latency.p50_inference_ms),
        _SECONDS,
    ),
    replace(P95_TIME, title="generation, p95 s"),
    Figure[Summary](
        "first",
        "time to first token, mean s",
        "mean time to read the prompt",
        _latency(lambda latency: latency.avg_time_to_first_token_ms),
        _SECONDS,
    ),
    replace(PREFILL_SPEED, title="prefill tokens/s"),
    replace(DECODE_SPEED, title="decode tokens/s"),
    replace(RATIO, title="input tokens per answer token (usable answers)", form=Form()),
    Figure[Summary](
        "spared",
        "tokens saved with all anchors",
        "input tokens that an agent does not have to read, counting only answers that keep all anchors",
        lambda s: s.compression.tokens_saved if s.compression else None,
        _COUNT,
    ),
    replace(SAVED, title="... of all input tokens", form=Form(scale=100, suffix="%")),
    replace(COST, title="cost in $", form=Form(digits=4)),
    Figure[Summary](
        "held",
        "valid answers that ctxsift compress would not print",
        "they contradict the exit code, repeat themselves, contain nothing of the output or are not shorter",
        lambda s: s.held_back.held_back_count if s.held_back else None,
        _COUNT,
    ),
    Figure[Summary](
        "held_rightly",
        "... of which did not pass",
        "an anchor was missing, or the answer was not usable",
        lambda s: s.held_back.rightly_held_back_count if s.held_back else None,
        _COUNT,
    ),
)

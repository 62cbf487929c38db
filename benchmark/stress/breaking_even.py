"""What an agent saves or loses with answers in place of outputs: tokens, seconds and money, by the input's length.

Without the compressor, the agent reads an output of n tokens once, and again at the cached price in each later turn.
With it, the agent waits for the answer, and then reads

- the answer of m tokens alone, where it is usable and keeps every anchor: n - m tokens less;
- the answer and the output, where an anchor is missing: m tokens more;
- the output, where the answer is not usable and is not printed: as many.

Each token less saves its price and the time that it takes to read; the compressor costs its time and its price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

import numpy as np

from benchmark.record.read import StoredResult
from benchmark.record.result import Answered
from benchmark.render.figures import counted
from benchmark.statistics import Clusters, Floats, Interval, interval_of, resamples
from benchmark.stress.figures import Estimate, estimate, estimate_text
from ctxsift.errors import InputError

TITLES = ("result", "input tokens", "cases", "tokens saved", "seconds saved", "cents saved per 1,000 outputs")
_MILLION, _HOUR_S, _MS_PER_S = 1e6, 3600.0, 1000.0
# A dollar has a hundred; of a thousand outputs.
CENTS = 100.0 * 1000
_BANDS = 4
_LEAST_CASES = 5


@dataclass(frozen=True)
class Agent:
    """Prices and speeds of the agent's own model, and of the machine of the compressor.

    Attributes:
        price, cached_price: dollars per million input tokens, read for the first time and again.
        turns: later turns in which the output is still in its context.
        speed: tokens that it reads in a second; 0 leaves its time out.
        machine_price: dollars per hour of the compressor's machine.

    """

    price: float = 3.0
    cached_price: float = 0.3
    turns: float = 10.0
    speed: float = 2000.0
    machine_price: float = 0.0


class Saved(StrEnum):
    """What is saved or lost."""

    TOKENS = auto()
    SECONDS = auto()
    DOLLARS = auto()


@dataclass(frozen=True)
class Saving:
    """Of one output; negative where the agent loses.

    Attributes:
        length: input tokens.
        cluster: outputs that are drawn together.

    """

    length: int
    tokens: float
    seconds: float
    dollars: float
    cluster: tuple[str, str]

    def of(self, what: Saved) -> float:
        """Return one of the three."""
        return {Saved.TOKENS: self.tokens, Saved.SECONDS: self.seconds, Saved.DOLLARS: self.dollars}[what]


@dataclass(frozen=True)
class Band:
    """Outputs of about one length: mean savings of each."""

    shortest: int
    longest: int
    cases: int
    saved: dict[Saved, Estimate | None]


@dataclass(frozen=True)
class Crossing:
    """Where the straight line through savings against length crosses zero.

    Attributes:
        at: input tokens; outputs that are longer pay off. None where the line does not rise, or is above zero already
            at length 0.
        interval: of 95%; None where some of the drawn lines do not cross, or below five captures.
        per_token: slope of the line, saved for each token of length. fixed: its value at length 0.

    """

    at: float | None
    interval: Interval | None
    per_token: float
    fixed: float


@dataclass(frozen=True)
class BreakEven:
    """Of one result.

    Attributes:
        bands: from short to long, about as many cases in each; the last one is all outputs.
        left_out: cases without anchors, of which nobody can tell whether an answer keeps all that is needed.
        savings: of each case, for a chart.

    """

    result: str
    left_out: int
    bands: tuple[Band, ...]
    crossings: dict[Saved, Crossing]
    savings: tuple[Saving, ...]


def saving(case: Answered, agent: Agent) -> Saving:
    """Return what an answer saves. Raises InputError where an old file does not tell the lengths."""
    length, said, view = case.input_tokens, case.recovered.output_tokens, case.recovered
    if length is None or said is None:
        raise InputError(case.question.case_id, "has no token counts", "name a result that this version wrote")
    tokens = 0.0 if not view.usable else float(length - said) if view.preserve == 1.0 else -float(said)
    waited = case.generation.total_ms / _MS_PER_S
    charged = (case.generation.cost_usd or 0.0) + agent.machine_price * waited / _HOUR_S
    return Saving(
        length=length,
        tokens=tokens,
        seconds=(tokens / agent.speed if agent.speed else 0.0) - waited,
        dollars=tokens * (agent.price + agent.turns * agent.cached_price) / _MILLION - charged,
        cluster=case.question.cluster,
    )


def break_even(result: StoredResult, agent: Agent) -> BreakEven:
    """Return what the answers of a result save. Raises InputError where it has too few."""
    all_answers = [case for case in result.record.cases if isinstance(case, Answered)]
    answers = [case for case in all_answers if case.question.required_anchors]
    if len(answers) < _LEAST_CASES:
        problem = f"has fewer than {_LEAST_CASES} answers to cases with anchors"
        raise InputError(str(result.path), problem, "name a result with more cases")
    savings = sorted((saving(case, agent) for case in answers), key=lambda each: each.length)
    parts = [part.tolist() for part in np.array_split(np.arange(len(savings)), min(_BANDS, len(savings)))]
    bands = [_band([savings[place] for place in part]) for part in parts]
    crossings = {what: crossing(savings, lambda each, what=what: each.of(what)) for what in Saved}  # type: ignore[misc]
    left_out = len(all_answers) - len(answers)
    return BreakEven(result.name, left_out, (*bands, _band(savings)), crossings, tuple(savings))


def _band(savings: Sequence[Saving]) -> Band:
    saved = {
        what: estimate({str(number): (each.of(what), each.cluster) for number, each in enumerate(savings)})
        for what in Saved
    }
    lengths = [each.length for each in savings]
    return Band(min(lengths), max(lengths), len(savings), saved)


def crossing(savings: Sequence[Saving], value: Callable[[Saving], float]) -> Crossing:
    """Return where the least-squares line of `value` against length crosses zero from below."""
    lengths = np.array([each.length for each in savings], dtype=np.float64)
    values = np.array([value(each) for each in savings], dtype=np.float64)
    clusters = Clusters.of(each.cluster for each in savings)
    # Sums of each cluster are all that a line needs.
    labels = np.asarray(clusters.labels, dtype=np.intp)
    parts = (np.ones_like(lengths), lengths, values, lengths * lengths, lengths * values)
    sums = np.stack([np.bincount(labels, part) for part in parts])
    slope, fixed = _line(sums.sum(axis=1))
    at = -fixed / slope if slope > 0 > fixed else None
    drawn_slope, drawn_fixed = _line(sums[:, resamples(clusters.count)].sum(axis=2))
    crosses = (drawn_slope > 0) & (drawn_fixed < 0)
    whole = at is not None and bool(crosses.all())
    interval = interval_of(-drawn_fixed / drawn_slope, clusters) if whole else None
    return Crossing(None if at is None else float(at), interval, float(slope), float(fixed))


def _line(sums: Floats) -> tuple[Floats, Floats]:
    """Return slope and value at 0 of lines, given count, sums of x, y, x^2 and xy, each of any shape."""
    count, x, y, xx, xy = sums
    spread = count * xx - x * x
    # Equal lengths have no line: their mean is all that is known.
    slope = np.divide(count * xy - x * y, spread, out=np.zeros_like(spread), where=spread > 0)
    return slope, (y - slope * x) / count


def about(agent: Agent) -> str:
    """Return the prices in a line."""
    return (
        f"Agent: ${agent.price:g} per million tokens, ${agent.cached_price:g} cached, in {agent.turns:g} later turns; "
        f"{agent.speed:g} tokens/s. Compressor: ${agent.machine_price:g} per hour. Negative: the agent loses."
    )


def rows(found: BreakEven) -> list[list[str]]:
    """Return a row for each band, and one for all outputs."""
    told = []
    for number, band in enumerate(found.bands):
        where = "all" if number == len(found.bands) - 1 else f"{band.shortest:,} to {band.longest:,}"
        tokens, seconds = (band.saved[what] for what in (Saved.TOKENS, Saved.SECONDS))
        money = scaled(band.saved[Saved.DOLLARS], CENTS)
        texts = [estimate_text(tokens, 0, signed=True), estimate_text(seconds, 2, signed=True)]
        told.append([found.result, where, str(band.cases), *texts, estimate_text(money, 1, signed=True)])
    return told


def scaled(found: Estimate | None, factor: float) -> Estimate | None:
    """Return a figure in other units, `factor` times as large."""
    if found is None:
        return None
    ends = found.interval and Interval(factor * found.interval.low, factor * found.interval.high)
    return Estimate(factor * found.value, ends)


def crossing_text(found: BreakEven) -> str:
    """Return where the line through each saving crosses zero, in a line of text."""
    parts = [f"{what}: {_verdict(found, what)}" for what in Saved]
    without = f". Left out: {counted(found.left_out, 'case')} without anchors" if found.left_out else ""
    return f"{found.result}: {'; '.join(parts)}{without}"


def _verdict(found: BreakEven, what: Saved) -> str:
    line, whole = found.crossings[what], found.bands[-1]
    if line.at is not None and line.at <= whole.longest:
        return f"saves above {estimate_text(Estimate(line.at, line.interval), 0)} input tokens"
    saved = whole.saved[what]
    assert saved is not None
    ends = saved.interval
    sure = ends is not None and (ends.low > 0 or ends.high < 0)
    # Beyond the longest output nothing was measured: where a line crosses zero there, nobody knows whether it does.
    side = "loses" if saved.value < 0 else "saves"
    return f"{side} up to the longest output{'' if sure else ' (not significant)'}"

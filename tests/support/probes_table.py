"""What the methods that ship leave of the sessions that ship, as the tables of docs/probes.md."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from msgspec.structs import replace

from benchmark.analysis.figures import Form
from benchmark.judges.rubric import FULL, RubricDimension
from benchmark.probes.answer_figures import AnsweredBoard, Fate, Fates, answered_boards
from benchmark.probes.answered import published_answering
from benchmark.probes.costs import Prices, costs_of
from benchmark.probes.figures import ProbeBoard, ProbeEstimate, boards, lift
from benchmark.probes.model import Maker, ProbeType
from benchmark.probes.nulls import ORACLE
from benchmark.probes.printing import MADE, lift_text
from benchmark.probes.printing_costs import costs_table as printed_costs
from benchmark.probes.recorded import PUBLISHED_AS
from benchmark.probes.records import ProbeResult
from benchmark.probes.references import PUBLISHED
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import read_scenarios
from benchmark.probes.subjects import recorded_subjects
from benchmark.render.figures import MISSING, counted, form_text, interval_text
from benchmark.render.markdown import markdown_table
from benchmark.statistics import Difference, Interval
from tests.conftest import ROOT

_POINTS, _RATIO, _SHARE = Form(2), Form(1, suffix="x"), Form(0, suffix="%")
_BUDGET = "2k"
_ROUNDING = 1e-9
_LEAST_P = 0.001


@dataclass(frozen=True)
class Bar:
    """What a figure has to reach.

    Attributes:
        measured: the figure, with its interval.
        met: it does.

    """

    says: str
    measured: str
    met: bool


@cache
def probed() -> ProbeResult:
    """Measure them, once in a process."""
    return run_scenarios(recorded_subjects(), read_scenarios(ROOT / "probes.json"))


def probes_table(result: ProbeResult) -> str:
    """Return the methods, best first: by type of probe for those by hand (by rule, where there are none)."""
    found = {board.maker: board for board in boards(result)}
    main, by_rule = found.get(Maker.HAND, found[Maker.RULE]), found[Maker.RULE]
    beside = {row.label: row.score for row in by_rule.rows} if main is not by_rule else {}
    rows = [
        [
            row.label,
            _points(row.score),
            lift_text(row),
            *(_points(row.types.get(kind)) for kind in ProbeType),
            *([_points(beside[row.label])] if beside else []),
            form_text(_RATIO, row.ratio),
        ]
        for row in main.rows
    ]
    asked_of = {each.session for each in result.methods[0].asked if each.made_by is main.maker}
    whole = len(asked_of) == len(result.sessions)
    sessions = counted(len(asked_of), "session") if whole else f"{len(asked_of)} of {len(result.sessions)} sessions"
    told = [f"{counted(main.probes, 'probe')} {MADE[main.maker]} over {sessions}, asked {main.asked} times"]
    if beside:
        told.append(f"{by_rule.probes} {MADE[Maker.RULE]}, asked {by_rule.asked} times")
    header = ["method", "score", "lift", *ProbeType, *(["by rule"] if beside else []), "ratio"]
    return f"{'; '.join(told)}. Scores: 0 to 5.\n\n{markdown_table(header, rows)}"


def costs_table(result: ProbeResult) -> str:
    """Return what methods cost, the cheapest first; no seconds, which differ from machine to machine."""
    table = printed_costs(list(costs_of(result, Prices())), Prices())
    names = ["tokens left", "prefix kept", "break-even", "sent", "bill"]
    rows = [[row[0], *(row[table.header.index(name)] for name in names)] for row in table.rows]
    return markdown_table(["method", *names], rows)


@cache
def published_answers() -> AnsweredBoard:
    """Judge the answers that ship, once in a process."""
    answering, _ = published_answering(recorded_subjects())
    assert answering is not None
    (board,) = answered_boards(replace(probed(), answered=[answering]))
    return board


def answered_table(board: AnsweredBoard) -> str:
    """Return what able readers answered, beside what the contexts that they read keep, and what was published."""
    kept = {row.label: row for row in board.kept.rows}
    published = {row.method: form_text(_POINTS, row.overall) for row in PUBLISHED}
    rows = [
        [
            row.label,
            _with_interval(row.score),
            _with_interval(kept[row.label].score),
            *(
                form_text(_SHARE, 100 * board.fates[row.label].shares[fate])
                for fate in (Fate.KEPT_UNSAID, Fate.LOST_SAID)
            ),
            form_text(_SHARE, 100 * board.fates[row.label].abstaining),
            form_text(_SHARE, 100 * board.fates[row.label].wrong),
            published.get(row.label.split("+")[0].split(" ")[0], ""),
        ]
        for row in board.said.rows
    ]
    header = ["method", "answered", "kept", "kept, not said", "lost, said", "abstains", "wrong", "published overall"]
    sessions = len({asked.session for asked in board.answering.methods[0].asked})
    told = f"{board.said.asked} questions about {sessions} sessions under each method. "
    told += "Scores: 0 to 5; brackets: 95% intervals."
    return f"{told}\n\n{markdown_table(header, rows)}"


def _shares(found: Fates) -> Iterator[str]:
    for share in (found.shares[Fate.KEPT_UNSAID], found.shares[Fate.LOST_SAID], found.abstaining, found.wrong):
        yield form_text(_SHARE, 100 * share)


def order_table(board: AnsweredBoard) -> str:
    """Return how far the methods whose order was published lie apart, by what is answered and what is kept."""
    labels = [f"{name} {PUBLISHED_AS}" for name in ("anchored+index", "regenerative", "opaque")]
    rows = [
        [f"{better} above {worse}", *(_apart(each, better, worse) for each in (board.said, board.kept))]
        for better, worse in itertools.combinations(labels, 2)
    ]
    return markdown_table(["", "answered", "kept"], rows)


def _apart(board: ProbeBoard, better: str, worse: str) -> str:
    found = board.differences.get((worse, better)) or board.differences[better, worse].turned
    ends = (found.interval.low, found.interval.high) if found.interval else None
    form = Form(2, signed=True)
    p = f"p = {found.p:.3f}" if found.p >= _LEAST_P else f"p < {_LEAST_P}"
    return f"{form_text(form, found.value)}{interval_text(form, ends)}, {p}"


def bars_table(result: ProbeResult) -> str:
    """Return what has to hold, and whether it does."""
    rows = [[bar.says, bar.measured, "met" if bar.met else "**missed**"] for bar in bars(result)]
    # The last column has marks of its own.
    return "\n".join(["| bar | measured | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])


def bars(result: ProbeResult) -> Iterator[Bar]:
    """Yield them, for the probes written by hand; for those by rule, where there are none by hand."""
    board = next(boards(result))
    score = {row.method: row.score for row in board.rows}
    yield _ends("everything that was removed, as the summary: at least 4.8", score["everything"], 4.8)
    yield _ends("right answers as the summary: 5", score[ORACLE], FULL)
    drop = score["drop"]
    yield Bar("nothing as the summary: 0", _with_interval(drop), drop.value == 0)
    for name in ("anchored", "regenerative", "opaque", "drop"):
        index = lift(result, board.maker, f"{name}+index {_BUDGET}", f"{name} {_BUDGET}", RubricDimension.ARTIFACT)
        yield _lifts(f"the index lifts `{name}` in the artifact dimension by at least 1.0", index, 1.0)
    for suffix in ("", "+index"):
        above = lift(result, board.maker, f"anchored{suffix} {_BUDGET}", f"opaque{suffix} {_BUDGET}")
        yield _lifts(f"`anchored{suffix}` is above `opaque{suffix}` by at least 1.0", above, 1.0)
        above = lift(result, board.maker, f"anchored{suffix} {_BUDGET}", f"text-cut {_BUDGET}")
        says = f"`anchored{suffix}` keeps a share that is larger than that of `text-cut` by at least .1"
        yield _lifts(says, _scaled(above), 0.1)


def _ends(says: str, found: ProbeEstimate, least: float) -> Bar:
    return Bar(says, _with_interval(found), found.value > least - _ROUNDING)


def _lifts(says: str, found: Difference, least: float) -> Bar:
    ends = (found.interval.low, found.interval.high) if found.interval else None
    form = Form(2, signed=True)
    return Bar(says, form_text(form, found.value) + interval_text(form, ends), found.value >= least)


def _scaled(found: Difference) -> Difference:
    ends = found.interval and Interval(found.interval.low / FULL, found.interval.high / FULL)
    return Difference(found.value / FULL, ends, found.p)


def _with_interval(found: ProbeEstimate) -> str:
    return form_text(_POINTS, found.value) + interval_text(_POINTS, found.interval)


def _points(found: ProbeEstimate | None) -> str:
    return MISSING if found is None else form_text(_POINTS, found.value)

"""Outcomes of one scenario -> its summary and breakdowns, with intervals and reference rows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from benchmark.grading.baselines import GOLD
from benchmark.record.base import Interval as Ends
from benchmark.record.following import beats, figures_of, halves_of, latency_of
from benchmark.record.intervals import ends, pair, with_intervals
from benchmark.record.journal import Hardware
from benchmark.record.judged_quality import ScoredBy
from benchmark.record.read import CaseFigures
from benchmark.record.result import OTHER, Answered, MachineFigures, Outcome, Question
from benchmark.record.summary import (
    Dimension,
    Group,
    Halves,
    Reference,
    Standing,
    Summary,
)
from benchmark.record.views import ScoredView, ViewSummary
from benchmark.scoring import bootstrap_cores, scenario_score
from benchmark.scoring.judge_error import JudgeError
from benchmark.statistics import (
    Clusters,
    Floats,
    bootstrap_means,
    difference_of,
    mean,
)

_Pick = Callable[[Answered], ScoredView]
_Number = TypeVar("_Number", int, float)
_MOST_RATE = 1e12
_LENGTHS = ((12, "under 12 lines"), (40, "12 to 39 lines"), (101, "40 to 100 lines"), (251, "101 to 250 lines"))


def length_group(raw_input: str) -> str:
    """Return the name of the group of inputs about as long, in lines."""
    lines = len(raw_input.splitlines())
    return next((name for limit, name in _LENGTHS if lines < limit), "over 250 lines")


DIMENSIONS: dict[Dimension, Callable[[Question], str]] = {
    Dimension.INTENT: lambda question: question.intent or "",
    Dimension.FAMILY: lambda question: question.family or "",
    Dimension.TOOL: lambda question: question.tool or "",
    Dimension.DIFFICULTY: lambda question: question.difficulty or "",
    Dimension.INPUT_LENGTH: lambda question: length_group(question.raw_input or ""),
    Dimension.TIER: lambda question: question.tier or OTHER,
}


def summarise(
    planned_count: int,
    outcomes: Sequence[Outcome],
    references: dict[str, list[float]],
    *,
    latency_ignored: bool = False,
    judge_error: JudgeError | None = None,
    author: str = "",
) -> Summary:
    """Return the summary of a scenario: scores with intervals, verdicts, axes beside the score, reference rows.

    Args:
        planned_count: cases of the run.
        outcomes: of the cases that were asked.
        references: what gold and each baseline score on the answered ones, in their order; empty where nobody asks.
        latency_ignored: the latency factor is 1; the times themselves are still told.
        judge_error: of the scorer, which the verdict on the best baseline contains; None where it was not measured.
        author: the model that answered.

    """
    figures = figures_of(planned_count, outcomes, latency_ignored=latency_ignored)
    answered = [outcome for outcome in outcomes if isinstance(outcome, Answered)]
    if figures.recovered is None or figures.raw is UNSET:
        return figures
    times_ms = [0.0 if latency_ignored else a.generation.total_ms for a in answered]
    clusters = _clusters(answered)
    scores = [a.recovered.case_score for a in answered], [a.raw.case_score for a in answered]
    recovered, recovered_draws = with_intervals(figures.recovered, scores[0], times_ms, clusters)
    raw, raw_draws = with_intervals(figures.raw, scores[1], times_ms, clusters)
    lift = pair(recovered_draws - raw_draws, clusters)
    errors = _Errors(judge_error, tuple(a.question.is_prose is True for a in answered))
    off = errors.shift(scores[0], author)
    drawn = _Drawn(recovered_draws + recovered.latency_factor * off, 100 * bootstrap_cores(scores[0], clusters) + off)
    return replace(
        figures,
        recovered=replace(recovered, intervals=replace(recovered.intervals, recovery_lift=lift)),
        standing=_standing(references, _Reached.of(recovered), drawn, errors, clusters) if references else None,
        halves=_halves(figures.halves, answered, judge_error, author),
        prose=_prose(answered),
        raw=raw,
    )


def _halves(
    figures: Halves | None, answered: Sequence[Answered], judge_error: JudgeError | None, author: str
) -> Halves | None:
    """Return what is checked exactly beside what is judged, with intervals."""
    halves = halves_of(answered)
    if figures is None or halves is None:
        return None
    exact, prose = map(_score_interval, halves)
    figures = replace(figures, exact_interval=exact, prose_interval=prose)
    if judge_error is None or not halves[1]:
        return figures
    scores, clusters = [a.recovered.case_score for a in halves[1]], _clusters(halves[1])
    drawn = judge_error.drawn_shares(bootstrap_means(scores, clusters), author)
    share = judge_error.share_right(mean(scores))
    return replace(figures, right_share=share, right_share_interval=pair(drawn, clusters))


def _score_interval(answered: Sequence[Answered]) -> Ends | None:
    if not answered:
        return None
    scores, clusters = [a.recovered.case_score for a in answered], _clusters(answered)
    return pair(bootstrap_means(scores, clusters), clusters)


def machine_figures(kinds: Sequence[Hardware], outcomes: Sequence[Outcome]) -> list[MachineFigures]:
    """Return what came from each kind of machine, in order; one that gave no answer is left out."""
    answered = [outcome for outcome in outcomes if isinstance(outcome, Answered)]
    given = [[a.generation for a in answered if a.machine == place] for place in range(len(kinds))]
    return [
        MachineFigures(hardware=kind, case_count=len(generations), latency=latency_of(generations))
        for kind, generations in zip(kinds, given, strict=True)
        if generations
    ]


def _prose(answered: Sequence[Answered]) -> ScoredBy | UnsetType:
    """Return what a judge and the scorer say of the same answers; nothing where no judge was asked."""
    asked = [(a, a.judged_quality.quality) for a in answered if not isinstance(a.judged_quality, UnsetType)]
    if not asked:
        return UNSET
    scored = [(a, quality) for a, quality in asked if quality is not None]
    judged = [100 * quality for _, quality in scored]
    clusters = _clusters([a for a, _ in scored])
    return ScoredBy(
        judged_quality=mean(judged) if judged else None,
        judged_quality_interval=pair(bootstrap_means(judged, clusters), clusters) if judged else None,
        scorer_quality=100 * mean([a.recovered.quality for a, _ in scored]) if judged else None,
        judged_count=len(scored),
        unscored_count=len(asked) - len(scored),
    )


def with_prose(summary: Summary, outcomes: Sequence[Outcome]) -> Summary:
    """Return a summary with what a judge says of the answers in prose; all else stays as it is."""
    return replace(summary, prose=_prose([outcome for outcome in outcomes if isinstance(outcome, Answered)]))


def break_down(outcomes: Sequence[Outcome]) -> dict[Dimension, list[Group]]:
    """Return for each dimension its groups with coverage, mean case scores of both views, lift and intervals.

    Without cases of both tiers there is no such dimension.
    """
    found = {
        dimension: [_group(group, members) for group, members in _groups(outcomes, group_of)]
        for dimension, group_of in DIMENSIONS.items()
    }
    return {name: groups for name, groups in found.items() if name is not Dimension.TIER or len(groups) > 1}


def _groups(outcomes: Sequence[Outcome], group_of: Callable[[Question], str]) -> list[tuple[str, list[Outcome]]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(group_of(outcome.question), []).append(outcome)
    order = [name for _, name in _LENGTHS]
    return sorted(found.items(), key=lambda item: (order.index(item[0]) if item[0] in order else len(order), item[0]))


def _group(name: str, members: Sequence[Outcome]) -> Group:
    answered = [outcome for outcome in members if isinstance(outcome, Answered)]
    counts = Group(group=name, planned_count=len(members), case_count=len(answered))
    if not answered:
        return counts
    recovered = [a.recovered.case_score for a in answered]
    raw = [a.raw.case_score for a in answered]
    lift = [a - b for a, b in zip(recovered, raw, strict=True)]
    clusters = _clusters(answered)
    return replace(
        counts,
        avg_case_score=mean(recovered),
        avg_case_score_interval=pair(bootstrap_means(recovered, clusters), clusters),
        raw_avg_case_score=mean(raw),
        raw_avg_case_score_interval=pair(bootstrap_means(raw, clusters), clusters),
        avg_lift=mean(lift),
        avg_lift_interval=pair(bootstrap_means(lift, clusters), clusters),
    )


def _clusters(answered: Sequence[Answered]) -> Clusters:
    return Clusters.of(a.question.cluster for a in answered)


@dataclass(frozen=True)
class _Errors:
    """How far the scores of the same cases may be off.

    Attributes:
        is_prose: of each case.

    """

    judge_error: JudgeError | None
    is_prose: tuple[bool, ...]

    def shift(self, scores: Sequence[float], author: str) -> Floats | float:
        """Return draws by which a quality core of 0 to 100 may be off, shape (draws,), mean 0; 0 if not known."""
        if self.judge_error is None:
            return 0.0
        prose = [score for score, is_prose in zip(scores, self.is_prose, strict=True) if is_prose]
        return 100 * self.judge_error.shift_of_core(prose, len(scores), author)


@dataclass(frozen=True)
class _Drawn:
    """Final score and quality core, 0 to 100, of bootstrap samples, with how far they may be off; shape (draws,)."""

    final: Floats
    core: Floats


@functools.lru_cache(maxsize=64)
def _floor_draws(name: str, scores: tuple[float, ...], errors: _Errors, clusters: Clusters) -> Floats:
    """Return the quality core of a baseline, 0 to 100, in each draw: the same for all results over the same cases."""
    draws: Floats = 100 * bootstrap_cores(scores, clusters) + errors.shift(scores, name)
    return draws


@dataclass(frozen=True)
class _Reached:
    """Final score and quality core, 0 to 100."""

    final: float
    core: float

    @classmethod
    def of(cls, view: ViewSummary) -> _Reached:
        """Return those of a view."""
        return cls(view.final_score, 100 * view.quality_core)


def standing_of(
    cases: Sequence[CaseFigures], references: dict[str, list[float]], judge_error: JudgeError | None, author: str
) -> Standing:
    """Return where the quality core over some cases lies between the best baseline and gold; latency is left out.

    Args:
        cases: at least one.
        references: what gold and each baseline score on them, in their order.
        judge_error: of the scorer; None where it was not measured.
        author: the model that answered.

    """
    scores, clusters = [case.score for case in cases], Clusters.of(case.cluster for case in cases)
    errors = _Errors(judge_error, tuple(case.is_prose is True for case in cases))
    core = 100 * scenario_score(scores, 0.0).quality_core
    draws = 100 * bootstrap_cores(scores, clusters) + errors.shift(scores, author)
    return _standing(references, _Reached(core, core), _Drawn(draws, draws), errors, clusters)


def _standing(
    scores: dict[str, list[float]], reached: _Reached, draws: _Drawn, errors: _Errors, clusters: Clusters
) -> Standing:
    """Return where a score lies between the best baseline and gold, given their scores of the same cases.

    References take no time worth measuring, so their latency factor is 1, and their final score is their quality core.
    """
    finals = {name: scenario_score(values, 0.0).final_score for name, values in scores.items()}
    ceiling = finals.pop(GOLD)
    floor = max(finals, key=lambda name: finals[name])
    floor_draws = _floor_draws(floor, tuple(scores[floor]), errors, clusters)
    gap = difference_of(reached.final - finals[floor], draws.final - floor_draws, clusters)
    core_gap = (
        gap
        if draws.final is draws.core
        else difference_of(reached.core - finals[floor], draws.core - floor_draws, clusters)
    )
    span = ceiling - finals[floor]
    reference = Reference(
        floor=floor,
        floor_score=finals[floor],
        ceiling_score=ceiling,
        baselines=finals,
        difference=gap.value,
        difference_interval=ends(gap.interval),
        core_difference=core_gap.value,
        core_difference_interval=ends(core_gap.interval),
        beats_floor=beats(core_gap.value, ends(core_gap.interval)),
    )
    return Standing(normalised_score=100 * (gap.value / span) if span > 0 else None, reference=reference)

"""Outcomes of one scenario -> its summary and breakdowns, with intervals and reference rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from benchmark.cases import EASY_TIER
from benchmark.grading.baselines import GOLD
from benchmark.record.base import Interval as Ends
from benchmark.record.journal import Hardware
from benchmark.record.judged_quality import ScoredBy
from benchmark.record.result import Answered, MachineFigures, ModelFailure, Outcome, Question
from benchmark.record.summary import (
    Compression,
    Dimension,
    Group,
    Halves,
    HeldBack,
    Latency,
    Peaks,
    Reference,
    Standing,
    Summary,
)
from benchmark.record.views import Intervals, ScoredView, ViewSummary
from benchmark.scoring import COMPONENTS, bootstrap_final_scores, scenario_score
from benchmark.statistics import (
    Clusters,
    Floats,
    Interval,
    bootstrap_means,
    difference_of,
    interval_of,
    mean,
    percentile,
)
from ctxsift.backends.base import MOST_COUNTED, MOST_MS, Generation
from ctxsift.validation import Status

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
    Dimension.TIER: lambda question: "easy tier" if EASY_TIER in (question.tags or ()) else "other cases",
}


def summarise(
    planned_count: int,
    outcomes: Sequence[Outcome],
    references: dict[str, list[float]],
    *,
    latency_ignored: bool = False,
) -> Summary:
    """Return the summary of a scenario: scores with intervals, verdicts, axes beside the score, reference rows.

    Args:
        planned_count: cases of the run.
        outcomes: of the cases that were asked.
        references: what gold and each baseline score on the answered ones, in their order; empty where nobody asks.
        latency_ignored: the latency factor is 1; the times themselves are still told.

    """
    answered = [outcome for outcome in outcomes if isinstance(outcome, Answered)]
    failures = Counter(outcome.failure_reason for outcome in outcomes if isinstance(outcome, ModelFailure))
    counts = Summary(
        planned_count=planned_count,
        case_count=len(answered),
        coverage=len(answered) / planned_count if planned_count else 0.0,
        instrument_failure_count=len(outcomes) - len(answered),
        model_failure_counts=dict(sorted(failures.items())),
    )
    if not answered:
        return counts
    generations = [outcome.generation for outcome in answered]
    times_ms = [0.0 if latency_ignored else g.total_ms for g in generations]
    clusters = _clusters(answered)
    recovered, recovered_draws = _view(answered, lambda a: a.recovered, times_ms, clusters)
    raw, raw_draws = _view(answered, lambda a: a.raw, times_ms, clusters)
    lift = _pair(recovered_draws - raw_draws, clusters)
    return replace(
        counts,
        # Times of two kinds of machine are never put together; the run has those of each.
        latency=_latency(generations) if all(a.machine is UNSET for a in answered) else None,
        compression=_compression(answered),
        recovered=replace(recovered, intervals=replace(recovered.intervals, recovery_lift=lift)),
        recovery_lift=recovered.final_score - raw.final_score,
        standing=_standing(references, recovered.final_score, recovered_draws, clusters) if references else None,
        halves=_halves(answered),
        held_back=HeldBack(
            held_back_count=sum(bool(a.held_back) for a in answered),
            rightly_held_back_count=sum(bool(a.held_back) and not a.recovered.passed for a in answered),
        ),
        peaks=Peaks(
            peak_cpu_rss_bytes=max((a.cpu_rss_bytes for a in answered if a.cpu_rss_bytes is not None), default=None),
            peak_gpu_bytes=max((g.gpu_peak_bytes for g in generations if g.gpu_peak_bytes is not None), default=None),
        ),
        prose=_prose(answered),
        raw=raw,
    )


def _halves(answered: Sequence[Answered]) -> Halves | None:
    """Return what is checked exactly beside what is judged; nothing where questions do not tell what they are."""
    if any(a.question.is_prose is None for a in answered):
        return None
    exact = [a for a in answered if not a.question.is_prose]
    prose = [a for a in answered if a.question.is_prose]
    (exact_score, exact_interval), (prose_score, prose_interval) = map(_mean_score, (exact, prose))
    return Halves(
        exact_count=len(exact),
        exact_score=exact_score,
        exact_interval=exact_interval,
        prose_count=len(prose),
        prose_score=prose_score,
        prose_interval=prose_interval,
    )


def _mean_score(answered: Sequence[Answered]) -> tuple[float | None, Ends | None]:
    if not answered:
        return None, None
    scores, clusters = [a.recovered.case_score for a in answered], _clusters(answered)
    return mean(scores), _pair(bootstrap_means(scores, clusters), clusters)


def machine_figures(kinds: Sequence[Hardware], outcomes: Sequence[Outcome]) -> list[MachineFigures]:
    """Return what came from each kind of machine, in order; one that gave no answer is left out."""
    answered = [outcome for outcome in outcomes if isinstance(outcome, Answered)]
    given = [[a.generation for a in answered if a.machine == place] for place in range(len(kinds))]
    return [
        MachineFigures(hardware=kind, case_count=len(generations), latency=_latency(generations))
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
        judged_quality_interval=_pair(bootstrap_means(judged, clusters), clusters) if judged else None,
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
        avg_case_score_interval=_pair(bootstrap_means(recovered, clusters), clusters),
        raw_avg_case_score=mean(raw),
        raw_avg_case_score_interval=_pair(bootstrap_means(raw, clusters), clusters),
        avg_lift=mean(lift),
        avg_lift_interval=_pair(bootstrap_means(lift, clusters), clusters),
    )


def _clusters(answered: Sequence[Answered]) -> Clusters:
    return Clusters.of(a.question.cluster for a in answered)


def _view(
    answered: Sequence[Answered], pick: _Pick, times_ms: Sequence[float], clusters: Clusters
) -> tuple[ViewSummary, Floats]:
    """Return the figures of one view and the bootstrap distribution of its final score."""
    views = [pick(a) for a in answered]
    statuses = Counter(view.validation_status for view in views)
    case_scores = [view.case_score for view in views]
    score = scenario_score(case_scores, mean(times_ms))
    draws = bootstrap_final_scores(case_scores, times_ms, clusters)
    components = {f"avg_{c.name}": mean([getattr(view, c.name) for view in views]) for c in COMPONENTS}
    figures = ViewSummary(
        case_count=len(views),
        success_count=len(views) - statuses[Status.REJECTED],
        accepted_count=statuses[Status.ACCEPTED],
        soft_accepted_count=statuses[Status.SOFT_ACCEPTED],
        rejected_count=statuses[Status.REJECTED],
        exact_pass_count=sum(view.preserve == 1.0 for view in views),
        **components,
        avg_thought_density=mean([view.thought_density for view in views]),
        avg_thought_markers=mean([view.thought_markers for view in views]),
        avg_case_score=mean(case_scores),
        p10_case_score=percentile(case_scores, 10),
        quality_core=score.quality_core,
        latency_factor=score.latency_factor,
        final_score=score.final_score,
        intervals=Intervals(
            final_score=_pair(draws, clusters),
            avg_case_score=_pair(bootstrap_means(case_scores, clusters), clusters),
        ),
    )
    return figures, draws


def _pair(draws: Floats, clusters: Clusters) -> Ends | None:
    return _ends(interval_of(draws, clusters))


def _ends(interval: Interval | None) -> Ends | None:
    return (interval.low, interval.high) if interval else None


def _latency(generations: Sequence[Generation]) -> Latency:
    times = [g.total_ms for g in generations]
    first = [g.prefill_ms for g in generations if g.prefill_ms is not None]
    costs = [g.cost_usd for g in generations if g.cost_usd is not None]
    cached = [g for g in generations if g.cached_tokens]
    return Latency(
        avg_inference_ms=mean(times),
        p50_inference_ms=percentile(times, 50),
        p95_inference_ms=percentile(times, 95),
        avg_time_to_first_token_ms=mean(first) if first else None,
        prefill_tokens_per_s=_rate([(g.prompt_tokens, g.prefill_ms) for g in generations]),
        decode_tokens_per_s=_rate([(g.completion_tokens, g.decode_ms) for g in generations]),
        prompt_tokens=_told(sum(g.prompt_tokens or 0 for g in generations), MOST_COUNTED),
        completion_tokens=_told(sum(g.completion_tokens or 0 for g in generations), MOST_COUNTED),
        prefill_ms=_told(sum(g.prefill_ms or 0.0 for g in generations), MOST_MS),
        decode_ms=_told(sum(g.decode_ms or 0.0 for g in generations), MOST_MS),
        cached_cases=len(cached) or UNSET,
        cached_tokens=sum(g.cached_tokens for g in cached) or UNSET,
        cached_ms=sum(g.cached_ms for g in cached) or UNSET,
        cost_usd=sum(costs) if costs else None,
    )


def _rate(pairs: Sequence[tuple[int | None, float | None]]) -> float | None:
    known = [(tokens, ms) for tokens, ms in pairs if tokens is not None and ms]
    total_ms = sum(ms for _, ms in known)
    return _told(1000 * sum(tokens for tokens, _ in known) / total_ms, _MOST_RATE) if total_ms else None


def _told(value: _Number, most: float) -> _Number | None:
    """Return a figure; None for one that no engine can mean, which would not be read back."""
    return value if value <= most else None


def _compression(answered: Sequence[Answered]) -> Compression:
    """Return what an agent is spared, in tokens of one tokenizer for all models.

    A rejected answer spares nothing (the agent gets the original), and one that lost an anchor saves nothing.
    """
    usable = [a for a in answered if a.recovered.usable]
    said = sum(a.recovered.output_tokens or 0 for a in usable)
    kept = [a for a in usable if a.recovered.preserve == 1.0]
    spared = sum((a.input_tokens or 0) - (a.recovered.output_tokens or 0) for a in kept)
    given = sum(a.input_tokens or 0 for a in answered)
    read = [a.read_tokens for a in answered if a.read_tokens is not None]
    return Compression(
        ratio=sum(a.input_tokens or 0 for a in usable) / said if said else None,
        tokens_saved=spared,
        tokens_saved_share=spared / given if given else 0.0,
        read_share=sum(read) / given if given and read else UNSET,
    )


def _standing(scores: dict[str, list[float]], final_score: float, draws: Floats, clusters: Clusters) -> Standing:
    """Return where a score lies between the best baseline and gold, given their scores of the same cases.

    References take no time worth measuring, so their latency factor is 1.
    """
    finals = {name: scenario_score(values, 0.0).final_score for name, values in scores.items()}
    ceiling = finals.pop(GOLD)
    floor = max(finals, key=lambda name: finals[name])
    no_time = [0.0] * len(scores[floor])
    gap_draws = draws - bootstrap_final_scores(scores[floor], no_time, clusters)
    gap = difference_of(final_score - finals[floor], gap_draws, clusters)
    span = ceiling - finals[floor]
    reference = Reference(
        floor=floor,
        floor_score=finals[floor],
        ceiling_score=ceiling,
        baselines=finals,
        difference=gap.value,
        difference_interval=_ends(gap.interval),
        beats_floor=gap.interval.low > 0 if gap.interval else None,
    )
    return Standing(
        normalised_score=100 * ((final_score - finals[floor]) / span) if span > 0 else None, reference=reference
    )

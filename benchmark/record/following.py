"""What follows from the cases of a result: the figures of its summary, and whether a file says something else.

To forge a result, somebody would have to forge every answer in it; `benchmark.rescore` scores those again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import fields, replace

from benchmark.record.base import to_json
from benchmark.record.result import Answered, ModelFailure, Outcome, Result
from benchmark.record.summary import Halves, HeldBack, Latency, Peaks, Reference, Summary, TokenSavings
from benchmark.record.views import ScoredView, ViewSummary
from benchmark.scoring.case_score import case_score
from benchmark.scoring.final_score import latency_factor, quality_core, scenario_score
from benchmark.statistics import mean, percentile
from ctxsift.answers.validation import Status
from ctxsift.backends.base import MOST_COUNTED, MOST_MS, Generation
from ctxsift.intents import Intent

_Number = TypeVar("_Number", int, float)
_MOST_RATE = 1e12
# Sums in another order differ in their last digits, and embeddings on another processor.
_TOLERANCE = 1e-6
_INTENTS = frozenset(map(str, Intent))
# Means of what each view of an answer says.
_MEANS = tuple(
    (field.name, field.name.removeprefix("avg_")) for field in fields(ViewSummary) if field.name.startswith("avg_")
)


def figures_of(planned_count: int, outcomes: Sequence[Outcome], *, latency_ignored: bool = False) -> Summary:
    """Return the summary of a scenario as far as it follows from its outcomes: no intervals, no rows to measure by.

    Args:
        planned_count: cases of the run.
        outcomes: of the cases that were asked.
        latency_ignored: the latency factor is 1; the times themselves are still told.

    """
    answered = [outcome for outcome in outcomes if isinstance(outcome, Answered)]
    failures = Counter(outcome.failure_reason for outcome in outcomes if isinstance(outcome, ModelFailure))
    counts: dict[str, Any] = dict(
        planned_count=planned_count,
        case_count=len(answered),
        coverage=len(answered) / planned_count if planned_count else 0.0,
        instrument_failure_count=len(outcomes) - len(answered),
        model_failure_counts=dict(sorted(failures.items())),
    )
    if not answered:
        return Summary(**counts)
    generations = [outcome.generation for outcome in answered]
    times_ms = [0.0 if latency_ignored else g.total_ms for g in generations]
    recovered, raw = (_view([pick(a) for a in answered], times_ms) for pick in (recovered_view, raw_view))
    return Summary(
        **counts,
        # Times of two kinds of machine are never put together; the run has those of each.
        latency=latency_of(generations) if all(a.machine is UNSET for a in answered) else None,
        compression=_compression(answered),
        recovered=recovered,
        recovery_lift=recovered.final_score - raw.final_score,
        halves=_halves(answered),
        held_back=_held_back(answered),
        peaks=Peaks(
            peak_cpu_rss_bytes=max(_known(a.cpu_rss_bytes for a in answered), default=None),
            peak_gpu_bytes=max(_known(g.gpu_peak_bytes for g in generations), default=None),
        ),
        raw=raw,
    )


def _held_back(answered: Sequence[Answered]) -> HeldBack:
    held_back = [a for a in answered if a.held_back]
    return HeldBack(
        held_back_count=len(held_back),
        rightly_held_back_count=sum(not a.recovered.passed for a in held_back),
    )


def of_cases_alone(record: Result) -> Summary:
    """Return the summary of a published file as far as it follows from the cases in it, without what it never tells."""
    figures = figures_of(len(record.cases), record.cases)
    return replace(figures, planned_count=None, coverage=None, held_back=None, recovery_lift=UNSET)


def recovered_view(answer: Answered) -> ScoredView:
    """Return the recovered view of an answer."""
    return answer.recovered


def raw_view(answer: Answered) -> ScoredView:
    """Return the raw view of an answer."""
    return answer.raw


def _view(views: Sequence[ScoredView], times_ms: Sequence[float]) -> ViewSummary:
    statuses = Counter(view.validation_status for view in views)
    case_scores = [view.case_score for view in views]
    score = scenario_score(case_scores, mean(times_ms))
    means: dict[str, Any] = {name: mean([getattr(view, of) for view in views]) for name, of in _MEANS}
    return ViewSummary(
        case_count=len(views),
        success_count=len(views) - statuses[Status.REJECTED],
        accepted_count=statuses[Status.ACCEPTED],
        soft_accepted_count=statuses[Status.SOFT_ACCEPTED],
        rejected_count=statuses[Status.REJECTED],
        exact_pass_count=sum(view.preserve == 1.0 for view in views),
        **means,
        p10_case_score=percentile(case_scores, 10),
        quality_core=score.quality_core,
        latency_factor=score.latency_factor,
        final_score=score.final_score,
    )


def halves_of(answered: Sequence[Answered]) -> tuple[list[Answered], list[Answered]] | None:
    """Return what is checked exactly, and what is judged as prose; None where questions do not tell what they are."""
    if any(a.question.is_prose is None for a in answered):
        return None
    return [a for a in answered if not a.question.is_prose], [a for a in answered if a.question.is_prose]


def _halves(answered: Sequence[Answered]) -> Halves | None:
    halves = halves_of(answered)
    if halves is None:
        return None
    exact, prose = ([a.recovered.case_score for a in half] for half in halves)
    return Halves(
        exact_count=len(exact),
        exact_score=_mean_of(exact),
        exact_interval=None,
        prose_count=len(prose),
        prose_score=_mean_of(prose),
        prose_interval=None,
    )


def latency_of(generations: Sequence[Generation]) -> Latency:
    """Return times and tokens of answers that came from one kind of machine."""
    times = [g.total_ms for g in generations]
    prompt, completion = [g.prompt_tokens for g in generations], [g.completion_tokens for g in generations]
    prefill, decode = [g.prefill_ms for g in generations], [g.decode_ms for g in generations]
    costs = _known(g.cost_usd for g in generations)
    cached = [g for g in generations if g.cached_tokens]
    return Latency(
        avg_inference_ms=mean(times),
        p50_inference_ms=percentile(times, 50),
        p95_inference_ms=percentile(times, 95),
        avg_time_to_first_token_ms=_mean_of(_known(prefill)),
        prefill_tokens_per_s=_rate(zip(prompt, prefill, strict=True)),
        decode_tokens_per_s=_rate(zip(completion, decode, strict=True)),
        prompt_tokens=_told(_total(prompt), MOST_COUNTED),
        completion_tokens=_told(_total(completion), MOST_COUNTED),
        prefill_ms=_told(sum(_known(prefill), 0.0), MOST_MS),
        decode_ms=_told(sum(_known(decode), 0.0), MOST_MS),
        cached_cases=len(cached) or UNSET,
        cached_tokens=sum(g.cached_tokens for g in cached) or UNSET,
        cached_ms=sum(g.cached_ms for g in cached) or UNSET,
        cost_usd=sum(costs) if costs else None,
    )


def _known(values: Iterable[_Number | None]) -> list[_Number]:
    """Return the values that are known."""
    return [value for value in values if value is not None]


def _total(counts: Iterable[int | None]) -> int:
    """Return the sum of the known counts."""
    return sum(_known(counts))


def _mean_of(values: Sequence[float]) -> float | None:
    """Return the mean; None of nothing."""
    return mean(values) if values else None


def _rate(pairs: Iterable[tuple[int | None, float | None]]) -> float | None:
    known = [(tokens, ms) for tokens, ms in pairs if tokens is not None and ms]
    total_ms = sum(ms for _, ms in known)
    return _told(1000 * sum(tokens for tokens, _ in known) / total_ms, _MOST_RATE) if total_ms else None


def _told(value: _Number, most: float) -> _Number | None:
    """Return a figure; None for one that no engine can mean, which would not be read back."""
    return value if value <= most else None


def _compression(answered: Sequence[Answered]) -> TokenSavings | None:
    """Return what an agent is spared, in tokens of one tokenizer for all models; None where no file tells them.

    A rejected answer spares nothing (the agent gets the original), and one that lost an anchor saves nothing.
    """
    if all(a.input_tokens is None for a in answered):
        return None
    usable = [a for a in answered if a.recovered.usable]
    said = _total(a.recovered.output_tokens for a in usable)
    kept = [a for a in usable if a.recovered.preserve == 1.0]
    spared = _total(a.input_tokens for a in kept) - _total(a.recovered.output_tokens for a in kept)
    given = _total(a.input_tokens for a in answered)
    return TokenSavings(
        ratio=_total(a.input_tokens for a in usable) / said if said else None,
        tokens_saved=spared,
        tokens_saved_share=spared / given if given else 0.0,
        read_share=_read_share(answered, given),
    )


def _read_share(answered: Sequence[Answered], given: int) -> float | UnsetType:
    """Return how much of the inputs was read, where lines of some were chosen; short ones were read whole."""
    if not given or all(a.read_tokens is None for a in answered):
        return UNSET
    return _total(a.input_tokens if a.read_tokens is None else a.read_tokens for a in answered) / given


def beats(difference: float, interval: tuple[float, float] | None) -> bool | None:
    """Return whether a score is significantly better than the best baseline; None if that is not known."""
    return None if interval is None else interval[0] > 0 and difference > 0


@dataclass(frozen=True)
class Contradiction:
    """A figure of a file, and another that follows from the same file.

    Attributes:
        place: of the figure, as JSON pointer.

    """

    place: str
    told: object
    follows: object

    @property
    def problem(self) -> str:
        """What is wrong, in words."""
        told, follows = (f"{each:.6g}" if isinstance(each, float) else each for each in (self.told, self.follows))
        return f"says {told}, but {follows} follows from its own figures"


def contradiction_in(record: Result) -> Contradiction | None:
    """Return the first figure of a result that does not follow from its cases, as far as the file tells these."""
    return next(_contradictions(record), None)


def _contradictions(record: Result) -> Iterator[Contradiction]:
    for number, case in enumerate(record.cases):
        if isinstance(case, Answered):
            for place, view in (("", case.recovered), ("/raw_view", case.raw)):
                follows = _case_score(case.question.intent, view)
                if not _is_same(view.case_score, follows):
                    yield Contradiction(f"/cases/{number}{place}/case_score", view.case_score, follows)
    run, summary = record.run, record.summary
    planned = len(run.case_ids) if run else len(record.cases)
    figures = figures_of(planned, record.cases, latency_ignored=run is not None and run.latency_ignored)
    if run is None:
        yield from _of_published(summary, figures)
        return
    yield from _differing("/summary", to_json(summary), to_json(figures))
    if run.complete and figures.case_count != planned:
        yield Contradiction("/run/complete", "true", f"{figures.case_count} of {planned} answers")
    if summary.reference is not None and summary.final_score is not None:
        yield from _of_reference(summary.reference, summary.final_score, summary)


def _of_published(summary: Summary, figures: Summary) -> Iterator[Contradiction]:
    """Yield what is wrong with the figures of a published file, which may hold a part of its cases."""
    for place, view, of_cases in (
        ("/summary", summary.recovered, figures.recovered),
        ("/summary/raw_view", summary.raw_view, figures.raw_view),
    ):
        if view is None:
            continue
        told = to_json(view)
        follows: dict[str, object] = {"quality_core": quality_core(view.avg_case_score, view.p10_case_score)}
        if summary.latency is not None:
            follows["latency_factor"] = latency_factor(summary.latency.avg_inference_ms)
        follows["final_score"] = 100 * view.quality_core * view.latency_factor
        yield from _differing(place, told, follows)
        if of_cases is not None and of_cases.case_count == view.case_count:
            # They count successes in their own way, and their times leave out what went wrong.
            follows = {key: getattr(of_cases, key) for key in ("avg_case_score", "p10_case_score", "quality_core")}
            yield from _differing(place, told, follows)


def _case_score(intent: str | None, view: ScoredView) -> float:
    """Return the case score that follows from the components; that of the file where it tells no intent of ours."""
    if intent not in _INTENTS or not view.usable:
        return view.case_score if view.usable else 0.0
    return score_of_view(str(intent), view)


def score_of_view(intent: str, view: ScoredView) -> float:
    """Return the case score that follows from the components of a view, in [0, 1]."""
    return case_score(
        intent,
        validation_status=view.validation_status,
        thought_density=view.thought_density,
        preserve=view.preserve,
        quality=view.quality,
        format=view.format,
        brevity=view.brevity,
        instruction=view.instruction,
    )


def _of_reference(reference: Reference, final_score: float, summary: Summary) -> Iterator[Contradiction]:
    best = max(reference.baselines.values(), default=reference.floor_score)
    difference = final_score - reference.floor_score
    core_difference = (
        None if summary.recovered is None else 100 * summary.recovered.quality_core - reference.floor_score
    )
    follows: dict[str, object] = {
        "floor_score": best,
        "controls": {reference.floor: best},
        "difference": difference,
        "core_difference": core_difference,
        "beats_floor": beats(*reference.compared),
    }
    told: dict[str, Any] = to_json(reference)
    told["controls"] = {reference.floor: told["controls"].get(reference.floor, "nothing")}
    yield from _differing("/summary/reference", told, follows)
    span = reference.ceiling_score - reference.floor_score
    normalised = 100 * difference / span if span > 0 else None
    if summary.standing is not None:
        yield from _differing(
            "/summary", {"normalised_score": summary.standing.normalised_score}, {"normalised_score": normalised}
        )


def _differing(place: str, told: Mapping[str, Any], follows: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Yield what differs of the figures that both have; a file may not tell all."""
    for key, value in follows.items():
        said = told.get(key)
        if said is None or value is None:
            continue
        if isinstance(said, Mapping) and isinstance(value, Mapping) and key != "model_failure_counts":
            yield from _differing(f"{place}/{key}", said, value)
        elif not _is_same(said, value):
            yield Contradiction(f"{place}/{key}", said, value)


def _is_same(told: object, follows: object) -> bool:
    if told == follows:
        return True
    if isinstance(told, float) or isinstance(follows, float):
        numbers = [each for each in (told, follows) if isinstance(each, int | float)]
        return len(numbers) == 2 and math.isclose(*numbers, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return False

"""Outcomes of one scenario -> its summary and breakdowns, with intervals and reference rows, as JSON values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.corpus import Case
from benchmark.run.outcome import Examined, InstrumentFailure, ModelFailure, Outcome, ScoredView
from benchmark.scoring import Embedder, bootstrap_final_scores, scenario_score, score_view
from benchmark.statistics import Floats, Interval, bootstrap_means, difference_of, interval_of, mean, percentile
from ctxsift.backends.base import Generation
from ctxsift.backends.controls import CONTROLS, control_answer
from ctxsift.compress import examine
from ctxsift.validation import Status

_Pick = Callable[[Examined], ScoredView]
_LENGTHS = ((12, "under 12 lines"), (40, "12 to 39 lines"), (101, "40 to 100 lines"), (251, "101 to 250 lines"))
DIMENSIONS: dict[str, Callable[[Case], str]] = {
    "intent": lambda case: str(case.intent),
    "family": lambda case: str(case.family),
    "tool": lambda case: case.capture.tool,
    "difficulty": lambda case: str(case.difficulty),
    "input_length": lambda case: length_group(case.raw_input),
}


def length_group(raw_input: str) -> str:
    """Return the name of the group of inputs about as long, in lines."""
    lines = len(raw_input.splitlines())
    return next((name for limit, name in _LENGTHS if lines < limit), "over 250 lines")


@dataclass(frozen=True)
class References:
    """What gold and the gold-free controls score on cases, by the path of every answer; each case is done once.

    Attributes:
        case_scores: (reference, case id, recovery enabled) -> recovered case score; fills itself.

    """

    embedder: Embedder
    case_scores: dict[tuple[str, str, bool], float] = field(default_factory=dict)

    def scores(self, cases: Sequence[Case], *, recovery_enabled: bool = True) -> dict[str, list[float]]:
        """Return for `gold` and each control the case scores of `cases`, in their order."""
        return {name: [self._score(name, case, recovery_enabled) for case in cases] for name in ("gold", *CONTROLS)}

    def _score(self, name: str, case: Case, recovery_enabled: bool) -> float:
        key = name, case.case_id, recovery_enabled
        if key not in self.case_scores:
            text = case.expected_output if name == "gold" else control_answer(name, case.request)
            view = examine(text, case.request, recovery_enabled=recovery_enabled)[1]
            self.case_scores[key] = score_view(view.text, view.validation, case, self.embedder).case_score
        return self.case_scores[key]


def summarise(
    planned_count: int,
    outcomes: Sequence[Outcome],
    references: References,
    *,
    recovery_enabled: bool,
    latency_ignored: bool = False,
) -> dict[str, Any]:
    """Return the summary of a scenario: scores with intervals, verdicts, axes beside the score, reference rows.

    With `latency_ignored` the latency factor is 1; the times themselves are still told.
    """
    scored = [o for o in outcomes if not isinstance(o, InstrumentFailure)]
    counts: dict[str, Any] = {
        "planned_count": planned_count,
        "case_count": len(scored),
        "coverage": len(scored) / planned_count if planned_count else 0.0,
        "instrument_failure_count": len(outcomes) - len(scored),
        "model_failure_counts": dict(
            sorted(Counter(o.reason for o in outcomes if isinstance(o, ModelFailure)).items())
        ),
    }
    if not scored:
        return counts | {"raw_view": {}}
    examined = [o.examined for o in scored]
    generations = [e.answer.generation for e in examined]
    times_ms = [0.0 if latency_ignored else g.total_ms for g in generations]
    recovered, recovered_draws = _view(examined, lambda e: e.recovered, times_ms)
    raw, raw_draws = _view(examined, lambda e: e.raw, times_ms)
    recovered["intervals"]["recovery_lift"] = _pair(recovered_draws - raw_draws, len(examined))
    return {
        **counts,
        **_latency(generations),
        **_compression(examined),
        **recovered,
        "recovery_lift": recovered["final_score"] - raw["final_score"],
        **_between_references(
            references.scores([o.case for o in scored], recovery_enabled=recovery_enabled),
            recovered["final_score"],
            recovered_draws,
        ),
        "peak_cpu_rss_bytes": max((e.rss_bytes for e in examined if e.rss_bytes is not None), default=None),
        "peak_gpu_bytes": max((g.gpu_peak_bytes for g in generations if g.gpu_peak_bytes is not None), default=None),
        "raw_view": raw,
    }


def break_down(outcomes: Sequence[Outcome]) -> dict[str, list[dict[str, Any]]]:
    """Return for each dimension its groups with coverage, mean case scores of both views, lift and intervals."""
    return {
        name: [_group(group, members) for group, members in _groups(outcomes, group_of)]
        for name, group_of in DIMENSIONS.items()
    }


def _groups(outcomes: Sequence[Outcome], group_of: Callable[[Case], str]) -> list[tuple[str, list[Outcome]]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(group_of(outcome.case), []).append(outcome)
    order = [name for _, name in _LENGTHS]
    return sorted(found.items(), key=lambda item: (order.index(item[0]) if item[0] in order else len(order), item[0]))


def _group(name: str, members: Sequence[Outcome]) -> dict[str, Any]:
    examined = [o.examined for o in members if not isinstance(o, InstrumentFailure)]
    row: dict[str, Any] = {"group": name, "planned_count": len(members), "case_count": len(examined)}
    if not examined:
        return row
    recovered = [e.recovered.scores.case_score for e in examined]
    raw = [e.raw.scores.case_score for e in examined]
    lift = [a - b for a, b in zip(recovered, raw, strict=True)]
    for key, values in (("avg_case_score", recovered), ("raw_avg_case_score", raw), ("avg_lift", lift)):
        row[key] = mean(values)
        row[f"{key}_interval"] = _pair(bootstrap_means(values), len(values))
    return row


def _view(examined: Sequence[Examined], pick: _Pick, times_ms: Sequence[float]) -> tuple[dict[str, Any], Floats]:
    """Return the figures of one view and the bootstrap distribution of its final score."""
    views = [pick(e) for e in examined]
    statuses = Counter(v.view.validation.status for v in views)
    case_scores = [v.scores.case_score for v in views]
    score = scenario_score(case_scores, mean(times_ms))
    draws = bootstrap_final_scores(case_scores, times_ms)
    figures = {
        "case_count": len(views),
        "success_count": len(views) - statuses[Status.REJECTED],
        "accepted_count": statuses[Status.ACCEPTED],
        "soft_accepted_count": statuses[Status.SOFT_ACCEPTED],
        "rejected_count": statuses[Status.REJECTED],
        "exact_pass_count": sum(v.scores.preserve == 1.0 for v in views),
        "avg_exact_preservation_ratio": mean([v.scores.preserve for v in views]),
        "avg_summary_quality_ratio": mean([v.scores.quality for v in views]),
        "avg_format_adherence_score": mean([v.scores.format for v in views]),
        "avg_instruction_following_score": mean([v.scores.instruction for v in views]),
        "avg_brevity_ratio": mean([v.scores.brevity for v in views]),
        "avg_thought_leakage_density": mean([v.view.validation.thought.density for v in views]),
        "avg_thought_marker_count": mean([v.view.validation.thought.markers for v in views]),
        "avg_case_score": mean(case_scores),
        "p10_case_score": percentile(case_scores, 10),
        "quality_core": score.quality_core,
        "latency_factor": score.latency_factor,
        "final_score": score.final_score,
        "intervals": {
            "final_score": _pair(draws, len(views)),
            "avg_case_score": _pair(bootstrap_means(case_scores), len(views)),
        },
    }
    return figures, draws


def _pair(draws: Floats, cases: int) -> list[float] | None:
    return _ends(interval_of(draws, cases))


def _ends(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval else None


def _latency(generations: Sequence[Generation]) -> dict[str, Any]:
    times = [g.total_ms for g in generations]
    first = [g.prefill_ms for g in generations if g.prefill_ms is not None]
    costs = [g.cost_usd for g in generations if g.cost_usd is not None]
    return {
        "avg_inference_ms": mean(times),
        "p50_inference_ms": percentile(times, 50),
        "p95_inference_ms": percentile(times, 95),
        "avg_time_to_first_token_ms": mean(first) if first else None,
        "prefill_tokens_per_s": _rate([(g.prompt_tokens, g.prefill_ms) for g in generations]),
        "decode_tokens_per_s": _rate([(g.completion_tokens, g.decode_ms) for g in generations]),
        "prompt_tokens": sum(g.prompt_tokens or 0 for g in generations),
        "completion_tokens": sum(g.completion_tokens or 0 for g in generations),
        "prefill_ms": sum(g.prefill_ms or 0.0 for g in generations),
        "decode_ms": sum(g.decode_ms or 0.0 for g in generations),
        "cost_usd": sum(costs) if costs else None,
    }


def _rate(pairs: Sequence[tuple[int | None, float | None]]) -> float | None:
    known = [(tokens, ms) for tokens, ms in pairs if tokens is not None and ms]
    total_ms = sum(ms for _, ms in known)
    return 1000 * sum(tokens for tokens, _ in known) / total_ms if total_ms else None


def _compression(examined: Sequence[Examined]) -> dict[str, Any]:
    """Return what an agent is spared, in tokens of one tokenizer for all models.

    A rejected answer spares nothing (the agent gets the original), and one that lost an anchor is no saving.
    """
    usable = [e for e in examined if e.recovered.view.validation.status is not Status.REJECTED]
    said = sum(e.recovered.tokens for e in usable)
    spared = sum(e.input_tokens - e.recovered.tokens for e in usable if e.recovered.scores.preserve == 1.0)
    given = sum(e.input_tokens for e in examined)
    return {
        "compression_ratio": sum(e.input_tokens for e in usable) / said if said else None,
        "tokens_saved": spared,
        "tokens_saved_share": spared / given if given else 0.0,
    }


def _between_references(scores: dict[str, list[float]], final_score: float, draws: Floats) -> dict[str, Any]:
    """Return where a score lies between the best gold-free control and gold, given their scores of the same cases.

    References take no time worth measuring, so their latency factor is 1.
    """
    finals = {name: scenario_score(values, 0.0).final_score for name, values in scores.items()}
    ceiling = finals.pop("gold")
    floor = max(finals, key=lambda name: finals[name])
    no_time = [0.0] * len(scores[floor])
    gap_draws = draws - bootstrap_final_scores(scores[floor], no_time)
    gap = difference_of(final_score - finals[floor], gap_draws, len(no_time))
    span = ceiling - finals[floor]
    return {
        "normalised_score": 100 * (final_score - finals[floor]) / span if span > 0 else None,
        "reference": {
            "floor": floor,
            "floor_score": finals[floor],
            "ceiling_score": ceiling,
            "controls": finals,
            "difference": gap.value,
            "difference_interval": _ends(gap.interval),
            "beats_floor": gap.interval.low > 0 if gap.interval else None,
        },
    }

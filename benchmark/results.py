"""The result record: one JSON a scenario, a superset of the published layout, described by a JSON Schema."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmark.run.environment import describe_environment
from benchmark.run.outcome import Examined, InstrumentFailure, ModelFailure, Outcome, ScoredView
from benchmark.run.plan import SEED, RunPlan
from benchmark.run.schedule import ScenarioRun
from benchmark.scoring import SCORER_VERSION, scenario_score
from benchmark.statistics import mean, percentile
from ctxsift.backends.base import Generation
from ctxsift.contracts import CONTRACTS
from ctxsift.prompts import PROMPT_VERSION, scaffold_lines
from ctxsift.recovery import RECOVERY_VERSION
from ctxsift.validation import Status

SCHEMA_VERSION = 1
SCHEMA_PATH = Path(__file__).parent / "schemas" / "result.schema.json"
_Pick = Callable[[Examined], ScoredView]


def build_result(plan: RunPlan, run: ScenarioRun) -> dict[str, Any]:
    """Return the record of one scenario as JSON values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "scenario": run.scenario.to_json(),
        "warmup": {
            "load_ms": run.load.load_ms if run.load else None,
            "cpu_rss_bytes": run.worker_rss_bytes,
            "gpu_peak_bytes": None,
            # Of the published layout; ours are in run.backend.threads.
            "torch_num_threads": None,
            "torch_num_interop_threads": None,
            "omp_num_threads": None,
            "mkl_num_threads": None,
        },
        "run": _run_json(plan, run),
        "summary": _summary(run),
        "cases": [_case_json(outcome) for outcome in run.outcomes],
    }


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Write `result` so that `path` is either absent, the old file, or complete. Raises OSError."""
    write_atomically(path, json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_atomically(path: Path, text: str) -> None:
    """Write a file by way of a temporary one in the same folder. Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _run_json(plan: RunPlan, run: ScenarioRun) -> dict[str, Any]:
    load = run.load
    return {
        "timestamp": plan.timestamp,
        "complete": run.complete,
        "error": run.error or None,
        "wall_s": run.wall_s,
        "seed": SEED,
        "corpus_sha256": plan.corpus.sha256,
        "corpus_cases": len(plan.corpus.cases),
        "case_ids": [case.case_id for case in run.planned],
        "prompt_version": PROMPT_VERSION,
        "prompt_sha256": _prompt_sha256(),
        "scorer_version": SCORER_VERSION,
        "recovery_version": RECOVERY_VERSION,
        "recovery_enabled": plan.settings.recovery_enabled,
        "weights_sha256": run.weights_sha256,
        "max_output_tokens": plan.limits(run.scenario).max_output_tokens,
        "backend": None
        if load is None
        else {
            "name": load.backend,
            "engine": load.engine,
            "engine_version": load.engine_version,
            "architecture": load.architecture,
            "chat_template": load.chat_template,
            "chat_template_note": load.chat_template_note,
            "chat_template_sha256": load.chat_template_sha256,
            "context_tokens": load.context_tokens,
            "threads": load.threads,
            "settings": load.settings,
        },
        "environment": describe_environment(),
        "disturbance": {
            "other_cpu_share": run.disturbance.other_cpu_share,
            "load_average": list(run.disturbance.load_average),
            "latency_clean": run.disturbance.clean,
        },
    }


def _prompt_sha256() -> str:
    words = [*scaffold_lines(), *(contract.words for contract in CONTRACTS.values())]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _summary(run: ScenarioRun) -> dict[str, Any]:
    examined = [o.examined for o in run.outcomes if not isinstance(o, InstrumentFailure)]
    counts: dict[str, Any] = {
        "planned_count": len(run.planned),
        "case_count": len(examined),
        "coverage": len(examined) / len(run.planned) if run.planned else 0.0,
        "instrument_failure_count": len(run.outcomes) - len(examined),
        "model_failure_counts": dict(
            sorted(Counter(o.reason for o in run.outcomes if isinstance(o, ModelFailure)).items())
        ),
    }
    if not examined:
        return counts | {"raw_view": {}}
    generations = [e.answer.generation for e in examined]
    observed_ms = mean([g.total_ms for g in generations])
    recovered = _view_summary(examined, lambda e: e.recovered, observed_ms)
    raw = _view_summary(examined, lambda e: e.raw, observed_ms)
    return {
        **counts,
        **_latency_summary(generations),
        **recovered,
        "recovery_lift": recovered["final_score"] - raw["final_score"],
        "peak_cpu_rss_bytes": max((e.rss_bytes for e in examined if e.rss_bytes is not None), default=None),
        "peak_gpu_bytes": None,
        "raw_view": raw,
    }


def _latency_summary(generations: Sequence[Generation]) -> dict[str, Any]:
    times = [g.total_ms for g in generations]
    return {
        "avg_inference_ms": mean(times),
        "p50_inference_ms": percentile(times, 50),
        "p95_inference_ms": percentile(times, 95),
        "prefill_tokens_per_s": _rate([(g.prompt_tokens, g.prefill_ms) for g in generations]),
        "decode_tokens_per_s": _rate([(g.completion_tokens, g.decode_ms) for g in generations]),
        "prompt_tokens": sum(g.prompt_tokens or 0 for g in generations),
        "completion_tokens": sum(g.completion_tokens or 0 for g in generations),
        "prefill_ms": sum(g.prefill_ms or 0.0 for g in generations),
        "decode_ms": sum(g.decode_ms or 0.0 for g in generations),
    }


def _rate(pairs: Sequence[tuple[int | None, float | None]]) -> float | None:
    known = [(tokens, ms) for tokens, ms in pairs if tokens is not None and ms]
    total_ms = sum(ms for _, ms in known)
    return 1000 * sum(tokens for tokens, _ in known) / total_ms if total_ms else None


def _view_summary(examined: Sequence[Examined], pick: _Pick, observed_ms: float) -> dict[str, Any]:
    views = [pick(e) for e in examined]
    statuses = Counter(v.view.validation.status for v in views)
    case_scores = [v.scores.case_score for v in views]
    score = scenario_score(case_scores, observed_ms)
    return {
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
    }


def _case_json(outcome: Outcome) -> dict[str, Any]:
    case = outcome.case
    known = {
        "case_id": case.case_id,
        "title": case.title,
        "domain": case.capture.ecosystem,
        "tool": case.capture.tool,
        "family": str(case.family),
        "intent": str(case.intent),
        "output_mode": str(case.output_mode),
        "difficulty": str(case.difficulty),
        "instruction": case.instruction,
        "raw_input": case.raw_input,
        "expected_output": case.expected_output,
        "required_anchors": list(case.anchors),
    }
    if isinstance(outcome, InstrumentFailure):
        return known | {"outcome": "instrument_failure", "error": outcome.error, "attempts": outcome.attempts}
    examined = outcome.examined
    generation = examined.answer.generation
    return {
        **known,
        "outcome": "model_failure" if isinstance(outcome, ModelFailure) else "scored",
        "failure_reason": outcome.reason if isinstance(outcome, ModelFailure) else None,
        "error": None,
        "attempts": examined.attempts,
        "inference_ms": generation.total_ms,
        "prefill_ms": generation.prefill_ms,
        "decode_ms": generation.decode_ms,
        "prompt_tokens": generation.prompt_tokens,
        "completion_tokens": generation.completion_tokens,
        "finish_reason": generation.finish_reason,
        "input_chars_cut": examined.answer.input_chars_cut,
        "model": generation.model,
        "reasoning": generation.reasoning,
        "cpu_rss_bytes": examined.rss_bytes,
        "gpu_peak_bytes": None,
        "recovery_steps": [{"name": step.name, "removed": step.removed} for step in examined.recovery.steps],
        **_view_json(examined.recovered),
        "raw_view": _view_json(examined.raw),
    }


def _view_json(scored: ScoredView) -> dict[str, Any]:
    validation, scores = scored.view.validation, scored.scores
    return {
        "output": scored.view.text,
        "exact_preservation_ratio": scores.preserve,
        "summary_quality_ratio": scores.quality,
        "format_adherence_score": scores.format,
        "instruction_following_score": scores.instruction,
        "brevity_ratio": scores.brevity,
        "case_score": scores.case_score,
        "validation_status": str(validation.status),
        "validation_flags": [*validation.reasons, *validation.flags],
        "ungrounded_facts": list(validation.ungrounded),
        "missing_tokens": list(scores.missing),
        "thought_leakage_density": validation.thought.density,
        "thought_marker_count": validation.thought.markers,
        "reasons": {name: list(reasons) for name, reasons in scores.reasons.items()},
    }

"""The result record: one JSON a scenario, a superset of the published layout, described by a JSON Schema."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.corpus import Corpus
from benchmark.rollup import References, break_down, summarise
from benchmark.run.environment import describe_environment
from benchmark.run.outcome import InstrumentFailure, ModelFailure, Outcome, ScoredView
from benchmark.run.plan import SEED, RunPlan
from benchmark.run.schedule import ScenarioRun
from benchmark.scoring import SCORER_VERSION
from benchmark.statistics import CONFIDENCE, DRAWS
from benchmark.statistics import SEED as DRAW_SEED
from benchmark.stored import SCHEMA_VERSION
from ctxsift.contracts import CONTRACTS
from ctxsift.prompts import PROMPT_VERSION, scaffold_lines
from ctxsift.recovery import RECOVERY_VERSION


def build_result(plan: RunPlan, run: ScenarioRun, references: References) -> dict[str, Any]:
    """Return the record of one scenario as JSON values."""
    warmup = {
        "load_ms": run.load.load_ms if run.load else None,
        "cpu_rss_bytes": run.worker_rss_bytes,
        "gpu_peak_bytes": None,
        # Of the published layout; ours are in run.backend.threads.
        "torch_num_threads": None,
        "torch_num_interop_threads": None,
        "omp_num_threads": None,
        "mkl_num_threads": None,
    }
    return assemble(run.scenario.to_json(), warmup, _run_json(plan, run), run.outcomes, references)


def assemble(
    scenario: dict[str, Any],
    warmup: dict[str, Any],
    run: dict[str, Any],
    outcomes: Sequence[Outcome],
    references: References,
) -> dict[str, Any]:
    """Return the record made of what was measured and of outcomes that may be scored anew."""
    return {
        "schema_version": SCHEMA_VERSION,
        "scenario": scenario,
        "warmup": warmup,
        "run": run,
        "summary": summarise(
            len(run["case_ids"]),
            outcomes,
            references,
            recovery_enabled=run["recovery_enabled"],
            latency_ignored=run.get("latency_ignored", False),
        ),
        "breakdowns": break_down(outcomes),
        "cases": [_case_json(outcome) for outcome in outcomes],
    }


def result_json(result: dict[str, Any]) -> str:
    """Return the text of a result file."""
    return json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Write `result` so that `path` is either absent, the old file, or complete. Raises OSError."""
    write_atomically(path, result_json(result))


def encoded(text: str) -> bytes:
    """Return the bytes of a text file; half characters that a model wrote become escapes."""
    return text.encode("utf-8", "backslashreplace")


def write_atomically(path: Path, text: str | bytes) -> None:
    """Write a file, packed if it is a .gz, by way of a temporary one in the same folder. Raises OSError."""
    content = encoded(text) if isinstance(text, str) else text
    content = gzip.compress(content, mtime=0) if path.suffix == ".gz" else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def scoring_identity(corpus: Corpus) -> dict[str, Any]:
    """Return what decides the scores of given answers: corpus, recovery, scorer, statistics."""
    return {
        "corpus_sha256": corpus.sha256,
        "corpus_cases": len(corpus.cases),
        "recovery_version": RECOVERY_VERSION,
        "scorer_version": SCORER_VERSION,
        "statistics": {"method": "percentile bootstrap", "seed": DRAW_SEED, "draws": DRAWS, "confidence": CONFIDENCE},
    }


def _run_json(plan: RunPlan, run: ScenarioRun) -> dict[str, Any]:
    load = run.load
    return {
        "timestamp": plan.timestamp,
        "complete": run.complete,
        "error": run.error or None,
        "wall_s": run.wall_s,
        "seed": SEED,
        **scoring_identity(plan.corpus),
        "case_ids": [case.case_id for case in run.planned],
        "prompt_version": PROMPT_VERSION,
        "prompt_sha256": _prompt_sha256(),
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
        "disturbance": run.disturbance.to_json(),
        "latency_ignored": plan.forgive_latency and bool(run.disturbance.reasons),
    }


def _prompt_sha256() -> str:
    words = [*scaffold_lines(), *(contract.words for contract in CONTRACTS.values())]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


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
        failure = {"outcome": "instrument_failure", "error": outcome.error, "attempts": outcome.attempts}
        if outcome.answer is not None:
            cut = {"input_chars_cut": outcome.answer.input_chars_cut}
            failure["unscored_answer"] = outcome.answer.generation.to_json() | cut
        return known | failure
    examined = outcome.examined
    generation = examined.answer.generation
    return {
        **known,
        "outcome": "model_failure" if isinstance(outcome, ModelFailure) else "scored",
        "failure_reason": outcome.reason if isinstance(outcome, ModelFailure) else None,
        "error": None,
        "attempts": examined.attempts,
        "elapsed_ms": examined.elapsed_ms,
        "inference_ms": generation.total_ms,
        "prefill_ms": generation.prefill_ms,
        "decode_ms": generation.decode_ms,
        "prompt_tokens": generation.prompt_tokens,
        "completion_tokens": generation.completion_tokens,
        "finish_reason": generation.finish_reason,
        "cost_usd": generation.cost_usd,
        "input_tokens": examined.input_tokens,
        "input_chars_cut": examined.answer.input_chars_cut,
        "model": generation.model,
        "reasoning": generation.reasoning,
        "begins_in_reasoning": generation.begins_in_reasoning,
        "reasoning_tokens": generation.reasoning_tokens,
        "cpu_rss_bytes": examined.rss_bytes,
        "gpu_peak_bytes": generation.gpu_peak_bytes,
        "recovery_steps": [{"name": step.name, "removed": step.removed} for step in examined.recovery.steps],
        **_view_json(examined.recovered),
        "raw_view": _view_json(examined.raw),
    }


def _view_json(scored: ScoredView) -> dict[str, Any]:
    validation, scores = scored.view.validation, scored.scores
    return {
        "output": scored.view.text,
        "output_tokens": scored.tokens,
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

"""Results with case scores as a test wants them, and every other figure as it follows from these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from benchmark.record.base import to_json
from benchmark.record.following import figures_of
from benchmark.record.read import as_result
from benchmark.record.result import Result
from benchmark.scoring import COMPONENTS
from ctxsift.intents import Intent

_PRESERVE, _INSTRUCTION = "exact_preservation_ratio", "instruction_following_score"
_OTHERS = ("summary_quality_ratio", "format_adherence_score", "brevity_ratio")


def scored(intent: str, score: float) -> dict[str, Any]:
    """Return the keys of a view with a case score in [0, 1]; above 0.5 with every anchor, at 0 rejected."""
    (anchors,) = (component.weights[Intent(intent)] for component in COMPONENTS if component.name == "preserve")
    has_anchors = score > 0.5
    rest = (score - anchors) / (1 - anchors) if has_anchors else score
    return {
        "case_score": score,
        "validation_status": "accepted" if score > 0 else "rejected",
        "thought_leakage_density": 0.0,
        _PRESERVE: 1.0 if has_anchors else score,
        _INSTRUCTION: 1.0,
        **dict.fromkeys(_OTHERS, rest),
    }


def summed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a result of whose cases all were planned, and whose summary follows from them, without intervals."""
    planned = [case["case_id"] for case in document["cases"]]
    run = document["run"] | {"case_ids": planned}
    record = as_result(Path("x.json"), document | {"run": run}, believed=True).record
    prose = record.summary.prose
    summary = to_json(figures_of(len(planned), record.cases, latency_ignored=run.get("latency_ignored", False)))
    return document | {"run": run, "summary": summary | ({} if prose is UNSET else {"prose": to_json(prose)})}


def agreeing(result: Result) -> Result:
    """Return the result of these cases alone, all planned, with the summary that follows from them."""
    assert result.run is not None
    planned = [case.question.case_id for case in result.cases]
    summary = figures_of(len(planned), result.cases, latency_ignored=result.run.latency_ignored)
    return replace(result, run=replace(result.run, case_ids=planned), summary=summary)

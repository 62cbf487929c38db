"""Documents of earlier schema versions and of the published layout, brought to today's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark.record.base import Json
from ctxsift.errors import InputError

# What a published scenario may leave out.
_SCENARIO = {"phase": "", "model": "", "quantization": "none", "device": ""}
# What a published case does not tell of its answer.
_GENERATION: Json = {
    "finish_reason": "unknown",
    "prompt_tokens": None,
    "completion_tokens": None,
    "prefill_ms": None,
    "decode_ms": None,
    "model": "",
}
# Files of the first version have no intervals.
_NO_INTERVALS: Json = {"method": "none", "seed": 0, "draws": 0, "confidence": 0.0}


def upgraded(path: Path, document: Json) -> Json:
    """Return a document with the keys that today's records require.

    Raises:
        InputError: a file that names no schema version is not of the published layout.

    """
    found = dict(document)
    changes: dict[str, Callable[[Any], Any]] = {"cases": _with_texts, "summary": _without_empty_view}
    if document.get("schema_version") is None:
        _refuse_ours(path, document)
        found["schema_version"] = None
        changes = {
            "scenario": lambda scenario: _with_defaults(scenario, _SCENARIO),
            "cases": lambda cases: _with_texts(_each(cases, {"outcome": "scored", **_GENERATION})),
            "summary": lambda summary: _without_empty_view(_with_raw_latency(summary)),
        }
    elif document["schema_version"] == 1:
        changes["run"] = lambda run: _with_defaults(run, {"statistics": _NO_INTERVALS})
    for key, change in changes.items():
        if key in found:
            found[key] = change(found[key])
    return found


def _without_empty_view(summary: Any) -> Any:
    """Return a summary without the raw view that files of version 2 leave empty where there is no answer."""
    if not isinstance(summary, dict) or summary.get("raw_view") != {}:
        return summary
    return {key: value for key, value in summary.items() if key != "raw_view"}


def _with_raw_latency(summary: Any) -> Any:
    """Return a published summary whose raw view tells its latency factor: both views have the same answers' times."""
    if not isinstance(summary, dict) or "latency_factor" not in summary:
        return summary
    factor = {"latency_factor": summary["latency_factor"]}
    return summary | {"raw_view": _with_defaults(summary.get("raw_view"), factor)}


def _refuse_ours(path: Path, document: Json) -> None:
    for name in ("run", "breakdowns"):
        if name in document:
            what = "does not belong in a file without a schema_version"
            raise InputError(f"{path}: /{name}", what, "take it from a backup")


def _with_defaults(value: Any, defaults: Json) -> Any:
    return defaults | value if isinstance(value, dict) else value


def _each(values: Any, defaults: Json) -> Any:
    return [_with_defaults(value, defaults) for value in values] if isinstance(values, list) else values


def _with_texts(cases: Any) -> Any:
    return [with_text(case) for case in cases] if isinstance(cases, list) else cases


def with_text(case: Any) -> Any:
    """Return a case with the answer's text, which the file keeps in the raw view."""
    if isinstance(case, dict) and isinstance(view := case.get("raw_view"), dict):
        return case | {"text": view.get("output")}
    return case

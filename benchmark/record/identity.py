"""What two runs have to share to be one model asked the same twice, by their results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from benchmark.matrix import Scenario
from benchmark.record.base import to_json
from benchmark.record.result import LoadedBackend, Run
from ctxsift.backends.base import CANARY

_SHOWN_CHARS = 40
# What may differ; all else is one identity. The hash of the weights tells which file they are in.
_OF_SCENARIO = frozenset({"name", "phase", "enabled", "gguf_filename", "install"})
_OF_RUN = frozenset(
    {"timestamp", "complete", "error", "wall_s", "statistics", "case_ids", "environment", "disturbance"}
    | {"latency_ignored", "backend"}
)
_OF_BACKEND = frozenset({"environment", "settings", "model_file"})


def identity_differences(then: tuple[Scenario, Run], now: tuple[Scenario, Run]) -> list[str]:
    """Return all that keeps two runs from being of one identity, in words: each a row, and how it was run."""
    before, after = _identity(*then), _identity(*now)
    names = sorted(name for name in {**before, **after} if before.get(name) != after.get(name))
    return [f"{name} is {_short(before.get(name))} and {_short(after.get(name))}" for name in names]


def _identity(scenario: Scenario, run: Run) -> dict[str, Any]:
    found = _without(to_json(run), _OF_RUN)
    found |= {f"scenario.{name}": value for name, value in _without(asdict(scenario), _OF_SCENARIO).items()}
    found |= _loaded(run.backend) if run.backend else {}
    # Tuples are lists in a file.
    told: dict[str, Any] = json.loads(json.dumps(found))
    return told


def _loaded(backend: LoadedBackend) -> dict[str, Any]:
    found = {f"backend.{name}": value for name, value in _without(to_json(backend), _OF_BACKEND).items()}
    settings = _without(backend.settings, frozenset({CANARY}))
    return found | {f"backend.settings.{name}": value for name, value in settings.items()}


def _without(values: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 4]}..."

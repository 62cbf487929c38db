"""Results that do not belong together, as a folder of years holds them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

STORED = ROOT / "tests" / "data" / "results"
SILENT = 4


def mixed_results(folder: Path) -> Path:
    """Write results of two scorers, of the published layout, a program, a service that was silent, and return `folder`.

    Some are incomplete or below the best baseline, as models of a few hundred million parameters are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("model-00", "model-01", "model-02", "model-03"):
        _write(folder, name, _record(name))
    program = _record("model-02")
    program["scenario"] |= {"name": "tool-x", "track": "command"}
    _write(folder, "tool-x", program)
    older = _record("model-02")
    older["scenario"]["name"] = "older"
    older["run"]["scorer_version"] = "0"
    _write(folder, "older", older)
    service = _record("model-02")
    service["scenario"] |= {"name": "service", "track": "remote"}
    for case in service["cases"][:SILENT]:
        for view in (case, case["raw_view"]):
            view |= {"output": "", "validation_status": "rejected", "validation_flags": ["empty_output"]}
    _write(folder, "service", service)
    for file in (STORED / "published").glob("*.json.gz"):
        shutil.copy(file, folder)
    return folder


def _record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((STORED / "v2" / f"{name}.json.gz").read_bytes()))
    return found


def _write(folder: Path, name: str, record: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")


def texts_of(value: object) -> Iterator[str]:
    """Yield every text of JSON values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)

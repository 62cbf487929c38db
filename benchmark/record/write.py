"""Writes result files."""

from __future__ import annotations

import json
from pathlib import Path

from benchmark.record.base import to_json
from benchmark.record.result import Result
from ctxsift.files import write_atomically


def result_text(result: Result) -> str:
    """Return the text of a result file."""
    return json.dumps(to_json(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_result(path: Path, result: Result) -> None:
    """Write `result` so that `path` is either absent, the old file, or complete. Raises OSError."""
    write_atomically(path, result_text(result))

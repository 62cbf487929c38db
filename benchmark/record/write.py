"""Writes result files, and nothing in them that would not be read back."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchmark.record.base import from_json, refusal, to_json
from benchmark.record.earlier import with_text
from benchmark.record.read import RESULT_FILE, agreeing, stored
from benchmark.record.result import Outcome, Result
from ctxsift.files import PRIVATE, write_atomically
from ctxsift.strict_json import check


def result_text(result: Result) -> str:
    """Return the text of a result file. Raises InputError, naming the place, when it would not be read back."""
    name = f"the result of {result.scenario.name}"
    text = RESULT_FILE.text(result, name)
    # Raises where a case appears twice, or a figure does not follow from the cases.
    agreeing(stored(Path(name), result))
    return text


def write_result(path: Path, result: Result, *, is_private: bool = False) -> None:
    """Write `result` so that `path` is either absent, the old file, or complete.

    Args:
        path: where.
        result: what to write.
        is_private: nobody but its owner may read a new file.

    Raises:
        InputError: it would not be read back.
        OSError: it cannot be written.

    """
    write_atomically(path, result_text(result), mode=PRIVATE if is_private else None)


def why_unreadable(outcome: Outcome) -> str | None:
    """Say why the outcome of a case would not be read back, and where; None when it would be."""
    try:
        written = to_json(outcome)
        check(written)
        from_json(Outcome, with_text(written))
    except msgspec.ValidationError as error:
        return ": ".join(refusal(error))
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return None

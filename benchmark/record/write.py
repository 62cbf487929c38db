"""Writes result files, and nothing in them that would not be read back."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from benchmark.record.base import from_json, refusal, to_json
from benchmark.record.earlier import with_text
from benchmark.record.read import MOST_MB, as_result
from benchmark.record.result import Outcome, Result
from ctxsift.errors import InputError
from ctxsift.files import encoded, write_atomically
from ctxsift.strict_json import check, decode

_HINT = "this is a fault of the benchmark; the answers are kept where they were: in the journal, or the older file"

_FEWER = "the answers are in the journal; run fewer cases at a time (--max-cases), or allow shorter answers"


def result_text(result: Result) -> str:
    """Return the text of a result file. Raises InputError, naming the place, when it would not be read back."""
    name = f"the result of {result.scenario.name}"
    try:
        written = to_json(result)
        check(written)
        text = json.dumps(written, indent=1, ensure_ascii=False) + "\n"
        content = encoded(text)
        if len(content) > MOST_MB * 1_000_000:
            raise InputError(name, f"would be larger than {MOST_MB} MB, which nothing reads", _FEWER)
        read = decode(content)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(name, f"cannot be written ({error})", _HINT) from error
    try:
        as_result(Path(name), read)
    except InputError as error:
        raise InputError(error.where, f"would not be read back: {error.problem}", _HINT) from error
    return text


def write_result(path: Path, result: Result) -> None:
    """Write `result` so that `path` is either absent, the old file, or complete.

    Raises:
        InputError: it would not be read back.
        OSError: it cannot be written.

    """
    write_atomically(path, result_text(result))


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

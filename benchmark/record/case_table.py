"""Cases as rows of one flat table; its columns are called as in result files."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TypeAlias

from benchmark.record.read import StoredResult
from benchmark.record.result import Answered, InstrumentFailure, Outcome
from ctxsift.strict_json import printable_json

Cell: TypeAlias = str | int | float | None
_RESULT = ("scenario", "timestamp", "track", "model")
_QUESTION = ("case_id", "capture", "domain", "tool", "family", "intent", "output_mode", "difficulty")
_VERDICT = ("outcome", "failure_reason")
# Column -> attribute of an answered case.
_ANSWER = {
    "validation_status": "recovered.validation_status",
    "case_score": "recovered.case_score",
    "exact_preservation_ratio": "recovered.preserve",
    "summary_quality_ratio": "recovered.quality",
    "format_adherence_score": "recovered.format",
    "brevity_ratio": "recovered.brevity",
    "instruction_following_score": "recovered.instruction",
    "thought_leakage_density": "recovered.thought_density",
    "inference_ms": "generation.total_ms",
    "prefill_ms": "generation.prefill_ms",
    "decode_ms": "generation.decode_ms",
    "prompt_tokens": "generation.prompt_tokens",
    "completion_tokens": "generation.completion_tokens",
    "input_tokens": "input_tokens",
    "output_tokens": "recovered.output_tokens",
    "finish_reason": "generation.finish_reason",
    "cost_usd": "generation.cost_usd",
    "error": "error",
}
_LISTS = {"validation_flags": "recovered.validation_flags", "missing_tokens": "recovered.missing_tokens"}
_RAW = {"raw_validation_status": "raw.validation_status", "raw_case_score": "raw.case_score"}

CASE_TABLE_HEADER = (*_RESULT, *_QUESTION, *_VERDICT, *_ANSWER, *_LISTS, *_RAW)

_question = attrgetter(*_QUESTION)
_answer = attrgetter(*_ANSWER.values())
_lists = attrgetter(*_LISTS.values())
_raw = attrgetter(*_RAW.values())


def case_table(result: StoredResult) -> Iterator[list[Cell]]:
    """Yield a row for each case: scores of both views, no texts; lists are JSON, since tokens hold spaces."""
    scenario = result.record.scenario
    of_result: list[Cell] = [scenario.name, result.timestamp, scenario.track, scenario.model]
    for case in result.record.cases:
        yield [*of_result, *_question(case.question), str(type(case).__struct_config__.tag), *_cells(case)]


def _cells(case: Outcome) -> list[Cell]:
    if isinstance(case, Answered):
        lists = [printable_json(values) for values in _lists(case)]
        return [case.failure_reason, *_answer(case), *lists, *_raw(case)]
    return _cells_unanswered(case)


def _cells_unanswered(case: InstrumentFailure) -> list[Cell]:
    answer: dict[str, Cell] = dict.fromkeys(_ANSWER)
    answer["error"] = case.error
    return [None, *answer.values(), *(["[]"] * len(_LISTS)), *([None] * len(_RAW))]

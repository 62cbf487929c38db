"""Cases as JSON lines in the published field names: for other tools, and for other people's corpora."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from benchmark.cases import Capture, Case, Rules
from benchmark.corpus.canary import CANARY_STRING
from benchmark.corpus.records import Judgement, PublishedCase, PublishedRules, renamed
from benchmark.typed_input import convert
from ctxsift.contracts import OutputMode, contract_of
from ctxsift.errors import InputError
from ctxsift.files import read_bytes
from ctxsift.strict_json import decode
from ctxsift.terminal import one_line

_MOST_VALUES = 200_000
_NO_ECOSYSTEM = "other"
# Further wrong lines that an error names.
_MOST_NAMED = 20
# How alike the name of an unknown field and that of a missing one must be.
_SLIP = 0.8


def case_row(case: Case) -> dict[str, Any]:
    """Return a case as the JSON values of its line, marked with the canary string."""
    row: dict[str, Any] = msgspec.to_builtins(_published(case))
    return row | {"canary": CANARY_STRING}


def _published(case: Case) -> PublishedCase:
    rules = case.rules
    pattern = rules.pattern if case.output_mode is OutputMode.REGEX_CONSTRAINED else None
    return PublishedCase(
        case_id=case.case_id,
        domain=case.capture.ecosystem,
        title=case.title,
        instruction=case.instruction,
        raw_input=case.raw_input,
        family=case.family,
        intent=case.intent,
        ecosystem=case.capture.ecosystem,
        difficulty=case.difficulty,
        output_mode=case.output_mode,
        expected_output=case.expected_output,
        required_anchors=case.required_anchors,
        forbidden_content=rules.forbidden,
        judgement=Judgement(
            format_check=pattern or case.output_mode.value,
            anchor_check="all",
            # What brevity leaves free: 15% over gold, in words.
            max_extra_tokens=math.ceil(0.15 * len(case.expected_output.split())),
            pass_rule="usable, and every anchor kept",
        ),
        tags=case.tags,
        rationale=case.rationale,
        alternatives=case.alternatives,
        derived_anchors=case.derived_anchors,
        rules=PublishedRules(
            max_lines=rules.max_lines,
            max_words=rules.max_words,
            max_sentences=rules.max_sentences,
            max_items=rules.max_items,
            pattern=rules.pattern,
            order=rules.order,
        ),
        capture=case.capture,
        statements=case.statements,
        must_not=case.must_not,
    )


def read_jsonl(path: Path) -> tuple[list[Case], str]:
    """Return the cases of a JSONL file and the hash of its bytes. Unknown fields are ignored, except for slips.

    Raises:
        InputError: naming file, line and field.

    """
    content = read_bytes(path, "give --dataset a .jsonl file", most_mb=64)
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"cannot be read as UTF-8 ({error})", "save it as UTF-8") from error
    cases: list[Case] = []
    wrong: list[tuple[int, InputError]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                cases.append(_case(_parse(line, f"{path}:{number}"), f"{path}:{number}"))
            except InputError as error:
                wrong.append((number, error))
    if wrong:
        raise _with_others(wrong)
    if not cases:
        raise InputError(str(path), "has no cases", "write one JSON object per line")
    return cases, hashlib.sha256(content).hexdigest()


def _with_others(wrong: Sequence[tuple[int, InputError]]) -> InputError:
    """Return the error of the first invalid line, and add the numbers of the others: a person can fix all at once."""
    (_, first), *others = wrong
    if not others:
        return first
    numbers = ", ".join(str(number) for number, _ in others[:_MOST_NAMED])
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    return InputError(first.where, first.problem, f"{first.hint}; also wrong: line {numbers}{more}")


def _parse(line: str, where: str) -> PublishedCase:
    try:
        row = decode(line.encode(), most_values=_MOST_VALUES, once=True)
        # Half a character (a lone surrogate) could be read, but then not be written anywhere.
        json.dumps(row, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        problem = f"not valid JSON: {getattr(error, 'msg', error)}"
        raise InputError(where, problem, "write one JSON object per line") from error
    if not isinstance(row, dict):
        return _converted(row, where)
    fields = renamed(row)
    _refuse_slips(fields, where)
    return _converted(fields, where)


def _converted(row: Any, where: str) -> PublishedCase:
    found: PublishedCase = convert(PublishedCase, row, where)
    return found


def _refuse_slips(row: dict[str, Any], where: str) -> None:
    """Raise InputError for a field that is unknown and a slip of one that is missing; other unknown ones may stay."""
    known = set(PublishedCase.__struct_fields__)
    missing = sorted(known - row.keys())
    for key in sorted(row.keys() - known):
        if near := difflib.get_close_matches(key, missing, n=1, cutoff=_SLIP):
            raise InputError(f"{where}: /{one_line(key)}", "unknown field", f"did you mean {near[0]}?")


def _case(row: PublishedCase, where: str) -> Case:
    return Case(
        case_id=row.case_id,
        title=row.title or row.case_id,
        capture=_capture_of(row),
        family=row.family,
        intent=row.intent,
        # Whether it goes with the intent is for `check` to say.
        output_mode=row.output_mode or contract_of(row.intent).modes[0],
        difficulty=row.difficulty,
        instruction=row.instruction,
        raw_input=row.raw_input,
        expected_output=row.expected_output,
        alternatives=row.alternatives,
        required_anchors=row.required_anchors,
        derived_anchors=row.derived_anchors,
        rules=_rules(row),
        tags=row.tags,
        rationale=row.rationale,
        where=where,
        statements=row.statements,
        must_not=row.must_not,
    )


def _capture_of(row: PublishedCase) -> Capture:
    """Return the capture of a row, with ecosystem and tool; rows without one share a capture by their input."""
    ecosystem = row.ecosystem or row.domain or _NO_ECOSYSTEM
    digest = hashlib.sha256(row.raw_input.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    given = row.capture or Capture(f"{ecosystem}/{digest}")
    ecosystem = given.ecosystem.strip() or ecosystem
    return replace(given, ecosystem=ecosystem, tool=given.tool.strip() or row.domain or ecosystem)


def _rules(row: PublishedCase) -> Rules:
    rules, pattern = row.rules, row.rules.pattern
    if pattern is None and row.judgement is not None and row.output_mode is OutputMode.REGEX_CONSTRAINED:
        pattern = row.judgement.format_check or None
    return Rules(
        max_lines=rules.max_lines,
        max_words=rules.max_words,
        max_sentences=rules.max_sentences,
        max_items=rules.max_items,
        forbidden=row.forbidden_content,
        pattern=pattern,
        order=rules.order,
    )

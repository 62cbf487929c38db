"""Cases as JSON lines in the published field names: for other tools, and for other people's corpora."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmark.corpus.cases import Capture, Case, Difficulty, Family, Rules
from benchmark.fields import Fields
from ctxsift.contracts import Intent, OutputMode, contract_of
from ctxsift.errors import InputError
from ctxsift.files import read_bytes
from ctxsift.payloads import refuse_constant

# Older rows name two fields otherwise.
_ANCHORS = ("required_anchors", "must_preserve_tokens")
_GOLD = ("expected_output", "ideal_summary")
_COUNTED_RULES = ("max_lines", "max_words", "max_sentences", "max_items")


def case_row(case: Case) -> dict[str, Any]:
    """Return a case as JSON values: the published fields, and behind them what only our corpora have."""
    pattern = case.rules.pattern if case.output_mode is OutputMode.REGEX_CONSTRAINED else None
    return {
        "case_id": case.case_id,
        "domain": case.capture.ecosystem,
        "title": case.title,
        "instruction": case.instruction,
        "raw_input": case.raw_input,
        "family": str(case.family),
        "intent": str(case.intent),
        "ecosystem": case.capture.ecosystem,
        "difficulty": str(case.difficulty),
        "output_mode": str(case.output_mode),
        "expected_output": case.expected_output,
        "required_anchors": list(case.required_anchors),
        "forbidden_content": list(case.rules.forbidden),
        "judgement": {
            "format_check": pattern or str(case.output_mode),
            "anchor_check": "all",
            # What brevity leaves free: 15 % over gold, in words.
            "max_extra_tokens": math.ceil(0.15 * len(case.expected_output.split())),
            "pass_rule": "usable, and every anchor kept",
        },
        "tags": list(case.tags),
        "rationale": case.rationale,
        "alternatives": list(case.alternatives),
        "derived_anchors": list(case.derived_anchors),
        "rules": {key: value for key, value in asdict(case.rules).items() if value and key != "forbidden"},
        "capture": asdict(case.capture),
    }


def read_jsonl(path: Path) -> tuple[list[Case], str]:
    """Return the cases of a JSONL file and the hash of its bytes. Fields that nobody asks for are passed over.

    Raises:
        InputError: naming file, line and field.

    """
    content = read_bytes(path, "give --dataset a .jsonl file", most_mb=64)
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"cannot be read as UTF-8 ({error})", "save it as UTF-8") from error
    cases = [_case(_parse(line, f"{path}:{n}"), f"{path}:{n}") for n, line in enumerate(lines, 1) if line.strip()]
    if not cases:
        raise InputError(str(path), "holds no case", "write one JSON object a line")
    return cases, hashlib.sha256(content).hexdigest()


def _parse(line: str, where: str) -> Fields:
    try:
        row = json.loads(line, parse_constant=refuse_constant)
        # Half a character (a lone surrogate) could be read, and then nowhere be written.
        json.dumps(row, ensure_ascii=False).encode()
        return Fields(row, where)
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"no JSON: {getattr(error, 'msg', error)}", "write one JSON object a line") from error


def _case(row: Fields, where: str) -> Case:
    raw_input = row.text("raw_input")
    intent = row.choice("intent", Intent)
    modes = contract_of(intent).modes
    return Case(
        case_id=row.text("case_id"),
        title=row.text("title", "") or row.text("case_id"),
        capture=_capture(row, raw_input),
        family=row.choice("family", Family),
        intent=intent,
        # Whether it goes with the intent is for `check` to say.
        output_mode=row.choice("output_mode", OutputMode) if row.has("output_mode") else modes[0],
        difficulty=row.choice("difficulty", Difficulty) if row.has("difficulty") else Difficulty.MEDIUM,
        instruction=row.text("instruction"),
        raw_input=raw_input,
        expected_output=row.text(_first(row, _GOLD)),
        alternatives=row.texts("alternatives"),
        required_anchors=row.texts(_first(row, _ANCHORS)),
        derived_anchors=row.texts("derived_anchors"),
        rules=_rules(row),
        tags=row.texts("tags"),
        rationale=row.text("rationale", ""),
        where=where,
    )


def _first(row: Fields, names: Iterable[str]) -> str:
    """Return the first of `names` that the row has, else the first: the error then names that."""
    names = list(names)
    return next((name for name in names if row.has(name)), names[0])


def _capture(row: Fields, raw_input: str) -> Capture:
    ecosystem = row.text("ecosystem", "") or row.text("domain", "") or "other"
    if not row.has("capture"):
        # Cases on the same text share a capture.
        digest = hashlib.sha256(raw_input.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        tool = row.text("domain", "") or ecosystem
        return Capture(f"{ecosystem}/{digest}", ecosystem, tool, "", "", 0, "unknown", ())
    inner = row.inner("capture")
    return Capture(
        name=inner.text("name"),
        ecosystem=inner.text("ecosystem"),
        tool=inner.text("tool"),
        version=inner.text("version", ""),
        command=inner.text("command", ""),
        exit_code=inner.whole("exit_code", 0) or 0,
        origin=inner.text("origin", "unknown"),
        normalised=inner.texts("normalised"),
    )


def _rules(row: Fields) -> Rules:
    inner = row.inner("rules") if row.has("rules") else Fields({}, row.where)
    pattern = inner.text("pattern") if inner.has("pattern") else None
    if pattern is None and row.has("judgement") and row.text("output_mode", "") == OutputMode.REGEX_CONSTRAINED:
        pattern = row.inner("judgement").text("format_check", "") or None
    most = {name: inner.whole(name, least=1) for name in _COUNTED_RULES}
    return Rules(**most, forbidden=row.texts("forbidden_content"), pattern=pattern, order=inner.texts("order"))

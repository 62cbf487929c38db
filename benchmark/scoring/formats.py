"""format: whether the answer has the shape that was asked for. Near misses score partway, wrong kinds very low."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import regex
from rapidfuzz.distance import Levenshtein

from benchmark.corpus.cases import Case
from benchmark.scoring.component import Component, clamp
from ctxsift.contracts import Intent, Kind, OutputMode, contract_of
from ctxsift.payloads import parse_payload
from ctxsift.validation import excerpt_lines, outer_fence

PATTERN_TIMEOUT_S = 0.25
_MARKUP = re.compile(r"\s*(?:#{1,6} |[-*+•] |\d+[.)] |\||```|~~~)")
_BROKEN_SHARE = 0.35


def score_format(text: str, reference: str, case: Case) -> Component:
    """Return how well `text` keeps the contract of `case`, with `reference` as its right shape."""
    if not text.strip():
        return Component(0.0, ("empty",))
    if text == reference:
        return Component(1.0)
    kind = contract_of(case.intent).kind
    if kind is Kind.PLAIN:
        return _plain(text, case)
    if kind is Kind.STRUCTURED:
        return _structured(text, reference, case.intent)
    return _exact_lines(text, reference, case) if case.intent is Intent.EXACT_LINES else _value(text, reference, case)


def _plain(text: str, case: Case) -> Component:
    lines = [line for line in text.splitlines() if line.strip()]
    if excerpt_lines(text, case.raw_input) >= max(2, len(lines) / 3):
        return Component(0.0, ("a verbatim excerpt, no prose",))
    if parse_payload(Intent.JSON, text) is not None:
        return Component(0.0, ("JSON, no prose",))
    marked = sum(bool(_MARKUP.match(line)) for line in lines)
    if not marked:
        return Component(1.0)
    return Component(clamp(0.7 - 0.6 * marked / len(lines)), (f"{marked} lines of markup in plain text",))


def _exact_lines(text: str, reference: str, case: Case) -> Component:
    known = {line.rstrip("\r") for line in case.raw_input.split("\n")}
    stripped = {line.strip() for line in known}
    said = [line for line in text.splitlines() if line.strip()]
    wanted = [line for line in reference.splitlines() if line.strip()]
    verbatim = sum(1.0 if line in known else 0.8 if line.strip() in stripped else 0.0 for line in said)
    precision = verbatim / len(said)
    # All lines of a dump are verbatim, so the number of lines counts too.
    size = min(len(said), len(wanted)) / max(len(said), len(wanted))
    right = len({line.strip() for line in wanted} & {line.strip() for line in said}) / len(wanted)
    score = min(0.999 if said != wanted else 1.0, precision * size * (0.3 + 0.7 * right))
    reasons = [f"{len(said) - round(verbatim)} lines are not in the input"] if verbatim < len(said) - 0.5 else []
    if len(said) != len(wanted):
        reasons.append(f"{len(said)} lines instead of {len(wanted)}")
    return Component(score, tuple(reasons))


def _value(text: str, reference: str, case: Case) -> Component:
    said, wanted = text.strip(), reference.strip()
    if said == wanted:
        return Component(0.98, ("blanks around the value",))
    lines = [line for line in said.splitlines() if line.strip()]
    matches = case.output_mode is OutputMode.REGEX_CONSTRAINED and matches_pattern(said, case.rules.pattern)
    near = Levenshtein.normalized_similarity(said[:2000], wanted)
    if len(lines) > 1 or len(said) > 4 * len(wanted) + 40:
        # The value somewhere in a longer text is not the value.
        return Component(0.1 if wanted in said else 0.05 * near, ("more than the value",))
    if wanted in said:
        return Component(0.6 * clamp(len(wanted) / len(said), 0.3), ("the value with something around it",))
    score = 0.85 * near if near >= 0.75 else 0.5 * near * near
    return Component(max(score, 0.25 if matches else 0.0), (f"another value (similarity {near:.2f})",))


def _structured(text: str, reference: str, intent: Intent) -> Component:
    fence = outer_fence(text)
    body = fence if fence is not None else text
    said, wanted = parse_payload(intent, body), parse_payload(intent, reference)
    if said is None:
        return Component(_broken(text, intent), (f"does not parse as {intent}",))
    shape, reasons = _SHAPES[intent](said, wanted)
    score = 0.4 + 0.6 * shape
    if fence is not None:
        score, reasons = 0.6 * score, [*reasons, "inside a code fence"]
    return Component(score, tuple(reasons[:6]))


def _broken(text: str, intent: Intent) -> float:
    """Return the small credit of text that tries to be of its kind: the share of lines that could be."""
    lines = [line for line in text.splitlines() if line.strip()]
    looks = {
        Intent.JSON: r'\s*(?:[{}\[\]]|"[^"]*"\s*[:,]?)',
        Intent.YAML: r"\s*(?:- |[\w.-]+:(?:\s|$))",
        Intent.TABLE: r"\s*\|",
        Intent.BULLET_LIST: r"\s*[-*•] ",
    }[intent]
    share = sum(bool(re.match(looks, line)) for line in lines) / len(lines)
    return _BROKEN_SHARE * clamp((share - 0.5) * 2)


def _document_shape(said: Any, wanted: Any) -> tuple[float, list[str]]:
    """Compare keys and types; the share of the places in either document that agree."""
    ours, theirs = dict(_paths(wanted)), dict(_paths(said))
    reasons = [f"{path} is missing" for path in ours if path not in theirs]
    reasons += [f"{path} is not asked for" for path in theirs if path not in ours]
    wrong = [path for path in ours if path in theirs and ours[path] != theirs[path]]
    reasons += [f"{path} is {theirs[path]}, not {ours[path]}" for path in wrong]
    both = set(ours) & set(theirs)
    return (len(both) - len(wrong)) / len(set(ours) | set(theirs)), reasons


def _paths(value: Any, path: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        inner = [pair for key, item in value.items() for pair in _paths(item, f"{path}/{key}")]
        return [(path or "/", "object"), *inner]
    if isinstance(value, list):
        inner = [pair for index, item in enumerate(value) for pair in _paths(item, f"{path}/{index}")]
        return [(path or "/", "array"), *inner]
    return [(path or "/", type(value).__name__)]


def _table_shape(said: list[list[str]], wanted: list[list[str]]) -> tuple[float, list[str]]:
    reasons = []
    header = 1.0
    if said[0] != wanted[0]:
        same = [cell.strip("*` ").lower() for cell in said[0]] == [cell.lower() for cell in wanted[0]]
        common = len({c.lower() for c in said[0]} & {c.lower() for c in wanted[0]})
        header = 0.8 if same else 0.6 * common / max(len(said[0]), len(wanted[0]))
        reasons.append(f"columns {said[0]} instead of {wanted[0]}")
    rows = min(len(said), len(wanted)) / max(len(said), len(wanted))
    if rows < 1:
        reasons.append(f"{len(said) - 1} rows instead of {len(wanted) - 1}")
    return 0.5 * header + 0.5 * rows, reasons


def _bullet_shape(said: list[str], wanted: list[str]) -> tuple[float, list[str]]:
    count = min(len(said), len(wanted)) / max(len(said), len(wanted))
    return count, [f"{len(said)} bullets instead of {len(wanted)}"] if count < 1 else []


_SHAPES: dict[Intent, Callable[[Any, Any], tuple[float, list[str]]]] = {
    Intent.JSON: _document_shape,
    Intent.YAML: _document_shape,
    Intent.TABLE: _table_shape,
    Intent.BULLET_LIST: _bullet_shape,
}


def matches_pattern(text: str, pattern: str | None) -> bool:
    """Say whether the whole of `text` matches; a pattern that explodes or does not compile matches nothing."""
    if pattern is None:
        return False
    try:
        return regex.fullmatch(pattern, text[:2000], timeout=PATTERN_TIMEOUT_S) is not None
    except (TimeoutError, regex.error):
        return False

"""format: whether the answer has the shape that was asked for. Near misses score partway, wrong kinds very low."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rapidfuzz import fuzz, process
from rapidfuzz.distance import LCSseq

from benchmark.cases import Case
from benchmark.patterns import PatternError, compiled
from benchmark.scoring.component_score import ComponentScore, clamp
from benchmark.scoring.exact_values import same_value, value_similarity
from benchmark.scoring.gold_schema import keep_schema
from benchmark.scoring.quality import column_name, payload_agreement
from ctxsift.answers.payloads import outer_fence, parse_payload
from ctxsift.answers.validation import excerpt_lines
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent

PATTERN_TIMEOUT_S = 0.25
_MARKUP = re.compile(r"\s*(?:#{1,6} |[-*+•] |\d+[.)] |\||```|~~~)")
_BROKEN_SHARE = 0.35
_EMPTY_FORM = 0.3
# What is left of the header of a table with the right columns: in other case or emphasis, in another order.
_OTHER_DRESS, _OTHER_ORDER = 0.9, 0.8
# Fuzzy ratio from which two bullets or rows speak of the same thing.
_SAME_ITEM = 50


def score_format(text: str, reference: str, case: Case) -> ComponentScore:
    """Return how well `text` keeps the contract of `case`, with `reference` as its right shape."""
    if not text.strip():
        return ComponentScore(0.0, ("empty",))
    if text == reference:
        return ComponentScore(1.0)
    kind = contract_of(case.intent).kind
    if kind is ContractKind.PLAIN:
        return _plain(text, case)
    if kind is ContractKind.STRUCTURED:
        return _structured(text, reference, case.intent)
    return _exact_lines(text, reference, case) if case.intent is Intent.EXACT_LINES else _value(text, reference)


def _plain(text: str, case: Case) -> ComponentScore:
    lines = [line for line in text.splitlines() if line.strip()]
    if excerpt_lines(text, case.raw_input) >= max(2, len(lines) / 3):
        return ComponentScore(0.0, ("a verbatim excerpt, not prose",))
    if parse_payload(Intent.JSON, text) is not None:
        return ComponentScore(0.0, ("JSON, not prose",))
    marked = sum(bool(_MARKUP.match(line)) for line in lines)
    if not marked:
        return ComponentScore(1.0)
    # By count and not by share, which more text would only dilute.
    return ComponentScore(clamp(0.7 - 0.2 * marked, 0.1), (f"{marked} lines of markup in plain text",))


def _filled_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _exact_lines(text: str, reference: str, case: Case) -> ComponentScore:
    known = {line.rstrip("\r") for line in case.raw_input.split("\n")}
    stripped = {line.strip() for line in known}
    said, wanted = _filled_lines(text), _filled_lines(reference)
    foreign = [line for line in said if line.strip() not in stripped]
    respaced = [line for line in said if line not in known and line.strip() in stripped]
    # All lines of a dump are verbatim, so which lines, how many and in which order counts too.
    right = LCSseq.similarity([line.strip() for line in said], [line.strip() for line in wanted])
    overlap = right / (len(said) + len(wanted) - right)
    verbatim = clamp(1 - (len(foreign) + 0.2 * len(respaced)) / len(wanted))
    reasons = [f"{len(foreign)} lines are not in the input"] if foreign else []
    reasons += [f"{len(respaced)} lines have different white space"] if respaced else []
    if len(said) != len(wanted):
        reasons.append(f"{len(said)} lines instead of {len(wanted)}")
    score = verbatim * (0.3 * min(1.0, len(wanted) / len(said)) + 0.7 * overlap)
    return ComponentScore(min(0.999 if said != wanted else 1.0, score), tuple(reasons))


def _value(text: str, reference: str) -> ComponentScore:
    said, wanted = text.strip(), reference.strip()
    if said == wanted:
        return ComponentScore(0.98, ("white space around the value",))
    if not same_value(said[:2000], wanted):
        return ComponentScore(0.0, ("another value",))
    lines = [line for line in said.splitlines() if line.strip()]
    if len(lines) > 1 or len(said) > 4 * len(wanted) + 40:
        # The value somewhere in a longer text is not the value.
        return ComponentScore(0.1, ("more than the value",))
    around = 0.6 * clamp(len(wanted) / len(said), 0.3)
    near = 0.85 * value_similarity(said, wanted)
    if wanted in said:
        return ComponentScore(max(near, around), ("the value with something around it",))
    return ComponentScore(near, ("the value in other dress: case, punctuation or spacing",))


def _structured(text: str, reference: str, intent: Intent) -> ComponentScore:
    fence = outer_fence(text)
    body = fence if fence is not None else text
    said, wanted = parse_payload(intent, body), parse_payload(intent, reference)
    if said is None:
        return ComponentScore(_broken(text, intent), (f"does not parse as {intent}",))
    shape, reasons = _SHAPES[intent](said, wanted)
    # The right keys around wrong values are an empty form.
    score = shape * (_EMPTY_FORM + (1 - _EMPTY_FORM) * payload_agreement(body, reference, intent)[0])
    if fence is not None:
        score, reasons = 0.6 * score, [*reasons, "inside a code fence"]
    return ComponentScore(score, tuple(reasons[:6]))


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


def _table_shape(said: list[list[str]], wanted: list[list[str]]) -> tuple[float, list[str]]:
    """Return the overlap of two tables in columns and rows, in [0, 1]; the cells are compared by `payload_agreement`.

    A header that differs in case or emphasis, or columns in another order, cost once, here.
    """
    names, asked = ([column_name(cell) for cell in table[0]] for table in (said, wanted))
    header = 1.0
    if said[0] != wanted[0]:
        common = len(set(names) & set(asked))
        share = common / max(len(names), len(asked))
        header = (_OTHER_DRESS if names == asked else _OTHER_ORDER) if share == 1 else 0.6 * share
    reasons = [f"columns {said[0]} instead of {wanted[0]}"] if header < 1 else []
    places = [names.index(name) for name in asked] if sorted(names) == sorted(asked) else range(len(names))
    rows, found = _items(
        [" ".join(row[place] for place in places) for row in said[1:]], [" ".join(row) for row in wanted[1:]], "rows"
    )
    return 0.5 * header + 0.5 * rows, reasons + found


def _bullet_shape(said: list[str], wanted: list[str]) -> tuple[float, list[str]]:
    return _items(said, wanted, "bullets")


def _items(said: list[str], wanted: list[str], name: str) -> tuple[float, list[str]]:
    """Return the overlap of two lists of items, in [0, 1]: a wrong item does not make up for a lost one."""
    if not said or not wanted:
        return float(said == wanted), [] if said == wanted else [f"{len(said)} {name} instead of {len(wanted)}"]
    left, matched = list(dict.fromkeys(said[:500])), 0
    for item in wanted:
        best = process.extractOne(item, left, scorer=fuzz.ratio, score_cutoff=_SAME_ITEM)
        if best is not None:
            matched += 1
            del left[best[2]]
    overlap = matched / (len(said) + len(wanted) - matched)
    return overlap, [f"{len(said)} {name}, {matched} of the {len(wanted)} in gold"] if overlap < 1 else []


_SHAPES: dict[Intent, Callable[[Any, Any], tuple[float, list[str]]]] = {
    Intent.JSON: keep_schema,
    Intent.YAML: keep_schema,
    Intent.TABLE: _table_shape,
    Intent.BULLET_LIST: _bullet_shape,
}


def matches_pattern(text: str, pattern: str | None) -> bool:
    """Say whether the whole of `text` matches; a pattern that explodes or does not compile matches nothing."""
    if pattern is None:
        return False
    try:
        return compiled(pattern).fullmatch(text[:2000], timeout=PATTERN_TIMEOUT_S) is not None
    except (TimeoutError, MemoryError, PatternError):
        return False

"""instruction following: the format, and every rule of the case that a machine can check."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from benchmark.cases import Case, Rules
from benchmark.scoring.component_score import ComponentScore
from benchmark.scoring.formats import matches_pattern
from benchmark.whole_tokens import has_token, token_place
from ctxsift.answers.payloads import parse_payload
from ctxsift.intents import Intent

_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z\"'`(\[]|\s*\Z)")


def score_instruction(text: str, case: Case, format_score: float) -> ComponentScore:
    """Return the mean of the format score and of every rule's fulfilment in [0, 1]."""
    if not text.strip():
        return ComponentScore(0.0, ("empty",))
    checks = list(check_rules(text, case.rules, case.intent))
    score = (format_score + sum(kept for kept, _ in checks)) / (1 + len(checks))
    return ComponentScore(score, tuple(reason for kept, reason in checks if kept < 1))


def check_rules(text: str, rules: Rules, intent: Intent) -> Iterator[tuple[float, str]]:
    """Yield for each rule how far it is kept, in [0, 1], and what is wrong."""
    counts = (
        ("lines", rules.max_lines, sum(bool(line.strip()) for line in text.splitlines())),
        ("words", rules.max_words, len(text.split())),
        ("sentences", rules.max_sentences, count_sentences(text)),
        ("items", rules.max_items, count_items(text, intent)),
    )
    for unit, most, found in counts:
        if most is not None:
            # At one and a half times the limit, nothing of the rule is left.
            kept = 1.0 if found <= most else max(0.0, 1 - 2 * (found - most) / most)
            yield min(kept, 0.9) if found > most else kept, f"{found} {unit}, at most {most} allowed"
    for token in rules.forbidden:
        yield float(not has_token(text, token)), f"contains {token}, which was to be left out"
    if rules.pattern is not None:
        yield float(matches_pattern(text.strip(), rules.pattern)), f"does not match {rules.pattern}"
    if rules.order:
        kept = in_order(text, rules.order)
        yield kept, f"not in the order {', '.join(rules.order)}"


def count_sentences(text: str) -> int:
    """Count sentences: an end mark followed by white space and an upper-case start, or by the end."""
    stripped = text.strip()
    if not stripped:
        return 0
    ends = len(_SENTENCE_END.findall(stripped))
    return ends if stripped[-1] in ".!?" else ends + 1


def count_items(text: str, intent: Intent) -> int:
    """Count bullets, table rows or list items; other texts count their non-blank lines."""
    payload = parse_payload(intent, text)
    if isinstance(payload, list):
        return len(payload) - 1 if intent is Intent.TABLE else len(payload)
    if isinstance(payload, dict):
        lists = [len(value) for value in payload.values() if isinstance(value, list)]
        return max(lists, default=len(payload))
    return sum(bool(line.strip()) for line in text.splitlines())


def in_order(text: str, tokens: tuple[str, ...]) -> float:
    """Return the share of neighbouring pairs of `tokens` that are in the order asked for."""
    places = [token_place(text, token) for token in tokens]
    pairs = list(itertools.pairwise(places))
    return sum(-1 < a < b for a, b in pairs) / len(pairs) if pairs else float(places[0] >= 0)

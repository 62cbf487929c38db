"""The best that can be done without understanding: facts of the output near words of the instruction.

A fact is a name, path, number or quoted text. Lines are weighed by the words that they share with the instruction, rare
ones more. What is asked for is guessed by its name: a path looks like a path, a count is a number. Nothing here knows
what a sentence means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ctxsift.backends.baselines_shapes import Field, Row, Value, requested_fields, shaped, wants_many
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from ctxsift.relevance import OutputLine, nearest_lines, words

_SAID_LINES, _SAID_FACTS = 4, 14
_ROWS, _ITEMS = 5, 4
# A line that shares this much of what the best one does is asked for, too.
_ALIKE = 0.6
_QUOTED = re.compile(r"\"([^\"\n]{2,60})\"|'([^'\n]{2,60})'|`([^`\n]{2,60})`")
_FACT = re.compile(r"[\w./:@+=#-]*\w")
# What a value looks like whose name holds such a word; the first that fits.
_LOOKS = tuple(
    (re.compile(rf"\b(?:{words})", re.IGNORECASE), re.compile(pattern))
    for words, pattern in (
        ("digest|sha256", r"sha256:[0-9a-f]{16,64}"),
        ("hash|commit", r"\b[0-9a-f]{7,40}\b"),
        ("address", r"\b0x[0-9a-f]+\b"),
        ("position|path:line|file:line|location|at|frame|place", r"[\w./-]+:\d+(?::\d+)?"),
        ("version", r"\b\d+(?:\.\d+)+[\w.-]*"),
        ("path|file|folder|directory", r"[\w.-]*/[\w./-]+|\b\w+\.[a-z]{1,5}\b"),
        ("integer|number|count|how many|port|line|total|errors|warnings|exit", r"(?<![\w.])\d+(?![\w.])"),
        ("code|rule|lint", r"\b[A-Z]+-?\d+\b|\b\w+[-_]\w+\b"),
        ("class|exception", r"\b[\w.]*(?:Error|Exception)\b"),
        ("test|function|method", r"\btest_?\w+|\b\w+_\w+\b"),
    )
)
_IS_NUMBER = re.compile(r"\b(?:integers?|numbers?|count|how many)\b", re.IGNORECASE)


def extract(request: Request) -> str:
    """Return facts near the words of the instruction, in the format that the contract requires."""
    intent, instruction = request.intent, request.instruction
    best = nearest_lines(request.raw_input.splitlines(), instruction)
    if not best:
        return shaped(intent, (), [{"ok": "ok"}])
    if contract_of(intent).kind is ContractKind.PLAIN:
        return _said(best)
    if intent is Intent.EXACT_FORMAT:
        return _value(Field("", instruction), best)
    alike = _in_order(line for line in best if line.weight >= _ALIKE * best[0].weight)
    if intent is Intent.EXACT_LINES:
        return "\n".join(line.text for line in alike[: 2 * _ROWS])
    if intent is Intent.BULLET_LIST:
        return shaped(intent, (), [{"": " ".join(_facts(line)) or line.text} for line in alike[:_ROWS]])
    fields = requested_fields(instruction, intent) or (Field("result", ""),)
    many = wants_many(instruction)
    # A row a line where there are many, else each value from the lines nearest to its own name.
    sources = [[line] for line in alike[:_ROWS]] if many or intent is Intent.TABLE else [best]
    return shaped(intent, fields, [_row(fields, lines) for lines in sources], many=many)


def _in_order(lines: Iterable[OutputLine]) -> list[OutputLine]:
    return sorted(lines, key=lambda line: line.place)


def _facts(line: OutputLine) -> list[str]:
    """Return what in a line is a name, path, number or quoted text, each once."""
    quoted = {text for groups in _QUOTED.findall(line.text) for text in groups if text}
    tokens = [*quoted, *(token for token in _FACT.findall(line.text) if _is_fact(token))]
    # Two facts may begin at one place; the order of a set is not the same in every process.
    return list(dict.fromkeys(sorted(tokens, key=lambda fact: (line.text.find(fact), fact))))


def _is_fact(token: str) -> bool:
    return bool(re.search(r"\d|\w[._/:=-]\w|[a-z][A-Z]", token))


def _said(best: Sequence[OutputLine]) -> str:
    """Return one line: the facts of the best lines, each line's with the words that it shares with the instruction."""
    parts: list[str] = []
    left = _SAID_FACTS
    for line in _in_order(best[:_SAID_LINES]):
        facts = _facts(line)[:left]
        left -= len(facts)
        shared = [word for word in re.findall(r"[A-Za-z]{3,}", line.text) if word.lower()[:6] in line.words]
        parts.append(" ".join(dict.fromkeys([*shared[:6], *facts])))
    text = "; ".join(part for part in parts if part)
    return f"{text or best[0].text.strip()}."


def _row(fields: Sequence[Field], lines: Sequence[OutputLine]) -> Row:
    taken: set[str] = set()
    row: dict[str, Value] = {}
    for field in fields:
        if field.is_list:
            values = [_value(field, [line]) for line in _in_order(lines[:_ITEMS])]
            row[field.name] = [_typed(field, value) for value in dict.fromkeys(values)]
        else:
            value = _value(field, lines, taken)
            taken.add(value)
            row[field.name] = _typed(field, value)
    return row


def _typed(field: Field, value: str) -> Value:
    # Longer ones are no counts, and JSON readers differ on them.
    return int(value) if _IS_NUMBER.search(field.about) and re.fullmatch(r"[0-9]{1,15}", value) else value


def _value(field: Field, lines: Sequence[OutputLine], taken: set[str] | None = None) -> str:
    """Return what looks like the value of a field, from the line nearest to its name; a line if nothing does."""
    named = frozenset(words(f"{field.name} {field.about}"))
    near = sorted(lines, key=lambda line: -len(named & frozenset(words(line.text)))) if field.name else lines
    looks = [look for word, look in _LOOKS if word.search(f"{field.name.replace('_', ' ')} {field.about}")]
    used = taken or set()
    for find in [*(look.findall for look in looks), None]:
        for line in near:
            found = _facts(line) if find is None else find(line.text)
            if fresh := next((value for value in found if value not in used), None):
                return fresh
    return near[0].text.strip()

"""What an instruction asks for by name (keys, columns), and text in the shape that a contract wants."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from ctxsift.intents import Intent

Value = str | int | None | list["Value"] | dict[str, "Value"]
Row = Mapping[str, Value]

_MOST_FIELDS = 12
# Instructions are a paragraph; what lies beyond this is none.
_READ_CHARS = 4000
_LISTED = re.compile(r"\b(?:keys?|columns?|fields?)\b(?:[^.:,;]{0,40}:)?", re.IGNORECASE)
_SENTENCE_END = re.compile(r"\.(?:\s|$)")
_BRACKETS = re.compile(r"\(([^()]*)\)")
_BETWEEN = re.compile(r"[,;:]\s|\band\b|\n")
_ITEM = re.compile(
    r"\s*(?!(?:by|in|for|as|with|no|one|of|to|sorted|nothing|ascending)\b)"
    r"[\"'`]?([A-Za-z_]\w*(?: \w+){0,2})[\"'`]?\s*(?:\x00(\d+)\x00)?[^\w(]*"
)
_MARKED = re.compile(r"[\"`]([A-Za-z_]\w*)[\"`]\s*(?:\x00(\d+)\x00)?")
_MANY = re.compile(r"\b(?:list|array)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Field:
    """A key or column that an instruction names.

    Attributes:
        about: what stands in brackets behind the name: "string, as printed".

    """

    name: str
    about: str

    @property
    def is_list(self) -> bool:
        """Whether its value is a list, as far as the brackets tell."""
        return bool(_MANY.search(self.about))


def requested_fields(instruction: str, intent: Intent) -> tuple[Field, ...]:
    """Return the keys (JSON, YAML) or columns (table) that an instruction names, at most twelve, as it orders them."""
    abouts: list[str] = []

    def aside(found: re.Match[str]) -> str:
        abouts.append(found[1])
        return f" \x00{len(abouts) - 1}\x00 "

    text = _BRACKETS.sub(aside, instruction[:_READ_CHARS].replace("\x00", ""))
    pairs = [] if intent is Intent.TABLE else _MARKED.findall(text)
    heading = _LISTED.search(text)
    if not pairs and heading:
        sentence = _SENTENCE_END.split(text[heading.end() :], maxsplit=1)[0]
        listed = (_ITEM.fullmatch(part) for part in _BETWEEN.split(sentence))
        pairs = [(item[1], item[2]) for item in listed if item]
    fields = {name: Field(name, abouts[int(number)] if number else "") for name, number in reversed(pairs)}
    return tuple(reversed(fields.values()))[:_MOST_FIELDS]


def wants_many(instruction: str) -> bool:
    """Return whether the answer as a whole is a list, by the first words that say so."""
    return bool(re.search(r"(?:json|top-level|yaml|one)\s+(?:array|list)\b", instruction[:_READ_CHARS], re.IGNORECASE))


def shaped(intent: Intent, fields: Sequence[Field], rows: Sequence[Row], *, many: bool = False) -> str:
    """Return rows in the shape of a contract: a JSON or YAML value, a table, bullets, lines, or text.

    Args:
        intent: names the contract.
        fields: in this order; without any, each row is its values.
        rows: at least one; by the names of `fields`. Only lists and tables take more than the first.
        many: JSON and YAML: the answer is a list of the rows.

    """
    value: list[dict[str, Value]] | dict[str, Value] = [dict(row) for row in rows] if many else dict(rows[0])
    if intent is Intent.JSON:
        return json.dumps(value, ensure_ascii=False)
    if intent is Intent.YAML:
        # safe_dump refuses nothing that JSON holds; a lone surrogate has no place in either.
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000).rstrip("\n")
    texts = [" ".join(map(str, row.values())) for row in rows]
    if intent is Intent.TABLE:
        names = [field.name for field in fields] or list(rows[0])
        lines = [names, ["---"] * len(names), *([_cell(row.get(name)) for name in names] for row in rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if intent is Intent.BULLET_LIST:
        return "\n".join(f"- {text}" for text in texts)
    return "\n".join(texts) if intent is Intent.EXACT_LINES else texts[0]


def _cell(value: Value) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")

"""What an answer in a shape says, row by row: a document, table or list read as lines of words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ctxsift.answers.payloads import outer_fence, parse_payload
from ctxsift.intents import Intent


@dataclass(frozen=True)
class Shape:
    """The rows of a shape, and the texts in it that may be sentences.

    Attributes:
        rows: bullets, lines of a table or of an answer, or pairs of a document ("key: value"); where a list holds
            objects, each as a whole.
        words: bullets, cells and strings of a document.

    """

    rows: tuple[str, ...]
    words: tuple[str, ...]


def shape_of(text: str, intent: Intent) -> Shape:
    """Return what a valid answer under any intent says; under plain text and copied lines, its lines."""
    fence = outer_fence(text)
    value = parse_payload(intent, text if fence is None else fence)
    if value is None:
        return Shape(tuple(line for line in text.splitlines() if line.strip()), ())
    if intent is Intent.BULLET_LIST:
        return Shape(tuple(value), tuple(value))
    if intent is Intent.TABLE:
        return Shape(tuple(" ".join(row) for row in value[1:]), tuple(cell for row in value[1:] for cell in row))
    return Shape(tuple(_pairs(value)), tuple(_strings(value)))


def _pairs(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _pairs(each, str(name).replace("_", " "))
    elif isinstance(value, list):
        for each in value:
            yield ", ".join(_pairs(each)) if isinstance(each, dict) else next(_pairs(each, key), "")
    elif isinstance(value, bool):
        yield key if value else f"no {key}"
    else:
        yield f"{key}: {value}" if key else str(value)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
    elif isinstance(value, str):
        yield value

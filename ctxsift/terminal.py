"""Text from outside, made safe for a terminal; the only place that prints what is neither bytes nor a table."""

from __future__ import annotations

import sys
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_KEPT = "\n\t"
# Control and format characters, halves of characters, unassigned ones; what begins a line or paragraph.
_OBEYED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MOST_SHOWN = 4000


def printable(text: str, limit: int = _MOST_SHOWN) -> str:
    """Return `text` without anything that a terminal obeys; control characters become visible escapes.

    At most `limit` characters are shown; what is left out is counted.
    """
    return _cut(text, limit, _KEPT)


def in_line(text: str, limit: int = _MOST_SHOWN) -> str:
    """Return `text` as `printable` does, tabs and line breaks escaped as well: a cell, or a part of a line."""
    return _cut(text, limit, "").replace("\n", " ")


def one_line(text: str) -> str:
    """Return `text` as one line without anything that a terminal obeys, every white space a single blank."""
    return in_line(" ".join(text.split()))


def tell(text: str) -> None:
    """Print one line to stderr, safe for a terminal; blanks stay as they are, a path may hold two in a row."""
    print(in_line(" ".join(text.strip().splitlines())), file=sys.stderr)


def show(text: str) -> None:
    """Print `text` to stdout, safe for a terminal, however long it is."""
    print(printable(text, limit=len(text)))


def show_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of as many cells each, one below the other, a line each."""
    cells = [[in_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        show("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def show_json(value: Any) -> None:
    """Print `value` to stdout as JSON in ASCII; a reader takes it as it is, a terminal obeys nothing in it."""
    import json

    print(json.dumps(value, indent=1).replace("\x7f", "\\u007f"))


def _cut(text: str, limit: int, kept: str) -> str:
    shown = text[:limit]
    if not shown.isprintable():
        shown = "".join(c if c in kept or c.isprintable() else _visible(c) for c in shown)
    rest = len(text) - limit
    return shown + (f"\n[... {rest} characters more]" if rest > 0 else "")


def _visible(character: str) -> str:
    """Return an escape for what a terminal obeys; blanks that are not the usual one stay."""
    return character.encode("unicode_escape").decode() if unicodedata.category(character) in _OBEYED else character

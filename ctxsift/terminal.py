"""Text from outside, made safe for a terminal."""

from __future__ import annotations

import unicodedata

_KEPT = {"\n", "\t"}


def printable(text: str, limit: int = 4000) -> str:
    """Return `text` without anything that a terminal obeys; control characters become visible escapes.

    At most `limit` characters are shown; what is left out is counted.
    """
    shown = "".join(
        c if c in _KEPT or not unicodedata.category(c).startswith("C") else c.encode("unicode_escape").decode()
        for c in text[:limit]
    )
    rest = len(text) - limit
    return shown + (f"\n[... {rest} characters more]" if rest > 0 else "")


def one_line(text: str) -> str:
    """Return `text` as one line without anything that a terminal obeys."""
    return printable(" ".join(text.split()))

"""Text for a terminal by way of rich: never markup, and nothing that the terminal obeys."""

from __future__ import annotations

from rich.text import Text

from ctxsift.terminal import in_line, printable


def plain_text(text: str, style: str = "") -> Text:
    """Return one line of text; whatever rich prints of what comes from outside is made here."""
    return Text(in_line(text, limit=len(text)), style=style)


def block(text: str, style: str = "") -> Text:
    """Return a text of many lines, whole."""
    return Text(printable(text, limit=len(text)), style=style)


def beginning(text: str) -> Text:
    """Return the first few thousand characters of a text of many lines, and how much is left out."""
    return Text(printable(text))

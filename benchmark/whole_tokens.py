"""Tokens as they are written: where a text contains one as a whole."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator


def has_token(text: str, token: str) -> bool:
    """Say whether `text` contains `token` as a whole: `E1` is not in `E10`, `1.2` is not in `1.2.3`.

    White space may be folded differently. A path may be prefixed by its folders and followed by `:line`.
    """
    return token_place(text, token) >= 0


def token_place(text: str, token: str) -> int:
    """Return where `text` first contains `token` as a whole, or -1."""
    if token[1:] not in text and " " not in token and "\n" not in token and "\t" not in token:
        return -1
    return next((start for start, _ in token_spans(text, token)), -1)


def token_spans(text: str, token: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each place where `text` contains `token` as a whole."""
    if _first_word(token)[1:] not in text:
        # Most tokens are not there; that is known before any pattern is made.
        return
    needle, offset, pattern = _pattern(token)
    place = text.find(needle)
    while place >= 0:
        # Matching the pattern costs a hundred times what finding its first word does.
        if place >= offset and (match := pattern.match(text, place - offset)):
            yield match.span()
        place = text.find(needle, place + 1)


@functools.lru_cache(maxsize=8192)
def _pattern(token: str) -> tuple[str, int, re.Pattern[str]]:
    """Return a text that every match contains, its offset from the start of the match, and the pattern."""
    first = _first_word(token)
    words = [re.escape(word) for word in token.split()]
    # A name may follow its package (`app.store.Error`), but a number may not follow other digits (`1.2`).
    if re.match(r"\d", token):
        before = r"(?<!\w)(?<!\w[.\-])(?<!\d,)"
    else:
        before = r"(?<!\w)(?<!\w-)" if re.match(r"\w", token) else r"(?<![\w.])" if token[:1] in "-./" else ""
    # A dot, a dash or a decimal comma belongs to the word only when the word continues after it.
    after = r"(?!\w)(?![.\-]\w)(?!,\d)" if re.search(r"\w\Z", token) else ""
    offset = 0
    if re.match(r"[a-z]{2,}(?:\s|\Z)", token):
        # A plain word may begin a sentence: "Line 28 failed."
        capital = rf"(?:(?<![\s\S])|(?<=[.!?]\s)|(?<=\n)){token[0].upper()}"
        words[0] = f"(?:{token[0]}|{capital}){words[0][1:]}"
        first, offset = first[1:], 1
    return first, offset, re.compile(before + r"\s+".join(words) + after)


@functools.lru_cache(maxsize=8192)
def _first_word(token: str) -> str:
    return token.split(maxsplit=1)[0] if token.split() else token

"""Tokens as they are written: where a text contains one as a whole."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass


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
        # Most tokens are not there; that is known before anything else is.
        return
    shape = _shape(token)
    place = text.find(shape.needle)
    while place >= 0:
        start = place - shape.offset
        if start >= 0 and (end := _end(text, start, shape)) is not None:
            yield start, end
        place = text.find(shape.needle, place + 1)


@dataclass(frozen=True)
class _Shape:
    """How a token is looked for. A pattern of its own would take longer to make than most are looked for.

    Attributes:
        needle, offset: a text that every place contains, and how far after its start.
        words: with white space of any kind between them.
        may_begin: a plain word may begin a sentence: "Line 28 failed."
        before: what must hold where it starts.
        is_word: it ends in a character of words.

    """

    needle: str
    offset: int
    words: tuple[str, ...]
    may_begin: bool
    before: re.Pattern[str]
    is_word: bool


# A name may follow its package (`app.store.Error`), but a number may not follow other digits (`1.2`).
_BEFORE_NUMBER = re.compile(r"(?<!\w)(?<!\w[.\-])(?<!\d,)")
_BEFORE_NAME = re.compile(r"(?<!\w)(?<!\w-)")
_BEFORE_SIGN = re.compile(r"(?<![\w.])")
_BEFORE_OTHERS = re.compile("")
# A dot, a dash or a decimal comma belongs to the word only when the word continues after it.
_AFTER_WORD = re.compile(r"(?!\w)(?![.\-]\w)(?!,\d)")
_SENTENCE_START = re.compile(r"(?<![\s\S])|(?<=[.!?]\s)|(?<=\n)")
_BLANK = re.compile(r"\s+")
_PLAIN_WORD = re.compile(r"[a-z]{2,}(?:\s|\Z)")
_WORD_END = re.compile(r"\w\Z")


@functools.lru_cache(maxsize=8192)
def _shape(token: str) -> _Shape:
    first, may_begin = _first_word(token), bool(_PLAIN_WORD.match(token))
    if re.match(r"\d", token):
        before = _BEFORE_NUMBER
    elif re.match(r"\w", token):
        before = _BEFORE_NAME
    else:
        before = _BEFORE_SIGN if token[:1] in "-./" else _BEFORE_OTHERS
    return _Shape(
        needle=first[1:] if may_begin else first,
        offset=1 if may_begin else 0,
        words=tuple(token.split()) or ("",),
        may_begin=may_begin,
        before=before,
        is_word=bool(_WORD_END.search(token)),
    )


def _end(text: str, start: int, shape: _Shape) -> int | None:
    """Return where the token ends that begins at `start`; None where it does not stand there as a whole."""
    first, *rest = shape.words
    is_capital = shape.may_begin and text[start] != first[0]
    if is_capital and (text[start] != first[0].upper() or not _SENTENCE_START.match(text, start)):
        return None
    if not shape.before.match(text, start):
        return None
    # That the rest of its first word follows is known; of a token of blanks, nothing has to.
    end = start + len(first)
    for word in rest:
        blank = _BLANK.match(text, end)
        if blank is None or not text.startswith(word, blank.end()):
            return None
        end = blank.end() + len(word)
    return end if not shape.is_word or _AFTER_WORD.match(text, end) else None


@functools.lru_cache(maxsize=8192)
def _first_word(token: str) -> str:
    return token.split(maxsplit=1)[0] if token.split() else token

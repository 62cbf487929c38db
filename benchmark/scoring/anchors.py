"""preserve: the share of anchors that survived verbatim."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from benchmark.scoring.component_score import ComponentScore
from ctxsift.intents import Intent
from ctxsift.payloads import parse_payload


def score_preserve(text: str, anchors: Sequence[str], intent: Intent) -> ComponentScore:
    """Return the share of `anchors` found in `text`; 1.0 for a case without any (unless the text is empty)."""
    if not text.strip():
        return ComponentScore(0.0, tuple(f"missing {a}" for a in anchors))
    haystack = text
    if intent in (Intent.JSON, Intent.YAML):
        # Quoting and escaping belong to the format, not to the token.
        payload = parse_payload(intent, text)
        haystack += "\n" + "\n".join(_scalars(payload)) if payload is not None else ""
    missing = missing_anchors(haystack, anchors)
    score = 1.0 - len(missing) / len(anchors) if anchors else 1.0
    return ComponentScore(score, tuple(f"missing {anchor}" for anchor in missing))


def missing_anchors(text: str, anchors: Sequence[str]) -> list[str]:
    """Return the anchors that are not in `text`."""
    return [anchor for anchor in anchors if not has_token(text, anchor)]


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


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value, default=str)

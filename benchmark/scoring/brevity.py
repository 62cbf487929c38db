"""brevity: whether the answer is about as short as it can be."""

from __future__ import annotations

from benchmark.scoring.component_score import ComponentScore, clamp

# Wording varies by some per cent and a word or two; beyond that every word costs.
_SLACK_SHARE = 1.15
_SLACK_CHARS = 12
_ZERO_AT = 2.5
_CHARS_PER_WORD = 5


def score_brevity(text: str, reference: str) -> ComponentScore:
    """Return 1.0 up to 15 % over the reference's length, falling to 0 at two and a half times that.

    Length is characters without white space: how JSON is indented says nothing about how much is said.
    """
    if not text.strip():
        return ComponentScore(0.0, ("empty",))
    allowed = _SLACK_SHARE * _length(reference) + _SLACK_CHARS
    over = _length(text) - allowed
    if over <= 0:
        return ComponentScore(1.0)
    score = clamp(1 - over / (allowed * (_ZERO_AT - 1)))
    words = max(1, round(over / _CHARS_PER_WORD))
    return ComponentScore(score, (f"about {words} words over {round(allowed / _CHARS_PER_WORD)}",))


def _length(text: str) -> int:
    return len("".join(text.split()))

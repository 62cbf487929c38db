"""brevity: whether the answer is about as short as it can be."""

from __future__ import annotations

from benchmark.scoring.component_score import ComponentScore, clamp

# Wording varies by some per cent and a word or two; beyond that every word costs.
_SLACK_SHARE = 1.15
_SLACK_CHARS = 12
_WORDY_SLACK = 1.5, 40
_WORDY_LEAST = 160
_ZERO_AT = 2.5
_CHARS_PER_WORD = 5


def score_brevity(text: str, reference: str, *, wordy: bool = False) -> ComponentScore:
    """Return 1.0 up to 15% over the reference's length, falling to 0 at two and a half times that.

    Args:
        text: the answer.
        reference: gold.
        wordy: other words are as right as gold's, so that half as long again is free, and so are two sentences.

    Length is characters without white space: how JSON is indented says nothing about how much is said.

    """
    if not text.strip():
        return ComponentScore(0.0, ("empty",))
    share, chars = _WORDY_SLACK if wordy else (_SLACK_SHARE, _SLACK_CHARS)
    allowed = max(share * _length(reference) + chars, _WORDY_LEAST if wordy else 0)
    over = _length(text) - allowed
    if over <= 0:
        return ComponentScore(1.0)
    score = clamp(1 - over / (allowed * (_ZERO_AT - 1)))
    words = max(1, round(over / _CHARS_PER_WORD))
    return ComponentScore(score, (f"about {words} words over {round(allowed / _CHARS_PER_WORD)}",))


def _length(text: str) -> int:
    return len("".join(text.split()))

"""brevity: whether the answer is about as short as it can be."""

from __future__ import annotations

from benchmark.scoring.component import Component, clamp

# Wording varies by some per cent and a word or two; beyond that every further word costs.
_SLACK_SHARE = 1.15
_SLACK_UNITS = 2
_ZERO_AT = 2.5


def score_brevity(text: str, reference: str) -> Component:
    """Return 1.0 up to 15 % over the reference's length, falling to 0 at two and a half times that; length in words.

    Four characters count as a word where that makes the text longer: dense identifiers have few words.
    """
    if not text.strip():
        return Component(0.0, ("empty",))
    allowed = _SLACK_SHARE * _units(reference) + _SLACK_UNITS
    said = _units(text)
    if said <= allowed:
        return Component(1.0)
    score = clamp(1 - (said - allowed) / (allowed * (_ZERO_AT - 1)))
    return Component(score, (f"{said - int(allowed)} words over {int(allowed)}",))


def _units(text: str) -> int:
    return max(len(text.split()), len(text) // 4)

"""brevity: whether the answer is about as short as it can be."""

from __future__ import annotations

from benchmark.scoring.component import Component, clamp

# Wording varies by some per cent and a word or two; beyond that every further word costs.
_SLACK_SHARE = 1.15
_SLACK_UNITS = 2
_ZERO_AT = 4.0


def score_brevity(text: str, reference: str) -> Component:
    """Return 1.0 up to 15 % over the reference's length, falling to 0 at four times that; length in units.

    A unit is four characters or a word, whichever makes the text longer: dense identifiers have few words.
    """
    if not text.strip():
        return Component(0.0, ("empty",))
    allowed = _SLACK_SHARE * _units(reference) + _SLACK_UNITS
    said = _units(text)
    if said <= allowed:
        return Component(1.0)
    score = clamp(1 - (said - allowed) / (allowed * (_ZERO_AT - 1)))
    return Component(score, (f"{said - int(allowed)} units over {int(allowed)}",))


def _units(text: str) -> int:
    return max(len(text.split()), len(text) // 4)

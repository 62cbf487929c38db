"""What every component returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ComponentScore:
    """A figure in [0, 1] and, for a person, the reasons why it is not 1."""

    score: float
    reasons: tuple[str, ...] = ()


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return `value` kept between `low` and `high`."""
    return max(low, min(high, value))

"""What every component returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Component:
    """A figure in [0, 1] and the reasons a person can read for what is missing from 1."""

    score: float
    reasons: tuple[str, ...] = ()


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return `value` kept between `low` and `high`."""
    return max(low, min(high, value))

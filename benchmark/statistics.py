"""Statistics, by numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean. Raises ValueError when there are no values."""
    if not len(values):
        raise ValueError("no values")
    return float(np.mean(values))


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the percentile, linearly interpolated between ranks. Raises ValueError when there are no values."""
    if not len(values):
        raise ValueError("no values")
    return float(np.percentile(values, percent, method="linear"))

"""Comparing figures of scored answers: on another processor, embeddings differ in their last digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

TOLERANCE = 1e-6


def nearly(value: object) -> object:
    """Return what equals `value`, all floating-point numbers in it within the tolerance."""
    if isinstance(value, float):
        return pytest.approx(value, abs=TOLERANCE, rel=TOLERANCE)
    if isinstance(value, Mapping):
        return {key: nearly(below) for key, below in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [nearly(below) for below in value]
    return value

"""How deep the tests that draw at random go: a little, the same each time, in CI; far, in `make fuzz`."""

from __future__ import annotations

import os

# Set by `make fuzz`.
FUZZ = os.environ.get("FUZZ") == "1"


def depth(ci: int, fuzz: int) -> int:
    """Return how many examples to draw: `ci` of them, or `fuzz` under `make fuzz`."""
    return fuzz if FUZZ else ci

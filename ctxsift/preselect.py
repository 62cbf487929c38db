"""How lines of a long output may be chosen before a model reads it: words and limits of that option."""

from __future__ import annotations

from enum import StrEnum, auto

DEFAULT_PRESELECT_TOKENS = 1600
# Fewer tell nothing of an output.
LEAST_PRESELECT_TOKENS = 100


class Preselect(StrEnum):
    """How lines are chosen."""

    NONE = auto()
    LINES = auto()

"""What a caller can ask for."""

from __future__ import annotations

from enum import StrEnum, auto


class Intent(StrEnum):
    """What a caller wants back; it alone decides the scoring contract."""

    SUMMARY = auto()
    RECALL = auto()
    EXACT_LINES = "exact-lines"
    EXACT_FORMAT = "exact-format"
    JSON = auto()
    YAML = auto()
    TABLE = auto()
    BULLET_LIST = "bullet-list"

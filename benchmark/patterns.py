"""Patterns of rules, which come with a corpus: compiled within bounds, or refused in words."""

from __future__ import annotations

import regex

# Those of the packaged corpus have up to 130 characters. Compiling takes a frame or more of the stack for each group.
LONGEST_PATTERN = 2_000
MOST_GROUPS = 100


class PatternError(ValueError):
    """A pattern cannot be used; its message says why, without the pattern."""


def compiled(pattern: str) -> regex.Pattern[str]:
    """Return a pattern that is ready to match. Raises PatternError."""
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"it has {len(pattern):,} characters (limit: {LONGEST_PATTERN:,})")
    groups = pattern.count("(")
    if groups > MOST_GROUPS:
        raise PatternError(f"it has {groups:,} opening parentheses (limit: {MOST_GROUPS})")
    try:
        return regex.compile(pattern)
    except Exception as error:  # the compiler is a recursive program with limits of its own
        raise PatternError(str(error) or type(error).__name__) from None

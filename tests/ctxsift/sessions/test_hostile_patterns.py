"""Globs and lists in braces that a session writes: what they match, and that none takes for ever."""

from __future__ import annotations

import pytest

from ctxsift.sessions.artifacts.paths import braces, matches


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*a*b", "xaab", True),
        ("a*b*c", "abbc", True),
        ("*.py", "src/x.py", False),
        ("**/*.py", "x.py", True),
        ("src/**/b*/c", "src/a/b/bx/c", True),
        ("src/**/b*/c", "src/a/b/c", True),
        ("**a*b", "a/ab", False),
        ("src/**", "src/a/b", True),
        ("a[!b]c", "a/c", False),
        ("a[!b]c", "axc", True),
        ("a[", "a[", True),
    ],
)
def test_a_glob_matches_as_in_a_shell(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path) is expected


# With a pattern that goes back to its earlier stars, each of these takes longer than a test may.
@pytest.mark.parametrize("unit", ["*a", "**a", "**/a", "*?", "**", "*[ab]"])
def test_no_glob_takes_for_ever(unit: str) -> None:
    glob = unit * 30 + "b"
    assert not any(matches(glob, path) for path in ("a" * 2000, "a/" * 1000, "ab" * 1000 + "c"))


@pytest.mark.parametrize("source", ["{a,b}" * 5000, "{a," * 5000 + "}" * 5000, "{a," * 5000])
def test_lists_in_braces_beyond_reason_stay_as_they_are(source: str) -> None:
    assert braces(source) == [source]

"""JSON from outside is of the standard, finite, and bounded before it is decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxsift.strict_json import MOST_DEPTH, check, decode


@pytest.mark.parametrize("value", [None, True, 0, -(2**64), 1.5, "x", "\ud800", [], {}, {"a": [1, {"b": None}]}, "é😀"])
def test_what_is_json_is_decoded(value: Any) -> None:
    assert decode(json.dumps(value).encode()) == value
    assert decode(b"\xef\xbb\xbf" + json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"NaN",
        b"[Infinity]",
        b"1e999",
        b"-1e999",
        b"[36893488147419103232]",
        b"9" * 100,
        b"9" * 10_000,
        b'"\xff"',
        b"{} {}",
        b"[" * 100_000,
        b"[" * 100 + b"]" * 100,
        b'{"a":' * (MOST_DEPTH + 1) + b"1" + b"}" * (MOST_DEPTH + 1),
    ],
)
def test_what_is_not_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # each has words of its own
        decode(content)


@pytest.mark.parametrize(
    "content", [b"[1,2,3,4]", b'{"a":1,"b":[2,3]}', b"[[],[],[]]", b'["a","b","c","d"]', b'"",' * 9]
)
def test_values_are_counted_before_they_are_made(content: bytes) -> None:
    with pytest.raises(ValueError, match="holds more than 3 values"):
        decode(content, most_values=3)


def test_text_does_not_count() -> None:
    text = '[,{"\\\\\\"' * 1000
    assert decode(json.dumps({"a": text, text: 1}).encode(), most_values=5) == {"a": text, text: 1}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [{"b": float("nan")}]}, "/a/0/b: "),
        ([0, float("inf")], "/1: "),
        (float("inf"), "/: "),
        ({"a": 2**70}, "/a: "),
        (json.loads("[" * 99 + "]" * 99), "nested more than 64 deep"),
    ],
)
def test_the_place_is_named(value: Any, place: str) -> None:
    with pytest.raises(ValueError, match=place):
        check(value)

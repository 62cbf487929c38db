"""JSON from outside is of the standard, finite, and bounded before it is decoded."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from ctxsift import strict_json
from ctxsift.strict_json import MOST_DEPTH, TwiceError, check, decode
from tests.support.depth import depth


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


TWICE: dict[str, tuple[bytes, str]] = {
    "outermost": (b'{"a": 1, "b": 2, "a": 1}', "/a"),
    "inner": (b'{"a": [0, {"b": {"c": 1, "c": 2}}]}', "/a/1/b/c"),
    "another spelling": (b'{"a": 1, "\\u0061": 2}', "/a"),
    "a colon elsewhere is escaped": (b'{"a": "\\u003a", "b": 1, "b": 2}', "/b"),
    "... in capitals": (b'{"a": "\\u003A", "b": 1, "b": 2}', "/b"),
    "half a character": (b'{"a": "\\ud800", "b": 1, "b": 2}', "/b"),
    "empty": (b'[{"": {}, "": {}}]', "/0/"),
    "colons": (b'{"a:b": ":", "a:b": ":::"}', "/a:b"),
    "a mark of order": (b'\xef\xbb\xbf{"a": 1, "a": 2}', "/a"),
}


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("large", [False, True], ids=["written", "walked"])
def test_a_key_that_stands_twice_is_refused_by_its_place(
    name: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    colons = strict_json._colons
    monkeypatch.setattr(strict_json, "_colons", lambda value, **_: colons(value, is_large=large))
    content, place = TWICE[name]
    decode(content)
    with pytest.raises(TwiceError) as caught:
        decode(content, once=True)
    assert str(caught.value) == f"{place} stands twice"


@pytest.mark.parametrize("large", [False, True], ids=["written", "walked"])
def test_what_stands_once_is_no_key_that_stands_twice(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    colons = strict_json._colons
    monkeypatch.setattr(strict_json, "_colons", lambda value, **_: colons(value, is_large=large))
    rng = random.Random(61)

    def value(level: int) -> Any:
        kind = rng.randrange(8)
        if level and kind > 4:
            return [value(level - 1) for _ in range(rng.randrange(4))]
        if level and kind > 1:
            return {text(): value(level - 1) for _ in range(rng.randrange(4))}
        return rng.choice([None, True, 0, 1.5, -(2**64), 2**64 - 1, "", ":", "\ud800:", text()])

    def text() -> str:
        return "".join(rng.choice('a:"\\\n\x00/é😀\u2028') for _ in range(rng.randrange(5)))

    for _ in range(depth(300, 20_000)):
        one = value(4)
        for ascii_only in (True, False):
            content = json.dumps(one, ensure_ascii=ascii_only).encode("utf-8", "backslashreplace")
            assert decode(content, once=True) == json.loads(content)


def test_looking_for_keys_that_stand_twice_takes_a_part_of_the_time_of_decoding() -> None:
    content = json.dumps([{"key": "a value of some length", "other": [1, 2.5, None]} for _ in range(20_000)]).encode()

    def quickest(**options: bool) -> float:
        found = []
        for _ in range(5):
            started = time.process_time()
            decode(content, **options)
            found.append(time.process_time() - started)
        return min(found)

    assert quickest(once=True) < 1.5 * quickest()

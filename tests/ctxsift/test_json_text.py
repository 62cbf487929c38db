"""Changes to JSON text: what is asked for, and not a byte more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsift.json_text import append, remove

PATH = ("hooks", "PostToolUse")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(st.text(), VALUES, max_size=4).flatmap(
    lambda rest: st.lists(VALUES, max_size=3).map(
        lambda items: {**rest, "hooks": {"Stop": [], "PostToolUse": items}, "z": "}"}
    )
)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("{}\n", '{\n  "hooks": {\n    "PostToolUse": [\n      {\n        "a": 1\n      }\n    ]\n  }\n}\n'),
        ('{"b":[1,2]}', '{"b":[1,2], "hooks": {"PostToolUse": [{"a": 1}]}}'),
        ('{"hooks": { } , "b":1}', '{"hooks": {"PostToolUse": [{"a": 1}]} , "b":1}'),
        ('{"hooks":{"PostToolUse":[ 7 ]}}', '{"hooks":{"PostToolUse":[ 7, {"a": 1} ]}}'),
        (
            '{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}',
            '{\r\n\t"hooks": {\r\n\t\t"Stop": [],\r\n\t\t"PostToolUse": [\r\n\t\t\t{\r\n\t\t\t\t"a": 1\r\n\t\t\t}'
            "\r\n\t\t]\r\n\t}\r\n}",
        ),
        (
            '{\n\n    "b": 1.0e2,\n    "hooks": {"PostToolUse": []}\n}\n',
            '{\n\n    "b": 1.0e2,\n    "hooks": {"PostToolUse": [{"a": 1}]}\n}\n',
        ),
    ],
)
def test_a_value_is_added_in_the_style_that_is_there(text: str, changed: str) -> None:
    found = append(text, PATH, {"a": 1})
    assert found == changed


@given(DOCUMENTS, st.sampled_from([None, 1, 4, "\t"]), st.booleans(), VALUES)
def test_what_was_added_can_be_removed_to_the_byte(document: Any, indent: Any, crlf: bool, value: Any) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    text = text.replace("\n", "\r\n") if crlf else text
    items = document["hooks"]["PostToolUse"]
    changed = append(text, PATH, value)
    assert json.loads(changed) == document | {"hooks": {"Stop": [], "PostToolUse": [*items, value]}}
    back = remove(changed, (*PATH, len(items)))
    assert back == text or (not items and json.loads(back) == document)


@given(DOCUMENTS, st.sampled_from([None, 2]))
def test_any_item_can_be_removed(document: Any, indent: Any) -> None:
    text = json.dumps(document, indent=indent)
    for key in document:
        assert json.loads(remove(text, (key,))) == {k: v for k, v in document.items() if k != key}
    items = document["hooks"]["PostToolUse"]
    for number in range(len(items)):
        left = json.loads(remove(text, (*PATH, number)))
        assert left["hooks"]["PostToolUse"] == items[:number] + items[number + 1 :]

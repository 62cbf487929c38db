"""Parsing under the structured contracts."""

from __future__ import annotations

import pytest

from ctxsift.answers.payloads import parse_payload
from ctxsift.intents import Intent

TEXTS = {
    Intent.JSON: '{"a": [1, {"b": 2}], "c": {}}',
    Intent.YAML: "a:\n- 1\n- b: 2\nc: {}\nd: !!omap [x: [1]]",
    Intent.TABLE: "| a | b |\n|---|---|\n| 1 | 2 |",
    Intent.BULLET_LIST: "- one\n- two",
}


def spoil(value: object) -> None:
    """Change a parsed document everywhere it can be changed."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        spoil(inner)
    if isinstance(value, dict | list):
        value.clear()


@pytest.mark.parametrize("intent", TEXTS)
def test_whoever_changes_a_payload_changes_only_their_own(intent: Intent) -> None:
    first, second = parse_payload(intent, TEXTS[intent]), parse_payload(intent, TEXTS[intent])
    assert first == second
    assert first
    spoil(first)
    assert not first
    assert parse_payload(intent, TEXTS[intent]) == second


@pytest.mark.parametrize("intent", [intent for intent in Intent if intent not in TEXTS])
def test_other_contracts_have_no_payload(intent: Intent) -> None:
    assert parse_payload(intent, '{"a": 1}') is None


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("- one\n  goes on\n- two", ["one goes on", "two"]),
        ("- one\n\tgoes\n    on", ["one goes on"]),
        ("- one\n\n  goes on", ["one goes on"]),
        ("- one\n  - nested", ["one", "nested"]),
        ("  goes on\n- one", None),
        ("- one\nnot indented", None),
        ("- one\n  1. a list of another kind", None),
        ("- one\n  ```\n  code\n  ```", None),
        ("", None),
    ],
)
def test_an_indented_line_goes_on_with_its_bullet(text: str, items: list[str] | None) -> None:
    assert parse_payload(Intent.BULLET_LIST, text) == items

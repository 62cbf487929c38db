"""Keys are taken out of text in every form, and nothing else is."""

from __future__ import annotations

import random

import pytest

from ctxsift.redaction import Secrets, parts_of_address
from tests.support.hostile_answers import echoes

KEY = 'planted-k3y/8c1f+"q'


@pytest.mark.parametrize("name", echoes(KEY))
def test_every_form(name: str) -> None:
    form = echoes(KEY)[name]
    secrets = Secrets([KEY])
    assert form not in secrets.out_of_message(f"before {form} after")
    shown = secrets.out_of_answer(f"before {form} after", ["a question"])
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert form not in shown


def test_forms_mixed_within_one_key() -> None:
    rng = random.Random(7)
    forms = (
        lambda c: c,
        lambda c: f"%{ord(c):02X}",
        lambda c: f"%25{ord(c):02x}",
        lambda c: f"\\u00{ord(c):02x}",
        lambda c: f"&#{ord(c)};",
        lambda c: f"&amp;#x{ord(c):x};",
    )
    for _ in range(200):
        mixed = "".join(rng.choice(forms)(c) for c in KEY)
        assert Secrets([KEY]).out_of_message(f"<{mixed}>") == "<***>", mixed


def test_what_was_asked_is_no_secret() -> None:
    assert Secrets([KEY]).out_of_answer(f"it is {KEY}", ["find it", f"log: {KEY}"]) == f"it is {KEY}"
    assert Secrets([KEY]).out_of_message(f"it is {KEY}") == "it is ***"


@pytest.mark.parametrize("word", ["x", "none", "EMPTY"])
def test_short_keys_are_words(word: str) -> None:
    secrets = Secrets([word])
    assert secrets.out_of_answer(f"{word} {word}es", []) == f"{word} {word}es"
    assert secrets.out_of_message(f"key {word}, {word}es") == f"key ***, {word}es"


def test_long_keys() -> None:
    rng = random.Random(1)
    long = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz0123456789-_") for _ in range(1500))
    left = Secrets([long]).out_of_message(f"key {long}.")
    assert left.replace("*", "") == "key ."


def test_parts_of_an_address() -> None:
    found = parts_of_address("https://us%40er:p%2Fw@host/v1?token=s3cret")
    assert {"us%40er", "us@er", "p%2Fw", "p/w", "us@er:p/w", "s3cret"} == set(found)
    assert parts_of_address("http://[oops") == []

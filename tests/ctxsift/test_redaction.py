"""Keys are taken out of text in every form, and nothing else is."""

from __future__ import annotations

import random

import pytest

from benchmark.cases import Corpus
from ctxsift.redaction import Secrets, out_of_command, parts_of_address
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


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("curl -H 'Authorization: Bearer abc.def' https://x", "curl -H 'Authorization: Bearer ***' https://x"),
        ("curl -H 'X-Api-Key: abc' -u me:pw https://x", "curl -H 'X-Api-Key: ***' -u me:*** https://x"),
        ("git clone https://me:p%40w@example.com:8443/x", "git clone https://me:***@example.com:8443/x"),
        ("git clone https://ghp_0123456789abcdefghij@example.com/x", "git clone https://***@example.com/x"),
        ("env AWS_SECRET_ACCESS_KEY=abc+/= aws s3 ls", "env AWS_SECRET_ACCESS_KEY=*** aws s3 ls"),
        ("export PGPASSWORD='a b'; psql", "export PGPASSWORD='***'; psql"),
        ("deploy --secret-access-key abc --verbose", "deploy --secret-access-key *** --verbose"),
        ('mysql --password="a b" -u root', 'mysql --password="***" -u root'),
        ("sh -c 'TOKEN=abc make'", "sh -c 'TOKEN=*** make'"),
        ("make\nexport API_KEY=abc\nmake", "make\nexport API_KEY=***\nmake"),
        ("ask sk-0123456789abcdefghij", "ask ***"),
    ],
)
def test_passwords_and_keys_are_taken_out_of_a_command(command: str, shown: str) -> None:
    assert out_of_command(command) == shown
    assert out_of_command(shown) == shown


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/test_token.py::test_secret -k 'password or token'",
        "curl http://localhost:8080/a?page=2",
        "cargo test token::parse -- --nocapture",
        "grep -rn password src/",
        "ls --password --all",
        "serve --max-tokens 5 --token-file a.txt",
        "docker run -u 1000:1000 -v $PWD:/app image",
        "kubectl get secret db",
        'curl -H "Authorization: Bearer $KEY" -H \'X-Token: ${T}\' --api-key "$API_KEY"',
        "risk-assessment-of-everything-there-is",
    ],
)
def test_what_is_no_secret_stays_in_a_command(command: str) -> None:
    assert out_of_command(command) == command


def test_no_command_of_the_corpus_loses_anything(corpus: Corpus) -> None:
    commands = {case.capture.command for case in corpus.cases}
    assert {command for command in commands if out_of_command(command) != command} == set()

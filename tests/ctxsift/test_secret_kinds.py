"""Every form of a secret is found wherever it stands, and what only looks like one is left."""

from __future__ import annotations

import dataclasses
import re
import sys
import time
from collections.abc import Callable

import pytest

from ctxsift.redaction import out_of_command
from ctxsift.secret_kinds import found_in, hide
from ctxsift.sessions.records import JsonValue, SessionHead, Source, Step, ToolCall, ToolResult
from ctxsift.sessions.redacting import Redactor
from tests.support import secret_forms

_INVISIBLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\u200b")


def is_shown(secret: str, text: str) -> bool:
    """Return True if a piece of a secret that would help somebody stands in a text."""
    visible = _INVISIBLE.sub("", text)
    return any(secret[start : start + 8] in visible for start in range(0, len(secret) - 7, 2))


def of_session(text: str) -> str:
    return Redactor().text(text)


@pytest.mark.parametrize("name", [name for name, _, _ in secret_forms.secrets()])
def test_each_form_with_each_neighbour_and_colour(name: str) -> None:
    forms = [form for form in secret_forms.crossed() if form[0].startswith((f"{name} '", f'{name} "', f"{name}, col"))]
    assert len(forms) > 20
    for without in (of_session, out_of_command):
        assert [form for form, text, secret in forms if is_shown(secret, without(text))] == []


@pytest.mark.parametrize("text", secret_forms.INNOCENT)
def test_innocent_lines_are_left(text: str) -> None:
    for before, after in secret_forms.BEFORE_AND_AFTER:
        for start, end in secret_forms.COLOURS:
            line = before + start + text + end + after
            assert of_session(line) == line
            assert out_of_command(line) == line


def _everywhere(text: str) -> tuple[Step, SessionHead]:
    arguments: dict[str, JsonValue] = {"command": text, "more": [{"x": text}], text: 1}
    step = Step(
        1,
        Source.AGENT,
        text,
        reasoning=text,
        calls=(ToolCall("c", "bash", arguments),),
        results=(ToolResult("c", text),),
        folder=f"/srv/{text}",
    )
    redacted = Redactor().step(step)
    (head,) = Redactor().events([SessionHead("pi", folder=f"/srv/{text}", title=text)])
    assert isinstance(head, SessionHead)
    return redacted, head


@pytest.mark.parametrize(("name", "text", "secret"), [*secret_forms.secrets()])
def test_each_form_in_each_place(name: str, text: str, secret: str) -> None:
    step, head = _everywhere(text)
    shown = {field.name: repr(getattr(step, field.name)) for field in dataclasses.fields(step)}
    shown |= {"head": repr(head)}
    assert [place for place, value in shown.items() if is_shown(secret, value)] == [], name


@pytest.mark.parametrize("text", secret_forms.INNOCENT)
def test_innocent_lines_are_left_in_each_place(text: str) -> None:
    step, head = _everywhere(text)
    assert (step.message, step.reasoning, step.results[0].text, step.folder) == (text, text, text, f"/srv/{text}")
    assert step.calls[0].arguments == {"command": text, "more": [{"x": text}], text: 1}
    assert (head.title, head.folder) == (text, f"/srv/{text}")


def test_what_was_hidden_is_no_secret() -> None:
    for _, text, _ in secret_forms.secrets():
        shown = of_session(text)
        assert of_session(shown) == shown


def test_places_are_those_of_the_original() -> None:
    key = secret_forms.generated(24)
    text = f"\u0130\u0130 \x1b[1mtoken\x1b[0m=\x1b[31m{key[:9]}\x1b[0m{key[9:]}\x1b[0m, and \u200bmore"
    found = found_in(text)
    assert [text[each.start : each.end] for each in found] == [f"{key[:9]}\x1b[0m{key[9:]}"]
    assert hide(text, found) == "\u0130\u0130 \x1b[1mtoken\x1b[0m=\x1b[31m***\x1b[0m, and \u200bmore"


def test_one_letter_alone_grows_when_it_is_made_small() -> None:
    assert [chr(code) for code in range(sys.maxunicode + 1) if len(chr(code).lower()) > 1] == ["\u0130"]


def _seconds(without: Callable[[str], str], text: str) -> float:
    start = time.process_time()
    without(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            "A1",
            " ",
            "=",
            "-",
            "--",
            "eyJ",
            "eyJ-.",
            "-----BEGIN",
            "-----BEGIN PRIVATE " + "KEY-----",
            "sk-",
            "\x1b[",
        ),
        *(
            "password=",
            'token="',
            "token ",
            "://",
            "://a:",
            "cookie:",
            "login -p",
            "bearer ",
            "authorization:",
            "?sig=",
        ),
        *(
            "echo a",
            "echo a | ",
            "curl -u a",
            "curl a -u ",
            "sudo -S ",
            "htpasswd -b ",
            "zip a",
            "create user ",
            "machine a login ",
            "--a=password=",
        ),
        *("://a:b@", ":*:a", ":*:a:b:", "name: A_KEY\nvalue: "),
        *("\n", "pass", "\\", "mysql -p", " -u a:", "1", "8Q~", "api-", "\u0130"),
    ],
)
def test_time_grows_with_the_length_alone(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    once = min(_seconds(of_session, text) for _ in range(2))
    assert min(_seconds(of_session, text * 2) for _ in range(2)) < 3 * once + 0.05
    assert once < 2

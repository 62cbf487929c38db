"""A value gives way to another of the same thing, never to that of another thing under the same key."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from ctxsift.sessions.compaction.records import Cut
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.records import Session, SessionHead, Source, Step

FILLER = "It has the routes of the old one, as far as they were in use. " * 12


def summary_of(*orders: str, name: str = "anchored", budget: int = 700, cuts: int = 1) -> str:
    """Return what stands for a session in which a user gives orders and the agent says that it is done."""
    texts = [
        "Build the thing, please.",
        FILLER,
        *itertools.chain(*((order, f"Done. {FILLER}") for order in orders)),
        "Go on.",
    ]
    sources = (Source.USER, Source.AGENT)
    steps = tuple(Step(at + 1, sources[at % 2], text) for at, text in enumerate(texts))
    last = len(steps)
    places = [Cut(last * number // cuts, last * number // cuts) for number in range(1, cuts + 1)]
    *_, made = compact_session(Session(SessionHead("messages"), steps), name, places, budget=budget)
    assert not made.refused
    return made.summary_text


APART = [
    ("The gateway listens on port 8080.", "The admin service listens on port 9000, only on localhost."),
    ("The gateway listens on 8080.", "The admin service listens on 9000."),
    ("Uploads have a limit of 20 MB.", "API keys have a limit of 100 requests per minute."),
    ("Set the timeout to 5 s for the health check.", "Set the timeout to 90 s for the export job."),
    ("Use retries of 3 for the mailer.", "Use retries of 7 for the importer."),
    ("The replica is on version 14.2.", "The primary is on version 16.1."),
    ("In staging the pool has a size of 5.", "In production the pool has a size of 40."),
    ("The build timeout is 10 minutes.", "The test timeout is 30 minutes."),
    ("The maximum of the nightly report is 400.", "The maximum of the weekly report is 900."),
    ("Bump the version of the client to 2.1.", "Bump the version of the server to 3.4."),
    ("For the search index, set the interval to 15.", "For the sitemap, set the interval to 60."),
    ("Thumbnails: the width is 160 px.", "Banners: the width is 1200 px."),
    ("Tests run with a level of 4.", "The daemon runs with a level of 2."),
    ("The gateway's port is 8080.", "The proxy's port is 8090."),
    ("Set the limit to 30 in src/import.py.", "Set the limit to 99 in src/export.py."),
    ("Set the limit to 10 in web.toml.", "Set the limit to 20 in api.toml."),
    ("In web.yaml, set the timeout to 10 s.", "In api.yaml, set the timeout to 20 s."),
    ("Set line-length to 100 in backend/pyproject.toml.", "Set line-length to 88 in tools/pyproject.toml."),
    ("The `retries` key in `jobs.json` is 3.", "The `retries` key in `mail.json` is 5."),
    ("Rate limit = 10/s for /login.", "Rate limit = 100/s for /search."),
    ("Keep the cache at 512 MB for the API workers.", "Keep the cache at 64 MB for the cron workers."),
    ("The gateway is written in Go. It listens on port 8080.", "The admin page is in Python. It listens on port 9000."),
    ("The free plan allows 3 projects; the limit is 3.", "The pro plan allows 30 projects; the limit is 30."),
    ("For mobile the margin is 8 px, it scales.", "For desktop the margin is 16 px."),
    ("Use TypeScript instead of JavaScript in web/.", "Keep scripts/build.js as JavaScript."),
    ("Tests go on using SQLite in memory: SQLite-3.", "Use Postgres-16 instead of SQLite-3 in production."),
    ("API keys allow 20 requests a minute: 20, no more.", "Uploads: we raised the upload limit from 20 to 50 MB."),
]


@pytest.mark.parametrize("cuts", [1, 3])
@pytest.mark.parametrize("name", ["anchored", "regenerative"])
@pytest.mark.parametrize(("first", "second"), [order for pair in APART for order in (pair, pair[::-1])])
def test_values_of_different_things_stand_side_by_side(first: str, second: str, name: str, cuts: int) -> None:
    text = summary_of(first, second, name=name, cuts=cuts)
    assert first in text
    assert second in text


SAME = [
    (["The gateway listens on port 8080."], "Change the gateway to port 8081.", ["8080"]),
    (["The gateway listens on 8080."], "The gateway has to listen on 8081.", ["8080"]),
    (["Uploads have a limit of 20 MB."], "Raise the upload limit to 50 MB.", ["20 MB"]),
    (["Set the timeout to 5 s for the health check."], "The health check has a timeout of 8 s now.", ["5 s"]),
    (["Set the limit to 10 in web.toml."], "In web.toml, raise the limit to 25.", ["limit to 10"]),
    (["Set the limit to 10 in conf/web.toml."], "Set the limit to 25 in web.toml.", ["limit to 10"]),
    (["Set the limit to 10 in web.toml."], "Raise the limit to 25.", ["limit to 10"]),
    (["Set the timeout to 90 s for the export job."], "The timeout of the export job is 120 s.", ["90 s"]),
    (["The gateway's port is 8080."], "Set the port of the gateway to 8081.", ["8080"]),
    (["In staging the pool has a size of 5."], "In staging, the pool has a size of 9.", ["size of 5"]),
    (["The build timeout is 10 minutes."], "Make the build timeout 15 minutes.", ["10 minutes"]),
    (["Bump the version of the client to 2.1."], "Bump the client version to 2.2.", ["2.1"]),
    (["The limit is 50 percent."], "Make the limit 25 percent, and set the limit to 25 in codes.toml.", ["50 percent"]),
    (["Set the port to 8080."], "Change the port of the server to 9090.", ["8080"]),
    (["The API has a rate limit of 10."], "Raise the API rate limit to 20.", ["of 10"]),
    (["Keep the cache at 512 MB."], "Make the cache 64 MB.", ["512"]),
    (["The gateway is written in Go. It listens on port 8080."], "The gateway listens on port 8081.", ["8080"]),
    (["The admin service uses port 9000."], "Let's use port 9001 for admin.", ["9000"]),
    (["Listen on port 8080."], "Listen on port 9090 instead.", ["8080"]),
]


@pytest.mark.parametrize("cuts", [1, 2])
@pytest.mark.parametrize("name", ["anchored", "regenerative"])
@pytest.mark.parametrize(("first", "later", "old"), SAME)
def test_a_new_value_of_the_same_thing_takes_the_place_of_the_old_one(
    first: Sequence[str], later: str, old: Sequence[str], name: str, cuts: int
) -> None:
    text = summary_of(*first, later, name=name, cuts=cuts)
    assert later.partition(",")[0].rstrip(".") in text
    for value in old:
        assert value not in text


def test_of_several_things_only_the_one_that_changes_loses_its_value() -> None:
    text = summary_of(
        "The gateway listens on port 8080.",
        "The admin service listens on port 9000.",
        "The billing service listens on port 9100.",
        "The admin service listens on port 9001 now.",
    )
    for kept in ("8080", "9100", "9001"):
        assert kept in text
    assert "9000" not in text


def test_a_change_of_no_named_thing_is_one_of_the_last_that_was_spoken_of() -> None:
    text = summary_of(
        "The gateway listens on port 8080.", "The admin service listens on port 9000.", "No, use port 9001."
    )
    assert "The gateway listens on port 8080." in text
    assert "9000" not in text
    assert "9001" in text


@pytest.mark.parametrize("name", ["anchored", "regenerative"])
def test_what_is_left_of_a_message_says_what_it_is_about(name: str) -> None:
    text = summary_of(
        "The gateway listens on port 8080. Don't log request bodies there.",
        "The gateway listens on port 8081.",
        name=name,
    )
    assert "8080" not in text
    (left,) = [line for line in text.splitlines() if "log request bodies" in line]
    assert "gateway" in left


@pytest.mark.parametrize(
    ("later", "kept", "gone"),
    [
        ("Move the admin service to port 9001.", "The gateway listens on port 8080", "9000"),
        ("The gateway listens on port 8081.", "The admin service listens on port 9000.", "8080"),
    ],
)
def test_of_two_things_in_one_sentence_the_other_stays(later: str, kept: str, gone: str) -> None:
    text = summary_of("The gateway listens on port 8080 and the admin service listens on port 9000.", later)
    assert kept in text
    assert later in text
    assert gone not in text


def test_an_order_in_the_sentence_of_an_old_value_stays() -> None:
    text = summary_of(
        "The gateway listens on port 8080 and must never log bodies, because 8080 is public.",
        "The gateway listens on port 8081.",
    )
    assert "- gateway port: Must never log bodies\n" in text
    assert "8080" not in text

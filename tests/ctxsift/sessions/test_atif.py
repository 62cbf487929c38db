"""ATIF in and out: what is written satisfies the format's own models, and comes back as it was."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from atif import Trajectory

from ctxsift.sessions.exporting import as_atif
from ctxsift.sessions.records import (
    Compaction,
    Session,
    SessionHead,
    Source,
    Step,
    StepEnding,
    TokenUsage,
    ToolCall,
    ToolResult,
)
from tests.ctxsift.sessions.samples import ATIF, SAMPLES, read

FULL = Session(
    SessionHead("pi", "p-1", "Pi", "0.1", "m-1", "/w", "2026-03-01T10:00:00Z", "Carts"),
    (
        Step(1, Source.SYSTEM, "Rules", timestamp="no time", model="m-0", reasoning="odd"),
        Step(2, Source.USER, "!ls", results=(ToolResult("", "a\n", 1),), copied=True),
        Step(
            3,
            Source.AGENT,
            "Hm \N{CAT FACE}",
            "think",
            (ToolCall("c1", "bash", {"command": "ls", "deep": [{"x": None}]}), ToolCall("c2", "read", {})),
            (ToolResult("c1", "out", 0, False), ToolResult("c2", "", None, True)),
            "2026-03-01T10:00:01Z",
            "m-1",
            TokenUsage(10, 2, 4),
            "/w/src",
            StepEnding.ABORTED,
        ),
    ),
    (Compaction(1, "short", 1, 900), Compaction(3)),
    (Step(1, Source.USER, "an example"),),
    subagents=(Session(SessionHead("pi", "a1"), (Step(1, Source.AGENT, "aside"),)),),
)


def as_read_back(session: Session) -> Session:
    """Return what reading it again is to give: another format, and counts of the second reading."""
    head = dataclasses.replace(session.head, format="atif")
    asides = [dataclasses.replace(each.head, format="atif") for each in session.subagents]
    subagents = tuple(dataclasses.replace(s, head=h) for s, h in zip(session.subagents, asides, strict=True))
    return dataclasses.replace(session, head=head, subagents=subagents, skipped={}, redacted={})


def there_and_back(folder: Path, session: Session) -> Session:
    text = json.dumps(as_atif(session))
    Trajectory.model_validate_json(text)
    return read(folder, text.encode(), "trajectory")


def test_every_field_comes_back(tmp_path: Path) -> None:
    assert there_and_back(tmp_path, FULL) == as_read_back(FULL)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_comes_back(tmp_path: Path, name: str) -> None:
    session = read(tmp_path, SAMPLES[name])
    assert there_and_back(tmp_path, session) == as_read_back(session)


def test_what_was_skipped_and_redacted_is_written_down(tmp_path: Path) -> None:
    session = dataclasses.replace(FULL, skipped={"record x": 2}, redacted={"JWT": 1})
    own = Trajectory.model_validate(as_atif(session)).extra
    assert own is not None
    assert (own["ctxsift"]["skipped"], own["ctxsift"]["redacted"]) == ({"record x": 2}, {"JWT": 1})


def test_trajectories_of_others(tmp_path: Path) -> None:
    session = read(tmp_path, ATIF)
    assert (session.head.agent, session.head.model, session.head.session_id) == ("harbor", "m", "x-1")
    step = session.steps[1]
    assert (step.message, step.usage) == ("I read it.\n[image: a.png]", TokenUsage(10, 2, 4))
    assert step.results == (ToolResult("x1", "def total(): ..."),)
    assert session.skipped == {"key metrics.cost_usd": 1}


def test_unknown_keys_and_sources_are_counted(tmp_path: Path) -> None:
    document = json.loads(ATIF)
    document["new"] = 1
    document["steps"][0] |= {"mood": "good", "llm_call_count": 1}
    document["steps"] += [{"source": "tool", "message": "x"}, 5]
    session = read(tmp_path, json.dumps(document).encode())
    assert len(session.steps) == 2
    assert session.skipped == {
        "key new": 1,
        "key steps.mood": 1,
        "key steps.llm_call_count": 1,
        "key metrics.cost_usd": 1,
        "step of source tool": 1,
        "step without a source": 1,
    }


def test_half_characters_do_not_stop_the_export(tmp_path: Path) -> None:
    content = b'{"role": "user", "content": "half \\ud83d of it"}\n'
    session = read(tmp_path, content)
    assert session.steps[0].message == "half ? of it"
    assert there_and_back(tmp_path, session).steps == session.steps

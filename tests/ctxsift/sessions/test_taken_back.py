"""Whoever goes back to an earlier step leaves a branch behind: it is no history, but what it did to files, it did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.artifacts.index import index_session
from ctxsift.sessions.compaction.context import as_markdown, continued
from ctxsift.sessions.compaction.cutting import cut_at_end, cuts_by_threshold
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.exporting import as_atif
from ctxsift.sessions.figures import figures_of
from ctxsift.sessions.reading import open_session
from ctxsift.sessions.records import Session
from tests.ctxsift.sessions.samples import (
    PI_HEAD,
    claude,
    codex,
    codex_message,
    item,
    lines,
    pi,
    queued,
    read,
    result,
    said,
    use,
)

Record = dict[str, Any]


def taken_back(session: Session) -> list[str]:
    """Return what was said, or which tools were called, in the steps that were taken back."""
    return [step.message or step.calls[0].name for step in session.steps if step.taken_back]


def entry(name: str, parent: str | None, role: str, content: Any, **fields: Any) -> Record:
    """Return an entry of Pi's tree; its name ends in a number, its second."""
    return pi(role, content, int(name.strip("abcdefgh")), **fields) | {"id": name, "parentId": parent}


def record(uuid: str, parent: str | None, content: Any, **fields: Any) -> Record:
    """Return a record of Claude Code: of the agent if its uuid begins with `a`."""
    kind = "assistant" if uuid.startswith("a") else "user"
    message = {"message": {"id": f"m-{uuid}"}} if kind == "assistant" else {}
    return claude(kind, content, int(uuid[1:]), uuid=uuid, parentUuid=parent, **message | fields)


def other(uuid: str, parent: str | None, kind: str = "system", **fields: Any) -> Record:
    """Return a record of Claude Code that nobody said."""
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "isSidechain": False} | fields


# What the branches say; none of it holds.
PLAN = "Use Redis on port 6380. Never allow more than 500 requests per minute."
AGREED = "I decided to use Redis on port 6380, because one store serves all servers."
TODO = "Write the Redis limiter"
INSTEAD = "Use a token bucket in the process, with at most 120 requests per minute."
DONE = "I decided to use a token bucket with 120 requests per minute, because Redis is one more thing to run."
REST = [f"The middleware of route number {number} asks the limiter before it runs." for number in range(12)]


def pi_tree(*, summary: bool) -> bytes:
    write = {"type": "toolCall", "id": "k1", "name": "write", "arguments": {"path": "src/redis.py", "content": "x\n"}}
    todo = {
        "type": "toolCall",
        "id": "k2",
        "name": "todo",
        "arguments": {"todos": [{"content": TODO, "status": "open"}]},
    }
    back = "b1" if summary else "a2"
    note = {"type": "branch_summary", "id": "b1", "parentId": "a2", "fromId": "a7", "summary": "Redis was tried."}
    return lines(
        PI_HEAD,
        entry("a1", None, "user", "Add rate limits to the service."),
        entry("a2", "a1", "assistant", [said("Which store do the counters use?")]),
        entry("a3", "a2", "user", PLAN),
        entry("a4", "a3", "assistant", [write, todo]),
        entry("a5", "a4", "toolResult", "Successfully wrote 2 bytes to src/redis.py", toolCallId="k1"),
        entry("a6", "a5", "toolResult", "ok", toolCallId="k2"),
        entry("a7", "a6", "assistant", [said(AGREED)]),
        *([note] if summary else []),
        entry("c8", back, "user", INSTEAD),
        entry("c9", "c8", "assistant", [said("\n".join([DONE, *REST]))]),
        entry("c10", "c9", "user", "Go on with the tests."),
    )


def claude_rewound() -> bytes:
    return lines(
        record("u1", None, "Add rate limits to the service."),
        record("a2", "u1", [said("Which store do the counters use?")]),
        other("s2", "a2", subtype="turn_duration"),
        record("u3", "s2", PLAN),
        record("a4", "u3", [use("t1", "Write", file_path="/work/shop/src/redis.py", content="x\n")]),
        record(
            "a5", "a4", [use("t2", "TodoWrite", todos=[{"content": TODO, "status": "pending"}])], message={"id": "m-a4"}
        ),
        record("u6", "a4", [result("t1", "File created successfully at: /work/shop/src/redis.py")]),
        record("u7", "a5", [result("t2", "Todos have been modified")]),
        record("a8", "u7", [said(AGREED)]),
        record("u9", "s2", INSTEAD),
        record("a10", "u9", [said("\n".join([DONE, *REST]))]),
        record("u11", "a10", "Go on with the tests."),
    )


def codex_rolled_back() -> bytes:
    patch = "*** Begin Patch\n*** Add File: src/redis.py\n+x\n*** End Patch"
    return lines(
        codex("session_meta", 0, id="c-1", cwd="/work/shop"),
        codex_message("user", "<environment_context>\n<cwd>/work/shop</cwd>\n</environment_context>", 1),
        codex_message("user", "Add rate limits to the service.", 2),
        codex_message("assistant", "Which store do the counters use?", 3),
        codex_message("user", PLAN, 4),
        item("custom_tool_call", 5, name="apply_patch", input=patch, call_id="f1"),
        item(
            "function_call",
            5,
            name="update_plan",
            arguments=json.dumps({"plan": [{"step": TODO, "status": "pending"}]}),
            call_id="f2",
        ),
        item(
            "custom_tool_call_output", 6, call_id="f1", output="Success. Updated the following files:\nA src/redis.py"
        ),
        item("function_call_output", 6, call_id="f2", output="Plan updated"),
        codex_message("assistant", AGREED, 7),
        codex("event_msg", 8, type="thread_rolled_back", num_turns=1),
        codex_message("user", INSTEAD, 9),
        codex_message("assistant", "\n".join([DONE, *REST]), 10),
        codex_message("user", "Go on with the tests.", 11),
    )


@pytest.mark.parametrize("method", ["anchored+index", "regenerative", "everything"])
@pytest.mark.parametrize(
    "content",
    [pi_tree(summary=True), pi_tree(summary=False), claude_rewound(), codex_rolled_back()],
    ids=["Pi", "Pi without a summary", "Claude Code", "Codex"],
)
def test_a_branch_that_was_left_is_no_history(tmp_path: Path, content: bytes, method: str) -> None:
    session = read(tmp_path, content)
    assert taken_back(session)[0] == PLAN
    assert taken_back(session)[-1] == AGREED
    (made,) = compact_session(session, method, cut_at_end(session.steps, 20), budget=400, keep_last=20)
    assert not made.refused
    text = as_markdown(continued(made, session.steps, 20))
    for gone in ("6380", "500 requests", "one store serves", TODO):
        assert gone not in text
    assert "120 requests per minute" in text
    assert "Go on with the tests." in text
    # The file is on the disk.
    assert any(file.path == "src/redis.py" for file in index_session(session).files)
    assert ("redis.py" in text) == method.endswith("+index")
    with open_session(tmp_path / "session") as events:
        figures = figures_of(events)
    assert (figures.taken_back, figures.branches) == (len(taken_back(session)), 1)


def test_cuts_by_threshold_pass_over_what_was_taken_back(tmp_path: Path) -> None:
    session = read(tmp_path, claude_rewound())
    for cut in cuts_by_threshold(session.steps, 200, 20, 60):
        assert not session.steps[cut.after_step - 1].taken_back


def chain(*names: str, parent: str | None = None) -> Iterator[Record]:
    """Yield entries of Pi, each after the one before: the user's and the agent's in turn."""
    for place, name in enumerate(names):
        yield entry(name, parent, "assistant" if place % 2 else "user", f"said {name}")
        parent = name


@pytest.mark.parametrize(
    ("records", "gone", "branches"),
    [
        # Two attempts from one place, and an attempt within an attempt.
        (
            [*chain("a1", "a2", "a3", "a4"), *chain("b5", "b6", parent="a2"), *chain("c7", parent="a2")],
            "a3 a4 b5 b6",
            2,
        ),
        (
            [*chain("a1", "a2", "a3", "a4"), *chain("b5", "b6", parent="a4"), *chain("c7", parent="a2")],
            "a3 a4 b5 b6",
            1,
        ),
        # Back to a branch that had been left.
        ([*chain("a1", "a2", "a3", "a4"), *chain("b5", "b6", parent="a2"), *chain("c7", parent="a4")], "b5 b6", 1),
        # Back to the beginning.
        ([*chain("a1", "a2", "a3"), *chain("b4", "b5")], "a1 a2 a3", 1),
        # Back into the middle of the agent's turn, by way of something that nobody said.
        (
            [
                *chain("a1", "a2", "a3"),
                {"type": "label", "id": "l", "parentId": "a2", "label": "x"},
                *chain("b4", parent="l"),
            ],
            "a3",
            1,
        ),
        # A parent that is not in the file tells nothing.
        ([*chain("a1", "a2"), *chain("b3", "b4", parent="h99")], "", 0),
    ],
)
def test_branches_of_pi(tmp_path: Path, records: list[Record], gone: str, branches: int) -> None:
    session = read(tmp_path, lines(PI_HEAD, *records))
    assert taken_back(session) == [f"said {name}" for name in gone.split()]
    with open_session(tmp_path / "session") as events:
        assert figures_of(events).branches == branches
    # The same in a file in which each entry stands twice.
    assert read(tmp_path, lines(PI_HEAD, *(each for each in records for _ in "12"))).steps == session.steps


def test_earlier_versions_of_pi_have_no_tree(tmp_path: Path) -> None:
    records = [{key: each[key] for key in ("type", "timestamp", "message")} for each in chain("a1", "a2", "a3")]
    assert taken_back(read(tmp_path, lines(PI_HEAD, *records))) == []


def test_a_compaction_of_a_branch_does_not_stand(tmp_path: Path) -> None:
    compaction = {"type": "compaction", "id": "k", "parentId": "a4", "summary": "Of a branch.", "tokensBefore": 9}
    records = [*chain("a1", "a2", "a3", "a4"), compaction, *chain("b5", "b6", parent="k"), *chain("c7", parent="a2")]
    session = read(tmp_path, lines(PI_HEAD, *records))
    assert [each.summary for each in session.compactions] == ["Of a branch."]
    assert session.standing_compactions == ()


START = [record("u1", None, "Begin."), record("a2", "u1", [said("Begun.")])]
FIRST = [record("u3", "a2", "first"), record("a4", "u3", [said("done first")])]


@pytest.mark.parametrize(
    ("records", "gone"),
    [
        # Back by one prompt, by two, and before an answer came.
        ([*FIRST, record("u5", "a2", "second")], ["first", "done first"]),
        ([*FIRST, record("u5", "a4", "more"), record("u6", "a2", "second")], ["first", "done first", "more"]),
        ([record("u3", "a2", "first"), record("u4", "a2", "second"), record("a5", "u4", [said("ok")])], ["first"]),
        # What a program says stands between, before one of them or before both.
        (
            [
                record("u3", "a2", "<system-reminder>\nx\n</system-reminder>"),
                record("u4", "u3", "first"),
                record("u5", "a2", "second"),
            ],
            ["<system-reminder>\nx\n</system-reminder>", "first"],
        ),
        ([*FIRST, record("u5", "a2", "x", isMeta=True), record("u6", "u5", "second")], ["first", "done first"]),
        (
            [
                other("s1", "a2"),
                record("u3", "s1", "first"),
                other("s2", "a2", "attachment"),
                record("u4", "s2", "second"),
            ],
            ["first"],
        ),
        # Back to the very first prompt.
        ([*FIRST, record("u5", None, "second")], ["Begin.", "Begun.", "first", "done first"]),
        # Back to a branch that had been left.
        ([*FIRST, record("u5", "a2", "second"), record("u6", "a4", "third")], ["second"]),
        # In a file that holds records again.
        ([*START, *FIRST, *START, *FIRST, record("u5", "a2", "second")], ["first", "done first"]),
        ([each for each in [*FIRST, record("u5", "a2", "second")] for _ in "123"], ["first", "done first"]),
    ],
)
def test_prompts_that_claude_code_went_back_from(tmp_path: Path, records: list[Record], gone: list[str]) -> None:
    assert taken_back(read(tmp_path, lines(*START, *records))) == gone


CALLS = [
    record("a3", "a2", [use("t1", "Read")]),
    record("a4", "a3", [use("t2", "Grep")], message={"id": "m-a3"}),
    other("p1", "a3", "progress"),
    record("u5", "p1", [result("t1", "one")]),
    record("u6", "a4", [result("t2", "two")]),
]


@pytest.mark.parametrize(
    "records",
    [
        # Calls side by side, whichever of their results leads on.
        [*CALLS, record("a7", "u6", [said("Read.")]), record("u8", "a7", "next")],
        [*CALLS, record("a7", "u5", [said("Read.")]), record("u8", "a7", "next")],
        # Typed while the agent works: nothing follows it, or all does.
        [*CALLS, record("u7", "u6", "Hurry."), record("a8", "u6", [said("Read.")]), record("u9", "a8", "next")],
        [*CALLS, queued("Hurry.", parentUuid="u6"), record("a8", "u6", [said("Read.")]), record("u9", "a8", "next")],
        # Interrupted, then something else.
        [*CALLS, record("u7", "a4", "[Request interrupted by user for tool use]"), record("u8", "u7", "next")],
        [*CALLS, record("u7", "a4", "[Request interrupted by user for tool use]"), record("u8", "u6", "next")],
        # A prompt again after an error.
        [*FIRST, record("a5", "a4", "API Error", isApiErrorMessage=True), record("u6", "a5", "first")],
        # A compaction begins a new root, and may lead nowhere that is known.
        [
            *FIRST,
            other("b1", None, subtype="compact_boundary", logicalParentUuid="a4"),
            record("u6", "b1", "All of it.", isCompactSummary=True),
            record("u7", "u6", "next"),
        ],
        [
            *FIRST,
            other("b1", None, subtype="compact_boundary"),
            record("u6", "b1", "All of it.", isCompactSummary=True),
            record("u7", "u6", "next"),
        ],
        # The context was cleared, or another session follows in the file.
        [
            *FIRST,
            record("u5", None, "<command-name>/clear</command-name>\n<command-message>clear</command-message>"),
            record("u6", "u5", "next"),
        ],
        [*FIRST, record("u5", None, "next", sessionId="s-2")],
        # A sidechain.
        [record("u3", "a2", "Search", isSidechain=True, agentId="x"), record("u4", "a2", "next")],
        # Records that are written again, under another root.
        [*FIRST, *(each | {"parentUuid": None} for each in [*START, *FIRST]), record("u5", "a4", "next")],
        # Records without parents, as other programs write them.
        [
            record("u3", None, "first"),
            record("a4", "u3", [said("done")]),
            record("a5", None, "x"),
            record("u6", None, "next"),
        ],
        [record("u3", None, "first"), record("a4", None, [said("done")]), record("u5", None, "next")],
    ],
)
def test_files_of_claude_code_fork_where_nothing_was_taken_back(tmp_path: Path, records: list[Record]) -> None:
    session = read(tmp_path, lines(*START, *records))
    assert taken_back(session) == []
    assert session.steps[-1].message in ("next", "first")


def asked(*prompts: str) -> Iterator[Record]:
    for prompt in prompts:
        yield codex_message("user", prompt, ord(prompt))
        yield codex_message("assistant", f"did {prompt}", ord(prompt))


def rolled_back(turns: Any) -> Record:
    return codex("event_msg", 9, type="thread_rolled_back", num_turns=turns)


@pytest.mark.parametrize(
    ("records", "gone", "branches"),
    [
        ([*asked("a", "b", "c"), rolled_back(2), *asked("d")], "b c", 1),
        ([*asked("a", "b"), rolled_back(1), *asked("c"), rolled_back(1), *asked("d")], "b c", 2),
        ([*asked("a", "b"), rolled_back(1), *asked("c"), rolled_back(2), *asked("d")], "a b c", 2),
        # More than there were: what stood before the first prompt stays.
        ([codex_message("developer", "Rules", 1), *asked("a"), rolled_back(9), *asked("d")], "a", 1),
        ([*asked("a", "b"), rolled_back(1)], "b", 1),
        ([*asked("a"), rolled_back(0), rolled_back("1"), rolled_back(None), rolled_back(-1)], "", 0),
        ([rolled_back(1), *asked("a")], "", 0),
        # What a program says in the user's name is no turn.
        ([*asked("a"), codex_message("user", "<environment_context>\n..."), *asked("b"), rolled_back(1)], "b", 1),
    ],
)
def test_turns_that_codex_rolled_back(tmp_path: Path, records: list[Record], gone: str, branches: int) -> None:
    session = read(tmp_path, lines(codex("session_meta", id="c-1", cwd="/work/shop"), *records))
    assert sorted(taken_back(session)) == sorted(each for name in gone.split() for each in (name, f"did {name}"))
    with open_session(tmp_path / "session") as events:
        figures = figures_of(events)
    assert (figures.branches, figures.taken_back) == (branches, len(taken_back(session)))
    assert not any("rolled" in kind for kind in session.skipped)


def test_a_trajectory_keeps_what_was_taken_back(tmp_path: Path) -> None:
    session = read(tmp_path, claude_rewound())
    again = read(tmp_path, json.dumps(as_atif(session)).encode(), "again")
    assert again.steps == session.steps
    with open_session(tmp_path / "again") as events:
        assert (figures := figures_of(events)).taken_back == len(taken_back(session))
    assert figures.branches == 1

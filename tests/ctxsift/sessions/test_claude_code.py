"""Claude Code writes one record for each block, in an order of its own, and other things than records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.records import Compaction, Source, StepEnding, TokenUsage
from tests.ctxsift.sessions.samples import CLAUDE, claude, lines, queued, read, result, said, time_at, use


def test_blocks_of_one_message_are_one_step(tmp_path: Path) -> None:
    session = read(tmp_path, CLAUDE)
    step = session.steps[1]
    assert (step.message, step.reasoning, step.model) == ("I read it.", "Look first.", "opus")
    assert [call.name for call in step.calls] == ["Read"]
    assert [each.text for each in step.results] == ["def total(): ..."]
    assert (session.head.agent_version, session.head.folder, step.folder) == ("2.0.9", "/work/shop", "/work/shop")


def test_a_result_may_stand_before_later_blocks_of_its_message(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        lines(
            claude("assistant", [use("t1", "Read")], 1, message={"id": "m1", "usage": {"output_tokens": 3}}),
            claude("user", [result("t1", "one")], 2),
            claude("assistant", [use("t2", "Read")], 3, message={"id": "m1", "usage": {"output_tokens": 8}}),
            claude("user", [result("t2", "two")], 4),
        ),
    )
    (step,) = session.steps
    assert [(each.call_id, each.text) for each in step.results] == [("t1", "one"), ("t2", "two")]
    assert step.usage == TokenUsage(0, 8, 0)


def test_what_the_cache_held_is_part_of_the_prompt(tmp_path: Path) -> None:
    counts = {"input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 4}
    session = read(tmp_path, lines(claude("assistant", "hi", message={"id": "m", "usage": counts})))
    assert session.steps[0].usage == TokenUsage(321, 4, 300)


def test_sidechains_are_kept_apart(tmp_path: Path) -> None:
    side = {"isSidechain": True}
    session = read(
        tmp_path,
        lines(
            claude("user", "Go", 1),
            claude("assistant", [use("t1", "Task")], 2, message={"id": "m1"}),
            claude("user", "Search", 3, **side, parentUuid=None),
            claude("assistant", "Found", 4, **side, parentUuid="u-3"),
            claude("user", "Search elsewhere", 5, **side, parentUuid=None),
            claude("user", [result("t1", "done")], 6),
        ),
    )
    assert [step.message for step in session.steps] == ["Go", ""]
    found = {each.head.session_id: [step.message for step in each.steps] for each in session.subagents}
    assert found == {"sidechain-1": ["Search", "Found"], "sidechain-2": ["Search elsewhere"]}


def test_files_of_subagents_belong_to_their_session(tmp_path: Path) -> None:
    side = {"isSidechain": True, "agentId": "a1"}
    own = lines(claude("user", "Look", 1, **side), claude("assistant", "Seen", 2, **side))
    folder = tmp_path / "s-1" / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").write_bytes(own)
    (folder / "agent-a2.jsonl").write_bytes(b"no session\n")
    (tmp_path / "agent-old.jsonl").write_bytes(lines(claude("user", "Older", 1, **side)))
    (tmp_path / "agent-foreign.jsonl").write_bytes(lines(claude("user", "Other", 1, **side, sessionId="s-2")))
    session = read(tmp_path, lines(claude("user", "Go", 1)), "s-1.jsonl")
    assert [step.message for step in session.steps] == ["Go"]
    found = {each.head.session_id: [step.message for step in each.steps] for each in session.subagents}
    assert found == {"agent-a1": ["Look", "Seen"], "agent-old": ["Older"]}
    assert session.skipped["file of a subagent that cannot be read"] == 1
    # A subagent's file, when it is asked for, is a session of its own.
    alone = read(tmp_path, own, "agent-a1.jsonl")
    assert [step.message for step in alone.steps] == ["Look", "Seen"]


@pytest.mark.parametrize(
    "meta",
    [
        {"compactMetadata": {"preTokens": 7, "preservedMessages": {"uuids": ["u-2"]}}},
        {"compactMetadata": {"preTokens": 7, "preservedSegment": {"headUuid": "u-2"}}},
        {"compact_metadata": {"pre_tokens": 7, "preserved_segment": {"head_uuid": "u-2"}}},
    ],
)
def test_compactions(tmp_path: Path, meta: dict[str, Any]) -> None:
    session = read(
        tmp_path,
        lines(
            claude("user", "One", 1),
            claude("user", "Two", 2),
            {"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s-1"} | meta,
            claude("user", "All of it.", 4, isCompactSummary=True),
            claude("user", "Three", 5),
        ),
    )
    assert session.compactions == (Compaction(2, "All of it.", 2, 7),)
    assert [step.message for step in session.steps] == ["One", "Two", "Three"]


def test_what_the_program_says_is_not_the_users(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        lines(
            claude("user", "Caveat: ...", 1, isMeta=True),
            claude("assistant", [use("t1", "Bash")], 2, message={"id": "m1"}),
            claude("user", [said("[Request interrupted by user for tool use]")], 3),
            claude("assistant", "API Error", 4, isApiErrorMessage=True, message={"model": "<synthetic>"}),
        ),
    )
    assert [step.source for step in session.steps] == [Source.SYSTEM, Source.AGENT, Source.SYSTEM, Source.AGENT]
    assert [step.ending for step in session.steps if step.source is Source.AGENT] == [
        StepEnding.ABORTED,
        StepEnding.FAILED,
    ]
    assert session.steps[3].model is None


def test_records_of_odd_types(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        lines(
            claude("user", "Go", 1),
            claude("user", None, 2, message={"content": ["as", "strings"]}, toolUseResult={"stdout": ""}),
            claude("user", "x", 3) | {"message": "a bare string"},
            claude("user", None, 4),
            "massive error",
            42,
            [1],
            {"silly": "this"},
            {"type": "file-history-snapshot"},
            {"type": "system", "subtype": "turn_duration"},
            claude("user", [result("t9", "nobody asked")], 5),
            claude("assistant", [use("t1", "TodoWrite", todos=["broken", {"content": "x"}]), {"type": "odd"}], 6),
            {"type": "summary", "summary": "A cart", "leafUuid": "u-6"},
        ),
    )
    assert [step.message for step in session.steps] == ["Go", "as\nstrings", "a bare string", ""]
    assert session.steps[3].calls[0].arguments == {"todos": ["broken", {"content": "x"}]}
    assert session.head.title == "A cart"
    assert session.skipped == {
        "user record without content": 1,
        "line that is no record": 3,
        "record without a type": 1,
        "record file-history-snapshot": 1,
        "record system / turn_duration": 1,
        "result without its call": 1,
        "block odd": 1,
    }


def test_images_are_named_and_exit_codes_are_read_where_stated(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        lines(
            claude("user", [said("See"), {"type": "image", "source": {"type": "base64", "data": "AAAA"}}], 1),
            claude("assistant", [use("t1", "Bash"), use("t2", "Bash")], 2, message={"id": "m1"}),
            claude("user", [result("t1", "Exit code 2\nbad", is_error=True), result("t2", "Exit code 3 is odd")], 3),
        ),
    )
    assert session.steps[0].message == "See\n[image]"
    assert [(each.exit_code, each.is_error) for each in session.steps[1].results] == [(2, True), (None, None)]


PRINTED: list[dict[str, Any]] = [
    {
        "type": "system",
        "subtype": "init",
        "session_id": "s",
        "cwd": "/w",
        "model": "m",
        "claude_code_version": "2.1.126",
    },
    {"type": "system", "subtype": "api_retry", "session_id": "s", "uuid": "u-1"},
    {"type": "assistant", "session_id": "s", "uuid": "u-2", "message": {"id": "m1", "content": [use("t1", "Read")]}},
    {"type": "user", "session_id": "s", "uuid": "u-3", "message": {"role": "user", "content": [result("t1", "x = 1")]}},
    {"type": "assistant", "session_id": "s", "uuid": "u-4", "message": {"id": "m2", "content": [said("It is 1.")]}},
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "It is 1.",
        "session_id": "s",
        "usage": {"input_tokens": 9, "output_tokens": 3},
    },
]


@pytest.mark.parametrize("content", [lines(*PRINTED), lines(PRINTED), json.dumps(PRINTED, indent=2).encode()])
def test_what_is_printed_is_read_as_stream_and_as_a_list(tmp_path: Path, content: bytes) -> None:
    session = read(tmp_path, content)
    assert (session.head.format, session.head.agent_version, session.head.folder) == ("claude-code", "2.1.126", "/w")
    assert [(step.source, step.message) for step in session.steps] == [(Source.AGENT, ""), (Source.AGENT, "It is 1.")]
    assert [each.text for each in session.steps[0].results] == ["x = 1"]
    assert session.skipped == {"record system / init": 1, "record system / api_retry": 1, "record result / success": 1}


def test_sessions_of_the_web_are_read(tmp_path: Path) -> None:
    bare = {"type": "user", "timestamp": time_at(1), "message": {"role": "user", "content": "Fix it"}}
    session = read(tmp_path, json.dumps({"loglines": [bare, *PRINTED[2:5]]}, indent=2).encode())
    assert [(step.source, step.message) for step in session.steps] == [
        (Source.USER, "Fix it"),
        (Source.AGENT, ""),
        (Source.AGENT, "It is 1."),
    ]


def test_a_result_alone_is_a_step(tmp_path: Path) -> None:
    session = read(tmp_path, lines(PRINTED[-1]))
    assert [(step.source, step.message, step.usage) for step in session.steps] == [
        (Source.AGENT, "It is 1.", TokenUsage(9, 3, 0))
    ]
    assert session.head.session_id == "s"
    failed = {
        "type": "result",
        "subtype": "error_max_turns",
        "is_error": True,
        "errors": ["Too long"],
        "session_id": "s",
    }
    (step,) = read(tmp_path, lines(*PRINTED[:2], failed)).steps
    assert (step.message, step.ending) == ("Too long", StepEnding.FAILED)


def test_printed_streams_are_read_as_well(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        lines(
            {"type": "system", "subtype": "init", "session_id": "s-9", "cwd": "/w"},
            {"type": "assistant", "session_id": "s-9", "message": {"id": "m", "content": [said("Hi")]}},
            {"type": "assistant", "session_id": "s-9", "parent_tool_use_id": "t", "message": {"content": "aside"}},
            {"type": "result", "session_id": "s-9", "result": "Hi"},
        ),
    )
    assert (session.head.session_id, [step.message for step in session.steps]) == ("s-9", ["Hi"])
    assert [each.head.session_id for each in session.subagents] == ["t"]


def queue(operation: str, content: str | None = None, **fields: Any) -> dict[str, Any]:
    record = {"type": "queue-operation", "operation": operation, "sessionId": "s-1", "timestamp": time_at(3)} | fields
    return record if content is None else record | {"content": content}


ORDER = "Never touch the till."
NOTICE = "<task-notification>\n<summary>never mind</summary>\n</task-notification>"


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([queue("enqueue", ORDER), queue("remove"), queued(ORDER)], [("user", ORDER)]),
        (
            [queue("enqueue", ORDER), queued(ORDER), queue("remove", ORDER, reason="absorbed_mid_turn")],
            [("user", ORDER)],
        ),
        ([queued(ORDER)], [("user", ORDER)]),
        ([queue("enqueue", ORDER), queue("remove")], [("user", ORDER)]),
        ([queue("remove", ORDER, reason="absorbed_mid_turn")], [("user", ORDER)]),
        (
            [queue("enqueue", "a b"), queue("enqueue", ORDER), queue("remove", ORDER), queue("remove")],
            [("user", ORDER), ("user", "a b")],
        ),
        ([queue("enqueue", ORDER), queue("dequeue"), claude("user", ORDER, 5)], [("user", ORDER)]),
        (
            [queue("enqueue", ORDER), queue("popAll", ORDER), claude("user", "Never, never", 5)],
            [("user", "Never, never")],
        ),
        ([queue("enqueue", ORDER), queue("remove", ORDER, reason="cancelled")], []),
        ([queue("enqueue", ORDER)], []),
        ([queued([said(ORDER), {"type": "image"}]), queue("remove", ORDER)], [("user", f"{ORDER}\n[image]")]),
        ([queued(ORDER), queued(ORDER) | {"uuid": "b"}], [("user", ORDER)] * 2),
        ([queued(NOTICE, commandMode="task-notification"), queue("remove", NOTICE)], [("system", NOTICE)]),
        ([queued("Never stop", origin={"kind": "peer"})], [("system", "Never stop")]),
        ([queued("Only a", origin={"kind": "human"})], [("user", "Only a")]),
        ([queued(None), queued({"odd": 1}), queue("odd"), queue("remove", None)], []),
    ],
)
def test_what_is_typed_while_the_agent_works(
    tmp_path: Path, records: list[dict[str, Any]], told: list[tuple[str, str]]
) -> None:
    before = [claude("user", "Go", 1), claude("assistant", [use("t1", "Bash")], 2, message={"id": "m1"})]
    after = [claude("user", [result("t1", "out")], 6), claude("assistant", "Done.", 7, message={"id": "m2"})]
    session = read(tmp_path, lines(*before, *records, *after))
    assert [(step.source, step.message) for step in session.steps[2:-1]] == told
    assert session.steps[1].results[0].text == "out"
    assert not any("queue" in kind or "attachment" in kind for kind in session.skipped)


def test_other_attachments_are_counted(tmp_path: Path) -> None:
    other = {"type": "attachment", "sessionId": "s-1", "attachment": {"type": "todo_reminder", "content": []}}
    assert read(tmp_path, lines(claude("user", "Go", 1), other)).skipped == {"record attachment": 1}

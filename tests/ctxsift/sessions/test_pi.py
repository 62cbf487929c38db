"""Pi counts records, aborts turns, and begins a branch with what was before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ctxsift.sessions.records import Compaction, Source, StepEnding, TokenUsage, ToolResult
from tests.ctxsift.sessions.samples import PI, PI_HEAD, lines, pi, read, said, time_at


def call(call_id: str, **fields: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": "ls"}} | fields


def compaction(**fields: Any) -> dict[str, Any]:
    return {"type": "compaction", "timestamp": time_at(9), "summary": "Short.", "tokensBefore": 7} | fields


def test_a_session(tmp_path: Path) -> None:
    session = read(tmp_path, PI)
    assert (session.head.session_id, session.head.folder, session.head.model) == ("p-1", "/work/shop", "m-1")
    assert session.steps[1].usage == TokenUsage(125, 7, 100)
    assert session.steps[1].results == (ToolResult("k1", "def total(): ...", None, False),)
    assert session.compactions == (Compaction(2, "Read.", 2, 900),)
    assert (session.steps[2].ending, session.steps[2].message) == (StepEnding.ABORTED, "")


def test_the_first_kept_entry_counts_all_records(tmp_path: Path) -> None:
    level = {"type": "thinking_level_change", "thinkingLevel": "high"}
    records = [PI_HEAD, level, pi("user", "One", 1), level, pi("user", "Two", 2)]
    for index, step in ((2, 1), (3, 2), (4, 2), (99, None), (-1, None)):
        session = read(tmp_path, lines(*records, compaction(firstKeptEntryIndex=index)))
        assert session.compactions == (Compaction(2, "Short.", step, 7),), index
    damaged = lines(*records[:3]) + b"{broken\n" + lines(*records[4:], compaction(firstKeptEntryIndex=4))
    assert read(tmp_path, damaged).compactions[0].first_kept_step == 2


def test_the_first_kept_entry_by_its_id(tmp_path: Path) -> None:
    records = [PI_HEAD, pi("user", "One", 1) | {"id": "e1"}, pi("assistant", [call("k")], 2) | {"id": "e2"}]
    records.append(pi("toolResult", "out", 3, toolCallId="k") | {"id": "e3"})
    for name, step in (("e1", 1), ("e2", 2), ("e3", 2), ("e9", None)):
        session = read(tmp_path, lines(*records, compaction(firstKeptEntryId=name)))
        assert session.compactions[0].first_kept_step == step, name


def test_compactions_with_the_same_beginning_are_two(tmp_path: Path) -> None:
    records = [PI_HEAD, pi("user", "One", 1), compaction(), pi("user", "Two", 2), compaction()]
    assert [each.after_step for each in read(tmp_path, lines(*records)).compactions] == [1, 2]


def test_calls_without_results_stay(tmp_path: Path) -> None:
    many = [call(f"k{number}") for number in range(16)]
    aborted = pi("assistant", [*many, call("k16", partialJson='{"comm')], 1, stopReason="aborted")
    later = [pi("user", f"Again {number}", 2 + number) for number in range(70)]
    session = read(tmp_path, lines(PI_HEAD, aborted, *later, pi("toolResult", "late", 80, toolCallId="k3")))
    step = session.steps[0]
    assert (len(step.calls), step.results, step.ending) == (17, (), StepEnding.ABORTED)
    assert "partialJson" not in step.calls[16].arguments
    assert session.skipped == {"result without its call": 1}


def test_ids_that_come_again_are_told_apart(tmp_path: Path) -> None:
    turn = [pi("assistant", [call("k")], 1), pi("toolResult", "out", 2, toolCallId="k")]
    session = read(tmp_path, lines(PI_HEAD, *turn, *turn))
    ids = [each.call_id for step in session.steps for each in step.calls]
    assert len(set(ids)) == 2
    assert [each.call_id for step in session.steps for each in step.results] == ids


def test_a_command_of_the_user(tmp_path: Path) -> None:
    run = {"role": "bashExecution", "command": "ls", "output": "a\n", "exitCode": 1, "cancelled": False}
    session = read(tmp_path, lines(PI_HEAD, {"type": "message", "timestamp": time_at(1), "message": run}))
    (step,) = session.steps
    assert (step.source, step.message, step.results) == (Source.USER, "!ls", (ToolResult("", "a\n", 1),))


def test_a_branch_begins_with_copied_steps(tmp_path: Path) -> None:
    head = PI_HEAD | {"branchedFrom": "/old.jsonl", "timestamp": time_at(5)}
    session = read(tmp_path, lines(head, pi("user", "Before", 1), pi("user", "/compact", 6)))
    assert [step.copied for step in session.steps] == [True, False]
    assert not any(step.copied for step in read(tmp_path, lines(PI_HEAD, pi("user", "x", -1))).steps)


def test_other_records(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        lines(
            PI_HEAD,
            {"type": "model_change", "modelId": "m-2"},
            pi("assistant", [said("Hi"), {"type": "odd"}], 1, stopReason="error", errorMessage="400"),
            {"type": "custom_message", "content": "from an extension", "timestamp": time_at(2)},
            pi("hookMessage", "from a hook", 3),
            {"type": "branch_summary", "summary": "tried it", "timestamp": time_at(4)},
            {"type": "session_info", "name": "Carts"},
            {"type": "label", "label": "x"},
            pi("compactionSummary", None, 5),
            PI_HEAD,
            7,
        ),
    )
    assert [step.message for step in session.steps] == ["Hi", "from an extension", "from a hook", "tried it"]
    assert (session.steps[0].ending, session.steps[0].model) == (StepEnding.FAILED, "m-2")
    assert session.head.title == "Carts"
    assert session.skipped == {
        "block odd": 1,
        "record label": 1,
        "message of role compactionSummary": 1,
        "further session record": 1,
        "line that is no record": 1,
    }

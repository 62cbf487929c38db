"""Codex writes items of responses; steps have to be found between them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.artifacts.index import index_session
from ctxsift.sessions.artifacts.records import CheckState
from ctxsift.sessions.records import Compaction, Source, StepEnding, TokenUsage
from tests.ctxsift.sessions.samples import CODEX, codex, codex_message, item, lines, read


def call(call_id: str, command: str = "ls") -> dict[str, Any]:
    return item("function_call", name="shell", arguments=json.dumps({"command": command}), call_id=call_id)


def output(call_id: str, text: Any = "") -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=text)


def test_a_session(tmp_path: Path) -> None:
    session = read(tmp_path, CODEX)
    assert (session.head.session_id, session.head.agent_version, session.head.model) == ("c-1", "0.77.0", "gpt-5")
    assert [step.source for step in session.steps] == [Source.USER, Source.AGENT, Source.AGENT]
    step = session.steps[1]
    assert (step.reasoning, step.folder, step.model) == ("Look first.", "/work/shop", "gpt-5")
    assert step.calls[0].arguments == {"command": "cat cart.py"}
    assert session.compactions == (Compaction(2, "The cart was read."),)


def test_a_step_begins_after_each_batch_of_outputs(tmp_path: Path) -> None:
    batches = [call("a"), call("b"), output("b", "of b"), output("a", "of a"), call("c"), output("c")]
    session = read(tmp_path, lines(codex_message("user", "Go"), *batches, codex_message("assistant", "Done")))
    agent = [step for step in session.steps if step.source is Source.AGENT]
    assert [[each.call_id for each in step.calls] for step in agent] == [["a", "b"], ["c"], []]
    assert [each.text for each in agent[0].results] == ["of b", "of a"]


def test_what_is_said_after_the_end_of_a_turn_is_a_step_of_its_own(tmp_path: Path) -> None:
    ended = {"type": "event_msg", "payload": {"type": "task_complete"}}
    more = (codex_message("assistant", "One more thing"), call("a"), output("a"))
    said = (codex_message("user", "Go"), codex_message("assistant", "Done"), ended, *more)
    agent = [step for step in read(tmp_path, lines(*said)).steps if step.source is Source.AGENT]
    assert [(step.message, len(step.calls)) for step in agent] == [("Done", 0), ("One more thing", 1)]


def test_lines_that_the_program_writes_above_an_output_are_none_of_the_command(tmp_path: Path) -> None:
    above = "Chunk ID: 1\nWall time: 2.0 seconds\nProcess exited with code 1\nOriginal token count: 9\nOutput:\n"
    ran = (call("a", "rake test | tail -2; ls lib | grep odd"), output("a", f"{above}6 runs, 0 failures, 0 errors"))
    checks = index_session(read(tmp_path, lines(*ran))).checks
    assert [each.state for each in checks] == [CheckState.PASSED]


def test_arguments_that_are_no_json_object_are_kept_as_text(tmp_path: Path) -> None:
    odd = [item("function_call", name="shell", arguments="{broken", call_id="a")]
    odd.append(item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="b"))
    odd.append(item("custom_tool_call_output", call_id="b", output=[{"type": "input_text", "text": "ok"}]))
    odd.append(item("local_shell_call", call_id="c", action={"type": "exec", "command": ["ls"]}))
    odd.append(item("web_search_call", action={"query": "q"}))
    session = read(tmp_path, lines(*odd))
    calls = [each for step in session.steps for each in step.calls]
    assert [each.arguments for each in calls] == [
        {"input": "{broken"},
        {"input": "*** Begin Patch"},
        {"type": "exec", "command": ["ls"]},
        {"query": "q"},
    ]
    assert [each.name for each in calls] == ["shell", "apply_patch", "local_shell_call", "web_search_call"]
    assert session.steps[0].results[0].text == "ok"


@pytest.mark.parametrize(
    ("given", "exit_code", "text"),
    [
        ('{"output": "no"}', None, '{"output": "no"}'),
        ('{"output":"no\\n","metadata":{"exit_code":2}}', 2, "no\n"),
        ("Exit code: 3\nWall time: 1 s\nOutput:\nno", 3, "Exit code: 3\nWall time: 1 s\nOutput:\nno"),
        ("Chunk ID: 1\nProcess exited with code 4\nOutput:\nno", 4, None),
        ("it printed\nExit code: 5\n", None, None),
        ({"content": "text", "success": True}, None, "text"),
    ],
)
def test_exit_codes_are_read_where_the_program_states_them(
    tmp_path: Path, given: Any, exit_code: int | None, text: str | None
) -> None:
    found = read(tmp_path, lines(call("a"), output("a", given))).steps[0].results[0]
    assert found.exit_code == exit_code
    assert text is None or found.text == text


def test_counts_of_tokens_told_twice_count_once(tmp_path: Path) -> None:
    counts = {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 5}
    told = codex("event_msg", type="token_count", info={"last_token_usage": counts})
    session = read(
        tmp_path, lines(call("a"), told, output("a"), told, codex("event_msg", type="token_count", info=None))
    )
    assert [step.usage for step in session.steps] == [TokenUsage(100, 5, 60)]


@pytest.mark.parametrize(
    ("records", "summary"),
    [
        ([codex("compacted", message="short")], "short"),
        ([item("compaction", encrypted_content="xyz"), codex("event_msg", type="context_compacted")], ""),
        (
            [
                codex("compacted", message="", replacement_history=[{"type": "message", "content": "kept"}]),
                codex("event_msg", type="context_compacted"),
            ],
            "kept",
        ),
        ([codex("compacted", message="", replacement_history_entries=[{"encrypted_content": "xyz"}])], ""),
    ],
)
def test_compactions_in_every_form_count_once(tmp_path: Path, records: list[Any], summary: str) -> None:
    session = read(tmp_path, lines(codex_message("user", "Go"), *records, codex_message("assistant", "On")))
    assert session.compactions == (Compaction(1, summary),)
    assert len(session.steps) == 2


def test_the_program_s_own_words_and_what_is_not_read(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        lines(
            codex_message("user", "<environment_context>\n..."),
            codex_message("developer", "Rules"),
            codex_message("user", "Go"),
            call("a"),
            codex("event_msg", type="turn_aborted"),
            codex("event_msg", type="agent_message", message="repeated"),
            codex("event_msg", type="task_started"),
            codex("new_kind", x=1),
            item("ghost_snapshot"),
            output("z"),
            "text",
        ),
    )
    assert [step.source for step in session.steps] == [Source.SYSTEM, Source.SYSTEM, Source.USER, Source.AGENT]
    assert session.steps[3].ending is StepEnding.ABORTED
    assert session.skipped == {
        "event task_started": 1,
        "record new_kind": 1,
        "item ghost_snapshot": 1,
        "result without its call": 1,
        "line that is no record": 1,
    }


def test_the_oldest_form_has_no_envelope(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        lines(
            {"id": "c-0", "timestamp": "2025-05-07T17:24:21.123Z", "instructions": None},
            {"record_type": "state"},
            *(record["payload"] for record in (codex_message("user", "Go"), call("a"), output("a", "x"))),
        ),
    )
    assert (session.head.session_id, len(session.steps), session.steps[1].results[0].text) == ("c-0", 2, "x")


@pytest.mark.parametrize(("session_id", "state"), [(7, CheckState.FAILED), (8, CheckState.NOT_SHOWN)])
def test_what_a_running_command_prints_later_ends_its_check(tmp_path: Path, session_id: int, state: CheckState) -> None:
    started = "Chunk ID: 1\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\ncollecting ..."
    ended = "Chunk ID: 2\nWall time: 3.0 seconds\nProcess exited with code 1\nOutput:\n1 failed, 3 passed in 0.1s"
    given = json.dumps({"session_id": session_id, "chars": ""})
    session = read(
        tmp_path,
        lines(
            codex("session_meta", id="c-1", cwd="/w"),
            item("function_call", 1, call_id="a", name="exec_command", arguments='{"cmd": "pytest -q"}'),
            item("function_call_output", 2, call_id="a", output=started),
            item("function_call", 3, call_id="b", name="write_stdin", arguments=given),
            item("function_call_output", 4, call_id="b", output=ended),
        ),
    )
    (check,) = index_session(session).checks
    assert [run.state for run in check.runs] == [state]

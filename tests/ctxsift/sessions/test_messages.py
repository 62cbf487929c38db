"""Lists of messages in the two common dialects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.artifacts.index import index_session
from ctxsift.sessions.artifacts.records import FileState
from ctxsift.sessions.records import Source, TokenUsage, ToolResult
from tests.ctxsift.sessions.samples import ANTHROPIC, OPENAI, lines, read


@pytest.mark.parametrize(
    "content",
    [
        OPENAI,
        json.dumps(json.loads(OPENAI), indent=2).encode(),
        json.dumps({"messages": json.loads(OPENAI)}).encode(),
        lines(*json.loads(OPENAI)),
        # A list with one message a line: its last line alone would be a value.
        b"[\n" + lines(*json.loads(OPENAI)).rstrip().replace(b"}\n{", b"},\n{") + b"\n]\n",
    ],
)
def test_openais(tmp_path: Path, content: bytes) -> None:
    session = read(tmp_path, content)
    assert session.head.format == "messages"
    assert [step.source for step in session.steps] == [Source.SYSTEM, Source.USER, Source.AGENT, Source.AGENT]
    assert session.steps[2].calls[0].arguments == {"path": "cart.py"}
    assert session.steps[2].results == (ToolResult("o1", "def total(): ..."),)


def test_anthropics(tmp_path: Path) -> None:
    session = read(tmp_path, ANTHROPIC)
    assert [step.message for step in session.steps] == ["You are an agent.", "Fix the cart", "I read it."]
    assert session.steps[2].results == (ToolResult("n1", "def total(): ...", None, False),)
    assert session.head.model == "opus"


def test_what_messages_may_hold(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    old = {"name": "read", "arguments": "broken"}
    session = read(
        tmp_path,
        lines(
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "odd"}]},
            {"role": "assistant", "content": "x", "reasoning_content": "hm", "usage": usage, "function_call": old},
            {"role": "function", "name": "read", "content": "out"},
            {"role": "tool", "tool_call_id": "nobody", "content": "late"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "so"}], "refusal": "I will not."},
            {"role": "critic", "content": "?"},
            {"messages": [{"role": "user", "content": "whole"}]},
            {"messages": [{"role": "user", "content": "second"}]},
            3,
        ),
    )
    first, second, third, fourth = session.steps
    assert (first.message, second.reasoning, second.usage) == ("[image]", "hm", TokenUsage(9, 2, 4))
    assert (second.calls[0].arguments, second.results[0].text) == ({"input": "broken"}, "out")
    assert second.results[0].call_id == second.calls[0].call_id != ""
    assert (third.reasoning, third.message, fourth.message) == ("so", "I will not.", "whole")
    assert session.skipped == {
        "block odd": 1,
        "result without its call": 1,
        "record critic": 1,
        "further session": 1,
        "line that is no record": 1,
    }


def test_calls_without_ids_are_numbered(tmp_path: Path) -> None:
    call: dict[str, Any] = {"function": {"name": "read", "arguments": "{}"}}
    turn = {"role": "assistant", "content": "", "tool_calls": [call, call]}
    session = read(tmp_path, lines({"role": "user", "content": "Go"}, turn, turn))
    ids = [each.call_id for step in session.steps for each in step.calls]
    assert len(set(ids)) == 4


def test_items_of_responses_among_messages(tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "f1", "name": "shell", "arguments": '{"command": ["ls"]}'}
    session = read(
        tmp_path,
        json.dumps(
            [
                {"role": "user", "content": "Look"},
                {"type": "reasoning", "summary": [], "encrypted_content": "x"},
                call,
                call | {"call_id": "f2"},
                {"type": "function_call_output", "call_id": "f2", "output": "b"},
                {"type": "function_call_output", "call_id": "f1", "output": [{"type": "input_text", "text": "a"}]},
                call | {"call_id": "f3"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
            ]
        ).encode(),
    )
    assert [step.source for step in session.steps] == [Source.USER, *[Source.AGENT] * 3]
    assert [[each.text for each in step.results] for step in session.steps] == [[], ["b", "a"], [], []]
    assert [len(step.calls) for step in session.steps] == [0, 2, 1, 0]
    assert session.steps[3].message == "Done."


def test_a_run_in_one_response_with_its_request(tmp_path: Path) -> None:
    def call(call_id: str) -> dict[str, Any]:
        given = '{"keystrokes": "rm cart.py\\n", "duration": 0.1}'
        return {"type": "function_call", "call_id": call_id, "name": "bash_command", "arguments": given}

    spoken = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Look."}]}
    output = [
        spoken,
        call("a"),
        {"type": "function_call_output", "call_id": "a", "output": "$ rm cart.py"},
        spoken,
        call("b"),
        {"type": "function_call_output", "call_id": "b", "output": ""},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Are you sure?"}]},
    ]
    run = {
        "responses_create_params": {"input": [{"role": "user", "content": "Fix it"}]},
        "response": {"object": "response", "model": "m", "output": output},
        "reward": 1.0,
    }
    session = read(tmp_path, lines(run, run))
    sources = [Source.USER, Source.AGENT, Source.AGENT, Source.USER]
    assert [step.source for step in session.steps] == sources
    assert [step.message for step in session.steps] == ["Fix it", "Look.", "Look.", "Are you sure?"]
    assert [len(step.results) for step in session.steps] == [0, 1, 1, 0]
    assert session.skipped == {"further session": 1}


def test_blocks_that_say_a_call_again_and_hold_its_output(tmp_path: Path) -> None:
    """Rollouts of Codex as messages, recorded on Windows: the folder stands in what its model was told."""
    given = json.dumps({"command": "rm src/cart.py"})
    block = {"type": "tool_call", "tool_call_id": "k1", "name": "shell_command", "arguments": given}
    told = (
        "<environment_context>\n  <cwd>C:\\Users\\me\\shop</cwd>\n  <shell>powershell</shell>\n</environment_context>"
    )
    function = {"name": "shell_command", "arguments": given}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": told}]},
        {"role": "user", "content": [{"type": "text", "text": "Remove it"}]},
        {
            "role": "assistant",
            "content": [block],
            "tool_calls": [{"id": "k1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "k1", "content": [{"type": "tool_output", "text": "Exit code: 0\nOutput:\n"}]},
    ]
    session = read(tmp_path, json.dumps({"messages": messages}).encode())
    assert session.head.folder == "C:\\Users\\me\\shop"
    assert [call.call_id for step in session.steps for call in step.calls] == ["k1"]
    results = [each for step in session.steps for each in step.results]
    assert [(each.text, each.exit_code) for each in results] == [("Exit code: 0\nOutput:\n", 0)]
    assert session.skipped == {}
    assert [(file.path, file.state) for file in index_session(session).files] == [("src/cart.py", FileState.DELETED)]

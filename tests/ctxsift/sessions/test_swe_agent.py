"""Trajectories: what stands before the task is no history, and what files leave open is found in their content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.artifacts.index import index_session
from ctxsift.sessions.artifacts.records import CheckState, FileState
from ctxsift.sessions.records import Source, TokenUsage
from tests.ctxsift.sessions.samples import MINI, SWE, read


def changed(folder: Path, change: Any) -> Any:
    document = json.loads(SWE)
    change(document)
    return read(folder, json.dumps(document).encode())


def test_an_entry_is_a_step(tmp_path: Path) -> None:
    session = read(tmp_path, SWE)
    assert [step.source for step in session.steps] == [Source.SYSTEM, Source.USER, *[Source.AGENT] * 3]
    assert session.steps[1].message == "ISSUE: the cart is wrong"
    assert [(call.name, call.arguments) for step in session.steps for call in step.calls] == [
        ("open", {"command": "open cart.py"}),
        ("bash", {"command": "cd src && ls"}),
        ("edit", {"command": "edit 1:1\nx\nend_of_edit"}),
    ]
    assert session.skipped == {"key environment": 1}


def test_the_demonstration_is_kept_aside(tmp_path: Path) -> None:
    messages = ["Here is a demonstration: bug in marsh", "I look at marsh."]
    assert [step.message for step in read(tmp_path, SWE).demonstration] == messages

    def unmark(document: Any) -> None:
        for message in document["history"]:
            message.pop("is_demo", None)

    session = changed(tmp_path, unmark)
    assert [step.message for step in session.demonstration] == messages
    assert [step.message for step in session.steps][:2] == ["You work in a shell.", "ISSUE: the cart is wrong"]


def test_the_folder_is_that_in_which_a_step_begins(tmp_path: Path) -> None:
    # Here `state` is what holds after the action; its first version tells what held before.
    assert [step.folder for step in read(tmp_path, SWE).steps[2:]] == ["/repo", "/repo", "/repo/src"]

    def before(document: Any) -> None:
        states = [entry["state"] for entry in document["trajectory"]]
        first = {"open_file": "n/a", "working_dir": "/"}
        for entry, state in zip(document["trajectory"], [first, *states], strict=False):
            entry["state"] = state

    assert [step.folder for step in changed(tmp_path, before).steps[2:]] == ["/", "/repo", "/repo/src"]


def test_an_edit_that_was_not_applied_is_an_error(tmp_path: Path) -> None:
    results = [each for step in read(tmp_path, SWE).steps for each in step.results]
    assert [each.is_error for each in results] == [None, None, True]


def test_what_entries_may_lack(tmp_path: Path) -> None:
    def change(document: Any) -> None:
        document["trajectory"][0] |= {"action": "", "state": "{broken"}
        document["trajectory"][1] |= {"observation": "ok///PROCESS-DONE:7:PROCESS-DONE///"}
        document["trajectory"][2] = 5
        document["history"] = []

    session = changed(tmp_path, change)
    assert session.steps[0].calls == ()
    assert [(each.call_id, each.exit_code) for step in session.steps for each in step.results] == [
        ("", None),
        (session.steps[1].calls[0].call_id, 7),
    ]
    assert session.steps[1].results[0].text == "ok"
    assert session.skipped["entry of no fields"] == 1


@pytest.mark.parametrize("bare", [False, True])
def test_mini(tmp_path: Path, bare: bool) -> None:
    document = json.loads(MINI)
    session = read(tmp_path, json.dumps(document["messages"] if bare else document).encode())
    assert session.head.format == "mini-swe-agent"
    assert [step.source for step in session.steps] == [Source.SYSTEM, Source.USER, Source.AGENT]
    (step,) = session.steps[2:]
    assert step.calls[0].arguments == {"command": "ls -a"}
    assert [(each.exit_code, "cart.py" in each.text) for each in step.results] == [(2, True)]


def test_mini_with_calls(tmp_path: Path) -> None:
    document = json.loads(MINI)
    call = {"id": "b1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    document["messages"][2:] = [
        {"role": "assistant", "content": "Look", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "b1", "content": "cart.py", "extra": {"returncode": 0}},
        {"role": "assistant", "content": "No command."},
        {"role": "user", "content": "Give exactly one command."},
        {"role": "exit", "content": "Submitted"},
    ]
    session = read(tmp_path, json.dumps(document).encode())
    assert [step.source for step in session.steps[2:]] == [Source.AGENT, Source.AGENT, Source.SYSTEM, Source.SYSTEM]
    assert session.steps[2].results[0].exit_code == 0


def test_mini_tells_which_commands_ran(tmp_path: Path) -> None:
    document = json.loads(MINI)
    usage = {"prompt_tokens": 600, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 100}}
    extra = {"actions": [{"command": "ls"}], "response": {"usage": usage}}
    document["messages"][2:] = [
        {"role": "assistant", "content": "<mswea_bash_command>ls</mswea_bash_command>", "extra": extra},
        {"role": "user", "content": "cart.py", "extra": {"returncode": 2}},
        {"role": "assistant", "content": "```bash\nsleep 99\n```", "extra": {"actions": [{"command": "sleep 99"}]}},
        {
            "role": "user",
            "content": "<exception>timed out</exception>\n<returncode>-1</returncode>",
        },
    ]
    session = read(tmp_path, json.dumps(document).encode())
    assert [call.arguments["command"] for step in session.steps for call in step.calls] == ["ls", "sleep 99"]
    assert [each.exit_code for step in session.steps for each in step.results] == [2, -1]
    assert session.steps[2].usage == TokenUsage(600, 20, 100)


def test_mini_with_responses(tmp_path: Path) -> None:
    """OpenAI's Responses (LitellmResponseModel): a turn is the response itself, observations are items."""

    def call(call_id: str, command: str) -> dict[str, Any]:
        given = json.dumps({"command": command})
        return {"type": "function_call", "call_id": call_id, "name": "bash", "arguments": given}

    def came(call_id: str, output: str, code: int) -> dict[str, Any]:
        extra = {"raw_output": output, "returncode": code}
        return {"type": "function_call_output", "call_id": call_id, "output": output, "extra": extra}

    usage = {"input_tokens": 900, "output_tokens": 30, "input_tokens_details": {"cached_tokens": 512}}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "The test first."}]}
    spoken = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I run it."}]}
    edited, ran = call("r1", "sed -i s/price/amount/ src/cart.py"), call("r2", "pytest -q")
    wrong = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Tool call error"}]}
    document = json.loads(MINI)
    document["trajectory_format"] = "mini-swe-agent-1.1"
    document["messages"][2:] = [
        {"object": "response", "id": "x", "model": "gpt-5.6", "usage": usage, "output": [thought, spoken, edited, ran]},
        came("r2", "<returncode>1</returncode>\n<output>\n1 failed, 3 passed in 0.12s\n</output>", 1),
        came("r1", "<returncode>0</returncode>\n<output>\n</output>", 0),
        {"object": "response", "output": [call("r3", "rm src/cart.py")]},
        came("r3", "<exception>action was not executed</exception>\n<returncode>-1</returncode>", -1),
        {"object": "response", "output": [spoken]},
        wrong,
    ]
    session = read(tmp_path, json.dumps(document).encode())
    assert [step.source for step in session.steps[2:]] == [Source.AGENT] * 3 + [Source.SYSTEM]
    step = session.steps[2]
    assert (step.message, step.reasoning, step.model, step.usage) == (
        "I run it.",
        "The test first.",
        "gpt-5.6",
        TokenUsage(900, 30, 512),
    )
    assert [(each.call_id, each.exit_code) for each in step.results] == [("r2", 1), ("r1", 0)]
    assert session.skipped == {}
    made = index_session(session)
    assert [(file.path, file.state) for file in made.files] == [("src/cart.py", FileState.MODIFIED)]
    assert [(check.command, check.state) for check in made.checks] == [("pytest -q", CheckState.FAILED)]

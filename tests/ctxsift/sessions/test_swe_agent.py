"""Trajectories: what stands before the task is no history, and what files leave open is found in their content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.records import Source
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

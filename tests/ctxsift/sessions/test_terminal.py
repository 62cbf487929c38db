"""Trajectories of Harbor's terminus-2: what is typed into a terminal, and one screen that tells of all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.artifacts.index import index_session
from ctxsift.sessions.artifacts.records import CheckState, FileState
from ctxsift.sessions.exporting import as_atif
from ctxsift.sessions.importers.terminal import divided
from ctxsift.sessions.records import Session
from tests.ctxsift.sessions.samples import read

FAILED = "FAILED tests/test_cart.py::test_total - ValueError\n1 failed, 3 passed in 0.12s\n"


def typed(number: int, screen: str | None, *keys: str, others: tuple[str, ...] = ()) -> dict[str, Any]:
    names = [("bash_command", {"keystrokes": each, "duration": 0.1}) for each in keys] + [(each, {}) for each in others]
    calls = [
        {"tool_call_id": f"call_{number}_{place}", "function_name": name, "arguments": arguments}
        for place, (name, arguments) in enumerate(names, 1)
    ]
    seen = {} if screen is None else {"observation": {"results": [{"content": screen}]}}
    return {"step_id": number + 2, "source": "agent", "message": "Plan", "tool_calls": calls} | seen


def trajectory(folder: Path, *steps: dict[str, Any]) -> Session:
    head = {"schema_version": "ATIF-v1.6", "agent": {"name": "terminus-2", "version": "2.0.0"}}
    task = {"step_id": 1, "source": "user", "message": "Repair the cart."}
    return read(folder, json.dumps(head | {"steps": [task, *steps]}).encode())


def files(session: Session) -> dict[str, FileState]:
    return {file.path: file.state for file in index_session(session).files}


def test_what_is_typed_is_read_as_commands(tmp_path: Path) -> None:
    session = trajectory(
        tmp_path,
        typed(0, "New Terminal Output:\nroot@c:/app# cat src/cart.py\ntotal = 1\nroot@c:/app# ", "cat src/cart.py\n"),
        typed(
            1,
            f"New Terminal Output:\nroot@c:/app# pytest -q\n{FAILED}root@c:/app# ",
            "sed -i 's/total = 1/total = 2/' src/cart.py\n",
            "pytest -q\n",
        ),
        typed(2, "New Terminal Output:\n", "cat > src/guard.py << 'EOF'\nx = 1\nEOF\n"),
        typed(3, "ok", others=("mark_task_complete",)),
    )
    assert files(session) == {"src/cart.py": FileState.MODIFIED, "src/guard.py": FileState.WRITTEN}
    (check,) = index_session(session).checks
    assert (check.command, check.state) == ("pytest -q", CheckState.FAILED)
    assert [len(step.results) for step in session.steps] == [0, 1, 2, 1, 1]
    assert all(each.call_id for step in session.steps for each in step.results)
    again = read(tmp_path, json.dumps(as_atif(session)).encode())
    assert again.steps == session.steps


def test_each_command_has_its_part_of_the_screen(tmp_path: Path) -> None:
    screen = (
        "New Terminal Output:\nroot@c:/app# npm test\n2 passing\nroot@c:/app# cd web && pytest -q\n"
        f"{FAILED}root@c:/app/web# ls\na.py\nroot@c:/app/web# "
    )
    session = trajectory(tmp_path, typed(0, screen, "npm test\n", "cd web && pytest -q\n", "ls\n"))
    shown = [each.text for each in session.steps[1].results]
    assert "".join(shown) == screen
    assert [("passing" in each, "failed" in each, "a.py" in each) for each in shown] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]


def test_the_prompt_tells_the_folder(tmp_path: Path) -> None:
    session = trajectory(
        tmp_path,
        typed(0, "root@c:/app# cd src\nroot@c:/app/src# ", "cd src\n"),
        typed(1, "New Terminal Output:\n", "rm cart.py\n"),
        typed(2, "root@c:/app/src# touch /app/new.py\n(base) root@c:/app/src# ", "touch /app/new.py\n"),
    )
    assert [step.folder for step in session.steps] == [None, "/app", "/app/src", "/app/src"]
    assert set(files(session)) == {"src/cart.py", "new.py"}


def test_a_reply_that_was_recorded_as_it_came(tmp_path: Path) -> None:
    reply = {"analysis": "It fails.", "plan": "Mend it.", "commands": [{"keystrokes": "rm cart.py\n", "duration": 1}]}
    step = typed(0, "root@c:/app# rm cart.py\nroot@c:/app# ") | {"message": f"<think>\n{json.dumps(reply)}\n"}
    session = trajectory(tmp_path, step, step | {"step_id": 3, "message": '{"commands": "none"}'})
    assert [step.message for step in session.steps[1:]] == [
        "Analysis: It fails.\nPlan: Mend it.",
        '{"commands": "none"}',
    ]
    assert files(session) == {"cart.py": FileState.DELETED}


@pytest.mark.parametrize(
    ("screens", "state"),
    [
        ([FAILED], CheckState.FAILED),
        (["collecting ...", FAILED, "root@c:/app# "], CheckState.FAILED),
        (["", "4 passed in 0.1s"], CheckState.PASSED),
        (["", "root@c:/app# "], CheckState.NOT_SHOWN),
    ],
)
def test_what_is_shown_after_a_wait_ends_a_check(tmp_path: Path, screens: list[str], state: CheckState) -> None:
    waits = [typed(number, f"New Terminal Output:\n{each}", "") for number, each in enumerate(screens, 1)]
    session = trajectory(tmp_path, typed(0, "root@c:/app# pytest -q\n", "pytest -q\n"), *waits)
    made = index_session(session)
    assert [[run.state for run in check.runs] for check in made.checks] == [[state]]
    assert len(made.failed) == (state is CheckState.FAILED)


@pytest.mark.parametrize("keys", ["", "C-c", "q", "Enter", "\n"])
def test_keys_are_no_commands(tmp_path: Path, keys: str) -> None:
    session = trajectory(tmp_path, typed(0, "Current Terminal Screen:\nError: still there", keys))
    assert index_session(session).failed == ()


@pytest.mark.parametrize(
    ("keys", "screen", "shown"),
    [
        (["a", "b"], "nothing of it", ["", "nothing of it"]),
        (["", "b"], "x\n$ b\ny", ["", "x\n$ b\ny"]),
        (["a", "b"], "$ a\n1\n", ["$ a\n1\n", ""]),
        (["a", "a"], "$ a\n1\n$ a\n2", ["$ a\n1\n", "$ a\n2"]),
    ],
)
def test_screens_are_divided_at_echoes(keys: list[str], screen: str, shown: list[str]) -> None:
    assert divided(keys, screen) == shown


def test_results_without_a_call_answer_in_order(tmp_path: Path) -> None:
    step = typed(0, None)
    step["tool_calls"] = [
        {"tool_call_id": each, "function_name": "bash", "arguments": {"command": command}}
        for each, command in (("a", "touch x.py"), ("b", "pytest -q"))
    ]
    step["observation"] = {"results": [{"content": ""}, {"content": FAILED}, {"content": "more"}]}
    # Ids of an earlier step come again where a history was summed up.
    session = trajectory(tmp_path, step, step | {"step_id": 3})
    for each in session.steps[1:]:
        assert [(known.text, known.call_id) for known in each.results] == [
            ("", each.calls[0].call_id),
            (FAILED, each.calls[1].call_id),
            ("more", ""),
        ]

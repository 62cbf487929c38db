"""Open tasks of to-do lists: all of them, as the tools of different agents write them, through every cut."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.compaction.records import Cut
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.compaction.tasks import Task, open_tasks
from ctxsift.sessions.records import JsonValue, Session, SessionHead, Source, Step, ToolCall, ToolResult
from tests.ctxsift.sessions.samples import (
    PI_HEAD,
    claude,
    codex_message,
    item,
    lines,
    pi,
    read,
    result,
    said,
    use,
)

LISTING = "\n".join(f"{at}: value_{at} = compute({at})" for at in range(60))
OPEN = ("Add the search box", "Write the help page", "Limit searches to 6 per minute")
DONE = ("Create the search route", "Index the titles")
ALL = (*DONE, *OPEN)


def next_steps(session: Session, name: str = "anchored", *, budget: int = 400, cuts: int = 1) -> list[str]:
    """Return the bullets under Next steps after some cuts at equal distances; of other methods, all bullets."""
    last = session.steps[-1].step_id
    at = [Cut(last * number // cuts, last * number // cuts) for number in range(1, cuts + 1)]
    *_, made = compact_session(session, name, at, budget=budget)
    assert not made.refused
    text = made.summary_text
    if name.startswith("anchored"):
        text = text.partition("## Next steps\n")[2].partition("\n## ")[0]
    return [line.removeprefix("- ").removeprefix("To do: ") for line in text.splitlines()]


def steps_of(*calls: tuple[str, dict[str, JsonValue], str]) -> Session:
    """Return a session of calls, each with a long look at a file after it."""
    steps = [Step(1, Source.USER, "Build the search, please.")]
    for name, arguments, output in calls:
        for call, told in ((ToolCall("", name, arguments), output), (ToolCall("", "read", {"path": "a.py"}), LISTING)):
            number = len(steps) + 1
            called = ToolCall(f"c{number}", call.name, call.arguments)
            steps.append(Step(number, Source.AGENT, "", calls=(called,), results=(ToolResult(f"c{number}", told),)))
    steps.append(Step(len(steps) + 1, Source.USER, "ok"))
    return Session(SessionHead("messages"), tuple(steps))


def created(*subjects: str) -> Iterator[tuple[str, dict[str, JsonValue], str]]:
    for number, subject in enumerate(subjects, 1):
        arguments: dict[str, JsonValue] = {"subject": subject, "description": f"{subject}, in full", "activeForm": "x"}
        yield "TaskCreate", arguments, f"Task #{number} created successfully: {subject}"


def updated(task_id: str, **fields: JsonValue) -> tuple[str, dict[str, JsonValue], str]:
    return "TaskUpdate", {"taskId": task_id, **fields}, f"Updated task #{task_id} status"


def claude_list(folder: Path) -> Session:
    todos = [{"content": text, "status": "completed" if text in DONE else "pending", "activeForm": "x"} for text in ALL]
    records = [
        claude("user", "Build the search, please.", 1),
        claude("assistant", [use("t1", "TodoWrite", todos=todos)], 2, message={"id": "m1"}),
        claude("user", [result("t1", "Todos have been modified")], 3),
        claude("assistant", [use("t2", "Read", file_path="/work/shop/a.py")], 4, message={"id": "m2"}),
        claude("user", [result("t2", LISTING)], 5),
        claude("user", "ok", 6),
    ]
    return read(folder, lines(*records))


def claude_tasks(folder: Path) -> Session:
    calls = [*created(*ALL), updated("1", status="completed"), updated("2", status="completed")]
    calls.append(updated("3", status="in_progress"))
    records = [claude("user", "Build the search, please.", 1)]
    for at, (name, arguments, output) in enumerate(calls):
        records.append(claude("assistant", [use(f"t{at}", name, **arguments)], 2, message={"id": f"m{at}"}))
        records.append(claude("user", [result(f"t{at}", output)], 3))
    records.append(claude("assistant", [use("r", "Read", file_path="/work/shop/a.py")], 4, message={"id": "m"}))
    records += [claude("user", [result("r", LISTING)], 5), claude("user", "ok", 6)]
    return read(folder, lines(*records))


def codex_plan(folder: Path) -> Session:
    plan = [{"step": text, "status": "completed" if text in DONE else "pending"} for text in ALL]
    records = [
        codex_message("user", "Build the search, please.", 1),
        item("function_call", name="update_plan", arguments=json.dumps({"plan": plan}), call_id="a"),
        item("function_call_output", call_id="a", output="Plan updated"),
        item("function_call", name="shell", arguments='{"command": "cat a.py"}', call_id="b"),
        item("function_call_output", call_id="b", output=LISTING),
        codex_message("user", "ok", 5),
    ]
    return read(folder, lines(*records))


def pi_todos(folder: Path) -> Session:
    def turn(at: int, name: str, arguments: dict[str, Any], output: str) -> list[dict[str, Any]]:
        call = {"type": "toolCall", "id": f"k{at}", "name": name, "arguments": arguments}
        told = pi("toolResult", [said(output)], at, toolCallId=f"k{at}", toolName=name, isError=False)
        return [pi("assistant", [call], at), told]

    records = [PI_HEAD, pi("user", [said("Build the search, please.")], 1)]
    for at, text in enumerate(ALL, 1):
        records += turn(at, "todo", {"action": "add", "text": text}, f"Added todo #{at}: {text}")
    for at in (1, 2):
        records += turn(at + 9, "todo", {"action": "toggle", "id": at}, f"Todo #{at} completed")
    records += [*turn(20, "read", {"path": "a.py"}, LISTING), pi("user", [said("ok")], 30)]
    return read(folder, lines(*records))


def messages(folder: Path) -> Session:
    """Return a session with a list as Markdown, one call a message."""
    boxes = "\n".join(f"- [{'x' if text in DONE else ' '}] {text}" for text in ALL)
    told: list[dict[str, Any]] = [{"role": "user", "content": "Build the search, please."}]
    for at, (name, arguments, output) in enumerate(
        [("update_todo_list", {"todos": boxes}, "ok"), ("read", {"path": "a.py"}, LISTING)]
    ):
        call = {"id": f"o{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        told.append({"role": "assistant", "content": "", "tool_calls": [call]})
        told.append({"role": "tool", "tool_call_id": f"o{at}", "content": output})
    return read(folder, json.dumps([*told, {"role": "user", "content": "ok"}]).encode())


@pytest.mark.parametrize("name", ["anchored", "anchored+index", "regenerative"])
@pytest.mark.parametrize("budget", [150, 500, 2000])
@pytest.mark.parametrize("session_in", [claude_list, claude_tasks, codex_plan, pi_todos, messages])
def test_every_open_task_stays_and_none_that_is_done(session_in: Any, budget: int, name: str, tmp_path: Path) -> None:
    told = next_steps(session_in(tmp_path), name, budget=budget)
    for text in OPEN:
        assert [line for line in told if line.startswith(text)], text
    assert not [line for line in told for text in DONE if text in line]


def test_tasks_of_the_same_words_are_all_open() -> None:
    texts = [f"Fix {name}" for name in ("CI", "UI", "db")] + ["Add tests for the cart view", "Add tests for the view"]
    todos: list[JsonValue] = [{"content": text, "status": "pending"} for text in texts]
    told = next_steps(steps_of(("TodoWrite", {"todos": todos}, "ok")))
    assert told[: len(texts)] == texts


@pytest.mark.parametrize("name", ["anchored", "regenerative"])
def test_a_task_that_is_changed_after_a_cut_is_changed_in_the_summary(name: str) -> None:
    session = steps_of(
        *created("Read the schema", "Write the migration", "Drop the old table", "Tell the users"),
        updated("1", status="completed"),
        updated("2", subject="Write both migrations", status="in_progress"),
        updated("3", status="deleted"),
        updated("9", status="completed"),
    )
    told = next_steps(session, name, cuts=4)
    assert "Write both migrations (#2)" in told
    assert "Tell the users (#4)" in told
    assert not [line for line in told if "schema" in line or "old table" in line or "Write the migration" in line]


@pytest.mark.parametrize("name", ["anchored", "regenerative"])
def test_a_list_on_which_all_is_done_leaves_nothing_open(name: str) -> None:
    def listed(state: str) -> tuple[str, dict[str, JsonValue], str]:
        todos: list[JsonValue] = [{"content": text, "status": state} for text in OPEN]
        return "TodoWrite", {"todos": todos}, "ok"

    told = next_steps(steps_of(listed("pending"), listed("completed")), name, cuts=2)
    assert not [line for line in told for text in OPEN if text in line]


def test_the_order_of_the_list_stays() -> None:
    assert next_steps(steps_of(*created(*ALL))) == [f"{text} (#{number})" for number, text in enumerate(ALL, 1)]


def of(*calls: ToolCall, failed: bool = False) -> tuple[Task, ...] | None:
    results = tuple(ToolResult(call.call_id, "x", is_error=failed) for call in calls)
    return open_tasks([Step(7, Source.AGENT, "", calls=calls, results=results)], [Task("Old", 2, "1")])


def call(name: str, **arguments: JsonValue) -> ToolCall:
    return ToolCall(f"c-{name}", name, arguments)


@pytest.mark.parametrize(
    ("called", "left"),
    [
        (
            call("todo_write", merge=True, todos=[{"id": "1", "status": "completed"}, {"id": "2", "content": "B"}]),
            ["B"],
        ),
        (call("task_tracker", command="plan", task_list=[{"id": 1, "title": "A", "status": "todo"}]), ["A"]),
        (call("write_todos", todos=[{"description": "A", "status": "in_progress"}]), ["A"]),
        (call("manage_todo_list", todoList=[{"id": 1, "title": "A", "status": "not-started"}]), ["A"]),
        (call("execute", task_progress="- [x] A\n- [ ] B", command="ls"), ["B"]),
        (call("mcp__tasks__create_task", title="A"), ["Old", "A"]),
        (call("mcp__tasks__delete_task", id="1"), []),
        (call("todo", action="clear"), []),
        (call("TodoWrite", todos=[]), []),
        (call("TaskUpdate", taskId="1", description="More of it"), ["Old"]),
    ],
)
def test_tools_of_other_agents(called: ToolCall, left: list[str]) -> None:
    tasks = of(called)
    assert tasks is not None
    assert [task.text for task in tasks] == left


@pytest.mark.parametrize(
    "called",
    [
        call("Task", description="Look for it", prompt="Find all of it", subagent_type="explore"),
        call("TaskOutput", task_id="1"),
        call("TaskList"),
        call("TaskUpdate", taskId="77", status="completed"),
        call("Write", file_path="TODO.md", content="- [ ] A\n- [x] B"),
        call("MultiEdit", edits=[{"old_string": "a", "new_string": "b"}]),
        call("subagent", tasks=[{"agent": "scout", "task": "Find it"}]),
        call("bash", command="task list"),
    ],
)
def test_what_is_no_change_of_a_to_do_list(called: ToolCall) -> None:
    assert of(called) is None


def test_a_call_that_failed_changes_nothing() -> None:
    assert of(call("TodoWrite", todos=[{"content": "A", "status": "pending"}]), failed=True) is None


def test_a_task_that_is_opened_again_is_open() -> None:
    session = steps_of(*created("A task", "Another"), updated("1", status="completed"), updated("1", status="pending"))
    tasks = open_tasks(session.steps)
    assert tasks is not None
    assert [task.shown for task in tasks] == ["A task (#1)", "Another (#2)"]
    assert all(a.step_id < b.step_id for a, b in itertools.pairwise(tasks))

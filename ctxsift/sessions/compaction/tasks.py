"""To-do lists of agents: which of their tasks are open, be they written as a whole or task by task."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxsift.sessions.records import JsonValue, Step, ToolCall, ToolResult

_MOST_CHARACTERS = 300
_DONE = frozenset(
    {"completed", "complete", "done", "cancelled", "canceled", "deleted", "finished", "closed", "skipped", "removed"}
)
_STATUS, _FLAGS = ("status", "state"), ("done", "completed", "checked")
_TEXT = ("content", "step", "text", "subject", "title", "name", "task", "description")
_ID = ("id", "taskId", "task_id", "todoId", "todo_id")
# Lists under these keys are to-do lists although their items may have no status.
_LISTS = ("todos", "plan", "newTodos")
# What a tool for to-do lists is called, and what it does with one task.
_TOOL = frozenset({"task", "tasks", "todo", "todos", "checklist"})
_ADDS = frozenset({"create", "add", "append"})
_CHANGES = frozenset({"update", "edit", "set", "start", "toggle", "complete", "finish", "close", "tick", "reopen"})
_REMOVES, _CLEARS = frozenset({"delete", "remove"}), frozenset({"clear", "reset"})
_CLOSES = frozenset({"complete", "finish", "close", "tick"})
_ACTION = ("action", "command", "operation")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CHECKBOX = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])?\s*\[([ xX~/-]?)\]\s+(\S.*)")
# "Task #3 created", {"id": "3"}.
_NEW_ID = re.compile(r"#(\d+)\b|\"(?:id|taskId|task_id)\"\s*:\s*\"?([\w-]+)")
_LONGEST_ID = 8
_SHOWN_ID = re.compile(r"(.*) \(#([\w-]+)\)\Z")


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a to-do list.

    Attributes:
        text: what is to be done, on one line.
        step_id: where it was listed last; 0 where that is not known.
        task_id: by which its tool knows it; empty where it has none.

    """

    text: str
    step_id: int
    task_id: str = ""
    is_open: bool = True

    @property
    def shown(self) -> str:
        """The text, with the id by which the agent can go on to change it."""
        return f"{self.text} (#{self.task_id})" if 0 < len(self.task_id) <= _LONGEST_ID else self.text


def task_of(shown: str, step_id: int) -> Task:
    """Return the task of a text that is `shown` of it."""
    match = _SHOWN_ID.match(shown)
    return Task(match[1], step_id, match[2]) if match else Task(shown, step_id)


def open_tasks(span: Iterable[Step], before: Iterable[Task] = ()) -> tuple[Task, ...] | None:
    """Return the tasks that are open after a span, in the order of their list; None where it changes no list.

    Args:
        span: steps in their order. Calls that failed change nothing.
        before: tasks that were open when it began.

    """
    tasks, changed = list(before), False
    for step in span:
        results = {result.call_id: result for result in step.results}
        for call in step.calls:
            result = results.get(call.call_id)
            if result is not None and (result.is_error or result.exit_code):
                continue
            changed = _apply(tasks, call, result, step.step_id) or changed
    return tuple(task for task in tasks if task.is_open) if changed else None


def _apply(tasks: list[Task], call: ToolCall, result: ToolResult | None, step_id: int) -> bool:
    """Change tasks as a call did; return whether it is one that does."""
    words = {word.casefold() for word in _WORD.findall(call.name)}
    is_tool = bool(words & _TOOL)
    verbs = words | {value.casefold() for key in _ACTION if isinstance(value := call.arguments.get(key), str)}
    listed = _listed(call.arguments, step_id, is_tool=is_tool)
    if listed is not None:
        if call.arguments.get("merge") is True:
            for task in listed:
                _put(tasks, task)
        else:
            tasks[:] = [*(tasks if is_tool and verbs & _ADDS else ()), *listed]
        return True
    if not is_tool or "prompt" in call.arguments:
        return False
    return _apply_to_one(tasks, call.arguments, verbs, result.text if result else "", step_id)


def _apply_to_one(
    tasks: list[Task], arguments: Mapping[str, JsonValue], verbs: set[str], output: str, step_id: int
) -> bool:
    text = _text_of(arguments)
    if verbs & _ADDS:
        if text:
            tasks.append(Task(text, step_id, _new_id(tasks, arguments, output)))
        return bool(text)
    if verbs & _CLEARS:
        tasks.clear()
        return True
    at = _place(tasks, _id_of(arguments))
    if at is None or not verbs & (_CHANGES | _REMOVES):
        return False
    old = tasks[at]
    is_open = not (_is_done(arguments) or verbs & (_REMOVES | _CLOSES))
    if "toggle" in verbs:
        is_open = not old.is_open
    elif is_open and not old.is_open:
        # What was closed is open again where that is said, not where its text is edited.
        is_open = "reopen" in verbs or any(key in arguments for key in (*_STATUS, *_FLAGS))
    # Where a task has a subject, its description is no new name of it.
    named = {key: value for key, value in arguments.items() if key != "description"}
    tasks[at] = dataclasses.replace(old, text=_text_of(named) or old.text, is_open=is_open)
    return True


def _listed(arguments: Mapping[str, JsonValue], step_id: int, *, is_tool: bool) -> list[Task] | None:
    """Return the tasks of a list among the arguments of a call, None where there is none."""
    for key, value in arguments.items():
        tasks: list[Task] | None = None
        if isinstance(value, list):
            tasks = _of_items(key, value, step_id, is_tool=is_tool)
        elif isinstance(value, str) and (is_tool or key == "task_progress"):
            tasks = _of_boxes(value, step_id) or None
        if tasks is not None:
            return tasks
    return None


def _of_items(key: str, given: Sequence[JsonValue], step_id: int, *, is_tool: bool) -> list[Task] | None:
    """Return the tasks of a list, known by its key or the status of each item; None where it is another list."""
    items = [each for each in given if isinstance(each, dict)]
    if not given:
        return [] if is_tool and key in _LISTS else None
    if len(items) < len(given) or not (key in _LISTS or all(map(_has_status, items))):
        return None
    return [task for each in items if (task := _task(each, step_id)).text or task.task_id]


def _of_boxes(text: str, step_id: int) -> list[Task]:
    """Return the tasks of a list in Markdown."""
    boxes = [match for line in text.splitlines() if (match := _CHECKBOX.match(line))]
    return [Task(_one_line(box[2]), step_id, "", box[1] not in ("x", "X")) for box in boxes]


def _has_status(item: Mapping[str, JsonValue]) -> bool:
    return bool(_text_of(item)) and any(name in item for name in _STATUS)


def _task(item: Mapping[str, JsonValue], step_id: int) -> Task:
    return Task(_text_of(item), step_id, _id_of(item), not _is_done(item))


def _put(tasks: list[Task], task: Task) -> None:
    """Put a task in the place of the one with its id, or at the end."""
    at = _place(tasks, task.task_id)
    if at is not None:
        tasks[at] = dataclasses.replace(task, text=task.text or tasks[at].text)
    elif task.text:
        tasks.append(task)


def _place(tasks: list[Task], task_id: str) -> int | None:
    return next((at for at, task in enumerate(tasks) if task_id and task.task_id == task_id), None)


def _new_id(tasks: list[Task], arguments: Mapping[str, JsonValue], output: str) -> str:
    if given := _id_of(arguments):
        return given
    if match := _NEW_ID.search(output):
        return match[1] or match[2]
    return str(1 + max((int(task.task_id) for task in tasks if task.task_id.isdecimal()), default=0))


def _text_of(item: Mapping[str, JsonValue]) -> str:
    return next((_one_line(text) for text in _strings(item, _TEXT) if text.strip()), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MOST_CHARACTERS]


def _id_of(item: Mapping[str, JsonValue]) -> str:
    return next((str(value) for key in _ID if isinstance(value := item.get(key), str | int)), "").lstrip("#")


def _is_done(item: Mapping[str, JsonValue]) -> bool:
    return any(text.casefold() in _DONE for text in _strings(item, _STATUS)) or any(
        item.get(key) is True for key in _FLAGS
    )


def _strings(item: Mapping[str, JsonValue], keys: Iterable[str]) -> Iterator[str]:
    return (value for key in keys if isinstance(value := item.get(key), str))

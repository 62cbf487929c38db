"""A recorded session as Codex keeps it: with tools for commands and patches, or with scripts that call them."""

from __future__ import annotations

import difflib
import hashlib
import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tools.convert_session.acts import Act, Command, Edit, Read, Told
from tools.convert_session.times import later, milliseconds

_VERSION, _VERSION_OF_SCRIPTS = "0.144.0", "0.148.0"
_HEADER = re.compile(r"@@ -\S+ \+\S+ @@[^\n]*\n")


@dataclass(frozen=True, slots=True)
class _Shell:
    """A command line and its result; no exit code means that it was still running when the tool stopped waiting."""

    line: str
    output: str
    exit_code: int | None


@dataclass(frozen=True, slots=True)
class _Patch:
    """A patch of one file, as the tool takes it, and the file change that it is; `error` where it did not apply."""

    text: str
    path: str
    change: dict[str, Any]
    error: str = ""

    @property
    def said(self) -> str:
        """What the tool prints."""
        shown = _named(self.text)
        mark = "A" if self.change["type"] == "add" else "M"
        return self.error or f"Success. Updated the following files:\n{mark} {shown}\n"


@dataclass(frozen=True, slots=True)
class _Made:
    """A call with what it did; `at` is when it ended."""

    done: _Shell | _Patch
    call_id: str
    at: str
    told: Told


def records(name: str, folder: str, steps: Sequence[Told]) -> Iterator[dict[str, Any]]:
    """Yield the records of a session of this `name`, whose project is in `folder`; each call is an item of its own."""
    return _records(name, folder, steps, {"cli_version": _VERSION}, _spoken, _called)


def records_of_scripts(name: str, folder: str, steps: Sequence[Told]) -> Iterator[dict[str, Any]]:
    """Yield the records of a session as `records` does; each call is made by a script, and told by an event."""
    head = {"cli_version": _VERSION_OF_SCRIPTS, "history_mode": "paginated"}
    return _records(name, folder, steps, head, _spoken_item, _scripted)


def _records(
    name: str,
    folder: str,
    steps: Sequence[Told],
    head: dict[str, str],
    spoken: Callable[[Told, str], dict[str, Any]],
    called: Callable[[_Made], Iterator[dict[str, Any]]],
) -> Iterator[dict[str, Any]]:
    yield from _beginning(name, folder, steps[0].at, head)
    ended = True
    for told in steps:
        if told.by_user or ended:
            yield _event(told.at, "task_started", turn_id=str(told.number))
            context = {"turn_id": str(told.number), "cwd": folder, "model": "recorded", "effort": "medium"}
            yield _record(told.at, "turn_context", context)
        role, kind = ("user", "input_text") if told.by_user else ("assistant", "output_text")
        yield _item(told.at, "message", role=role, content=[{"type": kind, "text": told.message}])
        yield spoken(told, _id(name, told.number, "item"))
        ended = told.act is None and not told.by_user
        if ended:
            yield _event(told.at, "task_complete", last_agent_message=told.message)
        if told.act is not None:
            at = later(told.at, told.seconds)
            yield from called(_Made(_done(told.act, folder), _id(name, told.number, "call"), at, told))


def _spoken(told: Told, _: str) -> dict[str, Any]:
    return _event(told.at, "user_message" if told.by_user else "agent_message", message=told.message)


def _spoken_item(told: Told, item_id: str) -> dict[str, Any]:
    kind, block = ("UserMessage", "text") if told.by_user else ("AgentMessage", "Text")
    content = [{"type": block, "text": told.message}]
    return _event(told.at, "item_completed", item={"type": kind, "id": item_id, "content": content})


def _called(made: _Made) -> Iterator[dict[str, Any]]:
    done, told, call_id = made.done, made.told, made.call_id
    if isinstance(done, _Shell):
        arguments = json.dumps(_asked(done, told), ensure_ascii=False)
        yield _item(told.at, "function_call", name="exec_command", arguments=arguments, call_id=call_id)
        yield _item(made.at, "function_call_output", call_id=call_id, output=_shown(done, told, call_id))
        return
    yield _item(told.at, "custom_tool_call", status="completed", call_id=call_id, name="apply_patch", input=done.text)
    output = done.error or f"Exit code: 0\nWall time: {told.seconds:.1f} seconds\nOutput:\n{done.said}"
    if not done.error:
        changes = {done.path: done.change}
        yield _event(made.at, "patch_apply_end", call_id=call_id, stdout=done.said, success=True, changes=changes)
    yield _item(made.at, "custom_tool_call_output", call_id=call_id, output=output)


def _scripted(made: _Made) -> Iterator[dict[str, Any]]:
    done, told, call_id = made.done, made.told, made.call_id
    script = _script(done, told)
    yield _item(told.at, "custom_tool_call", status="completed", call_id=call_id, name="exec", input=script)
    printed, ended = "", "completed"
    item: dict[str, Any] = {"id": call_id.replace("call", "done")}
    if isinstance(done, _Shell):
        printed = done.output
        ran = {"command": ["/bin/bash", "-lc", done.line], "cwd": told.folder, "parsed_cmd": [], "source": "agent"}
        result = {"aggregated_output": printed, "exit_code": done.exit_code}
        status = {"status": "failed" if done.exit_code else "completed"}
        if done.exit_code is not None:
            item |= {"type": "CommandExecution"} | ran | status | result
            yield _event(made.at, "item_completed", item=item)
    elif done.error:
        printed, ended = f"Script error:\n{done.error}", "failed"
    else:
        item |= {"type": "FileChange", "changes": {done.path: done.change}, "status": "completed"}
        yield _event(made.at, "item_completed", item=item)
    head = f"Script {ended}\nWall time {told.seconds:.1f} seconds\nOutput:\n"
    output = [{"type": "input_text", "text": text} for text in (head, printed) if text]
    yield _item(made.at, "custom_tool_call_output", call_id=call_id, output=output)


def _beginning(name: str, folder: str, at: str, fields: dict[str, str]) -> Iterator[dict[str, Any]]:
    head = {"id": _session_id(name, at), "timestamp": at, "cwd": folder, "originator": "codex_cli_rs", "source": "cli"}
    yield _record(at, "session_meta", head | fields)
    context = f"<environment_context>\n  <cwd>{folder}</cwd>\n  <shell>bash</shell>\n</environment_context>"
    yield _item(at, "message", role="user", content=[{"type": "input_text", "text": context}])


def _record(at: str, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def _item(at: str, kind: str, **fields: Any) -> dict[str, Any]:
    return _record(at, "response_item", {"type": kind} | fields)


def _event(at: str, kind: str, **fields: Any) -> dict[str, Any]:
    return _record(at, "event_msg", {"type": kind} | fields)


def _session_id(name: str, at: str) -> str:
    """Return a UUID of version 7."""
    tail = hashlib.sha256(name.encode()).hexdigest()
    digits = f"{milliseconds(at):012x}7{tail[:3]}a{tail[3:6]}{tail[6:18]}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _id(name: str, number: int, kind: str) -> str:
    return f"{kind}_{hashlib.sha256(f'{name} {number} {kind}'.encode()).hexdigest()[:24]}"


def _asked(done: _Shell, told: Told) -> dict[str, Any]:
    return {"cmd": done.line, "workdir": told.folder, "yield_time_ms": 120000}


def _shown(done: _Shell, told: Told, call_id: str) -> str:
    """Return the output of a command below the lines that the program puts above it."""
    running = f"Process running with session ID {told.number}"
    lines = (
        f"Chunk ID: {call_id[-6:]}",
        f"Wall time: {told.seconds:.4f} seconds",
        running if done.exit_code is None else f"Process exited with code {done.exit_code}",
        f"Original token count: {len(done.output) // 4}",
        f"Output:\n{done.output}",
    )
    return "\n".join(lines)


def _script(done: _Shell | _Patch, told: Told) -> str:
    if isinstance(done, _Patch):
        return f"const r = await tools.apply_patch({json.dumps(done.text, ensure_ascii=False)});\ntext(r);\n"
    asked = json.dumps(_asked(done, told), ensure_ascii=False)
    return f"const r = await tools.exec_command({asked});\ntext(r.output);\n"


def _done(act: Act, folder: str) -> _Shell | _Patch:
    """Return what Codex does for this: it has no tools to read or to write a whole file that is there."""
    if isinstance(act, Command):
        return _Shell(act.line, act.output, act.exit_code)
    path = posixpath.relpath(act.path, folder) if act.path.startswith(f"{folder}/") else act.path
    if isinstance(act, Read):
        return _read(act, path)
    if isinstance(act, Edit):
        return _edit(act, path)
    if not act.existed:
        lines = [f"*** Add File: {path}", *(f"+{line}" for line in act.text.splitlines())]
        return _Patch(_patch(lines), act.path, {"type": "add", "content": act.text})
    if act.before is None or act.before == act.text:
        # The words of a heredoc end with a line.
        missing = "" if act.text.endswith("\n") else " && truncate -s -1 " + shlex.quote(act.path)
        text = act.text.removesuffix("\n")
        return _Shell(f"cat > {shlex.quote(act.path)} <<'EOF'{missing}\n{text}\nEOF", "", 0)
    compared = list(difflib.unified_diff(act.before.splitlines(), act.text.splitlines(), n=3, lineterm=""))[2:]
    return _update(act.path, path, "\n".join(compared) + "\n")


def _read(act: Read, path: str) -> _Shell:
    """Whole files are shown by `cat`, lines of them by `sed`."""
    where = shlex.quote(act.path if path == act.path else path)
    if act.count is None:
        line, program, code = f"cat {where}", "cat: ", 1
    else:
        line, program, code = f"sed -n '{act.first},{act.first + act.count - 1}p' {where}", "sed: can't read ", 2
    if "No such file" in act.error:
        return _Shell(line, f"{program}{where}: No such file or directory", code)
    return _Shell(line, act.error or "\n".join(act.lines), 0)


def _edit(act: Edit, path: str) -> _Patch:
    if not act.error:
        return _update(act.path, path, "".join(act.hunks))
    lines = [f"*** Update File: {path}", "@@"]
    lines += [f"{sign}{line}" for sign, text in (("-", act.old), ("+", act.new)) for line in text.splitlines()]
    error = f"Failed to find expected lines in {act.path}:\n{act.old}"
    if "No such file" in act.error:
        error = f"Failed to read file to update {act.path}: No such file or directory (os error 2)"
    return _Patch(_patch(lines), act.path, {"type": "update"}, f"apply_patch verification failed: {error}")


def _update(path: str, shown: str, diff: str) -> _Patch:
    """Return a patch with the hunks of a unified diff; those of the tool have no line numbers."""
    hunks = _HEADER.sub("@@\n", diff.rstrip("\n") + "\n").replace("\\ No newline at end of file\n", "")
    text = _patch([f"*** Update File: {shown}", hunks.rstrip("\n")])
    return _Patch(text, path, {"type": "update", "unified_diff": diff, "move_path": None})


def _patch(lines: Sequence[str]) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch")) + "\n"


def _named(patch: str) -> str:
    return patch.split("\n")[1].partition(": ")[2]

"""A recorded session as Claude Code 2.1 keeps it: one record for each block of a message, each after the one before."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from tools.convert_session.acts import Act, Command, Edit, Read, Told, Write
from tools.convert_session.times import later

_VERSION = "2.1.193"
_KNOWN = " (file state is current in your context — no need to Read it back)"
# Programs whose exit code 1 is an answer; the last one of a command line decides.
_ANSWERS = re.compile(r"(?:^|[|;&\n])\s*(?:(?:e|f|r)?grep|rg|find|diff|test|\[)\s[^|;&\n]*\Z")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@[^\n]*\n(.*)", re.DOTALL)


def records(name: str, _folder: str, steps: Sequence[Told]) -> Iterator[dict[str, Any]]:
    """Yield the records of a session of this `name`; each holds the folder that the shell stood in."""
    session, parent, count = _uuid(name), None, 0

    def record(told: Told, kind: str, at: str, **fields: Any) -> dict[str, Any]:
        nonlocal parent, count
        count += 1
        own, before = _uuid(f"{name} {count}"), parent
        parent = own
        common = {"parentUuid": before, "isSidechain": False, "userType": "external", "entrypoint": "cli"}
        place = {"cwd": told.folder, "sessionId": session, "version": _VERSION, "gitBranch": "main"}
        return common | place | {"type": kind} | fields | {"uuid": own, "timestamp": at}

    for told in steps:
        if told.by_user:
            yield record(told, "user", told.at, message={"role": "user", "content": told.message})
            continue
        tail = hashlib.sha256(f"{name} {told.number}".encode()).hexdigest()[:24]
        head = {"model": "recorded", "id": f"msg_01{tail}", "type": "message", "role": "assistant"}
        asked = [] if told.act is None else [{"type": "tool_use", "id": f"toolu_01{tail}"} | _call(told.act)]
        for block in [{"type": "text", "text": told.message}, *asked]:
            message = head | {"content": [block], "stop_reason": "tool_use" if asked else "end_turn"}
            yield record(told, "assistant", told.at, message=message, requestId=f"req_01{tail}")
        if told.act is not None:
            text, failed, detail = _result(told.act, told.folder)
            block = {"tool_use_id": f"toolu_01{tail}", "type": "tool_result", "content": text}
            if failed or isinstance(told.act, Command):
                block["is_error"] = failed
            message = {"role": "user", "content": [block]}
            at = later(told.at, told.seconds)
            yield record(told, "user", at, message=message, toolUseResult=detail, sourceToolAssistantUUID=parent)


def _uuid(seed: str) -> str:
    return str(uuid.UUID(bytes=hashlib.sha256(seed.encode()).digest()[:16], version=4))


def _call(act: Act) -> dict[str, Any]:
    """Return name and input of the tool that does this."""
    if isinstance(act, Command):
        limit = {"timeout": round(act.limit * 1000)} if act.asked_limit else {}
        return {"name": "Bash", "input": {"command": act.line} | limit}
    if isinstance(act, Read):
        window = {} if act.count is None else {"offset": act.first, "limit": act.count}
        return {"name": "Read", "input": {"file_path": act.path} | window}
    if isinstance(act, Write):
        return {"name": "Write", "input": {"file_path": act.path, "content": act.text}}
    strings = {"old_string": act.old, "new_string": act.new}
    return {"name": "Edit", "input": {"replace_all": False, "file_path": act.path} | strings}


def _result(act: Act, folder: str) -> tuple[str, bool, Any]:
    """Return what the model is shown, whether that is an error, and what the program keeps beside it."""
    if isinstance(act, Command):
        return _command(act)
    if isinstance(act, Read | Edit) and act.error:
        text = f"<tool_use_error>{_error(act, folder)}</tool_use_error>"
        return text, True, f"Error: {_error(act, folder)}"
    if isinstance(act, Read):
        shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(act.lines, act.first))
        file = {"filePath": act.path, "content": "\n".join(act.lines), "numLines": len(act.lines)}
        return shown, False, {"type": "text", "file": file | {"startLine": act.first}}
    if isinstance(act, Write) and not act.existed:
        detail: dict[str, Any] = {"type": "create", "filePath": act.path, "content": act.text}
        text = f"File created successfully at: {act.path}{_KNOWN}"
        return text, False, detail | {"structuredPatch": [], "originalFile": None}
    text = f"The file {act.path} has been updated successfully.{_KNOWN}"
    if isinstance(act, Write):
        return text, False, {"type": "update", "filePath": act.path, "content": act.text, "originalFile": act.before}
    detail = {"filePath": act.path, "oldString": act.old, "newString": act.new, "originalFile": act.before}
    patch = [_hunk(each) for each in act.hunks]
    return text, False, detail | {"structuredPatch": patch, "userModified": False, "replaceAll": False}


def _command(act: Command) -> tuple[str, bool, Any]:
    if act.exit_code is None:
        minutes, seconds = divmod(round(act.limit), 60)
        text = f"Exit code 143\nCommand timed out after {minutes}m {seconds}s" + (
            f"\n{act.output}" if act.output else ""
        )
        return text, True, f"Error: {text}"
    answers = act.exit_code == 1 and _ANSWERS.search(act.line.strip())
    if act.exit_code and not answers:
        text = f"Exit code {act.exit_code}\n{act.output}".rstrip("\n")
        return text, True, f"Error: {text}"
    kept = {"stdout": act.output, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
    return act.output or "(Bash completed with no output)", False, kept


def _error(act: Read | Edit, folder: str) -> str:
    if "No such file" in act.error:
        return f"File does not exist. Note: your current working directory is {folder}."
    if isinstance(act, Edit) and "was not found" in act.error:
        return f"String to replace not found in file.\nString: {act.old}"
    if isinstance(act, Edit) and (found := re.search(r"was found (\d+) times", act.error)):
        return (
            f"Found {found[1]} matches of the string to replace, but replace_all is false. To replace all occurrences, "
            "set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify "
            f"the instance.\nString: {act.old}"
        )
    if isinstance(act, Edit):
        return "No changes to make: old_string and new_string are exactly the same."
    return "This tool cannot read binary files."


def _hunk(text: str) -> dict[str, Any]:
    found = _HUNK.match(text)
    if found is None:
        return {}
    numbers = zip(("oldStart", "oldLines", "newStart", "newLines"), found.groups(), strict=False)
    return {key: int(value or 1) for key, value in numbers} | {"lines": found[5].rstrip("\n").split("\n")}

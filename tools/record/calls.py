"""The four tools of a recorded agent: bash, read, write, edit. What each prints is what the agent saw."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxsift.errors import InputError
from tools.record.sandbox import MOST_BYTES, Sandbox

TIME_LIMIT = 120.0
_MOST_LINES, _LONGEST_LINE = 2000, 2000


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a call; `exit_code` is that of bash, `is_error` of the others."""

    output: str
    folder: str
    exit_code: int | None = None
    is_error: bool | None = None
    seconds: float = 0.0


class _FailedError(Exception):
    """The call failed for a reason that the agent is told."""


def call(sandbox: Sandbox, tool: str, arguments: Mapping[str, Any], folder: str) -> Done:
    """Do a call and return what came of it.

    Args:
        sandbox: where.
        tool: `bash`, `read`, `write` or `edit`.
        arguments: `command` and perhaps `timeout`, in seconds; or `path`, and perhaps `offset` and `limit`, both in
            lines; or `path`, `content`; or `path`, `old_text`, `new_text`.
        folder: in which the shell stands.

    Raises:
        InputError: there is no such tool, the path is none of the recording's, or the sandbox cannot be made.
        OSError: a file cannot be written.

    """
    if tool == "bash":
        return _bash(sandbox, arguments, folder)
    if tool not in _FILE_TOOLS:
        raise InputError(tool, "is no tool of the recorder", f"use bash, {', '.join(_FILE_TOOLS)}")
    began, path = time.monotonic(), os.path.join(folder, arguments["path"])  # noqa: PTH118 # of the sandbox
    file = sandbox.outside(path)
    if file is None:
        raise InputError(path, "is not a file of the recording", "files are below the home folder and /tmp")
    try:
        output, is_error = _FILE_TOOLS[tool](file, arguments), False
    except _FailedError as error:
        output, is_error = str(error), True
    return Done(output, folder, is_error=is_error, seconds=round(time.monotonic() - began, 3))


def _bash(sandbox: Sandbox, arguments: Mapping[str, Any], folder: str) -> Done:
    limit = float(arguments.get("timeout", TIME_LIMIT))
    ran = sandbox.run(arguments["command"], folder, limit)
    output = ran.output.rstrip("\n") or "(no output)"
    if ran.exit_code is None:
        output += f"\n\nCommand timed out after {limit:g} s"
    elif ran.exit_code:
        output += f"\n\nCommand exited with code {ran.exit_code}"
    return Done(output, ran.folder or folder, exit_code=ran.exit_code, seconds=ran.seconds)


def _text(file: Path, named: str) -> str:
    if file.is_dir():
        raise _FailedError(f"{named} is a folder")
    if not file.is_file():
        raise _FailedError(f"No such file: {named}")
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        raise _FailedError(f"{named} is not a text file ({file.stat().st_size} bytes)") from None


def _read(file: Path, arguments: Mapping[str, Any]) -> str:
    lines = _text(file, arguments["path"]).split("\n")
    if lines[-1] == "":
        lines.pop()
    first, limit = arguments.get("offset", 1), arguments.get("limit", _MOST_LINES)
    if not lines:
        return "(the file is empty)"
    if first > len(lines):
        raise _FailedError(f"{arguments['path']} has {len(lines)} lines")
    shown, size = list[str](), 0
    for number, line in enumerate(lines[first - 1 : first - 1 + limit], first):
        shown.append(f"{number:>6}\t{line[:_LONGEST_LINE]}")
        size += len(shown[-1].encode()) + 1
        if size > MOST_BYTES:
            break
    left = len(lines) - (first - 1 + len(shown))
    if left and ("limit" not in arguments or len(shown) < limit):
        shown.append(f"\n[{left} more lines in the file; go on with line {first + len(shown)}]")
    return "\n".join(shown)


def _write(file: Path, arguments: Mapping[str, Any]) -> str:
    content = arguments["content"].encode()
    if file.is_dir():
        raise _FailedError(f"{arguments['path']} is a folder")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise _FailedError(f"{arguments['path']}: its folder is a file") from None
    # Written in place: the file keeps its mode.
    file.write_bytes(content)
    return f"Wrote {len(content)} bytes to {arguments['path']}"


def _edit(file: Path, arguments: Mapping[str, Any]) -> str:
    named, old, new = arguments["path"], arguments["old_text"], arguments["new_text"]
    before = _text(file, named)
    found = before.count(old) if old else 0
    if found != 1:
        times = "was not found" if not found else f"was found {found} times, it has to be unique"
        raise _FailedError(f"The old text {times} in {named}. Nothing was changed.")
    if old == new:
        raise _FailedError("The old and the new text are the same. Nothing was changed.")
    after = before.replace(old, new)
    file.write_bytes(after.encode())
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{named}", f"b/{named}", n=3)
    return f"Edited {named}\n\n" + "".join(lines).rstrip("\n")


def _lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines


_FILE_TOOLS: Mapping[str, Callable[[Path, Mapping[str, Any]], str]] = {"read": _read, "write": _write, "edit": _edit}

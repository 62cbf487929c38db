"""Asks `ctxsift hook` as an agent's program does, about an output of a build, and looks at what it answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from ctxsift.cli.parser import SWITCH

_OUTPUT = "".join(f"[{n:03}] compiling module_{n * 37 % 991}.c\n" for n in range(400)) + "built 400 files\n"
_LAST_LINE = re.compile(r"^\[ctxsift: .* ctxsift raw ([0-9a-f]+)\]\Z", re.MULTILINE)
# What an entry of ours lets pass before the program goes on without us.
_MOST_S = 10
_CLAUDE: dict[str, Any] = {"stdout": _OUTPUT, "stderr": "", "interrupted": False, "isImage": False}


class _Host(NamedTuple):
    """What a program tells of its shell, how it names that, and what else than lines we answer."""

    response: Any
    rest: dict[str, Any]
    event: str = "PostToolUse"
    tool: str = "Bash"
    shown: str = "reason"


_PI: dict[str, Any] = {"content": [{"type": "text", "text": _OUTPUT}], "isError": False}
_HOSTS = {
    "claude": _Host(_CLAUDE, {key: _CLAUDE[key] for key in _CLAUDE if key != "stdout"}, shown="stdout"),
    "codex": _Host(_OUTPUT, {"decision": "block"}),
    "gemini": _Host(
        {"llmContent": _OUTPUT, "returnDisplay": ""}, {"decision": "deny"}, "AfterTool", "run_shell_command"
    ),
    "pi": _Host(_PI, {}, "tool_result", "bash", "text"),
    "opencode": _Host({"output": _OUTPUT, "metadata": {"exit": 0}}, {}, "tool.execute.after", "bash", "text"),
}


def answer_time(host: str) -> float:
    """Return how many seconds the hook for a program takes to answer well.

    Raises:
        OSError: it cannot be started, or nothing be kept.
        ValueError: it answers nothing, something else, or too late.

    """
    asked = _HOSTS[host]
    call = {
        "hook_event_name": asked.event,
        "tool_name": asked.tool,
        "tool_input": {"command": "make"},
        "tool_response": asked.response,
    }
    with tempfile.TemporaryDirectory(prefix="ctxsift-") as folder:
        started = time.monotonic()
        reply = _asked(host, json.dumps(call).encode(), folder)
        took = time.monotonic() - started
        found = _LAST_LINE.search(_shown(host, reply))
        if found is None:
            raise ValueError("its answer has no last line that leads to the whole output")
        if Path(folder, "ctxsift", "raw", f"{found[1]}.log").read_bytes() != _OUTPUT.encode():
            raise ValueError("it has kept something else than the output")
    return took


def _asked(host: str, call: bytes, folder: str) -> bytes:
    environment = {key: value for key, value in os.environ.items() if key != SWITCH} | {"XDG_STATE_HOME": folder}
    # The working folder may have a package of our name.
    command = [sys.executable, "-P", "-m", "ctxsift", "hook", host]
    try:
        done = subprocess.run(
            command, input=call, capture_output=True, timeout=_MOST_S, check=False, env=environment, cwd=folder
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"no answer within {_MOST_S} s") from error
    if done.returncode or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise ValueError(f"no answer, exit code {done.returncode}{': ' if said else ''}{said}")
    return done.stdout


def _shown(host: str, reply: bytes) -> str:
    """Return what a program would show in place of the output. Raises ValueError."""
    try:
        answer = json.loads(reply)
        rest: Any = answer["hookSpecificOutput"]["updatedToolOutput"] if host == "claude" else answer
        shown = rest.pop(_HOSTS[host].shown)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"its answer has a different format ({error!r})") from error
    if rest != _HOSTS[host].rest or not isinstance(shown, str):
        raise ValueError("its answer has a different format")
    return shown

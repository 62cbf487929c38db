"""`ctxsift hook HOST`: an agent's program tells what a command printed, and is told what to show instead, or nothing.

Nothing that goes wrong here may cost the agent its result: then nothing is said, and the program goes on as without us.
"""

from __future__ import annotations

import os

from ctxsift.cli.parser import DEFAULT_MAX_BYTES, DEFAULT_MIN_BYTES, DEFAULT_QUESTION, SWITCH, Parser
from ctxsift.cli.passing import note, told, write
from ctxsift.cli.source import standard_input

# Most results are short: what reads and shortens the others is imported for them alone.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any

    from ctxsift.cli.signals import Signals

SUBCOMMAND = "hook"
_EVENT = "PostToolUse"
# Programs hand over tens of kilobytes, and a path where there is more.
_MOST_TOLD = 4_000_000
# The agent waits for us: of more, its program's own beginning of it is sooner there.
_MOST_OUTPUT = 8_000_000

_EPILOG = """\
For the settings of an agent's program; its JSON comes on standard input. `ctxsift init claude` adds to settings.json:

  {"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [
    {"type": "command", "command": "/usr/bin/ctxsift hook claude", "timeout": 10}]}]}}

Codex and Gemini CLI have no other way to replace a result: they show what we say as the reason why it was blocked.
Cursor has none for its shell, and is told {} always.

Long output of tests, linters, builds and installations is shown as `ctxsift run` would print it. Claude Code asks
after commands that succeeded only; put `ctxsift run --` before one that may fail.
What a command reads or chooses on purpose (cat, git diff, ... | tail) is left as it is, and so is all else.
CTXSIFT=0, in the environment or before the command, leaves everything as it is.

exit code: 0, whatever happens
"""


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="shorten results of commands for an agent's program", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument("host", metavar="HOST", help=", ".join(_HOSTS))


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Answer the program; return 0."""
    del command
    reply = None
    try:
        reply = _reply(options.host, signals)
    except BaseException as error:  # not even memory that is used up may change what the program does
        note(f"the result is left as it is ({told(error)})")
    if reply is None and options.host == _ALWAYS_ANSWERED:
        reply = b"{}\n"
    if reply is not None:
        write(reply)
    return 0


def _reply(host: str, signals: Signals) -> bytes | None:
    known = _HOSTS.get(host)
    if os.isatty(0):
        note("hook reads the JSON of an agent's program on standard input; see ctxsift hook --help")
        return None
    source = standard_input(signals)
    source.read(_MOST_TOLD if known is not None else 0)
    if signals.first is not None:
        return None
    if not source.ended:
        # Whoever writes is not to fail over us.
        for _ in source.everything():
            pass
    if known is None:
        note(f"hook knows no host of this name; known: {', '.join(_HOSTS)}")
        return None
    if not DEFAULT_MIN_BYTES <= len(source.data) <= _MOST_TOLD or os.environ.get(SWITCH) == "0":
        return None
    import json

    event = json.loads(source.data, parse_constant=_refuse)
    if not isinstance(event, dict):
        return None
    name, tool, answered = known
    if (event.get("hook_event_name", name), event.get("tool_name")) != (name, tool):
        return None
    answer = answered(event)
    return None if answer is None else json.dumps(answer, allow_nan=False).encode() + b"\n"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _claude(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return what replaces a result of Claude Code's Bash; in its shape of November 2026."""
    response = event.get("tool_response")
    if not isinstance(response, dict) or any(map(response.get, ("interrupted", "isImage", "backgroundTaskId"))):
        return None
    # Of a longer output, stdout is only the beginning; the file would be shown in place of what we say.
    path, text = response.get("persistedOutputPath"), response.get("stdout")
    output = _whole(path) if isinstance(path, str) else text.encode() if isinstance(text, str) else b""
    if (short := _shortened(event, output)) is None:
        return None
    kept = {key: value for key, value in response.items() if not key.startswith("persistedOutput")}
    return {"hookSpecificOutput": {"hookEventName": _EVENT, "updatedToolOutput": {**kept, "stdout": short}}}


def _codex(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return what replaces a result of Codex's shell; in its shape of release 0.155."""
    text = event.get("tool_response")
    short = _shortened(event, text.encode()) if isinstance(text, str) else None
    return None if short is None else {"decision": "block", "reason": short}


def _gemini(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return what replaces a result of Gemini CLI's shell; in its shape of November 2026."""
    response = event.get("tool_response")
    text = response.get("llmContent") if isinstance(response, dict) and not response.get("error") else None
    short = _shortened(event, text.encode()) if isinstance(text, str) else None
    return None if short is None else {"decision": "deny", "reason": short}


def _cursor(event: dict[str, Any]) -> None:
    """Return nothing: what Cursor's shell printed cannot be replaced."""
    del event


# What a program calls the event after a tool was used, and its shell; and what answers it.
_HOSTS: dict[str, tuple[str, str, Callable[[dict[str, Any]], dict[str, Any] | None]]] = {
    "claude": (_EVENT, "Bash", _claude),
    "codex": (_EVENT, "Bash", _codex),
    "gemini": ("AfterTool", "run_shell_command", _gemini),
    "cursor": ("postToolUse", "Shell", _cursor),
}
# What it is told has to be JSON, always.
_ALWAYS_ANSWERED = "cursor"


def _shortened(event: dict[str, Any], output: bytes) -> str | None:
    if not DEFAULT_MIN_BYTES <= len(output) <= _MOST_OUTPUT:
        return None
    from ctxsift.cli.hook_commands import may_be_shortened

    given = event.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    if not isinstance(command, str) or not may_be_shortened(command):
        return None
    from ctxsift.shortening import shortened

    # No program tells the exit code.
    return shortened(output, DEFAULT_QUESTION, None, DEFAULT_MAX_BYTES)


def _whole(path: str) -> bytes:
    """Return a file that the program has written. Raises OSError."""
    from pathlib import Path

    from ctxsift.files import open_regular

    with open_regular(Path(path)) as file:
        return file.read(_MOST_OUTPUT + 1)

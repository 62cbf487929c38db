"""`ctxsift hook HOST`: an agent's program tells what a command printed, and is told what to show instead, or nothing.

Nothing that goes wrong here may cost the agent its result: then nothing is said, and the program goes on as without us.
"""

from __future__ import annotations

import os
import re

from ctxsift.cli.parser import DEFAULT_MAX_BYTES, DEFAULT_MIN_BYTES, DEFAULT_QUESTION, SWITCH, CommandParser
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
# How Pi ends the text of a command that failed.
_EXITED = re.compile(r"\n\nCommand exited with code ([0-9]{1,10})\Z")
# How Codex begins an output whose middle it left out: we could not keep all of that.
_CUT = re.compile(r"Warning: truncated output \(original token count: [0-9]+\)\n")

_EPILOG = """\
An agent (Claude Code, Codex, Gemini CLI, Pi, OpenCode) calls this command after it runs a shell command, and sends
JSON on standard input. `ctxsift init claude` adds this to settings.json:

  {"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [
    {"type": "command", "command": "/usr/bin/ctxsift hook claude", "timeout": 10}]}]}}

For Pi and OpenCode, a plug-in calls this command; `ctxsift init pi` and `ctxsift init opencode` write the plug-in.

Codex and Gemini CLI can replace a result only by blocking it, so they show the shortened output as the reason for
blocking it. Codex calls the hook only after you mark the hook as trusted (/hooks). Cursor cannot replace the output of
its shell commands, so for Cursor the hook always prints {}.

The hook shortens long output from tests, linters, builds and installations in the same way as `ctxsift run`. All other
output stays unchanged, including output that a command selects on purpose (cat, git diff, ... | tail). Claude Code
calls the hook only after commands that succeed; put `ctxsift run --` before a command that may fail. To switch the hook
off, set CTXSIFT=0 in the environment or before the command.

exit code: always 0
"""


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="shorten the command output that an agent sees", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument("host", metavar="HOST", help=", ".join(_HOSTS))


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Answer the program; return 0."""
    del command
    reply = None
    try:
        reply = _reply(options.host, signals)
    except BaseException as error:  # not even memory that is used up may change what the program does
        note(f"the output stays unchanged ({told(error)})")
    if reply is None and options.host == _ALWAYS_ANSWERED:
        reply = b"{}\n"
    if reply is not None:
        write(reply)
    return 0


def _reply(host: str, signals: Signals) -> bytes | None:
    known = _HOSTS.get(host)
    if os.isatty(0):
        note("hook expects the JSON of an agent on standard input; see ctxsift hook --help")
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
        note(f"unknown HOST; use one of: {', '.join(_HOSTS)}")
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
    """Return what replaces a result of Claude Code's Bash; in its shape of release 2.1.332."""
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
    """Return what replaces a result of Codex's shell; in its shape of release 0.171."""
    text = event.get("tool_response")
    short = _shortened(event, text.encode()) if isinstance(text, str) and not _CUT.match(text) else None
    return None if short is None else {"decision": "block", "reason": short}


def _gemini(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return what replaces a result of Gemini CLI's shell; in its shape of release 0.61."""
    response = event.get("tool_response")
    text = response.get("llmContent") if isinstance(response, dict) and not response.get("error") else None
    short = _shortened(event, text.encode()) if isinstance(text, str) else None
    return None if short is None else {"decision": "deny", "reason": short}


def _cursor(event: dict[str, Any]) -> None:
    """Return nothing: what Cursor's shell printed cannot be replaced."""
    del event


def _pi(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return what replaces a result of Pi's bash, for ctxsift/cli/plugins/pi.js; in the shape of Pi 0.73 and 1.6."""
    match _value(event, "tool_response"):
        case {"content": [{"type": "text", "text": str(text)}], "isError": bool(failed)} as response:
            status = _EXITED.search(text)
            if failed and status is None:
                return None  # it was stopped, and how is said in its own words
            path = _value(response.get("details"), "fullOutputPath")
            # Of a longer output, the text has only the end, and what a file of the whole does not say.
            output = _whole(path) + (status[0].encode() if status else b"") if isinstance(path, str) else text.encode()
            return _text(_shortened(event, output, int(status[1]) if status else 0))
        case _:
            return None


def _opencode(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return what replaces a result of OpenCode's bash, for ctxsift/cli/plugins/opencode.js; in the shape of 1.18."""
    match _value(event, "tool_response"):
        case {"output": str(text), "metadata": {"exit": int(code)}} as response:
            path = _value(response["metadata"], "outputPath")
            output = _whole(path) if isinstance(path, str) else text.encode()
            return _text(_shortened(event, output, code))
        case _:
            return None


def _text(short: str | None) -> dict[str, Any] | None:
    return None if short is None else {"text": short}


def _value(found: Any, key: str) -> Any:
    return found.get(key) if isinstance(found, dict) else None


# What a program calls the event after a tool was used, and its shell; and what answers it.
_HOSTS: dict[str, tuple[str, str, Callable[[dict[str, Any]], dict[str, Any] | None]]] = {
    "claude": (_EVENT, "Bash", _claude),
    "codex": (_EVENT, "Bash", _codex),
    "gemini": ("AfterTool", "run_shell_command", _gemini),
    "cursor": ("postToolUse", "Shell", _cursor),
    "pi": ("tool_result", "bash", _pi),
    "opencode": ("tool.execute.after", "bash", _opencode),
}
# What it is told has to be JSON, always.
_ALWAYS_ANSWERED = "cursor"


def _shortened(event: dict[str, Any], output: bytes, code: int | None = None) -> str | None:
    if not DEFAULT_MIN_BYTES <= len(output) <= _MOST_OUTPUT:
        return None
    from ctxsift.cli.hook_commands import may_be_shortened

    given = event.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    if not isinstance(command, str) or not may_be_shortened(command):
        return None
    from ctxsift.shortening import shortened

    return shortened(output, DEFAULT_QUESTION, code, DEFAULT_MAX_BYTES)


def _whole(path: str) -> bytes:
    """Return a file that the program has written. Raises OSError."""
    from pathlib import Path

    from ctxsift.files import open_regular

    with open_regular(Path(path)) as file:
        return file.read(_MOST_OUTPUT + 1)

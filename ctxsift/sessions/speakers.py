"""Who speaks in the user's name: agents' programs put their own texts into messages of the user.

A program wraps what it says in an element (`<system-reminder>...</system-reminder>`) that begins a line, or opens with
words of its own. A tag that somebody writes about stands within a line, in a fence, or is never closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ctxsift.sessions.records import Source, Step

# A fence, or a tag that may begin an element.
_TAG = r"<(?P<name>[A-Za-z][\w-]{0,60})(?:\s[^<>\n]{0,500})?>"
_AT_LINE = re.compile(rf"^[ ]{{0,3}}(?:(?:```|~~~)|{_TAG})", re.MULTILINE)
_AFTER_ELEMENT = re.compile(rf"\s*{_TAG}")
# What a name of several words has where a program speaks.
_OF_PROGRAM = frozenset(
    {
        *("system", "reminder", "caveat", "notification", "notifications", "notice", "warning", "hook", "hooks"),
        *("command", "commands", "bash", "shell", "stdout", "stderr", "terminal", "tool", "tools", "mcp"),
        *("context", "environment", "environments", "env", "ide", "editor", "diagnostics", "opened", "worktree"),
        *("agent", "agents", "subagent", "teammate", "peer", "fork", "coordinator", "boilerplate", "session"),
        *("aborted", "interrupted", "status", "event", "events", "mode", "budget", "permissions", "personality"),
        *("skill", "skills", "plugin", "plugins", "memory", "memories", "cron", "scheduled", "monitor"),
        *("internal", "claude", "codex", "apps", "attachment", "attachments"),
    }
)
_NAMES_OF_PROGRAM = frozenset(
    {
        *("system", "reminder", "caveat", "notification", "hook", "skill", "permissions", "tick", "channel"),
        "user_instructions",
    }
)
# What people, and harnesses that set a task, put the words of the user in.
_OF_USER = re.compile(
    r"(?:user_)?(?:task|query|request|message|prompt|input|question|answer|feedback|comment|goal|order|instruction)s?"
    r"|\w+_(?:description|statement|requirements?|task|request|query|issue|guidelines?|rules?|spec|format|criteria)"
)
_COMMAND, _COMMAND_ARGUMENTS, _SHELL_INPUT = "command_name", "command_args", "bash_input"
_MEMORY_INPUT, _REMINDER = "user_memory_input", "system_reminder"
# What else a program opens with where the user has said nothing yet, and what ends it; "" for the rest of the message.
_OPENINGS = (
    (re.compile(r"\[Request interrupted by user[^\]\n]*\]?"), None),
    (re.compile(r"# AGENTS\.md instructions(?: for |\s*\n)"), "</INSTRUCTIONS>"),
    (re.compile(r"# (?:Context from my IDE setup|Files mentioned by the user):"), "## My request for Codex:"),
    (
        re.compile(
            r"Caveat: The messages below were generated|This session is being continued from a previous conversation"
            r"|Base directory for this skill: |Another Claude session sent|\[SYSTEM NOTIFICATION\b"
            r"|[A-Z]\w{2,30}(?::\w+)? hook (?:feedback|success|error|additional context|stopped continuation"
            r"|(?:non-)?blocking error(?: from command)?):"
        ),
        "",
    ),
)


# What is typed while the agent works may reach it in a reminder.
_TYPED = re.compile(
    r"\s*The user (?:sent|has sent|typed|wrote|queued)\b[^\n:]{0,100}:\s*(?P<words>.+?)\s*"
    r"(?:\n\s*\n(?:IMPORTANT|Please (?:address|continue)|Note|After|You must)\b.*)?\Z",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a message; an element where it has a name (in small letters, hyphens as underscores)."""

    text: str
    name: str = ""
    inner: str = ""


def own_words(message: str) -> str:
    """Return what of a message in the user's name the user said; empty where only a program speaks.

    Arguments of a command stand below its name and a colon. A message of nothing but elements is a program's, whatever
    their names, unless they are names for words of the user.
    """
    pieces = list(_pieces(message))
    if len(pieces) == 1 and not pieces[0].name:
        return pieces[0].text
    bare = all(piece.name or not piece.text.strip() for piece in pieces)
    command = next((piece.inner.strip() for piece in pieces if piece.name == _COMMAND), "")
    said = "".join(_of_user(piece, command, bare=bare) for piece in pieces)
    return said.strip()


def words_of(step: Step) -> str:
    """Return the message of a step without what a program adds to a message of the user."""
    return own_words(step.message) if step.source is Source.USER else step.message


def is_by_program(message: str) -> bool:
    """Return True for a message in the user's name in which the user says nothing."""
    return bool(message.strip()) and not own_words(message).strip()


def typed_meanwhile(reminder: str) -> str:
    """Return what the user typed while the agent worked, where a reminder tells that; else an empty text."""
    found = _TYPED.match(reminder)
    return found["words"] if found else ""


def _of_user(piece: _Piece, command: str, *, bare: bool) -> str:
    if piece.name == _COMMAND_ARGUMENTS:
        return f"\n{command}:\n{piece.inner.strip()}\n" if piece.inner.strip() else ""
    if piece.name in (_SHELL_INPUT, _MEMORY_INPUT):
        mark = "!" if piece.name == _SHELL_INPUT else ""
        return f"\n{mark}{piece.inner.strip()}\n" if piece.inner.strip() else ""
    if piece.name == _REMINDER and (words := typed_meanwhile(piece.inner)):
        return f"\n{words}\n"
    if _is_of_program(piece.name) or (piece.name and bare and not _OF_USER.fullmatch(piece.name)):
        return ""
    return piece.text


def _is_of_program(name: str) -> bool:
    return name in _NAMES_OF_PROGRAM or not _OF_PROGRAM.isdisjoint(name.split("_"))


def _pieces(message: str) -> Iterator[_Piece]:
    begin = _end_of_opening(message)
    if begin:
        yield _Piece(message[:begin], "system")
    at, in_code, follows = begin, False, begin > 0
    never_closed: set[str] = set()
    while True:
        found = (_AFTER_ELEMENT.match(message, at) if follows else None) or _AT_LINE.search(message, at)
        if found is None:
            break
        follows, at, tag = False, found.end(), found["name"]
        if tag is None:
            in_code = not in_code
            continue
        name = tag.lower().replace("-", "_")
        if in_code or tag in never_closed or ("_" not in name and name not in _NAMES_OF_PROGRAM):
            continue
        closing = re.compile(rf"</{tag}[^<>\n]{{0,100}}>").search(message, at)
        if closing is None:
            never_closed.add(tag)
            # What was cut off before its end stands under a line of its own.
            if message[: found.start()].strip() or message[at : at + 1] != "\n" or not _is_of_program(name):
                continue
        yield _Piece(message[begin : found.start()])
        inner, begin = (
            (message[at:], len(message)) if closing is None else (message[at : closing.start()], closing.end())
        )
        yield _Piece(message[found.start() : begin], name, inner)
        at, follows = begin, True
    yield _Piece(message[begin:])


def _end_of_opening(message: str) -> int:
    """Return where the words end with which a program opens a message; 0 where it does not."""
    start = len(message) - len(message.lstrip())
    for opening, ending in _OPENINGS:
        if found := opening.match(message, start):
            if ending is None:
                return found.end()
            end = message.find(ending, start) if ending else -1
            return len(message) if end < 0 else end + len(ending)
    return 0

"""Sessions on this machine: where Claude Code and Codex keep them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ctxsift.errors import InputError
from ctxsift.sessions.reading import open_session
from ctxsift.sessions.records import SessionHead

# A folder is told by one of the first events.
_FIRST_EVENTS = 40


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A session of an agent.

    Attributes:
        changed: when it was written to last, in seconds since 1970.
        size: in bytes.

    """

    path: Path
    agent: str
    changed: float
    size: int


def session_files() -> list[SessionFile]:
    """Return the sessions on this machine, the newest first; what cannot be looked at is left out."""
    home = Path.home()
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    found: list[SessionFile] = []
    for agent, folder, pattern in (
        ("Claude Code", claude / "projects", "*/*.jsonl"),
        ("Codex", codex / "sessions", "*/*/*/rollout-*.jsonl"),
        # Those that were not written to for a week.
        ("Codex", codex / "sessions", "*/*/*/rollout-*.jsonl.zst"),
    ):
        for path in folder.glob(pattern):
            # Those are the files of subagents; and a packed file while it is unpacked to go on.
            if path.name.startswith("agent-") or (path.suffix == ".zst" and path.with_suffix("").exists()):
                continue
            try:
                status = path.stat()
            except OSError:
                continue
            found.append(SessionFile(path, agent, status.st_mtime, status.st_size))
    return sorted(found, key=lambda each: (-each.changed, str(each.path)))


def head_of(path: Path) -> SessionHead:
    """Return what the beginning of a session tells of it; an empty head for what is none."""
    head = SessionHead("")
    try:
        with open_session(path) as events:
            for _, event in zip(range(_FIRST_EVENTS), events, strict=False):
                head = event if isinstance(event, SessionHead) else head
                if head.folder:
                    break
    except InputError:
        pass
    return head


def sessions_of(folder: Path) -> Iterator[SessionFile]:
    """Yield the sessions that began in a folder, the newest first; those of subagents are left out."""
    own = {str(folder), str(folder.resolve())}
    encoded = {re.sub(r"[^A-Za-z0-9]", "-", name) for name in own}
    for found in session_files():
        # Claude Code names the folder of a project by its path, letters and digits alone.
        if found.agent == "Claude Code" and found.path.parent.name not in encoded:
            continue
        head = head_of(found.path)
        if head.folder in own and not head.is_subagent:
            yield found


def newest_session(folder: Path) -> SessionFile:
    """Return the newest session that began in a folder. Raises InputError where there is none."""
    newest = next(sessions_of(folder), None)
    if newest is None:
        hint = "name a FILE; `ctxsift session list` lists the sessions of all folders"
        raise InputError("FILE", "no Claude Code or Codex session began in this folder", hint)
    return newest

"""The formats that a recorded session can be written in."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.sessions.loader import RecordedSession
from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Session
from tools.convert_session import claude_code, codex
from tools.convert_session.acts import Told, told_in

Writer = Callable[[str, str, Sequence[Told]], Iterable[Mapping[str, Any]]]
FORMS: Mapping[str, Writer] = {
    "claude-code": claude_code.records,
    "codex": codex.records,
    "codex-code-mode": codex.records_of_scripts,
}


def convert(recorded: RecordedSession, form: str, target: Path) -> int:
    """Write a recorded session in a format of `FORMS`, as JSON Lines, and return how many steps it has.

    Raises:
        InputError: the session cannot be read.
        OSError: the file cannot be written.

    """
    steps = list(told_in(recorded))
    folder = recorded.session().head.folder
    with target.open("w", encoding="utf-8") as file:
        for record in FORMS[form](recorded.name, folder, steps):
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
    return len(steps)


def read_back(recorded: RecordedSession, form: str) -> Session:
    """Return a recorded session as it is read from another format. Raises InputError."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.jsonl"
        convert(recorded, form, file)
        return read_session(file, keep_secrets=True)

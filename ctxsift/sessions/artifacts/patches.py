"""The patches that Codex applies: which files they add, change, move and remove."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.ledger import Ledger
from ctxsift.sessions.artifacts.paths import resolve
from ctxsift.sessions.artifacts.versions import Before

BEGIN = "*** Begin Patch"
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_MOVE = re.compile(r"^\*\*\* Move to: (.+)$")


def apply_patch(ledger: Ledger, text: str, folder: str) -> None:
    """Take down what the files became that a patch names, as seen from `folder`."""
    kind, path, moved = "", "", ""
    old: list[str] = []
    new: list[str] = []
    for line in [*text.splitlines(), "*** End Patch"]:
        file, move = _FILE.match(line.strip()), _MOVE.match(line.strip())
        if file or line.startswith("*** End Patch"):
            _apply(ledger, kind, path, (_joined(old), _joined(new)), moved)
            kind, path, moved = (file[1], resolve(file[2].strip(), folder), "") if file else ("", "", "")
            old, new = [], []
        elif move:
            moved = resolve(move[1].strip(), folder)
        elif line[:1] in ("-", "+"):
            (old if line[0] == "-" else new).append(line[1:])


def _apply(ledger: Ledger, kind: str, path: str, texts: tuple[str, str], moved: str) -> None:
    old, new = texts
    if kind == "Add":
        ledger.write(path, new, change("", new), before=Before.MISSING)
    elif kind == "Delete":
        ledger.delete(path, "apply_patch")
    elif kind:
        if old or new:
            ledger.edit(path, change(old, new), old=old, new=new)
        if moved:
            ledger.move(path, moved)


def change(old: str, new: str) -> str:
    """Return in a line what an edit does: how many lines go and come, and the first that comes, or goes."""
    gone, come = old.splitlines(), new.splitlines()
    first = next((line.strip() for line in come if line.strip() and line not in gone), "")
    first = first or next((f"without {line.strip()}" for line in gone if line.strip() and line not in come), "")
    return f"-{len(gone)} +{len(come)} lines" + (f": {first}" if first else "")


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

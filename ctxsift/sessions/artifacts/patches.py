"""Patches: the form of `diff` and `git`, and the one that Codex applies. Which files they add, change, move, remove."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

_HEAD = re.compile(r"^(---|\+\+\+) (\S+(?: \S+)*?)(?:\t.*)?$")
_CODEX = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_CODEX_MOVE = re.compile(r"^\*\*\* Move to: (.+)$")


class PatchKind(Enum):
    """What a patch does with one file."""

    ADD = auto()
    CHANGE = auto()
    DELETE = auto()


@dataclass(frozen=True, slots=True)
class Patched:
    """One file of a patch: the lines it takes out and puts in, and the new name where it has one."""

    kind: PatchKind
    path: str
    old: str = ""
    new: str = ""
    moved_to: str = ""


def codex_patch(text: str) -> list[Patched]:
    """Return the files of a patch between `*** Begin Patch` and `*** End Patch`."""
    kinds = {"Add": PatchKind.ADD, "Update": PatchKind.CHANGE, "Delete": PatchKind.DELETE}
    found: list[Patched] = []
    kind, path, moved = PatchKind.ADD, "", ""
    old: list[str] = []
    new: list[str] = []

    def close() -> None:
        if path:
            found.append(Patched(kind, path, _lines(old), _lines(new), moved))
        old.clear()
        new.clear()

    for line in text.splitlines():
        if match := _CODEX.match(line.strip()):
            close()
            kind, path, moved = kinds[match[1]], match[2].strip(), ""
        elif match := _CODEX_MOVE.match(line.strip()):
            moved = match[1].strip()
        elif line.startswith("*** End Patch"):
            break
        elif line[:1] == "-":
            old.append(line[1:])
        elif line[:1] == "+":
            new.append(line[1:])
    close()
    return found


def unified_patch(text: str, strip: int) -> list[Patched]:
    """Return the files of a unified diff; `strip` leading folders are taken off, as `patch -p` does."""
    found: list[Patched] = []
    lines = text.splitlines()
    renames = re.findall(r"^rename from (.+)\nrename to (.+)$", text, re.MULTILINE)
    moved = {source.strip(): target.strip() for source, target in renames}
    at = 0
    while at < len(lines):
        head = _HEAD.match(lines[at])
        after = _HEAD.match(lines[at + 1]) if at + 1 < len(lines) else None
        if not head or head[1] != "---" or not after or after[1] != "+++":
            at += 1
            continue
        at += 2
        old, new = [], []
        while at < len(lines) and lines[at][:1] in ("@", "+", "-", " ", "\\", ""):
            if lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
                break
            if lines[at][:1] == "-":
                old.append(lines[at][1:])
            elif lines[at][:1] == "+":
                new.append(lines[at][1:])
            at += 1
        found.append(_unified(head[2], after[2], strip, (_lines(old), _lines(new)), moved))
    named = {each.path for each in found}
    found.extend(Patched(PatchKind.CHANGE, a, moved_to=b) for a, b in moved.items() if a not in named)
    return found


def _unified(before: str, after: str, strip: int, text: tuple[str, str], moved: dict[str, str]) -> Patched:
    source, target = _stripped(before, strip), _stripped(after, strip)
    if before == "/dev/null":
        return Patched(PatchKind.ADD, target, *text)
    if after == "/dev/null":
        return Patched(PatchKind.DELETE, source, *text)
    if source in moved:
        return Patched(PatchKind.CHANGE, source, *text, moved_to=moved[source])
    return Patched(PatchKind.CHANGE, target, *text)


def _stripped(path: str, strip: int) -> str:
    parts = path.split("/")
    return "/".join(parts[strip:]) if len(parts) > strip else parts[-1]


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

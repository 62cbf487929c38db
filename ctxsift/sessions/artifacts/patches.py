"""Patches: the form of `diff` and `git`, and the one that Codex applies. Which files they add, change, move, remove."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

_HEAD = re.compile(r"^(---|\+\+\+) (\S+(?: \S+)*?)(?:\t.*)?$")
_CODEX = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")


class PatchKind(Enum):
    """What a patch does with one file, by the words of Codex."""

    ADD = auto()
    UPDATE = auto()
    DELETE = auto()


@dataclass(slots=True)
class Patched:
    """One file of a patch: the lines it takes out and puts in, and the new name where it has one."""

    kind: PatchKind
    path: str
    old: str = ""
    new: str = ""
    moved_to: str = ""


def patched_files(text: str) -> list[Patched]:
    """Return the files of a patch: of Codex between `*** Begin Patch` and `*** End Patch`, else a diff of git.

    The first folder of the names in a diff is taken off, as `git apply` and `patch -p1` do.
    """
    found: list[Patched] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        last = found[-1] if found else Patched(PatchKind.UPDATE, "")
        head, following = _HEAD.match(line), _HEAD.match(lines[number + 1]) if number + 1 < len(lines) else None
        if match := _CODEX.match(line.strip()):
            found.append(Patched(PatchKind[match[1].upper()], match[2].strip()))
        elif head and head[1] == "---" and following and following[1] == "+++":
            kind = PatchKind.ADD if head[2] == "/dev/null" else PatchKind.UPDATE
            kind = PatchKind.DELETE if following[2] == "/dev/null" else kind
            named = head[2] if kind is PatchKind.DELETE or last.path == _stripped(head[2]) else following[2]
            if last.path != _stripped(named):
                found.append(Patched(kind, _stripped(named)))
        elif match := re.match(r"rename from (.+)", line):
            found.append(Patched(PatchKind.UPDATE, match[1].strip()))
        elif match := re.match(r"(?:rename to|\*\*\* Move to:) (.+)", line):
            last.moved_to = match[1].strip()
        elif line.startswith("*** End Patch"):
            break
        elif line[:1] == "-":
            last.old += line[1:] + "\n"
        elif line[:1] == "+" and not (head and head[1] == "+++" and not (last.old or last.new)):
            last.new += line[1:] + "\n"
    return found


def _stripped(path: str) -> str:
    return path.partition("/")[2] or path

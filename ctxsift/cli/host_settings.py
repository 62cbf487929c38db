"""Settings of the programs that `ctxsift hook` answers: where they are, and our entry in them.

Nothing of anybody else's is changed, to the byte. What cannot be understood is not written to.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shlex
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxsift.errors import InputError
from ctxsift.files import exists, read_bytes, write_atomically
from ctxsift.json_text import append, remove

_HOOKS = "hooks"
_MOST_MB = 4
_BOM = "\ufeff"
_COMMENT = re.compile(r"//|/\*|#")
_ASSIGNMENT = re.compile(r"\w+=")
_OPERATORS = "();<>|&"
_BY_HAND = "edit it by hand; `ctxsift init HOST --print` prints the entry"
# Another .bak may be of somebody else.
_KEPT = ".ctxsift.bak"


@dataclass(frozen=True)
class Host:
    """A program whose hooks we answer.

    Attributes:
        name: as `ctxsift hook` takes it; also how the program is started.
        variable: of the environment, that names its folder.
        folder: in the home folder, or a project.
        file: in that folder, that holds hooks.
        event: after a tool was used.
        matcher: its shell.
        timeout: ten seconds, in its unit.

    """

    name: str
    title: str
    variable: str
    folder: str
    file: str
    event: str = "PostToolUse"
    matcher: str = "Bash"
    timeout: int = 10


HOSTS = {
    host.name: host
    for host in (
        Host("claude", "Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        Host("codex", "Codex", "CODEX_HOME", ".codex", "hooks.json"),
        Host("gemini", "Gemini CLI", "", ".gemini", "settings.json", "AfterTool", "run_shell_command", 10_000),
    )
}


@dataclass(frozen=True)
class Settings:
    """A file of settings as it was read.

    Attributes:
        path: of the file itself, no link.
        content: of the file; None where there is none.
        mode: who may read and write it; None where there is none.
        ours: for each entry of ours, which of the entries and which of the hooks in it.

    """

    host: Host
    path: Path
    content: bytes | None
    mode: int | None
    root: dict[str, Any]
    ours: tuple[tuple[int, int], ...]

    @property
    def kept(self) -> Path:
        """Where the file is kept as it was before our first entry."""
        return self.path.with_name(self.path.name + _KEPT)

    @property
    def commands(self) -> list[str]:
        """The command of each entry of ours."""
        return [self.root[_HOOKS][self.host.event][entry]["hooks"][hook]["command"] for entry, hook in self.ours]

    def with_entry(self, command: str) -> bytes:
        """Return what the file holds with one entry of ours, the last of its event."""
        text = self.without_entries() if self.ours else (self.content or b"{}\n").decode()
        mark = _BOM if text.startswith(_BOM) else ""
        return (mark + append(text.removeprefix(_BOM), (_HOOKS, self.host.event), entry(self.host, command))).encode()

    def without_entries(self) -> str:
        """Return the text of the file without our entries, and without what holds nothing then."""
        text = (self.content or b"").decode()
        mark = _BOM if text.startswith(_BOM) else ""
        text, left = text.removeprefix(_BOM), [len(each["hooks"]) for each in self.root[_HOOKS][self.host.event]]
        for group, hook in reversed(self.ours):
            left[group] -= 1
            path: list[str | int] = [_HOOKS, self.host.event, group, "hooks", hook]
            if not left[group]:
                path, _ = path[:3], left.pop(group)
            if not left:
                path = path[: 2 if len(self.root[_HOOKS]) > 1 else 1]
            text = remove(text, path)
        return mark + text


def entry(host: Host, command: str) -> dict[str, Any]:
    """Return an entry that has a program ask us what to show of a command's output."""
    hook = {"type": "command", "command": command, "timeout": host.timeout}
    return {"matcher": host.matcher, "hooks": [hook]}


def own_program() -> Path:
    """Return the whole path of this ctxsift. Raises InputError where it is not installed as a program."""
    beside = Path(sys.executable).with_name("ctxsift")
    called = Path(sys.argv[0]).absolute()
    path = next((each for each in (called, beside) if each.name == "ctxsift" and is_program(each)), None)
    if path is None:
        raise InputError("ctxsift", "is not installed as a program", "install it permanently with pip, then retry")
    return Path(os.path.normpath(path))


def command_for(host: Host) -> str:
    """Return the command that asks this ctxsift, by its whole path. Raises InputError where that has none."""
    path = str(own_program())
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise InputError(path, "JSON cannot represent this path", "install ctxsift in another folder") from error
    return f"{shlex.quote(path)} hook {host.name}"


def is_program(path: Path) -> bool:
    """Say whether a path leads to a file that may be run."""
    return exists(path) and path.is_file() and os.access(path, os.X_OK)


def program_in(command: str) -> str | None:
    """Return the path of what a command of ours runs; None where there is no such program."""
    import shutil

    with contextlib.suppress(ValueError):
        words = [each for each in shlex.split(command) if not _ASSIGNMENT.match(each)]
        return shutil.which(words[0]) if words else None
    return None


def settings_path(host: Host, *, project: bool, to_write: bool = True) -> Path:
    """Return where a program's hooks are set: for this project (the working folder), or for all.

    Args:
        host: the program.
        project: for this project alone.
        to_write: so that a link may not lead elsewhere.

    Raises:
        InputError: the file is elsewhere; or there is no home folder.

    """
    try:
        if project:
            within = Path.cwd().resolve()
            path = within / host.folder / host.file
        else:
            within = Path(os.environ.get(host.variable) or Path.home() / host.folder).resolve()
            path = within / host.file
        found = path.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(host.title, f"its settings cannot be found ({error})", _BY_HAND) from error
    if to_write and not found.is_relative_to(within):
        raise InputError(str(path), f"is a link that leads out of {within}, to {found}", _BY_HAND)
    return found


def read_settings(host: Host, path: Path) -> Settings:
    """Return the settings in a file; none are there where it is missing.

    Raises:
        InputError: it cannot be read, is no JSON without comments, or holds hooks in a shape that we do not know.

    """
    if not os.path.lexists(path):
        return Settings(host, path, None, None, {}, ())
    content = read_bytes(path, _BY_HAND, most_mb=_MOST_MB)
    root = _decoded(path, content)
    found = root.get(_HOOKS, {}) if isinstance(root, dict) else None
    entries = found.get(host.event, []) if isinstance(found, dict) else None
    if not isinstance(root, dict) or not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise InputError(str(path), f"its {_HOOKS} do not have the structure that {host.title} documents", _BY_HAND)
    places = tuple(
        (number, at)
        for number, each in enumerate(entries)
        for at, hook in enumerate(each["hooks"])
        if _is_ours(host, hook.get("command"))
    )
    return Settings(host, path, content, stat.S_IMODE(path.stat().st_mode), root, places)


def _is_ours(host: Host, command: object) -> bool:
    """Say whether a command calls `ctxsift hook` for a program, however that is started, and does nothing else."""
    if not isinstance(command, str):
        return False
    lexer = shlex.shlex(command, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return False
    started = Path(words[-3]).name if len(words) > 2 else ""
    alone = not any(set(word) <= set(_OPERATORS) for word in words)
    return started == "ctxsift" and words[-2:] == ["hook", host.name] and alone


def _is_entry(each: Any) -> bool:
    hooks = each.get("hooks") if isinstance(each, dict) else None
    return isinstance(hooks, list) and all(isinstance(hook, dict) for hook in hooks)


def _decoded(path: Path, content: bytes) -> Any:
    try:
        text = content.decode().removeprefix(_BOM)
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        commented = _COMMENT.match(error.doc, error.pos)
        problem = "contains comments, which JSON does not allow" if commented else f"is not valid JSON ({error})"
        raise InputError(str(path), problem, _BY_HAND) from error
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(str(path), f"is not valid JSON ({why})", _BY_HAND) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it contains a key twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep another ctxsift from changing a file in a folder meanwhile. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def add_entry(settings: Settings, command: str) -> None:
    """Write the file with one entry of ours, and keep it as it was before the first one. Raises OSError."""
    changed = settings.with_entry(command)
    if settings.content is not None and not settings.ours:
        write_atomically(settings.kept, settings.content, mode=settings.mode)
    write_atomically(settings.path, changed, mode=settings.mode)


def remove_entries(settings: Settings) -> None:
    """Write the file without our entries; where nothing else has changed since, as it was before. Raises OSError."""
    for command in settings.commands:
        before = _before(settings, command)
        if before is not None and before.content is None:
            settings.path.unlink()
            return
        if before is not None and before.content is not None:
            write_atomically(settings.path, before.content, mode=settings.mode)
            settings.kept.unlink()
            return
    write_atomically(settings.path, settings.without_entries(), mode=settings.mode)


def _before(settings: Settings, command: str) -> Settings | None:
    """Return what our entry made the file of, if it is known: what was kept, or no file at all."""
    none = Settings(settings.host, settings.path, None, None, {}, ())
    found = [none]
    with contextlib.suppress(InputError):
        found.insert(0, read_settings(settings.host, settings.kept))
    return next((each for each in found if not each.ours and each.with_entry(command) == settings.content), None)

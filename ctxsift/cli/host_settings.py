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
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

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
class HookEntry:
    """An entry of ours in the hooks of a program.

    Attributes:
        event: when the program calls us.
        matcher: which tool, or which kind of the event.
        words: what we are called with.
        timeout: what the program waits for, in its unit.
        says: when that is, for people.
        otherwise: ends the command where the program takes a command that cannot be run for a refusal.
        background: whether the program runs it without waiting, and reads its answer later.

    """

    event: str
    matcher: str
    words: tuple[str, str]
    timeout: int
    says: str
    otherwise: str = ""
    background: bool = False

    def with_command(self, command: str) -> dict[str, Any]:
        """Return it as it stands in the hooks."""
        hook: dict[str, Any] = {"type": "command", "command": command, "timeout": self.timeout}
        if self.background:
            hook["async"] = True
        return {"matcher": self.matcher, "hooks": [hook]}


@dataclass(frozen=True)
class Host:
    """A program whose hooks we answer.

    Attributes:
        name: as `ctxsift hook` takes it; also how the program is started.
        variable: of the environment, that names its folder.
        folder: in the home folder, or a project.
        file: in that folder, that holds hooks.
        hook: asks us what to show of a command's output.
        lost: asks us what a compaction dropped, where the program can ask that.
        after: what a person has to do or to know after an entry is added, line by line.

    """

    name: str
    title: str
    variable: str
    folder: str
    file: str
    hook: HookEntry
    lost: HookEntry | None = None
    after: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[HookEntry, ...]:
        """All that may be there of ours, in the order in which it is added."""
        return (self.hook,) if self.lost is None else (self.hook, self.lost)


def _hook(
    name: str, event: str = "PostToolUse", matcher: str = "Bash", timeout: int = 10, otherwise: str = ""
) -> HookEntry:
    return HookEntry(event, matcher, ("hook", name), timeout, "after each command of its shell", otherwise)


def _restart(title: str) -> str:
    return f"{title} reads its settings when it starts; restart it"


# A hook of theirs cannot replace a result.
_BLOCKED = "a shortened output reaches the agent as a failed call, with the output as the reason"
# Claude Code records a summary only after the hooks that it waits for.
_LOST = HookEntry("SessionStart", "compact", ("lost", "--hook"), 30, "after each compaction", background=True)
# Gemini CLI shows the agent why a hook could not be run in place of what the command printed.
_OTHERWISE = " || true"
HOSTS = {
    host.name: host
    for host in (
        Host(
            *("claude", "Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
            _hook("claude"),
            _LOST,
            after=(
                _restart("Claude Code"),
                "Claude Code calls no hook after a command that failed. For tests and builds, use `ctxsift run -- "
                "COMMAND`; paste this into CLAUDE.md:",
                "  Run tests and builds as `ctxsift run -- COMMAND`, e.g. `ctxsift run -- pytest -q`. It prints the "
                "lines that matter, and keeps the full output.",
            ),
        ),
        Host(
            *("codex", "Codex", "CODEX_HOME", ".codex", "hooks.json"),
            _hook("codex"),
            after=(
                "Codex does not call it before you trust it: start codex, and choose to trust the hook",
                _BLOCKED,
            ),
        ),
        Host(
            *("gemini", "Gemini CLI", "", ".gemini", "settings.json"),
            _hook("gemini", "AfterTool", "run_shell_command", 10_000, _OTHERWISE),
            after=(_restart("Gemini CLI"), _BLOCKED),
        ),
    )
}


class HookPlace(NamedTuple):
    """Where an entry of ours stands: which of the entries of its event, which of the hooks in it, and what that is."""

    entry: HookEntry
    group: int
    hook: int
    command: str
    background: bool


@dataclass(frozen=True)
class HostSettings:
    """A file of settings as it was read.

    Attributes:
        path: of the file itself, no link.
        content: of the file; None where there is none.
        mode: who may read and write it; None where there is none.
        ours: where entries of ours are, in the order of the host's entries and of the file.

    """

    host: Host
    path: Path
    content: bytes | None
    mode: int | None
    root: dict[str, Any]
    ours: tuple[HookPlace, ...]

    @property
    def kept(self) -> Path:
        """Where the file is kept as it was before our first entry."""
        return self.path.with_name(self.path.name + _KEPT)

    def commands(self, entry: HookEntry) -> list[str]:
        """Return the command of each place where an entry of ours is."""
        return [place.command for place in self.ours if place.entry == entry]

    def has(self, entry: HookEntry, command: str) -> bool:
        """Say whether an entry of ours is there once, with this command, and waited for as it is to be."""
        found = [(place.command, place.background) for place in self.ours if place.entry == entry]
        return found == [(command, entry.background)]

    def with_entries(self, wanted: Mapping[HookEntry, str]) -> bytes:
        """Return what the file holds with these commands, each the last of its event; other entries of ours stay."""
        text = self.without_entries(wanted)
        mark = _BOM if text.startswith(_BOM) else ""
        text = text.removeprefix(_BOM)
        for each, command in wanted.items():
            text = append(text, (_HOOKS, each.event), each.with_command(command))
        return (mark + text).encode()

    def without_entries(self, unwanted: Collection[HookEntry]) -> str:
        """Return the text of the file without these entries of ours, and without what holds nothing then."""
        text = (self.content or b"{}\n").decode()
        mark, text = (_BOM if text.startswith(_BOM) else ""), text.removeprefix(_BOM)
        left = {event: [len(each["hooks"]) for each in found] for event, found in self._events().items()}
        hooks = len(self.root.get(_HOOKS, ()))
        for each, group, hook, *_ in reversed(self.ours):
            if each not in unwanted:
                continue
            left[each.event][group] -= 1
            path: list[str | int] = [_HOOKS, each.event, group, "hooks", hook]
            if not left[each.event][group]:
                path, _ = path[:3], left[each.event].pop(group)
            if not left[each.event]:
                path, hooks = path[: 2 if hooks > 1 else 1], hooks - 1
            text = remove(text, path)
        return mark + text

    def _events(self) -> dict[str, list[dict[str, Any]]]:
        return {each.event: self.root[_HOOKS].get(each.event, []) for each in self.host.entries if self.ours}


def own_program() -> Path:
    """Return the whole path of this ctxsift. Raises InputError where it is not installed as a program."""
    beside = Path(sys.executable).with_name("ctxsift")
    called = Path(sys.argv[0]).absolute()
    path = next((each for each in (called, beside) if each.name == "ctxsift" and is_program(each)), None)
    if path is None:
        raise InputError("ctxsift", "is not installed as a program", "install it permanently with pip, then retry")
    return Path(os.path.normpath(path))


def command_for(entry: HookEntry) -> str:
    """Return the command that asks this ctxsift, by its whole path. Raises InputError where that has none."""
    return f"{shlex.quote(told_program())} {' '.join(entry.words)}{entry.otherwise}"


def told_program() -> str:
    """Return the whole path of this ctxsift, as a text that JSON can hold. Raises InputError."""
    path = str(own_program())
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise InputError(path, "JSON cannot represent this path", "install ctxsift in another folder") from error
    return path


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

    def place() -> tuple[Path, Path]:
        if project:
            return Path.cwd(), Path(host.folder, host.file)
        return Path(os.environ.get(host.variable) or Path.home() / host.folder), Path(host.file)

    return placed(place, host.title, "settings", to_write=to_write)


def placed(place: Callable[[], tuple[Path, Path]], title: str, what: str, *, to_write: bool) -> Path:
    """Return where a file of a program is, without links.

    Args:
        place: returns the folder that the file has to stay in, and its path below that.
        title: of the program.
        what: is looked for, for people.
        to_write: so that a link may not lead elsewhere.

    Raises:
        InputError: the file is elsewhere; or there is no home folder.

    """
    try:
        folder, below = place()
        within = folder.resolve()
        found = (within / below).resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(title, f"its {what} cannot be found ({error})", _BY_HAND) from error
    if to_write and not found.is_relative_to(within):
        raise InputError(str(within / below), f"is a link that leads out of {within}, to {found}", _BY_HAND)
    return found


def read_settings(host: Host, path: Path) -> HostSettings:
    """Return the settings in a file; none are there where it is missing.

    Raises:
        InputError: it cannot be read, is no JSON without comments, or holds hooks in a shape that we do not know.

    """
    if not os.path.lexists(path):
        return HostSettings(host, path, None, None, {}, ())
    content = read_bytes(path, _BY_HAND, most_mb=_MOST_MB)
    root = _decoded(path, content)
    found = root.get(_HOOKS, {}) if isinstance(root, dict) else None
    if not isinstance(root, dict) or not isinstance(found, dict) or not _are_known(host, found):
        raise InputError(str(path), f"its {_HOOKS} do not have the structure that {host.title} documents", _BY_HAND)
    places = tuple(
        HookPlace(entry, number, at, hook["command"], hook.get("async") is True)
        for entry in host.entries
        for number, each in enumerate(found.get(entry.event, []))
        for at, hook in enumerate(each["hooks"])
        if _is_ours(entry, hook.get("command"))
    )
    return HostSettings(host, path, content, stat.S_IMODE(path.stat().st_mode), root, places)


def _is_ours(entry: HookEntry, command: object) -> bool:
    """Say whether a command calls ctxsift with the words of an entry, however it is started, and does nothing else."""
    if not isinstance(command, str):
        return False
    lexer = shlex.shlex(command.removesuffix(_OTHERWISE), posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return False
    started = Path(words[-3]).name if len(words) > 2 else ""
    alone = not any(set(word) <= set(_OPERATORS) for word in words)
    return started == "ctxsift" and tuple(words[-2:]) == entry.words and alone


def _are_known(host: Host, hooks: dict[str, Any]) -> bool:
    found = [hooks.get(entry.event, []) for entry in host.entries]
    return all(isinstance(entries, list) and all(map(_is_entry, entries)) for entries in found)


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


def add_entries(settings: HostSettings, wanted: Mapping[HookEntry, str]) -> None:
    """Write the file with entries of ours, and keep it as it was before the first one. Raises OSError."""
    before = _before(settings)
    if before is None:
        changed = settings.with_entries(wanted)
    else:
        changed = before.with_entries(_in_order(settings.host, {**_present(settings), **wanted}))
    if settings.content is not None and not settings.ours:
        write_atomically(settings.kept, settings.content, mode=settings.mode)
    write_atomically(settings.path, changed, mode=settings.mode)


def remove_entries(settings: HostSettings) -> None:
    """Write the file without our entries; where nothing else has changed since, as it was before. Raises OSError."""
    before = _before(settings)
    if before is None:
        write_atomically(settings.path, settings.without_entries(settings.host.entries), mode=settings.mode)
    elif before.content is None:
        settings.path.unlink()
    else:
        write_atomically(settings.path, before.content, mode=settings.mode)
        settings.kept.unlink()


def _before(settings: HostSettings) -> HostSettings | None:
    """Return what our entries made the file of, if it is known: what was kept, or no file at all."""
    if not settings.ours:
        return None
    found, present = [HostSettings(settings.host, settings.path, None, None, {}, ())], _present(settings)
    with contextlib.suppress(InputError):
        found.insert(0, read_settings(settings.host, settings.kept))
    return next((each for each in found if not each.ours and each.with_entries(present) == settings.content), None)


def _present(settings: HostSettings) -> dict[HookEntry, str]:
    return {place.entry: place.command for place in settings.ours}


def _in_order(host: Host, wanted: Mapping[HookEntry, str]) -> dict[HookEntry, str]:
    return {each: wanted[each] for each in host.entries if each in wanted}

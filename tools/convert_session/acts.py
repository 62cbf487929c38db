"""What the agent of a recorded session did, apart from the names of its tools: commands, reads, writes, edits."""

from __future__ import annotations

import posixpath
import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from benchmark.sessions.loader import START, RecordedSession
from benchmark.sessions.records import Changes, StepTruth
from ctxsift.errors import InputError
from ctxsift.sessions.records import Source, Step

_TRAILER = re.compile(r"\n\nCommand (?:exited with code -?\d+|timed out after \S+ s)\Z")
_NOTHING = "(no output)"
_NUMBERED = re.compile(r" {0,5}\d+\t")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line; `exit_code` is None where a time limit ended it after `limit` seconds."""

    line: str
    output: str
    exit_code: int | None
    limit: float
    asked_limit: bool


@dataclass(frozen=True, slots=True)
class Read:
    """Lines of a file from `first`, without numbers; `count` where so many were asked for, `error` where it failed."""

    path: str
    lines: tuple[str, ...]
    first: int
    count: int | None
    error: str


@dataclass(frozen=True, slots=True)
class Write:
    """A whole file; `before` is what it held, None where that is not known; `existed` tells whether it was there."""

    path: str
    text: str
    before: str | None
    existed: bool


@dataclass(frozen=True, slots=True)
class Edit:
    """Text replaced once; `hunks` are those of a unified diff, `error` what the recorder said where it failed."""

    path: str
    old: str
    new: str
    before: str | None
    hunks: tuple[str, ...]
    error: str


Act: TypeAlias = Command | Read | Write | Edit


@dataclass(frozen=True, slots=True)
class Told:
    """One step: what was said, and what was done then.

    Attributes:
        number: counts from 1.
        at: ISO 8601, UTC.
        seconds: that the call took.
        folder: in which the shell stood before it.
        act: None for a message alone.

    """

    number: int
    by_user: bool
    message: str
    at: str
    seconds: float
    folder: str
    act: Act | None


def told_in(recorded: RecordedSession) -> Iterator[Told]:
    """Yield the steps of a recorded session.

    Raises:
        InputError: a file of the session cannot be read, or a step is none of the recorder's.

    """
    session = recorded.session()
    root = session.head.folder
    texts = _starting_texts(recorded, root)
    for step, truth in zip(session.steps, recorded.truth(), strict=True):
        folder = step.folder or root
        act = _act(step, truth, folder, texts, root)
        _follow(texts, act, _changed(truth.since_previous), root)
        by_user = step.source is Source.USER
        yield Told(step.step_id, by_user, step.message, step.timestamp or "", truth.seconds, folder, act)


def _act(step: Step, truth: StepTruth, folder: str, texts: dict[str, str | None], root: str) -> Act | None:
    if not step.calls:
        return None
    call, result = step.calls[0], step.results[0]
    given = {key: value for key, value in call.arguments.items() if isinstance(value, str | int | float)}
    error = result.text if result.is_error else ""
    path = posixpath.normpath(posixpath.join(folder, str(given.get("path", ""))))
    if call.name == "bash":
        output = _TRAILER.sub("", result.text)
        output = "" if output == _NOTHING else output
        limit = float(given.get("timeout", 120))
        return Command(str(given["command"]), output, result.exit_code, limit, "timeout" in given)
    if call.name == "read":
        lines = () if error else tuple(_NUMBERED.sub("", each, count=1) for each in result.text.split("\n"))
        count = int(given["limit"]) if "limit" in given else None
        return Read(path, lines, int(given.get("offset", 1)), count, error)
    if call.name == "write":
        changes = truth.since_previous
        made = {*changes.created, *(new for _, new in changes.renamed)}
        existed = path in texts and posixpath.relpath(path, root) not in made
        return Write(path, str(given["content"]), texts.get(path), existed)
    if call.name == "edit":
        hunks = tuple(f"@@ {each}" for each in re.split(r"^@@ ", result.text, flags=re.MULTILINE)[1:])
        return Edit(path, str(given["old_text"]), str(given["new_text"]), texts.get(path), hunks, error)
    raise InputError(f"step {step.step_id}", f"{call.name!r} is no tool of the recorder", "convert a recorded session")


def _starting_texts(recorded: RecordedSession, root: str) -> dict[str, str | None]:
    """Return the files of the project as they were at the start; None for one that is no text."""
    texts: dict[str, str | None] = {}
    with tarfile.open(recorded.folder / START) as archive:
        for entry in archive:
            file = archive.extractfile(entry) if entry.isfile() else None
            if file is not None:
                path = posixpath.join(posixpath.dirname(root), entry.name)
                try:
                    texts[path] = file.read().decode()
                except UnicodeDecodeError:
                    texts[path] = None
    return texts


def _changed(changes: Changes) -> Iterator[tuple[str, bool]]:
    """Yield the paths that a step changed, and whether each is there now."""
    yield from ((path, True) for path in (*changes.created, *changes.modified))
    yield from ((path, False) for path in changes.deleted)
    for old, new in changes.renamed:
        yield from ((old, False), (new, True))


def _follow(texts: dict[str, str | None], act: Act | None, changed: Iterable[tuple[str, bool]], root: str) -> None:
    """Keep what files hold: an own write or edit is known, what commands wrote is not."""
    for relative, there in changed:
        path = posixpath.join(root, relative)
        if there:
            texts[path] = None
        else:
            texts.pop(path, None)
    if isinstance(act, Write):
        texts[act.path] = act.text
    elif isinstance(act, Edit) and not act.error:
        texts[act.path] = act.before.replace(act.old, act.new, 1) if act.before is not None else None

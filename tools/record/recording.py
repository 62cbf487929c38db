"""A recording in progress: its folder, its working files, and one step after the other."""

from __future__ import annotations

import contextlib
import datetime
import re
import shutil
import socket
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ctxsift.errors import InputError
from tools.record.calls import Done, call
from tools.record.journal import Begun, Dropped, Journal, Taken, begin_journal, open_journal
from tools.record.redacting import changed_call
from tools.record.sandbox import HOME, USER, Sandbox
from tools.record.snapshots import Snapshots

JOURNAL, START = "journal.jsonl", "start.tar.gz"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}")
# Folders that every machine has say nothing of this one.
_COMMON = frozenset({"bin", "etc", "home", "lib", "media", "mnt", "opt", "srv", "tmp", "usr", "var"})
_SHORTEST_HOST_NAME = 4


def now() -> str:
    """Return the time, ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def private_texts(*folders: Path) -> list[str]:
    """Return what would give this machine away: where its user, this checkout and these folders are, and its name."""
    own = (Path.home(), Path(__file__).parents[2], *folders)
    paths = {_telling(each.resolve()) for each in own} - {"/", HOME}
    host = socket.gethostname()
    return sorted(paths) + ([host] if len(host) >= _SHORTEST_HOST_NAME else [])


def _telling(path: Path) -> str:
    """Return the folder at the top that a path lies in; the whole path if every machine has such a folder."""
    return str(path) if path.parts[1:2] and path.parts[1] in _COMMON else "/".join(path.parts[:2]).replace("//", "/")


def private_in(texts: Iterable[str], private: Iterable[str]) -> str | None:
    """Return the first private text that stands in one of some texts."""
    wanted = [(each, re.compile(rf"(?<![\w.-]){re.escape(each)}(?![\w-])")) for each in private]
    return next((each for text in texts for each, pattern in wanted if each in text and pattern.search(text)), None)


class Recording:
    """A recording, opened for one command.

    Attributes:
        folder: of the recording.
        journal: what was recorded so far.

    """

    def __init__(self, folder: Path, journal: Journal) -> None:
        self.folder, self.journal = folder, journal
        self.sandbox = sandbox_of(folder, journal.begun)
        self.snapshots = snapshots_of(folder, journal.begun.name)

    @property
    def project(self) -> str:
        """The working folder, as commands see it."""
        return f"{HOME}/{self.journal.begun.name}"

    @property
    def commit(self) -> str:
        """The commit of the files after the last step."""
        steps = self.journal.steps
        return steps[-1].commit if steps else self.journal.begun.commit

    @property
    def shell_folder(self) -> str:
        """Where the shell stands; the project's, once that folder is gone."""
        kept = self.journal.steps[-1].folder_after if self.journal.steps else self.project
        there = self.sandbox.outside(kept)
        # A folder of the system is nobody's own, and stays.
        return kept if there is None or there.is_dir() else self.project

    def message(self, source: str, text: str) -> Taken:
        """Record a message. Raises InputError."""
        self._check_ready()
        folder = self.shell_folder
        return self._append(source, text, "", {}, Done("", folder), now(), folder)

    def call(self, reason: str, tool: str, arguments: Mapping[str, Any]) -> Taken:
        """Do a call and record it as a step of the agent. Raises InputError; then nothing was done."""
        self._check_ready()
        at, folder = now(), self.shell_folder
        return self._append("agent", reason, tool, arguments, call(self.sandbox, tool, arguments, folder), at, folder)

    def _append(
        self, source: str, message: str, tool: str, arguments: Mapping[str, Any], done: Done, at: str, folder: str
    ) -> Taken:
        step = Taken(
            source=source,
            at=at,
            message=message,
            folder=folder,
            folder_after=done.folder,
            commit=self.snapshots.commit(f"step {len(self.journal.steps) + 1}"),
            tool=tool,
            arguments=dict(arguments),
            output=done.output,
            exit_code=done.exit_code,
            is_error=done.is_error,
            seconds=done.seconds,
        )
        self.journal.append(step)
        return step

    def private_in(self, step: Taken) -> str | None:
        """Return the first private text that stands in a step."""
        values = (value for value in step.arguments.values() if isinstance(value, str))
        return private_in((step.message, step.output, *values), self.journal.begun.private)

    def undo(self) -> str:
        """Take back what no step did, or else the last step if it cannot be shown as it is; return what was done.

        Raises:
            InputError: there is neither.

        """
        if changed := self.snapshots.outside_changes(self.commit):
            self.snapshots.restore(self.commit)
            return f"restored {', '.join(changed)}"
        steps = self.journal.steps
        if not steps or not (self.private_in(steps[-1]) or changed_call(steps[-1])):
            hint = "what was recorded stays, unless it names this machine or its call holds what looks like a secret"
            raise InputError("undo", "there is nothing to take back", hint)
        self.journal.append(Dropped(at=now()))
        self.snapshots.restore(self.commit)
        return f"dropped step {len(steps) + 1}; the files are as before it, but for ignored ones and the project's .git"

    def _check_ready(self) -> None:
        steps = self.journal.steps
        if steps and (private := self.private_in(steps[-1])):
            problem = f"holds {private!r}, which is from this machine"
            raise InputError(f"step {len(steps)}", problem, "take it back with `undo`, and do it differently")
        if changed := self.snapshots.outside_changes(self.commit):
            shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
            problem = f"changed since step {len(self.journal.steps)}, by no step: {shown}"
            raise InputError(self.project, problem, "take it back with `undo`, then do it in a step")


def sandbox_of(folder: Path, begun: Begun) -> Sandbox:
    """Return the sandbox of a recording."""
    # What is below these is covered anyway, or of the machine's user.
    covered = [
        each
        for each in begun.private
        if each.startswith("/") and not each.startswith(("/home/", "/tmp/")) and Path(each).is_dir()
    ]
    return Sandbox(folder / "root", begun.environment, begun.tools, begun.search, covered)


def snapshots_of(folder: Path, name: str) -> Snapshots:
    """Return the hidden repository of a recording."""
    return Snapshots(folder / "steps.git", folder / "root" / "home" / USER / name)


def start_recording(
    project: Path,
    folder: Path,
    name: str,
    *,
    environment: Mapping[str, str],
    tools: Mapping[str, str],
    search: Iterable[str],
) -> None:
    """Begin a recording of the work on a copy of a project.

    Args:
        project: its folder; one without a .git becomes a repository with one commit.
        folder: of the recording; made here.
        name: of the project's folder in the sandbox.
        environment: see `Sandbox`.
        tools: see `Sandbox`.
        search: see `Sandbox`.

    Raises:
        InputError: a folder or name cannot be used, or the sandbox cannot be made.
        OSError: something cannot be written.

    """
    if not _NAME.fullmatch(name):
        raise InputError(name, "is no name of a folder of a project", "use small letters, digits, - and _; see --name")
    if not project.is_dir():
        raise InputError(str(project), "is not a folder", "name the folder of the project to work on")
    if folder.exists():
        raise InputError(str(folder), "already exists", "name a folder for the recording that is not there yet")
    private = private_texts(project, folder)
    begun = Begun(
        name=name, at=now(), commit="", environment=dict(environment), tools=dict(tools), search=list(search),
        private=private,
    )  # fmt: skip
    folder.mkdir(parents=True)
    try:
        _set_up(project, folder.absolute(), begun)
    except BaseException:
        shutil.rmtree(folder)
        raise


def _set_up(project: Path, folder: Path, begun: Begun) -> None:
    sandbox, snapshots = sandbox_of(folder, begun), snapshots_of(folder, begun.name)
    sandbox.prepare()
    shutil.copytree(project, snapshots.work_tree, symlinks=True)
    _initialise(sandbox, f"{HOME}/{begun.name}", snapshots.work_tree)
    with tarfile.open(folder / START, "x:gz") as archive:
        archive.add(snapshots.work_tree, begun.name, filter=_anonymous)
    begin_journal(folder / JOURNAL, msgspec.structs.replace(begun, commit=snapshots.begin()))


def _initialise(sandbox: Sandbox, project: str, work_tree: Path) -> None:
    command = "true"
    if not (work_tree / ".git").exists():
        command = "git init --quiet --template= -b main && git add -A && git commit --quiet -m 'Initial commit'"
    ran = sandbox.run(command, project, 120)
    if ran.exit_code:
        raise InputError(project, f"cannot be made a repository ({ran.output.strip()})", "see what git says")


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 1000
    entry.uname = entry.gname = USER
    entry.mtime = int(entry.mtime)
    return entry


@contextlib.contextmanager
def open_recording(folder: Path) -> Iterator[Recording]:
    """Open a recording for one command. Raises InputError."""
    with open_journal(folder / JOURNAL) as journal:
        yield Recording(folder.absolute(), journal)

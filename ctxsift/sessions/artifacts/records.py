"""What the artifact index hands out: files with their history, failed commands, checks and commits."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxsift.sessions.records import JsonValue


class FileState(StrEnum):
    """What became of a file between the start of the session and now."""

    CREATED = "created"
    MODIFIED = "modified"
    WRITTEN = "written"
    """Written as a whole; whether it stood before is not known."""
    RENAMED = "renamed"
    RENAMED_AWAY = "renamed away"
    DELETED = "deleted"
    REMOVED_IF_PRESENT = "removed if present"
    """Removed by a command that does not mind a missing file; nothing else tells of it."""
    CREATED_AND_REMOVED = "created and removed"
    WRITTEN_AND_REMOVED = "written and removed"
    """Written as a whole and then removed; whether it stood before is not known."""
    REVERTED = "reverted"
    """Changed, and now again as it was at the start."""
    READ = "read"
    INSPECTED = "inspected"
    """Looked at in part: searched, counted or compared."""


class Action(StrEnum):
    """What one step did with a file."""

    READ = "read"
    INSPECTED = "inspected"
    WRITTEN = "written"
    APPENDED = "appended"
    EDITED = "edited"
    DELETED = "deleted"
    MOVED_HERE = "moved here"
    MOVED_AWAY = "moved away"
    COPIED_HERE = "copied here"
    RESTORED = "restored"
    MODE = "mode changed"


LOOKS = frozenset({Action.READ, Action.INSPECTED})


class CheckKind(StrEnum):
    """What a check looks at."""

    TEST = "test"
    LINT = "lint"
    TYPES = "types"
    BUILD = "build"
    CHECK = "check"
    """A script of the project that is named so, whatever it runs."""


class CheckState(StrEnum):
    """How a check ended, as far as the session shows it."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SHOWN = "outcome not shown"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class Touch:
    """What one step did with a file; `detail` says what changed, in at most a line."""

    step_id: int
    action: Action
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file that the session touched.

    Attributes:
        path: relative to the session's folder where it lies below it, else as far as it is known; a folder whose
            files are not known ends in `/`, and a pattern stands where its matches are not known.
        state: at the end of what was read so far.
        counterpart: the other name of a file that was renamed.
        touches: in the order of the steps; where there are too many, the first ones and the last ones.
        touches_left_out: how many were dropped between them.

    """

    path: str
    state: FileState
    touches: tuple[Touch, ...]
    counterpart: str = ""
    touches_left_out: int = 0

    @property
    def step_ids(self) -> tuple[int, ...]:
        """The steps that touched it, each once."""
        return tuple(dict.fromkeys(touch.step_id for touch in self.touches))

    @property
    def changed(self) -> bool:
        """Whether any step did more than look at it."""
        return any(touch.action not in LOOKS for touch in self.touches)


@dataclass(frozen=True, slots=True)
class FailedCommand:
    """A command or another tool's call that failed.

    Attributes:
        command: the command line, or the tool and its file, shortened.
        key_line: the line of its output that tells most; empty where there was no output.
        exit_code: where it is known.
        checks: in the command line, those whose failure this is; see `ctxsift.sessions.artifacts.command_log.known_as`.

    """

    step_id: int
    command: str
    key_line: str
    exit_code: int | None = None
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of a check; `key_line` tells why it failed, `within` names the commit whose hook ran it."""

    step_id: int
    state: CheckState
    key_line: str = ""
    within: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A check and its runs, the last one last; the same command in another folder is another check.

    `command` is how it ran last: `make check` and `time make check` are one check.
    """

    command: str
    kind: CheckKind
    folder: str
    runs: tuple[CheckRun, ...]
    runs_left_out: int = 0

    @property
    def state(self) -> CheckState:
        """How its last run ended."""
        return self.runs[-1].state


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that the session made; `revision` and `branch` are empty where the output does not show them."""

    step_id: int
    subject: str
    revision: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Artifacts:
    """All that stands in an index at one moment.

    Attributes:
        files: those that were changed first, in the order of their first change; then those only looked at.
        left_out: kinds of entries that were dropped to stay within the limits, with how many.

    """

    files: tuple[FileEntry, ...] = ()
    failed: tuple[FailedCommand, ...] = ()
    checks: tuple[Check, ...] = ()
    commits: tuple[Commit, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexLimits:
    """How much an index keeps; texts in characters.

    Attributes:
        files: entries of files; those only looked at are dropped first, the oldest first.
        known_paths: paths that were listed but not touched: what patterns and folders are expanded against.
        touches: steps kept per file, `runs` per check; the middle ones are dropped.
        detail: text kept per touch, command and key line.
        content: text of one file that is kept while its versions are compared, `contents` that of all files.

    """

    files: int = 2000
    known_paths: int = 8_000
    touches: int = 60
    runs: int = 60
    failed: int = 400
    checks: int = 200
    commits: int = 400
    detail: int = 200
    content: int = 200_000
    contents: int = 8_000_000


def as_json(artifacts: Artifacts) -> dict[str, JsonValue]:
    """Return artifacts as JSON: every entry with the ids of its steps."""
    return {
        "files": [_file(each) for each in artifacts.files],
        "failed_commands": [
            {"step_id": each.step_id, "command": each.command, "key_line": each.key_line, "exit_code": each.exit_code}
            for each in artifacts.failed
        ],
        "checks": [_check(each) for each in artifacts.checks],
        "commits": [
            {"step_id": each.step_id, "subject": each.subject, "revision": each.revision, "branch": each.branch}
            for each in artifacts.commits
        ],
        "left_out": dict(artifacts.left_out),
    }


def _file(entry: FileEntry) -> JsonValue:
    told: dict[str, JsonValue] = {"path": entry.path, "state": entry.state.value}
    if entry.counterpart:
        told["counterpart"] = entry.counterpart
    told["step_ids"] = list(entry.step_ids)
    told["touches"] = [
        _without_empty(touch.step_id, action=touch.action, detail=touch.detail) for touch in entry.touches
    ]
    if entry.touches_left_out:
        told["touches_left_out"] = entry.touches_left_out
    return told


def _check(check: Check) -> JsonValue:
    told: dict[str, JsonValue] = {
        "command": check.command,
        "kind": check.kind.value,
        "folder": check.folder,
        "state": check.state.value,
        "runs": [
            _without_empty(run.step_id, state=run.state, key_line=run.key_line, within=run.within) for run in check.runs
        ],
    }
    if check.runs_left_out:
        told["runs_left_out"] = check.runs_left_out
    return told


def _without_empty(step_id: int, **texts: str) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {"step_id": step_id}
    for key, text in texts.items():
        if text:
            told[key] = str(text)
    return told

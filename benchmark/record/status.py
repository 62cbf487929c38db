"""What runs, what ended and what broke off below a folder, as its journals tell. Nothing is written."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmark.record.journal import (
    AnswerLine,
    FailureLine,
    JournalRecord,
    Owner,
    ResumedLine,
    RunIdentity,
    RunLine,
    ScenarioFailedLine,
    read_journal,
)
from benchmark.record.paths import find_journals, result_beside
from benchmark.record.read import read_result
from ctxsift.errors import InputError
from ctxsift.files import exists, open_regular

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


class RunState(StrEnum):
    """What has become of a run."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped by a race"


@dataclass(frozen=True)
class RunStatus:
    """One run.

    Attributes:
        journal: its file.
        name: of its scenario, and of its shard where it is one.
        state: what has become of it.
        answered: cases that have an answer.
        planned: all cases.
        errors: attempts without an answer, in all parts of the run.
        age_s: seconds since something was last written.
        left_s: seconds until it is complete, at the speed of this part of the run; None if it does not run, or if
            this part has no answer yet.
        owner: who writes or wrote it.
        problem: why it failed; empty otherwise.

    """

    journal: Path
    name: str
    state: RunState
    answered: int
    planned: int
    errors: int
    age_s: float
    left_s: float | None
    owner: Owner | None
    problem: str


class StatusReader:
    """Reads the status of runs, and reads a journal again only after it has changed."""

    def __init__(self) -> None:
        self._readings: dict[Path, tuple[tuple[int, int], _Reading]] = {}

    def statuses(self, path: Path, unreadable: Callable[[InputError], None]) -> list[RunStatus]:
        """Return the runs below a path (results tree, run folder, journal): those that run first, then the newest.

        Args:
            path: what to look through.
            unreadable: called with what is wrong with a journal that cannot be read; it is left out.

        Raises:
            InputError: the path contains no journal.

        """
        found: list[RunStatus] = []
        for journal in find_journals(path, unreadable):
            try:
                found.append(self.status(journal))
            except InputError as error:
                unreadable(error)
        return sorted(found, key=lambda run: (run.state is not RunState.RUNNING, run.age_s))

    def status(self, journal: Path) -> RunStatus:
        """Return the status of one run. Raises InputError if its journal cannot be read."""
        # Asked first: a run that ends in between is then read whole.
        runs = _is_locked(journal)
        read = self._read(journal)
        identity, answered, planned = read.identity, len(read.answered), len(read.identity.case_ids)
        state = RunState.RUNNING if runs else _ended(journal, read)
        left_s = None
        if runs and read.answers_now:
            left_s = read.seconds_now / read.answers_now * (planned - answered)
        return RunStatus(
            journal=journal,
            name=f"{identity.scenario.name} {identity.shard}" if identity.shard else identity.scenario.name,
            state=state,
            answered=answered,
            planned=planned,
            errors=read.errors,
            age_s=max(0.0, time.time() - read.written_s),
            left_s=left_s,
            owner=read.owner,
            problem=read.problem if state is RunState.FAILED else "",
        )

    def _read(self, journal: Path) -> _Reading:
        try:
            found = journal.stat()
        except OSError as error:
            raise InputError(str(journal), error.strerror or str(error), "name another folder") from error
        stamp = found.st_mtime_ns, found.st_size
        if journal not in self._readings or self._readings[journal][0] != stamp:
            self._readings[journal] = stamp, _read(journal, found.st_mtime)
        return self._readings[journal][1]


def status_rows(runs: Sequence[RunStatus]) -> Iterator[tuple[str, ...]]:
    """Yield a heading and one row a run."""
    yield ("scenario", "state", "answers", "last written", "time left", "folder")
    for run in runs:
        errors = f" ({run.errors} errors)" if run.errors else ""
        owner = f" ({run.owner.pid} on {run.owner.host})" if run.owner and run.state is RunState.RUNNING else ""
        yield (
            run.name,
            f"{run.state}{owner}{': ' if run.problem else ''}{run.problem}",
            f"{run.answered}/{run.planned}{errors}",
            f"{_duration(run.age_s)} ago",
            "" if run.left_s is None else f"about {_duration(run.left_s)}",
            str(run.journal.parent),
        )


@dataclass
class _Reading:
    identity: RunIdentity
    owner: Owner | None
    answered: set[str]
    written_s: float
    errors: int = 0
    problem: str = ""
    # Of the part that was written last.
    answers_now: int = 0
    seconds_now: float = 0.0


def _read(journal: Path, written_s: float) -> _Reading:
    lines = read_journal(journal)
    first = next(lines)
    # The reader refuses a journal that begins otherwise.
    assert isinstance(first, RunLine)
    read = _Reading(first.identity, first.owner, set(), written_s)
    for line in lines:
        assert isinstance(line, JournalRecord)
        read.seconds_now = line.at_s
        if isinstance(line, ResumedLine):
            read.owner, read.problem, read.answers_now, read.seconds_now = line.owner or read.owner, "", 0, 0.0
        elif isinstance(line, AnswerLine):
            read.answered.add(line.case_id)
            read.answers_now += 1
        elif isinstance(line, FailureLine):
            read.errors += 1
        elif isinstance(line, ScenarioFailedLine):
            read.problem = line.error
    return read


def _ended(journal: Path, read: _Reading) -> RunState:
    """Return the state of a run that nobody writes."""
    if len(read.answered) == len(read.identity.case_ids):
        return RunState.COMPLETE
    if read.problem:
        return RunState.FAILED
    result = result_beside(journal)
    if exists(result):
        try:
            run = read_result(result).record.run
        except InputError:
            run = None
        if run is not None and run.stopped_by:
            return RunState.STOPPED
    return RunState.INTERRUPTED


def _is_locked(journal: Path) -> bool:
    """Say whether a process holds the lock of a journal: it ends with its process, however that ends."""
    try:
        with open_regular(journal) as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # A file system without locks knows of nobody; the age of the last line has to do.
        return False
    return False


def _duration(seconds: float) -> str:
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.0f} h" if seconds < 2 * _DAY else f"{seconds / _DAY:.0f} days"

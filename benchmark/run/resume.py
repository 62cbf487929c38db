"""What an earlier part of a run left behind: the answers it already has, and whether it was the same run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.cases import Case, Corpus
from benchmark.matrix import Scenario
from benchmark.record.journal import (
    COMPRESS,
    AnswerLine,
    Hardware,
    LoadedLine,
    ResumedLine,
    RunIdentity,
    RunLine,
    Sample,
    placed_lines,
    read_line,
    with_sample,
)
from benchmark.record.paths import journals_below, result_beside
from benchmark.record.read import StoredResult, read_result
from benchmark.run.identity import load_differences, run_differences
from ctxsift.backends.base import LoadInfo
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import exists, temporary_of
from ctxsift.terminal import one_line


@dataclass(frozen=True)
class Past:
    """The journal of an earlier run.

    Attributes:
        path: of the journal.
        identity: of its first line.
        load: the model as it was loaded last; None if it never was.
        answers: answer key -> the last answer under it.
        answered: ids of the units that have an answer.
        hardware: answer key -> the kind of machine that it came from, where that is told.
        samples: of the machine, summed up.
        wall_s: seconds from the start of each part to its last line, together.
        damage: which lines are damaged, in one line for a person; None where none is.

    """

    path: Path
    identity: RunIdentity
    load: LoadInfo | None
    answers: Mapping[str, AnswerLine]
    answered: frozenset[str]
    hardware: Mapping[str, Hardware]
    samples: tuple[Sample, ...]
    wall_s: float
    damage: str | None = None


class _LazyAnswers(Mapping[str, AnswerLine]):
    """The answers of a journal, each read when it is asked for: together they may be larger than memory."""

    def __init__(self, path: Path, offsets: Mapping[str, int]) -> None:
        self._path, self._offsets = path, offsets

    def __getitem__(self, key: str) -> AnswerLine:
        try:
            line = read_line(self._path, self._offsets[key])
        except (OSError, ValueError) as error:
            raise KeyError(key) from error
        if not isinstance(line, AnswerLine):
            raise KeyError(key)
        return line

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)


def read_past(path: Path, workload: str = COMPRESS) -> Past:
    """Read the journal of an earlier run; lines that are damaged are left out.

    Raises:
        InputError: it cannot be read, is of another version or workload, or its first line is damaged.

    """
    damage = _Damage()
    identity: RunIdentity | None = None
    load: LoadInfo | None = None
    offsets: dict[str, int] = {}
    answered: set[str] = set()
    nodes: dict[str, Hardware | None] = {}
    hardware: dict[str, Hardware] = {}
    samples: tuple[Sample, ...] = ()
    wall_s = part_s = 0.0
    for placed in placed_lines(path, damage.note):
        line = placed.line
        if isinstance(line, RunLine):
            identity = line.identity
            if identity.workload != workload:
                what = f"is the journal of a run of {identity.workload!r}, not of {workload!r}"
                raise InputError(f"{path}:1", what, "name another journal")
        elif isinstance(line, LoadedLine):
            load = line.load
            nodes[line.node] = line.hardware
        elif isinstance(line, AnswerLine):
            offsets[line.key] = placed.offset
            answered.add(line.case_id)
            if (kind := nodes.get(line.node)) is not None:
                hardware[line.key] = kind
            samples = with_sample(samples, line.machine) if line.machine else samples
        if isinstance(line, RunLine | ResumedLine):
            wall_s, part_s = wall_s + part_s, 0.0
        part_s = line.at_s
    assert identity is not None
    return Past(
        path=path,
        identity=identity,
        load=load,
        answers=_LazyAnswers(path, offsets),
        answered=frozenset(answered),
        hardware=hardware,
        samples=samples,
        wall_s=wall_s + part_s,
        damage=damage.told(path),
    )


class _Damage:
    """Counts the damaged lines of a journal."""

    def __init__(self) -> None:
        self._lines, self._first = 0, (0, "")

    def note(self, number: int, problem: str) -> None:
        """Take one down."""
        self._lines += 1
        if self._lines == 1:
            self._first = number, problem

    def told(self, path: Path) -> str | None:
        """Return what is wrong with the journal, in one line; None where nothing is."""
        if not self._lines:
            return None
        number, problem = self._first
        what = "this line is damaged" if self._lines == 1 else f"{self._lines} lines are damaged, this one first"
        return one_line(f"{path}:{number}: {what} ({problem}); the answers lost with it are asked for again")


def finished(journal: Path, *, retry_failed: bool = False) -> StoredResult | None:
    """Return the result beside a journal, if that run has nothing left to ask; a damaged one is none."""
    path = result_beside(journal)
    # Whoever was killed while writing a result had come further than the one before it.
    if exists(temporary_of(path)):
        return None
    try:
        result = read_result(path)
    except InputError:
        return None
    left = retry_failed and result.record.summary.model_failure_counts
    return result if result.record.complete and not left else None


def check_result(journal: Path) -> None:
    """Raise InputError when something that is no file stands where the result of a journal belongs."""
    path = result_beside(journal)
    if exists(path) and not path.is_file():
        raise InputError(str(path), "is not a file, but the result must be written there", "move it away, then resume")


def check_run(past: Past, now: RunIdentity) -> None:
    """Raise InputError naming all that differs between a run and the one that is to resume it."""
    _refuse(past, run_differences(past.identity, now))


def check_load(past: Past, load: LoadInfo) -> None:
    """Raise InputError naming all that differs between the model as it was loaded before and as it is now."""
    if past.load is not None:
        _refuse(past, load_differences(past.load, load))


def _refuse(past: Past, differences: Sequence[str]) -> None:
    if differences:
        what = f"belongs to another run: {', '.join(differences)}"
        raise InputError(str(past.path), what, "undo that, or start a new run without --resume")


def cases_of(past: Past, corpus: Corpus) -> tuple[Case, ...]:
    """Return the cases of the run, in its order. Raises InputError when one is gone from the corpus."""
    by_id = {case.case_id: case for case in corpus.cases}
    for case_id in past.identity.case_ids:
        if case_id not in by_id:
            raise InputError(f"{past.path}:1", f"case {case_id!r} is not in the corpus", did_you_mean(case_id, by_id))
    return tuple(by_id[case_id] for case_id in past.identity.case_ids)


def scenario_of(past: Past, scenarios: Iterable[Scenario], matrix: Path) -> Scenario:
    """Return the scenario of the run as the matrix has it now. Raises InputError when it is gone."""
    by_name = {scenario.name: scenario for scenario in scenarios}
    wanted = past.identity.scenario.name
    if wanted not in by_name:
        hint = f"name its matrix with --matrix ({did_you_mean(wanted, by_name)})"
        raise InputError(f"{past.path}:1", f"scenario {wanted!r} is not in {matrix}", hint)
    return by_name[wanted]


@dataclass(frozen=True)
class Earlier:
    """A run of the same identity that is on disk already.

    Attributes:
        answers: that it has.
        finished: it has nothing left to ask.

    """

    journal: Path
    timestamp: str
    answers: int
    finished: bool


def earlier_runs(folder: Path, identity: RunIdentity) -> list[Earlier]:
    """Return runs of this identity below `folder` that have answers; journals that cannot be read are left out."""
    found = []
    for journal in journals_below(folder, unreadable=lambda _: None):
        try:
            theirs = _identity_of(journal)
            if theirs is None or theirs.case_ids != identity.case_ids or run_differences(theirs, identity):
                continue
            past = read_past(journal)
        except (InputError, OSError, ValueError):
            continue
        if past.answers:
            found.append(Earlier(journal, theirs.timestamp, len(past.answers), finished(journal) is not None))
    return found


def _identity_of(journal: Path) -> RunIdentity | None:
    """Return the identity of a journal without reading the rest: there may be hundreds."""
    line = read_line(journal)
    return line.identity if isinstance(line, RunLine) else None

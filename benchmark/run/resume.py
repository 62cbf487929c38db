"""What an earlier part of a run left behind: the answers it already has, and whether it was the same run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.cases import Case, Corpus
from benchmark.matrix import Scenario
from benchmark.record.journal import (
    AnswerLine,
    LoadedLine,
    ResumedLine,
    RunIdentity,
    RunLine,
    Sample,
    parse_line,
    read_journal,
)
from benchmark.record.paths import journals_below, result_beside
from benchmark.record.read import read_result
from benchmark.run.identity import load_differences, run_differences
from ctxsift.backends.base import LoadInfo
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import exists

_LONGEST_IDENTITY = 10_000_000


@dataclass(frozen=True)
class Past:
    """The journal of an earlier run.

    Attributes:
        path: of the journal.
        identity: of its first line.
        load: the model as it was loaded last; None if it never was.
        answers: answer key -> the last answer under it.
        samples: of the machine.
        wall_s: seconds from the start of each part to its last line, together.

    """

    path: Path
    identity: RunIdentity
    load: LoadInfo | None
    answers: dict[str, AnswerLine]
    samples: tuple[Sample, ...]
    wall_s: float


def read_past(path: Path) -> Past:
    """Read the journal of an earlier run.

    Raises:
        InputError: it is damaged, or of another version.

    """
    lines = read_journal(path)
    assert isinstance(lines[0], RunLine)
    answers = {line.key: line for line in lines if isinstance(line, AnswerLine)}
    loads = [line.load for line in lines if isinstance(line, LoadedLine)]
    wall_s = part_s = 0.0
    for line in lines:
        if isinstance(line, RunLine | ResumedLine):
            wall_s, part_s = wall_s + part_s, 0.0
        part_s = line.at_s
    return Past(
        path=path,
        identity=lines[0].identity,
        load=loads[-1] if loads else None,
        answers=answers,
        samples=tuple(line.machine for line in lines if isinstance(line, AnswerLine) and line.machine is not None),
        wall_s=wall_s + part_s,
    )


def finished(journal: Path, *, retry_failed: bool = False) -> bool:
    """Say whether the run of a journal has nothing left to ask, by the result beside it; a damaged one is none."""
    try:
        record = read_result(result_beside(journal)).record
    except InputError:
        return False
    return record.complete and not (retry_failed and record.summary.model_failure_counts)


def find_journals(path: Path) -> list[Path]:
    """Return the journals below `path` (results tree, run folder, journal). Raises InputError when there are none."""
    if not exists(path):
        raise InputError(str(path), "no such file or folder", "name a run folder or a results tree")
    journals = [path] if path.is_file() else journals_below(path)
    if not journals:
        raise InputError(str(path), "holds no journal of a run", "name a run folder or a results tree")
    return journals


def check_run(past: Past, now: RunIdentity) -> None:
    """Raise InputError naming all that differs between a run and the one that is to resume it."""
    _refuse(past, run_differences(past.identity, now))


def check_load(past: Past, load: LoadInfo) -> None:
    """Raise InputError naming all that differs between the model as it was loaded before and as it is now."""
    if past.load is not None:
        _refuse(past, load_differences(past.load, load))


def _refuse(past: Past, differences: Sequence[str]) -> None:
    if differences:
        what = f"is of another run: {', '.join(differences)}"
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


def unfinished(folder: Path, identity: RunIdentity) -> list[tuple[Path, int]]:
    """Return run folders below `folder` with an unfinished run of this identity, and how many answers each holds."""
    found = []
    for journal in journals_below(folder):
        try:
            theirs = _identity_of(journal)
            if theirs is None or theirs.case_ids != identity.case_ids or run_differences(theirs, identity):
                continue
            past = read_past(journal)
        except (InputError, OSError, ValueError, RecursionError):
            continue
        if past.answers and not finished(journal):
            found.append((journal.parent, len(past.answers)))
    return found


def _identity_of(journal: Path) -> RunIdentity | None:
    """Return the identity of a journal without reading the rest: there may be hundreds."""
    with journal.open("rb") as file:
        line = parse_line(file.readline(_LONGEST_IDENTITY))
    return line.identity if isinstance(line, RunLine) else None

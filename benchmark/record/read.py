"""Reads result files: today's, those of earlier schema versions, and those of the published layout."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmark.matrix import Track
from benchmark.record.base import Record, from_json
from benchmark.record.earlier import upgraded
from benchmark.record.paths import RESULT_SUFFIXES
from benchmark.record.result import SCHEMA_VERSION, Answered, Result
from benchmark.record.summary import Dimension
from ctxsift.errors import InputError
from ctxsift.files import exists, read_bytes, read_text
from ctxsift.payloads import refuse_constant
from ctxsift.terminal import one_line

_HINT = "name a results tree, a run folder or a result"
_NAME_ONE = "name a result file"
_DAMAGED = "the file is damaged; take it from a backup"
_MOST_MB = 500
# Any of these alone may be some other JSON file in a results tree.
_SIGNS = frozenset({"scenario", "summary", "cases"})


@dataclass(frozen=True)
class CaseFigures:
    """The figures of one answered case.

    Attributes:
        score, raw_score: case scores of the recovered and the raw view, in [0, 1].
        time_ms: generation latency.
        passed: usable, with every anchor.
        group: dimension -> the case's group in it; what the file does not tell is left out.

    """

    case_id: str
    score: float
    raw_score: float
    time_ms: float
    passed: bool
    group: dict[Dimension, str]


@dataclass(frozen=True, eq=False)
class StoredResult:
    """One result and where it came from; equal only to itself.

    Attributes:
        cases: figures of the answered cases by id; instrument failures are not among them.

    """

    path: Path
    record: Result
    cases: dict[str, CaseFigures]

    @property
    def name(self) -> str:
        """The scenario's."""
        return self.record.scenario.name

    @property
    def track(self) -> Track:
        """The scenario's."""
        return self.record.scenario.track

    @property
    def is_reference(self) -> bool:
        """Whether it is a row to measure by, not a competitor: a baseline, or gold."""
        return self.track is Track.CONTROL

    @property
    def latency_ignored(self) -> bool:
        """Whether its score leaves latency out, since the machine was disturbed."""
        return self.record.run is not None and self.record.run.latency_ignored

    @property
    def timestamp(self) -> str:
        """When the run began; empty in published files."""
        return self.record.run.timestamp if self.record.run else ""


def stored(path: Path, record: Result) -> StoredResult:
    """Return a result with the figures of its cases. Raises InputError when a case appears twice."""
    cases: dict[str, CaseFigures] = {}
    seen: set[str] = set()
    for number, case in enumerate(record.cases):
        case_id = case.question.case_id
        if case_id in seen:
            raise InputError(f"{path}: /cases/{number}/case_id", f"{case_id!r} appears twice", "remove one")
        seen.add(case_id)
        if isinstance(case, Answered):
            cases[case_id] = _figures(case)
    return StoredResult(path, record, cases)


def _figures(case: Answered) -> CaseFigures:
    question = case.question
    groups = {
        Dimension.INTENT: question.intent,
        Dimension.FAMILY: question.family,
        Dimension.TOOL: question.tool,
        Dimension.DIFFICULTY: question.difficulty,
    }
    return CaseFigures(
        case_id=question.case_id,
        score=case.recovered.case_score,
        raw_score=case.raw.case_score,
        time_ms=case.generation.total_ms,
        passed=case.recovered.passed,
        group={dimension: group for dimension, group in groups.items() if group is not None},
    )


def find_results(paths: Iterable[Path]) -> list[StoredResult]:
    """Return the results below `paths` (result files, run folders, results trees), in the order of their paths.

    Raises:
        InputError: a path is missing or contains no result, or a file is damaged.

    """
    return list(iterate_results(paths))


def iterate_results(
    paths: Iterable[Path], *, skip: Callable[[InputError], None] | None = None
) -> Iterator[StoredResult]:
    """Yield the results below `paths` one at a time: hundreds of them do not fit into memory together.

    Args:
        paths: result files, run folders, results trees; what is named twice comes once.
        skip: called with what is wrong with a file that is then left out; without it the first one is raised, and
            foreign JSON in a tree is left out without a word.

    Raises:
        InputError: a path is missing or contains no result, or a file is damaged.

    """
    seen: set[Path] = set()
    for path in paths:
        if not exists(path):
            raise InputError(str(path), "no such file or folder", _HINT)
        found = False
        for file in [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if _may_be_result(file)]:
            try:
                document = _parse(file)
                if file is not path and not _is_result(document):
                    if skip:
                        skip(InputError(str(file), "is not a result file (no scenario, summary and cases)"))
                    continue
                found = True
                if file.resolve() not in seen:
                    result = as_result(file, document)
                    seen.add(file.resolve())
                    yield result
            except InputError as error:
                if not skip:
                    raise
                skip(error)
        if not found:
            nothing = InputError(str(path), "contains no result file", _HINT)
            if not skip:
                raise nothing
            skip(nothing)


def _may_be_result(file: Path) -> bool:
    return file.name.endswith(RESULT_SUFFIXES) and not file.name.startswith(".") and file.is_file()


def _is_result(document: object) -> bool:
    """Say whether a document of a results tree is a result; other JSON files may be there too."""
    return isinstance(document, dict) and document.keys() >= _SIGNS


def read_result(path: Path) -> StoredResult:
    """Read one result file, plain or gzipped.

    Raises:
        InputError: naming the file, the place in it and what is wrong.

    """
    return as_result(path, _parse(path))


def as_result(path: Path, document: object) -> StoredResult:
    """Return a parsed result file of any version.

    Args:
        path: for messages and labels.
        document: the parsed JSON.

    Raises:
        InputError: naming `path`, the place in it and what is wrong.

    """
    if not isinstance(document, dict):
        raise InputError(str(path), "is not a result file (not a JSON object)", _DAMAGED)
    version = document.get("schema_version")
    # A version may be anything in a damaged file; `in` would take True for 1.
    if version is not None and (type(version) is not int or not 1 <= version <= SCHEMA_VERSION):
        where = f"{path}: /schema_version"
        raise InputError(where, f"{str(version)[:20]} is not {SCHEMA_VERSION}", "use the version that wrote it")
    return stored(path, _converted(upgraded(path, document), str(path)))


def _converted(document: Any, where: str) -> Result:
    try:
        record: Result = from_json(Result, document)
    except msgspec.ValidationError as error:
        place, problem = _located(error)
        raise InputError(f"{where}: {place}", problem, _DAMAGED) from error
    except (RecursionError, OverflowError, UnicodeError) as error:
        raise InputError(where, f"cannot be read ({error})", _DAMAGED) from error
    return record


def _located(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return place, as JSON pointer, and problem of what a record refused."""
    problem, _, place = str(error).partition(" - at `$")
    parts = re.findall(r"[^.\[\]`]+", place)
    # Flat fields have no name in the file.
    parts = [part for part in parts if part not in _flat_names(Record)]
    if missing := re.match(r"Object missing required field `(.+)`", problem):
        return "/" + "/".join([*parts, missing[1]]), "required field is missing"
    return "/" + "/".join(parts), problem.replace("`", "")[:200].replace("Expected", "expected")


def _flat_names(kind: type[Record]) -> set[str]:
    return set(kind.FLAT).union(*(_flat_names(child) for child in kind.__subclasses__()))


def labels(results: Sequence[StoredResult]) -> list[str]:
    """Return a short printable name for each result: the scenario's; with its time, folder or path where needed."""
    forms: tuple[Callable[[StoredResult], str], ...] = (
        lambda r: r.name,
        lambda r: f"{r.name} {r.timestamp}",
        lambda r: f"{r.path.parent.name}/{r.name}",
    )
    for form in forms:
        names = [one_line(form(result)) for result in results]
        if len(set(names)) == len(names):
            return names
    return [one_line(str(result.path)) for result in results]


def _parse(path: Path) -> object:
    try:
        return msgspec.json.decode(read_bytes(path, _NAME_ONE, most_mb=_MOST_MB))
    except (ValueError, RecursionError):
        # The standard library is half as fast; it bears half characters, and says better what is wrong.
        return _parse_carefully(path)


def _parse_carefully(path: Path) -> object:
    text = read_text(path, _NAME_ONE, most_mb=_MOST_MB)
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{error.lineno}:{error.colno}", f"not valid JSON: {error.msg}", "the file is damaged"
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError(str(path), f"cannot be read ({error})", "the file is damaged") from error

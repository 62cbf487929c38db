"""Reads result files back: ours, and those of the published layout."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs

from benchmark.fields import Fields
from ctxsift.errors import InputError
from ctxsift.files import exists, read_text
from ctxsift.payloads import refuse_constant
from ctxsift.terminal import one_line

SCHEMA_VERSION = 2
SCHEMA_PATH = Path(__file__).parent / "schemas" / "result.schema.json"
_SUFFIXES = (".json", ".json.gz")
_PUBLISHED_TEXTS = (
    *("phase", "model", "title", "tool", "family", "intent", "difficulty", "output_mode", "domain", "instruction"),
    *("raw_input", "expected_output", "output", "error"),
)
_MEND = "name a results tree, a run folder or a result"


@dataclass(frozen=True)
class StoredCase:
    """The figures of one answered case.

    Attributes:
        score, raw_score: case scores of the recovered and the raw view, in [0, 1].
        time_ms: generation latency.
        passed: usable (not rejected) with every anchor.
        group: dimension (intent, family, ...) -> the case's group in it; what the file does not say is left out.

    """

    case_id: str
    score: float
    raw_score: float
    time_ms: float
    passed: bool
    group: dict[str, str]


@dataclass(frozen=True)
class StoredResult:
    """One result file.

    Attributes:
        cases: answered cases by id; instrument failures are not among them.
        record: the whole file, as JSON values.

    """

    path: Path
    name: str
    track: str
    cases: dict[str, StoredCase]
    record: dict[str, Any]

    @property
    def latency_ignored(self) -> bool:
        """Whether its score leaves latency out, since the machine was disturbed."""
        return bool(self.record.get("run", {}).get("latency_ignored", False))

    @property
    def timestamp(self) -> str:
        """When the run began; empty in files of the published layout."""
        return str(self.record.get("run", {}).get("timestamp", ""))


def find_results(paths: Iterable[Path], *, any_version: bool = False) -> list[StoredResult]:
    """Return the results below `paths` (result files, run folders, results trees), in the order of their paths.

    Raises:
        InputError: a path is missing or holds no result, or a file is damaged.

    """
    return list(iterate_results(paths, any_version=any_version))


def iterate_results(
    paths: Iterable[Path], *, any_version: bool = False, skip: Callable[[InputError], None] | None = None
) -> Iterator[StoredResult]:
    """Yield the results below `paths` one at a time: hundreds of them do not fit into memory together.

    Args:
        paths: result files, run folders, results trees; what is named twice comes once.
        any_version: also take files of older schema versions, which only `rescore` understands.
        skip: called with what is wrong with a file that is then left out; without it the first one is raised, and
            foreign JSON in a tree is left out without a word.

    Raises:
        InputError: a path is missing or holds no result, or a file is damaged.

    """
    seen: set[Path] = set()
    for path in paths:
        if not exists(path):
            raise InputError(str(path), "no such file or folder", _MEND)
        found = False
        for file in [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if _may_be_result(file)]:
            try:
                document = _parse(file)
                if file is not path and not _is_result(document):
                    if skip:
                        skip(InputError(str(file), "is no result file (no scenario, summary and cases)"))
                    continue
                found = True
                if file.resolve() not in seen:
                    result = as_result(file, document, any_version=any_version)
                    seen.add(file.resolve())
                    yield result
            except InputError as error:
                if not skip:
                    raise
                skip(error)
        if not found:
            nothing = InputError(str(path), "holds no result file", _MEND)
            if not skip:
                raise nothing
            skip(nothing)


def _may_be_result(file: Path) -> bool:
    return file.name.endswith(_SUFFIXES) and not file.name.startswith(".") and file.is_file()


def _is_result(document: object) -> bool:
    """Say whether a document of a results tree is a result; other JSON may lie about there."""
    return isinstance(document, dict) and {"scenario", "summary", "cases"} <= document.keys()


def read_result(path: Path) -> StoredResult:
    """Read one result file, plain or gzipped.

    Raises:
        InputError: naming the file, the place in it and what is wrong.

    """
    return as_result(path, _parse(path))


def as_result(path: Path, document: object, *, any_version: bool = False, check: bool = True) -> StoredResult:
    """Return a parsed result file.

    Args:
        path: for messages and labels.
        document: the parsed JSON.
        any_version: also take files of older schema versions, which only `rescore` understands.
        check: validate against the schema; what was built a moment ago need not be.

    Raises:
        InputError: naming `path`, the place in it and what is wrong.

    """
    fields = Fields(document, str(path))
    version = fields.as_dict().get("schema_version")
    if version == SCHEMA_VERSION and check:
        _check_schema(path, document)
    elif version not in (None, SCHEMA_VERSION) and not any_version:
        mend = "run benchmark.rescore over it" if version == 1 else "use the version that wrote it"
        raise InputError(f"{path}: /schema_version", f"{str(version)[:20]} is not {SCHEMA_VERSION}", mend)
    scenario, summary = fields.inner("scenario"), fields.inner("summary")
    if version is None:
        _check_published(fields, scenario, summary)
    cases: dict[str, StoredCase] = {}
    seen: set[str] = set()
    for row in fields.rows("cases"):
        case_id = row.text("case_id")
        if case_id in seen:
            raise InputError(row.place("case_id"), f"{case_id!r} stands there twice", "remove one")
        seen.add(case_id)
        # The published layout has no outcome: whatever came was scored.
        if row.text("outcome", "scored") != "instrument_failure":
            cases[case_id] = _case(row)
    return StoredResult(path, scenario.text("name"), scenario.text("track"), cases, fields.as_dict())


def _check_published(fields: Fields, scenario: Fields, summary: Fields) -> None:
    """Refuse what is not of the published layout in a file that names no schema version; no schema checks it."""
    for name in ("run", "breakdowns"):
        if fields.has(name):
            raise InputError(fields.place(name), "stands in a file without a schema_version", "take it from a backup")
    summary.number("final_score", least=0, most=100)
    summary.whole("case_count")
    for figures in [summary, summary.inner("raw_view")] if summary.has("raw_view") else [summary]:
        for name, value in figures.as_dict().items():
            if name != "raw_view" and value is not None:
                figures.number(name)
    for texts in (scenario, *fields.rows("cases")):
        for name in _PUBLISHED_TEXTS:
            if texts.has(name) and texts.raw(name) is not None:
                texts.text(name, "")


@functools.cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(json.loads(SCHEMA_PATH.read_text(encoding="utf-8")))


def _check_schema(path: Path, document: object) -> None:
    try:
        error = next(_validator().iter_errors(document), None)
    except ValueError as fault:  # half a character in a key
        raise InputError(str(path), f"cannot be read ({fault})", "the file is damaged") from fault
    if error is not None:
        place = "/" + "/".join(map(str, error.instance_path))
        raise InputError(f"{path}: {place}", error.message[:200], "the file is damaged; take it from a backup")


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


def _case(row: Fields) -> StoredCase:
    status = row.text("validation_status")
    groups = {"intent": "intent", "family": "family", "tool": "tool", "difficulty": "difficulty"}
    preserved = row.number("exact_preservation_ratio", least=0, most=1)
    return StoredCase(
        case_id=row.text("case_id"),
        score=row.number("case_score", least=0, most=1),
        raw_score=row.inner("raw_view").number("case_score", least=0, most=1),
        time_ms=row.number("inference_ms", least=0),
        passed=status != "rejected" and preserved == 1.0,
        group={name: row.text(field) for name, field in groups.items() if row.has(field)},
    )


def _parse(path: Path) -> object:
    text = read_text(path, "name a result file", most_mb=500)
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{error.lineno}:{error.colno}", f"no JSON: {error.msg}", "the file is damaged"
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError(str(path), f"cannot be read ({error})", "the file is damaged") from error

"""Reads result files: today's, those of earlier schema versions, and those of the published layout."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import NoReturn

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from benchmark.matrix import Track
from benchmark.record.earlier import upgraded
from benchmark.record.following import contradiction_in, of_cases_alone
from benchmark.record.intervals import pair, with_intervals
from benchmark.record.paths import RESULT_SUFFIXES
from benchmark.record.record_file import RecordFile
from benchmark.record.result import SCHEMA_VERSION, Answered, Result
from benchmark.record.summary import Dimension
from benchmark.statistics import Clusters, mean
from ctxsift.errors import InputError
from ctxsift.files import exists, files_below
from ctxsift.terminal import one_line

_HINT = "name a results tree, a run folder or a result"
RESULT_FILE = RecordFile(
    kind=Result,
    name="result file",
    version=SCHEMA_VERSION,
    # A result of 10,000 cases has 115, and one of 280 endless answers no more.
    most_mb=128,
    upgraded=upgraded,
    unversioned=True,
    hint="name a result file",
    fault=("this is a fault of the benchmark; the answers are kept where they were: in the journal, or the older file"),
    fewer="the answers are in the journal; run fewer cases at a time (--max-cases), or allow shorter answers",
)
# Any of these alone may be some other JSON file in a results tree.
_SIGNS = frozenset({"scenario", "summary", "cases"})


class ForeignFileError(InputError):
    """A file of a results tree that is no result; it may be there for other reasons."""


@dataclass(frozen=True)
class CaseFigures:
    """The figures of one answered case.

    Attributes:
        score, raw_score: case scores of the recovered and the raw view, in [0, 1].
        time_ms: generation latency.
        passed: usable, with every anchor and a case score of at least half.
        cluster: equal for cases on one capture, which are drawn together.
        group: dimension -> the case's group in it; what the file does not tell is left out.
        by_wording, is_prose: see `Question`.
        is_empty: nothing came back.

    """

    case_id: str
    score: float
    raw_score: float
    time_ms: float
    passed: bool
    cluster: tuple[str, str]
    group: dict[Dimension, str]
    by_wording: bool | None = None
    is_prose: bool | None = None
    is_empty: bool = False


@dataclass(frozen=True, eq=False)
class StoredResult:
    """One result and where it came from; equal only to itself.

    Attributes:
        cases: figures of the answered cases by id; instrument failures are not among them.
        told_count: cases that the summary of a published file is of, where the file holds fewer; None otherwise.

    """

    path: Path
    record: Result
    cases: dict[str, CaseFigures]
    told_count: int | None = None

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
        return self.track is Track.CONTROL and self.record.scenario.before is None

    @property
    def is_shard(self) -> bool:
        """Whether it is a part of a run; what its shards come to together is another result."""
        return self.record.run is not None and not isinstance(self.record.run.shard, UnsetType)

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
    return StoredResult(path, _with_own_intervals(record, list(cases.values())), cases)


def _with_own_intervals(record: Result, cases: Sequence[CaseFigures]) -> Result:
    """Return a published result, whose file has no intervals, with those that follow from its cases.

    A file that holds a part of its cases has none: they would be of other figures than the file tells.
    """
    summary = record.summary
    recovered, raw, latency = summary.recovered, summary.raw, summary.latency
    if record.run is not None or recovered is None or raw is UNSET or recovered.intervals.final_score is not None:
        return record
    if len(cases) != recovered.case_count or not latency:
        return record
    clusters = Clusters.of(case.cluster for case in cases)
    # Their mean leaves the times of failed cases out.
    observed_ms = mean([case.time_ms for case in cases])
    scale = latency.avg_inference_ms / observed_ms if observed_ms else 0.0
    times_ms = [scale * case.time_ms for case in cases]
    recovered, recovered_draws = with_intervals(recovered, [case.score for case in cases], times_ms, clusters)
    raw, raw_draws = with_intervals(raw, [case.raw_score for case in cases], times_ms, clusters)
    lift = pair(recovered_draws - raw_draws, clusters)
    recovered = replace(recovered, intervals=replace(recovered.intervals, recovery_lift=lift))
    return replace(record, summary=replace(summary, recovered=recovered, raw=raw))


def _figures(case: Answered) -> CaseFigures:
    question = case.question
    groups = {
        Dimension.INTENT: question.intent,
        Dimension.FAMILY: question.family,
        Dimension.TOOL: question.tool,
        Dimension.DIFFICULTY: question.difficulty,
        Dimension.TIER: question.tier,
    }
    return CaseFigures(
        case_id=question.case_id,
        score=case.recovered.case_score,
        raw_score=case.raw.case_score,
        time_ms=case.generation.total_ms,
        passed=case.recovered.passed,
        cluster=question.cluster,
        group={dimension: group for dimension, group in groups.items() if group is not None},
        by_wording=question.by_wording,
        is_prose=question.is_prose,
        is_empty=not case.raw.output.strip(),
    )


def find_results(paths: Iterable[Path], *, believed: bool = False) -> list[StoredResult]:
    """Return the results below `paths` (result files, run folders, results trees), in the order of their paths.

    Args:
        paths: where to look.
        believed: see `as_result`.

    Raises:
        InputError: a path is missing or contains no result, or a file is damaged or contradicts itself.

    """
    return list(iterate_results(paths, believed=believed))


def iterate_results(
    paths: Iterable[Path], *, skip: Callable[[InputError], None] | None = None, believed: bool = False
) -> Iterator[StoredResult]:
    """Yield the results below `paths` one at a time: hundreds of them do not fit into memory together.

    Args:
        paths: result files, run folders, results trees; what is named twice comes once.
        skip: called with what is wrong with a file or folder that is then left out (foreign JSON, pipes and links that
            lead nowhere: a ForeignFileError); without it the first one is raised, and foreign files are left out of a
            tree without a word. Results of shards are left out of a tree in any case.
        believed: see `as_result`.

    Raises:
        InputError: a path is missing or contains no result, or a file is damaged or contradicts itself.

    """
    seen: set[Path] = set()
    for path in paths:
        if not exists(path):
            raise InputError(str(path), "no such file or folder", _HINT)
        found = shards = False
        for file in files_below(path, RESULT_SUFFIXES, skip or _refuse) if path.is_dir() else [path]:
            try:
                document = RESULT_FILE.document(file) if file is path else _in_tree(file)
                shards |= (shard := file is not path and _is_shard(document))
                if shard:
                    continue
                found = True
                if file.resolve() not in seen:
                    result = as_result(file, document, believed=believed)
                    seen.add(file.resolve())
                    yield result
            except InputError as error:
                found |= not isinstance(error, ForeignFileError)
                if skip:
                    skip(error)
                elif not isinstance(error, ForeignFileError):
                    raise
        if not found:
            (skip or _refuse)(_nothing(path, shards=shards))


def _in_tree(file: Path) -> object:
    """Return what a file of a results tree holds. Raises ForeignFileError for one that is no result."""
    if not _may_be_file(file):
        raise ForeignFileError(str(file), "is not a file")
    document = RESULT_FILE.document(file)
    if not _is_result(document):
        raise ForeignFileError(str(file), "is not a result file (no scenario, summary and cases)")
    return document


def _nothing(path: Path, *, shards: bool) -> InputError:
    if shards:
        what = "contains only shards of a run, not a complete result"
        return InputError(str(path), what, f"join them: python -m benchmark.merge {shlex.quote(str(path))}")
    return InputError(str(path), "contains no result file", _HINT)


def _may_be_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # Reading it says what is wrong.
        return True


def _refuse(error: InputError) -> NoReturn:
    raise error


def _is_result(document: object) -> bool:
    """Say whether a document of a results tree is a result; other JSON files may be there too."""
    return isinstance(document, dict) and document.keys() >= _SIGNS


def _is_shard(document: object) -> bool:
    """Say whether a result is of a part of a run."""
    run = document.get("run") if isinstance(document, dict) else None
    return isinstance(run, dict) and bool(run.get("shard"))


def read_result(path: Path) -> StoredResult:
    """Read one result file, plain or gzipped.

    Raises:
        InputError: naming the file, the place in it and what is wrong.

    """
    return as_result(path, RESULT_FILE.document(path))


def as_result(path: Path, document: object, *, believed: bool = False) -> StoredResult:
    """Return a parsed result file of any version.

    Args:
        path: for messages and labels.
        document: the parsed JSON.
        believed: skip the check of its figures against its cases, because the caller scores them again.

    Raises:
        InputError: naming `path`, the place in it and what is wrong.

    """
    result = stored(path, RESULT_FILE.record(path, document))
    return _of_its_cases(result if believed else agreeing(result))


def _of_its_cases(result: StoredResult) -> StoredResult:
    """Return a published result that holds a part of its cases with the figures of these: all tables show one score."""
    record, told = result.record, result.record.summary.recovered
    if record.run is not None or told is None or not result.cases or told.case_count == len(result.cases):
        return result
    record = replace(record, summary=of_cases_alone(record), breakdowns=None)
    record = _with_own_intervals(record, list(result.cases.values()))
    return dataclass_replace(result, record=record, told_count=told.case_count)


def agreeing(result: StoredResult) -> StoredResult:
    """Return a result whose figures follow from its cases. Raises InputError naming the one that does not."""
    found = contradiction_in(result.record)
    if found is not None:
        again = f"score its answers again: python -m benchmark.rescore {shlex.quote(str(result.path))}"
        hint = "take it from a backup" if result.record.run is None else again
        raise InputError(f"{result.path}: {found.place}", found.problem, hint)
    return result


def labels(results: Sequence[StoredResult]) -> list[str]:
    """Return a short printable name for each result: the scenario's; if several share it, with the day or the time.

    If the times are the same too, the folder distinguishes them, or else the path.
    """
    alike: dict[str, list[StoredResult]] = {}
    for result in results:
        alike.setdefault(one_line(result.name), []).append(result)
    # A result is equal only to itself.
    names = {result: name for group in alike.values() for result, name in zip(group, _distinct(group), strict=True)}
    return [names[result] for result in results]


def _distinct(alike: Sequence[StoredResult]) -> list[str]:
    forms: tuple[Callable[[StoredResult], str], ...] = (
        lambda r: r.name,
        lambda r: f"{r.name} ({_day(r.timestamp)})",
        lambda r: f"{r.name} ({r.timestamp})",
        lambda r: f"{r.path.parent.name}/{r.name}",
    )
    for form in forms:
        names = [one_line(form(result)) for result in alike]
        if len(set(names)) == len(names):
            return names
    return [one_line(str(result.path)) for result in alike]


def _day(timestamp: str) -> str:
    """Return the day of a timestamp such as 20261126T221725Z, as 2026-11-26."""
    return f"{timestamp[:4]}-{timestamp[4:6]}-{timestamp[6:8]}" if timestamp else "no date"

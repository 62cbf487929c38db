"""The jobs of a run in shards, and what each will take: `python -m benchmark.runner --plan`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.cases import Case
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.matrix import Scenario, select_scenarios
from benchmark.record.journal import Hardware
from benchmark.record.paths import RESULT_SUFFIXES
from benchmark.record.read import StoredResult, read_result
from benchmark.record.result import Answered, Run
from benchmark.run.machine import hardware
from benchmark.run.options import RunnerOptions
from benchmark.run.selection import select_cases
from benchmark.run.sharding import COUNT, array_of, shard_count, shard_index
from ctxsift.backends.packaged import known_model
from ctxsift.errors import InputError
from ctxsift.files import files_below

_HEADINGS = "scenario shard cases seconds memory"
_UNKNOWN = "-"


@dataclass(frozen=True)
class Job:
    """One scenario and one shard of its cases.

    Attributes:
        index: of the shard, from 1.
        count: of all shards.
        cases: how many it asks.
        seconds: as earlier runs on this kind of machine took; None where there is none.
        memory_bytes: its peak there; else the size of the weights; None where neither is known.

    """

    scenario: str
    index: int
    count: int
    cases: int
    seconds: float | None
    memory_bytes: int | None


@dataclass(frozen=True)
class _Pace:
    """How long a scenario took before.

    Attributes:
        load_s: seconds until the model was ready.
        case_s: id of a case -> seconds.
        char_s: seconds for each character of the output that was read, for cases that were not asked.

    """

    load_s: float
    case_s: Mapping[str, float]
    char_s: float
    memory_bytes: int | None

    def of(self, cases: Iterable[Case]) -> float:
        return self.load_s + sum(self.case_s.get(case.case_id, self.char_s * len(case.raw_input)) for case in cases)


def planned_jobs(options: RunnerOptions, scenarios: Sequence[Scenario]) -> list[Job]:
    """Return the jobs of all shards; without `--shard` and CTXSIFT_SHARDS, one a scenario. Nothing runs.

    Raises:
        InputError: an option leads nowhere.

    """
    chosen = select_scenarios(scenarios, names=options.scenario, phases=options.phase)
    cases = select_cases(
        load_corpus(options.dataset or DEFAULT_CORPUS),
        case_ids=options.case_id,
        max_cases=options.max_cases,
        split=options.split,
        order=options.order,
    )
    count = options.shard.count if options.shard else shard_count(os.environ) or 1
    parts: dict[int, list[Case]] = {}
    for case in cases:
        parts.setdefault(shard_index(case.capture.name, count), []).append(case)
    paces = _paces(options.output_dir)
    return [
        Job(
            scenario.name,
            index,
            count,
            len(part),
            pace.of(part) if (pace := paces.get(scenario.name)) else None,
            pace.memory_bytes if pace and pace.memory_bytes else _weights_bytes(scenario),
        )
        for scenario in chosen
        for index, part in sorted(parts.items())
    ]


def told(jobs: Sequence[Job]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table of jobs, and behind them what they come to."""
    yield tuple(_HEADINGS.split())
    for job in jobs:
        yield job.scenario, f"{job.index}/{job.count}", str(job.cases), _seconds(job.seconds), _memory(job.memory_bytes)


def summed(jobs: Sequence[Job]) -> str:
    """Return what jobs come to, and how to start them, in a line."""
    known = [job.seconds for job in jobs if job.seconds is not None]
    times = f"{sum(known):.0f} s of work, the longest {max(known):.0f} s" if known else "no earlier run shows how long"
    unknown = len(jobs) - len(known)
    times += f" ({unknown} not known)" if known and unknown else ""
    count = jobs[0].count
    array = array_of(job.index for job in jobs)
    start = f"; as an array: {COUNT}={count}, --array={array}" if count > 1 else ""
    return f"{len(jobs)} jobs, {times}{start}"


def _seconds(seconds: float | None) -> str:
    return _UNKNOWN if seconds is None else f"{seconds:.0f}"


def _memory(size: int | None) -> str:
    return _UNKNOWN if size is None else f"{size / 1e9:.1f} GB"


def _weights_bytes(scenario: Scenario) -> int | None:
    known = known_model(scenario.model)
    if known is not None:
        return known.size
    local = Path(scenario.model).expanduser()
    return local.stat().st_size if local.is_file() else None


def _paces(folder: Path) -> dict[str, _Pace]:
    """Return how long scenarios took on this kind of machine, by the newest result of each, shards included."""
    here, newest = hardware(), dict[str, StoredResult]()
    if not folder.is_dir():
        return {}
    for path in files_below(folder, RESULT_SUFFIXES, lambda _: None):
        try:
            result = read_result(path)
        except InputError:
            continue
        run = result.record.run
        if run is not None and result.cases and _is_here(run, here):
            known = newest.get(result.name)
            if known is None or (len(result.cases), result.timestamp) > (len(known.cases), known.timestamp):
                newest[result.name] = result
    return {name: _pace(result) for name, result in newest.items()}


def _is_here(run: Run, here: Hardware) -> bool:
    then = run.environment
    return (then.cpu, then.cpu_cores_logical) == (here.cpu, here.cpu_cores_logical)


def _pace(result: StoredResult) -> _Pace:
    answered = [case for case in result.record.cases if isinstance(case, Answered)]
    seconds = {
        case.question.case_id: (case.generation.total_ms if case.elapsed_ms is None else case.elapsed_ms) / 1000
        for case in answered
    }
    read = sum(len(case.question.raw_input or "") for case in answered)
    warmup = result.record.warmup
    return _Pace(
        load_s=(warmup.load_ms or 0.0) / 1000,
        case_s=seconds,
        char_s=sum(seconds.values()) / read if read else 0.0,
        memory_bytes=warmup.cpu_rss_bytes,
    )

"""Scenarios that run together and are reported together: planned from the runner's options, run, written down."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from benchmark.cases import Corpus
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.matrix import Scenario, select_scenarios
from benchmark.record.journal import Shard
from benchmark.record.paths import (
    RUN_REPORTS,
    find_journals,
    report_names,
    result_beside,
    results_in,
    scenario_report_beside,
    shard_folders,
)
from benchmark.record.read import StoredResult, iterate_results, read_result
from benchmark.record.result import Outcome
from benchmark.run.case_workload import run_cases
from benchmark.run.device_pool import run_on_devices
from benchmark.run.options import RunnerOptions
from benchmark.run.plan import RequestedScenario, RunSettings, ScenarioPlan
from benchmark.run.preflight import NotReady, preflight
from benchmark.run.resume import (
    Past,
    cases_of,
    check_result,
    check_run,
    earlier_runs,
    finished,
    read_past,
    scenario_of,
)
from benchmark.run.scenario_run import Listener
from benchmark.run.selection import CaseOrder, select_cases
from benchmark.run.sharding import shard_of
from benchmark.run.stop import Stop
from ctxsift.errors import InputError
from ctxsift.files import exists, holds, temporary_of, write_atomically
from ctxsift.settings import load_settings

Listening = Callable[[], AbstractContextManager[Listener[Outcome]]]


@dataclass(frozen=True)
class RunGroup:
    """Scenarios that run together.

    Attributes:
        plans: those that can run, in order.
        not_ready: those that cannot.
        folders: of all of them.
        output_dir: where these are.
        timestamp: of the run.
        devices: the GPUs to spread them over.
        resumed: it is one scenario of an earlier run.
        damage: what of the journal of that run is damaged, for a person; None where nothing is.
        shard: that it is; None for whole runs.
        answered: journals of this shard that have all its answers already.

    """

    plans: tuple[ScenarioPlan, ...]
    not_ready: tuple[NotReady, ...]
    folders: frozenset[Path]
    output_dir: Path
    timestamp: str
    devices: tuple[str, ...]
    resumed: bool
    damage: str | None = None
    shard: Shard | None = None
    answered: tuple[Path, ...] = ()


Failed = Callable[[str, Exception, Path | None], None]


@dataclass(frozen=True)
class Planned:
    """What is to be done.

    Attributes:
        groups: with something left to ask.
        finished: journals of runs that have all their answers, and when these began.

    """

    groups: tuple[RunGroup, ...]
    finished: tuple[tuple[Path, str], ...] = ()


def plan_groups(options: RunnerOptions, scenarios: Sequence[Scenario], failed: Failed) -> Planned:
    """Return what the options ask for, checked before any of it runs.

    Args:
        options: checked.
        scenarios: the matrix.
        failed: called with what is wrong with a run that cannot be resumed; the others are returned.

    Raises:
        InputError: an option leads nowhere.

    """
    settings = load_settings(options.env_file)
    if (workers := options.ray_workers) is not None:
        from benchmark.run.ray_model import start_cluster

        # That it cannot be reached is said before anything else is done.
        start_cluster(workers)
    common = RunSettings(
        output_dir=options.output_dir,
        timestamp=datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"),
        settings=settings,
        folder_name=options.name,
        env_file=options.env_file,
        devices=options.device_names,
        remote=options.remote or settings.remote,
        allow_provider=options.allow_provider,
        case_timeout_s=options.case_timeout,
        retry_failed=options.retry_failed,
        forgive_latency=options.forgive_latency,
        prefix_caching=not options.no_prefix_caching,
        workers=workers,
        programs={scenario.name: scenario for scenario in scenarios if scenario.program is not None},
    )
    corpus = load_corpus(options.dataset or DEFAULT_CORPUS)
    if options.resume is None:
        return Planned((_new_group(options, common, scenarios, corpus),))
    groups, done = [], []
    for journal in find_journals(options.resume, unreadable=lambda error: failed(error.where, error, None)):
        with alone(str(journal), failed):
            if result := finished(journal, retry_failed=options.retry_failed):
                if not result.is_shard:
                    done.append((journal, result.timestamp))
                continue
            past = read_past(journal)
            check_result(journal)
            _check_writable(journal.parent, "--resume")
            groups.append(_resumed_group(past, scenario_of(past, scenarios, options.matrix), common, corpus))
    return Planned(tuple(groups), tuple(done))


@contextlib.contextmanager
def alone(name: str, failed: Failed, journal: Path | None = None) -> Iterator[None]:
    """Let whatever goes wrong inside cost nothing but this one thing.

    Args:
        name: of the thing.
        failed: called with the name, what was raised, and the journal.
        journal: with its answers, if it has one.

    """
    try:
        yield
    except Exception as error:  # also a mistake of ours must not cost the other runs their hours
        failed(name, error, journal)


def _new_group(options: RunnerOptions, common: RunSettings, scenarios: Sequence[Scenario], corpus: Corpus) -> RunGroup:
    chosen = select_scenarios(scenarios, names=options.scenario, phases=options.phase)
    # A race needs an order as good as drawn.
    order = options.order if options.race is None else CaseOrder.MIXED
    cases = select_cases(
        corpus, case_ids=options.case_id, max_cases=options.max_cases, split=options.split, order=order
    )
    _check_writable(common.output_dir, "--output-dir")
    named = None if options.race else options.shard or shard_of(os.environ)
    shard = Shard(index=named.index, count=named.count, case_ids=[case.case_id for case in cases]) if named else None
    cases = named.part_of(cases) if named else cases
    # A shard of few cases may be empty.
    checked = preflight(
        [RequestedScenario(scenario, cases, corpus, shard=shard) for scenario in chosen if cases], common
    )
    plans = tuple(entry for entry in checked if isinstance(entry, ScenarioPlan))
    answered: tuple[Path, ...] = ()
    if shard:
        plans, answered = continued(plans, shard_folders(common.output_dir, shard))
    elif options.race is not None:
        plans, answered = continued(plans, [common.output_dir], finished_too=True)
    return RunGroup(
        plans=plans,
        not_ready=tuple(entry for entry in checked if isinstance(entry, NotReady)),
        folders=frozenset(common.folder(scenario, shard) for scenario in chosen),
        output_dir=common.output_dir,
        timestamp=common.timestamp,
        devices=common.devices,
        resumed=False,
        shard=shard,
        answered=answered,
    )


def continued(
    plans: Sequence[ScenarioPlan], folders: Sequence[Path], *, finished_too: bool = False
) -> tuple[tuple[ScenarioPlan, ...], tuple[Path, ...]]:
    """Return what is left of runs that were begun before, and the journals of those that have all answers already.

    Args:
        plans: as if nothing had been begun.
        folders: where earlier runs are looked for.
        finished_too: a run that has all its answers is left, too.

    """
    left, answered = [], []
    for plan in plans:
        earlier = [run for folder in folders for run in earlier_runs(folder, plan.identity)]
        best = max(earlier, key=lambda run: (run.finished, run.answers), default=None)
        if best is None:
            left.append(plan)
        elif best.finished and not finished_too:
            answered.append(best.journal)
        else:
            identity = replace(plan.identity, timestamp=best.timestamp)
            left.append(dataclasses.replace(plan, journal=best.journal, identity=identity, resumed=True))
    return tuple(left), tuple(answered)


def _resumed_group(past: Past, scenario: Scenario, common: RunSettings, corpus: Corpus) -> RunGroup:
    timestamp = past.identity.timestamp
    shard = past.identity.shard
    (checked,) = preflight(
        [RequestedScenario(scenario, cases_of(past, corpus), corpus, past.path, timestamp, shard)], common
    )
    if isinstance(checked, ScenarioPlan):
        check_run(past, checked.identity)
    return RunGroup(
        plans=(checked,) if isinstance(checked, ScenarioPlan) else (),
        not_ready=(checked,) if isinstance(checked, NotReady) else (),
        folders=frozenset({past.path.parent}),
        output_dir=past.path.parent,
        timestamp=timestamp,
        devices=common.devices,
        resumed=True,
        damage=past.damage,
        shard=shard,
    )


def _check_writable(folder: Path, option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Without a name where that is possible: nothing stays of a process that is killed.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{option} {folder}", f"cannot be written ({reason})", "name another folder") from error


def run_group(
    group: RunGroup, references: ReferenceScores, stop: Stop, listening: Listening, failed: Failed
) -> list[StoredResult]:
    """Run the scenarios of a group, write the result of each as it ends, and return the results.

    Args:
        group: what to run.
        references: gold and the baselines.
        stop: ends it early; scenarios that were not begun have no result.
        listening: gives a listener for one scenario.
        failed: called with what is wrong with a scenario whose files are not all written; the others run.

    """
    results: list[StoredResult] = []
    lock = threading.Lock()

    def run_one(plan: ScenarioPlan) -> None:
        with alone(plan.scenario.name, failed, plan.journal):
            with listening() as listener:
                path = run_cases(plan, references, listener, stop)
            result = read_result(path)
            with lock:
                results.append(result)
                if group.shard is None:
                    write_atomically(scenario_report_beside(path), scenario_report(result))

    run_on_devices(group.plans, group.devices, stop, run_one)
    return results


def write_reports(
    group: RunGroup, results: Sequence[StoredResult], unreadable: Callable[[InputError], None]
) -> list[Path]:
    """Write the reports of a group, print its leaderboard, and return all files of it; a shard has results alone.

    Args:
        group: that ran.
        results: that came of it.
        unreadable: called with what is wrong with another result in its folder, which is left out.

    Raises:
        OSError: a report cannot be written.

    """
    from benchmark.cli.console import terminal
    from benchmark.render.terminal import print_board

    if not results or group.shard:
        return [result.path for result in results]
    if group.resumed:
        # Of a run of several scenarios, the others belong to the report, too.
        results = list(iterate_results(sorted(group.folders), skip=unreadable))
    if len(group.folders) == 1:
        (folder,), names = group.folders, RUN_REPORTS
    else:
        folder, names = group.output_dir, report_names(group.timestamp)
    reports = [folder / name for name in names]
    for report, text in zip(reports, _run_reports(results), strict=True):
        write_atomically(report, text)
    print_board(terminal(), results)
    return [*(result.path for result in results), *reports]


def restore_reports(
    journal: Path, timestamp: str, seen: set[Path], unreadable: Callable[[InputError], None]
) -> list[Path]:
    """Write what is missing of the reports of a finished run, or older than its results; return what was written.

    Args:
        journal: of the run.
        timestamp: when it began.
        seen: reports that were looked at for another scenario of the run; grows.
        unreadable: called with what is wrong with a result in its folder, which is left out.

    Raises:
        InputError: the result cannot be read.
        OSError: a report cannot be written.

    """
    path = result_beside(journal)
    folder, own, written = path.parent, scenario_report_beside(path), []
    if _is_due(own, [path]) and _bring_up(own, scenario_report(read_result(path))):
        written.append(own)
    # A run of several scenarios, each in a folder of its own, has its reports beside these folders; what is resumed
    # later has one of its own.
    reports, sources = [folder.parent / name for name in report_names(timestamp)], list[Path]()
    if not any(exists(place) for report in reports for place in (report, temporary_of(report))):
        reports, sources = [folder / name for name in RUN_REPORTS], results_in(folder)
    if seen.isdisjoint(reports) and any(_is_due(report, sources) for report in reports):
        found = iterate_results([reports[0].parent], skip=unreadable)
        texts = _run_reports([each for each in found if sources or each.timestamp == timestamp])
        written += [report for report, text in zip(reports, texts, strict=True) if _bring_up(report, text)]
    seen.update(reports)
    return written


def _is_due(report: Path, results: Sequence[Path]) -> bool:
    """Say whether a report is missing, was being written when its writer was killed, or is older than a result."""
    if not exists(report) or exists(temporary_of(report)):
        return True
    return any(report.stat().st_mtime_ns < result.stat().st_mtime_ns for result in results)


def _bring_up(report: Path, text: str) -> bool:
    """Write a report that is not there yet with this text, and say whether it was not."""
    # A tree that was copied has any order of times.
    if not exists(temporary_of(report)) and holds(report, text):
        return False
    write_atomically(report, text)
    return True


def scenario_report(result: StoredResult) -> str:
    """Return the report of one scenario, in Markdown."""
    from benchmark.render.markdown import scenario_markdown

    return scenario_markdown(result)


def _run_reports(results: Sequence[StoredResult]) -> tuple[str, str]:
    """Return the texts of the report and of the case table of a run."""
    from benchmark.render.csv import case_csv
    from benchmark.render.markdown import run_markdown

    return run_markdown(results), case_csv(results)

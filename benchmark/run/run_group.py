"""Scenarios that run together and are reported together: planned from the runner's options, run, written down."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmark.cases import Corpus
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.matrix import Scenario, select_scenarios
from benchmark.record.paths import CASES_NAME, REPORT_NAME, report_names, scenario_report_beside
from benchmark.record.read import StoredResult, find_results, stored
from benchmark.record.result import Result
from benchmark.record.write import write_result
from benchmark.run.device_pool import run_on_devices
from benchmark.run.options import RunnerOptions
from benchmark.run.plan import Asked, RunSettings, ScenarioPlan
from benchmark.run.preflight import NotReady, preflight
from benchmark.run.provenance import result_of
from benchmark.run.resume import Past, cases_of, check_run, find_journals, finished, read_past, scenario_of
from benchmark.run.scenario_run import Listener, run_scenario
from benchmark.run.selection import select_cases
from benchmark.run.stop import Stop
from ctxsift.errors import InputError
from ctxsift.files import write_atomically
from ctxsift.settings import load_settings

Listening = Callable[[], AbstractContextManager[Listener]]


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

    """

    plans: tuple[ScenarioPlan, ...]
    not_ready: tuple[NotReady, ...]
    folders: frozenset[Path]
    output_dir: Path
    timestamp: str
    devices: tuple[str, ...]
    resumed: bool


@dataclass(frozen=True)
class Ran:
    """What came of a group; scenarios that were not started have no result."""

    results: tuple[StoredResult, ...]
    interrupted: bool


def run_groups(
    options: RunnerOptions, scenarios: Sequence[Scenario], refused: Callable[[InputError], None]
) -> list[RunGroup]:
    """Return what the options ask for, checked before any of it runs.

    Args:
        options: checked.
        scenarios: the matrix.
        refused: called with what is wrong with a run that cannot be resumed; the others are returned.

    Raises:
        InputError: an option leads nowhere.

    """
    common = RunSettings(
        output_dir=options.output_dir,
        timestamp=datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"),
        settings=load_settings(options.env_file),
        folder_name=options.name,
        env_file=options.env_file,
        devices=options.device_names,
        remote=options.remote,
        case_timeout_s=options.case_timeout,
        retry_failed=options.retry_failed,
        forgive_latency=options.forgive_latency,
    )
    corpus = load_corpus(options.dataset or DEFAULT_CORPUS)
    if options.resume is None:
        return [_new_group(options, common, scenarios, corpus)]
    journals = find_journals(options.resume)
    found: list[RunGroup] = []
    for journal in journals:
        if finished(journal, retry_failed=options.retry_failed):
            continue
        try:
            past = read_past(journal)
            _check_writable(journal.parent, "--resume")
            found.append(_resumed_group(past, scenario_of(past, scenarios, options.matrix), common, corpus))
        except InputError as error:
            refused(error)
    return found


def _new_group(options: RunnerOptions, common: RunSettings, scenarios: Sequence[Scenario], corpus: Corpus) -> RunGroup:
    chosen = select_scenarios(scenarios, names=options.scenario, phases=options.phase)
    cases = select_cases(corpus, case_ids=options.case_id, max_cases=options.max_cases)
    _check_writable(common.output_dir, "--output-dir")
    checked = preflight([Asked(scenario, cases, corpus) for scenario in chosen], common)
    return RunGroup(
        plans=tuple(entry for entry in checked if isinstance(entry, ScenarioPlan)),
        not_ready=tuple(entry for entry in checked if isinstance(entry, NotReady)),
        folders=frozenset(common.folder(scenario) for scenario in chosen),
        output_dir=common.output_dir,
        timestamp=common.timestamp,
        devices=common.devices,
        resumed=False,
    )


def _resumed_group(past: Past, scenario: Scenario, common: RunSettings, corpus: Corpus) -> RunGroup:
    timestamp = past.identity.timestamp
    (checked,) = preflight([Asked(scenario, cases_of(past, corpus), corpus, past.path, timestamp)], common)
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
    )


def _check_writable(folder: Path, option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".writable."):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{option} {folder}", f"cannot be written ({reason})", "name another folder") from error


def run_group(group: RunGroup, references: ReferenceScores, listening: Listening) -> Ran:
    """Run the scenarios of a group and write the result of each as it ends.

    Args:
        group: what to run.
        references: gold and the baselines.
        listening: gives a listener for one scenario.

    Raises:
        InputError, OSError: as `run_scenario` does, or a result cannot be written.

    """
    results: list[StoredResult] = []
    lock = threading.Lock()

    def run_one(plan: ScenarioPlan, stop: Stop) -> bool:
        with listening() as listener:
            ran = run_scenario(plan, references.embedder, listener, stop)
        with lock:
            record = result_of(ran, references)
            results.append(_written(plan.result, record))
        return ran.interrupted

    interrupted = run_on_devices(group.plans, group.devices, run_one)
    return Ran(tuple(results), interrupted)


def _written(path: Path, record: Result) -> StoredResult:
    from benchmark.render.markdown import scenario_markdown

    write_result(path, record)
    result = stored(path, record)
    write_atomically(scenario_report_beside(path), scenario_markdown(result))
    return result


def write_reports(group: RunGroup, results: Sequence[StoredResult]) -> list[Path]:
    """Write the reports of a group, print its leaderboard, and return all files of it. Raises OSError."""
    from benchmark.cli.console import terminal
    from benchmark.render.csv import case_csv
    from benchmark.render.markdown import run_markdown
    from benchmark.render.terminal import print_board

    if not results:
        return []
    if group.resumed:
        # Of a run of several scenarios, the others belong to the report, too.
        results = find_results(sorted(group.folders))
    if len(group.folders) == 1:
        (folder,), names = group.folders, (REPORT_NAME, CASES_NAME)
    else:
        folder, names = group.output_dir, report_names(group.timestamp)
    report, cases = (folder / name for name in names)
    write_atomically(report, run_markdown(results))
    write_atomically(cases, case_csv(results))
    print_board(terminal(), results)
    return [*(result.path for result in results), report, cases]

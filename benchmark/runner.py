"""`python -m benchmark.runner`: runs scenarios of the matrix over the corpus and scores every answer."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    BenchmarkParser,
    command_parser,
    delivered,
    run_command,
)
from benchmark.matrix import Scenario, load_matrix
from benchmark.run.options import RunnerOptions, add_options, options_of
from ctxsift.errors import InputError
from ctxsift.files import exists
from ctxsift.scratch import remove_left
from ctxsift.terminal import show, show_columns, tell

if TYPE_CHECKING:
    from benchmark.grading.baselines import ReferenceScores
    from benchmark.record.journal import Shard
    from benchmark.record.read import StoredResult
    from benchmark.run.run_group import Planned, RunGroup
    from benchmark.run.stop import Stop

# Of matrix.json.
PHASES = ("control", "cpu-screen", "cpu-hub", "gpu-screen", "remote-screen", "compressors", "before")
_EXAMPLES = f"""\
  python -m benchmark.runner --list-scenarios
  python -m benchmark.runner --phase cpu-screen --max-cases 8
  python -m benchmark.runner --scenario cpu-smollm2-135m-q4_1 --case-id java-root-cause-exact --show-output
  python -m benchmark.runner --status results/
  python -m benchmark.runner --resume results/
  python -m benchmark.runner --phase cpu-screen --shard 3/16
  python -m benchmark.runner --phase cpu-screen --race 3 --tolerance 1
  python -m benchmark.runner --phase gpu-screen --devices cuda:0,cuda:1
  python -m benchmark.runner --remote --env-file .env --scenario remote-gpt-4o-mini

Without --scenario or --phase, all enabled scenarios run. The phases in matrix.json are
  {", ".join(PHASES)}
"""
_FULL_MARKS = 100.0
# Scenarios that have one problem in common.
_MOST_NAMED = 5
_LISTED = "scenario track phase model quantization"
_EXIT_CODES = "0 all complete, 1 a scenario failed or is incomplete, 2 bad usage or input, 130 interrupted"


def build_parser() -> BenchmarkParser:
    """Return the parser; its options are those of `RunnerOptions`."""
    description = "Run scenarios from the matrix on the corpus, and score every answer."
    parser = command_parser("runner", description, examples=_EXAMPLES, exit_codes=_EXIT_CODES)
    add_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    # A run is its files; whoever reads along may leave.
    return run_command(build_parser(), _handle, argv, needs_stdout=False)


def _handle(parsed: argparse.Namespace) -> int:
    options = options_of(parsed)
    if options.status is not None:
        return _status(options, options.status)
    scenarios = load_matrix(options.matrix, asked=options.asks_for, left_out=_tell_row)
    if options.list_scenarios:
        _list_scenarios(scenarios)
        return delivered(EXIT_OK)
    options.check()
    if options.plan:
        return _plan(options, scenarios)
    return _run(options, scenarios)


def _tell_row(error: InputError) -> None:
    tell(f"left out of the matrix: {error}")


def _list_scenarios(scenarios: Sequence[Scenario]) -> None:
    told = [(s.name, s.track, s.phase, s.model, s.quantization, "" if s.enabled else "disabled") for s in scenarios]
    show_columns([(*_LISTED.split(), ""), *told])


def _status(options: RunnerOptions, path: Path) -> int:
    from benchmark.record.status import RunState, StatusReader, status_rows

    runs = StatusReader().statuses(path, lambda error: tell(f"left out: {error}"))
    show_columns(list(status_rows(runs)))
    if any(run.state in (RunState.INTERRUPTED, RunState.FAILED) for run in runs):
        tell(f"to resume what was interrupted: {options.resume_command(path)}")
    return delivered(EXIT_OK)


def _plan(options: RunnerOptions, scenarios: Sequence[Scenario]) -> int:
    from benchmark.run.jobs import planned_jobs, summed, told

    jobs = planned_jobs(options, scenarios)
    show_columns(list(told(jobs)))
    show(summed(jobs))
    return delivered(EXIT_OK)


def _run(options: RunnerOptions, scenarios: Sequence[Scenario]) -> int:
    from benchmark.grading.baselines import ReferenceScores
    from benchmark.run.run_group import plan_groups
    from benchmark.run.signals import stopping_by_signals
    from benchmark.run.stop import Stop
    from benchmark.scoring import Embedder

    remove_left()
    faults, stop = _Faults(options), Stop()
    planned = plan_groups(options, scenarios, faults.tell)
    for group in planned.groups:
        _tell_readiness(group, options)
    references = ReferenceScores(Embedder())
    if options.race is not None:
        return _race(options, options.race, planned.groups[0], references, stop, faults)
    codes, ran = [EXIT_OK], []
    with stopping_by_signals(stop):
        for group in planned.groups:
            if not stop.requested:
                ran.append(_run_one_group(group, references, stop, options, faults))
                codes.append(EXIT_OK if ran[-1].complete else EXIT_FAILED)
        restored = not stop.requested and _restore(planned, faults)
        if stop.requested:
            _tell_interruption(planned, ran, options)
            return EXIT_INTERRUPTED
    _tell_of_gold([result for each in ran for result in each.results], options.dataset)
    if not planned.groups and not restored and faults.code == EXIT_OK:
        tell(f"nothing to resume below {options.resume}; every run is complete")
    return max(*codes, faults.code)


def _race(
    options: RunnerOptions, top: int, group: RunGroup, references: ReferenceScores, stop: Stop, faults: _Faults
) -> int:
    from rich.console import Console

    from benchmark.analysis.race import RaceRules
    from benchmark.render.progress import RunProgress
    from benchmark.run.racing import RacingScenarios, check_race, raced_rows, raced_sentence
    from benchmark.run.run_group import alone, write_reports
    from benchmark.run.signals import stopping_by_signals

    rules, plans = RaceRules(top, options.tolerance / 100), group.plans
    check_race(plans, rules)
    shown = RunProgress(Console(stderr=True), len(plans), len(plans[0].cases), show_output=options.show_output)
    with stopping_by_signals(stop), shown as progress:
        raced = RacingScenarios(plans, rules, references, stop, progress.scenario, faults.tell).run(
            options.budget, tell
        )
    with alone("reports", faults.tell, plans[0].journal):
        results = [racer.result for racer in raced.racers if racer.result is not None]
        for path in write_reports(group, results, _left_out):
            show(str(path))
    show_columns(list(raced_rows(raced)))
    show(raced_sentence(raced, rules))
    if stop.requested:
        tell("interrupted; rerun the same command to continue the race")
        return EXIT_INTERRUPTED
    return max(EXIT_OK if raced.decided and not group.not_ready else EXIT_FAILED, faults.code)


class _Faults:
    """Says in one line what is wrong with one run, scenario or report, so that the others still run."""

    def __init__(self, options: RunnerOptions) -> None:
        self._options = options
        self._lock = threading.Lock()
        self.code = EXIT_OK

    def tell(self, name: str, error: Exception, journal: Path | None) -> None:
        """Leave one out, and say how to get it after all."""
        text, code = str(error), EXIT_FAILED
        if isinstance(error, InputError):
            code = EXIT_USAGE
        elif isinstance(error, OSError):
            text += f"; {name}: {self._way_on(journal)}"
        else:
            text = f"{name}: a mistake of this program, please report it: {_place(error)}; {self._way_on(journal)}"
        tell(f"error: {text}")
        with self._lock:
            self.code = max(self.code, code)

    def _way_on(self, journal: Path | None) -> str:
        if journal is None or not exists(journal):
            return "fix that, then run it again"
        resume = self._options.resume_command(self._options.resume or journal.parent)
        return f"what was answered is in its journal; fix that, then resume: {resume}"


def _place(error: BaseException) -> str:
    """Return what was raised, and where."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"


def _tell_readiness(group: RunGroup, options: RunnerOptions) -> None:
    """Say which scenarios cannot run, and which have an unfinished run already."""
    from benchmark.run.resume import earlier_runs

    if group.damage:
        tell(group.damage)
    by_problem: dict[str, list[str]] = {}
    for gap in group.not_ready:
        by_problem.setdefault(gap.problem, []).append(gap.scenario.name)
    for problem, names in by_problem.items():
        tell(_gap_line(problem, names))
    if group.shard:
        _tell_shard(group, group.shard)
        return
    if options.race is not None:
        for plan in group.plans:
            if plan.resumed:
                tell(f"{plan.scenario.name}: continues the race with the answers in {plan.journal.parent}")
        return
    for plan in group.plans:
        for run in [] if plan.resumed else earlier_runs(group.output_dir, plan.identity):
            if not run.finished:
                found = f"an unfinished run of the same has {run.answers} of {len(plan.cases)} answers"
                resume = options.resume_command(run.journal.parent)
                tell(f"{plan.scenario.name}: {found}; to resume it: {resume}")


def _gap_line(problem: str, names: Sequence[str]) -> str:
    """Return one line about all scenarios that have the same problem; where they are many, a few are named."""
    if len(names) == 1:
        return f"not ready: {names[0]}: {problem}"
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{len(names)} scenarios are not ready: {problem}: {', '.join(names[:_MOST_NAMED])}{more}"


def _tell_shard(group: RunGroup, shard: Shard) -> None:
    if not group.plans and not group.answered and not group.not_ready:
        tell(f"shard {shard} contains none of these {len(shard.case_ids)} cases; nothing to run")
    for plan in group.plans:
        what = "goes on in" if plan.resumed else "goes into"
        cases = f"{len(plan.cases)} of {len(shard.case_ids)} cases"
        tell(f"{plan.scenario.name}: shard {shard}, {cases}, {what} {plan.journal.parent}")
    for journal in group.answered:
        tell(f"shard {shard} is complete: {journal}")


@dataclass(frozen=True)
class _Ran:
    """What came of a group; scenarios that were not begun, or failed, have no result."""

    group: RunGroup
    results: Sequence[StoredResult]

    @property
    def complete(self) -> bool:
        """Every scenario has all its answers."""
        results = [result for result in self.results if result.record.complete]
        return not self.group.not_ready and len(results) == len(self.group.plans)


def _run_one_group(
    group: RunGroup, references: ReferenceScores, stop: Stop, options: RunnerOptions, faults: _Faults
) -> _Ran:
    from rich.console import Console

    from benchmark.render.progress import RunProgress
    from benchmark.run.run_group import alone, run_group, write_reports

    if not group.plans:
        return _Ran(group, ())
    cases = len(group.plans[0].cases)
    with RunProgress(Console(stderr=True), len(group.plans), cases, show_output=options.show_output) as progress:
        results = run_group(group, references, stop, progress.scenario, faults.tell)
    with alone("reports", faults.tell, group.plans[0].journal):
        for path in write_reports(group, results, _left_out):
            show(str(path))
    if group.shard and not stop.requested:
        tell(f"when all shards are complete, run: python -m benchmark.merge {shlex.quote(str(options.output_dir))}")
    return _Ran(group, results)


def _tell_of_gold(results: Sequence[StoredResult], dataset: Path | None) -> None:
    """Say whether gold got full marks, where it was run: if not, no other score can be believed."""
    from benchmark.grading.baselines import GOLD

    for result in results:
        recovered = result.record.summary.recovered
        if result.is_reference and result.record.scenario.model == GOLD and recovered is not None:
            score = f"{recovered.final_score:.1f}"
            own = f" --dataset {shlex.quote(str(dataset))}" if dataset else ""
            why = f"but it must be {_FULL_MARKS:.1f}; to see why: python -m benchmark.corpus check{own}"
            is_full = math.isclose(recovered.final_score, _FULL_MARKS)
            show(f"{result.name}: {score}, {'as expected' if is_full else why}")


def _restore(planned: Planned, faults: _Faults) -> bool:
    """Write reports of finished runs that a kill left undone, and say whether there were any."""
    from benchmark.run.run_group import alone, restore_reports

    restored, seen = False, set[Path]()
    for journal, timestamp in planned.finished:
        with alone("reports", faults.tell, journal):
            for path in restore_reports(journal, timestamp, seen, _left_out):
                tell(f"{path} was missing or out of date; rewrote it")
                restored = True
    return restored


def _left_out(error: InputError) -> None:
    tell(f"left out of the report: {error}")


def _tell_interruption(planned: Planned, ran: Sequence[_Ran], options: RunnerOptions) -> None:
    """Say what there is, how to resume it, and what cannot be resumed."""
    from benchmark.record.result import has_answer

    results = [result for each in ran for result in each.results]
    done = sum(has_answer(case) for result in results for case in result.record.cases)
    plans = [plan for group in planned.groups for plan in group.plans]
    begun = {result.path for result in results}
    waiting = [plan for plan in plans if plan.result not in begun]
    folders = {plan.journal.parent for plan in plans}
    folder = options.resume or (folders.pop() if len(folders) == 1 else planned.groups[0].output_dir)
    kept = [plan for plan in waiting if exists(plan.journal)]
    lost = [plan.scenario.name for plan in waiting if plan not in kept]
    if kept or not all(result.record.complete for result in results):
        asked = sum(len(plan.cases) for plan in plans if plan not in kept)
        so_far = f"interrupted; {done} of {asked} answers are in {folder}"
        tell(f"{so_far}; to resume: {options.resume_command(folder)}")
    else:
        tell(f"interrupted; all {done} answers that were asked for are in {folder}; there is nothing to resume")
    if kept:
        tell(f"not resumed: {', '.join(plan.scenario.name for plan in kept)}; rerun the same command to resume")
    if lost:
        tell(f"not started: {', '.join(lost)}; there is nothing to resume; run them again")


if __name__ == "__main__":
    sys.exit(main())

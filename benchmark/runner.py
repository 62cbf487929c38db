"""Command line of the runner: options -> RunPlan -> run."""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from benchmark.matrix import DEFAULT_MATRIX, Scenario, load_matrix, select_scenarios
from ctxsift.errors import InputError

if TYPE_CHECKING:
    from benchmark.rollup import References
    from benchmark.run.plan import RunPlan
    from benchmark.run.preflight import Ready
    from benchmark.run.schedule import ScenarioRun
    from benchmark.stored import StoredResult

EXIT_COMPLETE, EXIT_INCOMPLETE, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130

_EXAMPLES = """\
examples:
  python -m benchmark.runner --list-scenarios
  python -m benchmark.runner --phase cpu-screen --max-cases 8
  python -m benchmark.runner --scenario cpu-smollm2-135m-q4_1 --case-id java-root-cause-exact --show-output
  python -m benchmark.runner --resume results/
  python -m benchmark.runner --phase gpu-screen --devices cuda:0,cuda:1
  python -m benchmark.runner --remote --env-file .env --scenario remote-gpt-4o-mini

exit codes: 0 all complete, 1 a scenario failed or is incomplete, 2 bad usage or input, 130 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """Refuses in one line, like every other bad input."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"error: {message}; see --help\n")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; every option of the runner is defined here and nowhere else."""
    parser = _Parser(
        prog="python -m benchmark.runner",
        description="Run scenarios of the matrix over the corpus and score every answer.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_argument_group("what to run")
    what.add_argument("--scenario", action="append", default=[], metavar="NAME", help="run this one (repeatable)")
    what.add_argument("--phase", action="append", default=[], help="run all enabled ones of this phase (repeatable)")
    what.add_argument("--max-cases", type=int, metavar="N", help="only the first N cases; 8 already show all intents")
    what.add_argument("--case-id", action="append", default=[], metavar="ID", help="only this case (repeatable)")
    what.add_argument("--list-scenarios", action="store_true", help="show the matrix and stop")
    what.add_argument(
        "--resume",
        type=Path,
        metavar="PATH",
        help="go on with the unfinished runs below PATH (run folder or results tree): ask what has no answer yet",
    )
    what.add_argument(
        "--retry-failed",
        action="store_true",
        help="with --resume: ask again, too, where the model answered with nothing or was cut off",
    )
    where = parser.add_argument_group("where things are")
    where.add_argument("--matrix", type=Path, default=DEFAULT_MATRIX, metavar="FILE", help="default: %(default)s")
    where.add_argument(
        "--dataset", type=Path, metavar="PATH", help="corpus folder or .jsonl; default: the packaged corpus"
    )
    where.add_argument("--output-dir", type=Path, default=Path("results"), metavar="DIR", help="default: %(default)s")
    where.add_argument("--name", help="put all scenarios of this run into one folder NAME-<UTC timestamp>")
    how = parser.add_argument_group("how")
    how.add_argument("--remote", action="store_true", help="allow remote scenarios: the corpus goes to a provider")
    how.add_argument("--env-file", type=Path, metavar="FILE", help="CTXSIFT_* settings; the environment wins")
    how.add_argument(
        "--devices",
        metavar="LIST",
        help="GPUs to use, e.g. cuda:0,cuda:1: one scenario on each at a time; default: the first",
    )
    how.add_argument(
        "--case-timeout",
        type=float,
        metavar="SECONDS",
        help="how long one answer of a local model may take; default: 60 s and what its tokens take on a slow machine",
    )
    how.add_argument(
        "--forgive-latency",
        action="store_true",
        help="leave latency out of the score of a scenario while which the machine was disturbed; reports say so",
    )
    how.add_argument("--show-output", action="store_true", help="print every answer as it comes")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = build_parser().parse_args(argv)
    try:
        scenarios = load_matrix(options.matrix)
        if options.list_scenarios:
            _list_scenarios(scenarios)
            sys.stdout.flush()
            return EXIT_COMPLETE
        return _run(options, scenarios)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader has gone (`| head`); what it did not want is nobody's loss.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_COMPLETE
    except OSError as error:
        # A full or vanished disk: what was written before is whole, and is all there is.
        folder = options.resume or options.output_dir
        so_far = f"answers so far are in the journals below {folder}"
        print(f"error: {error}; {so_far}; once that is mended, go on: {_go_on(options, folder)}", file=sys.stderr)
        return EXIT_INCOMPLETE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED


def _list_scenarios(scenarios: Sequence[Scenario]) -> None:
    rows = [("scenario", "track", "phase", "model", "quantization", "")]
    rows += [(s.name, s.track, s.phase, s.model, s.quantization, "" if s.enabled else "disabled") for s in scenarios]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _run(options: argparse.Namespace, scenarios: Sequence[Scenario]) -> int:
    from benchmark.rollup import References
    from benchmark.run.signals import heed_termination
    from benchmark.scoring import Embedder

    heed_termination()
    codes = [EXIT_COMPLETE]

    def tell(error: InputError) -> None:
        """Leave one run out, and go on with the others."""
        print(f"error: {error}", file=sys.stderr)
        codes.append(EXIT_USAGE)

    if options.resume:
        plans = _plans_to_resume(options, scenarios, tell)
        if not plans and codes == [EXIT_COMPLETE]:
            print(f"nothing to go on with below {options.resume}: every run has all its answers", file=sys.stderr)
    else:
        plans = [_plan(options, _selected(options, scenarios))]
    # All of them are checked before the first runs.
    checked = []
    for plan in plans:
        try:
            checked.append((plan, *_ready(plan, options)))
        except InputError as error:
            tell(error)
    references = References(Embedder())
    for plan, ready, complete in checked:
        try:
            codes.append(_run_plan(plan, ready, references, options) if ready else EXIT_INCOMPLETE)
        except InputError as error:
            tell(error)
        if codes[-1] == EXIT_INTERRUPTED:
            break
        codes.append(EXIT_COMPLETE if complete else EXIT_INCOMPLETE)
    return max(codes)


def _selected(options: argparse.Namespace, scenarios: Sequence[Scenario]) -> tuple[Scenario, ...]:
    return select_scenarios(scenarios, names=options.scenario, phases=options.phase)


def _plans_to_resume(
    options: argparse.Namespace, scenarios: Sequence[Scenario], tell: Callable[[InputError], None]
) -> list[RunPlan]:
    """Return a plan for each unfinished run below --resume; one that cannot be gone on with is told."""
    from benchmark.run.resume import cases_of, find_journals, finished, read_past, scenario_of

    chosen = {
        "--scenario": options.scenario,
        "--phase": options.phase,
        "--case-id": options.case_id,
        "--max-cases": options.max_cases,
        "--name": options.name,
    }
    for option, value in chosen.items():
        if value:
            raise InputError(option, "cannot be used with --resume", "the run that is gone on with has its own")
    journals = [j for j in find_journals(options.resume) if not finished(j, retry_failed=options.retry_failed)]
    plan = _plan(options, ())
    plans = []
    for journal in journals:
        try:
            past = read_past(journal)
            _check_writable(journal.parent, "--resume")
            scenario, cases = scenario_of(past, scenarios, options.matrix), cases_of(past, plan.corpus)
        except InputError as error:
            tell(error)
            continue
        timestamp = past.identity["timestamp"]
        run = {"timestamp": timestamp, "output_dir": journal.parent, "past": past}
        plans.append(replace(plan, scenarios=(scenario,), cases=cases, **run))
    return plans


def _ready(plan: RunPlan, options: argparse.Namespace) -> tuple[list[Ready], bool]:
    """Return the scenarios that can run, and whether these are all; what is wrong with the others is told."""
    from benchmark.run.preflight import Ready, preflight
    from benchmark.run.resume import check_identity, unfinished
    from benchmark.run.schedule import identity_of

    checked = preflight(plan, remote=options.remote)
    ready = [entry for entry in checked if isinstance(entry, Ready)]
    for gap in checked:
        if not isinstance(gap, Ready):
            print(f"not ready: {gap.scenario.name}: {gap.problem}", file=sys.stderr)
    for entry in ready:
        identity = identity_of(plan, entry)
        if plan.past is not None:
            check_identity(plan.past, identity)
            continue
        for folder, answers in unfinished(plan.output_dir, identity):
            note = f"{entry.scenario.name}: an unfinished run of the same has {answers} of {len(plan.cases)} answers"
            print(f"{note}; to go on with it: {_go_on(options, folder)}", file=sys.stderr)
    return ready, len(ready) == len(checked)


def _go_on(options: argparse.Namespace, folder: Path) -> str:
    """Return the command that goes on with what is in a folder."""
    words = ["python -m benchmark.runner --resume", shlex.quote(str(folder))]
    given = (("--matrix", options.matrix, DEFAULT_MATRIX), ("--dataset", options.dataset, None))
    words += [f"{name} {shlex.quote(str(value))}" for name, value, usual in given if value != usual]
    words += ["--remote"] if options.remote else []
    words += [f"--env-file {shlex.quote(str(options.env_file))}"] if options.env_file else []
    words += [f"--devices {shlex.quote(options.devices)}"] if options.devices else []
    words += [f"--case-timeout {options.case_timeout:g}"] if options.case_timeout else []
    words += ["--forgive-latency"] if options.forgive_latency else []
    words += ["--retry-failed"] if options.retry_failed else []
    return " ".join(words)


def _run_plan(plan: RunPlan, ready: Sequence[Ready], references: References, options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.progress import RunProgress
    from benchmark.run.lanes import Stop, run_in_lanes
    from benchmark.run.schedule import run_scenario

    results: list[StoredResult] = []
    lock = threading.Lock()
    with RunProgress(Console(stderr=True), len(ready), len(plan.cases), show_output=plan.show_output) as progress:

        def run_one(entry: Ready, stop: Stop) -> bool:
            with progress.scenario() as listener:
                run = run_scenario(plan, entry, references.embedder, listener, stop)
            with lock:
                results.append(_write(plan, run, references))
            return run.interrupted

        interrupted = run_in_lanes(ready, plan.devices, run_one)
    _report(plan, results)
    if interrupted:
        done = sum(len(result.cases) for result in results)
        folders = {plan.folder(entry.scenario) for entry in ready}
        folder = options.resume or (folders.pop() if len(folders) == 1 else plan.output_dir)
        so_far = f"interrupted; {done} of {len(plan.cases) * len(ready)} answers are in {folder}"
        print(f"{so_far}; to go on: {_go_on(options, folder)}", file=sys.stderr)
        begun = {result.name for result in results}
        if waiting := [entry.scenario.name for entry in ready if entry.scenario.name not in begun]:
            print(f"not begun: {', '.join(waiting)}; they have nothing to go on with, run them anew", file=sys.stderr)
        return EXIT_INTERRUPTED
    complete = all(result.record["run"]["complete"] for result in results)
    return EXIT_COMPLETE if complete else EXIT_INCOMPLETE


def _plan(options: argparse.Namespace, scenarios: tuple[Scenario, ...]) -> RunPlan:
    from benchmark.corpus import DEFAULT_CORPUS, load_corpus
    from benchmark.run.plan import RunPlan, select_cases
    from ctxsift.settings import load_settings

    if options.name is not None and (not options.name or Path(options.name).name != options.name):
        raise InputError(f"--name {options.name}", "is no folder name", "leave out slashes")
    if options.retry_failed and not options.resume:
        raise InputError("--retry-failed", "needs --resume", "name the run with --resume PATH")
    if options.case_timeout is not None and not 0 < options.case_timeout < math.inf:
        raise InputError(f"--case-timeout {options.case_timeout}", "is no time", "give seconds above 0")
    settings = load_settings(options.env_file)
    corpus = load_corpus(options.dataset or DEFAULT_CORPUS)
    cases = select_cases(corpus, case_ids=options.case_id, max_cases=options.max_cases)
    if not options.resume:
        _check_writable(options.output_dir, "--output-dir")
    return RunPlan(
        scenarios=scenarios,
        cases=cases,
        corpus=corpus,
        output_dir=options.output_dir,
        timestamp=datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"),
        settings=settings,
        folder_name=options.name,
        show_output=options.show_output,
        env_file=options.env_file.resolve() if options.env_file else None,
        devices=_devices(options.devices),
        retry_failed=options.retry_failed,
        case_timeout_s=options.case_timeout,
        forgive_latency=options.forgive_latency,
    )


def _devices(listed: str | None) -> tuple[str, ...]:
    devices = tuple(dict.fromkeys(listed.split(","))) if listed is not None else ()
    for device in devices:
        if not re.fullmatch(r"cuda:\d+", device):
            raise InputError(f"--devices {listed}", f"{device!r} is no GPU", "write e.g. cuda:0,cuda:1")
    return devices


def _check_writable(folder: Path, option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".writable."):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{option} {folder}", f"cannot be written ({reason})", "name another folder") from error


def _write(plan: RunPlan, run: ScenarioRun, references: References) -> StoredResult:
    from benchmark.documents import scenario_markdown
    from benchmark.results import build_result, write_atomically, write_result
    from benchmark.stored import as_result

    path = plan.folder(run.scenario) / f"{run.scenario.name}.json"
    record = build_result(plan, run, references)
    write_result(path, record)
    result = as_result(path, record, check=False)
    write_atomically(path.with_suffix(".md"), scenario_markdown(result))
    return result


def _report(plan: RunPlan, results: Sequence[StoredResult]) -> None:
    from benchmark.console import terminal
    from benchmark.documents import CASES_NAME, REPORT_NAME, case_csv, run_markdown
    from benchmark.report import print_summary
    from benchmark.results import write_atomically
    from benchmark.stored import find_results

    if not results:
        return
    folders = {plan.folder(scenario) for scenario in plan.scenarios}
    if plan.past is not None:
        # Of a run of several scenarios, the others belong to the report, too.
        results = find_results(folders)
    report, cases = plan.output_dir / f"report-{plan.timestamp}.md", plan.output_dir / f"cases-{plan.timestamp}.csv"
    if len(folders) == 1:
        report, cases = (folder / name for folder in folders for name in (REPORT_NAME, CASES_NAME))
    write_atomically(report, run_markdown(results))
    write_atomically(cases, case_csv(results))
    print_summary(terminal(), results)
    for result in results:
        print(result.path)
    print(report)
    print(cases)


if __name__ == "__main__":
    sys.exit(main())

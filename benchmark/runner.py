"""Command line of the runner: options -> RunPlan -> run."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from benchmark.matrix import DEFAULT_MATRIX, Scenario, load_matrix, select_scenarios
from ctxsift.errors import InputError

if TYPE_CHECKING:
    from benchmark.rollup import References
    from benchmark.run.plan import RunPlan
    from benchmark.run.schedule import ScenarioRun
    from benchmark.stored import StoredResult

EXIT_COMPLETE, EXIT_INCOMPLETE, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130

_EXAMPLES = """\
examples:
  python -m benchmark.runner --list-scenarios
  python -m benchmark.runner --phase cpu-screen --max-cases 8
  python -m benchmark.runner --scenario cpu-smollm2-135m-q4_1 --case-id java-root-cause-exact --show-output
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
        return _run(options, select_scenarios(scenarios, names=options.scenario, phases=options.phase))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader has gone (`| head`); what it did not want is nobody's loss.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_COMPLETE
    except OSError as error:
        # A full or vanished disk: what was written before is whole, and is all there is.
        print(f"error: {error}; answers so far are in the journals below {options.output_dir}", file=sys.stderr)
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


def _run(options: argparse.Namespace, scenarios: tuple[Scenario, ...]) -> int:
    from rich.console import Console

    from benchmark.progress import RunProgress
    from benchmark.rollup import References
    from benchmark.run.lanes import Stop, run_in_lanes
    from benchmark.run.preflight import Ready, preflight
    from benchmark.run.schedule import run_scenario
    from benchmark.scoring import Embedder

    plan = _plan(options, scenarios)
    console = Console(stderr=True)
    checked = preflight(plan, remote=options.remote)
    ready = [entry for entry in checked if isinstance(entry, Ready)]
    missing = [entry for entry in checked if not isinstance(entry, Ready)]
    for gap in missing:
        print(f"not ready: {gap.scenario.name}: {gap.problem}", file=sys.stderr)
    if not ready:
        return EXIT_INCOMPLETE
    references = References(Embedder())
    results: list[StoredResult] = []
    lock = threading.Lock()
    with RunProgress(console, len(ready), len(plan.cases), show_output=plan.show_output) as progress:

        def run_one(entry: Ready, stop: Stop) -> bool:
            with progress.scenario() as listener:
                run = run_scenario(plan, entry, references.embedder, listener, stop)
            with lock:
                results.append(_write(plan, run, references))
            return run.interrupted

        interrupted = run_in_lanes(ready, plan.devices, run_one)
    _report(plan, results)
    if interrupted:
        print(f"interrupted; the answers so far are below {plan.output_dir}", file=sys.stderr)
        return EXIT_INTERRUPTED
    complete = not missing and all(result.record["run"]["complete"] for result in results)
    return EXIT_COMPLETE if complete else EXIT_INCOMPLETE


def _plan(options: argparse.Namespace, scenarios: tuple[Scenario, ...]) -> RunPlan:
    from benchmark.corpus import DEFAULT_CORPUS, load_corpus
    from benchmark.run.plan import RunPlan, select_cases
    from ctxsift.settings import load_settings

    if options.name is not None and (not options.name or Path(options.name).name != options.name):
        raise InputError(f"--name {options.name}", "is no folder name", "leave out slashes")
    settings = load_settings(options.env_file)
    corpus = load_corpus(options.dataset or DEFAULT_CORPUS)
    cases = select_cases(corpus, case_ids=options.case_id, max_cases=options.max_cases)
    _check_writable(options.output_dir)
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
    )


def _devices(listed: str | None) -> tuple[str, ...]:
    devices = tuple(dict.fromkeys(listed.split(","))) if listed is not None else ()
    for device in devices:
        if not re.fullmatch(r"cuda:\d+", device):
            raise InputError(f"--devices {listed}", f"{device!r} is no GPU", "write e.g. cuda:0,cuda:1")
    return devices


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".writable."):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"--output-dir {folder}", f"cannot be written ({reason})", "name another folder") from error


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

    if not results:
        return
    folders = {plan.folder(scenario) for scenario in plan.scenarios}
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

"""`python -m benchmark.runner`: runs scenarios of the matrix over the corpus and scores every answer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    Parser,
    command_parser,
    run_command,
)
from benchmark.matrix import Scenario, load_matrix
from benchmark.run.options import RunnerOptions, add_options, options_of
from ctxsift.errors import InputError
from ctxsift.terminal import one_line

if TYPE_CHECKING:
    from benchmark.grading.baselines import ReferenceScores
    from benchmark.run.run_group import Ran, RunGroup

_EXAMPLES = """\
  python -m benchmark.runner --list-scenarios
  python -m benchmark.runner --phase cpu-screen --max-cases 8
  python -m benchmark.runner --scenario cpu-smollm2-135m-q4_1 --case-id java-root-cause-exact --show-output
  python -m benchmark.runner --resume results/
  python -m benchmark.runner --phase gpu-screen --devices cuda:0,cuda:1
  python -m benchmark.runner --remote --env-file .env --scenario remote-gpt-4o-mini
"""
_LISTED = "scenario track phase model quantization"
_EXIT_CODES = "0 all complete, 1 a scenario failed or is incomplete, 2 bad usage or input, 130 interrupted"


def build_parser() -> Parser:
    """Return the parser; its options are those of `RunnerOptions`."""
    description = "Run scenarios of the matrix over the corpus and score every answer."
    parser = command_parser("runner", description, examples=_EXAMPLES, exit_codes=_EXIT_CODES)
    add_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _handle, argv, on_os_error=_cannot_write)


def _handle(parsed: argparse.Namespace) -> int:
    options = options_of(parsed)
    scenarios = load_matrix(options.matrix)
    if options.list_scenarios:
        _list_scenarios(scenarios)
        return EXIT_OK
    options.check()
    return _run(options, scenarios)


def _cannot_write(parsed: argparse.Namespace, error: OSError) -> tuple[str, int]:
    """Return what to say of a full or vanished disk: what was written before is whole, and is all there is."""
    options = options_of(parsed)
    folder = options.resume or options.output_dir
    so_far = f"answers so far are in the journals below {folder}"
    return f"{error}; {so_far}; fix that, then resume: {options.resume_command(folder)}", EXIT_FAILED


def _list_scenarios(scenarios: Sequence[Scenario]) -> None:
    rows: list[tuple[str, ...]] = [(*_LISTED.split(), "")]
    rows += [(s.name, s.track, s.phase, s.model, s.quantization, "" if s.enabled else "disabled") for s in scenarios]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _run(options: RunnerOptions, scenarios: Sequence[Scenario]) -> int:
    from benchmark.grading.baselines import ReferenceScores
    from benchmark.run.run_group import run_groups
    from benchmark.run.signals import heed_termination
    from benchmark.scoring import Embedder

    heed_termination()
    bad_input = _BadInput()
    groups = run_groups(options, scenarios, bad_input.tell)
    if not groups and bad_input.code == EXIT_OK:
        print(f"nothing to resume below {options.resume}: every run has all its answers", file=sys.stderr)
    for group in groups:
        _tell_readiness(group, options)
    references = ReferenceScores(Embedder())
    codes = [EXIT_OK]
    for group in groups:
        try:
            codes.append(_run_one_group(group, references, options))
        except InputError as error:
            bad_input.tell(error)
        if codes[-1] == EXIT_INTERRUPTED:
            break
    return max(*codes, bad_input.code)


class _BadInput:
    """Says what is wrong with one run, so that the others still run."""

    def __init__(self) -> None:
        self.code = EXIT_OK

    def tell(self, error: InputError) -> None:
        """Leave a run out."""
        print(f"error: {error}", file=sys.stderr)
        self.code = EXIT_USAGE


def _tell_readiness(group: RunGroup, options: RunnerOptions) -> None:
    """Say which scenarios cannot run, and which have an unfinished run already."""
    from benchmark.run.resume import unfinished

    for gap in group.not_ready:
        print(one_line(f"not ready: {gap.scenario.name}: {gap.problem}"), file=sys.stderr)
    for plan in group.plans:
        for folder, answers in [] if plan.resumed else unfinished(group.output_dir, plan.identity):
            found = f"an unfinished run of the same has {answers} of {len(plan.cases)} answers"
            print(f"{plan.scenario.name}: {found}; to resume it: {options.resume_command(folder)}", file=sys.stderr)


def _run_one_group(group: RunGroup, references: ReferenceScores, options: RunnerOptions) -> int:
    from rich.console import Console

    from benchmark.render.progress import RunProgress
    from benchmark.run.run_group import run_group, write_reports

    if not group.plans:
        return EXIT_FAILED
    cases = len(group.plans[0].cases)
    with RunProgress(Console(stderr=True), len(group.plans), cases, show_output=options.show_output) as progress:
        ran = run_group(group, references, progress.scenario)
    for path in write_reports(group, ran.results):
        print(path)
    if ran.interrupted:
        _tell_interruption(group, ran, options)
        return EXIT_INTERRUPTED
    complete = not group.not_ready and all(result.record.complete for result in ran.results)
    return EXIT_OK if complete else EXIT_FAILED


def _tell_interruption(group: RunGroup, ran: Ran, options: RunnerOptions) -> None:
    """Say what there is, how to resume it, and what cannot be resumed."""
    done = sum(len(result.cases) for result in ran.results)
    planned = sum(len(plan.cases) for plan in group.plans)
    folders = {plan.journal.parent for plan in group.plans}
    folder = options.resume or (folders.pop() if len(folders) == 1 else group.output_dir)
    so_far = f"interrupted; {done} of {planned} answers are in {folder}"
    print(f"{so_far}; to resume: {options.resume_command(folder)}", file=sys.stderr)
    begun = {result.name for result in ran.results}
    if waiting := [plan.scenario.name for plan in group.plans if plan.scenario.name not in begun]:
        print(f"not started: {', '.join(waiting)}; there is nothing to resume; run them again", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

"""What commands that ask judges have in common: who judges, and `calibrate`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmark.cli.command import EXIT_INTERRUPTED, EXIT_OK, BenchmarkParser, add_json, positive, print_json
from benchmark.judges.calibrations import CALIBRATIONS, L, calibration_of, drawn, written
from benchmark.judges.named_judges import RULES, Judge, JudgeOptions, judges_of
from benchmark.judges.printing import calibration_json, print_calibration
from benchmark.judges.records import JudgedTask
from benchmark.judges.rubric import Criterion
from benchmark.matrix import DEFAULT_MATRIX
from ctxsift.terminal import tell

INTERRUPTED = "interrupted; rerun the same command to resume"
_CALIBRATE = "Measure how well a judge agrees with labelled answers, and report what its scores may be used for."


def add_who_judges(parser: argparse._ActionsContainer, judge: str, *, required: bool = True) -> None:
    """Add who judges, and how it is asked; see `judge_options`.

    Args:
        parser: or a group of it.
        judge: what --judge is for.
        required: whether somebody has to judge.

    """
    told = f"{RULES}, recorded:FILE, or a row of the matrix; {judge}"
    parser.add_argument("--judge", action="append", required=required, metavar="NAME", help=told)
    parser.add_argument("--repeats", type=positive, default=1, metavar="N", help="judge each answer N times")
    context = "also show the judge what the answerer saw: the command output, or the compacted session of a probe"
    parser.add_argument("--with-context", action="store_true", help=context)
    add_rows(parser, "allow rows that send answers to a service (or set CTXSIFT_REMOTE=1)")


def add_rows(parser: argparse._ActionsContainer, remote: str) -> None:
    """Add where the rows stand that may be asked, and their settings; `remote` is what --remote allows."""
    parser.add_argument(
        "--matrix",
        type=Path,
        default=DEFAULT_MATRIX,
        metavar="FILE",
        help=f"file that lists the rows; default: {DEFAULT_MATRIX} in this folder if there is one, otherwise the "
        "packaged one",
    )
    parser.add_argument("--remote", action="store_true", help=remote)
    parser.add_argument(
        "--env-file",
        type=Path,
        metavar="FILE",
        help="file with CTXSIFT_* settings; environment variables take precedence",
    )


def judge_options(options: argparse.Namespace, folder: Path, told: Callable[[str], None] = tell) -> JudgeOptions:
    """Return how judges are asked, their journals in a folder."""
    return JudgeOptions(
        folder, options.matrix, options.env_file, options.remote, options.repeats, options.with_context, told
    )


def criteria_named(names: Sequence[str] | None) -> tuple[Criterion, ...] | None:
    """Return criteria by name, in the order of the rubric; None where none is named."""
    return tuple(each for each in Criterion if each in names) if names else None


def add_calibrate(
    commands: argparse._SubParsersAction[BenchmarkParser], many: int, *, also_before: bool = False
) -> BenchmarkParser:
    """Add `calibrate`, and return it: which answers, its owner says.

    Args:
        commands: where it goes.
        many: how many labelled answers there are.
        also_before: the command above has --json as well.

    """
    calibrate = commands.add_parser("calibrate", help="measure how far a judge can be trusted", description=_CALIBRATE)
    add_who_judges(calibrate.add_argument_group("judging"), "repeat to calibrate several judges")
    most = f"use N of the labelled answers; default: all {many:,}"
    calibrate.add_argument("--most", type=positive, metavar="N", help=most)
    folder = f"write calibrations to DIR; default: {CALIBRATIONS}"
    calibrate.add_argument("-o", "--output", type=Path, default=CALIBRATIONS, metavar="DIR", help=folder)
    add_json(calibrate, also_before=also_before)
    return calibrate


def run_calibrate(
    options: argparse.Namespace,
    answers: Sequence[L],
    rules: Callable[[Sequence[L]], Judge],
    asked: JudgedTask = JudgedTask.PROBES,
) -> int:
    """Calibrate judges, write what comes of it, print it, and return the exit code.

    Args:
        options: as `add_calibrate` has them.
        answers: with labels; at most `--most` of them are drawn.
        rules: makes the built-in judge of those that were drawn.
        asked: what they answer.

    Raises:
        InputError: a judge is none, or cannot be asked.

    """
    chosen = drawn(answers, options.most)
    judges = judges_of(options.judge, judge_options(options, options.output / "journals"), lambda: rules(chosen))
    try:
        found = [calibration_of(chosen, judge, asked) for judge in judges]
    except KeyboardInterrupt:
        tell(INTERRUPTED)
        return EXIT_INTERRUPTED
    for each in found:
        tell(f"written: {written(each, options.output)}")
    if options.json:
        print_json([calibration_json(each) for each in found])
    else:
        for each in found:
            print_calibration(each)
    return EXIT_OK

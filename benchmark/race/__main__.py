"""`python -m benchmark.race`: what racing for the best K would have saved, and how often it is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.analysis.race import RaceRules
from benchmark.cli.command import EXIT_OK, BenchmarkParser, add_json, command_parser, positive, print_json, run_command
from benchmark.cli.console import terminal
from benchmark.race.boards import RaceBoard, board_of, drawn_board
from benchmark.race.charts import check_chart, write_chart
from benchmark.race.mistakes import RUNS, mistakes
from benchmark.race.printing import MISTAKES_TITLES, SIMULATED_TITLES, about, mistakes_rows, simulated_rows
from benchmark.race.simulating import Shuffled, orders, simulate
from benchmark.record.base import to_json
from benchmark.record.read import find_results
from benchmark.render.markdown import markdown_table
from benchmark.render.terminal import print_table
from ctxsift.errors import InputError
from ctxsift.files import refuse_input
from ctxsift.terminal import show

_EXAMPLES = """\
  python -m benchmark.race simulate results/
  python -m benchmark.race simulate results/ --top 1 3 --tolerance 0 1 --chart race.svg
  python -m benchmark.race simulate --drawn 28 --seed 1
  python -m benchmark.race mistakes --runs 1000 --markdown

A race runs a few cases at a time on all scenarios, and compares mean case scores. It stops a scenario as soon as it is
certain whether that scenario is among the best K, and continues with the others. docs/racing.md explains the rule and
its assumptions.
"""
_TOPS, _TOLERANCES, _ORDERS = (1, 3, 5), (0.0, 1.0, 2.0), 200


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "race",
        "Measure what a race for the best scenarios would save, and how often it picks the wrong scenarios.",
        examples=_EXAMPLES,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    replayed = commands.add_parser(
        "simulate", help="run races over stored results, with many different orderings of the cases"
    )
    replayed.add_argument(
        "paths", nargs="*", type=Path, metavar="RESULTS", help="results trees, run folders or result files"
    )
    replayed.add_argument(
        "--drawn", type=positive, metavar="N", help="race over N simulated results instead of RESULTS"
    )
    replayed.add_argument("--top", nargs="+", type=positive, default=_TOPS, metavar="K", help="find the K best results")
    replayed.add_argument(
        "--tolerance",
        nargs="+",
        type=_points,
        default=_TOLERANCES,
        metavar="T",
        help="ignore differences of up to T points of 100",
    )
    replayed.add_argument(
        "--orders",
        type=positive,
        default=_ORDERS,
        metavar="N",
        help="number of random orderings of the cases; default: %(default)s",
    )
    replayed.add_argument(
        "--shuffled",
        type=Shuffled,
        choices=list(Shuffled),
        default=Shuffled.CASES,
        help="what to shuffle for the random orderings; default: %(default)s",
    )
    replayed.add_argument(
        "--chart",
        type=Path,
        metavar="FILE.svg",
        help="write a chart that plots how often a race is right against the share of the answers that it needs",
    )
    replayed.set_defaults(handler=_simulate)
    wrong = commands.add_parser(
        "mistakes", help="run races on simulated results in the worst cases: ties, and differences near the tolerance"
    )
    wrong.add_argument(
        "--runs",
        type=positive,
        default=RUNS,
        metavar="N",
        help="number of races to run of each kind; default: %(default)s",
    )
    wrong.set_defaults(handler=_mistakes)
    for each in (replayed, wrong):
        each.add_argument("--seed", type=int, default=0, metavar="N", help="random seed; default: %(default)s")
        how = each.add_mutually_exclusive_group()
        add_json(how)
        how.add_argument("--markdown", action="store_true", help="print Markdown")
    return parser


def _points(text: str) -> float:
    """Return points of 100 as an option gives them. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 100:
        raise argparse.ArgumentTypeError(f"expected points from 0 to less than 100, got {text!r}")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), lambda options: int(options.handler(options)), argv)


def _simulate(options: argparse.Namespace) -> int:
    chart: Path | None = options.chart and check_chart(options.chart)
    refuse_input(chart, options.paths, option="--chart")
    board = _board(options)
    count = len(board.names)
    if (most := max(options.top)) >= count:
        raise InputError(f"--top {most}", f"is too many for {count} results", f"give 1 to {count - 1}")
    if options.shuffled is Shuffled.STRATIFIED and not board.intents.any():
        raise InputError(
            "--shuffled stratified", "needs the intent of each case, which these results do not record", "leave it out"
        )
    rules = [RaceRules(top, tolerance / 100) for top in options.top for tolerance in options.tolerance]
    drawn = list(orders(board, options.shuffled, options.orders, options.seed))
    found = list(simulate(board, rules, drawn))
    if chart:
        write_chart(found, chart)
    heading = about(board, options.orders, options.shuffled)
    _print(options, heading, SIMULATED_TITLES, simulated_rows(found), {"about": heading, "races": found})
    return EXIT_OK


def _board(options: argparse.Namespace) -> RaceBoard:
    if bool(options.paths) == bool(options.drawn):
        raise InputError(
            "simulate", "needs either stored or simulated results", "give RESULTS, or --drawn N, but not both"
        )
    if options.drawn:
        return drawn_board(options.drawn, np.random.default_rng(options.seed))
    return board_of(find_results(options.paths))


def _mistakes(options: argparse.Namespace) -> int:
    found = [each for shuffled in Shuffled for each in mistakes(shuffled, options.runs, options.seed)]
    heading = "Wrong: a chosen one was worse than one left out by more than the tolerance. Points of 100."
    _print(options, heading, MISTAKES_TITLES, mistakes_rows(found), {"about": heading, "boards": found})
    return EXIT_OK


def _print(
    options: argparse.Namespace, heading: str, titles: Sequence[str], rows: list[list[str]], document: dict[str, Any]
) -> None:
    if options.json:
        print_json(to_json(document))
    elif options.markdown:
        show(f"{heading}\n\n{markdown_table(titles, rows)}")
    else:
        show(heading)
        print_table(terminal(), titles, rows)


if __name__ == "__main__":
    sys.exit(main())

"""Compare results case by case: `python -m benchmark.compare A B`; more than two give a matrix of pairs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmark.analysis.caveats import refusals
from benchmark.analysis.comparison import Comparison, Comparisons, Measure, compare
from benchmark.analysis.gate import judge_drop
from benchmark.analysis.leaderboard import build_leaderboard
from benchmark.analysis.noise import noise
from benchmark.analysis.ranking import rank_results
from benchmark.analysis.speed import same_machine
from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_OK,
    BenchmarkParser,
    add_json,
    add_shown_results,
    command_parser,
    print_json,
    run_command,
    settle_shown_results,
)
from benchmark.cli.console import terminal
from benchmark.record.read import StoredResult, find_results
from benchmark.render.documents import matrix_document, pair_document
from benchmark.render.matrix import matrix_markdown, print_matrix
from benchmark.render.noise import noise_document, noise_markdown, print_noise
from benchmark.render.notes import refused, rescore_hint
from benchmark.render.pair import pair_markdown, print_pair
from ctxsift.errors import InputError
from ctxsift.terminal import show

_EXAMPLES = """\
  python -m benchmark.compare results/before/X.json results/after/X.json
  python -m benchmark.compare old.json new.json --fail-on-drop 1      (for CI)
  python -m benchmark.compare results/ --markdown > pairs.md
  python -m benchmark.compare --same results/RUN/X.json results/AGAIN/X.json      (differences by chance)

Intervals are 95% paired bootstrap intervals over the cases that both results answered; cases that share a capture are
resampled together. p values are Holm-corrected for the number of pairs or, in the table by intent, for the number of
intents. The intervals are adjusted to match. The verdict compares the quality core. Latency is compared separately, and
only on the same machine. An answer passes a case if it is usable, contains every anchor and scores 50 or more.
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "compare",
        "Compare two results (which one is better, by how much, and where), or all pairs of several results.",
        examples=_EXAMPLES,
        exit_codes="0 success, 1 the gate failed (--fail-on-drop) or stdout could not be written to, 2 bad usage or "
        "input, or the gate cannot decide (different scorer or corpus)",
    )
    add_shown_results(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--same",
        action="store_true",
        help="print how much two runs with the same model, weights, corpus and prompt differ by chance",
    )
    what.add_argument(
        "--fail-on-drop",
        type=float,
        metavar="X",
        help="exit with status 1 if the second result is worse than the first by more than X points, with 95%% "
        "confidence",
    )
    parser.add_argument(
        "--score",
        choices=[str(Measure.FINAL), str(Measure.CORE)],
        default=Measure.CORE,
        help="compare the quality core (default) or the final score. The final score includes latency, so it is only "
        "comparable on the same machine",
    )
    how = parser.add_mutually_exclusive_group()
    add_json(how)
    how.add_argument("--markdown", action="store_true", help="print Markdown")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _compare, argv)


def _compare(options: argparse.Namespace) -> int:
    settle_shown_results(options)
    results = find_results(options.paths)
    names = " ".join(map(str, options.paths))
    if len(results) < 2:
        raise InputError(names, "is only one result", "name two, or a folder that contains several")
    allowed: float | None = options.fail_on_drop
    measure = Measure(options.score)
    if options.same:
        return _print_noise(results, options)
    if len(results) > 2:
        if allowed is not None:
            problem = f"compares two results, but {names} contains {len(results)}"
            raise InputError("--fail-on-drop", problem, "name two result files: A, then B")
        return _print_matrix(results, measure, options)
    if allowed is not None and not allowed >= 0:
        raise InputError(f"--fail-on-drop {allowed}", "is not a number of points", "give 0 or more")
    return _print_pair(results[0], results[1], measure, options)


def _print_pair(a: StoredResult, b: StoredResult, measure: Measure, options: argparse.Namespace) -> int:
    comparison = compare(a, b)
    if options.fail_on_drop is not None:
        _refuse_gate(comparison, measure)
    gate = None if options.fail_on_drop is None else judge_drop(comparison, measure, options.fail_on_drop)
    if options.json:
        print_json(pair_document(comparison, gate))
    elif options.markdown:
        show(pair_markdown(comparison, gate))
    else:
        print_pair(terminal(), comparison, gate)
    return EXIT_OK if gate is None or gate.passed else EXIT_FAILED


def _refuse_gate(comparison: Comparison, measure: Measure) -> None:
    """Raise InputError where a difference would not be the model's."""
    pair = comparison.a, comparison.b
    if found := refused(pair):
        raise InputError("--fail-on-drop", "cannot tell: the results " + "; ".join(found), rescore_hint(pair))
    if measure is Measure.FINAL and not same_machine(*pair):
        problem = "the final score includes latency, and these results may come from different machines"
        raise InputError("--score final", problem, "leave out --score")


def _print_noise(results: Sequence[StoredResult], options: argparse.Namespace) -> int:
    if len(results) != 2:
        raise InputError("--same", f"compares two runs, but found {len(results)}", "name two result files")
    found = noise(*results)
    if options.json:
        print_json(noise_document(found))
    elif options.markdown:
        show(noise_markdown(found))
    else:
        print_noise(terminal(), found)
    return EXIT_OK


def _print_matrix(results: Sequence[StoredResult], measure: Measure, options: argparse.Namespace) -> int:
    comparisons = Comparisons()
    board = build_leaderboard(results, comparisons, with_all=True)
    ordered = [row.result for row in board.rows]
    ranking = rank_results(ordered, timed=measure is Measure.FINAL, comparisons=comparisons)
    if refusals(ordered):
        # What another scorer or corpus makes of a model is no place among these.
        board = replace(board, rows=tuple(replace(row, rank=None) for row in board.rows))
    if options.json:
        print_json(matrix_document(board, ranking))
    elif options.markdown:
        show(matrix_markdown(board, ranking, measure))
    else:
        print_matrix(terminal(), board, ranking, measure)
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())

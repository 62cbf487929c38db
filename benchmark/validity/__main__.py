"""`python -m benchmark.validity`: score answers whose truth is known."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_OK,
    BenchmarkParser,
    add_dataset,
    add_json,
    command_parser,
    print_json,
    run_command,
)
from benchmark.cli.console import terminal
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.corpus.answers import DEFAULT_ANSWERS, read_answers
from benchmark.corpus.model_answers import DEFAULT_MODEL_ANSWERS, read_model_answers
from benchmark.judges.commands import add_calibrate, run_calibrate
from benchmark.judges.records import JudgedTask
from benchmark.record.base import to_json
from benchmark.record.validity import MEASURED, Half, Judged, Validity, ValidityFigure, validity_text
from benchmark.scoring import Embedder
from benchmark.scoring.remarks import Remark
from benchmark.validity.labelled import labelled_prose, scorer_on
from benchmark.validity.measures import measure
from ctxsift.files import write_atomically
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line, show

# How many answers `calibrate` has.
LABELLED = 5791
_SETS = {"held-out": Half.HELD_OUT, "tuned": Half.TUNED}
_EXAMPLES = """\
  python -m benchmark.validity                       all figures with their required values, and the worst errors
  python -m benchmark.validity --json
  python -m benchmark.validity --write               store the figures for the viewer and the tests
  python -m benchmark.validity calibrate --judge rules --judge cpu-qwen2.5-coder-1.5b-q4_k_m --set held-out
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "validity",
        "Score answers that are known to be right or wrong (correct paraphrases, plausible wrong answers), and "
        "the baselines.",
        examples=_EXAMPLES,
        exit_codes="0 every figure meets its required value, 1 a figure does not or stdout could not be written to, 2 "
        "bad usage or input",
    )
    add_dataset(parser)
    parser.add_argument(
        "--answers",
        type=Path,
        default=DEFAULT_ANSWERS,
        metavar="FILE",
        help="file of known answers, with one JSON object per line",
    )
    parser.add_argument(
        "--labelled",
        type=Path,
        default=DEFAULT_MODEL_ANSWERS,
        metavar="FILE",
        help="file of model answers that two readers labelled, with one JSON object per line",
    )
    parser.set_defaults(run=_measure)
    parser.add_argument("--write", action="store_true", help="also store the figures for the viewer")
    add_json(parser)
    _add_calibrate(parser.add_subparsers(title="judges", metavar="calibrate", parser_class=BenchmarkParser))
    return parser


def _add_calibrate(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    calibrate = add_calibrate(commands, LABELLED, also_before=True)
    told = "use only answers that the scorer may have been tuned on, or only the held-out ones; default: both"
    calibrate.add_argument("--set", nargs="+", choices=list(_SETS), default=list(_SETS), metavar="NAME", help=told)
    # Whether these stand before the word or behind it.
    calibrate.add_argument("--dataset", type=Path, default=argparse.SUPPRESS, metavar="PATH", help="as above")
    calibrate.add_argument("--answers", type=Path, default=argparse.SUPPRESS, metavar="FILE", help="as above")
    calibrate.set_defaults(run=_calibrate)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _run, argv)


def _run(options: argparse.Namespace) -> int:
    code: int = options.run(options)
    return code


def _calibrate(options: argparse.Namespace) -> int:
    corpus, answers = load_corpus(options.dataset or DEFAULT_CORPUS), read_answers(options.answers)
    halves = {_SETS[name] for name in options.set}
    labelled = labelled_prose(corpus, answers, halves, with_context=options.with_context)
    return run_calibrate(options, labelled, lambda some: scorer_on(some, Embedder()), JudgedTask.CASES)


def _measure(options: argparse.Namespace) -> int:
    answers = read_answers(options.answers)
    labelled = read_model_answers(options.labelled)
    validity = measure(load_corpus(options.dataset or DEFAULT_CORPUS), answers, labelled, Embedder())
    if options.write:
        write_atomically(MEASURED, validity_text(validity))
    if options.json:
        print_json(to_json(validity))
    else:
        _print(validity)
    return EXIT_OK if validity.met else EXIT_FAILED


def _print(validity: Validity) -> None:
    console = terminal()
    for half in Half:
        figures = [figure for figure in validity.figures if figure.half is half]
        if figures:
            console.print(_table(half, figures))
    for title, answers in (
        ("Right answers that score least", validity.worst_right),
        ("Wrong answers that score most", validity.best_wrong),
    ):
        show(f"\n{title}:")
        for answer in answers:
            _print_answer(answer)
    missed = sum(not figure.met for figure in validity.figures)
    show(f"\n{len(validity.figures)} figures, {missed} beyond their bars")


def _table(half: Half, figures: Sequence[ValidityFigure]) -> Table:
    table = Table(title=f"Validity: {'the whole corpus' if half is Half.ALL else f'cases {half}'}")
    for title in ("measure", "over", "value", "bar", ""):
        table.add_column(title, justify="right" if title in ("over", "value") else "left")
    for figure in figures:
        bar = "" if figure.bar is None else f"{figure.limit} {figure.bar:g}"
        mark = "" if figure.met else "missed"
        table.add_row(plain_text(figure.measure), f"{figure.count:,}", f"{figure.value:.3f}", bar, mark)
    return table


def _print_answer(answer: Judged) -> None:
    show(one_line(f"  {answer.case_score:.2f}  {answer.case_id} ({answer.half}), {answer.kind}: {answer.text}"))
    for reason in answer.reasons:
        if not reason.startswith(Remark.SAYS):
            show(one_line(f"          {reason}"))


if __name__ == "__main__":
    sys.exit(main())

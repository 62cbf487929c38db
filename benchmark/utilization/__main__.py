"""`python -m benchmark.utilization`: say whether the chunks that an answer needed are ranked first."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from enum import StrEnum, auto
from pathlib import Path

from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_USAGE,
    Parser,
    add_dataset,
    add_json,
    command_parser,
    positive,
    print_json,
    run_command,
)
from benchmark.record.base import to_json
from benchmark.utilization.charts import check_form, write
from benchmark.utilization.columns import Columns, questions
from benchmark.utilization.contexts import from_probes
from benchmark.utilization.judging import Judge
from benchmark.utilization.measuring import measured
from benchmark.utilization.printing import print_figures, rows_csv
from benchmark.utilization.records import Question, Utilization
from benchmark.utilization.results import from_cases
from benchmark.utilization.tables import read_table
from ctxsift.errors import InputError
from ctxsift.models.choice import Named, place_of
from ctxsift.settings import Settings, load_settings
from ctxsift.terminal import show, tell

_EXAMPLES = """\
  python -m benchmark.utilization sample
  python -m benchmark.utilization sample --labels-column labels_a -o page.html -o spread.png
  python -m benchmark.utilization answers.csv --k 5 --fail-below .8
  python -m benchmark.utilization answers.parquet --contexts-column pred.contexts --answer-column pred.answer
  python -m benchmark.utilization answers.jsonl --judge package:qwen2.5-coder-1.5b
  python -m benchmark.utilization --from cases results/RUN/control-tf-idf.json
  python -m benchmark.utilization --from probes anchored+index
  python -m benchmark.utilization answers.jsonl --judge gpt-4o-mini --remote --env-file .env --repeats 3

Rules decide which chunks an answer needed, unless labels are given or a judge is named.
"""
_EXIT_CODES = "0 done, 1 the mean is below --fail-below or stdout cannot be written, 2 bad usage or input"


class Source(StrEnum):
    """What rows are made of, where DATA holds none."""

    CASES = auto()
    PROBES = auto()


def build_parser() -> Parser:
    """Return the parser of this command."""
    parser = command_parser(
        "utilization",
        "Say whether the chunks that an answer needed are ranked before those it did not.",
        examples=_EXAMPLES,
        exit_codes=_EXIT_CODES,
    )
    parser.add_argument(
        "data", type=Path, metavar="DATA", help=".jsonl, .csv or .parquet: one row a question; `sample` is packaged"
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=[source.value for source in Source],
        help="cases: DATA is a result, the lines that its answers selected are the chunks, and gold is the answer; "
        "probes: DATA is a method of compaction, the lines of its summaries are the chunks",
    )
    add_dataset(parser)
    parser.add_argument("--k", type=positive, metavar="K", help="count the first K chunks only; default: all")
    columns = parser.add_argument_group("columns", "names, or dotted paths into nested columns (pred.contexts)")
    columns.add_argument("--question-column", default="question", metavar="NAME", help="default: question")
    columns.add_argument(
        "--contexts-column", default="contexts", metavar="NAME", help="list of chunks, best first; default: contexts"
    )
    columns.add_argument(
        "--answer-column", "--ground-truth-column", default="answer", metavar="NAME", help="default: answer"
    )
    columns.add_argument("--labels-column", metavar="NAME", help="given verdicts: a list of 0 and 1, one a chunk")
    _add_judge(parser)
    output = parser.add_argument_group("what is printed").add_mutually_exclusive_group()
    add_json(output)
    output.add_argument("--csv", action="store_true", help="print one line a row as CSV")
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="also write a page (.html) or histogram and box plot (.png, .svg); may be given again",
    )
    parser.add_argument(
        "--fail-below", type=_ratio, metavar="X", help="exit with 1 if the mean is below X, or no row is defined"
    )
    return parser


def _add_judge(parser: Parser) -> None:
    judge = parser.add_argument_group("judge", "a model that decides what was needed, where no labels are given")
    judge.add_argument(
        "--judge", metavar="MODEL", help="GGUF weights (package:NAME, file, hub id), or a model of the service"
    )
    judge.add_argument("--judge-gguf", metavar="FILE", help="the file in MODEL, where it has several")
    judge.add_argument("--judge-backend", metavar="NAME", help="registered backend; default: llama.cpp, or the service")
    judge.add_argument(
        "--remote", action="store_true", help="ask the configured service: the data goes to it (or CTXSIFT_REMOTE=1)"
    )
    judge.add_argument("--env-file", type=Path, metavar="FILE", help="where the service's settings are read")
    judge.add_argument("--repeats", type=positive, default=1, metavar="N", help="judge each chunk N times; most decide")
    judge.add_argument(
        "--replies", type=Path, metavar="FILE", help="keeps replies, which are not asked for again; default: DATA.judge"
    )


def _judge(options: argparse.Namespace, settings: Settings) -> Judge | None:
    if options.judge is None:
        given = [name for name in ("judge_gguf", "judge_backend", "remote", "replies") if getattr(options, name)]
        if given:
            raise InputError(f"--{given[0].replace('_', '-')}", "does nothing without --judge", "name a model")
        return None
    if options.labels_column is not None:
        raise InputError("--judge", "does nothing beside --labels-column", "leave one of them out")
    named = Named(
        options.judge,
        options.judge_backend,
        gguf_filename=options.judge_gguf,
        remote=options.remote,
        backend_option="--judge-backend",
    )
    return Judge(
        model=options.judge,
        replies=options.replies or Path(f"{options.data}.judge"),
        gguf_filename=options.judge_gguf,
        backend=options.judge_backend,
        remote=place_of(named, settings).asks_service,
        repeats=options.repeats,
        env_file=options.env_file,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _run, argv, on_os_error=_cannot_write)


def _cannot_write(_: argparse.Namespace, error: OSError) -> tuple[str, int]:
    return f"{error.filename}: cannot be written ({error.strerror or error}); name another file", EXIT_USAGE


def _asked(options: argparse.Namespace) -> list[Question]:
    if options.source is not None and options.labels_column is not None:
        raise InputError("--labels-column", f"does nothing beside --from {options.source}", "leave it out")
    if options.source == Source.CASES:
        return from_cases(options.data, options.dataset)
    if options.dataset is not None:
        raise InputError("--dataset", "does nothing without --from cases", "leave it out")
    if options.source == Source.PROBES:
        return from_probes(str(options.data))
    columns = Columns(options.question_column, options.contexts_column, options.answer_column, options.labels_column)
    return list(questions(read_table(options.data), columns))


def _run(options: argparse.Namespace) -> int:
    settings = load_settings(options.env_file)
    judge = _judge(options, settings)
    for path in options.output:
        check_form(path)
    asked = _asked(options)
    found = measured(str(options.data), asked, options.k, judge, settings)
    for path in options.output:
        write(found, path)
    if options.json:
        print_json(to_json(found))
    elif options.csv:
        show(rows_csv(found).rstrip("\n"))
    else:
        print_figures(found)
    return _gate(found, options.fail_below)


def _gate(found: Utilization, least: float | None) -> int:
    if least is None or (found.spread is not None and found.spread.mean >= least):
        return EXIT_OK
    mean = "no row is defined" if found.spread is None else f"the mean {found.spread.mean:.3f} is below {least:g}"
    tell(f"failed: {mean}")
    return EXIT_FAILED


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, got {text!r}")
    return value


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmark.utilization`: say whether the chunks that an answer needed are ranked first."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum, auto
from pathlib import Path

from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_USAGE,
    BenchmarkParser,
    add_dataset,
    add_json,
    command_parser,
    positive,
    print_json,
    run_command,
    unwritten,
)
from benchmark.judges.commands import add_rows
from benchmark.matrix import Scenario, Track
from benchmark.record.base import to_json
from benchmark.run.named import RecordedReplies, UnknownNameError, check_consent, chosen, names_of
from benchmark.utilization.charts import check_form, write
from benchmark.utilization.columns import Columns, questions
from benchmark.utilization.contexts import from_probes
from benchmark.utilization.judging import OPTION, ROLE, RULES, RecordedUtilizationJudge, UtilizationJudge
from benchmark.utilization.measuring import measured
from benchmark.utilization.printing import print_figures, rows_csv
from benchmark.utilization.records import DataRow, Utilization
from benchmark.utilization.results import from_cases
from benchmark.utilization.tables import read_table
from ctxsift.cli.renamed import renaming
from ctxsift.errors import InputError
from ctxsift.files import refuse_input
from ctxsift.models.choice import Named, place_of
from ctxsift.settings import Settings, load_settings
from ctxsift.terminal import show, show_columns, tell

_EXAMPLES = """\
  python -m benchmark.utilization sample
  python -m benchmark.utilization sample --labels-column labels_a -o page.html -o spread.png
  python -m benchmark.utilization answers.csv --k 5 --fail-below .8
  python -m benchmark.utilization answers.parquet --contexts-column pred.contexts --answer-column pred.answer
  python -m benchmark.utilization answers.jsonl --judge cpu-qwen2.5-coder-1.5b-q4_k_m
  python -m benchmark.utilization answers.jsonl --judge recorded:answers.jsonl.judge
  python -m benchmark.utilization --list-judges
  python -m benchmark.utilization --from cases results/RUN/control-tf-idf.json
  python -m benchmark.utilization --from probes anchored+index
  python -m benchmark.utilization answers.jsonl --judge remote-gpt-4o-mini --remote --env-file .env --repeats 3

Rules decide which chunks an answer needed, unless you supply labels or name a judge.
"""
# What a judge was named with before rows were; taken for one release.
_OF_MODELS = ("--judge-gguf", "--judge-backend")
_IN_FLIGHT = 4
_EXIT_NOTHING_SCORED = 3
_EXIT_CODES = (
    "0 success, 1 the mean is below --fail-below, too many rows are unscored (--fail-unscored), or stdout could not "
    "be written to, 2 bad usage or input, 3 the judge did not give any verdict"
)
# Of all rows: with more of them unscored, a mean is no figure to pass by.
_MOST_UNSCORED = 0.2


class RowSource(StrEnum):
    """What rows are made of, where DATA holds none."""

    CASES = auto()
    PROBES = auto()


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "utilization",
        "Measure how well a retriever ranked the chunks that an answer needed.",
        examples=_EXAMPLES,
        exit_codes=_EXIT_CODES,
    )
    parser.add_argument(
        "data",
        nargs="?",
        type=Path,
        metavar="DATA",
        help=".jsonl, .csv or .parquet file with one row per question, or `sample` (a packaged file)",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=[source.value for source in RowSource],
        help="cases: DATA is a result file, the chunks are the output lines that its answers selected, and the answer "
        "is gold. probes: DATA is a compaction method, and the chunks are the lines of its summaries",
    )
    add_dataset(parser)
    parser.add_argument("--k", type=positive, metavar="K", help="use only the first K chunks; default: all")
    columns = parser.add_argument_group("columns", "name of a column, or dotted path into a nested one (pred.contexts)")
    columns.add_argument(
        "--question-column", default="question", metavar="NAME", help="the question; default: question"
    )
    columns.add_argument(
        "--contexts-column",
        default="contexts",
        metavar="NAME",
        help="the list of chunks, best first (strings, or mappings with page_content, text or content); default: "
        "contexts",
    )
    columns.add_argument(
        "--answer-column", "--ground-truth-column", default="answer", metavar="NAME", help="the answer; default: answer"
    )
    columns.add_argument(
        "--labels-column", metavar="NAME", help="labels to use instead of a judge: a list of 0 and 1, one per chunk"
    )
    _add_judge(parser)
    output = parser.add_argument_group("output").add_mutually_exclusive_group()
    add_json(output)
    output.add_argument("--csv", action="store_true", help="print CSV, one line per row")
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="also write a page (.html), or a histogram and box plot (.png, .svg); repeatable",
    )
    parser.add_argument(
        "--fail-below",
        type=_ratio,
        metavar="X",
        help="exit with status 1 if the mean is below X, or if no row has a figure",
    )
    parser.add_argument(
        "--fail-unscored",
        type=_ratio,
        metavar="SHARE",
        help=f"exit with status 1 if at least SHARE of the rows are unscored; default: {_MOST_UNSCORED:g} if "
        "--fail-below is given",
    )
    return parser


def _add_judge(parser: BenchmarkParser) -> None:
    judge = parser.add_argument_group("judge", "decides which chunks were needed, unless there are labels")
    judge.add_argument(
        OPTION,
        metavar="NAME",
        help=f"{RULES} (the default), recorded:FILE (stored replies; no model runs), or a row of the matrix",
    )
    judge.add_argument("--list-judges", action="store_true", help="list these names (with --json: as JSON) and exit")
    add_rows(judge, "allow sending the data to the configured service (or set CTXSIFT_REMOTE=1)")
    judge.add_argument(
        "--repeats", type=positive, default=1, metavar="N", help="judge each chunk N times and take the majority"
    )
    judge.add_argument(
        "--replies", type=Path, metavar="FILE", help="file that caches the judge's replies; default: DATA.judge"
    )
    for old in _OF_MODELS:
        judge.add_argument(old, help=argparse.SUPPRESS)


def _judge(options: argparse.Namespace, settings: Settings) -> UtilizationJudge | RecordedUtilizationJudge | None:
    if options.judge is None:
        _refuse(options, (*_OF_MODELS, "--remote", "--replies"), f"without {OPTION}", "name a model")
        return None
    if options.labels_column is not None:
        raise InputError(OPTION, "has no effect together with --labels-column", "leave out one of the two")
    try:
        found = chosen(options.judge, ROLE, options.matrix)
    except UnknownNameError as error:
        found = _as_before(options, settings, error)
    else:
        _refuse(options, _OF_MODELS, f"together with {OPTION} {options.judge}", "set it in the row of the matrix")
    remote = options.remote or settings.remote
    if isinstance(found, Scenario):
        check_consent(found, ROLE, remote=remote)
        if not found.sends_away:
            _refuse(
                options, ("--remote",), f"together with {OPTION} {options.judge}", "that row does not use a service"
            )
        replies = options.replies or Path(f"{options.data}.judge")
        return UtilizationJudge(found, replies, options.repeats, options.env_file, remote)
    _refuse(
        options, ("--remote", "--replies"), f"together with {OPTION} {options.judge}", "that judge does not use a model"
    )
    return RecordedUtilizationJudge(found.path, options.repeats) if isinstance(found, RecordedReplies) else None


def _refuse(options: argparse.Namespace, names: Sequence[str], why: str, hint: str) -> None:
    """Raise InputError for the first option that is given although it does nothing."""
    for name in names:
        if getattr(options, name.removeprefix("--").replace("-", "_")):
            raise InputError(name, f"has no effect {why}", hint)


def _as_before(options: argparse.Namespace, settings: Settings, error: UnknownNameError) -> Scenario:
    """Return the model that earlier versions took the name for, and say so.

    Raises:
        InputError: they would have taken it for none, or it cannot be asked.

    """
    named = Named(
        options.judge,
        options.judge_backend,
        gguf_filename=options.judge_gguf,
        remote=options.remote,
        backend_option="--judge-backend",
    )
    place = place_of(named, settings)
    names_files = "/" in options.judge or named.is_here or Path(options.judge).exists()
    if not (names_files or named.backend or place.asks_service):
        raise error
    tell(renaming(f"{OPTION} MODEL", f"{OPTION} NAME, with the model in a row of {options.matrix}"))
    return Scenario(
        name=options.judge,
        track=Track.REMOTE if place.asks_service else Track.CPU,
        phase="",
        model=options.judge,
        quantization="none",
        device=place.device,
        gguf_filename=options.judge_gguf,
        concurrency=_IN_FLIGHT,
        backend=place.backend,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _run, argv, on_os_error=_cannot_write)


def _cannot_write(options: argparse.Namespace, error: OSError) -> tuple[str, int]:
    replies = [options.replies or f"{options.data}.judge"] if options.judge else []
    return f"{unwritten(error, *options.output, *replies)}; name another file", EXIT_USAGE


def _asked(options: argparse.Namespace) -> list[DataRow]:
    if options.source is not None and options.labels_column is not None:
        raise InputError(
            "--labels-column", f"has no effect together with --from {options.source}", "leave out --labels-column"
        )
    if options.source == RowSource.CASES:
        return from_cases(options.data, options.dataset)
    if options.dataset is not None:
        raise InputError("--dataset", "has no effect without --from cases", "leave out --dataset")
    if options.source == RowSource.PROBES:
        return from_probes(str(options.data))
    columns = Columns(options.question_column, options.contexts_column, options.answer_column, options.labels_column)
    return list(questions(read_table(options.data), columns))


def _run(options: argparse.Namespace) -> int:
    if options.list_judges:
        return _list_judges(options)
    if options.data is None:
        raise InputError("DATA", "is missing", "name a file, or `sample`")
    settings = load_settings(options.env_file)
    judge = _judge(options, settings)
    for path in options.output:
        refuse_input(check_form(path), (options.data,))
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
    return _gate(found, options.fail_below, options.fail_unscored)


def _list_judges(options: argparse.Namespace) -> int:
    names = names_of(ROLE, options.matrix)
    if options.json:
        print_json([dict(zip(("name", "from", "what"), each, strict=True)) for each in names])
    else:
        show_columns(names)
    return EXIT_OK


def _gate(found: Utilization, least: float | None, unscored: float | None) -> int:
    """Return the exit code of figures, and say what is wrong with them."""
    verdicts = [verdict for row in found.rows for verdict in row.verdicts]
    if verdicts and all(verdict.relevant is None for verdict in verdicts):
        tell(f"failed: no verdict on any of {len(verdicts)} chunks; the first: {verdicts[0].reason}")
        return _EXIT_NOTHING_SCORED
    problems = list(_problems(found, least, unscored))
    for problem in problems:
        tell(f"failed: {problem}")
    return EXIT_FAILED if problems else EXIT_OK


def _problems(found: Utilization, least: float | None, unscored: float | None) -> Iterator[str]:
    if least is not None and found.spread is None:
        yield "no row is defined"
    elif least is not None and found.spread is not None and found.spread.mean < least:
        yield f"the mean {found.spread.mean:.3f} is below {least:g}"
    most = _MOST_UNSCORED if unscored is None and least is not None else unscored
    if most is not None and found.unscored and found.unscored_share >= most:
        yield f"{found.unscored} of {len(found.rows)} rows are unscored, {most:g} of all or more (--fail-unscored)"


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

"""The leaderboard: `python -m benchmark.report results/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmark.analysis.choosing import USES, Needs, needs_of
from benchmark.analysis.items import SHOWN_CASES, ItemOrder
from benchmark.analysis.leaderboard import Leaderboard, build_leaderboards
from benchmark.analysis.slices import UNTOLD_HINT, Facet, Slice, parts_of, read_slice
from benchmark.cases import Corpus, Split, split_of
from benchmark.cli.command import (
    EXIT_OK,
    EXIT_USAGE,
    BenchmarkParser,
    add_json,
    add_shown_results,
    command_parser,
    positive,
    print_json,
    run_command,
    settle_shown_results,
)
from benchmark.cli.console import terminal
from benchmark.grading.result import part_of
from benchmark.record.read import ForeignFileError, StoredResult, iterate_results, labels, stored
from benchmark.record.result import Question
from benchmark.render.figures import counted
from benchmark.scoring import SCORER_VERSION
from ctxsift.errors import InputError
from ctxsift.terminal import tell

_EXAMPLES = """\
  python -m benchmark.report results/
  python -m benchmark.report results/ --markdown report.md --csv cases.csv
  python -m benchmark.report results/ --json > board.json
  python -m benchmark.report results/ --items --top 20   the 20 cases that separate models least
  python -m benchmark.report results/ --choose "json, 2 GB, 5 s, local"    which model to choose for JSON
  python -m benchmark.report results/ --retention        how much of the output filters, models and baselines keep
  python -m benchmark.report results/ --split test       only the third of the corpus that is held out for testing
  python -m benchmark.report results/ --tag easy-tier    only short outputs with simple questions
  python -m benchmark.report results/ --slice python     ranks and scores on the cases about Python only
  python -m benchmark.report results/ --slice tool=pytest,difficulty=hard
  python -m benchmark.report results/ --slice intent     scores, intervals and ranks on each kind of question
  python -m benchmark.report results/ --cases failed     which cases all models fail, with the score of each model
  python -m benchmark.report results/ --quantizations    how much each quantization loses compared with the largest
  python -m benchmark.report published                   the 28 published results (docs/published-models.md)
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "report",
        "Show stored results as a leaderboard. Optionally write the leaderboard as Markdown and all cases as CSV.",
        examples=_EXAMPLES,
        exit_codes="0 success, 1 stdout could not be written to, 2 bad usage or input, or a result was left out",
    )
    add_shown_results(parser)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the report to FILE")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one row per case and result to FILE")
    parser.add_argument(
        "--retention",
        action="store_true",
        help="instead of scores, show (or write) how much of the command output each result keeps",
    )
    parser.add_argument(
        "--choose",
        metavar="NEEDS",
        help="instead of the leaderboard, recommend the best result, and the smallest and the fastest result that are "
        'not significantly worse. NEEDS is a comma-separated list, such as "json, 2 GB, 5 s, local": a '
        "use case (default: all), a limit on memory, a limit on the time per case, and local to exclude services. "
        f"Uses: {', '.join(USES)}",
    )
    parser.add_argument(
        "--quantizations",
        action="store_true",
        help="instead of the leaderboard, show each model with results at several quantizations, and how much each "
        "quantization loses compared with the largest",
    )
    parser.add_argument(
        "--items",
        action="store_true",
        help="instead of the leaderboard, show how difficult each case is and how well it separates models",
    )
    parser.add_argument(
        "--cases",
        type=ItemOrder,
        choices=list(ItemOrder),
        metavar="ORDER",
        help="instead of the leaderboard, list cases with the score of each model. ORDER: "
        + ", ".join(f"{order} ({order.words})" for order in ItemOrder),
    )
    parser.add_argument(
        "--top",
        type=positive,
        metavar="N",
        help="with --items: show only the N cases that separate models least (default: all); with --cases: show the "
        f"first N (default: {SHOWN_CASES})",
    )
    parser.add_argument("--split", choices=[str(split) for split in Split], help="use only this part of the corpus")
    parser.add_argument(
        "--tag", metavar="TAG", help="use only cases with this tag, e.g. easy-tier, negative or hostile"
    )
    parser.add_argument(
        "--slice",
        metavar="SLICE",
        help="use only the cases with these values, e.g. tool=pytest,difficulty=hard. A value alone (python) is "
        f"enough. A facet alone ({', '.join(Facet)}) shows the scores for each of its values",
    )
    add_json(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _show, argv, on_os_error=_unwritable)


def _show(options: argparse.Namespace) -> int:
    from benchmark.render.csv import case_csv
    from benchmark.render.markdown import leaderboards_markdown
    from ctxsift.files import refuse_input, write_atomically

    refuse_input(options.markdown, options.paths, option="--markdown")
    refuse_input(options.csv, options.paths, option="--csv")
    if options.top is not None and not options.items and options.cases is None:
        raise InputError("--top", "has no effect without --items or --cases", "add one of these options")
    needs = None if options.choose is None else needs_of(options.choose)
    left_out: list[InputError] = []
    settle_shown_results(options)
    results = list(iterate_results(options.paths, skip=left_out.append))
    left_out = [error for error in left_out if not isinstance(error, ForeignFileError)]
    if not results:
        raise left_out[0]
    wanted = _wanted(results, options)
    for error in left_out:
        tell(f"left out: {error}")
    if options.retention:
        _show_retention(wanted, options)
        return EXIT_USAGE if left_out else EXIT_OK
    boards = build_leaderboards(wanted)
    if options.markdown:
        write_atomically(options.markdown, leaderboards_markdown(boards))
    if options.csv:
        write_atomically(options.csv, case_csv(wanted))
    _print(wanted, boards, needs, options)
    return EXIT_USAGE if left_out else EXIT_OK


def _print(
    results: Sequence[StoredResult],
    boards: Sequence[Leaderboard],
    needs: Needs | None,
    options: argparse.Namespace,
) -> None:
    from benchmark.render.documents import boards_document
    from benchmark.render.terminal import print_leaderboards

    if needs is not None:
        _show_choice(boards, needs, as_json=options.json)
    elif facet := _facet(options.slice):
        _show_facet(boards, facet, as_json=options.json)
    elif options.cases is not None:
        _show_cases(boards, options.cases, options.top or SHOWN_CASES, as_json=options.json)
    elif options.quantizations:
        _show_ladders(boards, as_json=options.json)
    elif options.items:
        _show_items(results, top=options.top, as_json=options.json)
    elif options.json:
        print_json(boards_document(boards))
    else:
        print_leaderboards(terminal(), boards)


def _wanted(results: Sequence[StoredResult], options: argparse.Namespace) -> Sequence[StoredResult]:
    """Return the results with the cases that --slice, --split and --tag leave."""
    part = None
    if options.slice is not None and _facet(options.slice) is None:
        part = read_slice(options.slice, _questions(results).values())
    if part is None and options.tag is None and not options.split:
        return results
    results = _parts(results, options, part)
    if part is not None:
        # One word can name a tool or a whole domain, so say what was selected.
        questions = _questions(results).values()
        outputs = len({question.cluster for question in questions})
        tell(f"only {part}: {counted(len(questions), 'case')} on {counted(outputs, 'raw output')}")
    return results


def _facet(text: str | None) -> Facet | None:
    """Return the facet that --slice names alone; None for a slice."""
    name = (text or "").strip().casefold()
    return Facet(name) if name in set(Facet) else None


def _questions(results: Iterable[StoredResult]) -> dict[str, Question]:
    """Return the questions of some results, by their ids."""
    return {case.question.case_id: case.question for result in results for case in result.record.cases}


def _parts(results: Sequence[StoredResult], options: argparse.Namespace, part: Slice | None) -> list[StoredResult]:
    """Return the cases asked for, with reference rows where the results are of the packaged corpus as it is."""
    from benchmark.corpus import load_corpus
    from benchmark.grading.baselines import ReferenceScores
    from benchmark.scoring import Embedder

    def keeps(question: Question) -> bool:
        if part is not None and not part.holds(question):
            return False
        if options.tag is not None and options.tag not in (question.tags or ()):
            return False
        return not options.split or (question.capture is not None and split_of(question.capture) == options.split)

    corpus, references = load_corpus(), ReferenceScores(Embedder())
    parts = []
    for result in results:
        known = _is_of(result, corpus)
        parts.append(stored(result.path, part_of(result.record, keeps, corpus if known else None, references)))
    parts = [result for result in parts if result.cases]
    if not parts:
        asked = {"--split": options.split, "--tag": options.tag, "--slice": options.slice}
        where = " ".join(f"{option} {value}" for option, value in asked.items() if value is not None)
        hint = "older files do not record captures and tags; run benchmark.rescore on them"
        raise InputError(where, "matches no answer in these results", hint)
    return parts


def _is_of(result: StoredResult, corpus: Corpus) -> bool:
    """Say whether a result is of the corpus as it is, by the scorer as it is."""
    run = result.record.run
    return run is not None and (run.corpus_sha256, run.scorer_version) == (corpus.sha256, SCORER_VERSION)


def _show_facet(boards: Sequence[Leaderboard], facet: Facet, *, as_json: bool) -> None:
    from benchmark.render.slices import parts_document, print_parts

    shown = []
    for board in boards:
        results = [row.result for row in board.rows if not row.result.is_reference]
        if not results:
            continue
        questions = _questions(results)
        if parts := parts_of(board, questions, facet, baselines=True):
            shown.append((board, parts))
    if not shown:
        raise InputError(f"--slice {facet}", f"these results do not record the {facet} of a case", UNTOLD_HINT)
    if as_json:
        print_json(parts_document(shown))
        return
    for board, parts in shown:
        print_parts(terminal(), board, facet, parts)


def _show_cases(boards: Sequence[Leaderboard], order: ItemOrder, top: int, *, as_json: bool) -> None:
    from benchmark.analysis.items import analyse, in_order
    from benchmark.render.items import answered_document, print_answered

    shown = []
    for board in boards:
        rows = [row for row in board.rows if not row.result.is_reference]
        items = in_order(order, analyse([row.result for row in rows], [row.label for row in rows]))
        if items:
            shown.append((board, items))
    if not shown:
        raise InputError(f"--cases {order}", "these results contain no such case", "try --cases hardest")
    if as_json:
        print_json([answered_document(board, items[:top]) for board, items in shown])
        return
    for board, items in shown:
        print_answered(terminal(), board, items, order, top)


def _show_retention(results: Sequence[StoredResult], options: argparse.Namespace) -> None:
    from benchmark.analysis.retention import RetentionJudge, retention_boards
    from benchmark.render.retention import print_retention, retention_csv, retention_document, retention_markdown
    from benchmark.scoring import Embedder
    from ctxsift.files import write_atomically

    boards = retention_boards(build_leaderboards(results), results, RetentionJudge(Embedder()))
    if options.markdown:
        write_atomically(options.markdown, retention_markdown(boards))
    if options.csv:
        write_atomically(options.csv, retention_csv(boards))
    if options.json:
        print_json(retention_document(boards))
    else:
        print_retention(terminal(), boards)


def _show_choice(boards: Sequence[Leaderboard], needs: Needs, *, as_json: bool) -> None:
    from benchmark.render.choosing import choices_document, print_choices

    if as_json:
        print_json(choices_document(boards, needs))
    else:
        print_choices(terminal(), boards, needs)


def _show_ladders(boards: Sequence[Leaderboard], *, as_json: bool) -> None:
    from benchmark.analysis.ladder import ladders
    from benchmark.render.ladder import NO_LADDER, ladders_document, print_ladders

    shown = [(board, found) for board in boards if (found := ladders(board))]
    if not shown:
        raise InputError("--quantizations", NO_LADDER, "name results of one model with different weights")
    if as_json:
        print_json(ladders_document(shown))
    else:
        print_ladders(terminal(), shown)


def _show_items(results: Sequence[StoredResult], *, top: int | None, as_json: bool) -> None:
    from benchmark.analysis.items import analyse
    from benchmark.render.items import items_document, print_items

    items = analyse(results, labels(results))
    if not items:
        raise InputError(
            "--items", "these results contain no model answers", "name model results, not only baseline results"
        )
    if as_json:
        print_json(items_document(items[:top]))
    else:
        print_items(terminal(), items, top)


def _unwritable(_: argparse.Namespace, error: OSError) -> tuple[str, int]:
    return f"--markdown, --csv: cannot be written ({error.strerror or error}); name another file", EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())

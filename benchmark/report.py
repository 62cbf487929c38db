"""The leaderboard: `python -m benchmark.report results/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmark.analysis.leaderboard import build_leaderboards
from benchmark.cases import Split, split_of
from benchmark.cli.command import (
    EXIT_OK,
    EXIT_USAGE,
    Parser,
    add_json,
    add_shown_results,
    command_parser,
    positive,
    print_json,
    run_command,
    tell_of_packaged,
)
from benchmark.cli.console import terminal
from benchmark.grading.result import part_of
from benchmark.record.read import ForeignFileError, StoredResult, iterate_results, labels, stored
from benchmark.record.result import Question
from ctxsift.errors import InputError
from ctxsift.terminal import tell

_EXAMPLES = """\
  python -m benchmark.report results/
  python -m benchmark.report results/ --markdown report.md --csv cases.csv
  python -m benchmark.report results/ --json > board.json
  python -m benchmark.report results/ --items --top 20   the least discriminating cases first
  python -m benchmark.report results/ --retention        what filters, models and baselines keep of the command output
  python -m benchmark.report results/ --split test       the third of the corpus that is held out for testing
  python -m benchmark.report results/ --tag easy-tier    short outputs with a simple question
"""


def build_parser() -> Parser:
    """Return the parser of this command."""
    parser = command_parser(
        "report",
        "Show stored results as a leaderboard. Optionally write it as Markdown, and all cases as CSV.",
        examples=_EXAMPLES,
        exit_codes="0 done, 1 stdout cannot be written, 2 bad usage or input, or a result that was left out",
    )
    add_shown_results(parser)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the report to FILE")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one row per case and result to FILE")
    parser.add_argument(
        "--retention",
        action="store_true",
        help="show (or write) what each result keeps of the command output instead of scores",
    )
    parser.add_argument(
        "--items",
        action="store_true",
        help="show each case instead: how difficult it is, and how well it separates models",
    )
    parser.add_argument(
        "--top", type=positive, metavar="N", help="with --items: show only the N least discriminating cases"
    )
    parser.add_argument("--split", choices=[str(split) for split in Split], help="use only this part of the corpus")
    parser.add_argument(
        "--tag", metavar="TAG", help="use only cases with this tag, e.g. easy-tier, negative or hostile"
    )
    add_json(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _show, argv, on_os_error=_unwritable)


def _show(options: argparse.Namespace) -> int:
    from benchmark.render.csv import case_csv
    from benchmark.render.documents import boards_document
    from benchmark.render.markdown import leaderboards_markdown
    from benchmark.render.terminal import print_leaderboards
    from ctxsift.files import refuse_input, write_atomically

    refuse_input(options.markdown, options.paths, option="--markdown")
    refuse_input(options.csv, options.paths, option="--csv")
    if options.top is not None and not options.items:
        raise InputError("--top", "has no effect without --items", "add --items")
    left_out: list[InputError] = []
    tell_of_packaged(options.paths)
    results = list(iterate_results(options.paths, skip=left_out.append))
    if options.split or options.tag is not None:
        results = _parts(results, options)
    left_out = [error for error in left_out if not isinstance(error, ForeignFileError)]
    if not results:
        raise left_out[0]
    for error in left_out:
        tell(f"left out: {error}")
    if options.retention:
        _show_retention(results, options)
        return EXIT_USAGE if left_out else EXIT_OK
    boards = build_leaderboards(results)
    if options.markdown:
        write_atomically(options.markdown, leaderboards_markdown(boards))
    if options.csv:
        write_atomically(options.csv, case_csv(results))
    if options.items:
        _show_items(results, top=options.top, as_json=options.json)
    elif options.json:
        print_json(boards_document(boards))
    else:
        print_leaderboards(terminal(), boards)
    return EXIT_USAGE if left_out else EXIT_OK


def _parts(results: Sequence[StoredResult], options: argparse.Namespace) -> list[StoredResult]:
    """Return the cases asked for, with reference rows where the results are of the packaged corpus as it is."""
    from benchmark.corpus import load_corpus
    from benchmark.grading.baselines import ReferenceScores
    from benchmark.scoring import SCORER_VERSION, Embedder

    def keeps(question: Question) -> bool:
        if options.tag is not None and options.tag not in (question.tags or ()):
            return False
        return not options.split or (question.capture is not None and split_of(question.capture) == options.split)

    corpus, references = load_corpus(), ReferenceScores(Embedder())
    parts = []
    for result in results:
        run = result.record.run
        known = run is not None and (run.corpus_sha256, run.scorer_version) == (corpus.sha256, SCORER_VERSION)
        part = part_of(result.record, keeps, corpus if known else None, references)
        parts.append(stored(result.path, part))
    parts = [part for part in parts if part.cases]
    if not parts:
        asked = {"--split": options.split, "--tag": options.tag}
        where = " ".join(f"{option} {value}" for option, value in asked.items() if value is not None)
        hint = "older files do not record captures and tags; run benchmark.rescore on them"
        raise InputError(where, "no answer in these results belongs to it", hint)
    return parts


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


def _show_items(results: Sequence[StoredResult], *, top: int | None, as_json: bool) -> None:
    from benchmark.analysis.items import analyse
    from benchmark.render.items import items_document, print_items

    items = analyse(results, labels(results))
    if not items:
        raise InputError(
            "--items", "these results contain no answers of models", "name results of models, not only of baselines"
        )
    if as_json:
        print_json(items_document(items[:top]))
    else:
        print_items(terminal(), items, top)


def _unwritable(_: argparse.Namespace, error: OSError) -> tuple[str, int]:
    return f"--markdown, --csv: cannot be written ({error.strerror or error}); name another file", EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())

"""Join the shards of a run: `python -m benchmark.merge results/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_USAGE,
    BenchmarkParser,
    command_parser,
    run_command,
)
from ctxsift.errors import InputError
from ctxsift.terminal import show, tell

if TYPE_CHECKING:
    from benchmark.cases import Corpus
    from benchmark.run.merging import Merged

_EXAMPLES = """\
  for i in 1 2 3; do python -m benchmark.runner --scenario X --shard $i/3; done; python -m benchmark.merge results/
  python -m benchmark.merge node-a/results node-b/results --output-dir results

The command merges the journals of all shards of a scenario and scores the answers once. The result is the same as that
of a single run.
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "merge",
        "Merge the shards of a run (benchmark.runner --shard I/N) into one result.",
        examples=_EXAMPLES,
        exit_codes="0 success, 1 a case in a merged run failed, 2 bad usage, or shards are missing, incomplete or "
        "from different runs",
    )
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="DIR", help="shard folders, or a results tree that contains them"
    )
    parser.add_argument(
        "--output-dir",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="write the result below DIR; default: %(default)s",
    )
    parser.add_argument(
        "--dataset", type=Path, metavar="PATH", help="corpus that the run used; default: the packaged corpus"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _merge, argv)


def _merge(options: argparse.Namespace) -> int:
    from benchmark.corpus import DEFAULT_CORPUS, load_corpus
    from benchmark.run.merging import find_shards, merged

    found = find_shards(options.paths)
    corpus = load_corpus(options.dataset or DEFAULT_CORPUS)
    runs, code = [], EXIT_OK
    for name in sorted(found.shards):
        try:
            runs.append(merged(found.shards[name], corpus, found.unreadable))
        except InputError as error:
            tell(f"error: {error}")
            code = EXIT_USAGE
    for unread in found.unreadable if code == EXIT_OK else ():
        tell(f"left out: {unread}")
    return max(code, _write(runs, corpus, options.output_dir)) if runs else code


def _write(runs: Sequence[Merged], corpus: Corpus, output_dir: Path) -> int:
    from rich.console import Console

    from benchmark.grading.baselines import ReferenceScores
    from benchmark.render.progress import RunProgress
    from benchmark.run.joined import joined_group, write_result
    from benchmark.run.run_group import write_reports
    from benchmark.scoring import Embedder

    group = joined_group(runs, corpus, output_dir)
    references, results, code = ReferenceScores(Embedder()), [], EXIT_OK
    with RunProgress(Console(stderr=True), len(runs), len(group.plans[0].cases), show_output=False) as progress:
        for run, plan in zip(runs, group.plans, strict=True):
            try:
                results.append(write_result(run, plan, references, progress.scenario))
            except InputError as error:
                tell(f"error: {error}")
                code = EXIT_USAGE
            if run.doubled:
                tell(f"{plan.scenario.name}: {run.doubled} answers occur twice, with the same text")
    for path in write_reports(group, results, lambda error: tell(f"left out of the report: {error}")):
        show(str(path))
    if not all(result.record.complete for result in results):
        code = max(code, EXIT_FAILED)
    return code


if __name__ == "__main__":
    sys.exit(main())

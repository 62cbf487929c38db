"""`python -m benchmark`: which modules people run, since the package itself is no command."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from benchmark.cli.command import EXIT_OK, BenchmarkParser, run_command
from ctxsift.errors import InputError, near_names

# In the order in which people come to them.
MODULES = {
    "runner": "run models on the corpus and score every answer",
    "report": "show results as a leaderboard",
    "compare": "compare two results, or all pairs of several results",
    "viewer": "show results as a page in your browser",
    "rescore": "score stored answers again",
    "merge": "merge the shards of a run",
    "corpus": "validate, describe, export or display the corpus or your own data set",
    "race": "simulate how few cases it takes to find the best of many models",
    "probes": "measure what compaction loses from recorded sessions",
    "utilization": "measure how well a retriever ranked the chunks that an answer needed",
    "validity": "measure how well the scorer distinguishes right answers from wrong ones",
    "stress": "measure what changes a model's score, and whether the model is worth using",
    "record": "print the JSON Schema for result files",
}
_WIDTH = max(map(len, MODULES))
_LISTED = "\n".join(f"  python -m benchmark.{name:{_WIDTH}}  {says}" for name, says in MODULES.items())


def build_parser() -> BenchmarkParser:
    """Return the parser, whose help is the list."""
    parser = BenchmarkParser(
        prog="python -m benchmark",
        usage="python -m benchmark.MODULE [ARGUMENT ...]",
        description=f"Each module is a separate command with its own --help:\n\n{_LISTED}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """List the modules; return 0, or 2 where a module is named as an argument."""
    parser = build_parser()

    def handle(options: argparse.Namespace) -> int:
        if options.words:
            _refuse(options.words)
        parser.print_help()
        return EXIT_OK

    return run_command(parser, handle, argv)


def _refuse(words: Sequence[str]) -> NoReturn:
    name, *arguments = words
    near = near_names(name, MODULES, limit=1)
    hint = "python -m benchmark lists them"
    if near:
        hint = f"try: python -m benchmark.{near[0]} {shlex.join(arguments)}".rstrip()
    raise InputError(name, "each module is a command of its own", hint)


if __name__ == "__main__":
    sys.exit(main())

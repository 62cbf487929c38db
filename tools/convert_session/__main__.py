"""`python -m tools.convert_session`: write a recorded session as another agent would have kept it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmark.cli.command import EXIT_OK, BenchmarkParser, run_command
from benchmark.sessions.loader import open_recorded
from ctxsift.terminal import show
from tools.convert_session.forms import FORMS, convert

_EXAMPLES = """\
examples:
  python -m tools.convert_session benchmark/sessions/data/wattline --to claude-code wattline.jsonl
  python -m tools.record compare benchmark/sessions/data/* --as claude-code --as codex
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = BenchmarkParser(
        prog="python -m tools.convert_session",
        description="Write a recorded session in the format of another agent, with the calls of its tools.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("session", type=Path, metavar="SESSION", help="folder of a recorded session")
    parser.add_argument("--to", choices=tuple(FORMS), required=True, help="format to write")
    parser.add_argument("out", type=Path, metavar="OUT", help="file to write (JSON Lines)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""

    def run(options: argparse.Namespace) -> int:
        steps = convert(open_recorded(options.session), options.to, options.out)
        show(f"wrote {steps} steps to {options.out}")
        return EXIT_OK

    return run_command(build_parser(), run, argv)


if __name__ == "__main__":
    raise SystemExit(main())

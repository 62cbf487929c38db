"""`python -m benchmark.record`: the JSON Schema of result files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmark.cli.command import EXIT_OK, command_parser, print_json, run_command
from benchmark.record.schema import result_schema


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(command_parser("record", "Print the JSON Schema for result files."), _print_schema, argv)


def _print_schema(_: argparse.Namespace) -> int:
    print_json(result_schema())
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())

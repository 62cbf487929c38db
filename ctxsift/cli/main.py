"""The console script `ctxsift`: one module per subcommand."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ctxsift.cli import compress
from ctxsift.cli.parser import Parser

SUBCOMMANDS = (compress,)


def build_parser() -> Parser:
    """Return the parser of the console script; each subcommand adds its own, with the handler to call."""
    parser = Parser(prog="ctxsift", description="Keep the few lines of command output you need.")
    commands = parser.add_subparsers(dest="subcommand", required=True)
    for module in SUBCOMMANDS:
        module.add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the console script and return its exit code; what follows `--` is a command for the subcommand to run."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options = build_parser().parse_args(arguments[:at])
    exit_code: int = options.handler(options, arguments[at + 1 :])
    return exit_code

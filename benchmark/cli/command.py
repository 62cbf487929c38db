"""The skeleton of every command: its parser, its one-line errors, its exit codes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from benchmark.cli.console import reader_may_go
from ctxsift.errors import InputError
from ctxsift.files import encoded

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
Handler = Callable[[argparse.Namespace], int]
_USUAL_EXIT_CODES = "0 done, 2 bad usage or input"


class Parser(argparse.ArgumentParser):
    """Refuses in one line, like every other bad input."""

    def error(self, message: str) -> NoReturn:
        """Leave with EXIT_USAGE."""
        self.exit(EXIT_USAGE, f"error: {message}; see --help\n")


def command_parser(name: str, description: str, *, examples: str = "", exit_codes: str = _USUAL_EXIT_CODES) -> Parser:
    """Return the parser of `python -m benchmark.NAME`, without options.

    Args:
        name: of the module.
        description: one sentence.
        examples: indented lines, and whatever else is to stand below the options.
        exit_codes: what each means.

    """
    shown = f"examples:\n{examples.rstrip()}\n\n" if examples else ""
    return Parser(
        prog=f"python -m benchmark.{name}",
        description=description,
        epilog=f"{shown}exit codes: {exit_codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_results(parser: argparse.ArgumentParser) -> None:
    """Add the results to read, as `options.paths`."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="results tree, run folder or result file")


def add_dataset(parser: argparse._ActionsContainer) -> None:
    """Add --dataset."""
    what = "corpus folder or .jsonl; default: the packaged corpus"
    parser.add_argument("--dataset", type=Path, metavar="PATH", help=what)


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run_command(
    parser: Parser,
    handler: Handler,
    argv: Sequence[str] | None = None,
    *,
    on_os_error: Callable[[argparse.Namespace, OSError], tuple[str, int]] | None = None,
) -> int:
    """Parse, run the handler, and return the exit code.

    Bad input and files that cannot be written are told in one line; a reader of stdout that has gone (`| head`) is
    nobody's loss.

    Args:
        parser: of the command.
        handler: does the work and returns the exit code.
        argv: the arguments; those of the process when None.
        on_os_error: returns message and exit code for a file that cannot be written.

    """
    options = parser.parse_args(argv)
    code = EXIT_OK
    try:
        with reader_may_go():
            code = handler(options)
    except InputError as error:
        return _refuse(str(error))
    except OSError as error:
        message, code = on_os_error(options, error) if on_os_error else (str(error), EXIT_USAGE)
        return _refuse(message, code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return code


def _refuse(message: str, code: int = EXIT_USAGE) -> int:
    print(f"error: {message}", file=sys.stderr)
    return code


def print_json(document: Any) -> None:
    """Print JSON values for a program; half characters of file names become escapes."""
    print(encoded(json.dumps(document, indent=1, ensure_ascii=False)).decode())

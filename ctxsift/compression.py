"""The one path: request -> backend -> recovery -> validation -> Compression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ctxsift.backends.base import AsyncBackend, AsyncBatchBackend, Backend, Generation, Limits, checked, kept
from ctxsift.errors import BackendError, PromptTooLongError
from ctxsift.marks import MODEL_TOKENS, MarkKind, Tokens
from ctxsift.prompts import Request, build_messages, cut_middle
from ctxsift.recovery import Recovery, recover
from ctxsift.validation import Validation, validate

_MIN_KEEP = 200


@dataclass(frozen=True)
class Answer:
    """What a backend said to a request.

    Attributes:
        input_chars_cut: characters of the raw input that did not fit the context and were left out.

    """

    generation: Generation
    input_chars_cut: int


class Failure(StrEnum):
    """How a model failed to come to an end of its own, or to say anything."""

    TOKEN_LIMIT = "token_limit"
    LOOP = "loop"
    EMPTY_ANSWER = "empty_answer"
    TRUNCATED_REASONING = "truncated_reasoning"


@dataclass(frozen=True)
class View:
    """One reading of an answer: its text and the verdict on it."""

    text: str
    validation: Validation


@dataclass(frozen=True)
class Compression:
    """One checked answer.

    Attributes:
        raw: what the model said. recovered: after recovery (the same text when recovery is off).
        failure: how the model failed; None where it ended its answer itself.

    """

    answer: Answer
    raw: View
    recovered: View
    recovery: Recovery
    failure: Failure | None


def generate(request: Request, backend: Backend, limits: Limits) -> Answer:
    """Ask the backend; an input that does not fit is cut in the middle, with a visible marker.

    Raises:
        BackendError: whatever the backend raises, and PromptTooLongError when even a stub does not fit.

    """
    asked = request
    while True:
        try:
            return _answer(request, asked, backend.generate(build_messages(asked), limits), limits)
        except PromptTooLongError as error:
            asked = _shortened(request, asked, error)


async def agenerate(request: Request, backend: AsyncBackend, limits: Limits) -> Answer:
    """Ask a service once; like `generate`."""
    return await _agenerate(request, request, backend, limits)


async def _agenerate(request: Request, asked: Request, backend: AsyncBackend, limits: Limits) -> Answer:
    """Ask `asked`, which is `request` or what fits of it."""
    while True:
        try:
            return _answer(request, asked, await backend.agenerate(build_messages(asked), limits), limits)
        except PromptTooLongError as error:
            asked = _shortened(request, asked, error)


async def agenerate_batch(
    requests: Sequence[Request], backend: AsyncBatchBackend, limits: Limits
) -> list[Answer | BackendError]:
    """Ask for several answers at once; inputs that do not fit are asked again one by one, cut.

    Raises:
        BackendError: of the batch as a whole.

    """
    replies = await backend.agenerate_batch([build_messages(request) for request in requests], limits)
    answers: list[Answer | BackendError] = []
    for request, reply in zip(requests, replies, strict=True):
        try:
            if isinstance(reply, Generation):
                answers.append(_answer(request, request, reply, limits))
            elif isinstance(reply, PromptTooLongError):
                answers.append(await _agenerate(request, _shortened(request, request, reply), backend, limits))
            else:
                answers.append(reply)
        except BackendError as error:
            answers.append(error)
    return answers


def _answer(request: Request, asked: Request, generation: Generation, limits: Limits) -> Answer:
    cut = len(request.raw_input) - len(asked.raw_input) if asked is not request else 0
    return Answer(kept(checked(generation), limits), cut)


def _shortened(request: Request, asked: Request, error: PromptTooLongError) -> Request:
    """Return `request` cut to what should fit; raises `error` when nothing useful would be left."""
    # Tokens spread unevenly, so aim a little below the share that would fit by count.
    keep = int(len(asked.raw_input) * min(1.0, max(0.0, error.room / error.prompt_tokens)) * 0.95) - 80
    if keep < _MIN_KEEP:
        raise error
    return replace(request, raw_input=cut_middle(request.raw_input, keep))


def examine(
    text: str, request: Request, *, recovery_enabled: bool = True, tokens: Tokens = MODEL_TOKENS
) -> tuple[View, View, Recovery]:
    """Return the raw view, the recovered view and the recovery of a model's words; `tokens` are its marks."""
    recovery = recover(text, request, tokens) if recovery_enabled else Recovery(text, ())
    raw = View(text, validate(text, request, tokens))
    recovered = raw if recovery.text == text else View(recovery.text, validate(recovery.text, request, tokens))
    return raw, recovered, recovery


def tokens_of(generation: Generation) -> Tokens:
    """Return the marks that an answer may hold: all known ones, and what its model has beside them."""
    return MODEL_TOKENS.extended(generation.control_tokens, generation.reasoning_tags)


def compress(request: Request, backend: Backend, limits: Limits, *, recovery_enabled: bool = True) -> Compression:
    """Answer one request; raises what `generate` raises."""
    return compression(request, generate(request, backend, limits), recovery_enabled=recovery_enabled)


def compression(request: Request, answer: Answer, *, recovery_enabled: bool = True) -> Compression:
    """Return an answer with both its views."""
    generation = answer.generation
    raw, recovered, recovery = examine(
        generation.text, request, recovery_enabled=recovery_enabled, tokens=tokens_of(generation)
    )
    return Compression(answer, raw, recovered, recovery, failure_of(generation, raw))


def failure_of(generation: Generation, raw: View) -> Failure | None:
    """Return how the model failed, by the end of its answer; None where it ended it itself.

    Args:
        generation: the answer as it came.
        raw: its view before recovery.

    """
    silent = not generation.text.strip()
    if generation.finish_reason == "length":
        # Tokens were spent, and none of them is the answer: they were thoughts, whether we were shown them or not.
        hidden = silent and (generation.reasoning or not generation.text)
        begun = generation.begins_in_reasoning and not _closes_reasoning(generation)
        thinking = hidden or begun or raw.validation.thought.unterminated
        return Failure.TRUNCATED_REASONING if thinking else Failure.TOKEN_LIMIT
    if silent:
        return Failure.EMPTY_ANSWER
    return Failure.LOOP if generation.finish_reason == "loop" else None


def _closes_reasoning(generation: Generation) -> bool:
    return any(mark.kind is MarkKind.CLOSE for mark in tokens_of(generation).marks(generation.text))

"""The one path: request -> backend -> recovery -> validation -> Compression."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ctxsift.answers.marks import MODEL_TOKENS, MarkFinder, MarkKind
from ctxsift.answers.recovery import Recovery, recover
from ctxsift.answers.validation import EMPTY_OUTPUT, Validation, validate
from ctxsift.asking import Answer, ask
from ctxsift.backends.base import Backend, Generation, Limits
from ctxsift.prompts import Request, RequestPrompt


class Failure(StrEnum):
    """How a model failed to come to an end of its own, or to say anything."""

    TOKEN_LIMIT = "token_limit"
    LOOP = "loop"
    CONTENT_FILTER = "content_filter"
    CUT_OFF = "cut_off"
    EMPTY_ANSWER = "empty_answer"
    TRUNCATED_REASONING = "truncated_reasoning"
    PROGRAM_FAILED = "program_failed"


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
    return ask(RequestPrompt(request), backend, limits)


def examine(
    text: str, request: Request, *, recovery_enabled: bool = True, tokens: MarkFinder = MODEL_TOKENS
) -> tuple[View, View, Recovery]:
    """Return the raw view, the recovered view and the recovery of a model's words; `tokens` are its marks."""
    recovery = recover(text, request, tokens) if recovery_enabled else Recovery(text, ())
    raw = View(text, validate(text, request, tokens))
    recovered = raw if recovery.text == text else View(recovery.text, validate(recovery.text, request, tokens))
    return raw, recovered, recovery


def tokens_of(generation: Generation) -> MarkFinder:
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
    if generation.fault:
        return Failure.PROGRAM_FAILED
    # Thought is no answer, closed or not.
    silent = EMPTY_OUTPUT in raw.validation.reasons
    if generation.finish_reason == "length":
        # Tokens were spent, and none of them is the answer: they were thoughts, whether we were shown them or not.
        hidden = silent and (generation.reasoning or not generation.text or raw.validation.thought.spans)
        begun = generation.begins_in_reasoning and not _closes_reasoning(generation)
        thinking = hidden or begun or raw.validation.thought.unterminated
        return Failure.TRUNCATED_REASONING if thinking else Failure.TOKEN_LIMIT
    if generation.finish_reason == "content_filter":
        return Failure.CONTENT_FILTER
    if silent:
        return Failure.EMPTY_ANSWER
    if generation.finish_reason == "other":
        return Failure.CUT_OFF
    return Failure.LOOP if generation.finish_reason == "loop" else None


def _closes_reasoning(generation: Generation) -> bool:
    return any(mark.kind is MarkKind.CLOSE for mark in tokens_of(generation).marks(generation.text))

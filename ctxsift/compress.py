"""The one path: request -> backend -> recovery -> validation -> Compression."""

from __future__ import annotations

from dataclasses import dataclass

from ctxsift.backends.base import Backend, Generation, Limits
from ctxsift.errors import PromptTooLongError
from ctxsift.prompts import Request, build_messages, cut_middle
from ctxsift.recovery import Recovery, recover
from ctxsift.validation import Validation, validate

_MAX_CUTS = 8
_MIN_KEEP = 200


@dataclass(frozen=True)
class Answer:
    """What a backend said to a request.

    Attributes:
        input_chars_cut: characters of the raw input that did not fit the context and were left out.

    """

    generation: Generation
    input_chars_cut: int


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

    """

    answer: Answer
    raw: View
    recovered: View
    recovery: Recovery


def generate(request: Request, backend: Backend, limits: Limits) -> Answer:
    """Ask the backend; an input that does not fit is cut in the middle, with a visible marker.

    Raises:
        BackendError: whatever the backend raises, and PromptTooLongError when even a stub does not fit.

    """
    text = request.raw_input
    for _ in range(_MAX_CUTS):
        asked = Request(text, request.instruction, request.intent)
        try:
            generation = backend.generate(build_messages(asked), limits)
        except PromptTooLongError as error:
            # Tokens spread unevenly, so aim a little below the share that would fit by count.
            keep = int(len(text) * max(0.0, error.room / error.prompt_tokens) * 0.95) - 80
            if keep < _MIN_KEEP:
                raise
            text = cut_middle(request.raw_input, min(keep, len(text) - 1))
        else:
            return Answer(generation, len(request.raw_input) - len(text) if text != request.raw_input else 0)
    raise PromptTooLongError(len(text), 0)


def examine(text: str, request: Request, *, recovery_enabled: bool = True) -> tuple[View, View, Recovery]:
    """Return the raw view, the recovered view and the recovery of a model's words."""
    recovery = recover(text, request) if recovery_enabled else Recovery(text, ())
    raw = View(text, validate(text, request))
    recovered = raw if recovery.text == text else View(recovery.text, validate(recovery.text, request))
    return raw, recovered, recovery


def compress(request: Request, backend: Backend, limits: Limits, *, recovery_enabled: bool = True) -> Compression:
    """Answer one request; raises what `generate` raises."""
    answer = generate(request, backend, limits)
    raw, recovered, recovery = examine(answer.generation.text, request, recovery_enabled=recovery_enabled)
    return Compression(answer, raw, recovered, recovery)

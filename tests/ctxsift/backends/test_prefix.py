"""What of a prompt is not read again."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ctxsift.backends.prefix import ReadPrefix

PROMPTS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=14), min_size=1, max_size=6)


def read(prefix: ReadPrefix, prompt: Sequence[int]) -> list[tuple[int, ...]]:
    """Read a prompt as a model does, and return the pieces that were read."""
    prefix.keep(prompt)
    pieces = []
    for block in prefix.left(prompt):
        pieces.append(block)
        prefix.hold(block, 1.0)
    return [*pieces, tuple(prompt[prefix.tokens :])]


@given(PROMPTS, st.integers(1, 5))
def test_every_prompt_is_read_in_the_pieces_that_it_would_be_read_in_alone(
    prompts: list[list[int]], block_tokens: int
) -> None:
    prefix = ReadPrefix(block_tokens)
    for prompt in prompts:
        alone = read(ReadPrefix(block_tokens), prompt)
        held = prefix.keep(prompt)
        assert held % block_tokens == 0
        assert prefix.read_ms == held // block_tokens
        assert read(prefix, prompt) == alone[held // block_tokens :]
        # What follows is chosen by the last token, which has to be read.
        assert alone[-1]


def test_as_many_blocks_are_kept_as_two_prompts_share() -> None:
    prefix = ReadPrefix(2)
    read(prefix, [1, 2, 3, 4, 5, 6, 7])
    assert prefix.keep([1, 2, 3, 4, 9, 9, 9]) == 4
    read(prefix, [1, 2, 3, 4, 9, 9, 9])
    assert prefix.keep([1, 2, 3, 4, 9, 9]) == 4
    assert prefix.keep([1, 9, 3, 4, 9, 9]) == 0


def test_nothing_is_kept_where_that_is_not_wanted_or_the_state_was_used_otherwise() -> None:
    off, cleared = ReadPrefix(2, enabled=False), ReadPrefix(2)
    for prefix in (off, cleared):
        read(prefix, [1, 2, 3])
    cleared.clear()
    for prefix in (off, cleared):
        assert prefix.keep([1, 2, 3]) == 0
        assert read(prefix, [1, 2, 3]) == [(1, 2), (3,)]

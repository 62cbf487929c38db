"""The loop rule: sure, deterministic, and blind to honest repetition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxsift.backends.loops import MAX_PERIOD, MIN_REPEATS, MIN_TOKENS, LoopDetector


def ends_at(tokens: list[int]) -> int | None:
    """Return after how many tokens a loop is called, or None."""
    detector = LoopDetector()
    return next((count for count, token in enumerate(tokens, 1) if detector.push(token)), None)


@given(
    st.lists(st.integers(0, 99), max_size=60),
    st.lists(st.integers(100, 199), min_size=1, max_size=MAX_PERIOD, unique=True),
)
def test_a_repeated_block_is_called_as_soon_as_the_rule_allows(start: list[int], block: list[int]) -> None:
    wanted = max(MIN_REPEATS * len(block), MIN_TOKENS)
    assert ends_at(start + block * 60) == len(start) + wanted


@given(st.lists(st.integers(), max_size=400, unique=True))
def test_without_repetition_there_is_no_loop(tokens: list[int]) -> None:
    assert ends_at(tokens) is None


def test_three_equal_lines_and_a_table_rule_are_no_loop() -> None:
    line = list(range(30))
    assert ends_at([*line * 3, 99, *[7] * (MIN_TOKENS - 1), 98]) is None


def test_a_block_longer_than_the_window_is_left_alone() -> None:
    assert ends_at(list(range(MAX_PERIOD + 1)) * 8) is None

"""The formula: known values as exact fractions, and what holds for any verdicts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.utilization import context_utilization, precision_at

VERDICTS = st.lists(st.integers(0, 1), max_size=30)


@pytest.mark.parametrize(
    ("verdicts", "exact"),
    [
        ([1], Fraction(1)),
        ([0], None),
        ([0, 0], None),
        ([1, 0], Fraction(1)),
        ([0, 1], Fraction(1, 2)),
        ([1, 1, 0], Fraction(1)),
        ([1, 0, 1], Fraction(5, 6)),
        ([0, 1, 1], Fraction(7, 12)),
        ([0, 0, 1], Fraction(1, 3)),
        ([1, 0, 1, 0, 1], Fraction(34, 45)),
        ([0, 1, 0, 1], Fraction(1, 2)),
        ([], None),
        # Order is all it sees: precision tells these two apart.
        ([1, 0, 0, 0], Fraction(1)),
        ([1, 1, 1, 1], Fraction(1)),
    ],
)
def test_known_values(verdicts: list[int], exact: Fraction | None) -> None:
    assert context_utilization(verdicts) == exact


@pytest.mark.parametrize(
    ("verdicts", "k", "utilization", "precision"),
    [
        ([1, 0, 1], 1, Fraction(1), Fraction(1)),
        ([1, 0, 1], 2, Fraction(1), Fraction(1, 2)),
        ([0, 0, 1], 2, None, Fraction(0)),
        ([0, 1, 1], 2, Fraction(1, 2), Fraction(1, 2)),
        ([0, 1], 9, Fraction(1, 2), Fraction(1, 2)),
        ([], 3, None, None),
    ],
)
def test_cut_at_k(verdicts: list[int], k: int, utilization: Fraction | None, precision: Fraction | None) -> None:
    assert context_utilization(verdicts, k) == utilization
    assert precision_at(verdicts, k) == precision


@pytest.mark.parametrize("verdicts", [[2, 0], [1, -1], [0.5], [1, None], ["1"]])
def test_other_verdicts_are_refused(verdicts: list[int]) -> None:
    with pytest.raises(ValueError, match="it has to be 0 or 1"):
        context_utilization(verdicts)


@pytest.mark.parametrize("k", [0, -1])
def test_other_ranks_are_refused(k: int) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        context_utilization([1], k)


@given(VERDICTS)
def test_the_best_order_is_exactly_one_and_the_worst_is_lowest(verdicts: list[int]) -> None:
    best, worst = sorted(verdicts, reverse=True), sorted(verdicts)
    found = context_utilization(verdicts)
    assert (found is None) == (1 not in verdicts)
    if found is not None:
        least = context_utilization(worst)
        assert least is not None
        assert 0 < least <= found <= 1 == context_utilization(best)
        assert (found == 1) == (verdicts == best)


@given(VERDICTS)
def test_all_or_none_relevant(verdicts: list[int]) -> None:
    assert context_utilization([1] * (len(verdicts) + 1)) == 1
    assert context_utilization([0] * len(verdicts)) is None


@given(VERDICTS, st.integers(1, 40))
def test_k_is_a_cut(verdicts: list[int], k: int) -> None:
    assert context_utilization(verdicts, k) == context_utilization(verdicts[:k])
    assert precision_at(verdicts, k) == precision_at(verdicts[:k])


@given(VERDICTS, st.data())
def test_moving_a_relevant_chunk_forward_raises_it(verdicts: list[int], data: st.DataObject) -> None:
    places = [i for i in range(1, len(verdicts)) if verdicts[i] and not verdicts[i - 1]]
    if places:
        place = data.draw(st.sampled_from(places))
        moved = [*verdicts[: place - 1], 1, 0, *verdicts[place + 1 :]]
        before, after = context_utilization(verdicts), context_utilization(moved)
        assert before is not None
        assert after is not None
        assert after > before


@given(VERDICTS)
def test_irrelevant_chunks_at_the_end_change_precision_alone(verdicts: list[int]) -> None:
    longer = [*verdicts, 0]
    assert context_utilization(longer) == context_utilization(verdicts)
    if 1 in verdicts:
        before, after = precision_at(verdicts), precision_at(longer)
        assert before is not None
        assert after is not None
        assert after < before

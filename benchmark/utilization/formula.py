"""The formulas: how early the relevant chunks stand, and how many of the chunks are relevant."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def context_utilization(verdicts: Sequence[int], k: int | None = None) -> Fraction | None:
    """Return sum over ranks of precision@rank * verdict, divided by the relevant chunks of the top K.

    It is 1 when every relevant chunk stands before every irrelevant one. It is the average precision of information
    retrieval, cut at K, with what is relevant below K left out of the denominator as well.

    Args:
        verdicts: 1 for a relevant chunk and 0 for another, best rank first.
        k: ranks that count, from 1 on; all of them when None.

    Returns:
        An exact fraction in (0, 1]; None (undefined) when no chunk of the top K is relevant.

    Raises:
        ValueError: a verdict is neither 0 nor 1, or K is below 1.

    """
    relevant, total = 0, Fraction(0)
    for rank, verdict in enumerate(_top(verdicts, k), 1):
        if verdict:
            relevant += 1
            total += Fraction(relevant, rank)
    return total / relevant if relevant else None


def precision_at(verdicts: Sequence[int], k: int | None = None) -> Fraction | None:
    """Return the share of relevant chunks in the top K, in [0, 1]; None without chunks. Raises ValueError as above."""
    top = _top(verdicts, k)
    return Fraction(sum(map(int, top)), len(top)) if top else None


def _top(verdicts: Sequence[int], k: int | None) -> Sequence[int]:
    if k is not None and k < 1:
        raise ValueError(f"K is {k}; it has to be 1 or more")
    for rank, verdict in enumerate(verdicts, 1):
        if verdict not in (0, 1):
            raise ValueError(f"the verdict of rank {rank} is {verdict!r}; it has to be 0 or 1")
    return verdicts[:k]

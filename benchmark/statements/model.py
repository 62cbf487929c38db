"""Statements as data: what a right answer says, and what only a wrong one says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cached_property
from typing import Annotated

import msgspec

from benchmark.typed_input import NonBlank, NonEmpty


class Weight(StrEnum):
    """What a statement is worth: a right answer has to say it, or may say it."""

    VITAL = auto()
    OKAY = auto()


class Within(StrEnum):
    """Where the terms of a statement have to stand together."""

    SENTENCE = auto()
    ANSWER = auto()


# One of them has to be there.
Alternatives = Annotated[tuple[NonBlank, ...], msgspec.Meta(min_length=1)]
# A name, or all its spellings. Where a text with a pattern may also be an array, msgspec 0.22 frees memory that is
# not its own, and the process may crash when it ends; so the text has none.
Name = NonEmpty | Alternatives


def _groups(names: Sequence[Name], terms: tuple[Alternatives, ...]) -> tuple[Alternatives, ...]:
    """Return names as terms to the letter, and the terms."""
    spellings = ((name,) if isinstance(name, str) else name for name in names)
    return (*(tuple(f"={spelling}" for spelling in each) for each in spellings), *terms)


@dataclass(frozen=True)
class Statement:
    """What a right answer in prose says, whatever its words. docs/statements.md tells how it is matched.

    Attributes:
        says: the statement in plain English, for people.
        names: of each, one spelling has to be found, to the letter.
        terms: groups of words; of each, one alternative has to be found.
        pairs: labels with their values; in an answer each value has to stand nearest to its own label.

    """

    says: NonBlank
    names: tuple[Name, ...] = ()
    terms: tuple[Alternatives, ...] = ()
    pairs: tuple[tuple[Alternatives, Alternatives], ...] = ()
    within: Within = Within.SENTENCE
    weight: Weight = Weight.VITAL

    def __hash__(self) -> int:
        """Hash what tells it apart; all its terms would take longer than judging by it."""
        return hash(self.says)

    @cached_property
    def groups(self) -> tuple[Alternatives, ...]:
        """Names and terms: of each, one alternative has to be found."""
        return _groups(self.names, self.terms)


@dataclass(frozen=True)
class MustNot:
    """What only a wrong answer says.

    Attributes:
        names, terms: groups; one alternative of each in the same clause is a contradiction.
        unless: phrases that make a clause harmless.

    """

    says: NonBlank
    names: tuple[Name, ...] = ()
    terms: tuple[Alternatives, ...] = ()
    unless: tuple[NonBlank, ...] = ()

    @cached_property
    def groups(self) -> tuple[Alternatives, ...]:
        """Names and terms: one alternative of each, in one clause."""
        return _groups(self.names, self.terms)

"""Groups of terms: where a text says one of their alternatives, and where the opposite of it."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

from benchmark.cases import Alternatives, Statement
from benchmark.scoring.phrases import Phrase, Place, equivalents, find, phrase_of
from benchmark.scoring.tokens import Prose
from benchmark.scoring.vocabulary import common_norms

_HAPPENED = frozenset(("found", "exists", "matches", "passes", "succeeds", "finds", "ran", "sent", "built", "held"))


@functools.lru_cache(maxsize=8192)
def _phrases(group: Alternatives, *, widened: bool = True) -> tuple[tuple[Phrase, bool], ...]:
    """Return the phrases of a group with what is equivalent to them, and whether the opposite of each contradicts."""
    found: dict[str, tuple[Phrase, bool]] = {}
    if _is_single(group):
        phrase = replace(phrase_of(group[0]), predicate=False)
        return ((phrase, False),)
    for source in group:
        phrase = phrase_of(source)
        found.setdefault(source, (phrase, phrase.predicate))
        if widened and phrase.predicate and len(phrase.parts) == 1:
            for other, opposes in equivalents(phrase.parts[0][0], under_negation=phrase.under_negation):
                found.setdefault(other, (phrase_of(other), opposes))
    return tuple(found.values())


def _is_single(group: Alternatives) -> bool:
    """Say whether a group is one uncommon word: it has no other words, so it is the name of something."""
    if len(group) > 1:
        return False
    phrase = phrase_of(group[0])
    return len(phrase.parts) == 1 and not phrase.under_negation and phrase.parts[0][0] not in common_norms()


@functools.lru_cache(maxsize=16384)
def places_of(text: Prose, group: Alternatives, *, widened: bool = True) -> tuple[list[Place], list[Place]]:
    """Return where a group is said, and where its opposite is.

    Args:
        text: the answer.
        group: the alternatives.
        widened: phrases that are equivalent to a word count as well; single words that are, always do.

    """
    said: list[Place] = []
    opposite: list[Place] = []
    names, by_word = _by_first_word(group, widened=widened)
    present = itertools.chain.from_iterable(by_word[word] for word in by_word.keys() & text.by_norm.keys())
    for phrase, opposes in itertools.chain(names, present):
        for place in find(text, phrase):
            if not phrase.predicate or place.negated == phrase.under_negation:
                said.append(place)
            elif opposes and (place.negated or _is_verb(text, place)) and not text.is_cited(place.first):
                opposite.append(place)
    return sorted(said), sorted(opposite)


_Phrases = tuple[tuple[Phrase, bool], ...]


@functools.lru_cache(maxsize=8192)
def _by_first_word(group: Alternatives, *, widened: bool) -> tuple[_Phrases, dict[str, _Phrases]]:
    """Return the phrases that begin with a name, and those that begin with a word, by that word."""
    names = []
    by_word: dict[str, _Phrases] = {}
    for phrase, opposes in _phrases(group, widened=widened):
        word, is_name = phrase.parts[0]
        if is_name:
            names.append((phrase, opposes))
        else:
            by_word[word] = (*by_word.get(word, ()), (phrase, opposes))
    return tuple(names), by_word


def _is_verb(text: Prose, place: Place) -> bool:
    """Say whether a place, found without the negation that is asked for, says that something did happen."""
    word = text.tokens[place.first].text.lower()
    return word.endswith("ed") or word in _HAPPENED


@functools.lru_cache(maxsize=8192)
def is_name_group(group: Alternatives) -> bool:
    """Say whether a group asks for a name or a number: its first alternative is one, or half of them are."""
    named = [not phrase.predicate for phrase, _ in _phrases(group, widened=False)]
    return named[0] or 2 * sum(named) >= len(named)


@functools.lru_cache(maxsize=8192)
def hard_names(group: Alternatives) -> tuple[str, ...]:
    """Return the names and numbers in the alternatives of a group."""
    names = []
    for phrase, _ in _phrases(group):
        names += [norm for norm, name in phrase.parts if name or norm[:1].isdigit()]
    return tuple(dict.fromkeys(names))


def names_of(statement: Statement) -> frozenset[str]:
    """Return all names and numbers that a statement asks for."""
    groups = [*statement.terms, *(group for pair in statement.pairs for group in pair)]
    return frozenset(name for group in groups for name in hard_names(group))

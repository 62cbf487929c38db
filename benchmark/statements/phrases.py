"""Phrases: finding them in a text, whatever the inflection, and whether they stand under a negation."""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property

from benchmark.statements.model import Alternatives
from benchmark.statements.text import Text, Token, TokenKind, tokens_of
from benchmark.statements.vocabulary import AUXILIARIES, BARRIERS, FAMILIES, NEGATORS, NO_WORDS
from benchmark.whole_tokens import token_spans

_MOST_GAP = 2
# How far before a word its negator may stand, in words.
_NEGATED_WITHIN = 4
_DENY_OR_BEGIN = NEGATORS | BARRIERS


@dataclass(frozen=True, order=True)
class PhrasePlace:
    """Where a phrase was found: first and last token, and whether it stands under a negation."""

    first: int
    last: int
    negated: bool


@dataclass(frozen=True)
class Phrase:
    """A phrase to be found.

    Attributes:
        parts: for each element its norm, and whether it is a name, found to the letter.
        under_negation: only places that are negated count.
        predicate: made of plain words, or beginning with a verb, so that a negation means something.

    """

    parts: tuple[tuple[str, bool], ...]
    under_negation: bool = False
    predicate: bool = False

    @cached_property
    def needle(self) -> str:
        """What every text holds that has its first name: more blanks may follow, and a capital begin a sentence."""
        words = self.parts[0][0].split(maxsplit=1)
        return words[0][1:] if words else ""


@functools.lru_cache(maxsize=65536)
def phrase_of(source: str) -> Phrase:
    """Return a term as a phrase: `=literal`, `!under negation`, or words, names and numbers.

    A term that begins with a negation of its own ("not found", "cannot be resolved") is the rest of it under negation.
    """
    if source.startswith("=") and len(source) > 1:
        return Phrase(((source[1:], True),))
    negated = source.startswith("!") and len(source) > 1
    tokens = [t for t in tokens_of(source[1:] if negated else source) if t.kind is not TokenKind.STOP]
    if not negated:
        tokens, negated = _without_negation(tokens)
    if not tokens:
        return Phrase(((source.strip(), True),))
    names = [token.kind is TokenKind.NAME for token in tokens]
    parts = tuple((token.text if name else token.norm, name) for token, name in zip(tokens, names, strict=True))
    plain = not any(names) and all(token.kind in (TokenKind.WORD, TokenKind.PART) for token in tokens)
    return Phrase(parts, negated, predicate=plain or tokens[0].is_verb)


def _without_negation(tokens: list[Token]) -> tuple[list[Token], bool]:
    """Take the negation off the beginning of a term; its auxiliaries go with it."""
    norms = [token.norm for token in tokens]
    place = next((i for i, norm in enumerate(norms) if norm in NEGATORS and tokens[i].kind is TokenKind.WORD), None)
    if place is None or len(tokens) < 2 or not all(norm in AUXILIARIES for norm in norms[:place]):
        return tokens, False
    rest = tokens[place + 1 :]
    while len(rest) > 1 and rest[0].norm in AUXILIARIES | {"to"}:
        rest = rest[1:]
    return (rest, True) if rest else (tokens, False)


@functools.lru_cache(maxsize=65536)
def _phrases(group: Alternatives) -> tuple[Phrase, ...]:
    return tuple(phrase_of(phrase) for term in group for phrase in FAMILIES.get(term, (term,)))


def places_of(text: Text, group: Alternatives) -> list[PhrasePlace]:
    """Return where one of some alternatives is said."""
    return sorted(
        place
        for phrase in _phrases(group)
        if _may_begin(text.text, text.by_norm, phrase)
        for place in find(text, phrase)
        if not phrase.predicate or place.negated == phrase.under_negation
    )


def may_be_said(text: Text, group: Alternatives) -> bool:
    """Return False if no alternative can be in a text; that is known before anything is looked for."""
    return may_be_among(text.text, text.by_norm, group)


def may_be_among(text: str, norms: Container[str], group: Alternatives) -> bool:
    """Return the same of a text whose tokens have these norms."""
    return any(_may_begin(text, norms, phrase) for phrase in _phrases(group))


def _may_begin(text: str, norms: Container[str], phrase: Phrase) -> bool:
    norm, name = phrase.parts[0]
    return phrase.needle in text if name else norm in norms


def find(text: Text, phrase: Phrase) -> Iterator[PhrasePlace]:
    """Yield every place of a phrase; of a name under negation, only those that are denied."""
    for first, last in _spans(text, phrase.parts):
        if text.sentence_of(first) in text.lists:
            continue
        if phrase.predicate:
            yield PhrasePlace(first, last, is_negated(text, first))
        elif not phrase.under_negation or is_negated(text, first, reach=1):
            yield PhrasePlace(first, last, negated=phrase.under_negation)


def _spans(text: Text, parts: tuple[tuple[str, bool], ...]) -> Iterator[tuple[int, int]]:
    (norm, name), *rest = parts
    starts = _places_of_name(text, norm) if name else ((i, i) for i in text.by_norm.get(norm, ()))
    for first, last in starts:
        end = _go_on(text, last, rest)
        if end is not None:
            yield first, end


def _go_on(text: Text, last: int, rest: list[tuple[str, bool]]) -> int | None:
    """Return the last token of a phrase of which `last` is one; None where the rest of it does not follow."""
    limit = text.bounds[text.sentence_of(last) + 1]
    for norm, name in rest:
        names = {first for first, _ in _places_of_name(text, norm)} if name else ()
        for index in range(last + 1, min(limit, last + 2 + _MOST_GAP)):
            token = text.tokens[index]
            if index in names or token.norm == norm:
                last = index
                break
            if not _may_stand_between(token):
                return None
        else:
            return None
    return last


def _may_stand_between(token: Token) -> bool:
    """Return True for a word that may stand inside of a phrase: it neither denies nor begins something else."""
    if token.kind not in (TokenKind.WORD, TokenKind.PART) or token.norm in _DENY_OR_BEGIN:
        return False
    return token.norm in AUXILIARIES or not token.is_verb


def _places_of_name(text: Text, name: str) -> Iterator[tuple[int, int]]:
    for start, end in token_spans(text.text, name):
        first = bisect_right(text.starts, start) - 1
        if first >= 0:
            yield first, max(first, bisect_left(text.starts, end) - 1)


def is_negated(text: Text, first: int, reach: int = _NEGATED_WITHIN) -> bool:
    """Return True if the words from token `first` on are negated, or deny what follows ("found no entry")."""
    begin, past = text.sentences[text.sentence_of(first)]
    if first + 1 < past and text.tokens[first + 1].norm in NO_WORDS:
        return True
    for index in range(first - 1, max(begin, first - reach) - 1, -1):
        token = text.tokens[index]
        if token.kind is TokenKind.STOP or token.norm in BARRIERS:
            return False
        if _negates(text, index, first):
            return True
    return False


def _negates(text: Text, index: int, first: int) -> bool:
    token, following = text.tokens[index], text.tokens[index + 1].norm
    if token.norm == "not" and following == "only":
        return False
    if token.norm in NEGATORS and token.kind in (TokenKind.WORD, TokenKind.NUMBER):
        # "exit code 0" is no negation, "0 failed" is one.
        return token.norm != "0" or index + 1 == first
    return token.norm in ("instead", "rather") and following in ("of", "than")

"""What is wrong with an answer, whatever it says: sense turned, values of others, other numbers, words in no order."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence, Set

from benchmark.statements.model import Alternatives, Statement
from benchmark.statements.pairs import crossed
from benchmark.statements.phrases import PhrasePlace, places_of
from benchmark.statements.text import Text, Token, TokenKind, tokens_of
from benchmark.statements.vocabulary import AUXILIARIES, BARRIERS, NEGATORS

# How far before and after what is said a negation may stand, in words; and before what is asked for under one.
_DENIED_BEFORE, _DENIED_AFTER, _NEGATED_WITHIN = 8, 3, 4
_FALSE = re.compile(r"(?i)\b(?:not (?:true|the case|so|correct|right)|untrue|false that|wrong that)\b")
_CHANGED = re.compile(r"(?i)\b(?:created|modified|deleted|changed|added|removed|touched|edited|new)\b")
_UNCHANGED = re.compile(rf"(?i)\b(?:not|never) (?:\w+ )?{_CHANGED.pattern.removeprefix('(?i)')}|\breverted\b")
# `unedited` is `not edited`.
UN = re.compile(r"(?i)\bun(?=[a-z]{4,}ed\b)")
# "Neither A nor B may be used": the verb is denied.
NEITHER = re.compile(
    r"(?i)\bneither\b[^.;:,]*?\bnor\b[^.;:]*?"
    r"\b(?:may|must|can|could|should|will|would|is|are|was|were|do|does|did|has|have)\b(?! not\b)"
)
_REFUSED = r"(?:refused|rejected|ruled out|turned down|forbidden|off limits|banned|prohibited|given up)\b"
_REFUSES = re.compile(rf"(?i)\b{_REFUSED}")
_NOT_REFUSED = re.compile(rf"(?i)(?:\b(?:not|never)|n't) (?:\w+ ){{0,2}}{_REFUSED}")
# What follows one of these is denied already.
_EXCEPTS = re.compile(r"(?i)\b(?:other than|except|instead of|rather than)\b")
_EXCLUDES = r"(?:not|never|no|cannot|refuses?|rejects?|forbids?|excludes?|avoid)\b"
# A question that asks what is excluded: an answer that names it need not say so again.
_ASKS_EXCLUDED = re.compile(rf"(?i)\b(?:what|which|who|where)\b[^,;]*(?:\b{_EXCLUDES}|\w{{2}}n't\b|\b{_REFUSED})")
# A sentence that has this share of a statement's own words is about it.
_ABOUT = 0.8
# Who takes most of the words from a right answer keeps at least this share of the pairs that they form there.
_TAKEN, _KEPT, _FEWEST_PAIRS = 0.6, 0.4, 3
# Nearer than this, in tokens, a value goes with neither of two names.
_MARGIN = 2
# One word of its own may be met by chance.
_FEWEST_WORDS = 2


def _sentence(text: Text, place: PhrasePlace) -> str:
    """Return the sentence in which something stands."""
    first, past = text.sentences[text.sentence_of(place.first)]
    return text.text[text.tokens[first].start : text.tokens[past - 1].end]


def in_its_words(text: Text, says: Text, question: Text) -> tuple[float, list[PhrasePlace]]:
    """Return the share of a statement's words that one sentence has, and where; words of the question do not count."""
    own = {token.bare_norm for token in says.tokens if _tells(token)} - {token.bare_norm for token in question.tokens}
    if len(own) < _FEWEST_WORDS:
        return 0.0, []
    sentences = [{text.tokens[index].bare_norm: index for index in range(*span)} for span in text.sentences]
    best = max((own & there.keys() for there in sentences), key=len, default=set())
    there = next((each for each in sentences if best <= each.keys()), {})
    return len(best) / len(own), sorted(PhrasePlace(there[word], there[word], negated=False) for word in best)


def is_denied(text: Text, places: Sequence[PhrasePlace], says: Text) -> bool:
    """Return True if places that say a statement stand under a negation of one of its words, or are called untrue."""
    if any(_FALSE.search(_sentence(text, place)) for place in places):
        return True
    if _REFUSES.search(says.text):
        return any(_NOT_REFUSED.search(_sentence(text, place)) for place in places)
    if any(map(_is_negator, says.tokens)):
        return False
    excepted = _EXCEPTS.search(says.text)
    own = {token.norm for token in says.tokens if not excepted or token.start < excepted.start()}
    sentences = itertools.groupby(sorted(places), key=lambda place: text.sentence_of(place.first))
    return any(_denied_word(text, index) in own for _, here in sentences for index in _negations(text, list(here)))


def _negations(text: Text, places: Sequence[PhrasePlace]) -> Iterator[int]:
    """Yield the negations around what is said in one sentence, without those that are a part of it."""
    first, last = places[0].first, max(place.last for place in places)
    own = {index for place in places for index in range(_begin(place), place.last + 1)}
    for index in itertools.chain(range(first, last + 1), _around(text, first, last)):
        if index not in own and _is_negator(text.tokens[index]):
            yield index


def _around(text: Text, first: int, last: int) -> Iterator[int]:
    """Yield the tokens near some of one sentence, as far as a negation reaches."""
    begin, past = text.sentences[text.sentence_of(first)]
    before = range(first - 1, max(begin, first - _DENIED_BEFORE) - 1, -1)
    after = range(last + 1, min(past, last + 1 + _DENIED_AFTER))
    for indexes in (before, after):
        yield from itertools.takewhile(lambda index: not _is_barrier(text.tokens[index]), indexes)


def _begin(place: PhrasePlace) -> int:
    return place.first - (_NEGATED_WITHIN if place.negated else 0)


def _denied_word(text: Text, negation: int) -> str:
    """Return the word that a negation denies: the next one that says something ("was not set", "no such file")."""
    past = text.sentences[text.sentence_of(negation)][1]
    following = list(itertools.takewhile(lambda token: not _is_barrier(token), text.tokens[negation + 1 : past]))
    # "Never by more than 3" is at most 3.
    bounds = any(token.norm == "than" for token in following)
    return "" if bounds else next((token.norm for token in following if _tells(token)), "")


def _tells(token: Token) -> bool:
    return token.says_something or token.kind is TokenKind.NUMBER or _is_name(token)


def _is_name(token: Token) -> bool:
    # `%` is none.
    return token.kind is TokenKind.NAME and any(map(str.isalnum, token.text))


def _is_barrier(token: Token) -> bool:
    return token.kind is TokenKind.STOP or token.norm in BARRIERS


def _is_negator(token: Token) -> bool:
    return token.kind is TokenKind.WORD and token.norm in NEGATORS


def asks_for_excluded(question: str) -> bool:
    """Return True if a question asks for what is not to be: "What may not be cached?"."""
    return _ASKS_EXCLUDED.search(question) is not None


def excluded_places(text: Text, group: Alternatives, *, asked: bool) -> list[PhrasePlace]:
    """Return where a text excludes what is asked for under a negation, without one before it.

    Args:
        text: an answer.
        group: what is asked for.
        asked: the question asks what is excluded; naming it excludes it, unless the text says that it is allowed.

    """
    return [place for place in _plain_places(text, group) if _is_excluded(text, place, asked=asked)]


def _plain_places(text: Text, group: Alternatives) -> list[PhrasePlace]:
    plain = tuple(term[1:] for term in group if term.startswith("!"))
    return places_of(text, plain) if plain else []


def _is_excluded(text: Text, place: PhrasePlace, *, asked: bool) -> bool:
    if _REFUSES.search(_sentence(text, place)) or any(True for _ in _negations(text, [place])):
        return True
    return asked and not _is_claimed(text, place)


def _is_claimed(text: Text, place: PhrasePlace) -> bool:
    """Return True if an auxiliary near a word makes a claim of it: "may be baked", "baking is fine"."""
    return any(text.tokens[index].norm in AUXILIARIES for index in _around(text, place.first, place.last))


def is_affirmed(text: Text, group: Alternatives, around: Sequence[PhrasePlace], *, asked: bool) -> bool:
    """Return True if a text says without a negation what is asked for under one, and nothing else that is asked for.

    Args:
        text: an answer.
        group: what is asked for.
        around: what else the text has of the statement; its sentences are about it.
        asked: the question asks for what is not to be.

    """
    if places_of(text, group) or excluded_places(text, group, asked=asked):
        return False
    about = {text.sentence_of(place.first) for place in around}
    return any(not about or text.sentence_of(place.first) in about for place in _plain_places(text, group))


def mixed_pairs(text: Text, statement: Statement) -> bool:
    """Return True if values of a statement go with another of its labels."""
    sides = [(places_of(text, label), places_of(text, value)) for label, value in statement.pairs]
    present = [(labels, values) for labels, values in sides if labels and values]
    return len(present) > 1 and bool(crossed(text, *map(list, zip(*present, strict=True))))


def mixed_statements(text: Text, statements: Sequence[Statement], question: Text) -> Iterator[tuple[int, int]]:
    """Yield two statements, by index, where what the one says is said of what the other is about.

    Args:
        text: an answer.
        statements: that it says, or some of.
        question: what tells the labels of which one alone is named.

    """
    for i, j in itertools.combinations(range(len(statements)), 2):
        one, other = statements[i], statements[j]
        labels = (one.groups[0], other.groups[0])
        if _are_alike(labels, question) and any(
            _are_mixed(text, labels, values, question)
            for values in itertools.product(_apart(one, other), _apart(other, one))
        ):
            yield i, j


def _are_alike(labels: tuple[Alternatives, Alternatives], question: Text) -> bool:
    """Return True if two labels are both names, or both told, so that one may be taken for the other."""
    told = all(places_of(question, label) for label in labels)
    return not set(labels[0]) & set(labels[1]) and (told or all(label[0].startswith("=") for label in labels))


def _apart(one: Statement, other: Statement) -> list[Alternatives]:
    """Return the groups of a statement but its label that have nothing in common with those of another."""
    others = {_bare(term) for group in other.groups for term in group}
    return [group for group in one.groups[1:] if not others & set(map(_bare, group))]


def _bare(term: str) -> str:
    return term.lstrip("=!")


def _are_mixed(text: Text, labels: Sequence[Alternatives], values: Sequence[Alternatives], question: Text) -> bool:
    names, said = [places_of(text, label) for label in labels], [places_of(text, value) for value in values]
    if not all(said) or not any(names):
        return False
    if all(names):
        return bool(crossed(text, names, said))
    if not all(places_of(question, label) for label in labels):
        return False
    at = 0 if names[0] else 1
    own, another = _distance(names[at], said[at]), _distance(names[at], said[1 - at])
    return another + _MARGIN < own


def _distance(some: Iterable[PhrasePlace], others: Sequence[PhrasePlace]) -> int:
    return min(abs(a.first - b.first) for a in some for b in others)


def _norms(tokens: Iterable[Token]) -> set[str]:
    return {token.bare_norm for token in tokens}


def other_number(text: Text, says: Text, question: Text, accepted: Set[str]) -> str:
    """Return the number that a sentence about a statement has in the place of the statement's own, or nothing.

    Args:
        text: an answer.
        says: the statement.
        question: what tells some of it.
        accepted: what in the answer says the statement in other words; by norm.

    """
    asked = _norms(question.tokens)
    told = asked | accepted | _norms(says.tokens)
    own = {token.bare_norm for token in says.tokens if token.says_something or _is_name(token)} - asked
    sentences = [text.tokens[first:past] for first, past in text.sentences]
    about = [each for each in sentences if own and len(own & _norms(each)) >= _ABOUT * len(own)]
    for before, after in _without_number(text, says, question):
        for one, number, next_one in (triple for sentence in about for triple in _triples(sentence)):
            if number.kind is TokenKind.NUMBER and number.norm not in told and (one == before or next_one == after):
                return number.text
    return ""


def _without_number(text: Text, says: Text, question: Text) -> Iterator[tuple[str, str]]:
    """Yield what stands before and after each number of a statement that an answer does not have."""
    there = {token.norm for token in (*text.tokens, *question.tokens)}
    for before, token, after in _triples(says.tokens):
        if token.kind is TokenKind.NUMBER and token.norm not in there:
            yield before or "?", after or "?"


def _triples(tokens: Sequence[Token]) -> Iterator[tuple[str, Token, str]]:
    norms = ["", *(token.norm for token in tokens), ""]
    return ((norms[index], token, norms[index + 2]) for index, token in enumerate(tokens))


def is_shuffled(text: Text, gold: str) -> bool:
    """Return True if an answer is made of the words of a right one, in no order."""
    theirs, ours = _words_of_gold(gold), _words(text.tokens)
    if sum(word in theirs for word in ours) < _TAKEN * len(ours):
        return False
    pairs = {pair for pair in itertools.pairwise(theirs) if set(pair) <= set(ours)}
    return len(pairs) >= _FEWEST_PAIRS and len(pairs & set(itertools.pairwise(ours))) < _KEPT * len(pairs)


@functools.lru_cache(maxsize=512)
def _words_of_gold(gold: str) -> tuple[str, ...]:
    return _words(tokens_of(gold))


def _words(tokens: Iterable[Token]) -> tuple[str, ...]:
    return tuple(token.text.lower() for token in tokens if token.kind is not TokenKind.STOP)


def denies_change(line: str) -> bool:
    """Return True if a line says that files were not changed, and of none that it was."""
    line = UN.sub("not ", line)
    rest, denials = _UNCHANGED.subn(" ", line)
    return bool(_FALSE.search(line) or (denials and not _CHANGED.search(rest)))

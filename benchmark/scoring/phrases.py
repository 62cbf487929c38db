"""Terms as phrases: finding them in a text, whatever the inflection, and whether they stand under a negation."""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from benchmark.scoring.anchors import token_spans
from benchmark.scoring.tokens import CAPITALS, Kind, Prose, Token, is_verb, tokens_of
from benchmark.scoring.vocabulary import (
    AUXILIARIES,
    BARRIERS,
    BECAUSE,
    EQUIVALENT_PHRASES,
    FAIL_TO,
    FAULTS,
    KEEP_FROM,
    NEGATORS,
    NO_DENIAL,
    NO_WORDS,
)

_MOST_GAP = 2
# How far before a word its negator may stand, in words; a subject may come between "no" and its verb.
_NEGATED_WITHIN, _NO_WITHIN = 4, 7
_SINCE = frozenset(("longer", "yet"))
_DASHED = re.compile(r"\w+(?:-\w+)+")


@dataclass(frozen=True, order=True)
class Place:
    """Where a phrase was found: first and last token, and whether it stands under a negation."""

    first: int
    last: int
    negated: bool


@dataclass(frozen=True)
class Phrase:
    """A phrase to be found.

    Attributes:
        source: as it was written; the key of what was found.
        parts: for each element its norm, and whether it is a name or a number to the letter.
        under_negation: only places that are negated count.
        predicate: made of plain words, or beginning with a verb, so that a negation means something.
        since: the negation is "no longer", or "not yet", or any but "no longer" (empty); None where it does not matter.

    """

    source: str
    parts: tuple[tuple[str, bool], ...]
    under_negation: bool
    predicate: bool
    since: str | None = None


@functools.lru_cache(maxsize=8192)
def phrase_of(source: str) -> Phrase:
    """Return a term as a phrase: `=literal`, `!under negation`, or words, names and numbers.

    A term that begins with a negation of its own ("not found", "cannot be resolved") is the rest of it under negation.
    """
    if source.startswith("=") and len(source) > 1 and not source.startswith("=="):
        return Phrase(source, ((source[1:], True),), under_negation=False, predicate=False)
    negated = source.startswith("!") and len(source) > 1
    if not negated and _DASHED.fullmatch(source.strip()):
        # A package, a host, a job: words with dashes are a name when somebody asks for them.
        return Phrase(source, ((source.strip(), True),), under_negation=False, predicate=False)
    tokens = [t for t in tokens_of(source[1:] if negated else source) if t.kind is not Kind.STOP]
    since = None
    if not negated:
        all_norms = {token.norm for token in tokens}
        tokens, negated = _without_negation(tokens)
        since = next(iter(all_norms & _SINCE), "") if negated else None
    if not tokens:
        return Phrase(source, ((source.strip(), True),), under_negation=False, predicate=False)
    names = [token.kind is Kind.NAME or bool(CAPITALS.fullmatch(token.text)) for token in tokens]
    parts = tuple((token.text if name else token.norm, name) for token, name in zip(tokens, names, strict=True))
    plain = not any(names) and all(token.kind in (Kind.WORD, Kind.PART) for token in tokens)
    predicate = plain or (tokens[0].kind is Kind.WORD and is_verb(tokens[0]))
    return Phrase(source, parts, negated, predicate, since)


def _without_negation(tokens: list[Token]) -> tuple[list[Token], bool]:
    """Take the negation off the beginning of a term; its auxiliaries go with it."""
    norms = [token.norm for token in tokens]
    place = next((i for i, norm in enumerate(norms) if norm in NEGATORS and tokens[i].kind is Kind.WORD), None)
    if place is None or len(tokens) < 2 or not all(norm in AUXILIARIES for norm in norms[:place]):
        return tokens, False
    rest = tokens[place + 1 :]
    while len(rest) > 1 and rest[0].norm in AUXILIARIES | {"to"}:
        rest = rest[1:]
    return (rest, True) if rest else (tokens, False)


@functools.lru_cache(maxsize=4096)
def equivalents(norm: str, *, under_negation: bool) -> tuple[tuple[str, bool], ...]:
    """Return the terms that say what one word says (or says under a negation), without itself.

    With each comes whether its opposite contradicts.
    """
    rows = _phrase_rows()
    members = rows.get((norm, under_negation), ())
    return tuple(member for member in members if member[0] != ("!" if under_negation else "") + norm)


@functools.cache
def _phrase_rows() -> dict[tuple[str, bool], tuple[tuple[str, bool], ...]]:
    found: dict[tuple[str, bool], tuple[tuple[str, bool], ...]] = {}
    for word, row in EQUIVALENT_PHRASES.items():
        members = [(word, True)]
        members += [(term.removeprefix("~"), not term.startswith("~")) for term in row.split("|")]
        for term, _ in members:
            phrase = phrase_of(term)
            if phrase.predicate and len(phrase.parts) == 1:
                # A phrase of one word belongs to its row only; the word of a row says what the whole row says.
                found.setdefault((phrase.parts[0][0], phrase.under_negation), tuple(members))
    return found


@functools.lru_cache(maxsize=65536)
def find(text: Prose, phrase: Phrase) -> tuple[Place, ...]:
    """Return every place of a phrase; of a name under negation, only those that are denied."""
    found = []
    for first, last in _spans(text, phrase):
        if text.lists and text.sentence_of(first) in text.lists:
            continue
        if phrase.since is not None and not _is_since(text, first, last, phrase.since):
            continue
        negated = phrase.predicate and is_negated(text, first) and not _names_fault(text, last)
        if not phrase.under_negation or phrase.predicate:
            found.append(Place(first, last, negated))
        elif _no_before(text, first):
            found.append(Place(first, last, negated=True))
    return tuple(found)


def _next_norm(text: Prose, token: int) -> str:
    """Return the norm of the token behind one, in the same sentence; empty where there is none."""
    past = text.bounds[text.sentence_of(token) + 1]
    return text.tokens[token + 1].norm if token + 1 < past else ""


def _names_fault(text: Prose, last: int) -> bool:
    """Say whether a phrase only names a kind of fault, so that a negation is of the fault: "no build errors"."""
    return _next_norm(text, last) in FAULTS


def _is_since(text: Prose, first: int, last: int, since: str) -> bool:
    """Say whether a negation tells of time as it should: "no longer open" was open before, "not yet open" will be."""
    near = text.tokens[max(0, first - 3) : first] + text.tokens[last + 1 : last + 3]
    norms = {"longer" if token.norm == "anymor" else token.norm for token in near}
    return since in norms if since else "longer" not in norms


def _no_before(text: Prose, first: int) -> bool:
    """Say whether a name stands behind a negator: "without libfoo", "no foo.py"."""
    return is_negated(text, first, reach=1)


def _spans(text: Prose, phrase: Phrase) -> list[tuple[int, int]]:
    (norm, name), *rest = phrase.parts
    starts = _places_of_name(text, norm) if name else [(i, i) for i in text.by_norm.get(norm, ())]
    if not rest:
        return starts
    found = []
    for first, last in starts:
        end = _go_on(text, last, rest)
        if end is not None:
            found.append((first, end))
    return found


def _go_on(text: Prose, last: int, rest: list[tuple[str, bool]]) -> int | None:
    limit = text.bounds[text.sentence_of(last) + 1]
    for norm, name in rest:
        for gap in range(_MOST_GAP + 1):
            index = last + 1 + gap
            if index >= limit:
                return None
            token = text.tokens[index]
            if (name and any(first == index for first, _ in _places_of_name(text, norm))) or token.norm == norm:
                last = index
                break
            if not _may_stand_between(token):
                return None
        else:
            return None
    return last


def _may_stand_between(token: Token) -> bool:
    """Say whether a word may stand inside of a phrase: it neither denies nor begins something else, nor is a verb."""
    if token.kind not in (Kind.WORD, Kind.PART) or token.norm in NEGATORS | BARRIERS:
        return False
    return token.norm in AUXILIARIES or not is_verb(token)


def _places_of_name(text: Prose, name: str) -> list[tuple[int, int]]:
    found = []
    for start, end in token_spans(text.text, name):
        first = bisect_right(text.starts, start) - 1
        last = bisect_left(text.starts, end) - 1
        if first >= 0:
            found.append((first, max(first, last)))
    return found


def is_negated(text: Prose, first: int, reach: int = _NO_WITHIN) -> bool:
    """Say whether the words from token `first` on stand under a negation, or deny what follows ("found no entry")."""
    if _next_norm(text, first) in NO_WORDS:
        return True
    if _by_nobody(text, first):
        return True
    begin = text.bounds[text.sentence_of(first)]
    index, words = first - 1, 0
    while index >= begin and words < reach:
        token = text.tokens[index]
        if token.kind is Kind.STOP or token.norm in BARRIERS:
            return token.norm == BECAUSE and _not_because(text, index, begin)
        words += 1
        if _negates(text, index, first, words) and not text.is_parted(index, first):
            return True
        index -= 1
    return False


def _by_nobody(text: Prose, first: int) -> bool:
    """Say whether what happens is done by nobody: "supplied by no object"."""
    after = text.tokens[first + 1 : first + 4]
    return any(a.norm == "by" and b.norm in NO_WORDS for a, b in itertools.pairwise(after))


def _not_because(text: Prose, index: int, begin: int) -> bool:
    return index - 1 >= begin and text.tokens[index - 1].norm == "not"


def _fails_to(text: Prose, index: int) -> bool:
    after = text.tokens[index + 1].norm if index + 1 < len(text.tokens) else ""
    return text.tokens[index].norm in FAIL_TO and after == "to"


def _negates(text: Prose, index: int, first: int, distance: int) -> bool:
    token = text.tokens[index]
    following = text.tokens[index + 1].norm if index + 1 < len(text.tokens) else ""
    if following in NO_DENIAL or text.is_quoted(index):
        return False
    if token.norm in NO_WORDS and token.kind is Kind.WORD:
        return True
    if distance > _NEGATED_WITHIN:
        return False
    if token.norm == "not" and following == "only":
        return False
    if token.norm in NEGATORS and token.kind in (Kind.WORD, Kind.NUMBER):
        # "exit code 0" is no negation, "0 failed" is one.
        return token.norm != "0" or index + 1 == first
    if _fails_to(text, index):
        return index + 1 < first
    if token.norm in ("instead", "rather") and following in ("of", "than"):
        return True
    return token.norm == "from" and any(text.tokens[i].norm in KEEP_FROM for i in range(max(0, index - 4), index))

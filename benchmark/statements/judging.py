"""What a text says of statements, and what it says against them. docs/statements.md is the guide."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmark.statements.model import Alternatives, MustNot, Statement, Weight, Within
from benchmark.statements.pairs import crossed
from benchmark.statements.phrases import PhrasePlace, find, phrase_of, places_of
from benchmark.statements.text import Text, read
from benchmark.statements.vocabulary import norm_of

# What a first contradiction leaves of the quality, and each further one.
_FIRST_LEAVES, _NEXT_LEAVES = 0.2, 0.6
_MOST_CONTRADICTIONS = 6
# What a strange reason leaves: one of at least so many words, of which less than this share is known.
_STRANGE_LEAVES, _FEWEST_WORDS, _KNOWN_FROM = 0.7, 3, 0.5


@dataclass(frozen=True)
class StatementFinding:
    """What a text does with one statement.

    Attributes:
        share: how much of it is said, in [0, 1].
        sentences: indexes of those that have a part in saying it, or that contradict it.
        contradiction: how the text contradicts it, in words; empty if it does not.

    """

    statement: Statement
    share: float = 0.0
    sentences: frozenset[int] = frozenset()
    contradiction: str = ""


@dataclass(frozen=True)
class TextVerdict:
    """What a text says of all that it should and should not.

    Attributes:
        quality: share of the vital statements that are said, times what contradictions leave; in [0, 1].
        findings: one for each statement.
        contradictions: what is wrong, in words.
        strange: it gives a reason in words that nothing known has.
        lists: a sentence of it only lists things, and says nothing.
        support: for each sentence its start and end in characters, and how much of something it says, in [0, 1].

    """

    quality: float
    findings: tuple[StatementFinding, ...]
    contradictions: tuple[str, ...]
    strange: bool
    lists: bool
    support: tuple[tuple[int, int, float], ...]


def judge(
    answer: str, statements: Sequence[Statement], must_not: Sequence[MustNot] = (), *, known: str = ""
) -> TextVerdict:
    """Return what `answer` says of `statements`, and what it says against them.

    Args:
        answer: text; what is beyond 8,000 characters is not read.
        statements: at least one of them vital.
        must_not: what only wrong answers say.
        known: text whose words, beside those of the statements, a reason may be made of.

    """
    text = read(answer)
    findings = tuple(finding(text, statement) for statement in statements)
    hits = {rule.says: found for rule in must_not if (found := set(violations(text, rule)))}
    mixed = {f.contradiction: set(f.sentences) for f in findings if f.contradiction}
    wrong = set().union(*mixed.values(), *hits.values())
    contradictions = (*mixed, *hits)[:_MOST_CONTRADICTIONS]
    shares = [f.share for f in findings if f.statement.weight is Weight.VITAL]
    strange = _is_strange(text, _known_norms(tuple(statements), known))
    left = _FIRST_LEAVES * _NEXT_LEAVES ** (len(contradictions) - 1) if contradictions else 1.0
    left *= _STRANGE_LEAVES if strange else 1.0
    return TextVerdict(
        quality=left * sum(shares) / len(shares) if shares else 0.0,
        findings=findings,
        contradictions=contradictions,
        lists=bool(text.lists),
        strange=strange,
        support=tuple(_support(text, findings, wrong)),
    )


def unsaid_terms(answer: str, statement: Statement) -> list[Alternatives]:
    """Return the groups that keep the best sentence of `answer` from saying a statement."""
    text = read(answer)
    unsaid = [group for pair in statement.pairs for group in pair if not places_of(text, group)]
    found = [places_of(text, group) for group in statement.groups]
    spans = _spans(text, statement)
    best = min(([not _in(places, span) for places in found] for span in spans), key=sum, default=[True] * len(found))
    return [group for group, missing in zip(statement.groups, best, strict=True) if missing] + unsaid


def finding(text: Text, statement: Statement) -> StatementFinding:
    """Return what a text does with one statement."""
    found = [places_of(text, group) for group in statement.groups]
    if not all(found):
        return StatementFinding(statement)
    for span in _spans(text, statement):
        here = [_in(places, span) for places in found]
        if all(here):
            if statement.pairs:
                return _with_pairs(text, statement, here)
            return StatementFinding(statement, 1.0, _sentences(text, here))
    return StatementFinding(statement)


def _spans(text: Text, statement: Statement) -> list[tuple[int, int]]:
    """Return the ranges of tokens in any of which a statement may be said."""
    anywhere = statement.within is Within.ANSWER or not statement.groups
    return [(0, len(text.tokens))] if anywhere else text.sentences


def _in(places: Sequence[PhrasePlace], span: tuple[int, int]) -> list[PhrasePlace]:
    return [place for place in places if span[0] <= place.first < span[1]]


def _sentences(text: Text, found: Sequence[Sequence[PhrasePlace]]) -> frozenset[int]:
    return frozenset(text.sentence_of(place.first) for places in found for place in places)


def _with_pairs(text: Text, statement: Statement, found: list[list[PhrasePlace]]) -> StatementFinding:
    sides = [(places_of(text, label), places_of(text, value)) for label, value in statement.pairs]
    present = [i for i, (labels, values) in enumerate(sides) if labels and values]
    if len(present) > 1:
        wrong = crossed(text, [sides[i][0] for i in present], [sides[i][1] for i in present])
        if wrong:
            names = " and ".join(statement.pairs[present[i]][0][0] for i in wrong[:2])
            labels = [sides[present[i]][0] for i in wrong]
            # Whoever gives a value to the wrong name says something false, asked for or not.
            return StatementFinding(statement, 0.0, _sentences(text, labels), f"{statement.says} (mixes up {names})")
    found = found + [side for i in present for side in sides[i]]
    return StatementFinding(statement, len(present) / len(sides), _sentences(text, found))


def violations(text: Text, rule: MustNot) -> Iterator[int]:
    """Yield the indexes of the sentences that say what they must not."""
    found = []
    for group in rule.groups:
        places = places_of(text, group)
        if not places:
            return
        found.append(places)
    for first, past in text.clauses:
        here = all(any(first <= p.first and p.last < past for p in places) for places in found)
        if here and not any(_is_excused(text, first, past, unless) for unless in rule.unless):
            yield text.sentence_of(first)


def _is_excused(text: Text, first: int, past: int, unless: str) -> bool:
    phrase = phrase_of(unless)
    return any(first <= p.first < past and p.negated >= phrase.under_negation for p in find(text, phrase))


@functools.lru_cache(maxsize=512)
def _known_norms(statements: tuple[Statement, ...], known: str) -> frozenset[str]:
    """Return the norms of all words that a reason may be made of."""
    sources = [known]
    for each in statements:
        groups = (*each.groups, *(group for pair in each.pairs for group in pair))
        sources += [each.says, *(term.lstrip("=!~") for group in groups for term in group)]
    words = re.findall(r"[^\W\d_]+", " ".join(sources))
    return frozenset(map(norm_of, words))


def _is_strange(text: Text, known: frozenset[str]) -> bool:
    """Return True if a text gives a reason in words that are not known."""
    for first, past in text.reasons:
        words = [token for token in text.tokens[first:past] if token.says_something]
        if len(words) >= _FEWEST_WORDS and sum(token.norm in known for token in words) < _KNOWN_FROM * len(words):
            return True
    return False


def _support(text: Text, findings: Sequence[StatementFinding], wrong: set[int]) -> Iterator[tuple[int, int, float]]:
    for index, (first, past) in enumerate(text.sentences):
        share = max((f.share for f in findings if index in f.sentences), default=0.0)
        yield (
            text.tokens[first].start,
            text.tokens[past - 1].end,
            0.0 if index in wrong else share,
        )

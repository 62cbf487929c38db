"""What can be wrong with statements, as far as a machine can tell without any answer."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from benchmark.statements.judging import judge, unsaid_terms
from benchmark.statements.model import Alternatives, MustNot, Statement, Weight
from benchmark.statements.text import TokenKind, tokens_of
from benchmark.statements.vocabulary import FAMILIES
from benchmark.typed_input import place_in
from benchmark.whole_tokens import has_token
from ctxsift.errors import InputError, did_you_mean

# Of statements and must_not together, as JSON: twice what any packaged case has. Judging takes time by its square.
MOST_BYTES = 20_000
# Statements, must_not, and groups of either: twice what any has. Names are tried in pairs.
_MOST_PARTS = 24
# More than this is fitted to answers that somebody has seen.
_MOST_ALTERNATIVES, _MOST_MUST_NOT, MOST_VITAL = 12, 10, 4
# Gold with two names swapped has to lose at least this much of its quality.
_LEAST_LOSS = 0.1
# In a token that is neither a word nor a number.
_IDENTIFIER = re.compile(r"[_/.:\d]")
_FAMILY = re.compile(r"~[a-z]+")
# What may stand between two names of one list: commas, conjunctions, other names.
_BETWEEN = r"[\s,]+|and\b|or\b|nor\b|[^\s,]*[\d_/.:-][^\s,]*"


def refuse_misshapen(statements: Sequence[Statement], must_not: Sequence[MustNot], where: str) -> None:
    """Raise InputError, naming the place below `where`, for statements that cannot judge an answer."""
    there = place_in(where, "statements")
    size = len(msgspec.json.encode((tuple(statements), tuple(must_not))))
    if size > MOST_BYTES:
        problem = f"together with must_not they have {size:,} bytes as JSON (limit: {MOST_BYTES:,})"
        raise InputError(there, problem, "use at most twelve alternatives per group")
    _refuse_many(statements, must_not, where)
    if all(statement.weight is not Weight.VITAL for statement in statements):
        raise InputError(there, "has no vital statement", "mark what every right answer must say as vital")
    for index, statement in enumerate(statements):
        if not statement.groups and not statement.pairs:
            problem = "has neither names nor terms nor pairs"
            raise InputError(place_in(there, index), problem, "add names, terms or pairs that an answer must contain")
        _refuse_terms(statement.terms, place_in(there, index))
    for index, rule in enumerate(must_not):
        place = place_in(where, "must_not", index)
        if not rule.groups:
            raise InputError(place, "has neither names nor terms", "add names or terms that an answer must not contain")
        _refuse_terms(rule.terms, place)


def _refuse_many(statements: Sequence[Statement], must_not: Sequence[MustNot], where: str) -> None:
    counted = [(place_in(where, "statements"), len(statements)), (place_in(where, "must_not"), len(must_not))]
    counted += [(place_in(where, "statements", at), len(each.groups)) for at, each in enumerate(statements)]
    counted += [(place_in(where, "statements", at, "pairs"), len(each.pairs)) for at, each in enumerate(statements)]
    counted += [(place_in(where, "must_not", at), len(each.groups)) for at, each in enumerate(must_not)]
    for place, number in counted:
        if number > _MOST_PARTS:
            raise InputError(place, f"has {number} parts (limit: {_MOST_PARTS})", "split it")


def beyond_limits(
    statements: Sequence[Statement], must_not: Sequence[MustNot], *, most_vital: int = MOST_VITAL
) -> Iterator[str]:
    """Yield which limits statements are beyond, and what to do."""
    if len(must_not) > _MOST_MUST_NOT:
        yield f"{len(must_not)} must_not are more than {_MOST_MUST_NOT}: keep those that wrong answers need"
    # Pairs bind what the others say.
    vital = sum(each.weight is Weight.VITAL and bool(each.groups) for each in statements)
    if vital > most_vital:
        yield f"{vital} vital statements are more than {most_vital}: mark what an answer can do without as okay"
    judged: tuple[Statement | MustNot, ...] = (*statements, *must_not)
    groups = [(each.says, group) for each in judged for group in each.groups]
    groups += [(each.says, side) for each in statements for pair in each.pairs for side in pair]
    for says, group in groups:
        if len(group) > _MOST_ALTERNATIVES:
            hint = "name a family (~missing), or ask for less"
            yield f"{says!r} has a group of {len(group)} alternatives, more than {_MOST_ALTERNATIVES}: {hint}"


def _refuse_terms(terms: Sequence[Alternatives], where: str) -> None:
    """Raise InputError for an identifier among words, or a family that there is not."""
    for place, term in ((place, term) for place, group in enumerate(terms) for term in group):
        if _FAMILY.fullmatch(term) and term not in FAMILIES:
            raise InputError(place_in(where, "terms", place), f"{term!r} is not a family", did_you_mean(term, FAMILIES))
        if any(
            token.kind is TokenKind.NAME and _IDENTIFIER.search(token.text) for token in tokens_of(term.lstrip("!="))
        ):
            raise InputError(place_in(where, "terms", place), f"{term!r} contains an identifier", "move it to names")


def unkept(
    gold: str, statements: Sequence[Statement], must_not: Sequence[MustNot]
) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Yield place, problem and hint for each statement that a right answer does not keep."""
    verdict = judge(gold, statements, must_not)
    for index, finding in enumerate(verdict.findings):
        place, hint = ("statements", index), "mend gold or the terms"
        if finding.contradiction:
            yield place, f"gold contradicts it: {finding.contradiction}", hint
        elif finding.share < 1:
            yield place, f"gold does not say it{missing_terms(gold, statements[index])}", hint
    if verdict.contradictions:
        yield ("must_not",), f"gold says what it must not: {verdict.contradictions[0]}", "narrow the terms"


def missing_terms(text: str, statement: Statement) -> str:
    """Return what keeps a text from saying a statement, in words that follow a sentence; empty where nothing does."""
    groups = unsaid_terms(text, statement)
    return f": it has none of {_shown(groups[0])}" if groups else ""


def _shown(group: Alternatives) -> str:
    return " | ".join(group[:5]) + (" ..." if len(group) > 5 else "")


def swappable(
    gold: str, names: Sequence[str], statements: Sequence[Statement], quality: Callable[[str], float]
) -> Iterator[tuple[str, str]]:
    """Yield two names of a kind that change places in gold without making it worse.

    Args:
        gold: a right answer.
        names: those in it that somebody could mix up.
        statements: what it has to say.
        quality: returns that of an answer, in [0, 1].

    """
    says = {statement.says for statement in statements}
    for ours, theirs in itertools.combinations(names, 2):
        if _shape(ours) == _shape(theirs) and not has_token(ours, theirs) and not has_token(theirs, ours):
            swapped = _swapped(gold, ours, theirs)
            if swapped != gold and quality(swapped) > 1 - _LEAST_LOSS and not _alike(says, ours, theirs):
                yield ours, theirs


def _shape(name: str) -> str:
    """Return what kind of name it is, so that two of a kind could stand in each other's place."""
    if re.fullmatch(r"(?i)(?=.*\d)[0-9a-f]{7,64}", name):
        return "hash"
    name = re.sub(r":\d+(?::\d+)?$", "", name)
    if extension := re.search(r"\w(\.[a-z]\w{0,7})$", name):
        return f"file {extension[1]}"
    return re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", re.sub(r"[\d.]+", "9", name)))


def _swapped(text: str, ours: str, theirs: str) -> str:
    pattern = re.compile("|".join(re.escape(name) for name in sorted((ours, theirs), key=len, reverse=True)))
    return pattern.sub(lambda found: theirs if found[0] == ours else ours, text)


def _alike(says: set[str], ours: str, theirs: str) -> bool:
    """Say whether the same is said of two names, one by one or in a list, so that swapping them changes nothing."""
    listed = re.compile(rf"(?:{_BETWEEN})+")
    for statement in says:
        for name, other in ((ours, theirs), (theirs, ours)):
            _, found, after = statement.partition(name)
            if found and other in after and listed.fullmatch(f" {after.partition(other)[0]} "):
                return True
    about = {statement for statement in says if ours in statement or theirs in statement}
    return bool(about) and {_swapped(statement, ours, theirs) for statement in about} == about

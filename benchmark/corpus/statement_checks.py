"""What can be wrong with the statements of a case, as far as a machine can tell without any answer."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import msgspec

from benchmark.cases import Case
from benchmark.scoring.said import is_prose, verdict_on
from benchmark.statements.judging import judge, unsaid_terms
from benchmark.statements.model import Alternatives, Weight
from benchmark.statements.text import Kind, tokens_of
from benchmark.typed_input import place_in
from benchmark.whole_tokens import has_token
from ctxsift.errors import InputError

# Of statements and must_not together, as JSON: twice what any packaged case has. Judging takes time by its square.
MOST_BYTES = 20_000
# Gold with two names swapped, or with a "not" in it, has to lose at least this much of its quality.
_LEAST_LOSS = 0.1
# In a token that is neither a word nor a number.
_IDENTIFIER = re.compile(r"[_/.:\d]")
# What may stand between two names of one list: commas, conjunctions, other names.
_BETWEEN = r"[\s,]+|and\b|or\b|nor\b|[^\s,]*[\d_/.:-][^\s,]*"


def check_statements(case: Case, *, against_gold: bool = True) -> None:
    """Raise InputError, naming the place, for statements that cannot judge an answer, or that gold does not keep.

    Args:
        case: with or without statements.
        against_gold: also judge gold and its equals, which takes some milliseconds.

    """
    if not case.statements:
        if case.must_not:
            raise InputError(
                place_in(case.where, "must_not"), "has no statements beside it", "say what is right as well"
            )
        return
    where = place_in(case.where, "statements")
    size = len(msgspec.json.encode((case.statements, case.must_not)))
    if size > MOST_BYTES:
        problem = f"with must_not they have {size:,} bytes as JSON, at most {MOST_BYTES:,} are allowed"
        raise InputError(where, problem, "keep to a dozen alternatives a group")
    if not is_prose(case):
        raise InputError(where, f"do not go with the intent {case.intent}", "use them for prose and bullets")
    if all(statement.weight is not Weight.VITAL for statement in case.statements):
        raise InputError(where, "has no vital statement", "mark what every right answer says as vital")
    for index, statement in enumerate(case.statements):
        if not statement.groups and not statement.pairs:
            problem = "has neither names nor terms nor pairs"
            raise InputError(place_in(where, index), problem, "say what has to be found")
        _refuse_identifiers(statement.terms, place_in(where, index))
    for index, must_not in enumerate(case.must_not):
        there = place_in(case.where, "must_not", index)
        if not must_not.groups:
            raise InputError(there, "has neither names nor terms", "say what must not be found")
        _refuse_identifiers(must_not.terms, there)
    if against_gold:
        for reference in case.references:
            for place, problem, hint in _unkept(reference, case):
                raise InputError(place_in(case.where, *place), problem, hint)


def _refuse_identifiers(terms: Sequence[Alternatives], where: str) -> None:
    """Raise InputError for an identifier among words."""
    for place, term in ((place, term) for place, group in enumerate(terms) for term in group):
        if any(token.kind is Kind.NAME and _IDENTIFIER.search(token.text) for token in tokens_of(term.lstrip("!="))):
            raise InputError(place_in(where, "terms", place), f"{term!r} has an identifier", "put it under names")


def gold_findings(case: Case) -> Iterator[str]:
    """Yield why the statements of `case` cannot judge an answer, or which gold or one of its equals does not keep."""
    try:
        check_statements(case, against_gold=False)
    except InputError as error:
        yield str(error)
    for reference in case.references:
        for place, problem, _ in _unkept(reference, case):
            yield f"/{'/'.join(map(str, place))}: {problem}"


def _unkept(reference: str, case: Case) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Yield place, problem and hint for each statement that a reference does not keep."""
    verdict = judge(reference, case.statements, case.must_not)
    for index, finding in enumerate(verdict.findings):
        place, hint = ("statements", index), "mend gold or the terms"
        if finding.contradiction:
            yield place, f"gold contradicts it: {finding.contradiction}", hint
        elif finding.share < 1:
            yield place, f"gold does not say it{_why(reference, case, index)}", hint
    if verdict.contradictions:
        yield ("must_not",), f"gold says what it must not: {verdict.contradictions[0]}", "narrow the terms"


def _why(reference: str, case: Case, index: int) -> str:
    groups = unsaid_terms(reference, case.statements[index])
    return f": it has none of {_shown(groups[0])}" if groups else ""


def _shown(group: Alternatives) -> str:
    return " | ".join(group[:5]) + (" ..." if len(group) > 5 else "")


def statement_findings(case: Case) -> Iterator[str]:
    """Yield what an author has probably forgotten in the statements of `case`."""
    for anchor in case.anchors:
        if not any(anchor in term or term in anchor for term in _terms(case)):
            yield f"the anchor {anchor!r} is in no statement, so that nothing can be said with it"
    gold = case.expected_output
    for ours, theirs in itertools.combinations(_names(case), 2):
        if _shape(ours) == _shape(theirs) and not has_token(ours, theirs) and not has_token(theirs, ours):
            swapped = _swapped(gold, ours, theirs)
            if swapped != gold and _quality(swapped, case) > 1 - _LEAST_LOSS and not _alike(case, ours, theirs):
                yield f"gold with {ours!r} and {theirs!r} swapped is as good: bind them in pairs or in an order"


def _shape(name: str) -> str:
    """Return what kind of name it is, so that two of a kind could stand in each other's place."""
    if re.fullmatch(r"(?i)(?=.*\d)[0-9a-f]{7,64}", name):
        return "hash"
    name = re.sub(r":\d+(?::\d+)?$", "", name)
    if extension := re.search(r"\w(\.[a-z]\w{0,7})$", name):
        return f"file {extension[1]}"
    return re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", re.sub(r"[\d.]+", "9", name)))


def _terms(case: Case) -> Iterator[str]:
    for statement in case.statements:
        for group in (*statement.groups, *itertools.chain.from_iterable(statement.pairs)):
            yield from group


def _names(case: Case) -> list[str]:
    return [anchor for anchor in case.anchors if has_token(case.expected_output, anchor)]


def _swapped(text: str, ours: str, theirs: str) -> str:
    pattern = re.compile("|".join(re.escape(name) for name in sorted((ours, theirs), key=len, reverse=True)))
    return pattern.sub(lambda found: theirs if found[0] == ours else ours, text)


def _alike(case: Case, ours: str, theirs: str) -> bool:
    """Say whether the same is said of two names, one by one or in a list, so that swapping them changes nothing."""
    says = {statement.says for statement in case.statements}
    listed = re.compile(rf"(?:{_BETWEEN})+")
    for statement in says:
        for name, other in ((ours, theirs), (theirs, ours)):
            _, found, after = statement.partition(name)
            if found and other in after and listed.fullmatch(f" {after.partition(other)[0]} "):
                return True
    about = {statement for statement in says if ours in statement or theirs in statement}
    return bool(about) and {_swapped(statement, ours, theirs) for statement in about} == about


def _quality(text: str, case: Case) -> float:
    verdict = verdict_on(text, case)
    return verdict.quality if verdict else 0.0

"""What can be wrong with the statements of a case, as far as a machine can tell without any answer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from benchmark.cases import Case
from benchmark.scoring.said import is_prose, verdict_on
from benchmark.statements.lints import MOST_VITAL, beyond_limits, refuse_misshapen, swappable, unkept
from benchmark.typed_input import place_in
from benchmark.whole_tokens import has_token
from ctxsift.errors import InputError
from ctxsift.intents import Intent


def check_statements(case: Case, *, against_gold: bool = True) -> None:
    """Raise InputError, naming the place, for statements that cannot judge an answer, or that gold does not keep.

    Args:
        case: with or without statements.
        against_gold: also judge gold and its equals, which takes some milliseconds.

    """
    if not case.statements:
        if case.must_not:
            raise InputError(
                place_in(case.where, "must_not"), "is used without statements", "add statements that say what is right"
            )
        return
    if not is_prose(case):
        where = place_in(case.where, "statements")
        raise InputError(where, f"cannot be used with the intent {case.intent}", "use them only for prose and bullets")
    refuse_misshapen(case.statements, case.must_not, case.where)
    if against_gold:
        for reference in case.references:
            for place, problem, hint in unkept(reference, case.statements, case.must_not):
                raise InputError(place_in(case.where, *place), problem, hint)


def gold_findings(case: Case) -> Iterator[str]:
    """Yield why the statements of `case` cannot judge an answer, or which gold or one of its equals does not keep."""
    try:
        check_statements(case, against_gold=False)
    except InputError as error:
        yield str(error)
    for reference in case.references:
        for place, problem, _ in unkept(reference, case.statements, case.must_not):
            yield f"/{'/'.join(map(str, place))}: {problem}"


def statement_findings(case: Case) -> Iterator[str]:
    """Yield what an author has probably forgotten in the statements of `case`, or overdone."""
    # One vital statement for each bullet or anchor is not too many.
    bullets = len(case.expected_output.splitlines()) if case.intent is Intent.BULLET_LIST else 0
    yield from beyond_limits(case.statements, case.must_not, most_vital=max(MOST_VITAL, bullets, len(case.anchors)))
    for anchor in case.anchors:
        if not any(anchor in term or term in anchor for term in _terms(case)):
            yield f"the anchor {anchor!r} is in no statement, so that nothing can be said with it"
    gold = case.expected_output
    names = [anchor for anchor in case.anchors if has_token(gold, anchor)]
    for ours, theirs in swappable(gold, names, case.statements, lambda text: _quality(text, case)):
        yield f"gold with {ours!r} and {theirs!r} swapped is as good: bind them in pairs or in an order"


def _terms(case: Case) -> Iterator[str]:
    for statement in case.statements:
        for group in (*statement.groups, *itertools.chain.from_iterable(statement.pairs)):
            yield from group


def _quality(text: str, case: Case) -> float:
    verdict = verdict_on(text, case)
    return verdict.quality if verdict else 0.0

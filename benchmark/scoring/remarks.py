"""How reasons of answers that are judged by statements begin: reports and the page tell them apart by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from benchmark.statements.judging import TextVerdict
from benchmark.statements.model import Weight


class Remark(StrEnum):
    """The beginning of a reason; SAYS and MEASURED are no faults, any other reason is one, whatever its beginning."""

    SAYS = "says: "
    IN_PART = "says in part: "
    UNSAID = "does not say: "
    CONTRADICTS = "contradicts: "
    MEASURED = "cosine "


def reasons_of(verdict: TextVerdict) -> Iterator[str]:
    """Yield what an answer says and does not say, and what is wrong with it, for people."""
    for finding in verdict.findings:
        says = finding.statement.says
        if finding.contradiction:
            continue
        if finding.share >= 1:
            yield f"{Remark.SAYS}{says}"
        elif finding.share > 0:
            yield f"{Remark.IN_PART}{says}"
        elif finding.statement.weight is Weight.VITAL:
            yield f"{Remark.UNSAID}{says}"
    yield from (f"{Remark.CONTRADICTS}{words}" for words in verdict.contradictions)
    if verdict.strange:
        yield "gives a reason that nothing known speaks of"
    if verdict.lists:
        yield "lists names, and says nothing there"


def faults(reasons: Sequence[str]) -> list[str]:
    """Return what is wrong with an answer that is judged by statements, of all its reasons; contradictions first."""
    wrong = [reason for reason in reasons if not reason.startswith((Remark.SAYS, Remark.MEASURED))]
    return sorted(wrong, key=lambda reason: not reason.startswith(Remark.CONTRADICTS))

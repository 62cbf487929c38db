"""How reasons of answers that are judged by statements begin: reports and the page tell them apart by it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class Remark(StrEnum):
    """The beginning of a reason; SAYS and MEASURED are no faults, any other reason is one, whatever its beginning."""

    SAYS = "says: "
    IN_PART = "says in part: "
    UNSAID = "does not say: "
    CONTRADICTS = "contradicts: "
    INVENTED = "names "
    MEASURED = "cosine "


def faults(reasons: Sequence[str]) -> list[str]:
    """Return what is wrong with an answer that is judged by statements, of all its reasons; contradictions first."""
    wrong = [reason for reason in reasons if not reason.startswith((Remark.SAYS, Remark.MEASURED))]
    return sorted(wrong, key=lambda reason: not reason.startswith(Remark.CONTRADICTS))

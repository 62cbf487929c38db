"""What became of a statement, and of a whole probe: it is kept, stands there in other words, or is lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from benchmark.judges.rubric import FULL
from benchmark.probes.records import AskedProbe, JudgedStatement, PosedProbe
from benchmark.statements.model import Weight

# From here on, a statement counts as kept, or as said; of the full score, a probe does.
SAID = 0.5
# By session and id.
Posed = Mapping[tuple[str, str], PosedProbe]


class ProbeState(StrEnum):
    """How a statement, or a probe, stands in a context."""

    KEPT = "kept"
    OTHER_WORDS = "in other words"
    LOST = "lost"


def posed_by_id(probes: Iterable[PosedProbe]) -> Posed:
    """Return probes as `state_of` looks them up."""
    return {(each.session, each.probe): each for each in probes}


def statement_state(found: JudgedStatement) -> ProbeState:
    """Return how a statement stands in a context."""
    if found.share >= SAID:
        return ProbeState.KEPT
    return ProbeState.OTHER_WORDS if found.reworded else ProbeState.LOST


def state_of(asked: AskedProbe, posed: PosedProbe) -> ProbeState:
    """Return how a probe stands in a context.

    One that is answered by less than half is in other words where all its vital statements that are not kept are, and
    nothing wrong is said.
    """
    if asked.score >= SAID * FULL:
        return ProbeState.KEPT
    gold = posed.gold_at(asked.at).statements
    states = {statement_state(each) for each in asked.statements if gold[each.index].weight is Weight.VITAL}
    reworded = ProbeState.OTHER_WORDS in states and ProbeState.LOST not in states
    return ProbeState.OTHER_WORDS if reworded and not asked.wrong else ProbeState.LOST

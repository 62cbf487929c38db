"""What the last compaction of a session dropped, as `ctxsift lost` shows it: the user's orders first."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from benchmark.probes.generating import generated
from benchmark.probes.measuring import ProbedSubject, measure
from benchmark.probes.model import ProbeType
from benchmark.probes.own import GIVEN, lost_by_methods, told_once
from benchmark.probes.states import ProbeState
from ctxsift.errors import InputError
from ctxsift.sessions.compaction.controls import GivenSummary
from ctxsift.sessions.compaction.transcript import tokens_of
from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Compaction, Session

# What an agent misses most comes first; files are one `ls` away.
_ORDER = (
    ProbeType.CONSTRAINT,
    ProbeType.CONTINUATION,
    ProbeType.DECISION,
    ProbeType.RECALL,
    ProbeType.ARTIFACT,
)
_AT_END = (1.0,)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A thing that the session said before its last compaction, and nothing after it says.

    Attributes:
        step: the last one that says it.
        reworded: the summary may say it in other words.

    """

    type: ProbeType
    step: int
    text: str
    reworded: bool = False


@dataclass(frozen=True, slots=True)
class Loss:
    """What the last compaction of a session left of all that rules ask for.

    Attributes:
        after_step: the last step before the compaction.
        asked: things that rules found in the steps that it removed.
        dropped: those that are lost, then those that may stand there in other words; orders of the user first.

    """

    after_step: int
    asked: int
    dropped: tuple[Dropped, ...]

    @property
    def lost(self) -> int:
        """How many are lost, not counting those in other words."""
        return sum(not each.reworded for each in self.dropped)

    @property
    def without_reworded(self) -> Loss:
        """The same without what may stand in the summary in other words."""
        return dataclasses.replace(self, dropped=tuple(each for each in self.dropped if not each.reworded))


def loss_of(path: Path) -> Loss:
    """Return what the last compaction of a session dropped.

    Raises:
        InputError: the file is no session, records no compaction or none whose summary can be read, or the rules find
            nothing to ask about the steps that it removed.

    """
    session = read_session(path)
    last = _last(path, session)
    steps = tuple(step for step in session.steps if step.step_id <= last.after_step)
    before = dataclasses.replace(session, steps=steps)
    kept = last.first_kept_step
    keep_last = tokens_of([step for step in steps if step.step_id >= kept]) if kept is not None else 0
    probes = generated(before, keep_last=keep_last, shares=_AT_END)
    subject = ProbedSubject(
        str(path), "own", before, probes, keep_last=keep_last, shares=_AT_END, counts_inventions=False
    )
    if not subject.cuts or not subject.asked:
        problem = f"the rules find nothing to ask about the steps before the compaction at step {last.after_step}"
        raise InputError(str(path), problem, "read the summary with `ctxsift session show`")
    # The budget limits methods that make summaries; this one is given whole.
    result = measure(subject, GIVEN, budget=0, made=GivenSummary(last.summary))
    (row,) = lost_by_methods([subject], {GIVEN: [result]})
    examples = sorted(
        row.examples, key=lambda each: (each.state is ProbeState.OTHER_WORDS, _ORDER.index(each.type), each.step)
    )
    found = told_once(examples)
    dropped = [Dropped(each.type, each.step, each.text, each.state is ProbeState.OTHER_WORDS) for each in found]
    # Rules of two types may ask for one sentence: it counts once, among what was asked as among what is lost.
    asked = {(each.probe.evidence[-1], *(s.says for s in each.probe.statements)) for each in subject.asked}
    return Loss(last.after_step, len(asked), tuple(dropped))


def _last(path: Path, session: Session) -> Compaction:
    compactions = session.standing_compactions
    if not compactions:
        raise InputError(
            str(path), "records no compaction", "`ctxsift compact` shows what one would keep of this session"
        )
    last = max(compactions, key=lambda each: each.after_step)
    if not last.summary.strip():
        problem = f"the summary of the compaction after step {last.after_step} is encrypted or not recorded"
        raise InputError(str(path), problem, "nothing can be said of this session")
    return last

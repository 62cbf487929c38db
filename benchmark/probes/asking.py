"""Which probes are asked at which cuts, and what of them counts: never what the steps that are kept say anyway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmark.probes.acts import Act
from benchmark.probes.judge import Counted, ProbeJudge, ProbeUnit, ProbeVerdict
from benchmark.probes.model import Probe, sentence
from benchmark.statements.judging import judge
from benchmark.statements.model import Weight
from ctxsift.sessions.compaction.cutting import SHARES, cuts_at_shares, first_of
from ctxsift.sessions.compaction.records import Cut
from ctxsift.sessions.compaction.running import DEFAULT_KEEP_LAST, compact_session
from ctxsift.sessions.records import Session

NOTHING = ProbeVerdict()
UNCOUNTED = Counted(frozenset(), frozenset(), frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class ProbeAtCut:
    """A probe at a cut.

    Attributes:
        at: the cut, counted from 0 in its session.
        age: cuts since the first one after which its evidence was gone.
        counted: of its statements; a probe of which none is vital at a cut is not asked there.

    """

    probe: Probe
    at: int
    age: int
    counted: Counted


def probe_cuts(session: Session, keep_last: int = DEFAULT_KEEP_LAST, shares: Sequence[float] = SHARES) -> list[Cut]:
    """Return the cuts at which a session is probed: at shares of its tokens, where anything goes at all."""
    cuts = cuts_at_shares(session.steps, keep_last, shares)
    return [cut for cut in cuts if cut.first_kept > first_of(session.steps)]


def kept_texts(session: Session, cuts: Sequence[Cut], keep_last: int = DEFAULT_KEEP_LAST) -> list[str]:
    """Return the text of the steps that are kept at each cut, whatever the method."""
    return [each.text for each in compact_session(session, "drop", cuts, keep_last=keep_last)]


def kept_says(
    probes: Sequence[Probe], cuts: Sequence[Cut], kept: Sequence[str], judge: ProbeJudge
) -> list[dict[str, ProbeVerdict]]:
    """Return for each cut what the kept steps say of each probe, by id, that has statements and could be asked there.

    Args:
        probes: of the session.
        cuts: in their order.
        kept: the text of the kept steps at each.
        judge: the rules, so that all judges are asked the same.

    """
    return [
        {
            probe.probe_id: judge.judge(ProbeUnit(probe, probe.statements, UNCOUNTED, cut.after_step, context=text))
            for probe in probes
            if probe.files is None and is_gone(probe, cut)
        }
        for cut, text in zip(cuts, kept, strict=True)
    ]


def askings(
    probes: Sequence[Probe], cuts: Sequence[Cut], kept: Sequence[Mapping[str, ProbeVerdict]]
) -> Iterator[ProbeAtCut]:
    """Yield each probe at each cut at which it is asked; those that ask for files are asked where any is gone.

    Args:
        probes: of the session.
        cuts: in their order.
        kept: what the kept steps say at each; see `kept_says`.

    """
    for probe in probes:
        first = None
        for at, cut in enumerate(cuts):
            if not is_gone(probe, cut):
                continue
            first = at if first is None else first
            counted = counted_of(probe, kept[at].get(probe.probe_id, NOTHING))
            if counted.vital or probe.files is not None:
                yield ProbeAtCut(probe, at, at - first, counted)


def leaked(probes: Sequence[Probe], kept: Sequence[Mapping[str, ProbeVerdict]]) -> Iterator[tuple[str, int, int]]:
    """Yield probe by id, cut and statement by index where the kept steps say what is asked for; as for `askings`."""
    for at, said in enumerate(kept):
        for probe in probes:
            found = said.get(probe.probe_id, NOTHING).statements
            yield from ((probe.probe_id, at, index) for index in sorted(found))


def is_gone(probe: Probe | Act, cut: Cut) -> bool:
    """Return True if all evidence of a probe, or an act, is gone at a cut, and its answer still right."""
    return max(probe.evidence) < cut.first_kept and (probe.until is None or cut.after_step < probe.until)


def counted_of(probe: Probe, leaked: ProbeVerdict) -> Counted:
    """Return what of a probe counts beside kept steps that say `leaked`."""
    left = [(index, each.weight) for index, each in enumerate(probe.statements) if index not in leaked.statements]
    okay = {index for index, weight in left if weight is Weight.OKAY}
    return Counted(
        frozenset(index for index, weight in left if weight is Weight.VITAL),
        frozenset(okay - told_by_question(probe)) if okay else frozenset(),
        frozenset(range(len(probe.must_not))) - leaked.must_not.keys(),
        frozenset(range(len(tuple(probe.names())))) - leaked.names,
    )


def told_by_question(probe: Probe) -> frozenset[int]:
    """Return the statements, by index, that the question of a probe says itself."""
    # As a sentence of its own: a question says nothing.
    told = judge(sentence(probe.question.replace("?", ".")), probe.statements)
    return frozenset(index for index, found in enumerate(told.findings) if found.share == 1)

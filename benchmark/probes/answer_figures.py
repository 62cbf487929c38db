"""Two boards over the same questions: what contexts keep and what an answerer says, statement by statement."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from statistics import fmean

from msgspec.structs import replace

from benchmark.probes.figures import ProbeBoard, board_of
from benchmark.probes.model import Maker
from benchmark.probes.nulls import row_of
from benchmark.probes.records import Answering, AskedProbe, MeasuredMethod, PosedProbe, ProbeResult
from benchmark.probes.states import SAID, Posed, posed_by_id
from benchmark.statements.model import Weight


class Fate(StrEnum):
    """What became of a statement: it stands in the context or is lost, and the answer says it or does not."""

    KEPT_SAID = auto()
    # There, and not used.
    KEPT_UNSAID = auto()
    LOST_UNSAID = auto()
    # Invented, or known from elsewhere; or rules did not see it in the context.
    LOST_SAID = auto()


@dataclass(frozen=True)
class Abstained:
    """How often an answerer says that it is not there, of all questions without an answer that it was asked."""

    abstained: int
    asked: int


@dataclass(frozen=True)
class Fates:
    """What became of all that one method was asked.

    Attributes:
        shares: of the vital statements that have each fate, in [0, 1]; each question weighs the same, however many
            statements (or files) it asks for.
        statements: how many have it.
        abstaining: share of the answers that name what they do not know, and contradict nothing.
        wrong: ... that contradict a right answer, or say nothing of it and not that they do not know it.
        unanswerable: of the questions without an answer; None where none was asked.

    """

    shares: Mapping[Fate, float]
    statements: Mapping[Fate, int]
    abstaining: float
    wrong: float
    unanswerable: Abstained | None = None


@dataclass(frozen=True)
class AnsweredBoard:
    """An answerer on the questions that it answered under every method.

    Attributes:
        kept: what contexts hold.
        said: what answers say.
        fates: by label of the row.

    """

    answering: Answering
    kept: ProbeBoard
    said: ProbeBoard
    fates: Mapping[str, Fates]


def answered_boards(result: ProbeResult) -> Iterator[AnsweredBoard]:
    """Yield the boards of each answerer, in their order, by makers of probes; none of one that answered nothing."""
    posed = posed_by_id(result.probes)
    for answering in result.answered:
        kept = {method.label: method for method in answering.kept or result.methods}
        said = {method.label: method for method in answering.methods}
        shared = _shared(list(said.values()))
        once = len(shared) == len({(session, probe) for session, probe, _ in shared})
        for maker in Maker:
            boards = [
                board_of([_only(methods[label], shared, once=once) for label in said], maker, told)
                for methods, told in ((kept, posed), (said, None))
            ]
            if boards[0] and boards[1]:
                fates: dict[str, list[Fates]] = {}
                for label, method in said.items():
                    found = _fates(kept[label], method, maker, shared, posed)
                    fates.setdefault(row_of(method).label, []).append(found)
                joined = {label: _joined(found) for label, found in fates.items()}
                yield AnsweredBoard(answering, boards[0], boards[1], joined)


_Key = tuple[str, str, int]


def _shared(methods: Sequence[MeasuredMethod]) -> frozenset[_Key]:
    """Return what was answered under every method."""
    asked = [frozenset(each.key for each in method.asked) for method in methods]
    return asked[0].intersection(*asked[1:]) if asked else frozenset()


def _only(method: MeasuredMethod, keys: frozenset[_Key], *, once: bool) -> MeasuredMethod:
    """Return a method with these questions alone, in an order that all methods have.

    Where each probe is asked `once`, all weigh the same, whatever the age of their evidence.
    """
    asked = sorted((each for each in method.asked if each.key in keys), key=lambda each: each.key)
    asked = [replace(each, age=0) for each in asked] if once else asked
    cuts = {(each.session, each.at) for each in asked}
    contexts = [each for each in method.contexts if (each.session, each.at) in cuts]
    return replace(method, contexts=contexts, asked=asked)


def _fates(
    kept: MeasuredMethod,
    said: MeasuredMethod,
    maker: Maker,
    keys: frozenset[_Key],
    posed: Posed,
) -> Fates:
    held = {each.key: _shares(each) for each in kept.asked}
    answers = [each for each in said.asked if each.made_by is maker and each.key in keys]
    found = [_fates_of(each, held[each.key], posed[each.session, each.probe]) for each in answers]
    wrong = [is_wrong(each) for each in answers]
    return Fates(
        {fate: fmean(fates.count(fate) / len(fates) for fates in found if fates) for fate in Fate},
        {fate: sum(fates.count(fate) for fates in found) for fate in Fate},
        fmean(bool(each.abstains) and not bad for each, bad in zip(answers, wrong, strict=True)),
        fmean(wrong),
        _abstained(said, {each.session for each in answers}),
    )


def _joined(draws: Sequence[Fates]) -> Fates:
    """Return what became of all that a row was asked; each draw of random lines was asked the same."""
    if len(draws) == 1:
        return draws[0]
    unanswerable = [each.unanswerable for each in draws if each.unanswerable]
    return Fates(
        {fate: fmean(each.shares[fate] for each in draws) for fate in Fate},
        {fate: sum(each.statements[fate] for each in draws) for fate in Fate},
        fmean(each.abstaining for each in draws),
        fmean(each.wrong for each in draws),
        Abstained(sum(each.abstained for each in unanswerable), sum(each.asked for each in unanswerable))
        if unanswerable
        else None,
    )


def _abstained(said: MeasuredMethod, sessions: Collection[str]) -> Abstained | None:
    found = [each.abstains for each in said.unanswerable if each.session in sessions]
    return Abstained(sum(found), len(found)) if found else None


def _fates_of(answer: AskedProbe, held: Mapping[int, float], posed: PosedProbe) -> list[Fate]:
    gold = posed.gold_at(answer.at)
    return [
        _fate(held.get(index, 0.0) >= SAID, share >= SAID)
        for index, share in _shares(answer).items()
        if gold.statements[index].weight is Weight.VITAL
    ]


def _fate(kept: bool, said: bool) -> Fate:
    if kept:
        return Fate.KEPT_SAID if said else Fate.KEPT_UNSAID
    return Fate.LOST_SAID if said else Fate.LOST_UNSAID


def is_wrong(answer: AskedProbe) -> bool:
    """Return True if an answer contradicts a right one, or says nothing of it without naming that."""
    return bool(answer.wrong) or (not answer.abstains and not answer.score)


def _shares(asked: AskedProbe) -> dict[int, float]:
    return {each.index: each.share for each in asked.statements}

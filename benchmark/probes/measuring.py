"""Methods over sessions: each session is cut and made short, and its probes are looked for in what is left."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec

from benchmark.probes.asking import Asking, askings, kept_texts, leaked, probe_cuts
from benchmark.probes.file_sets import FileJudge, FileSet
from benchmark.probes.judging import NOTHING, RuleJudge, Said
from benchmark.probes.model import Probe
from benchmark.probes.records import AskedProbe, LeftContext, ProbedSession
from benchmark.probes.scoring import criteria_of, score_of
from benchmark.sessions.records import StepTruth
from ctxsift.sessions.compaction.controls import Given
from ctxsift.sessions.compaction.cutting import SHARES
from ctxsift.sessions.compaction.records import Compacted, Cut, Method
from ctxsift.sessions.compaction.running import DEFAULT_KEEP_LAST, compact_session
from ctxsift.sessions.compaction.transcript import tokens_in, tokens_of
from ctxsift.sessions.records import Session, Source

ORACLE = "gold"


@dataclass(frozen=True)
class Subject:
    """A session with the probes about it.

    Attributes:
        name: unique in a run.
        split: `dev`, `test`, or `own`.
        keep_last, shares: where it is cut; see `probe_cuts`.
        truth: what git says of the files after each step; empty where that is not known.

    """

    name: str
    split: str
    session: Session
    probes: tuple[Probe, ...]
    truth: tuple[StepTruth, ...] = ()
    keep_last: int = DEFAULT_KEEP_LAST
    shares: tuple[float, ...] = SHARES

    @cached_property
    def cuts(self) -> list[Cut]:
        """Where it is cut, whatever the method."""
        return probe_cuts(self.session, self.keep_last, self.shares)

    @cached_property
    def kept(self) -> list[str]:
        """The text of the steps that are kept at each cut."""
        return kept_texts(self.session, self.cuts, self.keep_last)

    @cached_property
    def rules(self) -> RuleJudge:
        """Of its probes."""
        return RuleJudge(self.probes)

    @cached_property
    def files(self) -> FileJudge:
        """Of its files."""
        return FileJudge(self.truth, self.session.head.folder)

    @cached_property
    def asked(self) -> list[Asking]:
        """Its probes at the cuts at which they are asked; one that asks for files, where there are any."""
        found = askings(self.probes, self.cuts, self.kept, self.rules)
        return [asking for asking in found if asking.probe.files is None or self._files_at(asking)]

    @cached_property
    def leaks(self) -> int:
        """How many statements, at all cuts, the kept steps say as well."""
        return sum(1 for _ in leaked(self.probes, self.cuts, self.kept, self.rules))

    @cached_property
    def sha256(self) -> str:
        """Of steps, probes, and how much is kept."""
        whole = (self.session.steps, self.probes, self.truth, self.keep_last, self.shares)
        return hashlib.sha256(msgspec.json.encode(whole)).hexdigest()

    @property
    def record(self) -> ProbedSession:
        """What a result says of it."""
        made = [probe.made_by for probe in self.probes]
        return ProbedSession(
            name=self.name,
            split=self.split,
            sha256=self.sha256,
            steps=len(self.session.steps),
            cuts=[cut.after_step for cut in self.cuts],
            probes={maker: made.count(maker) for maker in dict.fromkeys(made)},
        )

    def _files_at(self, asking: Asking) -> bool:
        assert asking.probe.files is not None
        return bool(
            self.truth and self.files.gold(asking.probe.files, self.cuts[asking.at].after_step, self.kept[asking.at])
        )

    def gold_at(self, at: int) -> str:
        """Return right answers to all that is asked at a cut, as text."""
        return "\n".join(self.gold_of(asking) for asking in self.asked if asking.at == at)

    def gold_of(self, asking: Asking) -> str:
        """Return a right answer to a probe at its cut, as text."""
        change = asking.probe.files
        if change is None:
            return asking.probe.gold
        files = self.files.gold(change, self.cuts[asking.at].after_step, self.kept[asking.at])
        return "\n".join(f"- {path} was {change}." for path in sorted(files))


@dataclass(frozen=True)
class MethodResult:
    """What a method made of one session; see MeasuredMethod."""

    contexts: list[LeftContext]
    asked: list[AskedProbe]


def measure(subject: Subject, method: str, budget: int, made: Method | None = None) -> MethodResult:
    """Return what a method makes of a session.

    Args:
        subject: the session with its probes.
        method: its name.
        budget: tokens of a summary.
        made: the method itself, where it has no name by which it is registered.

    Raises:
        InputError: there is no method of that name.

    """
    if method == ORACLE:
        made = Given(by_cut={cut.after_step: subject.gold_at(at) for at, cut in enumerate(subject.cuts)})
    compacted = list(
        compact_session(subject.session, method, subject.cuts, budget=budget, keep_last=subject.keep_last, method=made)
    )
    answered = answered_rightly(subject) if method == ORACLE else None
    return MethodResult(
        [_left(subject, at, each) for at, each in enumerate(compacted)],
        answered or [asked for at, each in enumerate(compacted) for asked in judged(subject, at, each.text)],
    )


def answered_rightly(subject: Subject) -> list[AskedProbe]:
    """Return what each probe finds in its own right answer: what others ask for may contradict it by chance."""
    found = []
    for asking in subject.asked:
        gold = subject.gold_of(asking)
        said = subject.rules.judge(gold).get(asking.probe.probe_id, NOTHING)
        found.append(_asked(subject, asking, said, gold))
    return found


def judged(subject: Subject, at: int, context: str) -> Iterator[AskedProbe]:
    """Yield what each probe that is asked at a cut finds in a context. Nothing here knows whose it is."""
    said = subject.rules.judge(context)
    for asking in subject.asked:
        if asking.at == at:
            yield _asked(subject, asking, said.get(asking.probe.probe_id, NOTHING), context)


def _asked(subject: Subject, asking: Asking, said: Said, context: str) -> AskedProbe:
    probe, files = asking.probe, _files(subject, asking, context)
    may_be_wrong = files is None and bool(asking.counted.must_not)
    return AskedProbe(
        session=subject.name,
        probe=probe.probe_id,
        type=probe.type,
        made_by=probe.made_by,
        at=asking.at,
        age=asking.age,
        score=score_of(asking, said, files),
        criteria=criteria_of(asking, said, files),
        uptake=asking.contradicted(said) if may_be_wrong else None,
    )


def _files(subject: Subject, asking: Asking, context: str) -> FileSet | None:
    change = asking.probe.files
    if change is None:
        return None
    return subject.files.judge(context, change, subject.cuts[asking.at].after_step, subject.kept[asking.at])


def _left(subject: Subject, at: int, compacted: Compacted) -> LeftContext:
    history = [step for step in subject.session.steps if step.step_id <= compacted.cut.after_step]
    return LeftContext(
        session=subject.name,
        at=at,
        tokens=tokens_in(compacted.text),
        tokens_whole=tokens_of(step for step in history if step.source is not Source.SYSTEM),
        seconds=compacted.seconds,
        refused=bool(compacted.refused),
    )

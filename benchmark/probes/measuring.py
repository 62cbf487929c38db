"""Methods over sessions: each session is cut and made short, and its probes are looked for in what is left."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from benchmark.probes.acts import Act
from benchmark.probes.asking import NOTHING, ProbeAtCut, askings, kept_says, kept_texts, leaked, probe_cuts
from benchmark.probes.file_sets import FileJudge, changed
from benchmark.probes.invention import History
from benchmark.probes.judge import JudgeFactory, Mention, Need, ProbeJudge, ProbeUnit, ProbeVerdict, SessionProbes
from benchmark.probes.judging import RuleJudge
from benchmark.probes.model import Probe, Unanswerable
from benchmark.probes.nulls import ORACLE
from benchmark.probes.records import (
    MOST_INVENTIONS,
    AskedProbe,
    CycleCost,
    GoldStatement,
    JudgedStatement,
    JudgedWrong,
    LeakedStatement,
    LeftContext,
    ModelCall,
    PosedProbe,
    ProbedSession,
    RightAnswer,
    text_sha256,
)
from benchmark.probes.scoring import criteria_of, score_of
from benchmark.sessions.records import StepTruth
from benchmark.statements.model import Statement
from ctxsift.sessions.compaction.controls import GivenSummary
from ctxsift.sessions.compaction.cutting import SHARES
from ctxsift.sessions.compaction.methods import RECORDED, parted
from ctxsift.sessions.compaction.records import Compacted, Cut, Method
from ctxsift.sessions.compaction.running import DEFAULT_KEEP_LAST, compact_session
from ctxsift.sessions.compaction.transcript import text_of, tokens_in, tokens_of
from ctxsift.sessions.figures import CHARACTERS_PER_TOKEN
from ctxsift.sessions.records import Session, Source, Step, standing


@dataclass(frozen=True)
class ProbedSubject:
    """A session with the probes about it.

    Attributes:
        name: unique in a run.
        split: `dev`, `test`, or `own`.
        keep_last, shares: where it is cut; see `probe_cuts`.
        truth: what git says of the files after each step; empty where that is not known.
        judge_of: makes its judge.
        unanswerable: questions for answerers alone, of which it says nothing.
        counts_inventions: names and values that a method invents are counted.
        acts: what those are asked to do.

    """

    name: str
    split: str
    session: Session
    probes: tuple[Probe, ...]
    truth: tuple[StepTruth, ...] = ()
    keep_last: int = DEFAULT_KEEP_LAST
    shares: tuple[float, ...] = SHARES
    judge_of: JudgeFactory = RuleJudge
    unanswerable: tuple[Unanswerable, ...] = ()
    acts: tuple[Act, ...] = ()
    counts_inventions: bool = True

    @cached_property
    def cuts(self) -> list[Cut]:
        """Where it is cut, whatever the method."""
        return probe_cuts(self.session, self.keep_last, self.shares)

    @cached_property
    def kept(self) -> list[str]:
        """The text of the steps that are kept at each cut."""
        return kept_texts(self.session, self.cuts, self.keep_last)

    @cached_property
    def history(self) -> History:
        """All that it says."""
        return History(self.session.steps, self.session.head.folder)

    @cached_property
    def questions(self) -> SessionProbes:
        """What a judge is told of it."""
        return SessionProbes(self.probes, self.truth, self.session.head.folder)

    @cached_property
    def rules(self) -> RuleJudge:
        """Who says what of the kept steps, so that every judge is asked the same."""
        return RuleJudge(self.questions)

    @cached_property
    def judge(self) -> ProbeJudge:
        """Who judges what is left."""
        return self.rules if self.judge_of is RuleJudge else self.judge_of(self.questions)

    @cached_property
    def files(self) -> FileJudge:
        """Of its files."""
        return FileJudge(self.truth, self.session.head.folder)

    @cached_property
    def kept_says(self) -> list[dict[str, ProbeVerdict]]:
        """What the kept steps say at each cut."""
        return kept_says(self.probes, self.cuts, self.kept, self.rules)

    @cached_property
    def asked(self) -> list[ProbeAtCut]:
        """Its probes at the cuts at which they are asked; one that asks for files, where there are any."""
        found = askings(self.probes, self.cuts, self.kept_says)
        return [asking for asking in found if asking.probe.files is None or self.files_at(asking)]

    @property
    def posed(self) -> list[PosedProbe]:
        """Its probes that are asked, as a result tells them."""
        found: dict[str, list[ProbeAtCut]] = {}
        for asking in self.asked:
            found.setdefault(asking.probe.probe_id, []).append(asking)
        return [self._posed(askings) for askings in found.values()]

    @cached_property
    def leaks(self) -> list[LeakedStatement]:
        """Statements, at all cuts, that the kept steps say as well."""
        found = leaked(self.probes, self.kept_says)
        return [LeakedStatement(session=self.name, probe=probe, at=at, index=index) for probe, at, index in found]

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
            calls=list(self._calls()),
        )

    def _calls(self) -> Iterator[ModelCall]:
        """Yield a call for each step of the agent."""
        before = 0
        for step in standing(self.session.steps):
            if step.source is Source.AGENT:
                yield ModelCall(step=step.step_id, tokens=before)
            if step.source is not Source.SYSTEM:
                before += tokens_of([step])

    def files_at(self, asking: ProbeAtCut) -> list[str]:
        """Return the files that a probe asks for at a cut."""
        change = asking.probe.files
        if change is None or not self.truth:
            return []
        return sorted(self.files.gold(change, self.cuts[asking.at].after_step, self.kept[asking.at]))

    def gold_at(self, at: int) -> str:
        """Return right answers to all that is asked at a cut, as text."""
        return "\n".join(self.gold_of(asking) for asking in self.asked if asking.at == at)

    def gold_of(self, asking: ProbeAtCut) -> str:
        """Return a right answer to a probe at its cut, as text."""
        change = asking.probe.files
        if change is None:
            return asking.probe.gold
        return "\n".join(f"- {changed(path, change)}." for path in self.files_at(asking))

    def unit_of(self, asking: ProbeAtCut, context: str, answer: str = "") -> ProbeUnit:
        """Return what the judge is given of a probe at its cut: no more than it needs."""
        needs, statements = self.judge.needs, self._statements_of(asking)
        every = frozenset(range(len(statements)))
        return ProbeUnit(
            asking.probe,
            statements,
            asking.counted if asking.probe.files is None else replace(asking.counted, vital=every),
            self.cuts[asking.at].after_step,
            self.kept[asking.at],
            context if Need.CONTEXT in needs else "",
            answer if Need.ANSWER in needs else "",
            self.gold_of(asking) if Need.GOLD in needs else "",
        )

    def _statements_of(self, asking: ProbeAtCut) -> tuple[Statement, ...]:
        change = asking.probe.files
        if change is None:
            return asking.probe.statements
        return tuple(Statement(changed(path, change), names=(path,)) for path in self.files_at(asking))

    def _posed(self, askings: Sequence[ProbeAtCut]) -> PosedProbe:
        """Return a probe with its right answers at the cuts at which it is asked."""
        probe, gold = askings[0].probe, list[RightAnswer]()
        for asking in askings:
            text = self.gold_of(asking)
            if not gold or gold[-1].text != text:
                told = [GoldStatement(says=each.says, weight=each.weight) for each in self._statements_of(asking)]
                gold.append(RightAnswer(at=asking.at, text=text, statements=told))
        return PosedProbe(
            session=self.name,
            probe=probe.probe_id,
            type=probe.type,
            made_by=probe.made_by,
            question=probe.question,
            evidence=list(probe.evidence),
            files=probe.files,
            gold=gold,
            must_not=[rule.says for rule in probe.must_not],
        )


@dataclass(frozen=True)
class MethodResult:
    """What a method made of one session; see MeasuredMethod.

    Attributes:
        texts: of the contexts, by SHA-256.
        own_words: see there.

    """

    contexts: list[LeftContext]
    asked: list[AskedProbe]
    texts: dict[str, str]
    own_words: bool = False


def measure(
    subject: ProbedSubject,
    method: str,
    budget: int,
    made: Method | None = None,
    taken: Callable[[], CycleCost] | None = None,
) -> MethodResult:
    """Return what a method makes of a session.

    Args:
        subject: the session with its probes.
        method: its name.
        budget: tokens of a summary.
        made: the method itself, where it has no name by which it is registered, or asks a model.
        taken: returns what the model took since it was called last; None where none is asked.

    Raises:
        InputError: there is no method of that name.

    """
    own_words = method != ORACLE and _is_in_own_words(method, made)
    if method == ORACLE:
        made = GivenSummary(by_cut={cut.after_step: subject.gold_at(at) for at, cut in enumerate(subject.cuts)})
    compacted, spent = list[Compacted](), list[CycleCost | None]()
    for each in compact_session(
        subject.session, method, subject.cuts, budget=budget, keep_last=subject.keep_last, method=made
    ):
        compacted.append(each)
        spent.append(taken() if taken else None)
    answered = answered_rightly(subject) if method == ORACLE else None
    before = [None, *compacted[:-1]]
    cycles = zip(compacted, before, spent, strict=True)
    left = [_left(subject, at, *cycle) for at, cycle in enumerate(cycles)]
    there = [(at, each.text) for at, each in enumerate(compacted) if not left[at].absent]
    return MethodResult(
        left,
        answered or [asked for at, text in there for asked in judged(subject, at, text)],
        {text_sha256(each.text): each.text for each in compacted},
        own_words,
    )


def _is_in_own_words(method: str, made: Method | None) -> bool:
    return parted(method)[0] == RECORDED or isinstance(made, GivenSummary) or bool(getattr(made, "needs_model", False))


def answered_rightly(subject: ProbedSubject) -> list[AskedProbe]:
    """Return what each probe finds in its own right answer: what others ask for may contradict it by chance."""
    return [_asked(subject, asking, subject.gold_of(asking)) for asking in subject.asked]


def judged(subject: ProbedSubject, at: int, context: str) -> Iterator[AskedProbe]:
    """Yield what each probe that is asked at a cut finds in a context. Nothing here knows whose it is."""
    return (_asked(subject, asking, context) for asking in subject.asked if asking.at == at)


def _asked(subject: ProbedSubject, asking: ProbeAtCut, context: str) -> AskedProbe:
    probe, unit = asking.probe, subject.unit_of(asking, context)
    said = subject.judge.judge(unit)
    may_be_wrong = probe.files is None and bool(asking.counted.must_not)
    # In other words as well, what the kept steps say is no method's doing.
    reworded = said.reworded.keys() - subject.kept_says[asking.at].get(probe.probe_id, NOTHING).reworded.keys()
    return AskedProbe(
        session=subject.name,
        probe=probe.probe_id,
        type=probe.type,
        made_by=probe.made_by,
        at=asking.at,
        age=asking.age,
        score=score_of(unit, said),
        criteria=criteria_of(unit, said),
        uptake=said.contradiction is not None if may_be_wrong else None,
        statements=[_statement(said, index, reworded) for index in unit.counted.statements],
        wrong=list(_wrong(unit, said)),
    )


def _statement(said: ProbeVerdict, index: int, in_other_words: Collection[int]) -> JudgedStatement:
    reworded = index in in_other_words and not said.share(index)
    missing = Mention(0.0, why=said.missing.get(index, ""))
    found = said.reworded[index] if reworded else said.statements.get(index, missing)
    return JudgedStatement(
        index=index, share=found.share, place=found.place, line=found.line, why=found.why, reworded=reworded
    )


def _wrong(unit: ProbeUnit, said: ProbeVerdict) -> Iterator[JudgedWrong]:
    """Yield what counts of what is wrong."""
    for index in sorted(unit.counted.must_not & said.must_not.keys()):
        yield _told_wrong(unit.probe.must_not[index].says, said.must_not[index], index)
    for index in sorted(unit.counted.vital & said.crossed.keys()):
        yield _told_wrong(unit.statements[index].says, said.crossed[index])
    for says, found in said.invented.items():
        yield _told_wrong(says, found)


def _told_wrong(says: str, found: Mention, must_not: int | None = None) -> JudgedWrong:
    return JudgedWrong(says=says, must_not=must_not, place=found.place, line=found.line, why=found.why)


def _left(
    subject: ProbedSubject, at: int, compacted: Compacted, last: Compacted | None, spent: CycleCost | None
) -> LeftContext:
    history = [step for step in subject.session.steps if step.step_id <= compacted.cut.after_step]
    before = _before(standing(history), last)
    found = (
        subject.history.invention(compacted.summary_text, compacted.cut.after_step)
        if subject.counts_inventions
        else None
    )
    return LeftContext(
        session=subject.name,
        at=at,
        tokens=tokens_in(compacted.text),
        tokens_whole=tokens_of(step for step in history if step.source is not Source.SYSTEM),
        tokens_before=tokens_in(before),
        # Of characters, as is meant here.
        prefix=len(os.path.commonprefix([before, compacted.text])) // CHARACTERS_PER_TOKEN,  # noqa: RUF071
        questions=spent.questions if spent else None,
        prompt_tokens=spent.prompt_tokens if spent else None,
        completion_tokens=spent.completion_tokens if spent else None,
        fallback=compacted.fallback,
        # Answers of the journal took as long as they did when they came.
        seconds=max(compacted.seconds, spent.seconds) if spent else compacted.seconds,
        refused=bool(compacted.refused),
        refusal=compacted.refused,
        absent=parted(compacted.method)[0] == RECORDED and not compacted.summary.text,
        sha256=text_sha256(compacted.text),
        names=found.among if found else None,
        invented=len(found.names) if found else 0,
        inventions=list(found.names[:MOST_INVENTIONS]) if found else [],
    )


def _before(history: Sequence[Step], last: Compacted | None) -> str:
    """Return what would stand at a cut without it: what the last one left, and all steps since."""
    if last is None:
        return text_of(step for step in history if step.source is not Source.SYSTEM)
    kept = [step for step in history if step.step_id >= last.steps[0].step_id]
    return "\n\n".join(part for part in (last.summary_text, text_of(kept)) if part)

"""Questions about the contexts that methods left, put to an answerer: what it says is judged beside what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from benchmark.probes.acts import Act, graded
from benchmark.probes.answer_rules import AnswerJudge, abstains
from benchmark.probes.answerers import EXTRACT, Answerer, told_within
from benchmark.probes.asking import ProbeAtCut, is_gone
from benchmark.probes.measuring import ProbedSubject, judged
from benchmark.probes.model import Maker, Unanswerable
from benchmark.probes.questions import ACT_WORDS, DEFAULT_WORDS, ActQuestion, AnswerQuestion
from benchmark.probes.recorded import (
    ANSWERED_ON,
    PUBLISHED_AS,
    RECORDED,
    PublishedAnswer,
    PublishedContext,
    published_answers,
    published_contexts,
)
from benchmark.probes.records import (
    Answering,
    AskedAct,
    AskedProbe,
    AskedUnanswerable,
    LeftContext,
    MeasuredMethod,
    ProbeResult,
    text_sha256,
)
from benchmark.probes.rules_on_answers import JUDGE_TITLE, judged_answer
from ctxsift.sessions.compaction.transcript import tokens_in, tokens_of
from ctxsift.sessions.records import Source


@dataclass(frozen=True)
class Put:
    """A question about the context of a method.

    Attributes:
        method: its place in the result.

    """

    method: int
    subject: ProbedSubject
    asking: ProbeAtCut
    asked: AnswerQuestion

    @property
    def at(self) -> int:
        """The cut, counted from 0."""
        return self.asking.at


@dataclass(frozen=True)
class PutUnanswerable:
    """The same of a question that its session never answers."""

    method: int
    subject: ProbedSubject
    at: int
    unanswerable: Unanswerable
    asked: AnswerQuestion


@dataclass(frozen=True)
class PutAct:
    """The same of something to be done."""

    method: int
    subject: ProbedSubject
    at: int
    act: Act
    asked: ActQuestion


def questions_about(
    result: ProbeResult, subjects: Sequence[ProbedSubject], words: int = DEFAULT_WORDS, *, every_cut: bool = False
) -> list[Put]:
    """Return the questions about the contexts of a result, those about one context in a row.

    A session with probes written by hand is asked those; any other is asked the probes made by rule.

    Args:
        result: of the sessions, with the texts of its contexts.
        subjects: the sessions.
        words: that an answer may have.
        every_cut: ask at each cut in place of the last one alone.

    """
    return [
        Put(number, subject, asking, AnswerQuestion(context, asking.probe.question, words))
        for number, subject, at, context in _contexts(result, subjects, every_cut=every_cut)
        for asking in asked_at(subject, at)
    ]


def unanswerable_about(
    result: ProbeResult, subjects: Sequence[ProbedSubject], words: int = DEFAULT_WORDS, *, every_cut: bool = False
) -> list[PutUnanswerable]:
    """Return the questions without an answer about the same contexts, for the same arguments."""
    return [
        PutUnanswerable(number, subject, at, each, AnswerQuestion(context, each.question, words))
        for number, subject, at, context in _contexts(result, subjects, every_cut=every_cut)
        if asked_at(subject, at)
        for each in subject.unanswerable
    ]


def acts_about(result: ProbeResult, subjects: Sequence[ProbedSubject], *, every_cut: bool = False) -> list[PutAct]:
    """Return what is to be done from the same contexts, where all that an act hangs on is gone."""
    return [
        PutAct(number, subject, at, act, ActQuestion(context, act.question, ACT_WORDS))
        for number, subject, at, context in _contexts(result, subjects, every_cut=every_cut)
        for act in subject.acts
        if is_gone(act, subject.cuts[at])
    ]


def _contexts(
    result: ProbeResult, subjects: Sequence[ProbedSubject], *, every_cut: bool
) -> Iterator[tuple[int, ProbedSubject, int, str]]:
    """Yield the method by its place, the session, the cut and the text of each context that is asked about."""
    by_name = {subject.name: subject for subject in subjects}
    for number, method in enumerate(result.methods):
        for left in method.contexts:
            subject = by_name.get(left.session)
            if subject and not left.absent and (every_cut or left.at == len(subject.cuts) - 1):
                yield number, subject, left.at, result.contexts[left.sha256 or ""]


def asked_at(subject: ProbedSubject, at: int) -> list[ProbeAtCut]:
    """Return the probes that answerers are asked at a cut."""
    by_hand = any(probe.made_by is Maker.HAND for probe in subject.probes)
    maker = Maker.HAND if by_hand else Maker.RULE
    return [asking for asking in subject.asked if asking.at == at and asking.probe.made_by is maker]


def answering(
    result: ProbeResult, put: Sequence[Put | PutUnanswerable | PutAct], answerer: Answerer, words: int = DEFAULT_WORDS
) -> Answering:
    """Ask an answerer, and return what it said. Raises as `Answerer.answers` does.

    Args:
        result: that the questions are about.
        put: the questions, in any order.
        answerer: who is asked.
        words: that an answer may have.

    """
    if answerer.name == EXTRACT:
        # It copies lines, and can make no call.
        put = [each for each in put if not isinstance(each, PutAct)]
    questions = _by_context([each.asked for each in put])
    answers = answerer.answers(questions)
    texts = told_within(questions, answers)
    found = _judged_answers(put, texts)
    without = [each for each in put if isinstance(each, PutUnanswerable) and each.asked.question_id in texts]
    ids = {each.question_id for each in questions}
    return Answering(
        answerer=answerer.name,
        version=answerer.version,
        judge=JUDGE_TITLE,
        words=words,
        questions=len(ids),
        unanswered=len(ids - texts.keys()),
        foreign=answers.foreign,
        shortened=answers.shortened,
        error=answers.error,
        methods=[
            _method(
                result.methods[number], asked, [_unanswerable(each, texts) for each in without if each.method == number]
            )
            for number, asked in found.items()
            if asked
        ],
        acts=[
            _acted(result.methods[each.method], each, reply)
            for each in put
            if isinstance(each, PutAct) and (reply := answers.texts.get(each.asked.question_id)) is not None
        ],
    )


def _acted(method: MeasuredMethod, put: PutAct, reply: str) -> AskedAct:
    found = graded(put.act, reply)
    return AskedAct(
        method=method.method,
        budget=method.budget,
        model=method.model,
        session=put.subject.name,
        act=put.act.act_id,
        at=put.at,
        reply=reply,
        outcome=found.outcome,
        why=found.why,
    )


def _by_context(questions: Sequence[AnswerQuestion]) -> list[AnswerQuestion]:
    found: dict[str, list[AnswerQuestion]] = {}
    for each in questions:
        found.setdefault(each.context, []).append(each)
    return [each for of_context in found.values() for each in of_context]


def _unanswerable(put: PutUnanswerable, texts: Mapping[str, str]) -> AskedUnanswerable:
    asked, answer = put.unanswerable, texts[put.asked.question_id]
    return AskedUnanswerable(
        session=put.subject.name,
        probe=asked.probe_id,
        question=asked.question,
        at=put.at,
        answer=answer,
        abstains=abstains(answer),
    )


def _judged_answers(
    put: Sequence[Put | PutUnanswerable | PutAct], texts: Mapping[str, str]
) -> dict[int, list[AskedProbe]]:
    """Return what was said of the probes, by number of the method; one answer to one probe is judged once."""
    judge = AnswerJudge()
    found: dict[int, list[AskedProbe]] = {each.method: [] for each in put}
    known: dict[tuple[str, str], AskedProbe] = {}
    for each in put:
        if not isinstance(each, Put) or each.asked.question_id not in texts:
            continue
        key = (each.asked.question_id, f"{each.subject.name} {each.asking.at} {each.asking.probe.probe_id}")
        if key not in known:
            known[key] = judged_answer(each.subject, each.asking, texts[each.asked.question_id], judge)
        found[each.method].append(known[key])
    return found


def _method(method: MeasuredMethod, asked: list[AskedProbe], unanswerable: list[AskedUnanswerable]) -> MeasuredMethod:
    cuts = {(each.session, each.at) for each in asked}
    contexts = [each for each in method.contexts if (each.session, each.at) in cuts]
    return replace(method, contexts=contexts, asked=asked, unanswerable=unanswerable)


def published_answering(subjects: Sequence[ProbedSubject]) -> tuple[Answering | None, dict[str, str]]:
    """Return the answers that ship, beside the contexts that their readers saw; and the texts of these, by SHA-256.

    None where no session is one of theirs. An answer to a question that is not asked any more is left out, and counted.
    """
    by_name = {subject.name: subject for subject in subjects}
    published = published_contexts(ANSWERED_ON)
    # In the order of the sessions that are measured, as everything in a result; methods in the same order everywhere.
    contexts = [each for name in by_name for each in published if each.session == name]
    methods = list(dict.fromkeys(each.method for each in published))
    answers: dict[str, list[PublishedAnswer]] = {each.context: [] for each in contexts}
    for each in published_answers(ANSWERED_ON):
        if each.context in answers:
            answers[each.context].append(each)
    if not contexts:
        return None, {}
    read = [_AnsweredContext(by_name[each.session], each, answers[each.context]) for each in contexts]
    return (
        Answering(
            answerer=RECORDED,
            version="large language models, 25 and 28 November 2026",
            judge=JUDGE_TITLE,
            words=DEFAULT_WORDS,
            questions=sum(len(each.answers) for each in read),
            foreign=sum(len(each.answers) - len(each.askings) for each in read),
            methods=list(_by_method(methods, read, {each.context.context: list(each.said()) for each in read})),
            kept=list(_by_method(methods, read, {each.context.context: list(each.kept()) for each in read})),
        ),
        {each.context.sha256: each.context.text for each in read},
    )


class _AnsweredContext:
    """A context that was read elsewhere, with the answers to questions about it."""

    def __init__(self, subject: ProbedSubject, context: PublishedContext, answers: Sequence[PublishedAnswer]) -> None:
        self.subject, self.context, self.answers = subject, context, answers
        self._at = len(subject.cuts) - 1
        texts = {(each.probe, each.question): each.answer for each in answers}
        found = [each for each in subject.asked if each.at == self._at]
        self.askings: Mapping[str, tuple[ProbeAtCut, str]] = {
            each.probe.probe_id: (each, texts[key])
            for each in found
            if (key := (each.probe.probe_id, each.probe.question)) in texts
        }

    def said(self) -> Iterator[AskedProbe]:
        """Yield the answers, judged."""
        judge = AnswerJudge()
        for asking, text in self.askings.values():
            yield judged_answer(self.subject, asking, text, judge)

    def kept(self) -> Iterator[AskedProbe]:
        """Yield what the context itself says."""
        return (each for each in judged(self.subject, self._at, self.context.text) if each.probe in self.askings)

    def left(self) -> LeftContext:
        """Return the context as a result tells it."""
        session, last = self.subject.session, self.subject.cuts[-1].after_step
        history = [step for step in session.steps if step.step_id <= last and step.source is not Source.SYSTEM]
        return LeftContext(
            session=self.subject.name,
            at=self._at,
            tokens=tokens_in(self.context.text),
            tokens_whole=tokens_of(history),
            seconds=0.0,
            sha256=text_sha256(self.context.text),
        )


def _by_method(
    methods: Sequence[str], read: Sequence[_AnsweredContext], asked: Mapping[str, list[AskedProbe]]
) -> Iterator[MeasuredMethod]:
    for method in methods:
        if of_it := [each for each in read if each.context.method == method]:
            yield MeasuredMethod(
                method=f"{method} {PUBLISHED_AS}",
                budget=None,
                contexts=[each.left() for each in of_it],
                asked=[found for each in of_it for found in asked[each.context.context]],
            )

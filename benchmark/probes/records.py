"""What a run of probes writes: the contexts of each method, and what each probe found in them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from benchmark.judges.records import JudgedAnswer, Use
from benchmark.judges.rubric import Criterion
from benchmark.probes.acts import Outcome
from benchmark.probes.model import FileChange, Maker, ProbeType
from benchmark.record.base import Ratio, Record, Seconds, Sha256, Timestamp
from benchmark.record.record_file import RecordFile
from benchmark.statements.model import Weight
from ctxsift.errors import InputError

# Version 1 had figures alone: no texts, nothing of statements.
RESULT_VERSION = 2
_DAMAGED = "the file is damaged; repeat the run"
Points = Annotated[float, msgspec.Meta(ge=0, le=5)]
# More cuts than any session has.
_Cut = Annotated[int, msgspec.Meta(ge=0, le=999)]
_Whole = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class JudgedStatement(Record, frozen=True, kw_only=True):
    """A statement of a right answer that counts at a cut, and what is said of it.

    Attributes:
        index: among the statements of the right answer at that cut; see `PosedProbe.gold_at`.
        share: how much of it is said; 0 where it is missing.
        place: where, for people: a step, or the heading above it; empty where nothing of it stands.
        line: of the text that was judged, from 1; 0 where that is not known.
        why: the words that say it, or why it is missing.
        reworded: it is missing, and its names and numbers stand together at that place: in other words, perhaps.

    """

    index: _Whole
    share: Ratio
    place: str = ""
    line: _Whole = 0
    why: str = ""
    reworded: bool = False


class JudgedWrong(Record, frozen=True, kw_only=True):
    """Something wrong that is said; as JudgedStatement.

    Attributes:
        says: what, in words.
        must_not: index of the probe's rule that it breaks; None where a value is given to the wrong name, or a file is
            said to be what it is not.

    """

    says: str
    must_not: _Whole | None = None
    place: str = ""
    line: _Whole = 0
    why: str = ""


class AskedProbe(Record, frozen=True, kw_only=True):
    """A probe in the context of a method at a cut.

    Attributes:
        at: the cut, counted from 0.
        age: cuts since the first one after which its evidence was gone.
        score: 0 to 5.
        criteria: those that are scored, 0 to 5; the others are unscored.
        uptake: what stands last contradicts the answer; None where nothing could (no must_not).
        statements: those that count there, said and missing; none in files of version 1.
        wrong: what is said and must not be.
        answer: what was answered, where somebody was asked; None where the context itself was judged.
        abstains: the answer says that it does not know something; None where there is none.

    """

    session: str
    probe: str
    type: ProbeType
    made_by: Maker
    at: _Cut
    age: _Cut
    score: Points
    criteria: dict[Criterion, Points]
    uptake: bool | None = None
    statements: list[JudgedStatement] = msgspec.field(default_factory=list)
    wrong: list[JudgedWrong] = msgspec.field(default_factory=list)
    answer: str | None = None
    abstains: bool | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """What is asked where: the same for every method."""
        return self.session, self.probe, self.at


class AskedUnanswerable(Record, frozen=True, kw_only=True):
    """A question that the session never answers, at a cut, with what was answered.

    Attributes:
        at: the cut, counted from 0.
        abstains: the answer says that it is not there.

    """

    session: str
    probe: str
    question: str
    at: _Cut
    answer: str
    abstains: bool


class AskedAct(Record, frozen=True, kw_only=True):
    """Something that was to be done at a cut, with the reply.

    Attributes:
        method, budget, model: whose context it was.
        at: the cut, counted from 0.
        why: what the outcome goes by.

    """

    method: str
    budget: _Whole | None
    model: str | None = None
    session: str
    act: str
    at: _Cut
    reply: str
    outcome: Outcome
    why: str

    @property
    def label(self) -> str:
        """What the method is called in a table."""
        return _label(self.method, self.budget, self.model)


def _label(method: str, budget: int | None, model: str | None) -> str:
    whole = method if budget is None else f"{method} {budget / 1000:g}k"
    return whole if model is None else f"{whole} by {model}"


class GoldStatement(Record, frozen=True, kw_only=True):
    """A statement of a right answer, in words."""

    says: str
    weight: Weight


class RightAnswer(Record, frozen=True, kw_only=True):
    """A right answer.

    Attributes:
        at: the first cut, counted from 0, at which it holds.

    """

    at: _Cut
    text: str
    statements: list[GoldStatement]


class PosedProbe(Record, frozen=True, kw_only=True):
    """A probe that is asked, once for all methods.

    Attributes:
        evidence: ids of the steps that say it.
        files: it asks for all files of a kind.
        gold: right answers, each for the cuts from its own on; of most probes there is one.
        must_not: what only a wrong answer says.

    """

    session: str
    probe: str
    type: ProbeType
    made_by: Maker
    question: str
    evidence: list[_Whole]
    files: FileChange | None = None
    gold: list[RightAnswer]
    must_not: list[str]

    def gold_at(self, at: int) -> RightAnswer:
        """Return the right answer at a cut at which it is asked."""
        return [each for each in self.gold if each.at <= at][-1]


class LeakedStatement(Record, frozen=True, kw_only=True):
    """A statement that does not count at a cut, since the kept steps say it.

    Attributes:
        at: the cut, counted from 0.
        index: of the statement in its probe.

    """

    session: str
    probe: str
    at: _Cut
    index: _Whole


# Of each context.
MOST_INVENTIONS = 12


@dataclass(frozen=True, slots=True)
class CycleCost:
    """What the answers of a model for one cycle took.

    Attributes:
        questions: that it answered, those asked once more included.
        prompt_tokens, completion_tokens: None where nobody tells.
        seconds: that the answers took.

    """

    questions: int
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


class LeftContext(Record, frozen=True, kw_only=True):
    """The context that a method left at a cut.

    Attributes:
        tokens: of it, system prompts left out; an estimate.
        tokens_whole: of all steps up to the cut.
        tokens_before: of the context as it would have been without this cut; None in files that do not tell.
        prefix: tokens with which that one and what is left both begin; None as above.
        questions: that a model answered for the cycle; None where none was asked, as in the next two.
        prompt_tokens, completion_tokens: that it read and wrote; None where nobody tells, too.
        fallback: why rules made the summary in place of the model; empty where they did not.
        seconds: that the cycle took.
        refused: the summary was not used; `refusal`: why, empty in files that do not tell.
        absent: the method has no summary there, and nothing is asked.
        sha256: of its text, which the result has; None in files of version 1.
        names: names and values that its summary has; None in files that do not tell, and where it was made elsewhere.
        invented: how many of them no step up to the cut says.
        inventions: the first of those.

    """

    session: str
    at: _Cut
    tokens: _Whole
    tokens_whole: _Whole
    tokens_before: _Whole | None = None
    prefix: _Whole | None = None
    questions: _Whole | None = None
    prompt_tokens: _Whole | None = None
    completion_tokens: _Whole | None = None
    fallback: str = ""
    seconds: Seconds
    refused: bool = False
    refusal: str = ""
    absent: bool = False
    sha256: Sha256 | None = None
    names: _Whole | None = None
    invented: _Whole = 0
    inventions: list[str] = msgspec.field(default_factory=list)


class MeasuredMethod(Record, frozen=True, kw_only=True):
    """A method with a budget, over all sessions.

    Attributes:
        budget: tokens of a summary; None where the method takes none.
        model: the row of the matrix that was asked; None for none.
        own_words: a model or somebody else wrote its summaries; rules hold their words against them.
        unanswerable: what was answered to questions that have no answer; in no mean.

    """

    method: str
    budget: _Whole | None
    model: str | None = None
    own_words: bool = False
    contexts: list[LeftContext]
    asked: list[AskedProbe]
    unanswerable: list[AskedUnanswerable] = msgspec.field(default_factory=list)

    @property
    def label(self) -> str:
        """What it is called in a table."""
        return _label(self.method, self.budget, self.model)


class ModelCall(Record, frozen=True, kw_only=True):
    """A call of the session's own model.

    Attributes:
        step: the id of the agent's step that it made.
        tokens: of all steps before that one, system prompts left out; an estimate.

    """

    step: _Whole
    tokens: _Whole


class ProbedSession(Record, frozen=True, kw_only=True):
    """A session that was probed.

    Attributes:
        sha256: of its steps and probes.
        probes: how many it has, made by hand and by rule.
        calls: in their order; none in files that do not tell.

    """

    name: str
    split: str
    sha256: Sha256
    steps: _Whole
    cuts: list[int]
    probes: dict[Maker, int]
    calls: list[ModelCall] = msgspec.field(default_factory=list)


class Answering(Record, frozen=True, kw_only=True):
    """What one answerer said to the questions about the contexts of methods, and what that is worth.

    Attributes:
        answerer: its name; `version`: what may change its answers.
        judge: who judged its answers, with the version.
        words: that an answer may have.
        questions: that were put, equal ones once; `unanswered`: those that got no answer, which are unscored.
        foreign: answers to other questions.
        shortened: questions whose context did not fit.
        error: why it ended early; None where it did not.
        methods: with answers in place of what contexts say.
        kept: the same methods with what their contexts say, where they are not among the methods of the result.
        acts: what it did, under each method.

    """

    answerer: str
    version: str
    judge: str
    words: _Whole
    questions: _Whole
    unanswered: _Whole = 0
    foreign: _Whole = 0
    shortened: _Whole = 0
    error: str | None = None
    methods: list[MeasuredMethod]
    kept: list[MeasuredMethod] = msgspec.field(default_factory=list)
    acts: list[AskedAct] = msgspec.field(default_factory=list)


class JudgedAnswers(Record, frozen=True, kw_only=True):
    """What one judge says of the answers of one answerer.

    Attributes:
        answerer: whose answers; `answerer_version`: as `Answering.version`.
        judge: its name; `version`: what may change its verdicts; `identity`: a calibration belongs to one.
        criteria: that were asked for; None for those that go with the type of each probe.
        with_context: the judge saw what the answerer knew.
        calibrated: what scores of a criterion may be used for; what is missing is not calibrated.
        answers: of each input that was judged.
        foreign: verdicts on other answers.
        error: why it ended early; None where it did not.

    """

    answerer: str
    answerer_version: str
    judge: str
    version: str
    identity: str
    criteria: list[Criterion] | None = None
    with_context: bool = False
    calibrated: dict[Criterion, Use] = msgspec.field(default_factory=dict)
    answers: list[JudgedAnswer]
    foreign: _Whole = 0
    error: str | None = None


class SessionShard(Record, frozen=True, kw_only=True):
    """A part of a run that a job of its own measures.

    Attributes:
        index: from 1.
        count: of all shards.
        sessions: names of all shards', in the order of the run.

    """

    index: Annotated[int, msgspec.Meta(ge=1)]
    count: Annotated[int, msgspec.Meta(ge=1)]
    sessions: Annotated[list[str], msgspec.Meta(min_length=1)]

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class ProbeResult(Record, frozen=True, kw_only=True):
    """A run of probes.

    Attributes:
        judge: who judged, with the version.
        keep_last: tokens of the steps that are kept.
        leaks: how many statements were taken out at a cut, because the kept steps say them.
        leaked: which ones; none in files of version 1, as all below.
        probes: that are asked.
        contexts: their texts by SHA-256, each once however many methods and cuts leave it.
        answered: what answerers said, one after the other.
        judged: what judges say of that, one after the other.
        labels: what a person says of answers, in place of any judge.
        shard: which part of a run this is; None for all of it.

    """

    schema_version: int = RESULT_VERSION
    timestamp: Timestamp
    judge: str
    keep_last: _Whole
    leaks: _Whole
    sessions: list[ProbedSession]
    methods: list[MeasuredMethod]
    leaked: list[LeakedStatement] = msgspec.field(default_factory=list)
    probes: list[PosedProbe] = msgspec.field(default_factory=list)
    contexts: dict[Sha256, str] = msgspec.field(default_factory=dict)
    answered: list[Answering] = msgspec.field(default_factory=list)
    judged: list[JudgedAnswers] = msgspec.field(default_factory=list)
    labels: list[JudgedAnswer] = msgspec.field(default_factory=list)
    shard: SessionShard | None = None


RESULT_FILE = RecordFile(ProbeResult, "result of probes", RESULT_VERSION, most_mb=128)


def read_result(path: Path) -> ProbeResult:
    """Return a result from a file.

    Raises:
        InputError: it is none, or its parts do not go together.

    """
    result = RESULT_FILE.read(path)
    names = {session.name for session in result.sessions}
    whole = next((method for method in result.methods if not any(each.absent for each in method.contexts)), None)
    first = {each.key for each in (whole or result.methods[0]).asked} if result.methods else set()
    for number, method in enumerate(result.methods):
        where = f"{path}: /methods/{number}"
        _refuse_other_questions(where, method, first)
        _refuse_strange(f"{where}/asked", {each.session for each in method.asked}, names)
    if len({method.label for method in result.methods}) < len(result.methods):
        raise InputError(f"{path}: /methods", "has a method twice", _DAMAGED)
    if result.schema_version > 1:
        _refuse_unknown(result, path)
    return result


def _refuse_other_questions(where: str, method: MeasuredMethod, first: set[tuple[str, str, int]]) -> None:
    """Refuse a method that was not asked what the first one was, as far as it left a context."""
    if not method.contexts:
        raise InputError(f"{where}/contexts", "is empty", _DAMAGED)
    absent = {(each.session, each.at) for each in method.contexts if each.absent}
    due = {key for key in first if (key[0], key[2]) not in absent}
    asked = [each.key for each in method.asked]
    if len(asked) != len(due) or set(asked) != due:
        raise InputError(f"{where}/asked", "is not what the first method was asked", _DAMAGED)


def _refuse_strange(where: str, sessions: set[str], known: set[str]) -> None:
    if strange := sessions - known:
        raise InputError(where, f"{min(strange)!r} is none of the sessions", _DAMAGED)


def _asked_by(methods: Sequence[MeasuredMethod]) -> set[tuple[str, tuple[str, str, int]]]:
    return {(method.label, asked.key) for method in methods for asked in method.asked}


def _refuse_unknown(result: ProbeResult, path: Path) -> None:
    """Refuse what names a text or a probe that the file does not have."""
    if damaged := [key for key, text in result.contexts.items() if text_sha256(text) != key]:
        raise InputError(f"{path}: /contexts/{damaged[0]}", "is another text", _DAMAGED)
    placed = [(f"{path}: /methods/{number}", method) for number, method in enumerate(result.methods)]
    sessions = {each.name for each in result.sessions}
    for number, answering in enumerate(result.answered):
        where = f"{path}: /answered/{number}"
        placed += [(f"{where}/{key}", each) for key in ("methods", "kept") for each in getattr(answering, key)]
        _refuse_strange(f"{where}/acts", {each.session for each in answering.acts}, sessions)
        if not _asked_by(answering.methods) <= _asked_by(answering.kept or result.methods):
            raise InputError(f"{where}/methods", "has answers about contexts that were not judged", _DAMAGED)
    posed = {(each.session, each.probe): each for each in result.probes}
    for where, method in placed:
        _refuse_strange(f"{where}/unanswerable", {each.session for each in method.unanswerable}, sessions)
        _refuse_unposed(where, method, posed, result)


def _refuse_unposed(
    where: str, method: MeasuredMethod, posed: Mapping[tuple[str, str], PosedProbe], result: ProbeResult
) -> None:
    if any(each.sha256 not in result.contexts for each in method.contexts):
        raise InputError(f"{where}/contexts", "names a text that is not there", _DAMAGED)
    for each in method.asked:
        probe = posed.get((each.session, each.probe))
        if probe is None or not any(right.at <= each.at for right in probe.gold):
            raise InputError(f"{where}/asked", f"{each.probe!r} has no right answer in /probes", _DAMAGED)
        if any(found.index >= len(probe.gold_at(each.at).statements) for found in each.statements):
            raise InputError(f"{where}/asked", f"{each.probe!r} has no such statement", _DAMAGED)


def text_sha256(text: str) -> str:
    """Return what a text is known by; half characters, which tools may print, are told apart as well."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""Stored answers, judged again: what judges are told of them, and boards of what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import fmean

from msgspec.structs import replace

from benchmark.judges.agreement import agreement_of
from benchmark.judges.named_judges import Judge
from benchmark.judges.protocol import JudgeInput
from benchmark.judges.records import Agreement, JudgedAnswer, Use
from benchmark.judges.rubric import Criterion, overall_score
from benchmark.judges.rules import RulesJudge
from benchmark.probes.answer_rules import ANSWER_RULES_VERSION
from benchmark.probes.figures import ProbeBoard, board_of
from benchmark.probes.model import Maker
from benchmark.probes.records import Answering, AskedProbe, JudgedAnswers, MeasuredMethod, ProbeResult, RightAnswer
from benchmark.probes.rubric import criteria_asked
from benchmark.probes.states import posed_by_id


@dataclass(frozen=True)
class ToJudge:
    """An answer under a method, as judges are told of it.

    Attributes:
        method: its place among the methods of its answering.

    """

    method: int
    asked: AskedProbe
    judged: JudgeInput


def to_judge(
    result: ProbeResult,
    answering: Answering,
    criteria: Sequence[Criterion] | None = None,
    *,
    with_context: bool = False,
) -> list[ToJudge]:
    """Return the answers of an answerer, in an order that tells nothing of methods.

    Answers to questions about one context follow each other where contexts are shown, so that each is read once.

    Args:
        result: with questions, right answers and contexts.
        answering: of the result.
        criteria: that are to be scored; None for those that go with the type of each probe.
        with_context: judges see what the answerer knew.

    """
    posed = posed_by_id(result.probes)
    found = []
    for number, method in enumerate(answering.methods):
        texts = {(each.session, each.at): result.contexts.get(each.sha256 or "", "") for each in method.contexts}
        for asked in method.asked:
            probe = posed[asked.session, asked.probe]
            judged = JudgeInput(
                probe_question=probe.question,
                model_response=asked.answer or "",
                rubric_criteria=tuple(criteria or criteria_asked(probe.type, probe.files)),
                ground_truth=probe.gold_at(asked.at).text,
                compacted_context=texts.get((asked.session, asked.at), "") if with_context else "",
            )
            found.append(ToJudge(number, asked, judged))
    return sorted(found, key=lambda each: (_hash(each.judged.compacted_context), each.judged.input_id))


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def judged_answers(
    put: Sequence[tuple[Answering, Sequence[ToJudge]]],
    judge: Judge,
    calibrated: Mapping[Criterion, Use],
    criteria: Sequence[Criterion] | None = None,
    *,
    with_context: bool = False,
) -> list[JudgedAnswers]:
    """Ask a judge once for all answers, and return what it says of each answerer's. Raises as `Judge.verdicts` does.

    Args:
        put: each answerer with its answers; see `to_judge`.
        judge: who is asked.
        calibrated: what its scores may be used for.
        criteria: see `to_judge`.
        with_context: see `to_judge`.

    """
    verdicts = judge.verdicts([each.judged for _, some in put for each in some])
    said = verdicts.judged
    return [
        JudgedAnswers(
            answerer=answering.answerer,
            answerer_version=answering.version,
            judge=judge.name,
            version=judge.version,
            identity=judge.identity,
            criteria=list(criteria) if criteria else None,
            with_context=with_context,
            calibrated={each: use for each, use in calibrated.items() if use is not Use.NOT_CALIBRATED},
            answers=[said[name] for name in dict.fromkeys(each.judged.input_id for each in some) if name in said],
            foreign=verdicts.foreign,
            error=verdicts.error,
        )
        for answering, some in put
    ]


def probe_rules(scores: Mapping[str, Mapping[Criterion, float]]) -> RulesJudge:
    """Return the judge by rules, by what these gave, 0 to 5."""
    return RulesJudge(scores, "rules on answers", ANSWER_RULES_VERSION)


def rules_of(put: Sequence[ToJudge]) -> RulesJudge:
    """Return the judge by rules of answers that rules have judged when they came."""
    return probe_rules({each.judged.input_id: each.asked.criteria for each in put})


@dataclass(frozen=True)
class JudgedBoard:
    """Methods by what a judge says of the answers under them.

    Attributes:
        board: its scores are means over answers of the unweighted mean of an answer's dimensions; answers that are
            unscored under any method are left out.
        unscored: share of the answers that have no score at all.
        labelled: how many scores are of a person.
        differing: answers whose own aggregate or dimensions are not the means of their criteria.

    """

    answering: Answering
    judged: JudgedAnswers
    board: ProbeBoard
    unscored: float
    labelled: int
    differing: int

    def use_of(self, criterion: Criterion) -> Use:
        """Return what its scores of a criterion may be used for."""
        return self.judged.calibrated.get(criterion, Use.NOT_CALIBRATED)


def judged_boards(result: ProbeResult) -> Iterator[JudgedBoard]:
    """Yield the board of each judge and answerer, in their order; none where nothing is scored."""
    for judged in result.judged:
        answering = answering_of(result, judged)
        if answering is None:
            continue
        put = to_judge(result, answering, judged.criteria, with_context=judged.with_context)
        found = scores_of(result, judged)
        own = {each.input_id for each in result.labels}
        ids = {each.judged.input_id for each in put}
        unscored = [input_id for input_id in ids if not found.get(input_id)]
        methods = _methods(answering, put, found)
        for maker in Maker:
            board = board_of(methods, maker)
            if board is not None:
                yield JudgedBoard(
                    answering,
                    judged,
                    board,
                    len(unscored) / max(1, len(ids)),
                    len(ids & own),
                    sum(_differs(each) for each in judged.answers),
                )


def answering_of(result: ProbeResult, judged: JudgedAnswers) -> Answering | None:
    """Return the answers that a judge was asked about."""
    key = judged.answerer, judged.answerer_version
    return next((each for each in result.answered if (each.answerer, each.version) == key), None)


def scores_of(result: ProbeResult, judged: JudgedAnswers) -> dict[str, dict[Criterion, float]]:
    """Return the scores of a judge by input; where a person has labelled an answer, that person's."""
    return {each.input_id: each.scored for each in judged.answers} | {
        each.input_id: each.scored for each in result.labels
    }


def _methods(
    answering: Answering, put: Sequence[ToJudge], found: Mapping[str, Mapping[Criterion, float]]
) -> list[MeasuredMethod]:
    """Return the methods with these scores, each over the same questions."""
    scored: list[dict[tuple[str, str, int], AskedProbe]] = [{} for _ in answering.methods]
    for each in put:
        scores = found.get(each.judged.input_id, {})
        overall = overall_score(scores)
        if overall is not None:
            asked = replace(
                each.asked, score=overall, criteria=dict(scores), age=0, statements=[], wrong=[], uptake=None
            )
            scored[each.method][each.asked.key] = asked
    shared = set(scored[0]).intersection(*scored[1:]) if scored else set()
    made = []
    for method, by_key in zip(answering.methods, scored, strict=True):
        answers = [by_key[key] for key in sorted(shared)]
        cuts = {(each.session, each.at) for each in answers}
        contexts = [each for each in method.contexts if (each.session, each.at) in cuts]
        made.append(replace(method, contexts=contexts, asked=answers, own_words=False))
    return made if shared else []


def _differs(answer: JudgedAnswer) -> bool:
    """Return True if what a judge wrote beside its criteria is not what they come to."""
    scored = answer.scored
    if answer.aggregate is None or not scored:
        return False
    return min(abs(answer.aggregate - value) for value in (fmean(scored.values()), overall_score(scored) or 0)) > 0.051


@dataclass(frozen=True)
class Apart:
    """An answer of which two judges say different things.

    Attributes:
        distance: the mean over the criteria that both score.

    """

    put: ToJudge
    right: RightAnswer
    first: Mapping[Criterion, float]
    second: Mapping[Criterion, float]
    distance: float


def agreements(result: ProbeResult, first: JudgedAnswers, second: JudgedAnswers) -> dict[Criterion, Agreement]:
    """Return how far the second judge agrees with the first, criterion by criterion.

    Raises:
        InputError: scikit-learn is not installed.

    """
    rows = list(_both(result, first, second))
    found = {}
    for criterion in Criterion:
        some = [
            (a[criterion], b[criterion], put.asked.session) for put, a, b in rows if criterion in a and criterion in b
        ]
        if len(some) > 1:
            ours, theirs, sessions = zip(*some, strict=True)
            found[criterion] = agreement_of(theirs, ours, sessions)
    return found


def furthest_apart(result: ProbeResult, first: JudgedAnswers, second: JudgedAnswers, most: int) -> list[Apart]:
    """Return the answers on which two judges differ most, the furthest first; none that a person has labelled."""
    labelled, posed = {each.input_id for each in result.labels}, posed_by_id(result.probes)
    found = []
    for put, a, b in _both(result, first, second):
        shared = a.keys() & b.keys()
        distance = fmean(abs(a[each] - b[each]) for each in shared) if shared else 0.0
        if distance and put.judged.input_id not in labelled:
            right = posed[put.asked.session, put.asked.probe].gold_at(put.asked.at)
            found.append(Apart(put, right, a, b, distance))
    return sorted(found, key=lambda each: (-each.distance, each.put.judged.input_id))[:most]


def _both(
    result: ProbeResult, first: JudgedAnswers, second: JudgedAnswers
) -> Iterator[tuple[ToJudge, Mapping[Criterion, float], Mapping[Criterion, float]]]:
    """Yield each distinct answer that both judges have judged, with the scores of each."""
    answering = answering_of(result, first)
    same = (first.answerer, first.answerer_version) == (second.answerer, second.answerer_version)
    if answering is None or not same or first.with_context != second.with_context:
        return
    a, b = ({each.input_id: each.scored for each in judged.answers} for judged in (first, second))
    put = to_judge(result, answering, first.criteria, with_context=first.with_context)
    for name, each in {each.judged.input_id: each for each in put}.items():
        if name in a and name in b:
            yield each, a[name], b[name]

"""May a judge be believed? Its scores beside labels, and beside judges that look at next to nothing."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from benchmark.judges.agreement import agreement_of, lead_of, stretched
from benchmark.judges.protocol import JudgeInput
from benchmark.judges.records import (
    Agreement,
    CalibratedCriterion,
    CalibratedType,
    Calibration,
    JudgedAnswer,
    JudgedTask,
    Use,
)
from benchmark.judges.rubric import FULL, Criterion
from benchmark.record.base import Interval, to_json

# The lower end of kappa from which scores are grades, and what rules out a lower bound.
_GRADE, _ORDERS = 0.6, 0.5
_MOST_PASSED, _FEWEST_WRONG = 0.05, 10
# With fewer labelled answers that a judge has scored, nothing is said of a criterion.
FEWEST_LABELS = 20
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer that people, or models that stand in for them, have labelled.

    Attributes:
        session: that it is about, or the capture; intervals draw these.
        kind: of the probe, or the intent of the case.
        labels: by criterion, 0 to 5, each the mean of its readers.
        abstains: it says that it does not know.

    """

    judged: JudgeInput
    session: str
    kind: str
    labels: Mapping[Criterion, float]
    abstains: bool = False


# Gives an answer 0 to 5, whatever the criterion.
Degenerate = Callable[[LabelledAnswer], float]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _shared(some: frozenset[str], others: frozenset[str]) -> float:
    return FULL * len(some & others) / max(1, len(some))


def _words_of_gold(answer: LabelledAnswer) -> float:
    judged = answer.judged
    own = _words(judged.ground_truth or "") - _words(judged.probe_question)
    return _shared(own, _words(judged.model_response))


DEGENERATE: Mapping[str, Degenerate] = {
    "always 5": lambda _: FULL,
    "always 3": lambda _: 3.0,
    "length": lambda answer: min(FULL, len(answer.judged.model_response.split()) / 12),
    "abstaining": lambda answer: 1.2 if answer.abstains else FULL,
    "words of the right answer": _words_of_gold,
    "words of the question": lambda answer: _shared(
        _words(answer.judged.probe_question), _words(answer.judged.model_response)
    ),
    # The first answer by id gets most; the order says nothing of an answer.
    "order": lambda answer: FULL * (1 - int(answer.judged.input_id[:4], 16) / 0xFFFF),
}


def calibrate(
    answers: Sequence[LabelledAnswer],
    judged: Mapping[str, JudgedAnswer],
    *,
    judge: str,
    version: str,
    identity: str,
    asked: JudgedTask = JudgedTask.PROBES,
    rivals: Mapping[str, Degenerate] = DEGENERATE,
) -> Calibration:
    """Return how far a judge may be believed.

    Args:
        answers: with labels.
        judged: what the judge says of them, by `JudgeInput.input_id`; who is missing is unscored.
        judge: its name.
        version: as the judge tells it.
        identity: as the judge tells it.
        asked: what they answer.
        rivals: that it has to beat.

    Raises:
        InputError: scikit-learn is not installed.

    """
    found = [judged[each.judged.input_id] for each in answers if each.judged.input_id in judged]
    unread = sum(each.unread == each.replies for each in found)
    return Calibration(
        timestamp=datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"),
        judge=judge,
        version=version,
        identity=identity,
        asked=asked,
        answers_sha256=answers_sha256(answers),
        answers=len(answers),
        judged=len(found),
        unread=unread / len(found) if found else 0.0,
        criteria=[
            _criterion(criterion, labelled, judged, rivals)
            for criterion in Criterion
            if len(labelled := [each for each in answers if criterion in each.labels]) >= FEWEST_LABELS
        ],
    )


def answers_sha256(answers: Iterable[LabelledAnswer]) -> str:
    """Return what labelled answers are known by, whatever their order."""
    lines = (msgspec.json.encode([each.judged.fields, to_json(dict(each.labels))], order="sorted") for each in answers)
    return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()


def _criterion(
    criterion: Criterion,
    answers: Sequence[LabelledAnswer],
    judged: Mapping[str, JudgedAnswer],
    rivals: Mapping[str, Degenerate],
) -> CalibratedCriterion:
    score = functools.partial(_score, criterion=criterion, judged=judged)
    agreement = _agreement(criterion, answers, score)
    scored = [each for each in answers if score(each) is not None]
    if agreement.answers < FEWEST_LABELS:
        why = f"it scores {agreement.answers} of {len(answers)} that have a label, and {FEWEST_LABELS} are needed"
        return CalibratedCriterion(criterion=criterion, use=Use.NOT_CALIBRATED, why=why, agreement=agreement)
    if agreement.kappa is None:
        why = "it gives all the same"
        return CalibratedCriterion(criterion=criterion, use=Use.NOT_TO_BE_USED, why=why, agreement=agreement)
    rival, lead, lead_interval = _best_rival(criterion, scored, score, rivals)
    use, why = _use(agreement, rival, lead_interval)
    # What may not be used at all may not be used for any type.
    kinds = sorted({each.kind for each in answers}) if use is not Use.NOT_TO_BE_USED else []
    by_kind = {kind: [each for each in answers if each.kind == kind] for kind in kinds}
    return CalibratedCriterion(
        criterion=criterion,
        use=use,
        why=why,
        agreement=agreement,
        types={kind: _of_type(criterion, some, score, use) for kind, some in by_kind.items()},
        rival=rival,
        lead=lead,
        lead_interval=lead_interval,
    )


_Scorer = Callable[[LabelledAnswer], float | None]


def _score(answer: LabelledAnswer, criterion: Criterion, judged: Mapping[str, JudgedAnswer]) -> float | None:
    found = judged.get(answer.judged.input_id)
    return found.scored.get(criterion) if found else None


def _agreement(criterion: Criterion, answers: Sequence[LabelledAnswer], score: _Scorer) -> Agreement:
    labels = [each.labels[criterion] for each in answers]
    return agreement_of([score(each) for each in answers], labels, [each.session for each in answers])


def _best_rival(
    criterion: Criterion, scored: Sequence[LabelledAnswer], score: _Scorer, rivals: Mapping[str, Degenerate]
) -> tuple[str, float | None, Interval | None]:
    """Return the degenerate judge that comes nearest on the same answers, stretched to the labels; and the lead."""
    labels, sessions = [each.labels[criterion] for each in scored], [each.session for each in scored]
    ours = [score(each) or 0.0 for each in scored]
    best: tuple[float, str, list[float]] | None = None
    for name, rival in rivals.items():
        plain = [rival(each) for each in scored]
        for theirs in (plain, stretched(plain, labels)):
            kappa = agreement_of(theirs, labels, sessions, intervals=False).kappa
            if kappa is not None and (best is None or kappa > best[0]):
                best = kappa, name, theirs
    if best is None:
        return "", None, None
    return best[1], *lead_of(ours, best[2], labels, sessions)


def _use(agreement: Agreement, rival: str, lead: Interval | None) -> tuple[Use, str]:
    low = agreement.kappa_interval[0] if agreement.kappa_interval else None
    if low is None:
        return Use.NOT_TO_BE_USED, "too few sessions to tell"
    ahead = lead is not None and lead[0] > 0
    if low >= _GRADE and ahead:
        return Use.MAY_BE_USED, f"kappa is at least {low:.2f}, and above that of any degenerate judge"
    if ahead and _is_lower_bound(agreement):
        return Use.LOWER_BOUND_ONLY, "it orders answers and misses right ones, and passes hardly a wrong one"
    if low >= _GRADE:
        return Use.NOT_TO_BE_USED, f"not surely better than judging by {rival}"
    return Use.NOT_TO_BE_USED, f"kappa may be as low as {low:.2f}"


def _is_lower_bound(agreement: Agreement) -> bool:
    """Return True if scores are too low rather than too high: right answers are missed, wrong ones not passed."""
    orders = agreement.rho_interval is not None and agreement.rho_interval[0] >= _ORDERS
    known = agreement.wrong >= _FEWEST_WRONG
    return orders and known and agreement.bias < 0 and agreement.passed <= _MOST_PASSED * agreement.wrong


def _of_type(criterion: Criterion, answers: Sequence[LabelledAnswer], score: _Scorer, whole: Use) -> CalibratedType:
    agreement = _agreement(criterion, answers, score)
    low = agreement.kappa_interval[0] if agreement.kappa_interval else None
    if low is None:
        return CalibratedType(use=Use.NOT_CALIBRATED, agreement=agreement)
    if whole is Use.MAY_BE_USED and low >= _GRADE:
        return CalibratedType(use=whole, agreement=agreement)
    bound = whole is not Use.NOT_TO_BE_USED and _is_lower_bound(agreement)
    return CalibratedType(use=Use.LOWER_BOUND_ONLY if bound else Use.NOT_TO_BE_USED, agreement=agreement)

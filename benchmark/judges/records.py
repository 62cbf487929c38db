"""What judges said of answers, and how far they may be believed, as results keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from statistics import median
from typing import Annotated

import msgspec

from benchmark.judges.protocol import Score, Verdict
from benchmark.judges.rubric import Criterion, RubricDimension
from benchmark.record.base import Interval, Ratio, Record, Timestamp, WithIntervals
from benchmark.record.judged_quality import ScoredCriterion

_Whole = Annotated[int, msgspec.Meta(ge=0)]


class JudgedAnswer(Record, frozen=True, kw_only=True):
    """What a judge says of an answer.

    Attributes:
        input_id: of what it was told; equal for equal inputs.
        aggregate, dimensions: as its first reply has them. Never computed from, only shown.
        replies: how often it was asked; `unread`: how many of these could not be read.

    """

    input_id: str
    scores: dict[Criterion, ScoredCriterion]
    aggregate: float | None = None
    dimensions: dict[RubricDimension, float] | None = None
    replies: _Whole = 1
    unread: _Whole = 0

    @property
    def scored(self) -> dict[Criterion, float]:
        """The criteria that have a score, 0 to 5."""
        return {criterion: each.score for criterion, each in self.scores.items() if each.score is not None}


def judged_answer(input_id: str, verdicts: Sequence[Verdict]) -> JudgedAnswer:
    """Return what the replies of a judge to one input come to; there is at least one."""
    read = [each for each in verdicts if each.unread is None]
    first = (read or verdicts)[0]
    return JudgedAnswer(
        input_id=input_id,
        scores={criterion: _median([each.scores[criterion] for each in verdicts]) for criterion in first.scores},
        aggregate=first.aggregate,
        dimensions=dict(first.dimensions) if first.dimensions else None,
        replies=len(verdicts),
        unread=len(verdicts) - len(read),
    )


def _median(scores: Sequence[Score]) -> ScoredCriterion:
    values = [each.value for each in scores if each.value is not None]
    if not values:
        return ScoredCriterion(score=None, reasoning=scores[0].reasoning)
    middle = median(values)
    nearest = min((each for each in scores if each.value is not None), key=lambda each: abs(each.value - middle))  # type: ignore[operator]
    return ScoredCriterion(score=middle, spread=max(values) - min(values), reasoning=nearest.reasoning)


class Use(StrEnum):
    """What may be made of a judge's scores of a criterion."""

    MAY_BE_USED = "may be used"
    LOWER_BOUND_ONLY = "lower bound only"
    NOT_TO_BE_USED = "not to be used"
    NOT_CALIBRATED = "not calibrated"


class JudgedTask(StrEnum):
    """What labelled answers answer: a judge may be good for one, and not for the other."""

    PROBES = "probes of sessions"
    CASES = "cases of the corpus"


class Agreement(WithIntervals, frozen=True, kw_only=True):
    """How far the scores of a judge agree with labels.

    Attributes:
        answers: that have both; `unscored`: those that have a label alone.
        kappa: Cohen's, with quadratic weights, over half points; None where it is not defined.
        rho: Spearman's rank correlation; None where one side is constant.
        bias: mean score less mean label.
        wrong: answers labelled at most 1; `passed`: those of them that are scored at least 4.
        kappa_interval, rho_interval: 95%, by drawing sessions; None below five sessions.

    """

    answers: _Whole
    unscored: _Whole = 0
    kappa: float | None = None
    kappa_interval: Interval | None = None
    rho: float | None = None
    rho_interval: Interval | None = None
    bias: float = 0.0
    wrong: _Whole = 0
    passed: _Whole = 0


class CalibratedCriterion(WithIntervals, frozen=True, kw_only=True):
    """How far a judge may be believed in one criterion.

    Attributes:
        use: what its scores may be used for; `why`: in words.
        agreement: over all labelled answers.
        types: ... by type of the probe, or by intent of the case, each with its use.
        rival: the degenerate judge that agrees best.
        lead: by how much its kappa is above that one's; `lead_interval`: 95%, by drawing sessions.

    """

    criterion: Criterion
    use: Use
    why: str
    agreement: Agreement
    types: dict[str, CalibratedType] = msgspec.field(default_factory=dict)
    rival: str = ""
    lead: float | None = None
    lead_interval: Interval | None = None


class CalibratedType(Record, frozen=True, kw_only=True):
    """The same for what is asked of one type."""

    use: Use
    agreement: Agreement


class Calibration(Record, frozen=True, kw_only=True):
    """How far a judge agrees with labelled answers, criterion by criterion.

    Attributes:
        judge, version: as a judge tells them.
        identity: of the judge; a judge with another one is not calibrated by this.
        answers_sha256: of the labelled answers and their labels.
        asked: what they answer.
        answers: that have labels; `judged`: of how many the judge says anything; None in files that do not tell.
        unread: of how many of these no reply could be read.

    """

    schema_version: int = 1
    timestamp: Timestamp
    judge: str
    version: str
    identity: str
    asked: JudgedTask = JudgedTask.PROBES
    answers_sha256: str
    answers: _Whole
    judged: _Whole | None = None
    unread: Ratio = 0.0
    criteria: list[CalibratedCriterion]

    def use_of(self, criterion: Criterion) -> Use:
        """Return what scores of a criterion may be used for."""
        return next((each.use for each in self.criteria if each.criterion is criterion), Use.NOT_CALIBRATED)


def uses(calibration: Calibration | None) -> Mapping[Criterion, Use]:
    """Return what the scores of a judge may be used for; nothing where it was not calibrated."""
    return {each: calibration.use_of(each) if calibration else Use.NOT_CALIBRATED for each in Criterion}

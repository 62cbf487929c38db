"""What a judge says of answers in prose, beside the quality that the scorer gives them. No score knows of it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from benchmark.record.base import Interval, Ratio, Record, Score, TotalSeconds, WithIntervals
from ctxsift.backends.base import Count

Points = Annotated[float, msgspec.Meta(ge=0, le=5)]


class ScoredCriterion(Record, frozen=True, kw_only=True):
    """What a judge gives for a criterion.

    Attributes:
        score: 0 to 5, the median of its replies; None for unscored, which is no 0.
        spread: between its highest and its lowest reply.
        reasoning: words of a reply with that score; of what is unscored, why.

    """

    score: Points | None
    spread: Points = 0.0
    reasoning: str = ""


class JudgedQuality(Record, frozen=True, kw_only=True):
    """What a judge says of one answer.

    Attributes:
        quality: the mean of its criteria, 0 to 1; None for unscored: one of them has no score.
        criteria: by name; none for an answer without text, which is 0 whoever judges.

    """

    quality: Ratio | None
    criteria: dict[str, ScoredCriterion] = {}


class ScoredBy(WithIntervals, frozen=True, kw_only=True):
    """The same answers by judge and by scorer, 0 to 100.

    Attributes:
        judged_quality: mean of what the judge says; its interval draws captures.
        scorer_quality: mean of what the scorer says of the same answers.
        judged_count: answers that the judge has scored; `unscored_count`: that it was asked about, and has not.

    """

    judged_quality: Score | None
    judged_quality_interval: Interval | None
    scorer_quality: Score | None
    judged_count: Count
    unscored_count: Count


class CriterionUse(WithIntervals, frozen=True, kw_only=True):
    """What a judge's scores of a criterion may be used for, as its calibration says.

    Attributes:
        kappa: its agreement with answers of known truth.

    """

    use: str
    kappa: float | None = None
    kappa_interval: Interval | None = None


class ProseJudge(Record, frozen=True, kw_only=True):
    """Who judged the prose of a result.

    Attributes:
        name, version, identity: as a judge tells them.
        with_context: it was shown the raw output.
        seconds, tokens: that its replies took, read and written; None where nobody tells.
        calibrated: by criterion; empty where it was not calibrated with prose.
        error: why it ended early; None where it did not.

    """

    name: str
    version: str
    identity: str
    with_context: bool = False
    seconds: TotalSeconds | None = None
    tokens: Count | None = None
    calibrated: dict[str, CriterionUse] = {}
    error: str | None = None

"""One view, raw or recovered: of an answer, and of a whole scenario. The components of a score have their keys here.

Attributes are named as the code names them; where the published layout has another key, `name=` says which.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType, field

from benchmark.record.base import Figure, Interval, Ratio, Record, Score, WithIntervals
from ctxsift.answers.validation import Status
from ctxsift.backends.base import Count

# A right answer in prose scores above it, a wrong one hardly ever does: see docs/scoring.md.
_RIGHT = 0.7
# Below, an answer that has every anchor is mostly something else: a copy of the output, a loop, a wrong shape.
_PASSING = 0.5


class ScoredView(Record, frozen=True, kw_only=True):
    """One view of an answer: its text, the verdict on it, and its components, each in [0, 1].

    Attributes:
        output_tokens: length of the text, by the scorer's tokenizer; None in published files.
        thought_spans: start and end of leaked thought in the text, in characters; unset where there is none, or in
            files that are older.
        reasons: component -> what is missing from 1, for a person.

    """

    output: str
    output_tokens: Count | None = None
    preserve: Ratio = field(name="exact_preservation_ratio")
    quality: Ratio = field(name="summary_quality_ratio")
    format: Ratio = field(name="format_adherence_score")
    instruction: Ratio = field(name="instruction_following_score")
    brevity: Ratio = field(name="brevity_ratio")
    case_score: Ratio
    validation_status: Status
    validation_flags: list[str] = []
    ungrounded_facts: list[str] = []
    missing_tokens: list[str] = []
    thought_density: Ratio = field(name="thought_leakage_density", default=0.0)
    thought_markers: Count = field(name="thought_marker_count", default=0)
    thought_spans: list[tuple[Count, Count]] | UnsetType = UNSET
    reasons: dict[str, list[str]] = {}

    @property
    def usable(self) -> bool:
        """The answer was not rejected."""
        return self.validation_status is not Status.REJECTED

    @property
    def passed(self) -> bool:
        """Usable, with every anchor, and a case score of at least half.

        Known answers lower `preserve` of prose that is judged wrong. A case without anchors has only the score.
        """
        has_anchors = self.preserve == 1.0 or (self.preserve >= _RIGHT and not self.missing_tokens)
        return self.usable and has_anchors and self.case_score >= _PASSING


class Intervals(WithIntervals, frozen=True, kw_only=True):
    """95% intervals of one view; None below five captures."""

    final_score: Interval | None = None
    avg_case_score: Interval | None = None
    recovery_lift: Interval | UnsetType | None = UNSET


class ViewSummary(Record, frozen=True, kw_only=True):
    """One view over all answered cases."""

    case_count: Count
    success_count: Count
    accepted_count: Count
    soft_accepted_count: Count
    rejected_count: Count
    exact_pass_count: Count
    avg_preserve: Ratio = field(name="avg_exact_preservation_ratio")
    avg_quality: Ratio = field(name="avg_summary_quality_ratio")
    avg_format: Ratio = field(name="avg_format_adherence_score")
    avg_instruction: Ratio = field(name="avg_instruction_following_score")
    avg_brevity: Ratio = field(name="avg_brevity_ratio")
    avg_thought_density: Ratio = field(name="avg_thought_leakage_density")
    avg_thought_markers: Figure = field(name="avg_thought_marker_count")
    avg_case_score: Ratio
    p10_case_score: Ratio
    quality_core: Ratio
    latency_factor: Ratio
    final_score: Score
    intervals: Intervals = Intervals()

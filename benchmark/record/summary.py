"""A scenario in figures, as a whole and by group."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum, auto
from typing import ClassVar

from msgspec import UNSET, UnsetType, field

from benchmark.record.base import Figure, Flat, Interval, Ratio, Record, Whole, WithIntervals
from benchmark.record.judged_quality import ScoredBy
from benchmark.record.views import ViewSummary
from ctxsift.backends.base import Count, Milliseconds


class Dimension(StrEnum):
    """What results are broken down by."""

    INTENT = auto()
    FAMILY = auto()
    TOOL = auto()
    DIFFICULTY = auto()
    INPUT_LENGTH = auto()
    TIER = auto()

    @property
    def words(self) -> str:
        """The dimension as people read it."""
        return self.replace("_", " ")


class Latency(Record, frozen=True, kw_only=True):
    """Times and tokens of the answers; a figure is None where no engine or provider tells it.

    Attributes:
        cached_cases: answers whose prompts began like the one before, so that this beginning was not read again.
        cached_tokens, cached_ms: how much that was, in tokens, and in the time it took when it was read; the times
            of an answer count it.

    """

    avg_inference_ms: Milliseconds
    p50_inference_ms: Milliseconds | None = None
    p95_inference_ms: Milliseconds | None = None
    avg_time_to_first_token_ms: Milliseconds | None = None
    prefill_tokens_per_s: Figure | None = None
    decode_tokens_per_s: Figure | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prefill_ms: Milliseconds | None = None
    decode_ms: Milliseconds | None = None
    cached_cases: Count | UnsetType = UNSET
    cached_tokens: Count | UnsetType = UNSET
    cached_ms: Milliseconds | UnsetType = UNSET
    cost_usd: Figure | None = None


class TokenSavings(Record, frozen=True, kw_only=True):
    """What an agent is spared, in tokens of one tokenizer for all models.

    Attributes:
        ratio: input tokens per answer token over usable answers; None when none is.
        tokens_saved: by usable answers that kept every anchor.
        tokens_saved_share: of all input tokens.
        read_share: of all input tokens, what the model read behind a filter; None where it read all.

    """

    ratio: Figure | None = field(name="compression_ratio")
    tokens_saved: Whole
    tokens_saved_share: Figure
    read_share: Figure | UnsetType = UNSET


class Reference(WithIntervals, frozen=True, kw_only=True):
    """The reference rows on the same cases; scores are final scores.

    Attributes:
        floor: name of the best baseline.
        baselines: name -> final score.
        difference: of this scenario's final score from the floor.
        core_difference: of its quality core, 0 to 100, which the verdict is on; None in earlier files, whose verdict
            is on the final score.

    """

    floor: str
    floor_score: Figure
    ceiling_score: Figure
    baselines: dict[str, Figure] = field(name="controls")
    difference: Figure
    difference_interval: Interval | None
    beats_floor: bool | None
    core_difference: Figure | None = None
    core_difference_interval: Interval | None = None

    @property
    def compared(self) -> tuple[float, tuple[float, float] | None]:
        """The difference that the verdict is on, with its interval."""
        if self.core_difference is None:
            return self.difference, self.difference_interval
        return self.core_difference, self.core_difference_interval


class Standing(Record, frozen=True, kw_only=True):
    """Where the score lies between floor and ceiling: 0 is the best baseline, 100 is gold."""

    normalised_score: Figure | None
    reference: Reference


class HeldBack(Record, frozen=True, kw_only=True):
    """Valid answers that the product would not print, beside the score.

    Attributes:
        held_back_count: of them.
        rightly_held_back_count: of these, those that lack an anchor or are not usable.

    """

    held_back_count: Count
    rightly_held_back_count: Count


class Halves(WithIntervals, frozen=True, kw_only=True):
    """Mean case scores, in [0, 1], of the answers that are checked exactly and of those that are judged as prose.

    Attributes:
        exact_score, prose_score: None where no answer is of that kind.
        right_share: about how many of the answers in prose are right, in [0, 1], with an interval that contains the
            error of the scorer; None where that error was not measured.

    """

    exact_count: Count
    exact_score: Ratio | None
    exact_interval: Interval | None
    prose_count: Count
    prose_score: Ratio | None
    prose_interval: Interval | None
    right_share: Ratio | None = None
    right_share_interval: Interval | None = None


class Peaks(Record, frozen=True, kw_only=True):
    """Most memory that an answer took."""

    peak_cpu_rss_bytes: Count | None
    peak_gpu_bytes: Count | None


class Summary(Record, frozen=True, kw_only=True):
    """One scenario in figures; without any answer, only its counts.

    Attributes:
        planned_count: None in published files.
        prose: what a judge says of the answers in prose, where one was asked.

    """

    FLAT: ClassVar[Mapping[str, Flat]] = {
        name: Flat() for name in ("latency", "compression", "recovered", "standing", "halves", "held_back", "peaks")
    }

    planned_count: Count | None = None
    case_count: Count
    coverage: Ratio | None = None
    instrument_failure_count: Count = 0
    model_failure_counts: dict[str, Count] = {}
    latency: Latency | None = None
    compression: TokenSavings | None = None
    recovered: ViewSummary | None = None
    recovery_lift: Figure | UnsetType | None = UNSET
    standing: Standing | None = None
    halves: Halves | None = None
    held_back: HeldBack | None = None
    peaks: Peaks | None = None
    prose: ScoredBy | UnsetType = UNSET
    raw: ViewSummary | UnsetType = field(name="raw_view", default=UNSET)

    @property
    def final_score(self) -> float | None:
        """The headline, 0 to 100; None without any answer."""
        return None if self.recovered is None else self.recovered.final_score

    @property
    def raw_view(self) -> ViewSummary | None:
        """The raw view; None without any answer."""
        return None if self.raw is UNSET else self.raw

    @property
    def lift(self) -> float | None:
        """Recovered minus raw final score; published files do not tell it, but it follows."""
        if isinstance(self.recovery_lift, float):
            return self.recovery_lift
        recovered, raw = self.recovered, self.raw_view
        return None if recovered is None or raw is None else recovered.final_score - raw.final_score

    @property
    def reference(self) -> Reference | None:
        """The reference rows on the same cases."""
        return self.standing.reference if self.standing else None

    @property
    def beats_floor(self) -> bool | None:
        """Whether it is significantly better than the best baseline; None if that is not known."""
        return self.reference.beats_floor if self.reference else None


class Group(WithIntervals, frozen=True, kw_only=True):
    """The cases of one group of a dimension; without any answer, only its counts. Scores are in [0, 1]."""

    group: str
    planned_count: Count
    case_count: Count
    avg_case_score: Ratio | UnsetType = UNSET
    avg_case_score_interval: Interval | UnsetType | None = UNSET
    raw_avg_case_score: Ratio | UnsetType = UNSET
    raw_avg_case_score_interval: Interval | UnsetType | None = UNSET
    avg_lift: Figure | UnsetType = UNSET
    avg_lift_interval: Interval | UnsetType | None = UNSET

"""The published rubric: fourteen criteria in six dimensions, each scored from 0 to 5, or unscored, which is no 0.

Questions and anchors are those of the published framework (docs/judging.md). It gives no weights; they are equal here:
a dimension is the mean of its scored criteria, the overall score the mean of the dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from statistics import fmean

FULL = 5.0


class Criterion(StrEnum):
    """What the rubric asks about."""

    ACCURACY_FACTUAL = auto()
    ACCURACY_TECHNICAL = auto()
    CONTEXT_CONVERSATION_STATE = auto()
    CONTEXT_ARTIFACT_STATE = auto()
    ARTIFACT_FILES_CREATED = auto()
    ARTIFACT_FILES_MODIFIED = auto()
    ARTIFACT_KEY_DETAILS = auto()
    COMPLETENESS_COVERAGE = auto()
    COMPLETENESS_DEPTH = auto()
    CONTINUITY_WORK_STATE = auto()
    CONTINUITY_TODO_STATE = auto()
    CONTINUITY_REASONING = auto()
    INSTRUCTION_FORMAT = auto()
    INSTRUCTION_CONSTRAINTS = auto()

    @property
    def dimension(self) -> RubricDimension:
        """The dimension it belongs to."""
        return next(each for each in RubricDimension if self.startswith(each))


class RubricDimension(StrEnum):
    """What criteria belong to; its score is the mean of those that are scored."""

    ACCURACY = auto()
    CONTEXT = auto()
    ARTIFACT = auto()
    COMPLETENESS = auto()
    CONTINUITY = auto()
    INSTRUCTION = auto()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Those whose names begin with it."""
        return tuple(criterion for criterion in Criterion if criterion.startswith(self))

    @property
    def published_name(self) -> str:
        """Its key in the published format of verdicts."""
        return _PUBLISHED_NAMES.get(self, self.value)


_PUBLISHED_NAMES = {
    RubricDimension.CONTEXT: "context_awareness",
    RubricDimension.ARTIFACT: "artifact_trail",
    RubricDimension.INSTRUCTION: "instruction_following",
}


@dataclass(frozen=True, slots=True)
class Guide:
    """What a criterion asks, and what its anchors say.

    Attributes:
        needs_truth: it cannot be judged without the right answer.

    """

    question: str
    at_0: str
    at_3: str
    at_5: str
    needs_truth: bool = True


GUIDES: Mapping[Criterion, Guide] = {
    Criterion.ACCURACY_FACTUAL: Guide(
        "Are facts, file paths, and technical details correct?",
        "Completely incorrect or fabricated",
        "Mostly accurate with minor errors",
        "Perfectly accurate",
    ),
    Criterion.ACCURACY_TECHNICAL: Guide(
        "Are code references and technical concepts correct?",
        "Major technical errors",
        "Generally correct with minor issues",
        "Technically precise",
    ),
    Criterion.CONTEXT_CONVERSATION_STATE: Guide(
        "Does the response reflect current conversation state?",
        "No awareness of prior context",
        "General awareness with gaps",
        "Full awareness of conversation history",
    ),
    Criterion.CONTEXT_ARTIFACT_STATE: Guide(
        "Does the response reflect which files/artifacts were accessed?",
        "No awareness of artifacts",
        "Partial artifact awareness",
        "Complete artifact state awareness",
    ),
    Criterion.ARTIFACT_FILES_CREATED: Guide(
        "Does the agent know which files were created?", "No knowledge", "Knows most files", "Perfect knowledge"
    ),
    Criterion.ARTIFACT_FILES_MODIFIED: Guide(
        "Does the agent know which files were modified and what changed?",
        "No knowledge",
        "Good knowledge of most modifications",
        "Perfect knowledge of all modifications",
    ),
    Criterion.ARTIFACT_KEY_DETAILS: Guide(
        "Does the agent remember function names, variable names, error messages?",
        "No recall",
        "Recalls most key details",
        "Perfect recall",
    ),
    Criterion.COMPLETENESS_COVERAGE: Guide(
        "Does the response address all parts of the question?",
        "Ignores most parts",
        "Addresses most parts",
        "Addresses all parts thoroughly",
    ),
    Criterion.COMPLETENESS_DEPTH: Guide(
        "Is sufficient detail provided?",
        "Superficial or missing detail",
        "Adequate detail",
        "Comprehensive detail",
    ),
    Criterion.CONTINUITY_WORK_STATE: Guide(
        "Can the agent continue without re-fetching previously accessed information?",
        "Cannot continue without re-fetching all context",
        "Can continue with minimal re-fetching",
        "Can continue seamlessly",
    ),
    Criterion.CONTINUITY_TODO_STATE: Guide(
        "Does the agent maintain awareness of pending tasks?",
        "Lost track of all TODOs",
        "Good awareness with some gaps",
        "Perfect task awareness",
    ),
    Criterion.CONTINUITY_REASONING: Guide(
        "Does the agent retain rationale behind previous decisions?",
        "No memory of reasoning",
        "Generally remembers reasoning",
        "Excellent retention",
    ),
    Criterion.INSTRUCTION_FORMAT: Guide(
        "Does the response follow the requested format?",
        "Ignores format",
        "Generally follows format",
        "Perfectly follows format",
        needs_truth=False,
    ),
    Criterion.INSTRUCTION_CONSTRAINTS: Guide(
        "Does the response respect stated constraints?",
        "Ignores constraints",
        "Mostly respects constraints",
        "Fully respects all constraints",
    ),
}


def dimension_scores(scores: Mapping[Criterion, float]) -> dict[RubricDimension, float]:
    """Return the mean of the scored criteria of each dimension that has any, 0 to 5."""
    found = {
        each: [scores[criterion] for criterion in each.criteria if criterion in scores] for each in RubricDimension
    }
    return {dimension: fmean(values) for dimension, values in found.items() if values}


def overall_score(scores: Mapping[Criterion, float]) -> float | None:
    """Return the unweighted mean of the scored dimensions, 0 to 5; None where nothing is scored."""
    dimensions = dimension_scores(scores)
    return fmean(dimensions.values()) if dimensions else None

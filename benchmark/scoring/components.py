"""The components of a case score, in one table that scores, reports and the page all read.

Their keys in result files are in `benchmark.record.views`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto

from benchmark.cases import Case
from benchmark.scoring.anchors import score_preserve
from benchmark.scoring.brevity import score_brevity
from benchmark.scoring.component_score import ComponentScore
from benchmark.scoring.embedder import Embedder
from benchmark.scoring.formats import score_format
from benchmark.scoring.instruction import score_instruction
from benchmark.scoring.quality import score_quality
from ctxsift.contracts import Intent


class ComponentName(StrEnum):
    """What a case score is made of; COMPONENTS says how."""

    PRESERVE = auto()
    QUALITY = auto()
    FORMAT = auto()
    BREVITY = auto()
    INSTRUCTION = auto()


@dataclass(frozen=True)
class Subject:
    """One view of one answer, against one right answer of its case.

    Attributes:
        scores: those of the components earlier in the table.

    """

    text: str
    reference: str
    case: Case
    embedder: Embedder
    scores: Mapping[ComponentName, ComponentScore] = field(default_factory=dict)


@dataclass(frozen=True)
class Component:
    """One part of a case score: a figure in [0, 1].

    Attributes:
        name: the attribute of `ScoredView` that holds it.
        hint: what it measures, for a person.
        score: how it is computed.
        weights: intent -> its share in the case score; empty for a component that is a factor instead.

    """

    name: ComponentName
    hint: str
    score: Callable[[Subject], ComponentScore]
    weights: Mapping[Intent, float] = field(default_factory=dict)


def _weights(
    recall: float, summary: float, exact_lines: float, exact_format: float, structured: float
) -> dict[Intent, float]:
    return {
        Intent.RECALL: recall,
        Intent.SUMMARY: summary,
        Intent.EXACT_LINES: exact_lines,
        Intent.EXACT_FORMAT: exact_format,
        **dict.fromkeys((Intent.JSON, Intent.YAML, Intent.TABLE, Intent.BULLET_LIST), structured),
    }


# The weights of an intent sum to 1.
COMPONENTS: tuple[Component, ...] = (
    Component(
        ComponentName.PRESERVE,
        "share of the anchors that survived, to the letter",
        lambda s: score_preserve(s.text, s.case.anchors, s.case.intent),
        _weights(0.45, 0.25, 0.45, 0.15, 0.20),
    ),
    Component(
        ComponentName.QUALITY,
        "how close it is to gold in meaning",
        lambda s: score_quality(s.text, s.reference, s.case.intent, s.embedder),
        _weights(0.25, 0.40, 0.10, 0.10, 0.30),
    ),
    Component(
        ComponentName.FORMAT,
        "whether it has the shape that was asked for",
        lambda s: score_format(s.text, s.reference, s.case),
        _weights(0.20, 0.20, 0.40, 0.70, 0.40),
    ),
    Component(
        ComponentName.BREVITY,
        "whether it is about as short as it can be",
        lambda s: score_brevity(s.text, s.reference),
        _weights(0.10, 0.15, 0.05, 0.05, 0.10),
    ),
    Component(
        ComponentName.INSTRUCTION,
        "the format, and the rules of the case that a machine can check",
        lambda s: score_instruction(s.text, s.case, s.scores[ComponentName.FORMAT].score),
    ),
)

"""One view of one answer -> its components and its case score."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchmark.corpus.cases import Case
from benchmark.scoring.anchors import score_anchors
from benchmark.scoring.brevity import score_brevity
from benchmark.scoring.component import clamp
from benchmark.scoring.formats import score_format
from benchmark.scoring.instruction import score_instruction
from benchmark.scoring.semantic import Embedder, score_semantic
from ctxsift.contracts import Intent, Kind, contract_of
from ctxsift.validation import Status, Validation

SCORER_VERSION = "2"

# anchor, semantic, format, brevity; each row sums to 1.
_STRUCTURED_WEIGHTS = (0.20, 0.30, 0.40, 0.10)
WEIGHTS: dict[Intent, tuple[float, float, float, float]] = {
    Intent.RECALL: (0.45, 0.25, 0.20, 0.10),
    Intent.SUMMARY: (0.25, 0.40, 0.20, 0.15),
    Intent.EXACT_LINES: (0.45, 0.10, 0.40, 0.05),
    Intent.EXACT_FORMAT: (0.15, 0.10, 0.70, 0.05),
    Intent.JSON: _STRUCTURED_WEIGHTS,
    Intent.YAML: _STRUCTURED_WEIGHTS,
    Intent.TABLE: _STRUCTURED_WEIGHTS,
    Intent.BULLET_LIST: _STRUCTURED_WEIGHTS,
}
_VALIDATION_FACTOR = {Status.ACCEPTED: 1.00, Status.SOFT_ACCEPTED: 0.85, Status.REJECTED: 0.00}


@dataclass(frozen=True)
class Scores:
    """The figures of one view, each in [0, 1].

    Attributes:
        missing: anchors that did not survive.
        reasons: component name -> what is missing from 1, for a person.

    """

    preserve: float
    quality: float
    format: float
    brevity: float
    instruction: float
    case_score: float
    missing: tuple[str, ...]
    reasons: dict[str, tuple[str, ...]]


def thought_penalty(density: float) -> float:
    """Return 1 for an answer without visible thought, else 1 - 0.6 * density, at least 0.65."""
    return 1.0 if density == 0 else max(0.65, 1 - 0.60 * density)


def instruction_penalty(intent: Intent, instruction: float, format: float) -> float:  # noqa: A002
    """Return the factor for instruction following; strict contracts forgive it where the format is right."""
    if contract_of(intent).kind is Kind.PLAIN:
        return 0.75 + 0.25 * instruction
    return 1 - (1 - (0.40 + 0.60 * instruction)) * (1 - format)


def case_score(
    intent: Intent | str,
    *,
    validation_status: Status | str,
    thought_density: float,
    preserve: float,
    quality: float,
    format: float,  # noqa: A002 - the component's name
    brevity: float,
    instruction: float,
) -> float:
    """Return the case score in [0, 1] from its components, by the formula in docs/scoring.md.

    Raises:
        ValueError: unknown intent or validation status.

    """
    intent = Intent(intent)
    weights = WEIGHTS[intent]
    # fsum, so that four perfect components make exactly 1.
    blended = math.fsum(w * c for w, c in zip(weights, (preserve, quality, format, brevity), strict=True))
    return (
        _VALIDATION_FACTOR[Status(validation_status)]
        * thought_penalty(thought_density)
        * instruction_penalty(intent, instruction, format)
        * blended
    )


def score_view(text: str, validation: Validation, case: Case, embedder: Embedder) -> Scores:
    """Score one view against gold and its alternatives; the best one counts."""
    scored = [_score_against(text, reference, validation, case, embedder) for reference in case.references]
    return max(scored, key=lambda s: s.case_score)


def _score_against(text: str, reference: str, validation: Validation, case: Case, embedder: Embedder) -> Scores:
    anchors = score_anchors(text, case.anchors, case.intent)
    semantic = score_semantic(text, reference, case.intent, embedder)
    shape = score_format(text, reference, case)
    brevity = score_brevity(text, reference)
    instruction = score_instruction(text, case, shape.score)
    score = case_score(
        case.intent,
        validation_status=validation.status,
        thought_density=validation.thought.density,
        preserve=anchors.score,
        quality=semantic.score,
        format=shape.score,
        brevity=brevity.score,
        instruction=instruction.score,
    )
    parts = {
        "preserve": anchors,
        "quality": semantic,
        "format": shape,
        "brevity": brevity,
        "instruction": instruction,
    }
    return Scores(
        **{name: part.score for name, part in parts.items()},
        case_score=clamp(score),
        missing=tuple(reason.removeprefix("missing ") for reason in anchors.reasons),
        reasons={name: part.reasons for name, part in parts.items() if part.reasons},
    )

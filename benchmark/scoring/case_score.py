"""One view of one answer -> its components and its case score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from benchmark.cases import Case
from benchmark.scoring.component_score import ComponentScore, clamp
from benchmark.scoring.components import COMPONENTS, ComponentName, Subject
from benchmark.scoring.embedder import Embedder
from ctxsift.answers.validation import Status, Validation
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent

SCORER_VERSION = "10"
_VALIDATION_FACTOR = {Status.ACCEPTED: 1.00, Status.SOFT_ACCEPTED: 0.85, Status.REJECTED: 0.00}


@dataclass(frozen=True)
class Scores:
    """The figures of one view, each in [0, 1].

    Attributes:
        parts: component -> its score and reasons, in the order of COMPONENTS.
        missing: anchors that did not survive.

    """

    case_score: float
    parts: dict[ComponentName, ComponentScore]
    missing: tuple[str, ...]

    def figure(self, component: str) -> float:
        """Return the score of a component by its name. Raises ValueError when there is none of that name."""
        return self.parts[ComponentName(component)].score


def thought_penalty(density: float) -> float:
    """Return the factor for visible thought: 1 without any, else 1 - 0.6 * density, at least 0.65."""
    return 1.0 if density == 0 else max(0.65, 1 - 0.60 * density)


def instruction_penalty(intent: Intent, instruction: float, format: float) -> float:  # noqa: A002
    """Return the factor for instruction following; strict contracts forgive it where the format is right."""
    if contract_of(intent).kind is ContractKind.PLAIN:
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
    figures = {
        ComponentName.PRESERVE: preserve,
        ComponentName.QUALITY: quality,
        ComponentName.FORMAT: format,
        ComponentName.BREVITY: brevity,
        ComponentName.INSTRUCTION: instruction,
    }
    return _blended(Intent(intent), Status(validation_status), thought_density, figures)


def _blended(intent: Intent, status: Status, thought_density: float, figures: Mapping[ComponentName, float]) -> float:
    """Return the case score from the figures of all components."""
    instruction, shape = figures[ComponentName.INSTRUCTION], figures[ComponentName.FORMAT]
    # fsum, so that four perfect components make exactly 1.
    blended = math.fsum(c.weights[intent] * figures[c.name] for c in COMPONENTS if c.weights)
    return (
        _VALIDATION_FACTOR[status]
        * thought_penalty(thought_density)
        * instruction_penalty(intent, instruction, shape)
        * blended
    )


def case_score_of(text: str, validation: Validation, case: Case, embedder: Embedder) -> float:
    """Return the case score that `score_view` finds; that of a rejected answer is 0 without looking at it."""
    if not _VALIDATION_FACTOR[validation.status]:
        return 0.0
    return score_view(text, validation, case, embedder).case_score


def score_view(text: str, validation: Validation, case: Case, embedder: Embedder) -> Scores:
    """Return the scores of one view against gold or an alternative of it, whichever it fits best."""
    scored = [_score_against(text, reference, validation, case, embedder) for reference in case.references]
    return max(scored, key=lambda s: s.case_score)


def _score_against(text: str, reference: str, validation: Validation, case: Case, embedder: Embedder) -> Scores:
    parts: dict[ComponentName, ComponentScore] = {}
    subject = Subject(text, reference, case, embedder, parts)
    for component in COMPONENTS:
        parts[component.name] = component.score(subject)
    figures = {name: part.score for name, part in parts.items()}
    score = _blended(case.intent, validation.status, validation.thought.density, figures)
    return Scores(
        case_score=clamp(score),
        parts=parts,
        missing=tuple(
            reason.removeprefix("missing ")
            for reason in parts[ComponentName.PRESERVE].reasons
            if reason.startswith("missing ")
        ),
    )

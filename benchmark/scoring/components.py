"""The components of a case score, in one table that scores, reports and the page all read.

Their keys in result files are in `benchmark.record.views`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto
from functools import cached_property

from benchmark.cases import Case
from benchmark.scoring.anchors import score_preserve
from benchmark.scoring.brevity import score_brevity
from benchmark.scoring.component_score import ComponentScore
from benchmark.scoring.embedder import Embedder
from benchmark.scoring.exact_values import value_gate
from benchmark.scoring.formats import score_format
from benchmark.scoring.instruction import score_instruction
from benchmark.scoring.known_answers import by_known_answers
from benchmark.scoring.quality import score_quality
from benchmark.scoring.said import (
    is_prose,
    own_words,
    score_preserve_said,
    score_statements,
    verdict_on,
)
from benchmark.statements.judging import TextVerdict
from benchmark.whole_tokens import has_token
from ctxsift.answers.payloads import parse_payload
from ctxsift.intents import Intent

# Quality by wording from which an answer says something with its anchors.
_SAYS_SOMETHING = 0.5
_DECOY_LEAVES = 0.9


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

    @cached_property
    def verdict(self) -> TextVerdict | None:
        """What it says of the statements of its case; None where there are none."""
        return verdict_on(self.text, self.case)

    @cached_property
    def quality(self) -> ComponentScore:
        """How much of the right answer it says; the worth of much else hangs on it."""
        if self.verdict is not None and self.text.strip():
            return self._by_statements if self._by_statements.score == 1 else self._by_known_answers
        found = score_quality(self.text, self.reference, self.case.intent, self.embedder)
        decoys = [token for token in self.case.rules.forbidden if self.prose and has_token(self.text, token)]
        if not decoys:
            return found
        # An embedding may come closer by what was to be left out.
        reasons = (*found.reasons, *(f"names {token}, which was to be left out" for token in decoys))
        return ComponentScore(found.score * _DECOY_LEAVES ** len(decoys), reasons)

    @cached_property
    def _by_statements(self) -> ComponentScore:
        assert self.verdict is not None
        return score_statements(self.text, self.reference, self.verdict, self.own_words, self.embedder)

    @cached_property
    def _by_known_answers(self) -> ComponentScore:
        return by_known_answers(self.text, self._by_statements, self.case)

    @property
    def left_by_known_answers(self) -> float:
        """What the known answers of the case leave of its quality by statements, in [0, 1]."""
        return self.quality.score / self._by_statements.score if self._by_statements.score else 1.0

    @cached_property
    def own_words(self) -> ComponentScore:
        """What is left of what it says where it says it in sentences of its own."""
        return own_words(self.text, self.reference, self.case)

    @cached_property
    def prose(self) -> bool:
        """It has to say something in sentences."""
        return is_prose(self.case)


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


def _preserve(subject: Subject) -> ComponentScore:
    case = subject.case
    if subject.prose and subject.text.strip() != subject.reference.strip():
        if subject.verdict is not None and subject.quality.score > 0:
            found = score_preserve_said(subject.text, case.anchors, subject.verdict)
            return replace(found, score=found.score * subject.own_words.score * subject.left_by_known_answers)
        # Without statements nobody knows what is said with an anchor; as far from gold as a list of names is, nothing.
        # Where nothing is said, nothing is said with any anchor.
        found = score_preserve(subject.text, case.anchors, case.intent)
        return replace(found, score=found.score * min(1.0, subject.quality.score / _SAYS_SOMETHING))
    return _of_value(subject, score_preserve(subject.text, case.anchors, case.intent))


def _format(subject: Subject) -> ComponentScore:
    if subject.verdict is not None and parse_payload(subject.case.intent, subject.text):
        # Which bullets are right is for the statements to say.
        return _gated(subject, ComponentScore(1.0))
    return _gated(subject, score_format(subject.text, subject.reference, subject.case))


def _brevity(subject: Subject) -> ComponentScore:
    wordy = subject.verdict is not None
    return _gated(subject, score_brevity(subject.text, subject.reference, wordy=wordy))


def _gated(subject: Subject, found: ComponentScore) -> ComponentScore:
    """Return what shape or shortness of prose is worth: as much as what it says."""
    if not subject.prose:
        return _of_value(subject, found)
    return replace(found, score=found.score * subject.quality.score)


def _of_value(subject: Subject, found: ComponentScore) -> ComponentScore:
    """Return what an answer that should be one value gets, if it is another value: next to nothing."""
    gate = value_gate(subject.text, subject.reference, subject.case.intent)
    return found if gate == 1 else replace(found, score=found.score * gate)


# The weights of an intent sum to 1.
COMPONENTS: tuple[Component, ...] = (
    Component(
        ComponentName.PRESERVE,
        "share of the anchors that survived, to the letter, in something that is said",
        _preserve,
        _weights(0.45, 0.25, 0.45, 0.15, 0.20),
    ),
    Component(
        ComponentName.QUALITY,
        "how much of the right answer it says, and nothing against it",
        lambda s: s.quality,
        _weights(0.25, 0.40, 0.10, 0.10, 0.30),
    ),
    Component(
        ComponentName.FORMAT,
        "whether it has the shape that was asked for",
        _format,
        _weights(0.20, 0.20, 0.40, 0.70, 0.40),
    ),
    Component(
        ComponentName.BREVITY,
        "whether it is about as short as it can be",
        _brevity,
        _weights(0.10, 0.15, 0.05, 0.05, 0.10),
    ),
    Component(
        ComponentName.INSTRUCTION,
        "the format, and the rules of the case that a machine can check",
        lambda s: score_instruction(s.text, s.case, s.scores[ComponentName.FORMAT].score),
    ),
)

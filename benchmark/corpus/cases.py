"""The records of the corpus."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ctxsift.contracts import Intent, OutputMode
from ctxsift.prompts import Request


class Family(StrEnum):
    """What a case tests; for reports only."""

    SUMMARY = "summary"
    RECALL = "recall"
    EXPLANATION = "explanation"
    INSTRUCTION_FOLLOWING = "instruction_following"
    STRUCTURED = "structured"
    EXACT_FORMAT = "exact_format"


class Difficulty(StrEnum):
    """How much stands between a careful reader and the answer."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


@dataclass(frozen=True)
class Capture:
    """Provenance of one raw output.

    Attributes:
        origin: `captured` a real tool printed exactly this; `written` by hand, in the tool's format.
        normalised: what was replaced in the text.

    """

    name: str
    ecosystem: str
    tool: str
    version: str
    command: str
    exit_code: int
    origin: str
    normalised: tuple[str, ...]


@dataclass(frozen=True)
class Rules:
    """What a machine can check of an instruction; None or empty where it says nothing.

    Attributes:
        forbidden: decoys: tokens of the input that an answer must not hold.
        pattern: regular expression the whole answer has to match.
        order: tokens that have to appear in this order.

    """

    max_lines: int | None = None
    max_words: int | None = None
    max_sentences: int | None = None
    max_items: int | None = None
    forbidden: tuple[str, ...] = ()
    pattern: str | None = None
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One question with its gold.

    Attributes:
        required_anchors: exact tokens of the input that must survive.
        derived_anchors: tokens that must be in the answer though not in the input (a count, a JSON key).
        alternatives: whole answers that are exactly as right as `expected_output`.
        where: file and place, for messages.

    """

    case_id: str
    title: str
    capture: Capture
    family: Family
    intent: Intent
    output_mode: OutputMode
    difficulty: Difficulty
    instruction: str
    raw_input: str
    expected_output: str
    alternatives: tuple[str, ...]
    required_anchors: tuple[str, ...]
    derived_anchors: tuple[str, ...]
    rules: Rules
    tags: tuple[str, ...]
    rationale: str
    where: str

    @property
    def request(self) -> Request:
        """All that a model may see of this case."""
        return Request(self.raw_input, self.instruction, self.intent)

    @property
    def references(self) -> tuple[str, ...]:
        """Gold and its equals."""
        return (self.expected_output, *self.alternatives)

    @property
    def anchors(self) -> tuple[str, ...]:
        """Every token that must survive, from the input or derived from it."""
        return (*self.required_anchors, *self.derived_anchors)

"""A case: one question with its gold, and where it comes from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path

from benchmark.statements.model import MustNot, Statement
from benchmark.typed_input import NonBlank, NonEmpty, Positive
from ctxsift.contracts import OutputMode
from ctxsift.intents import Intent
from ctxsift.prompts import Request

_TEST_BELOW = 85
# Tag of cases that models of any size can answer: one plain question on a screenful of everyday output.
EASY_TIER = "easy-tier"


class Family(StrEnum):
    """What a case tests; for reports only."""

    SUMMARY = auto()
    RECALL = auto()
    EXPLANATION = auto()
    INSTRUCTION_FOLLOWING = auto()
    STRUCTURED = auto()
    EXACT_FORMAT = auto()


class Difficulty(StrEnum):
    """How hard it is for a careful reader to find the answer."""

    EASY = auto()
    MEDIUM = auto()
    HARD = auto()


class Origin(StrEnum):
    """How a raw output came to be: a real tool printed exactly this, or a person wrote it in the tool's format."""

    CAPTURED = auto()
    WRITTEN = auto()


class Split(StrEnum):
    """Which part of a corpus a case belongs to: two thirds to look at, one third to judge by."""

    DEV = auto()
    TEST = auto()


def split_of(capture: str) -> Split:
    """Return the part that a capture's cases belong to: `test` where the first byte of its name's SHA-256 is below 85.

    A third of all bytes are; cases on one capture stay together, and new captures move no old ones.
    """
    return Split.TEST if hashlib.sha256(capture.encode()).digest()[0] < _TEST_BELOW else Split.DEV


@dataclass(frozen=True)
class Capture:
    """Provenance of one raw output.

    Attributes:
        name: unique in a corpus; cases on the same output share it.
        ecosystem, tool: never blank in a corpus that was read; a row of a data set may leave them out.
        command: blank where a corpus does not tell it.
        exit_code: as a shell reports it; None where a corpus does not tell it.
        origin: an Origin, or whatever another corpus says.
        normalised: what was replaced in the text.

    """

    name: NonBlank
    ecosystem: str = ""
    tool: str = ""
    version: str = ""
    command: str = ""
    exit_code: int | None = None
    origin: str = "unknown"
    normalised: tuple[NonEmpty, ...] = ()


@dataclass(frozen=True)
class Rules:
    """What a machine can check of an instruction; None or empty where it says nothing.

    Attributes:
        forbidden: decoys, tokens of the input that an answer must not contain.
        pattern: regular expression the whole answer has to match.
        order: tokens that have to appear in this order.

    """

    max_lines: Positive | None = None
    max_words: Positive | None = None
    max_sentences: Positive | None = None
    max_items: Positive | None = None
    forbidden: tuple[NonEmpty, ...] = ()
    pattern: NonBlank | None = None
    order: tuple[NonEmpty, ...] = ()


@dataclass(frozen=True)
class KnownAnswer:
    """An answer in prose that somebody wrote and that is known to be right or wrong."""

    text: str
    is_right: bool
    writer: str


@dataclass(frozen=True)
class Case:
    """One question with its gold.

    Attributes:
        required_anchors: exact tokens of the input that must survive.
        derived_anchors: tokens that must be in the answer though not in the input (a count, a JSON key).
        alternatives: whole answers that are exactly as right as `expected_output`.
        statements, must_not: what a right answer in prose says and does not say; empty where nobody has written it.
        known: answers that others are compared with; empty outside the packaged corpus.
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
    statements: tuple[Statement, ...] = ()
    must_not: tuple[MustNot, ...] = ()
    known: tuple[KnownAnswer, ...] = ()

    def __hash__(self) -> int:
        """Hash what tells it apart; its texts would take long."""
        return hash(self.case_id)

    @property
    def request(self) -> Request:
        """All that a model may see of this case."""
        command = self.capture.command if self.capture.command.strip() else None
        return Request(self.raw_input, self.instruction, self.intent, command, self.capture.exit_code)

    @property
    def references(self) -> tuple[str, ...]:
        """Gold and its equals."""
        return (self.expected_output, *self.alternatives)

    @property
    def anchors(self) -> tuple[str, ...]:
        """Every token that must survive, from the input or derived from it."""
        return (*self.required_anchors, *self.derived_anchors)


@dataclass(frozen=True)
class Corpus:
    """All cases, sorted by id, and the hash of everything in them."""

    path: Path
    cases: tuple[Case, ...]
    sha256: str

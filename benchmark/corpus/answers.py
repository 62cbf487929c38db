"""Answers whose truth is known: per case right ones in other words, plausible wrong ones, and two that say nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmark.typed_input import NonBlank, json_lines, read_object
from ctxsift.errors import InputError
from ctxsift.files import read_bytes

DEFAULT_ANSWERS = Path(__file__).parent / "answers.jsonl"
RIGHT, STUFFING, IRRELEVANT = "right", "stuffing", "irrelevant"
_HINT = "give --answers a .jsonl file with an answer a line"
_MOST_MB = 64


class CorpusAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, as a line of the file holds it.

    Attributes:
        writer: who wrote it; writers saw question, command, exit code and output, and neither gold nor statements.
        kind: `right` (true and complete, in words of its own), in which way it is wrong, `stuffing` (names of the right
            answer, with nothing said of them) or `irrelevant` (fluent, and no answer to the question).
        held_out: the scorer does not know it, and nobody has tuned anything on it.

    """

    case_id: NonBlank
    writer: NonBlank
    kind: NonBlank
    text: NonBlank
    held_out: bool = False

    @property
    def is_right(self) -> bool:
        """It is true and complete."""
        return self.kind == RIGHT

    @property
    def is_wrong(self) -> bool:
        """It is a plausible falsehood."""
        return self.kind not in (RIGHT, STUFFING, IRRELEVANT)


@dataclass(frozen=True)
class AnswerSet:
    """All answers of a file, in its order, and the hash of every byte of it."""

    answers: tuple[CorpusAnswer, ...]
    sha256: str


def answers_in(path: Path = DEFAULT_ANSWERS) -> tuple[CorpusAnswer, ...]:
    """Return the answers in a file of JSON lines. Raises InputError, naming file, line and hint."""
    answers = tuple(read_object(CorpusAnswer, value, where) for where, value in json_lines(path, _HINT, _MOST_MB))
    if not answers:
        raise InputError(str(path), "has no answers", _HINT)
    return answers


def read_answers(path: Path = DEFAULT_ANSWERS) -> AnswerSet:
    """Return the same with the hash of the file. Raises InputError."""
    return AnswerSet(answers_in(path), hashlib.sha256(read_bytes(path, _HINT, most_mb=_MOST_MB)).hexdigest())

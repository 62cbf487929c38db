"""Answers that models gave to cases of prose, each labelled by one or two readers who did not know whose it was."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated

import msgspec

from benchmark.typed_input import NonBlank, json_lines, read_object
from ctxsift.errors import InputError
from ctxsift.files import read_bytes

DEFAULT_MODEL_ANSWERS = Path(__file__).parent / "model_answers.jsonl"
_HINT = "name a .jsonl file with one labelled answer per line"
_MOST_MB = 64


class AnswerLabel(StrEnum):
    """What a reader says of an answer, given question, command, exit code and output."""

    RIGHT = auto()
    # True, but one of several things that were asked is missing, or a detail that does not matter much is wrong.
    PARTLY = auto()
    WRONG = auto()
    # Empty, a loop, an echo of the output: it does not answer.
    NONE = auto()


class ModelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, as a line of the file holds it.

    Attributes:
        model: whose answer it is: a row of the matrix, a baseline, or an assistant that answered as a model would.
        labels: of one reader, or of two in their order.

    """

    case_id: NonBlank
    model: NonBlank
    text: str
    labels: Annotated[list[AnswerLabel], msgspec.Meta(min_length=1, max_length=2)]

    @property
    def label(self) -> AnswerLabel | None:
        """What the readers say; `partly` where one of them says so; None where one says right and the other wrong.

        Wrong and no answer are one: neither helps.
        """
        found = {AnswerLabel.WRONG if each is AnswerLabel.NONE else each for each in self.labels}
        if len(found) == 1:
            return found.pop()
        return AnswerLabel.PARTLY if AnswerLabel.PARTLY in found else None


@dataclass(frozen=True)
class ModelAnswers:
    """All labelled answers of a file, in its order, and the hash of every byte of it."""

    answers: tuple[ModelAnswer, ...]
    sha256: str


def read_model_answers(path: Path = DEFAULT_MODEL_ANSWERS) -> ModelAnswers:
    """Return the labelled answers in a file of JSON lines. Raises InputError, naming file, line and hint."""
    answers = tuple(read_object(ModelAnswer, value, where) for where, value in json_lines(path, _HINT, _MOST_MB))
    if not answers:
        raise InputError(str(path), "has no answers", _HINT)
    return ModelAnswers(answers, hashlib.sha256(read_bytes(path, _HINT, most_mb=_MOST_MB)).hexdigest())

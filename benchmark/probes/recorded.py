"""Answers that were given elsewhere: a file of them, by the ids of the questions that were handed out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from benchmark.probes.questions import AnswerQuestion
from benchmark.probes.said import Answers
from benchmark.typed_input import place_in, read_object
from ctxsift.errors import InputError
from ctxsift.files import read_text

RECORDED = "recorded"
_MOST_MB = 64
_HINT = 'a line is {"id": ..., "answer": ...}, with the ids that `probes export` wrote'


class GivenAnswer(msgspec.Struct, frozen=True, kw_only=True, rename={"question_id": "id"}):
    """A line of a file of answers."""

    question_id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    answer: str


class FileAnswerer:
    """The answers in a file; see Answerer.

    Args:
        name: as it was named.
        path: of the file.

    Raises:
        InputError: it cannot be read, a line is no answer, or two lines answer the same question.

    """

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.version = name, f"answers in {path.name}"
        self._texts = read_answers(path)

    def answers(self, questions: Sequence[AnswerQuestion]) -> Answers:
        """Return those to these questions; an id stands for a context, a question and a limit. See Answerer."""
        asked = {each.question_id for each in questions}
        found = {name: text for name, text in self._texts.items() if name in asked}
        return Answers(found, foreign=len(self._texts) - len(found))


def read_answers(path: Path) -> dict[str, str]:
    """Return the answers in a file, by id.

    Raises:
        InputError: naming the line, where it is no answer or answers what another line has answered.

    """
    found: dict[str, str] = {}
    for number, line in enumerate(read_text(path, _HINT, most_mb=_MOST_MB).splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            value = msgspec.json.decode(line)
        except (ValueError, RecursionError) as error:
            raise InputError(where, f"is not JSON ({error})", _HINT) from error
        given = read_object(GivenAnswer, value, where)
        if given.question_id in found:
            raise InputError(place_in(where, "id"), f"{given.question_id} is answered twice", "remove one of them")
        found[given.question_id] = given.answer
    if not found:
        raise InputError(str(path), "holds no answers", _HINT)
    return found

"""Answers that were given elsewhere: in files, by the ids of questions; or those that ship, with their contexts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from benchmark.judges.rubric import Criterion
from benchmark.probes.model import FileChange, ProbeType
from benchmark.probes.questions import AnswerQuestion
from benchmark.probes.said import ProbeAnswers
from benchmark.typed_input import json_lines, place_in, read_object
from ctxsift.errors import InputError
from ctxsift.files import read_bytes

RECORDED = "recorded"
# Days on which readers answered: rules were tuned on the answers of the first; the board shows the methods of the last.
TUNED_ON, ANSWERED_ON = "2511", "2811"
# What follows the name of a method of the day on which it was answered.
PUBLISHED_AS = f"@{ANSWERED_ON}"
SHIPPED = Path(__file__).parent / "answers"
_RESTORE = "restore the folder"
_MOST_MB = 64
_HINT = 'a line is {"id": ..., "answer": ...}, with the ids that `probes export` wrote'

_T = TypeVar("_T")


class GivenAnswer(msgspec.Struct, frozen=True, kw_only=True, rename={"question_id": "id"}):
    """A line of a file of answers."""

    question_id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    answer: str


class FileAnswerer:
    """The answers in a file, or in those of a folder; see Answerer.

    Args:
        name: as it was named.
        path: of the file, or the folder.

    Raises:
        InputError: see `read_answers`.

    """

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.version = name, f"answers in {path.name}"
        self._texts = read_answers(path)

    def answers(self, questions: Sequence[AnswerQuestion]) -> ProbeAnswers:
        """Return those to these questions; an id stands for a context, a question and a limit. See Answerer."""
        asked = {each.question_id for each in questions}
        found = {name: text for name, text in self._texts.items() if name in asked}
        return ProbeAnswers(found, foreign=len(self._texts) - len(found))


def read_answers(path: Path) -> dict[str, str]:
    """Return the answers in a file, or in all files `*.jsonl` of a folder, by id.

    Raises:
        InputError: there is none, a file cannot be read, or a line is no answer or answers what another one has
            answered; it names the line.

    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    found: dict[str, str] = {}
    for where, given in (each for file in files for each in _given(file)):
        if given.question_id in found:
            raise InputError(place_in(where, "id"), f"{given.question_id} is answered twice", "remove one of the two")
        found[given.question_id] = given.answer
    if not found:
        raise InputError(str(path), "contains no answers" if files else "contains no *.jsonl files", _HINT)
    return found


def _given(path: Path) -> Iterator[tuple[str, GivenAnswer]]:
    """Yield each answer in a file, with its place."""
    for where, value in json_lines(path, _HINT, _MOST_MB):
        if isinstance(value, dict) and "question" in value and "answer" not in value:
            raise InputError(
                where, "is a question, not an answer", "store answers in other files than those of `export`"
            )
        if isinstance(value, dict) and isinstance(value.get("answer"), dict):
            # A call, written as what it is.
            value["answer"] = json.dumps(value["answer"])
        yield where, read_object(GivenAnswer, value, where)


class RubricLabel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person or a model says of an answer, blind to its method. A third reader labels what two differ on.

    Attributes:
        accuracy, coverage, accuracy_technical, artifact_key_details, completeness_depth: 0 to 5.
        invented, abstains: 0 or 1.

    """

    accuracy: float | None = None
    coverage: float | None = None
    invented: int = 0
    abstains: int = 0
    accuracy_technical: float | None = None
    artifact_key_details: float | None = None
    completeness_depth: float | None = None

    @property
    def criteria(self) -> dict[Criterion, float]:
        """What it says of criteria of the rubric."""
        found = {
            Criterion.ACCURACY_FACTUAL: self.accuracy,
            Criterion.COMPLETENESS_COVERAGE: self.coverage,
            Criterion.ACCURACY_TECHNICAL: self.accuracy_technical,
            Criterion.ARTIFACT_KEY_DETAILS: self.artifact_key_details,
            Criterion.COMPLETENESS_DEPTH: self.completeness_depth,
        }
        return {criterion: value for criterion, value in found.items() if value is not None}


class PublishedAnswer(msgspec.Struct, frozen=True, kw_only=True, rename={"answer_id": "id"}):
    """An answer that ships; see answers/README.md.

    Attributes:
        context: see `PublishedContext`.
        type: of the probe; `files`: that it asks for, where it asks for all of a kind.
        gold: the right answer when it was labelled.

    """

    answer_id: str
    context: str
    probe: str
    type: ProbeType
    files: FileChange | None = None
    question: str
    gold: str
    answer: str
    labels: tuple[RubricLabel, ...]


class PublishedContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader saw.

    Attributes:
        context: its id.
        sha256: of its text.
        days: on which the method left this context; its answers hold for all of them.

    """

    context: str
    session: str
    method: str
    budget: int
    sha256: str
    text: str
    days: tuple[str, ...]


def published_contexts(*days: str) -> list[PublishedContext]:
    """Return the contexts that methods left on any of these days. Raises InputError where one is not what was read."""
    found = [each for each in shipped_lines("contexts.jsonl.gz", PublishedContext) if set(days) & set(each.days)]
    for each in found:
        if hashlib.sha256(each.text.encode()).hexdigest() != each.sha256:
            raise InputError(str(SHIPPED), f"{each.context} is not what was read (SHA-256)", _RESTORE)
    return found


def published_answers(*days: str) -> list[PublishedAnswer]:
    """Return the answers about the contexts of these days, in their order. Raises InputError."""
    contexts = {each.context for each in published_contexts(*days)}
    return [each for each in shipped_lines("answers.jsonl.gz", PublishedAnswer) if each.context in contexts]


def shipped_lines(name: str, kind: type[_T]) -> list[_T]:
    """Return the lines of a file of the folder of answers. Raises InputError."""
    path = SHIPPED / name
    lines = read_bytes(path, _RESTORE, most_mb=_MOST_MB).splitlines()
    try:
        return [msgspec.json.decode(line, type=kind) for line in lines]
    except msgspec.DecodeError as error:
        raise InputError(str(path), str(error), _RESTORE) from error

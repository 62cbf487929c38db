"""Answers whose truth is known: per case right ones in other words, plausible wrong ones, and two that say nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmark.record.validity import Half
from benchmark.typed_input import NonBlank, read_object
from benchmark.yaml_input import yaml_document
from ctxsift.errors import InputError
from ctxsift.files import read_text

DEFAULT_ANSWERS = Path(__file__).parents[2] / "tests" / "data" / "validity"
# Folders of later answers beside the first set, and whether scorer and statements had seen them.
_LATER = {"fresh": Half.TUNED, "second": Half.TUNED, "third": Half.HELD_OUT}
RIGHT, STUFFING, IRRELEVANT = "right", "stuffing", "irrelevant"


class WrongAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A plausible falsehood, and in which way it is false."""

    kind: NonBlank
    text: NonBlank


class CaseAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of one case.

    Attributes:
        right: true and complete, in words of their own.
        wrong: plausible and false.
        stuffing: names of the right answer, with nothing said of them; empty in later sets.
        irrelevant: fluent, and no answer to the question; empty in later sets.

    """

    case_id: NonBlank
    right: tuple[NonBlank, ...]
    wrong: tuple[WrongAnswer, ...]
    stuffing: str = ""
    irrelevant: str = ""

    def labelled(self) -> Iterator[tuple[str, str]]:
        """Yield (kind, text) of every answer."""
        yield from ((RIGHT, text) for text in self.right)
        yield from ((wrong.kind, wrong.text) for wrong in self.wrong)
        yield from ((kind, text) for kind, text in ((STUFFING, self.stuffing), (IRRELEVANT, self.irrelevant)) if text)


@dataclass(frozen=True)
class AnswerSet:
    """All cases with answers, by id, and the hash of every byte of them.

    Attributes:
        cases: of the first set.
        later: of the folders beside it, with the half that they count for.

    """

    cases: tuple[CaseAnswers, ...]
    later: tuple[tuple[CaseAnswers, Half], ...]
    sha256: str


def read_answers(folder: Path = DEFAULT_ANSWERS) -> AnswerSet:
    """Return the answers in a folder of YAML files, one for each case.

    Raises:
        InputError: naming file, place and hint.

    """
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise InputError(str(folder), "has no answers (*.yaml)", "give --answers a folder of them")
    digest = hashlib.sha256()
    cases = _read(files, digest)
    later = [
        (each, half) for name, half in _LATER.items() for each in _read(sorted((folder / name).glob("*.yaml")), digest)
    ]
    return AnswerSet(cases, tuple(later), digest.hexdigest())


def _read(files: Sequence[Path], digest: hashlib._Hash) -> tuple[CaseAnswers, ...]:
    cases = []
    for file in files:
        text = read_text(file, "one YAML file for each case", most_mb=2, encoding="utf-8")
        digest.update(hashlib.sha256(text.encode()).digest())
        cases.append(read_object(CaseAnswers, yaml_document(text, str(file)), str(file)))
    return tuple(sorted(cases, key=lambda case: case.case_id))

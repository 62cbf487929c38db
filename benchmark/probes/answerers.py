"""Who answers: `extract`, `recorded`, `recorded:FILE`, `recorded:DIR`, or a row of the matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchmark.matrix import DEFAULT_MATRIX
from benchmark.probes.extracting import EXTRACT_VERSION, extracted
from benchmark.probes.questions import AnswerQuestion, within
from benchmark.probes.recorded import RECORDED, FileAnswerer
from benchmark.probes.row_answerers import RowAnswerer
from benchmark.probes.said import ProbeAnswers
from benchmark.run.named import BuiltIn, RecordedReplies, Role, chosen
from benchmark.run.row_asking import asking_run

EXTRACT = "extract"
ROLE = Role(
    "--answerer",
    {
        EXTRACT: "the lines of the context nearest to the question, without a model",
        RECORDED: "the answers of large language models that come with the benchmark, beside the contexts they read",
    },
    "answers made elsewhere, to what `export --for-answering` wrote; a folder for several files",
    takes_folder=True,
)


class Answerer(Protocol):
    """Answers questions. It sees contexts, questions and limits, never a method's name or a right answer."""

    @property
    def name(self) -> str:
        """As it was named."""
        ...

    @property
    def version(self) -> str:
        """What may change its answers, in words."""
        ...

    def answers(self, questions: Sequence[AnswerQuestion]) -> ProbeAnswers:
        """Return what it says to each question; those about one context follow each other.

        Raises:
            InputError: it cannot be asked.
            KeyboardInterrupt: a person ended it; what was answered until then is not asked again.

        """
        ...


class ContextExtract:
    """See `extracted`."""

    name = EXTRACT
    version = f"version {EXTRACT_VERSION}, no model"

    def answers(self, questions: Sequence[AnswerQuestion]) -> ProbeAnswers:
        """Answer all of them; see Answerer."""
        return ProbeAnswers({each.question_id: extracted(each) for each in questions})


@dataclass(frozen=True)
class AnswererOptions:
    """How answerers are found and asked.

    Attributes:
        folder: where journals of rows go.
        remote: what is asked may leave this machine.
        told: hears how far a row has come.

    """

    folder: Path
    matrix: Path = DEFAULT_MATRIX
    env_file: Path | None = None
    remote: bool = False
    told: Callable[[str], None] = field(default=lambda _: None)


def answerers_of(names: Sequence[str], options: AnswererOptions) -> list[Answerer]:
    """Return answerers by name, but `recorded`, whose answers belong to contexts of their own; once each.

    Raises:
        InputError: there is none of a name, a file is not one of answers, or a row cannot run; it says what to do.

    """
    return [_answerer(name, options) for name in dict.fromkeys(names) if name != RECORDED]


def _answerer(name: str, options: AnswererOptions) -> Answerer:
    found = chosen(name, ROLE, options.matrix)
    if isinstance(found, BuiltIn):
        return ContextExtract()
    if isinstance(found, RecordedReplies):
        return FileAnswerer(name, found.path)
    return RowAnswerer(found, asking_run(options.folder, options.env_file, remote=options.remote), options.told)


def told_within(questions: Sequence[AnswerQuestion], answers: ProbeAnswers) -> dict[str, str]:
    """Return what counts of answers: what they say within the limit of words."""
    limits = {each.question_id: each.words for each in questions}
    return {name: within(text, limits[name]) for name, text in answers.texts.items() if name in limits}

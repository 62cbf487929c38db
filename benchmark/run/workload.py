"""What a kind of question brings along: its units, its grader, and what is written of it.

Everything else (plan, journal, resume, model, retries, pace, stop) is the same for all of them: `scenario_run`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from benchmark.record.journal import AnswerLine, Hardware
from benchmark.record.result import Disturbance
from benchmark.run.asking import Unit, UnitSource
from ctxsift.asking import Answer
from ctxsift.backends.base import Limits, LoadInfo, kept


class UnitOutcome(Protocol):
    """What became of a unit, as its workload records it."""

    @property
    def instrument_error(self) -> str | None:
        """Why nothing was graded, which is not the model's fault; None where something was."""
        ...

    @property
    def model_failed(self) -> bool:
        """The model came to no answer of its own: it said nothing, or a limit or a loop ended it."""
        ...


OutcomeT = TypeVar("OutcomeT", bound=UnitOutcome)
OutcomeT_co = TypeVar("OutcomeT_co", bound=UnitOutcome, covariant=True)


@dataclass(frozen=True)
class UnitAnswer:
    """An answer, given just now or long ago.

    Attributes:
        attempts: how many were needed until it came.
        elapsed_ms: from the first attempt to the answer, waiting included; None where it is not known.
        rss_bytes: memory of the model's process; None for a service.

    """

    answer: Answer
    attempts: int = 1
    elapsed_ms: float | None = None
    rss_bytes: int | None = None


def given_of(line: AnswerLine, limits: Limits) -> UnitAnswer:
    """Return the answer in a line of a journal."""
    # Older journals hold endless answers.
    answer = Answer(kept(line.generation, limits), line.input_chars_cut)
    return UnitAnswer(answer, line.attempt, line.elapsed_ms, line.rss_bytes)


class Grader(Protocol[OutcomeT_co]):
    """Tells what answers are worth; see also `graded`."""

    @property
    def version(self) -> str:
        """Raised when the same answer may come to another outcome."""
        ...

    def grade(self, unit: Unit, given: UnitAnswer) -> OutcomeT_co:
        """Return the outcome of an answer. Can be done again at any time."""
        ...

    def ungraded(self, unit: Unit, answer: Answer | None, error: str, attempts: int) -> OutcomeT_co:
        """Return the outcome of a unit that got no answer, or whose answer has no grade.

        Args:
            unit: what was asked.
            answer: to be graded some other time; None where none came.
            error: why.
            attempts: how often it was asked.

        """
        ...

    def prepare(self, units: Sequence[Unit]) -> None:
        """Work out what grading these units needs whatever is answered: a service answers while others are graded."""
        ...


@dataclass(frozen=True)
class ScenarioRun(Generic[OutcomeT]):
    """What came of one scenario.

    Attributes:
        outcomes: one a unit that has ended, in the order in which the workload gave them.
        load: None when the model could not be loaded.
        error: why the scenario ended early, or None.
        complete: every unit has an answer.
        interrupted: a person ended it before every unit was asked; what was answered until then is here.
        wall_s: seconds from the start of loading to the last score, earlier parts included.
        worker_rss_bytes: memory of the model's process; None for a service.
        hardware: id of a unit -> the kind of machine that its answer came from; a service tells nothing of its own.

    """

    outcomes: tuple[OutcomeT, ...]
    load: LoadInfo | None
    error: str | None
    complete: bool
    interrupted: bool
    wall_s: float
    disturbance: Disturbance
    worker_rss_bytes: int | None
    hardware: Mapping[str, Hardware] = field(default_factory=dict)


class Workload(Protocol[OutcomeT]):
    """A kind of question, for one scenario."""

    @property
    def prompt_version(self) -> str:
        """Of those who write its prompts; part of the keys of answers."""
        ...

    @property
    def grader(self) -> Grader[OutcomeT]:
        """Of its answers."""
        ...

    def source(self) -> UnitSource:
        """Return all units, from the first; called once a run."""
        ...

    def write(self, ran: ScenarioRun[OutcomeT]) -> Path:
        """Write what came of a run where its plan says, and return that path. Raises InputError or OSError."""
        ...


def graded(grader: Grader[OutcomeT], unit: Unit, given: UnitAnswer) -> OutcomeT:
    """Return the outcome of an answer; a fault of the grader is not a bad answer."""
    try:
        return grader.grade(unit, given)
    except Exception as error:
        return grader.ungraded(unit, given.answer, f"scoring failed: {type(error).__name__}: {error}", given.attempts)

"""Keeps the books of one scenario: every attempt is on disk before its answer is graded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from benchmark.record.journal import MOST_ERROR_CHARS, AnswerLine, FailureLine, LoadedLine, Sample
from benchmark.run.asking import AnsweredUnit, AnswerPlace, AskingStop, AttemptFailed, Event, Unanswered, Unit
from benchmark.run.journal import Journal
from benchmark.run.machine import Meter
from benchmark.run.stop import Stop
from benchmark.run.workload import Grader, OutcomeT, given_of, graded
from ctxsift.backends.base import Limits
from ctxsift.errors import InstrumentError

NOT_SCORED = "the run was interrupted before this answer was scored; resume it"


@dataclass(frozen=True)
class ProcessUsage:
    """What the processes that work for us have used; of a service, nothing."""

    cpu_s: float = 0.0
    rss_bytes: int | None = None


@dataclass(frozen=True)
class Books:
    """Where attempts are written down, and under what.

    Attributes:
        journal: open.
        workload: that the units belong to.
        limits: of one answer.
        key: returns the key of the answer to a unit.
        usage: returns what the model's process has used up to now.
        came: hears where an answer came from; returns the line that says what that place is, the first time.

    """

    journal: Journal
    workload: str
    limits: Limits
    key: Callable[[Unit], str]
    usage: Callable[[], ProcessUsage]
    came: Callable[[Unit, str], LoadedLine | None]


class UnitRecorder(Generic[OutcomeT]):
    """Writes attempts into the journal and grades answers; see Recorder. Raises OSError when nothing can be written.

    Args:
        grader: of the workload.
        books: where attempts are written down.
        ended: hears of every unit; says why nothing more is to be asked, or None.
        stop: once somebody asks for the end, answers are written down and not scored any more: whoever resumes the
            run scores them.

    """

    def __init__(
        self,
        grader: Grader[OutcomeT],
        books: Books,
        ended: Callable[[Unit, OutcomeT], AskingStop | None],
        stop: Stop,
    ) -> None:
        self._grader, self._books, self._unit_ended, self._stop = grader, books, ended, stop
        self._meter = Meter(books.usage().cpu_s)
        self._samples: list[Sample] = []

    def settle(self, events: Sequence[Event]) -> AskingStop | None:
        """Take down what came together."""
        # All of it is written down before anything else is done.
        written = [(event, self._write(event)) for event in events]
        ended: AskingStop | None = None
        for event, line in written:
            outcome = self._outcome(event, line)
            ended = (self._unit_ended(event.unit, outcome) if outcome is not None else None) or ended
        return ended

    def all_samples(self) -> list[Sample]:
        """Return the samples of the machine up to now."""
        return [*self._samples, self._meter.sample(self._books.usage().cpu_s)]

    def _outcome(self, event: Event, line: AnswerLine | FailureLine | None) -> OutcomeT | None:
        unit = event.unit
        if isinstance(event, Unanswered):
            return self._grader.ungraded(unit, None, str(event.error), event.attempts)
        if not isinstance(event, AnsweredUnit):
            return None
        attempted = event.attempted
        if self._stop.requested:
            return self._grader.ungraded(unit, attempted.value, NOT_SCORED, attempted.attempts)
        if isinstance(line, AnswerLine):
            return graded(self._grader, unit, given_of(line, self._books.limits))
        assert line is not None
        return self._grader.ungraded(unit, attempted.value, line.error, line.attempt)

    def _write(self, event: Event) -> AnswerLine | FailureLine | None:
        """Write an attempt down; an answer that would not be read back is a failure, which names the field."""
        if isinstance(event, AttemptFailed):
            return self._failed(event.unit, event.attempt, str(event.error))
        if not isinstance(event, AnsweredUnit):
            return None
        if event.place is None:
            usage = self._books.usage()
            place = AnswerPlace("", self._meter.sample(usage.cpu_s) if self._meter.due else None, usage.rss_bytes)
        else:
            place = event.place
        self._samples += [place.machine] if place.machine else []
        if (where := self._books.came(event.unit, place.node)) is not None:
            self._books.journal.append(where)
        answer = event.attempted.value
        line = AnswerLine(
            workload=self._books.workload,
            case_id=event.unit.unit_id,
            attempt=event.attempted.attempts,
            key=self._books.key(event.unit),
            generation=answer.generation,
            input_chars_cut=answer.input_chars_cut,
            elapsed_ms=event.attempted.elapsed_ms,
            rss_bytes=place.rss_bytes,
            machine=place.machine,
            node=place.node,
        )
        try:
            self._books.journal.append(line)
        except InstrumentError as error:
            return self._failed(event.unit, event.attempted.attempts, f"the answer {error}")
        return line

    def _failed(self, unit: Unit, attempt: int, error: str) -> FailureLine:
        line = FailureLine(
            workload=self._books.workload,
            case_id=unit.unit_id,
            attempt=attempt,
            key=self._books.key(unit),
            error=error[:MOST_ERROR_CHARS],
        )
        self._books.journal.append(line)
        return line

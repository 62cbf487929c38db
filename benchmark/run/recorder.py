"""Keeps the books of one scenario: every attempt is on disk before its answer is graded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from benchmark.cases import Case
from benchmark.grading.outcome import MOST_ERROR_CHARS, grade, unanswered, unscored
from benchmark.record.journal import AnswerLine, FailureLine, Sample
from benchmark.record.result import Outcome
from benchmark.run.asking import Answered, AttemptFailed, Ended, Event, Unanswered, Unit
from benchmark.run.identity import answer_key
from benchmark.run.journal import Journal
from benchmark.run.machine import Meter
from benchmark.run.plan import ScenarioPlan
from benchmark.run.stop import Stop
from benchmark.scoring import Embedder
from ctxsift.asking import Answer
from ctxsift.backends.base import LoadInfo, kept
from ctxsift.errors import InstrumentError
from ctxsift.prompts import RequestPrompt

NOT_SCORED = "the run was interrupted before this answer was scored; resume it"


@dataclass(frozen=True)
class Usage:
    """What the processes that work for us have used; of a service, nothing."""

    cpu_s: float = 0.0
    rss_bytes: int | None = None


class Grader:
    """Grades the answers of one scenario, whether they were just given or are in a journal."""

    def __init__(self, plan: ScenarioPlan, load: LoadInfo, embedder: Embedder) -> None:
        self._plan, self._load, self._embedder = plan, load, embedder
        self._cases = {case.case_id: case for case in plan.cases}

    def key(self, case: Case) -> str:
        """Return the key of the answer to a case."""
        return answer_key(
            Unit(case.case_id, RequestPrompt(case.request)),
            self._plan.scenario,
            limits=self._plan.limits,
            load=self._load,
            weights_sha256=self._plan.identity.weights_sha256,
            seed=self._plan.spec.seed,
        )

    def kept(self, case: Case, answers: Mapping[str, AnswerLine]) -> AnswerLine | None:
        """Return the line that answers a case, of those that are there; one of a case that asks the same will do."""
        key = self.key(case)
        line = answers.get(key)
        if line is None or self.key(self.case(line.case_id)) != key:
            return None
        return replace(line, case_id=case.case_id)

    def case(self, case_id: str) -> Case:
        """Return a case of the plan."""
        return self._cases[case_id]

    def outcome(self, line: AnswerLine) -> Outcome:
        """Return the outcome of a case, by the line of its answer."""
        return grade(
            self.case(line.case_id),
            # Older journals hold endless answers.
            Answer(kept(line.generation, self._plan.limits), line.input_chars_cut),
            self._embedder,
            recovery_enabled=self._plan.identity.recovery_enabled,
            attempts=line.attempt,
            elapsed_ms=line.elapsed_ms,
            rss_bytes=line.rss_bytes,
        )


class CaseRecorder:
    """Writes attempts into the journal and grades answers; see Recorder. Raises OSError when nothing can be written.

    Args:
        grader: of the scenario.
        journal: open.
        usage: returns what the model's process has used up to now.
        ended: hears of every case; says why nothing more is to be asked, or None.
        stop: once somebody asks for the end, answers are written down and not scored any more: whoever resumes the
            run scores them.

    """

    def __init__(
        self,
        grader: Grader,
        journal: Journal,
        usage: Callable[[], Usage],
        ended: Callable[[Outcome], Ended | None],
        stop: Stop,
    ) -> None:
        self._grader, self._journal, self._usage, self._case_ended = grader, journal, usage, ended
        self._stop = stop
        self._meter = Meter(usage().cpu_s)
        self._samples: list[Sample] = []

    def settle(self, events: Sequence[Event]) -> Ended | None:
        """Take down what came together."""
        # All of it is written down before anything else is done.
        written = [(event, self._write(event)) for event in events]
        ended: Ended | None = None
        for event, line in written:
            outcome = self._outcome(event, line)
            ended = (self._case_ended(outcome) if outcome is not None else None) or ended
        return ended

    def all_samples(self) -> list[Sample]:
        """Return the samples of the machine up to now."""
        return [*self._samples, self._meter.sample(self._usage().cpu_s)]

    def _outcome(self, event: Event, line: AnswerLine | FailureLine | None) -> Outcome | None:
        case = self._grader.case(event.unit.unit_id)
        if isinstance(event, Unanswered):
            return unanswered(case, str(event.error), event.attempts)
        if isinstance(event, Answered) and self._stop.requested:
            return unscored(case, event.attempted.value, NOT_SCORED, event.attempted.attempts)
        if isinstance(line, AnswerLine):
            return self._grader.outcome(line)
        if isinstance(event, Answered) and isinstance(line, FailureLine):
            return unscored(case, event.attempted.value, line.error, line.attempt)
        return None

    def _write(self, event: Event) -> AnswerLine | FailureLine | None:
        """Write an attempt down; an answer that would not be read back is a failure, which names the field."""
        if isinstance(event, AttemptFailed):
            return self._failed(event.unit, event.attempt, str(event.error))
        if not isinstance(event, Answered):
            return None
        usage = self._usage()
        sample = self._meter.sample(usage.cpu_s) if self._meter.due else None
        self._samples += [sample] if sample else []
        case_id, key = self._identified(event.unit)
        answer = event.attempted.value
        line = AnswerLine(
            case_id=case_id,
            attempt=event.attempted.attempts,
            key=key,
            generation=answer.generation,
            input_chars_cut=answer.input_chars_cut,
            elapsed_ms=event.attempted.elapsed_ms,
            rss_bytes=usage.rss_bytes,
            machine=sample,
        )
        try:
            self._journal.append(line)
        except InstrumentError as error:
            return self._failed(event.unit, event.attempted.attempts, f"the answer {error}")
        return line

    def _failed(self, unit: Unit, attempt: int, error: str) -> FailureLine:
        case_id, key = self._identified(unit)
        line = FailureLine(case_id=case_id, attempt=attempt, key=key, error=error[:MOST_ERROR_CHARS])
        self._journal.append(line)
        return line

    def _identified(self, unit: Unit) -> tuple[str, str]:
        return unit.unit_id, self._grader.key(self._grader.case(unit.unit_id))

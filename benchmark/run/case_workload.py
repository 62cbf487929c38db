"""Today's workload: the cases of a corpus, graded by the scorer; and one scenario of it, from plan to result file."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmark.cases import Case
from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.outcome import grade, prepare, unanswered, unscored
from benchmark.record.result import Outcome
from benchmark.record.write import write_result
from benchmark.run.asking import Listed, Unit, UnitSource
from benchmark.run.plan import ScenarioPlan
from benchmark.run.provenance import result_of
from benchmark.run.scenario_run import Listener, run_scenario
from benchmark.run.selection import beside_each_other
from benchmark.run.stop import Stop
from benchmark.run.workload import ScenarioRun, UnitAnswer
from benchmark.scoring import SCORER_VERSION, Embedder
from ctxsift.asking import Answer
from ctxsift.backends.base import GREEDY, Decoding
from ctxsift.prompts import PROMPT_VERSION

# What gold and the baselines score is worked out once for all scenarios that run at the same time.
_REFERENCES = threading.Lock()


class CaseGrader:
    """The scorer as a Grader."""

    version = SCORER_VERSION

    def __init__(self, cases: Sequence[Case], embedder: Embedder, *, recovery_enabled: bool) -> None:
        self._cases = {case.case_id: case for case in cases}
        self._embedder, self._recovery_enabled = embedder, recovery_enabled

    def grade(self, unit: Unit, given: UnitAnswer) -> Outcome:
        """Recover, validate and score an answer."""
        return grade(
            self._cases[unit.unit_id],
            given.answer,
            self._embedder,
            recovery_enabled=self._recovery_enabled,
            attempts=given.attempts,
            elapsed_ms=given.elapsed_ms,
            rss_bytes=given.rss_bytes,
        )

    def ungraded(self, unit: Unit, answer: Answer | None, error: str, attempts: int) -> Outcome:
        """Return an instrument failure."""
        case = self._cases[unit.unit_id]
        return unanswered(case, error, attempts) if answer is None else unscored(case, answer, error, attempts)

    def prepare(self, units: Sequence[Unit]) -> None:
        """Score gold, and what else is kept of a case."""
        prepare([self._cases[unit.unit_id] for unit in units], self._embedder)


class CaseWorkload:
    """The cases of a plan; see Workload."""

    prompt_version = PROMPT_VERSION

    def __init__(self, plan: ScenarioPlan, references: ReferenceScores) -> None:
        self._plan, self._references = plan, references
        self.grader = CaseGrader(plan.cases, references.embedder, recovery_enabled=plan.identity.recovery_enabled)

    def source(self) -> UnitSource:
        """Return the cases in the order of the plan, but those on the same input together, so that it is read once."""
        return Listed(self._unit(case) for case in beside_each_other(self._plan.asked_cases))

    def _unit(self, case: Case) -> Unit:
        prompt, repeats = self._plan.scenario.preselection.prompt(case.request), self._plan.repeats
        if repeats is None or (number := repeats.numbers.get(case.case_id)) is None:
            return Unit(case.case_id, prompt)
        decoding = Decoding(repeats.temperature, number) if repeats.temperature else GREEDY
        return Unit(case.case_id, prompt, decoding, number)

    def write(self, ran: ScenarioRun[Outcome]) -> Path:
        """Write the result file, with the cases in the order of the plan, whatever order they were asked in."""
        place = {case.case_id: number for number, case in enumerate(self._plan.cases)}
        outcomes = tuple(sorted(ran.outcomes, key=lambda outcome: place[outcome.question.case_id]))
        with _REFERENCES:
            result = result_of(self._plan, replace(ran, outcomes=outcomes), self._references)
            write_result(self._plan.result, result, is_private=self._plan.scenario.is_private)
        return self._plan.result


def run_cases(plan: ScenarioPlan, references: ReferenceScores, listener: Listener[Outcome], stop: Stop) -> Path:
    """Run a scenario and write its result, here; return the path of the result. Raises as `run_scenario` does.

    Args:
        plan: all that has to travel to where it runs.
        references: gold and the baselines.
        listener: hears what happens.
        stop: ends it early.

    """
    return run_scenario(plan, CaseWorkload(plan, references), listener, stop)

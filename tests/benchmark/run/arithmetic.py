"""A workload that is made up: sums in chains, each question holding the answer before; with its grader and its record.

`python -m tests.benchmark.run.arithmetic FOLDER` asks a service, for tests that kill it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.matrix import Scenario, Track
from benchmark.record.base import Record
from benchmark.record.journal import RunIdentity
from benchmark.record.record_file import RecordFile
from benchmark.run.asking import Unit, UnitSource
from benchmark.run.run_plan import RunPlan
from benchmark.run.scenario_run import run_scenario
from benchmark.run.stop import Stop
from benchmark.run.workload import ScenarioRun, UnitAnswer
from ctxsift.asking import Answer
from ctxsift.backends.base import GREEDY, Decoding, Limits, ModelSpec
from ctxsift.files import write_atomically
from ctxsift.prompts import FixedPrompt, Message
from tests.support.listening import Silent

WORKLOAD = "arithmetic"
CHAINS = {name: (start, (3, 40, 500, 6000)) for start, name in enumerate("abcd")}


class SumOutcome(Record, frozen=True, kw_only=True):
    """What became of one sum; `said` is None where no answer came, `right` where it was not graded."""

    unit_id: str
    question: str
    said: str | None
    right: bool | None = None
    error: str | None = None

    @property
    def instrument_error(self) -> str | None:
        """Why it was not graded."""
        return self.error

    @property
    def model_failed(self) -> bool:
        """Whether it holds no number."""
        return self.said is not None and number_in(self.said) is None


class SumsResult(Record, frozen=True, kw_only=True):
    """One run."""

    schema_version: int = 1
    grader_version: str
    complete: bool
    error: str | None
    right: int
    outcomes: list[SumOutcome]


SUMS_FILE = RecordFile(kind=SumsResult, name="file of sums", version=1)


def number_in(text: str) -> int | None:
    """Return the first number of an answer, in words of JSON or none."""
    found = re.search(r"-?\d+", text)
    return int(found[0]) if found else None


def question_of(unit: Unit) -> str:
    """Return the sum that a unit asks for, e.g. `3 + 40`."""
    return unit.prompt.messages[-1].content.rpartition("\n")[2]


class SumsGrader:
    """Right or wrong; `rounded` accepts what is right to the last digit but one."""

    def __init__(self, *, rounded: bool = False) -> None:
        self.version = "2, rounded" if rounded else "1"
        self._slack = 9 if rounded else 0

    def grade(self, unit: Unit, given: UnitAnswer) -> SumOutcome:
        """Compare the number that was said with the sum."""
        text, question = given.answer.generation.text, question_of(unit)
        said, total = number_in(text), sum(map(int, question.split(" + ")))
        right = said is not None and abs(said - total) <= self._slack
        return SumOutcome(unit_id=unit.unit_id, question=question, said=text, right=right)

    def ungraded(self, unit: Unit, answer: Answer | None, error: str, attempts: int) -> SumOutcome:
        """Keep why."""
        said = answer.generation.text if answer else None
        return SumOutcome(unit_id=unit.unit_id, question=question_of(unit), said=said, error=error)

    def prepare(self, units: Sequence[Unit]) -> None:
        """Nothing to prepare."""


class Chains:
    """Chains of sums; those of one chain wait for each other. A UnitSource."""

    def __init__(self, chains: dict[str, tuple[int, tuple[int, ...]]], ways: Sequence[Decoding]) -> None:
        self._terms = {name: terms for name, (_, terms) in chains.items()}
        self._ready = [
            self._unit(name, 0, start, way, repeat)
            for name, (start, _) in chains.items()
            for repeat, way in enumerate(ways)
        ]

    def take(self, most: int) -> Sequence[Unit]:
        """Return those whose chain has come so far."""
        return [self._ready.pop(0) for _ in self._ready[:most]]

    def told(self, unit: Unit, answer: Answer | None) -> None:
        """Let the next sum of the chain come up."""
        name, step, _ = unit.unit_id.split("/")
        before = number_in(answer.generation.text) if answer else None
        if before is not None and int(step) + 1 < len(self._terms[name]):
            self._ready.append(self._unit(name, int(step) + 1, before, unit.decoding, unit.repeat))

    def _unit(self, name: str, step: int, before: int, way: Decoding, repeat: int) -> Unit:
        question = f"Add. Answer with the number alone.\n{before} + {self._terms[name][step]}"
        return Unit(f"{name}/{step}/{repeat}", FixedPrompt((Message("user", question),)), way, repeat)


class Sums:
    """See Workload."""

    prompt_version = "1"

    def __init__(self, plan: RunPlan, grader: SumsGrader) -> None:
        self._plan, self.grader = plan, grader

    def source(self) -> UnitSource:
        """Return the chains, from their beginning."""
        options = self._plan.identity.options
        return Chains(options["chains"], [Decoding(**way) for way in options["ways"]])

    def write(self, ran: ScenarioRun[SumOutcome]) -> Path:
        """Write the record."""
        record = SumsResult(
            grader_version=self.grader.version,
            complete=ran.complete,
            error=ran.error,
            right=sum(bool(outcome.right) for outcome in ran.outcomes),
            outcomes=list(ran.outcomes),
        )
        write_atomically(self._plan.result, SUMS_FILE.text(record, "the sums"))
        return self._plan.result


def plan_of(
    scenario: Scenario, spec: ModelSpec, folder: Path, *ways: Decoding, chains: dict[str, Any] = CHAINS
) -> RunPlan:
    """Return the plan of a run, which goes on with what is in the folder."""
    decodings = ways or (GREEDY,)
    options = {"chains": chains, "ways": [vars(way) for way in decodings]}
    units = [f"{n}/{s}/{r}" for n, (_, t) in chains.items() for s in range(len(t)) for r in range(len(decodings))]
    limits, journal = Limits(24), folder / "sums.journal.jsonl"
    identity = RunIdentity(
        timestamp="20260101T000000Z",
        workload=WORKLOAD,
        options=options,
        scenario=scenario,
        corpus_sha256=hashlib.sha256(json.dumps(chains).encode()).hexdigest(),
        prompt_version=Sums.prompt_version,
        scorer_version="1",
        max_output_tokens=limits.max_output_tokens,
        weights_sha256=None,
        case_ids=units,
        seed=0,
    )
    return RunPlan(
        scenario=scenario,
        journal=journal,
        identity=identity,
        spec=spec,
        limits=limits,
        needs=frozenset[Any]().union(*(way.needs for way in decodings)),
        resumed=journal.exists(),
    )


def run_sums(plan: RunPlan, *, rounded: bool = False, stop: Stop | None = None) -> SumsResult:
    """Run a plan to its end and read the record back."""
    return SUMS_FILE.read(run_scenario(plan, Sums(plan, SumsGrader(rounded=rounded)), Silent(), stop or Stop()))


def service_plan(folder: Path, concurrency: int = 2) -> RunPlan:
    """Return the plan of a run against the service that the environment names."""
    scenario = Scenario("sums", Track.REMOTE, "p", "openai/m", "none", "remote", concurrency=concurrency)
    return plan_of(scenario, ModelSpec("openai/m", device="remote"), folder)


if __name__ == "__main__":
    run_sums(service_plan(Path(sys.argv[1])))

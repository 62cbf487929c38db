"""Runs one scenario: loads its model, asks it every case, and ends in good order whatever happens."""

from __future__ import annotations

import asyncio
import functools
import re
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from benchmark.cases import Case
from benchmark.grading.outcome import prepare
from benchmark.matrix import Scenario
from benchmark.record.journal import LoadedLine, ScenarioFailedLine
from benchmark.record.result import Answered, Disturbance, InstrumentFailure, ModelFailure, Outcome
from benchmark.run.asking import Ended, Listed, OpenModel, Pace, Source, Unit
from benchmark.run.journal import Journal
from benchmark.run.machine import disturbance_of, probe_s
from benchmark.run.plan import ScenarioPlan
from benchmark.run.recorder import NOT_SCORED, CaseRecorder, Grader, Usage
from benchmark.run.resume import Past, check_load, read_past
from benchmark.run.stop import Stop
from benchmark.scoring import Embedder
from ctxsift.backends.base import AsyncBackend, BatchBackend, LoadInfo
from ctxsift.backends.registry import backend_class, create_backend, is_service
from ctxsift.backends.retry import LOCAL_RETRY, Retry
from ctxsift.backends.threaded import ThreadedBackend
from ctxsift.backends.weights import memory_needed
from ctxsift.backends.worker import start_worker
from ctxsift.errors import BackendError, LoadError, WorkerCrashedError
from ctxsift.prompts import RequestPrompt
from ctxsift.terminal import tell

# This many cases in a row without an answer say that the scenario, not the case, is broken; of a service, this many
# more than are in flight.
MAX_FAILURES_IN_A_ROW = 3
MAX_FURTHER_FAILURES = 2
LOAD_TIMEOUT_S = 900.0
INTERRUPTED = "interrupted"
_NO_MEMORY = re.compile(r"out of memory|(?:cannot|failed to) allocate|alloc(?:ation)? failed|bad_alloc", re.IGNORECASE)


class Listener(Protocol):
    """Hears what happens while a scenario runs; the progress display is one."""

    def kept(self, scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
        """Hear what a resumed run already has."""

    def loading(self, scenario: Scenario) -> None:
        """Hear that the model is being loaded."""

    def started(self, scenario: Scenario, load: LoadInfo) -> None:
        """Hear that the model is ready and the first case begins."""

    def finished_case(self, outcome: Outcome) -> None:
        """Hear that one case has ended."""


@dataclass(frozen=True)
class ScenarioRun:
    """What came of one scenario.

    Attributes:
        load: None when the model could not be loaded.
        error: why the scenario ended early, or None.
        interrupted: a person ended it before every case was asked; what was answered until then is here.
        wall_s: seconds from the start of loading to the last score, earlier parts included.
        worker_rss_bytes: memory of the model's process; None for a service.

    """

    plan: ScenarioPlan
    outcomes: tuple[Outcome, ...]
    load: LoadInfo | None
    error: str | None
    interrupted: bool
    wall_s: float
    disturbance: Disturbance
    worker_rss_bytes: int | None

    @property
    def complete(self) -> bool:
        """Every planned case has an answer."""
        answered = sum(isinstance(outcome, Answered) for outcome in self.outcomes)
        return self.error is None and answered == len(self.plan.cases)


def run_scenario(plan: ScenarioPlan, embedder: Embedder, listener: Listener, stop: Stop) -> ScenarioRun:
    """Run one scenario to its end, or to the point from which it cannot go on.

    Args:
        plan: what to run.
        embedder: the scorer's.
        listener: hears what happens.
        stop: ends the scenario early, in good order.

    Raises:
        InputError: the model of the run that is to be resumed was loaded in another way, or another process writes to
            its journal.
        OSError: the journal cannot be written.

    """
    plan.journal.parent.mkdir(parents=True, exist_ok=True)
    with Journal(plan.journal, plan.identity, resumed=plan.resumed) as journal:
        # Read under the lock: somebody else may have resumed it meanwhile.
        past = read_past(plan.journal) if plan.resumed else None
        run = _Run(plan, past, embedder, listener, stop, journal)
        run.go()
    return run.result()


class _Model:
    """The model of a scenario: a service, or a worker on this machine. Which, its backend decides."""

    def __init__(self, plan: ScenarioPlan) -> None:
        name, concurrency = plan.scenario.backend_name, plan.scenario.concurrency
        self.backend: AsyncBackend | ThreadedBackend
        self.is_service = is_service(name)
        if self.is_service:
            service = create_backend(name)
            assert isinstance(service, AsyncBackend)
            self.backend, self._worker = service, None
            self.pace = Pace(chunk=1, in_flight=concurrency, waits_for_recorder=False)
            self.retry = Retry(plan.retries, plan.attempt_timeout_s)
            self.most_failures = concurrency + MAX_FURTHER_FAILURES
        else:
            worker = start_worker(name, load_timeout_s=LOAD_TIMEOUT_S, generate_timeout_s=plan.answer_timeout_s)
            self.backend, self._worker = ThreadedBackend(worker), worker
            chunk = concurrency if issubclass(backend_class(name), BatchBackend) else 1
            self.pace = Pace(chunk=chunk, in_flight=1, waits_for_recorder=True)
            self.retry = LOCAL_RETRY
            self.most_failures = MAX_FAILURES_IN_A_ROW

    def usage(self) -> Usage:
        """Return what its process has used up to now."""
        return Usage(self._worker.cpu_s, self._worker.rss_bytes) if self._worker else Usage()

    def kill(self) -> None:
        """End its process at once."""
        if self._worker is not None:
            self._worker.kill()

    def close(self) -> None:
        """End its process."""
        if self._worker is not None:
            self._worker.close()


class _Run:
    """One scenario while it runs."""

    def __init__(
        self,
        plan: ScenarioPlan,
        past: Past | None,
        embedder: Embedder,
        listener: Listener,
        stop: Stop,
        journal: Journal,
    ) -> None:
        self._plan, self._past, self._embedder = plan, past, embedder
        self._listener, self._stop, self._journal = listener, stop, journal
        self._started = time.perf_counter()
        self._model: _Model | None = None
        self._load: LoadInfo | None = None
        self._recorder: CaseRecorder | None = None
        self._outcomes: dict[str, Outcome] = {}
        self._new: list[Outcome] = []
        self._error: str | None = None
        self._interrupted = False
        self._probes: list[float] = []

    def go(self) -> None:
        """Ask what has not been answered yet."""
        cases = self._keep()
        try:
            self._probes.append(probe_s())
            if cases and not self._stop.requested:
                self._ask(cases)
            self._probes.append(probe_s())
        except BackendError as problem:
            # A model that was ended because somebody wanted that has not failed.
            if not self._stop.requested:
                self._error = str(problem)
                self._journal.append(ScenarioFailedLine(error=self._error))
        except asyncio.CancelledError:
            pass
        finally:
            if self._model is not None:
                self._model.close()
        ended = {o.question.case_id for o in self._new if isinstance(o, Answered) or o.error != NOT_SCORED}
        left = [case for case in cases if case.case_id not in ended]
        self._interrupted = self._stop.requested and self._error is None and bool(left)

    def _keep(self) -> Sequence[Case]:
        """Take over what an earlier part of the run has answered, and return what is left to ask."""
        left = self._not_kept()
        answered = {line.case_id for line in self._past.answers.values()} if self._past else set()
        lost = sum(case.case_id in answered and case.case_id not in self._outcomes for case in left)
        if lost:
            what = f"{lost} of the answers in its journal are to other questions than today's"
            tell(f"{self._plan.scenario.name}: {what}; these cases are asked again")
        return left

    def _not_kept(self) -> Sequence[Case]:
        past, cases = self._past, self._plan.cases
        if past is None or past.load is None:
            return cases
        self._load = past.load
        grader = Grader(self._plan, past.load, self._embedder)
        for case in cases:
            line = grader.kept(case, past.answers)
            if line is not None:
                self._outcomes[case.case_id] = grader.outcome(line)
        again = {i for i, o in self._outcomes.items() if self._plan.retry_failed and isinstance(o, ModelFailure)}
        self._listener.kept(self._plan.scenario, [o for i, o in self._outcomes.items() if i not in again])
        return [case for case in cases if case.case_id not in self._outcomes or case.case_id in again]

    def _ask(self, cases: Sequence[Case]) -> None:
        scenario = self._plan.scenario
        self._listener.loading(scenario)
        model = self._model = _Model(self._plan)
        with self._stop.on_request(model.kill):
            self._ask_model(model, cases)

    def _ask_model(self, model: _Model, cases: Sequence[Case]) -> None:
        if model.is_service:
            prepare(cases, self._embedder)
        load = self._load = self._loaded(model)
        self._recorder = CaseRecorder(
            Grader(self._plan, load, self._embedder),
            self._journal,
            model.usage,
            functools.partial(self._case_ended, model.most_failures),
            self._stop,
        )
        units = Listed(Unit(case.case_id, RequestPrompt(case.request)) for case in cases)
        ended = asyncio.run(self._asked(model, units, load, self._recorder))
        self._error = ended.reason if ended else None

    async def _asked(self, model: _Model, units: Source, load: LoadInfo, recorder: CaseRecorder) -> Ended | None:
        async with OpenModel(model.backend, self._plan.limits, model.pace, model.retry, self._stop) as opened:
            self._listener.started(self._plan.scenario, load)
            return await opened.ask(units, recorder)

    def _loaded(self, model: _Model) -> LoadInfo:
        try:
            load = model.backend.load(self._plan.spec)
        except BackendError as problem:
            if short := _memory_short(self._plan, problem):
                raise LoadError(f"{problem}; {short}") from problem
            raise
        except Exception as error:  # a backend's mistake costs its scenario, as it would in a process of its own
            raise LoadError(f"{type(error).__name__}: {error}") from error
        if self._past is not None:
            check_load(self._past, load)
        self._journal.append(LoadedLine(load=load))
        return load

    def _case_ended(self, most_failures: int, outcome: Outcome) -> Ended | None:
        case_id = outcome.question.case_id
        # An answer that failed is better than none.
        if not isinstance(outcome, InstrumentFailure) or case_id not in self._outcomes:
            self._outcomes[case_id] = outcome
        self._new.append(outcome)
        if self._stop.requested:
            return None
        self._listener.finished_case(outcome)
        return _broken(self._new[-most_failures:], most_failures)

    def result(self) -> ScenarioRun:
        """Return what came of it, earlier parts included."""
        past = self._past
        drift = self._probes[1] / self._probes[0] - 1 if len(self._probes) == 2 else None
        samples = [*(past.samples if past else ()), *(self._recorder.all_samples() if self._recorder else ())]
        usage = self._model.usage() if self._model else Usage()
        answered = (o.cpu_rss_bytes for o in self._outcomes.values() if isinstance(o, Answered))
        return ScenarioRun(
            plan=self._plan,
            # Answers of a service come in any order.
            outcomes=tuple(self._outcomes[case.case_id] for case in self._plan.cases if case.case_id in self._outcomes),
            load=self._load,
            error=INTERRUPTED if self._interrupted else self._error,
            interrupted=self._interrupted,
            wall_s=(past.wall_s if past else 0.0) + time.perf_counter() - self._started,
            disturbance=disturbance_of(samples, drift),
            worker_rss_bytes=usage.rss_bytes or max(filter(None, answered), default=None),
        )


def _broken(newest: Sequence[Outcome], most_failures: int) -> Ended | None:
    failures = [outcome for outcome in newest if isinstance(outcome, InstrumentFailure)]
    if len(failures) < most_failures:
        return None
    return Ended(f"{most_failures} cases in a row got no answer; the last one: {failures[-1].error}")


def _memory_short(plan: ScenarioPlan, problem: BackendError) -> str | None:
    """Return how much memory the weights need and how much is free, where that may be why they were not loaded."""
    if plan.spec.path is None or plan.spec.device.startswith("cuda"):
        return None
    need, free = Path(plan.spec.path).stat().st_size, psutil.virtual_memory().available
    killed = isinstance(problem, WorkerCrashedError) and problem.signal_number == signal.SIGKILL
    if not (killed or _NO_MEMORY.search(str(problem)) or need > free):
        return None
    return memory_needed(need)

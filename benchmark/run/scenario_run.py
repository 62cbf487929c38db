"""Runs one scenario of any workload: journal, model, questions, grades, result, in good order whatever happens."""

from __future__ import annotations

import asyncio
import functools
import re
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import psutil

from benchmark.analysis.model_facts import label_against
from benchmark.matrix import Scenario
from benchmark.record.journal import AnswerLine, Hardware, LoadedLine, ScenarioFailedLine
from benchmark.run.asking import AskingStop, OpenModel, Pace, Unit
from benchmark.run.backlog import Backlog
from benchmark.run.identity import answer_key
from benchmark.run.journal import Journal
from benchmark.run.machine import children_cpu_s, disturbance_of, hardware, probe_s
from benchmark.run.recorder import NOT_SCORED, Books, ProcessUsage, UnitRecorder
from benchmark.run.resume import Past, check_load, read_past
from benchmark.run.run_plan import RunPlan
from benchmark.run.stop import Stop
from benchmark.run.workload import OutcomeT, ScenarioRun, Workload, given_of, graded
from ctxsift.asking import Answer
from ctxsift.backends.base import LoadInfo
from ctxsift.backends.registry import lacking
from ctxsift.backends.weights import memory_needed
from ctxsift.errors import BackendError, InputError, LoadError, WorkerCrashedError
from ctxsift.models.opened import Opened, Patience
from ctxsift.terminal import tell

if TYPE_CHECKING:
    from benchmark.run.ray_model import RayModel

# This many cases in a row without an answer say that the scenario, not the case, is broken; of a service, this many
# more than are in flight.
MAX_FAILURES_IN_A_ROW = 3
MAX_FURTHER_FAILURES = 2
LOAD_TIMEOUT_S = 900.0
# Cases on one input that a worker is asked one after the other.
MOST_TOGETHER = 8
INTERRUPTED = "interrupted"
ListenedT_contra = TypeVar("ListenedT_contra", contravariant=True)
_NO_MEMORY = re.compile(r"out of memory|(?:cannot|failed to) allocate|alloc(?:ation)? failed|bad_alloc", re.IGNORECASE)


class Listener(Protocol[ListenedT_contra]):
    """Hears what happens while a scenario runs; the progress display is one."""

    def kept(self, scenario: Scenario, outcomes: Sequence[ListenedT_contra]) -> None:
        """Hear what a resumed run already has."""

    def loading(self, scenario: Scenario) -> None:
        """Hear that the model is being loaded."""

    def started(self, scenario: Scenario, load: LoadInfo) -> None:
        """Hear that the model is ready and the first unit begins."""

    def finished_case(self, outcome: ListenedT_contra) -> None:
        """Hear that one unit has ended."""


def run_scenario(plan: RunPlan, workload: Workload[OutcomeT], listener: Listener[OutcomeT], stop: Stop) -> Path:
    """Run one scenario to its end, or to the point from which it cannot go on; return where its result is.

    Args:
        plan: what to run.
        workload: what is asked, and what becomes of the answers.
        listener: hears what happens.
        stop: ends the scenario early, in good order.

    Raises:
        InputError: the backend lacks what the plan needs; the model of the run that is to be resumed was loaded in
            another way; another process writes to its journal; or the result would not be read back.
        OSError: the journal or the result cannot be written.

    """
    if problem := lacking(plan.scenario.backend_name, plan.needs):
        raise InputError(plan.scenario.name, problem, "choose a model of another backend")
    plan.journal.parent.mkdir(parents=True, exist_ok=True)
    with Journal(plan.journal, plan.identity, resumed=plan.resumed) as journal:
        # Read under the lock: somebody else may have resumed it meanwhile.
        past = read_past(plan.journal, plan.identity.workload) if plan.resumed else None
        run = _Run(plan, workload, past, listener, stop, journal)
        run.go()
    return workload.write(run.result())


class _Model:
    """The model of a scenario, and how it is asked."""

    def __init__(self, plan: RunPlan) -> None:
        name, concurrency = plan.scenario.backend_name, plan.scenario.concurrency
        patience = Patience(LOAD_TIMEOUT_S, plan.answer_timeout_s, plan.attempt_timeout_s, plan.retries)
        self.opened: Opened | RayModel
        if plan.workers is not None:
            self.opened = workers = _on_workers(plan, patience)
            self._runs_programs = False
            self.pace = Pace(MOST_TOGETHER, 1, waits_for_recorder=False, grown=workers.ready_count)
            self.most_failures = (plan.workers.most or 1) + MAX_FURTHER_FAILURES
            return
        self.opened = Opened(name, plan.spec, patience, before=plan.before)
        self._runs_programs = plan.before is not None or plan.spec.options.program is not None
        if self.opened.is_service:
            # What answers on this machine would have to share it with the grading of other answers.
            local = not plan.scenario.sends_away
            self.pace = Pace(chunk=1, in_flight=concurrency, waits_for_recorder=local)
            self.most_failures = concurrency + MAX_FURTHER_FAILURES
        else:
            # With a program before it, each prompt waits for its own.
            together = self.opened.reads_batches and plan.before is None
            self.pace = Pace(chunk=concurrency if together else 1, in_flight=1, waits_for_recorder=True)
            self.most_failures = MAX_FAILURES_IN_A_ROW

    def usage(self) -> ProcessUsage:
        """Return what its process has used up to now."""
        programs = children_cpu_s() if self._runs_programs else 0.0
        return ProcessUsage(programs + self.opened.cpu_s, self.opened.rss_bytes)


def _on_workers(plan: RunPlan, patience: Patience) -> RayModel:
    from benchmark.run.ray_model import RayModel
    from benchmark.run.ray_worker import Setup

    assert plan.workers is not None
    setup = Setup(
        backend=plan.scenario.backend_name,
        spec=plan.spec,
        patience=patience,
        gguf_filename=plan.scenario.gguf_filename,
        before=plan.before,
        weights_sha256=plan.identity.weights_sha256,
    )
    return RayModel(setup, plan.workers, plan.scenario.name)


class _Run(Generic[OutcomeT]):
    """One scenario while it runs."""

    def __init__(
        self,
        plan: RunPlan,
        workload: Workload[OutcomeT],
        past: Past | None,
        listener: Listener[OutcomeT],
        stop: Stop,
        journal: Journal,
    ) -> None:
        self._plan, self._workload, self._past = plan, workload, past
        self._listener, self._stop, self._journal = listener, stop, journal
        self._started = time.perf_counter()
        self._model: _Model | None = None
        self._load = past.load if past else None
        self._hardware: Hardware | None = None
        self._came_from: dict[str, Hardware] = {}
        self._nodes: set[str] = set()
        self._recorder: UnitRecorder[OutcomeT] | None = None
        # Without a model that was loaded, an answer has no key.
        answers = past.answers if past and past.load else {}
        together = plan.workers is not None
        self._backlog = Backlog(workload.source(), answers, self._key, self._take_over, together=together)
        self._outcomes: dict[str, OutcomeT] = {}
        self._new: list[tuple[str, OutcomeT]] = []
        self._kept_rss: list[int] = []
        self._error: str | None = None
        self._interrupted = False
        self._probes: list[float] = []

    def go(self) -> None:
        """Ask what has not been answered yet."""
        some_left = self._backlog.fill(sys.maxsize)
        self._tell_kept()
        try:
            self._probes.append(probe_s())
            if some_left and not self._stop.requested:
                self._ask()
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
                self._model.opened.close()
        self._interrupted = self._stop.requested and self._error is None and self._some_left()

    def _key(self, unit: Unit) -> str:
        plan, load = self._plan, self._load
        assert load is not None
        return answer_key(
            unit,
            plan.scenario,
            limits=plan.limits,
            load=load,
            weights_sha256=plan.identity.weights_sha256,
            seed=plan.spec.seed,
            prompt_version=self._workload.prompt_version,
        )

    def _take_over(self, unit: Unit, line: AnswerLine) -> Answer | None:
        given = given_of(line, self._plan.limits)
        outcome = graded(self._workload.grader, unit, given)
        self._outcomes[unit.unit_id] = outcome
        if self._past is not None and (kind := self._past.hardware.get(line.key)) is not None:
            self._came_from[unit.unit_id] = kind
        self._kept_rss += [line.rss_bytes] if line.rss_bytes else []
        if self._plan.retry_failed and outcome.model_failed:
            return None
        if self._model is not None:
            # It came up after the answer to another.
            self._listener.finished_case(outcome)
        return given.answer

    def _tell_kept(self) -> None:
        """Say what an earlier part of the run has answered, and what of it is of no use any more."""
        past, waiting = self._past, {unit.unit_id for unit in self._backlog.waiting}
        if past is None:
            return
        if past.load is not None:
            kept = [outcome for unit_id, outcome in self._outcomes.items() if unit_id not in waiting]
            self._listener.kept(self._plan.scenario, kept)
        if lost := len((waiting & past.answered) - self._outcomes.keys()):
            what = f"{lost} answers in its journal no longer match the questions"
            tell(f"{self._plan.scenario.name}: {what}; these cases will be run again")

    def _some_left(self) -> bool:
        """Return True if not every unit has ended. An answer that was not scored is in the journal."""
        ended = {unit_id for unit_id, outcome in self._new if outcome.instrument_error != NOT_SCORED}
        kept = self._outcomes.keys() - {unit_id for unit_id, _ in self._new}
        return self._backlog.fill(1) or any(unit_id not in ended | kept for unit_id in self._backlog.unit_ids)

    def _ask(self) -> None:
        self._listener.loading(self._plan.scenario)
        model = self._model = _Model(self._plan)
        with self._stop.on_request(model.opened.kill):
            self._ask_model(model)

    def _ask_model(self, model: _Model) -> None:
        if model.opened.is_service:
            self._workload.grader.prepare(self._backlog.waiting)
        load = self._load = self._loaded(model)
        ended = functools.partial(self._unit_ended, model.most_failures)
        books = Books(
            self._journal, self._plan.identity.workload, self._plan.limits, self._key, model.usage, self._came
        )
        recorder = self._recorder = UnitRecorder(self._workload.grader, books, ended, self._stop)

        async def ask() -> AskingStop | None:
            backend, retry = model.opened.backend, model.opened.retry
            async with OpenModel(backend, self._plan.limits, model.pace, retry, self._stop) as asked:
                self._listener.started(self._plan.scenario, load)
                return await asked.ask(self._backlog, recorder)

        done = asyncio.run(ask())
        self._error = done.reason if done else None

    def _loaded(self, model: _Model) -> LoadInfo:
        try:
            load = model.opened.load()
        except BackendError as problem:
            if short := _memory_short(self._plan, problem):
                raise LoadError(f"{problem}; {short}") from problem
            raise
        except Exception as error:  # a backend's mistake costs its scenario, as it would in a process of its own
            raise LoadError(f"{type(error).__name__}: {error}") from error
        if self._past is not None:
            check_load(self._past, load)
        if load.model_file and (label := label_against(self._plan.scenario, load.model_file)):
            header = load.model_file.quantization
            tell(f"{self._plan.scenario.name}: warning: its row says {label}, the header of its file says {header}")
        # What a service runs on, it does not tell.
        self._hardware = None if model.opened.is_service else hardware(load)
        self._journal.append(LoadedLine(load=load, hardware=self._hardware))
        return load

    def _came(self, unit: Unit, node: str) -> LoadedLine | None:
        """Take down where an answer came from; return what a place said when its model was ready, the first time."""
        opened = self._model.opened if self._model else None
        where = opened.loaded_at(node) if node and opened is not None and not isinstance(opened, Opened) else None
        kind = where.hardware if where is not None else self._hardware
        if kind is not None:
            self._came_from[unit.unit_id] = kind
        if where is None or node in self._nodes:
            return None
        self._nodes.add(node)
        return where

    def _unit_ended(self, most_failures: int, unit: Unit, outcome: OutcomeT) -> AskingStop | None:
        # An answer that failed is better than none.
        if outcome.instrument_error is None or unit.unit_id not in self._outcomes:
            self._outcomes[unit.unit_id] = outcome
        self._new.append((unit.unit_id, outcome))
        if self._stop.requested:
            return None
        self._listener.finished_case(outcome)
        return _broken([outcome.instrument_error for _, outcome in self._new[-most_failures:]], most_failures)

    def result(self) -> ScenarioRun[OutcomeT]:
        """Return what came of it, earlier parts included."""
        past = self._past
        drift = self._probes[1] / self._probes[0] - 1 if len(self._probes) == 2 else None
        samples = [*(past.samples if past else ()), *(self._recorder.all_samples() if self._recorder else ())]
        usage = self._model.usage() if self._model else ProcessUsage()
        # Answers of a service come in any order.
        outcomes = [self._outcomes.get(unit_id) for unit_id in self._backlog.unit_ids]
        whole = all(outcome is not None and outcome.instrument_error is None for outcome in outcomes)
        return ScenarioRun(
            outcomes=tuple(outcome for outcome in outcomes if outcome is not None),
            load=self._load,
            error=INTERRUPTED if self._interrupted else self._error,
            complete=whole and not self._interrupted and self._error is None,
            interrupted=self._interrupted,
            wall_s=(past.wall_s if past else 0.0) + time.perf_counter() - self._started,
            disturbance=disturbance_of(samples, drift),
            worker_rss_bytes=usage.rss_bytes or max(self._kept_rss, default=None),
            hardware=self._came_from,
        )


def _broken(newest: Sequence[str | None], most_failures: int) -> AskingStop | None:
    failures = [error for error in newest if error is not None]
    if len(failures) < most_failures:
        return None
    return AskingStop(f"{most_failures} cases in a row got no answer; the last one: {failures[-1]}")


def _memory_short(plan: RunPlan, problem: BackendError) -> str | None:
    """Return how much memory the weights need and how much is free, where that may be why they were not loaded."""
    if plan.spec.path is None or plan.spec.device.startswith("cuda"):
        return None
    need, free = Path(plan.spec.path).stat().st_size, psutil.virtual_memory().available
    killed = isinstance(problem, WorkerCrashedError) and problem.signal_number == signal.SIGKILL
    if not (killed or _NO_MEMORY.search(str(problem)) or need > free):
        return None
    return memory_needed(need)

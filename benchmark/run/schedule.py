"""Runs one scenario of a plan: loads its model, asks it every case, and ends in good order whatever happens."""

from __future__ import annotations

import asyncio
import functools
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import psutil

from benchmark.corpus import Case
from benchmark.matrix import Scenario
from benchmark.run.book import Book
from benchmark.run.environment import Disturbance, disturbance_of, probe_s
from benchmark.run.journal import SUFFIX, Journal
from benchmark.run.lanes import Stop
from benchmark.run.outcome import InstrumentFailure, ModelFailure, Outcome, prepare
from benchmark.run.plan import SEED, RunPlan, backend_name
from benchmark.run.preflight import Ready
from benchmark.run.resume import check_load, read_past
from benchmark.run.service import ask_service
from benchmark.run.signals import stop_at_once_next_time
from benchmark.scoring import SCORER_VERSION, Embedder
from ctxsift.backends.base import AsyncBackend, Backend, BatchBackend, LoadInfo, ModelSpec
from ctxsift.backends.llama_worker import LlamaWorkerBackend
from ctxsift.backends.registry import create_backend
from ctxsift.backends.weights import memory_needed
from ctxsift.backends.worker import WorkerBackend
from ctxsift.compress import Answer, generate, generate_batch
from ctxsift.errors import BackendError, InstrumentError, LoadError, WorkerCrashedError
from ctxsift.prompts import PROMPT_VERSION

MAX_ATTEMPTS = 2
# This many instrument failures in a row say that the scenario, not the case, is broken.
MAX_FAILURES_IN_A_ROW = 3
LOAD_TIMEOUT_S = 900.0
_NO_MEMORY = re.compile(r"out of memory|(?:cannot|failed to) allocate|alloc(?:ation)? failed|bad_alloc", re.IGNORECASE)


class Listener(Protocol):
    """Hears what happens while a scenario runs; the progress display is one."""

    def kept(self, scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
        """Hear what is there already of a run that is gone on with."""

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
        error: why the scenario ended early, or "".
        interrupted: a person ended it; what was answered until then is here.
        wall_s: seconds from the start of loading to the last score.

    """

    scenario: Scenario
    planned: tuple[Case, ...]
    outcomes: tuple[Outcome, ...]
    load: LoadInfo | None
    weights_sha256: str | None
    error: str
    interrupted: bool
    wall_s: float
    disturbance: Disturbance
    worker_rss_bytes: int | None

    @property
    def complete(self) -> bool:
        """Every planned case has an answer."""
        answered = sum(not isinstance(o, InstrumentFailure) for o in self.outcomes)
        return not self.error and answered == len(self.planned)


def run_scenario(
    plan: RunPlan, ready: Ready, embedder: Embedder, listener: Listener, stop: Stop | None = None
) -> ScenarioRun:
    """Run one scenario to its end, or to the point from which it cannot go on.

    Args:
        plan: what to run.
        ready: the scenario of it.
        embedder: the scorer's.
        listener: hears what happens.
        stop: ends the scenario early, from another thread.

    Raises:
        InputError: the model of the run that is to be gone on with was loaded in another way, or another process
            writes to its journal.
        OSError: the journal cannot be written. KeyboardInterrupt ends the scenario early and is told in the result.

    """
    scenario = ready.scenario
    folder = plan.folder(scenario)
    folder.mkdir(parents=True, exist_ok=True)
    path = plan.past.path if plan.past else journal_path(folder, scenario)
    with Journal(path, identity_of(plan, ready), resumed=plan.past is not None) as journal:
        # Read again under the lock: somebody else may have gone on with it meanwhile.
        past = read_past(path) if plan.past else None
        run = _Run(replace(plan, past=past), ready, embedder, listener, stop or Stop(), journal)
        run.go()
    return run.result()


class _Run:
    """One scenario while it runs."""

    def __init__(
        self, plan: RunPlan, ready: Ready, embedder: Embedder, listener: Listener, stop: Stop, journal: Journal
    ) -> None:
        self._plan, self._ready, self._embedder = plan, ready, embedder
        self._listener, self._stop, self._journal = listener, stop, journal
        self._started = time.perf_counter()
        self._worker = None if ready.service else _worker(plan, ready.scenario)
        self._load: LoadInfo | None = None
        self._book: Book | None = None
        self._outcomes: dict[str, Outcome] = {}
        self._new: list[Outcome] = []
        self._error, self._interrupted = "", False
        self._probes: list[float] = []

    def go(self) -> None:
        """Ask what has not been answered yet."""
        # Interrupted up to here, there is nothing new to tell; what was told before stays.
        cases = self._keep()
        try:
            self._probes.append(probe_s())
            if cases:
                self._ask(cases)
            self._probes.append(probe_s())
        except BackendError as problem:
            self._error = str(problem)
            self._interrupted = self._stop.requested
            self._journal.append({"type": "scenario_failed", "error": self._error})
        except KeyboardInterrupt:
            stop_at_once_next_time()
            self._interrupted = True
        finally:
            if self._worker is not None:
                self._worker.close()

    def _keep(self) -> Sequence[Case]:
        """Take over what an earlier part of the run has answered, and return what is left to ask."""
        past = self._plan.past
        if past is None or past.load is None:
            return self._plan.cases
        self._load = past.load
        self._book = Book(self._plan, self._ready, past.load, self._journal, self._embedder)
        self._outcomes = dict(self._book.kept(past))
        again = {i for i, o in self._outcomes.items() if self._plan.retry_failed and isinstance(o, ModelFailure)}
        self._listener.kept(self._ready.scenario, [o for i, o in self._outcomes.items() if i not in again])
        return [case for case in self._plan.cases if case.case_id not in self._outcomes or case.case_id in again]

    def _ask(self, cases: Sequence[Case]) -> None:
        scenario, service, worker = self._ready.scenario, self._ready.service, self._worker
        self._listener.loading(scenario)
        if worker is not None:
            self._stop.on_request(worker.kill)
        if service is not None:
            prepare(cases, self._embedder)
        load = self._loaded(service or worker)
        self._load = load
        child_cpu_s = worker.cpu_s if worker else 0.0
        book = Book(self._plan, self._ready, load, self._journal, self._embedder, child_cpu_s)
        self._book = book

        def ended(outcome: Outcome) -> str:
            # An answer that failed is better than none.
            if not isinstance(outcome, InstrumentFailure) or outcome.case.case_id not in self._outcomes:
                self._outcomes[outcome.case.case_id] = outcome
            self._new.append(outcome)
            self._listener.finished_case(outcome)
            return _broken(self._new, MAX_FAILURES_IN_A_ROW if worker else scenario.concurrency + 2)

        opened = functools.partial(self._listener.started, scenario, load)
        if service is not None:
            self._error = asyncio.run(ask_service(book, cases, service, opened, ended))
        elif worker is not None:
            opened()
            self._error = _LocalCases(book, cases, worker, self._stop).run(ended)

    def _loaded(self, backend: Backend | AsyncBackend | None) -> LoadInfo:
        assert backend is not None
        try:
            load = backend.load(_spec(self._plan, self._ready))
        except BackendError as problem:
            if short := _memory_short(self._ready, problem):
                raise LoadError(f"{problem}; {short}") from problem
            raise
        if self._plan.past is not None:
            check_load(self._plan.past, load)
        self._journal.append({"type": "loaded", **asdict(load)})
        return load

    def result(self) -> ScenarioRun:
        """Return what came of it, earlier parts included."""
        past, worker, weights = self._plan.past, self._worker, self._ready.weights
        drift = self._probes[1] / self._probes[0] - 1 if len(self._probes) == 2 else None
        child_cpu_s = worker.cpu_s if worker else 0.0
        samples = [*(past.samples if past else ()), *(self._book.all_samples(child_cpu_s) if self._book else ())]
        answered = (o.examined.rss_bytes for o in self._outcomes.values() if not isinstance(o, InstrumentFailure))
        return ScenarioRun(
            scenario=self._ready.scenario,
            planned=self._plan.cases,
            # Answers of a service come in any order.
            outcomes=tuple(self._outcomes[case.case_id] for case in self._plan.cases if case.case_id in self._outcomes),
            load=self._load,
            weights_sha256=weights.sha256 if weights else None,
            error="interrupted" if self._interrupted else self._error,
            interrupted=self._interrupted,
            wall_s=(past.wall_s if past else 0.0) + time.perf_counter() - self._started,
            disturbance=disturbance_of(samples, drift),
            worker_rss_bytes=(worker.rss_bytes if worker else None) or max(filter(None, answered), default=None),
        )


def _memory_short(ready: Ready, problem: BackendError) -> str:
    """Return how much memory the weights need and how much is free, where that may be why they were not loaded."""
    if ready.weights is None or ready.device.startswith("cuda"):
        return ""
    need, free = ready.weights.path.stat().st_size, psutil.virtual_memory().available
    killed = isinstance(problem, WorkerCrashedError) and problem.signal_number == signal.SIGKILL
    if not (killed or _NO_MEMORY.search(str(problem)) or need > free):
        return ""
    return memory_needed(need)


class _LocalCases:
    """Asks a model on this machine, one case or one batch after the other; replaces a worker that died."""

    def __init__(self, book: Book, cases: Sequence[Case], backend: WorkerBackend, stop: Stop) -> None:
        self._book, self._cases, self._backend, self._stop = book, cases, backend, stop
        self._loaded = True
        batches = isinstance(create_backend(backend_name(book.ready.scenario)), BatchBackend)
        self._size = book.ready.scenario.concurrency if batches else 1

    def run(self, ended: Callable[[Outcome], str]) -> str:
        """Return why it ended before the last case, or ""."""
        for start in range(0, len(self._cases), self._size):
            if self._stop.requested:
                raise InstrumentError("interrupted")
            chunk = self._cases[start : start + self._size]
            for outcome in self._batch(chunk) if len(chunk) > 1 else (self._one(case) for case in chunk):
                if broken := ended(outcome):
                    return broken
        return ""

    def _batch(self, cases: Sequence[Case]) -> Iterator[Outcome]:
        """Ask for several answers at once; whoever got none is asked again alone."""
        started = time.perf_counter()
        answers: Sequence[Answer | BackendError]
        try:
            self._load_again()
            answers = generate_batch([case.request for case in cases], self._backend, self._book.limits)
        except LoadError:
            raise
        except BackendError as error:
            self._note(error)
            answers = [error] * len(cases)
        elapsed_ms = (time.perf_counter() - started) * 1000
        rss_bytes = self._backend.rss_bytes
        # All that came is written down before anything else is done.
        for case, answer in zip(cases, answers, strict=True):
            if isinstance(answer, BackendError):
                self._book.failed(case, 1, answer)
            else:
                self._book.answered(case, 1, answer, elapsed_ms, rss_bytes, self._backend.cpu_s)
        for case, answer in zip(cases, answers, strict=True):
            if isinstance(answer, BackendError):
                yield self._one(case, first=2, started=started)
            else:
                yield self._book.judged(case, 1, answer, elapsed_ms, rss_bytes)

    def _one(self, case: Case, first: int = 1, started: float | None = None) -> Outcome:
        started = started or time.perf_counter()
        for attempt in range(first, MAX_ATTEMPTS + 1):
            try:
                self._load_again()
                answer = generate(case.request, self._backend, self._book.limits)
            except LoadError:
                raise
            except BackendError as error:
                self._note(error)
                self._book.failed(case, attempt, error)
                failure = InstrumentFailure(case, str(error), attempt)
            else:
                elapsed_ms = (time.perf_counter() - started) * 1000
                rss_bytes = self._backend.rss_bytes
                self._book.answered(case, attempt, answer, elapsed_ms, rss_bytes, self._backend.cpu_s)
                return self._book.judged(case, attempt, answer, elapsed_ms, rss_bytes)
        return failure

    def _load_again(self) -> None:
        if not self._loaded:
            self._backend.load(_spec(self._book.plan, self._book.ready))
            self._loaded = True

    def _note(self, error: BackendError) -> None:
        if self._stop.requested:
            raise error
        self._loaded = self._loaded and not isinstance(error, InstrumentError)


def _broken(outcomes: Sequence[Outcome], limit: int) -> str:
    failures = [o for o in outcomes[-limit:] if isinstance(o, InstrumentFailure)]
    if len(failures) < limit:
        return ""
    return f"{limit} cases in a row got no answer; the last one: {failures[-1].error}"


def _worker(plan: RunPlan, scenario: Scenario) -> WorkerBackend:
    name = backend_name(scenario)
    kind = LlamaWorkerBackend if name == "llama_cpp" else WorkerBackend
    return kind(name, load_timeout_s=LOAD_TIMEOUT_S, generate_timeout_s=plan.timeout_s(scenario))


def _spec(plan: RunPlan, ready: Ready) -> ModelSpec:
    scenario = ready.scenario
    options: dict[str, Any] = {
        "dtype": scenario.dtype,
        "attn_implementation": scenario.attn_implementation,
        "trust_remote_code": scenario.trust_remote_code,
    }
    if ready.service is not None:
        options = {"env_file": str(plan.env_file) if plan.env_file else None, "extra_body": scenario.extra_body}
    if backend_name(scenario) == "gold":
        options["dataset"] = str(plan.corpus.path)
    return ModelSpec(
        model=scenario.model,
        path=str(ready.weights.path) if ready.weights else None,
        device=ready.device or scenario.device,
        quantization=scenario.quantization,
        context_tokens=plan.context_tokens(scenario),
        seed=SEED,
        options=options,
    )


def identity_of(plan: RunPlan, ready: Ready) -> dict[str, Any]:
    """Return what makes a run this run; the first line of its journal."""
    return {
        "timestamp": plan.timestamp,
        "scenario": ready.scenario.to_json(),
        "corpus_sha256": plan.corpus.sha256,
        "prompt_version": PROMPT_VERSION,
        "scorer_version": SCORER_VERSION,
        "recovery_enabled": plan.settings.recovery_enabled,
        "forgive_latency": plan.forgive_latency,
        "max_output_tokens": plan.limits(ready.scenario).max_output_tokens,
        "weights_sha256": ready.weights.sha256 if ready.weights else None,
        "case_ids": [case.case_id for case in plan.cases],
        "seed": SEED,
    }


def journal_path(folder: Path, scenario: Scenario) -> Path:
    """Return where the journal of a scenario is."""
    return folder / f"{scenario.name}{SUFFIX}"

"""Runs one scenario of a plan: loads its model, asks it every case, and ends in good order whatever happens."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmark.corpus import Case
from benchmark.matrix import Scenario
from benchmark.run.book import Book
from benchmark.run.environment import Disturbance, DisturbanceMeter
from benchmark.run.journal import Journal
from benchmark.run.lanes import Stop
from benchmark.run.outcome import InstrumentFailure, Outcome, prepare
from benchmark.run.plan import SEED, RunPlan, backend_name
from benchmark.run.preflight import Ready
from benchmark.run.service import ask_service
from benchmark.scoring import SCORER_VERSION, Embedder
from ctxsift.backends.base import BatchBackend, LoadInfo, ModelSpec
from ctxsift.backends.llama_worker import LlamaWorkerBackend
from ctxsift.backends.registry import create_backend
from ctxsift.backends.worker import WorkerBackend
from ctxsift.compress import Answer, generate, generate_batch
from ctxsift.errors import BackendError, InstrumentError, LoadError
from ctxsift.prompts import PROMPT_VERSION

MAX_ATTEMPTS = 2
# This many instrument failures in a row say that the scenario, not the case, is broken.
MAX_FAILURES_IN_A_ROW = 3
LOAD_TIMEOUT_S = 900.0


class Listener(Protocol):
    """Hears what happens while a scenario runs; the progress display is one."""

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


def case_timeout_s(context_tokens: int, max_output_tokens: int) -> float:
    """Return how long one answer may take before its process is ended, in seconds.

    Generous on purpose (20 tokens/s read, 1 token/s written): a slow machine is no instrument failure.
    """
    return 60 + context_tokens / 20 + max_output_tokens


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
        OSError: the journal cannot be written. KeyboardInterrupt ends the scenario early and is told in the result.

    """
    scenario = ready.scenario
    folder = plan.folder(scenario)
    folder.mkdir(parents=True, exist_ok=True)
    meter = DisturbanceMeter()
    started = time.perf_counter()
    worker = None if ready.service else _worker(plan, scenario)
    backend = ready.service or worker
    assert backend is not None
    outcomes: list[Outcome] = []
    load: LoadInfo | None = None
    error, interrupted = "", False
    stop = stop or Stop()
    with Journal(_journal_path(folder, scenario), _identity(plan, ready)) as journal:
        try:
            listener.loading(scenario)
            if worker is not None:
                stop.on_request(worker.kill)
            if ready.service is not None:
                prepare(plan.cases, embedder)
            load = backend.load(_spec(plan, ready))
            journal.append({"type": "loaded", **asdict(load)})
            book = Book(plan, ready, load, journal, embedder)

            opened = functools.partial(listener.started, scenario, load)

            def ended(outcome: Outcome) -> str:
                outcomes.append(outcome)
                listener.finished_case(outcome)
                return _broken(outcomes, MAX_FAILURES_IN_A_ROW if worker else scenario.concurrency + 2)

            if ready.service is not None:
                error = asyncio.run(ask_service(book, ready.service, opened, ended))
            elif worker is not None:
                opened()
                error = _LocalCases(book, worker, stop).run(ended)
        except BackendError as problem:
            error = str(problem)
            interrupted = stop.requested
            journal.append({"type": "scenario_failed", "error": error})
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if worker is not None:
                worker.close()
    place = {case.case_id: index for index, case in enumerate(plan.cases)}
    weights = ready.weights
    return ScenarioRun(
        scenario=scenario,
        planned=plan.cases,
        # Answers of a service come in any order.
        outcomes=tuple(sorted(outcomes, key=lambda outcome: place[outcome.case.case_id])),
        load=load,
        weights_sha256=weights.sha256 if weights else None,
        error="interrupted" if interrupted else error,
        interrupted=interrupted,
        wall_s=time.perf_counter() - started,
        disturbance=meter.stop(worker.cpu_s if worker else 0.0),
        worker_rss_bytes=worker.rss_bytes if worker else None,
    )


class _LocalCases:
    """Asks a model on this machine, one case or one batch after the other; replaces a worker that died."""

    def __init__(self, book: Book, backend: WorkerBackend, stop: Stop) -> None:
        self._book, self._backend, self._stop = book, backend, stop
        self._loaded = True
        batches = isinstance(create_backend(backend_name(book.ready.scenario)), BatchBackend)
        self._size = book.ready.scenario.concurrency if batches else 1

    def run(self, ended: Callable[[Outcome], str]) -> str:
        """Return why it ended before the last case, or ""."""
        cases = self._book.plan.cases
        for start in range(0, len(cases), self._size):
            if self._stop.requested:
                raise InstrumentError("interrupted")
            chunk = cases[start : start + self._size]
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
                self._book.answered(case, 1, answer, elapsed_ms)
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
                self._book.answered(case, attempt, answer, elapsed_ms)
                return self._book.judged(case, attempt, answer, elapsed_ms, self._backend.rss_bytes)
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
    timeout = case_timeout_s(plan.context_tokens(scenario), plan.limits(scenario).max_output_tokens)
    return kind(name, load_timeout_s=LOAD_TIMEOUT_S, generate_timeout_s=timeout)


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


def _identity(plan: RunPlan, ready: Ready) -> dict[str, Any]:
    return {
        "scenario": ready.scenario.to_json(),
        "corpus_sha256": plan.corpus.sha256,
        "prompt_version": PROMPT_VERSION,
        "scorer_version": SCORER_VERSION,
        "weights_sha256": ready.weights.sha256 if ready.weights else None,
        "case_ids": [case.case_id for case in plan.cases],
        "seed": SEED,
    }


def _journal_path(folder: Path, scenario: Scenario) -> Path:
    return folder / f"{scenario.name}.journal.jsonl"

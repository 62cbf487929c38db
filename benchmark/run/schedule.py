"""Runs the scenarios of a plan, one after the other, case by case."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmark.corpus import Case
from benchmark.matrix import Scenario
from benchmark.run.environment import Disturbance, DisturbanceMeter
from benchmark.run.journal import Journal
from benchmark.run.outcome import InstrumentFailure, Outcome, judge
from benchmark.run.plan import SEED, RunPlan, backend_name, resume_key
from benchmark.run.preflight import Ready
from benchmark.scoring import SCORER_VERSION, Embedder
from ctxsift.backends.base import LoadInfo, ModelSpec
from ctxsift.backends.llama_worker import LlamaWorkerBackend
from ctxsift.backends.worker import WorkerBackend
from ctxsift.compress import Answer, generate
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


def run_scenario(plan: RunPlan, ready: Ready, embedder: Embedder, listener: Listener) -> ScenarioRun:
    """Run one scenario to its end, or to the point from which it cannot go on.

    Raises:
        OSError: the journal cannot be written. KeyboardInterrupt ends the scenario early and is told in the result.

    """
    scenario = ready.scenario
    folder = plan.folder(scenario)
    folder.mkdir(parents=True, exist_ok=True)
    meter = DisturbanceMeter()
    started = time.perf_counter()
    backend = _worker(plan, scenario)
    outcomes: list[Outcome] = []
    load: LoadInfo | None = None
    error, interrupted = "", False
    with Journal(_journal_path(folder, scenario), _identity(plan, ready)) as journal:
        try:
            listener.loading(scenario)
            load = backend.load(_spec(plan, ready))
            journal.append({"type": "loaded", **asdict(load)})
            listener.started(scenario, load)
            runner = _CaseRunner(plan, ready, backend, load, journal, embedder)
            for case in plan.cases:
                outcome = runner.run(case)
                outcomes.append(outcome)
                listener.finished_case(outcome)
                error = _broken(outcomes)
                if error:
                    break
        except BackendError as problem:
            error = str(problem)
            journal.append({"type": "scenario_failed", "error": error})
        except KeyboardInterrupt:
            error, interrupted = "interrupted", True
        finally:
            backend.close()
    weights = ready.weights
    return ScenarioRun(
        scenario=scenario,
        planned=plan.cases,
        outcomes=tuple(outcomes),
        load=load,
        weights_sha256=weights.sha256 if weights else None,
        error=error,
        interrupted=interrupted,
        wall_s=time.perf_counter() - started,
        disturbance=meter.stop(backend.cpu_s),
        worker_rss_bytes=backend.rss_bytes,
    )


class _CaseRunner:
    """Generates, journals and judges one case after the other; replaces a worker that died."""

    def __init__(
        self, plan: RunPlan, ready: Ready, backend: WorkerBackend, load: LoadInfo, journal: Journal, embedder: Embedder
    ) -> None:
        self._plan, self._ready, self._backend = plan, ready, backend
        self._load, self._journal, self._embedder = load, journal, embedder
        self._loaded = True

    def run(self, case: Case) -> Outcome:
        """Return how `case` ended."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                if not self._loaded:
                    self._backend.load(_spec(self._plan, self._ready))
                    self._loaded = True
                answer = generate(case.request, self._backend, self._plan.limits(self._ready.scenario))
            except LoadError:
                raise
            except BackendError as error:
                self._loaded = not isinstance(error, InstrumentError)
                self._record(case, attempt, {"type": "failure", "error": str(error)})
                failure = InstrumentFailure(case, str(error), attempt)
            else:
                self._record(case, attempt, {"type": "generation", **_answer_json(answer)})
                return self._judge(case, answer, attempt)
        return failure

    def _judge(self, case: Case, answer: Answer, attempt: int) -> Outcome:
        return judge(
            case,
            answer,
            self._embedder,
            recovery_enabled=self._plan.settings.recovery_enabled,
            attempts=attempt,
            rss_bytes=self._backend.rss_bytes,
        )

    def _record(self, case: Case, attempt: int, record: dict[str, Any]) -> None:
        scenario = self._ready.scenario
        weights = self._ready.weights
        key = resume_key(
            case,
            scenario,
            limits=self._plan.limits(scenario),
            load=self._load,
            weights_sha256=weights.sha256 if weights else None,
        )
        self._journal.append({**record, "case_id": case.case_id, "attempt": attempt, "key": key})


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {"input_chars_cut": answer.input_chars_cut, **answer.generation.to_json()}


def _broken(outcomes: Sequence[Outcome]) -> str:
    tail = outcomes[-MAX_FAILURES_IN_A_ROW:]
    failures = [o for o in tail if isinstance(o, InstrumentFailure)]
    if len(failures) < MAX_FAILURES_IN_A_ROW:
        return ""
    return f"{MAX_FAILURES_IN_A_ROW} cases in a row got no answer; the last one: {failures[-1].error}"


def _worker(plan: RunPlan, scenario: Scenario) -> WorkerBackend:
    name = backend_name(scenario)
    kind = LlamaWorkerBackend if name == "llama_cpp" else WorkerBackend
    timeout = case_timeout_s(plan.context_tokens(scenario), plan.limits(scenario).max_output_tokens)
    return kind(name, load_timeout_s=LOAD_TIMEOUT_S, generate_timeout_s=timeout)


def _spec(plan: RunPlan, ready: Ready) -> ModelSpec:
    scenario = ready.scenario
    options = {"dtype": scenario.dtype, "attn_implementation": scenario.attn_implementation}
    if backend_name(scenario) == "gold":
        options["dataset"] = str(plan.corpus.path)
    return ModelSpec(
        model=scenario.model,
        path=str(ready.weights.path) if ready.weights else None,
        device=scenario.device,
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

"""Keeps the books of one scenario: every attempt is on disk before its answer is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from benchmark.corpus import Case
from benchmark.run.environment import Meter, Sample
from benchmark.run.journal import Journal
from benchmark.run.outcome import Outcome, judge
from benchmark.run.plan import RunPlan, resume_key
from benchmark.run.preflight import Ready
from benchmark.run.resume import Past
from benchmark.scoring import Embedder
from ctxsift.backends.base import Limits, LoadInfo
from ctxsift.compress import Answer
from ctxsift.errors import BackendError


class Book:
    """Journals attempts and judges answers. Raises OSError when the journal cannot be written."""

    def __init__(
        self,
        plan: RunPlan,
        ready: Ready,
        load: LoadInfo,
        journal: Journal,
        embedder: Embedder,
        child_cpu_s: float = 0.0,
    ) -> None:
        self.plan, self.ready = plan, ready
        self._load, self._journal, self._embedder = load, journal, embedder
        self._meter = Meter(child_cpu_s)
        self._samples: list[Sample] = []

    def kept(self, past: Past) -> Iterator[tuple[str, Outcome]]:
        """Yield case and outcome of what is there already."""
        for case in self.plan.cases:
            answer = past.answers.get(self._key(case))
            if answer is not None:
                outcome = self.judged(case, answer.attempt, answer.answer, answer.elapsed_ms, answer.rss_bytes)
                yield case.case_id, outcome

    @property
    def limits(self) -> Limits:
        """The bounds of one answer."""
        return self.plan.limits(self.ready.scenario)

    def failed(self, case: Case, attempt: int, error: BackendError) -> None:
        """Write down an attempt that brought no answer."""
        self._record(case, attempt, {"type": "failure", "error": str(error)})

    def answered(
        self,
        case: Case,
        attempt: int,
        answer: Answer,
        elapsed_ms: float,
        rss_bytes: int | None = None,
        child_cpu_s: float = 0.0,
    ) -> None:
        """Write down an answer, and how quiet the machine was meanwhile."""
        sample = self._meter.sample(child_cpu_s) if self._meter.due else None
        self._samples += [sample] if sample else []
        record = {"type": "generation", "input_chars_cut": answer.input_chars_cut, "elapsed_ms": elapsed_ms}
        record |= {"rss_bytes": rss_bytes, "machine": asdict(sample) if sample else None}
        self._record(case, attempt, record | answer.generation.to_json())

    def judged(
        self, case: Case, attempt: int, answer: Answer, elapsed_ms: float, rss_bytes: int | None = None
    ) -> Outcome:
        """Judge an answer that has been written down."""
        return judge(
            case,
            answer,
            self._embedder,
            recovery_enabled=self.plan.settings.recovery_enabled,
            attempts=attempt,
            elapsed_ms=elapsed_ms,
            rss_bytes=rss_bytes,
        )

    def all_samples(self, child_cpu_s: float) -> list[Sample]:
        """Return the samples of the machine up to now."""
        return [*self._samples, self._meter.sample(child_cpu_s)]

    def _record(self, case: Case, attempt: int, record: dict[str, Any]) -> None:
        self._journal.append({**record, "case_id": case.case_id, "attempt": attempt, "key": self._key(case)})

    def _key(self, case: Case) -> str:
        weights = self.ready.weights
        return resume_key(
            case,
            self.ready.scenario,
            limits=self.limits,
            load=self._load,
            weights_sha256=weights.sha256 if weights else None,
        )

"""One opened model: a service, or a worker on this machine. Which, its backend decides.

It is asked from a thread (`ask`, `log_probabilities`), or from an event loop (`backend`, with `retry`).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ctxsift.asking import Answer, ask, ask_async
from ctxsift.backends.base import Ability, AsyncBackend, BatchBackend, Limits, LoadInfo, LogProbability, ModelSpec
from ctxsift.backends.registry import GGUF, backend_class, create_backend, is_service, traits_of
from ctxsift.backends.worker import start_worker
from ctxsift.errors import InstrumentError, LoadError, RefusedError

# A local model is asked without an event loop, which takes longer to import than many an answer takes.
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from ctxsift.backends.retry import Retry
    from ctxsift.prompts import Prompt
    from ctxsift.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How long a model is waited for, in seconds, and how often a service is asked.

    Attributes:
        load_s, answer_s: for a model on this machine to load, and to answer; after that, its process is ended.
        attempt_s: for one attempt at a service.
        retries: further attempts at a service, after one that failed for a reason that may pass.

    """

    load_s: float
    answer_s: float
    attempt_s: float
    retries: int

    @classmethod
    def of(cls, settings: Settings, local_s: float, timeout_s: float | None = None) -> Patience:
        """Return that of the settings; `local_s` for a model on this machine, `timeout_s` for either where given."""
        most = timeout_s or local_s
        return cls(most, most, timeout_s or settings.timeout_ms / 1000, settings.retries)


class Opened:
    """A model from the first question to the last.

    Args:
        name: registered name of its backend.
        spec: the model. Where its backend reads GGUF weights and no path is given, they are found as it is loaded.
        patience: how long it is waited for.
        gguf_filename: the file of weights, where the model has several.
        host: of the configured service; a part of `identity`.
        before: a program that stands before it; see FilteredBackend.

    Attributes:
        is_service: it is asked over the network, without a process of its own.

    Raises:
        LoadError: there is no such backend, or it cannot be imported.
        WeightsError: it cannot be imported, and the model names nothing that there is.

    """

    def __init__(
        self,
        name: str,
        spec: ModelSpec,
        patience: Patience,
        *,
        gguf_filename: str | None = None,
        host: str = "",
        before: ModelSpec | None = None,
    ) -> None:
        self._name, self._spec, self._patience = name, spec, patience
        self._gguf_filename, self._host, self._before = gguf_filename, host, before
        try:
            self.is_service = is_service(name)
        except LoadError:
            if name == GGUF and spec.path is None:
                from ctxsift.backends.weights import refuse_unknown

                # Who mistypes a name is not helped by the engine that is missing, too.
                refuse_unknown(spec.model, gguf_filename)
            raise
        most = {"load_timeout_s": patience.load_s, "generate_timeout_s": patience.answer_s}
        self._worker = None if self.is_service else start_worker(name, **most)
        self._runner: asyncio.Runner | None = None
        self._load: LoadInfo | None = None

    @cached_property
    def backend(self) -> AsyncBackend:
        """What an event loop asks; a model whose process died is loaded again with the next question."""
        backend: AsyncBackend
        if self._worker is None:
            service = create_backend(self._name)
            assert isinstance(service, AsyncBackend)
            backend = service
        else:
            from ctxsift.backends.threaded import ThreadedBackend

            backend = ThreadedBackend(self._worker)
        if self._before is None:
            return backend
        from ctxsift.models.filtered import FilteredBackend

        return FilteredBackend(backend, self._before)

    @property
    def retry(self) -> Retry:
        """Which of an event loop's questions are asked again."""
        from ctxsift.backends.retry import LOCAL_RETRY, Retry

        return Retry(self._patience.retries, self._patience.attempt_s) if self.is_service else LOCAL_RETRY

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can do beside answering greedily."""
        return traits_of(self._name).abilities

    @property
    def reads_batches(self) -> bool:
        """It reads several prompts at once: what `concurrency` above 1 is to a local model."""
        return not self.is_service and issubclass(backend_class(self._name), BatchBackend)

    @property
    def identity(self) -> str:
        """What tells it from other models, with how it was loaded; loads it. Raises BackendError."""
        load = self.load()
        loaded = [load.backend, load.engine, load.engine_version, load.chat_template_sha256, load.context_tokens]
        return json.dumps([self._spec.model, self._gguf_filename, self._host, *loaded])

    @property
    def cpu_s(self) -> float:
        """CPU seconds of its process up to now; of a service, none."""
        return self._worker.cpu_s if self._worker is not None else 0.0

    @property
    def rss_bytes(self) -> int | None:
        """Memory of its process; of a service, unknown."""
        return self._worker.rss_bytes if self._worker is not None else None

    def load(self) -> LoadInfo:
        """Load the model, unless it is loaded. Raises BackendError."""
        if self._load is None:
            traits = traits_of(self._name)
            gguf = traits.reads_only_gguf or (traits.reads_gguf and self._gguf_filename is not None)
            if gguf and self._spec.path is None:
                from ctxsift.backends.weights import find_weights

                found = find_weights(self._spec.model, self._gguf_filename)
                self._spec = replace(self._spec, path=str(found.path))
            self._load = self.backend.load(self._spec)
        return self._load

    def ask(self, prompt: Prompt, limits: Limits, *, again: bool = True) -> Answer:
        """Ask from a thread, one question at a time; loads the model first.

        Args:
            prompt: what is asked.
            limits: of the answer.
            again: a model on this machine that dies over it is loaded and asked once more.

        Raises:
            BackendError: as `ctxsift.asking.ask` does; of a service, what its last attempt raised.

        """
        self.load()
        if self._worker is None or self._before is not None:
            return self._from_loop(lambda: ask_async(prompt, self.backend, limits))
        worker = self._worker
        return self._from_worker(lambda: ask(prompt, worker, limits), again=again)

    def log_probabilities(self, text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is, from a thread; see `ask`. Raises BackendError."""
        self.load()
        if self._worker is None:
            raise RefusedError(f"the backend {self._name!r} cannot {Ability.LOG_PROBABILITIES}")
        worker = self._worker
        return self._from_worker(lambda: worker.log_probabilities((), text), again=False)

    def kill(self) -> None:
        """End its process at once and for good, from another thread; its answer is no longer wanted."""
        if self._worker is not None:
            self._worker.kill()

    def close(self) -> None:
        """Free it. A service that an event loop asked is closed there."""
        if self._worker is not None:
            self._worker.close()
        if self._runner is not None:
            with self._runner as runner:
                runner.run(self.backend.aclose())

    def _from_worker(self, ask_worker: Callable[[], T], *, again: bool) -> T:
        try:
            return ask_worker()
        except InstrumentError:
            if not again:
                raise
            self._load = None
            self.load()
            return ask_worker()

    def _from_loop(self, ask_backend: Callable[[], Awaitable[T]]) -> T:
        import asyncio

        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self.retry.run(ask_backend)).value

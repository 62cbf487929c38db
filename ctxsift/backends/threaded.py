"""A worker as an AsyncBackend: its model is asked from an event loop, and loaded again when its process has died."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ctxsift.backends.base import GREEDY, Ability, Decoding, Generation, Limits, LoadInfo, LogProbability, ModelSpec
from ctxsift.backends.worker import WorkerBackend
from ctxsift.errors import BackendError, InstrumentError, LoadError
from ctxsift.prompts import Message, Request

T = TypeVar("T")


class ThreadedBackend:
    """Asks a worker from threads, one question or batch at a time; see AsyncBatchBackend.

    When the one who waits is cancelled, the worker's process is ended for good: its answer is no longer wanted.
    """

    def __init__(self, worker: WorkerBackend) -> None:
        self.worker = worker
        self._spec: ModelSpec | None = None
        self._alive = False

    @property
    def abilities(self) -> frozenset[Ability]:
        """What the worker's backend can do."""
        return self.worker.abilities

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Load the model; see Backend."""
        self._spec = spec
        load = self.worker.load(spec)
        self._alive = True
        return load

    async def aopen(self) -> None:
        """Nothing to open."""

    async def agenerate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY) -> Generation:
        """Answer once. Raises BackendError; LoadError when a model that died cannot be loaded again."""
        return await self._in_thread(lambda: self.worker.generate(messages, limits, decoding))

    async def agenerate_request(self, request: Request, limits: Limits) -> Generation:
        """Answer a request; see RequestBackend. Raises as `agenerate` does."""
        return await self._in_thread(lambda: self.worker.generate_request(request, limits))

    async def alog_probabilities(self, messages: Sequence[Message], text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is; see MeasuringBackend. Raises as `agenerate` does."""
        return await self._in_thread(lambda: self.worker.log_probabilities(messages, text))

    async def agenerate_batch(
        self, prompts: Sequence[Sequence[Message]], limits: Limits
    ) -> Sequence[Generation | BackendError]:
        """Answer every prompt, in order. Raises as `agenerate` does."""
        return await self._in_thread(lambda: self.worker.generate_batch(prompts, limits))

    async def aclose(self) -> None:
        """End the process."""
        import asyncio

        await asyncio.to_thread(self.worker.close)

    async def _in_thread(self, ask: Callable[[], T]) -> T:
        # Slow to import, and not needed by a caller without an event loop.
        import asyncio

        try:
            return await asyncio.to_thread(self._ask, ask)
        except asyncio.CancelledError:
            self.worker.kill()
            raise

    def _ask(self, ask: Callable[[], T]) -> T:
        assert self._spec is not None, "a model is loaded before it is asked"
        if not self._alive:
            self.worker.load(self._spec)
            self._alive = True
        try:
            return ask()
        except InstrumentError:
            self._alive = False
            raise
        except LoadError as error:
            # Only loading may say so: whoever hears it asks no more.
            raise BackendError(str(error)) from error

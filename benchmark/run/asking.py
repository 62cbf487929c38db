"""Asks a model for answers: one loop for models on this machine and for services.

Slots ask; one recorder, in a thread of its own, writes down what came and does what follows from it, so that no answer
that is coming in waits for the disk. The loop knows nothing of gold.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import NoReturn, Protocol, TypeAlias

from benchmark.run.stop import Stop
from ctxsift.backends.base import AsyncBackend, AsyncBatchBackend, Limits
from ctxsift.backends.retry import FATAL, Attempted, Begun, Retry
from ctxsift.compression import Answer, agenerate, agenerate_batch
from ctxsift.errors import BackendError, LoadError
from ctxsift.prompts import Request

# Questions asked in one burst come back in one burst, and would wait for each other here; that wait would look like
# latency of the service, which a burst of that size may refuse anyway.
STAGGER_S = 0.01
# Answers that are on their way when a service refuses to go on; most come at once.
GRACE_S = 5.0
_LOOK_S = 0.05


@dataclass(frozen=True)
class Unit:
    """What is asked once."""

    unit_id: str
    request: Request


@dataclass(frozen=True)
class AttemptFailed:
    """An attempt that brought no answer; there may be another."""

    unit: Unit
    attempt: int
    error: BackendError


@dataclass(frozen=True)
class Answered:
    """A unit that has its answer."""

    unit: Unit
    attempted: Attempted[Answer]


@dataclass(frozen=True)
class Unanswered:
    """A unit that is not asked again; its attempts were told before."""

    unit: Unit
    attempts: int
    error: BackendError


Event: TypeAlias = AttemptFailed | Answered | Unanswered


@dataclass(frozen=True)
class Ended:
    """Why nothing more is to be asked."""

    reason: str


class Recorder(Protocol):
    """Takes down what happens."""

    def settle(self, events: Sequence[Event]) -> Ended | None:
        """Take down what came together, and say whether that was enough. Never called twice at the same time."""
        ...


@dataclass(frozen=True)
class Pace:
    """How many units are asked at a time.

    Attributes:
        chunk: units that are asked together; above 1 only of an AsyncBatchBackend.
        in_flight: chunks that are under way at the same time.
        waits_for_recorder: ask nothing while answers are taken down: grading would take the machine from the model.

    """

    chunk: int
    in_flight: int
    waits_for_recorder: bool


class Asking:
    """Units on their way through a model.

    Args:
        backend: loaded already; is closed at the end.
        limits: of one answer.
        pace: how many units at a time.
        retry: what is asked again.
        recorder: hears of every attempt and of every end.
        stop: ends it early, from another thread.

    """

    def __init__(
        self, backend: AsyncBackend, limits: Limits, pace: Pace, retry: Retry, recorder: Recorder, stop: Stop
    ) -> None:
        self._backend, self._limits, self._pace, self._retry = backend, limits, pace, retry
        self._recorder, self._stop = recorder, stop
        self._events: asyncio.Queue[Sequence[Event] | None] = asyncio.Queue()
        self._ended: Ended | None = None
        self._refused, self._under_way = False, 0

    async def run(self, units: Sequence[Unit], opened: Callable[[], None]) -> Ended | None:
        """Ask for every unit, and return why it ended before the last one, or None.

        Args:
            units: in their order.
            opened: called when the first one is about to be asked.

        Raises:
            LoadError, RefusedError: nothing more can be asked; what is in flight has had GRACE_S to come in.
            CancelledError: `stop` ended it; what was answered has been taken down.
            OSError: whatever the recorder raises.

        """
        with self._stop.on_request(_cancelling()):
            return await self._run(units, opened)

    async def _run(self, units: Sequence[Unit], opened: Callable[[], None]) -> Ended | None:
        async with aclosing(self._backend):
            try:
                await self._backend.aopen()
            except BackendError:
                raise
            except Exception as error:  # a backend's mistake costs its scenario
                raise LoadError(f"{type(error).__name__}: {error}") from error
            opened()
            recorder = asyncio.create_task(self._take_down())
            slots = asyncio.create_task(self._slots(units))
            try:
                # The recorder is done first only when it cannot write; then there is no point in asking on.
                await asyncio.wait((recorder, slots), return_when=asyncio.FIRST_COMPLETED)
            finally:
                # Also when it was stopped: what has been answered is still taken down.
                slots.cancel()
                (ending,) = await asyncio.gather(slots, return_exceptions=True)
                self._events.put_nowait(None)
                try:
                    await asyncio.shield(recorder)
                except asyncio.CancelledError:
                    await recorder
                    raise
        if isinstance(ending, Exception):
            raise ending
        return self._ended

    async def _slots(self, units: Sequence[Unit]) -> None:
        chunks = _chunks(units, self._pace.chunk)
        try:
            async with asyncio.TaskGroup() as slots:
                for number in range(min(self._pace.in_flight, len(units))):
                    slots.create_task(self._slot(number * STAGGER_S, chunks))
        except* FATAL as group:
            fatal = group
        else:
            return
        _raise_first(fatal)

    async def _slot(self, delay_s: float, chunks: Iterator[Sequence[Unit]]) -> None:
        await asyncio.sleep(delay_s)
        for chunk in chunks:
            if self._ended is not None or self._refused:
                return
            self._under_way += 1
            try:
                await self._ask_chunk(chunk)
            except FATAL:
                self._refused = True
                # The first one that leaves here takes all the others with it.
                await self._others(time.monotonic() + GRACE_S)
                raise
            finally:
                self._under_way -= 1

    async def _others(self, until: float) -> None:
        """Wait for the slots that are still asking; those that were refused wait here, too."""
        self._under_way -= 1
        try:
            while self._under_way and time.monotonic() < until:
                await asyncio.sleep(_LOOK_S)
        finally:
            self._under_way += 1

    async def _ask_chunk(self, units: Sequence[Unit]) -> None:
        """Ask for several answers at once; whoever got none is asked again alone."""
        if len(units) == 1:
            await self._ask_alone(units[0])
            return
        begun = Begun(1, time.perf_counter())
        answers = await self._batch(units)
        elapsed_ms = (time.perf_counter() - begun.started) * 1000
        # All that came is told before anybody is asked again.
        await self._tell(
            *(
                AttemptFailed(unit, begun.attempts, answer)
                if isinstance(answer, BackendError)
                else Answered(unit, Attempted(answer, begun.attempts, elapsed_ms))
                for unit, answer in zip(units, answers, strict=True)
            )
        )
        for unit, answer in zip(units, answers, strict=True):
            if isinstance(answer, BackendError) and self._ended is None:
                await self._ask_alone(unit, begun)

    async def _batch(self, units: Sequence[Unit]) -> Sequence[Answer | BackendError]:
        assert isinstance(self._backend, AsyncBatchBackend)
        try:
            return await agenerate_batch([unit.request for unit in units], self._backend, self._limits)
        except FATAL:
            raise
        except BackendError as error:
            self._unless_stopped()
            return [error] * len(units)

    async def _ask_alone(self, unit: Unit, begun: Begun | None = None) -> None:
        attempts = begun.attempts if begun else 0

        async def ask() -> Answer:
            try:
                return await agenerate(unit.request, self._backend, self._limits)
            except BackendError:
                raise
            except Exception as error:  # a backend's mistake costs its unit, as it would in a process of its own
                raise BackendError(f"{type(error).__name__}: {error}") from error

        async def failed(attempt: int, error: BackendError) -> None:
            nonlocal attempts
            self._unless_stopped()
            attempts = attempt
            await self._tell(AttemptFailed(unit, attempt, error))

        try:
            attempted = await self._retry.run(ask, on_failure=failed, begun=begun)
        except BackendError as error:
            # That the model could not be loaded says nothing of the unit.
            if not isinstance(error, LoadError):
                await self._tell(Unanswered(unit, attempts, error))
            if isinstance(error, FATAL):
                raise
        else:
            await self._tell(Answered(unit, attempted))

    def _unless_stopped(self) -> None:
        """Leave when somebody wants that: a model that was ended for it has not failed."""
        if self._stop.requested:
            raise asyncio.CancelledError

    async def _tell(self, *events: Event) -> None:
        self._events.put_nowait(events)
        if self._pace.waits_for_recorder:
            await self._events.join()

    async def _take_down(self) -> None:
        while (events := await self._events.get()) is not None:
            self._ended = await asyncio.to_thread(self._recorder.settle, events) or self._ended
            self._events.task_done()


def _cancelling() -> Callable[[], None]:
    """Return what cancels this task from another thread, or from a signal handler."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        # The loop may be over by then.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)

    return cancel


def _chunks(units: Sequence[Unit], size: int) -> Iterator[Sequence[Unit]]:
    iterator = iter(units)
    while chunk := tuple(itertools.islice(iterator, size)):
        yield chunk


def _raise_first(group: BaseExceptionGroup[BackendError]) -> NoReturn:
    first: BaseException = group
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    raise first

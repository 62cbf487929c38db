"""Asks a model for answers: one loop for models on this machine and for services.

Slots ask; one recorder, in a thread of its own, writes down what came and does what follows from it, so that no answer
that is coming in waits for the disk. The loop knows nothing of cases, gold or workloads.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import NoReturn, Protocol, TypeAlias, runtime_checkable

from benchmark.record.journal import Sample
from benchmark.run.stop import Stop
from ctxsift.asking import Answer, ask_async, ask_batch
from ctxsift.backends.base import GREEDY, AsyncBackend, AsyncBatchBackend, Decoding, Limits
from ctxsift.backends.retry import FATAL, Attempted, Begun, Retry
from ctxsift.errors import BackendError, LoadError
from ctxsift.prompts import Prompt

# Questions asked in one burst come back in one burst, and would wait for each other here; that wait would look like
# latency of the service, which a burst of that size may refuse anyway.
STAGGER_S = 0.01
# Answers that are on their way when a service refuses to go on; most come at once.
GRACE_S = 5.0
_LOOK_S = 0.05


@dataclass(frozen=True)
class Unit:
    """What is asked once.

    Attributes:
        unit_id: unique in a run.
        decoding: how its answer is decoded.
        repeat: 0 for the first time; asking the same again for another answer counts on from there.

    """

    unit_id: str
    prompt: Prompt
    decoding: Decoding = GREEDY
    repeat: int = 0


class UnitSource(Protocol):
    """Where units come from. Its methods are called in one thread, and never while another one runs."""

    def take(self, most: int) -> Sequence[Unit]:
        """Return up to `most` units that can be asked now, in order.

        None may mean that all that are left wait for answers: once no unit is on its way, it means the end.
        """
        ...

    def told(self, unit: Unit, answer: Answer | None) -> None:
        """Hear of a unit that has been taken down: its answer, or None where it got none."""
        ...


class Listed:
    """Units that wait for nothing; see UnitSource."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self._units = iter(units)

    def take(self, most: int) -> Sequence[Unit]:
        """Return the next ones."""
        return tuple(islice(self._units, most))

    def told(self, unit: Unit, answer: Answer | None) -> None:
        """Nothing follows from it."""


@dataclass(frozen=True)
class AnswerPlace:
    """Where an answer came from, where a model is held in several places.

    Attributes:
        node: its name in this run.
        machine: how busy it was there; None where the sample before is too young.
        rss_bytes: memory of the model's process there.

    """

    node: str
    machine: Sample | None = None
    rss_bytes: int | None = None


@runtime_checkable
class PlacedBackend(Protocol):
    """A backend that holds a model in several places."""

    def place(self) -> AnswerPlace | None:
        """Return where the answer came from that this task got last."""
        ...


@dataclass(frozen=True)
class AttemptFailed:
    """An attempt that brought no answer; there may be another."""

    unit: Unit
    attempt: int
    error: BackendError


@dataclass(frozen=True)
class AnsweredUnit:
    """A unit that has its answer; `place` says where it came from, if there are several."""

    unit: Unit
    attempted: Attempted[Answer]
    place: AnswerPlace | None = None


@dataclass(frozen=True)
class Unanswered:
    """A unit that is not asked again; its attempts were told before."""

    unit: Unit
    attempts: int
    error: BackendError


Event: TypeAlias = AttemptFailed | AnsweredUnit | Unanswered


@dataclass(frozen=True)
class AskingStop:
    """Why nothing more is to be asked."""

    reason: str


class Recorder(Protocol):
    """Takes down what happens."""

    def settle(self, events: Sequence[Event]) -> AskingStop | None:
        """Take down what came together, and say whether that was enough. Never called twice at the same time."""
        ...


@dataclass(frozen=True)
class Pace:
    """How many units are asked at a time.

    Attributes:
        chunk: units that are asked together; above 1 only of an AsyncBatchBackend.
        in_flight: chunks that are under way at the same time.
        waits_for_recorder: ask nothing while answers are taken down: grading would take the machine from the model.
        grown: returns how many chunks may be under way by now, where that changes; asked again and again.

    """

    chunk: int
    in_flight: int
    waits_for_recorder: bool
    grown: Callable[[], int] | None = None


class OpenModel:
    """A model that is asked, as often as somebody wants, while the context of this manager lasts.

    Leaving it closes the backend. Entering it raises LoadError; from then on CancelledError is raised inside once
    `stop` is requested.

    Args:
        backend: loaded already.
        limits: of one answer.
        pace: how many units at a time.
        retry: what is asked again.
        stop: ends it early, from another thread.

    """

    def __init__(self, backend: AsyncBackend, limits: Limits, pace: Pace, retry: Retry, stop: Stop) -> None:
        self.backend, self.limits, self.pace, self.retry, self.stop = backend, limits, pace, retry, stop
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> OpenModel:
        async with AsyncExitStack() as stack:
            stack.enter_context(self.stop.on_request(_cancelling()))
            await stack.enter_async_context(aclosing(self.backend))
            try:
                await self.backend.aopen()
            except BackendError:
                raise
            except Exception as error:  # a backend's mistake costs its scenario
                raise LoadError(f"{type(error).__name__}: {error}") from error
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def ask(self, source: UnitSource, recorder: Recorder) -> AskingStop | None:
        """Ask for every unit of a source, and return why it ended before the last one, or None.

        Args:
            source: of the units.
            recorder: hears of every attempt and of every end.

        Raises:
            LoadError, RefusedError: nothing more can be asked; what is in flight has had GRACE_S to come in.
            CancelledError: `stop` ended it; what was answered has been taken down.
            OSError: whatever the recorder raises.

        """
        return await _Asking(self, source, recorder).run()


class _Asking:
    """The units of one source on their way through a model."""

    def __init__(self, model: OpenModel, source: UnitSource, recorder: Recorder) -> None:
        self._backend, self._limits, self._pace = model.backend, model.limits, model.pace
        self._retry, self._stop = model.retry, model.stop
        self._source, self._recorder = source, recorder
        self._events: asyncio.Queue[Sequence[Event] | None] = asyncio.Queue()
        # Told whenever something was taken down: units may have waited for it.
        self._news = asyncio.Condition()
        self._ended: AskingStop | None = None
        self._refused, self._under_way = False, 0
        # Units that were taken from the source, and whose end it has not heard of.
        self._open, self._empty = 0, False

    async def run(self) -> AskingStop | None:
        """Ask for all of them; see OpenModel.ask."""
        recorder = asyncio.create_task(self._take_down())
        slots = asyncio.create_task(self._slots())
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

    async def _slots(self) -> None:
        try:
            async with asyncio.TaskGroup() as slots:
                number, grown = 0, self._pace.grown
                while not self._empty:
                    wanted = max(self._pace.in_flight, grown() if grown else 0)
                    if number < wanted:
                        slots.create_task(self._slot())
                        number += 1
                        await asyncio.sleep(STAGGER_S if number < wanted else 0)
                    elif grown is None:
                        break
                    else:
                        await asyncio.sleep(_LOOK_S)
        except* FATAL as group:
            fatal = group
        else:
            return
        _raise_first(fatal)

    async def _slot(self) -> None:
        while chunk := await self._next():
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

    async def _next(self) -> Sequence[Unit]:
        """Return what to ask next, as soon as there is something; nothing at the end."""
        async with self._news:
            while self._ended is None and not self._refused:
                if chunk := self._source.take(self._pace.chunk):
                    self._open += len(chunk)
                    return chunk
                if not self._open:
                    break
                await self._news.wait()
        self._empty = True
        return ()

    async def _others(self, until: float) -> None:
        """Wait for the slots that are still asking; those that were refused wait here, too."""
        self._under_way -= 1
        try:
            while self._under_way and time.monotonic() < until:
                await asyncio.sleep(_LOOK_S)
        finally:
            self._under_way += 1

    async def _ask_chunk(self, units: Sequence[Unit]) -> None:
        """Ask for several answers at once, or one after the other; whoever got none is asked again alone."""
        together = isinstance(self._backend, AsyncBatchBackend)
        if len(units) == 1 or not together or any(unit.decoding.needs for unit in units):
            for unit in units:
                if self._ended is None:
                    await self._ask_alone(unit)
            return
        begun = Begun(1, time.perf_counter())
        answers = await self._batch(units)
        elapsed_ms = (time.perf_counter() - begun.started) * 1000
        # All that came is told before anybody is asked again.
        await self._tell(
            *(
                AttemptFailed(unit, begun.attempts, answer)
                if isinstance(answer, BackendError)
                else AnsweredUnit(unit, Attempted(answer, begun.attempts, elapsed_ms))
                for unit, answer in zip(units, answers, strict=True)
            )
        )
        for unit, answer in zip(units, answers, strict=True):
            if isinstance(answer, BackendError) and self._ended is None:
                await self._ask_alone(unit, begun)

    async def _batch(self, units: Sequence[Unit]) -> Sequence[Answer | BackendError]:
        assert isinstance(self._backend, AsyncBatchBackend)
        try:
            return await ask_batch([unit.prompt for unit in units], self._backend, self._limits)
        except FATAL:
            raise
        except BackendError as error:
            self._unless_stopped()
            return [error] * len(units)

    async def _ask_alone(self, unit: Unit, begun: Begun | None = None) -> None:
        attempts = begun.attempts if begun else 0

        async def ask() -> Answer:
            try:
                return await ask_async(unit.prompt, self._backend, self._limits, unit.decoding)
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
            place = self._backend.place() if isinstance(self._backend, PlacedBackend) else None
            await self._tell(AnsweredUnit(unit, attempted, place))

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
            async with self._news:
                for event in events:
                    if not isinstance(event, AttemptFailed):
                        self._open -= 1
                        answer = event.attempted.value if isinstance(event, AnsweredUnit) else None
                        self._source.told(event.unit, answer)
                self._news.notify_all()
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


def _raise_first(group: BaseExceptionGroup[BackendError]) -> NoReturn:
    first: BaseException = group
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    raise first

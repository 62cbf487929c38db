"""Asks a service about all cases, several at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from benchmark.corpus import Case
from benchmark.run.book import Book
from benchmark.run.outcome import InstrumentFailure, Outcome
from ctxsift.backends.base import AsyncBackend
from ctxsift.backends.retry import Attempted, Retry
from ctxsift.compress import Answer, agenerate
from ctxsift.errors import BackendError, RefusedError, TransientError

# Questions asked in one burst come back in one burst, and would wait for each other here; that wait would look like
# latency of the service, which a burst of that size may refuse anyway.
STAGGER_S = 0.01

_Ending = Attempted[Answer] | BackendError


@dataclass(frozen=True)
class _Event:
    """One attempt that failed (`final` False), or how a case ended."""

    case: Case
    attempt: int
    result: _Ending
    final: bool


async def ask_service(
    book: Book,
    cases: Sequence[Case],
    backend: AsyncBackend,
    opened: Callable[[], None],
    ended: Callable[[Outcome], str],
) -> str:
    """Ask about every case and return why it ended before the last one, or "".

    Args:
        book: where attempts are written down; its plan tells retries and timeout.
        cases: what to ask.
        backend: loaded already; is closed at the end.
        opened: called when the first question is about to be asked.
        ended: hears of every case; what it returns, if anything, is the reason to stop.

    Raises:
        RefusedError: the service refuses us; nothing more is asked, and what is in flight is dropped.

    """
    return await _Flight(book, cases, backend, ended).run(opened)


class _Flight:
    """The questions in flight. Slots ask; one desk writes down and judges, so that no slot waits for the disk."""

    def __init__(
        self, book: Book, cases: Sequence[Case], backend: AsyncBackend, ended: Callable[[Outcome], str]
    ) -> None:
        self._book, self._cases, self._backend, self._ended = book, cases, backend, ended
        self._events: asyncio.Queue[_Event | None] = asyncio.Queue()
        self._broken = ""

    async def run(self, opened: Callable[[], None]) -> str:
        async with aclosing(self._backend):
            await self._backend.aopen()
            opened()
            desk = asyncio.create_task(self._desk())
            slots = asyncio.create_task(self._slots())
            try:
                # The desk is done first only when it cannot write; then there is no point in asking on.
                await asyncio.wait((desk, slots), return_when=asyncio.FIRST_COMPLETED)
            finally:
                # Also when a person interrupts: what has been answered is still written down.
                slots.cancel()
                (ending,) = await asyncio.gather(slots, return_exceptions=True)
                self._events.put_nowait(None)
                try:
                    await asyncio.shield(desk)
                except asyncio.CancelledError:
                    await desk
                    raise
        if isinstance(ending, Exception):
            raise ending
        return self._broken

    async def _slots(self) -> None:
        cases = iter(self._cases)
        try:
            async with asyncio.TaskGroup() as slots:
                for number in range(min(self._book.ready.scenario.concurrency, len(self._cases))):
                    slots.create_task(self._slot(number * STAGGER_S, cases))
        except* RefusedError as group:
            refusals = group.exceptions
        else:
            return
        raise refusals[0]

    async def _slot(self, delay_s: float, cases: Iterator[Case]) -> None:
        await asyncio.sleep(delay_s)
        for case in cases:
            if self._broken:
                return
            attempt, result = await self._ask(case)
            self._events.put_nowait(_Event(case, attempt, result, final=True))
            if isinstance(result, RefusedError):
                raise result

    async def _ask(self, case: Case) -> tuple[int, _Ending]:
        failed = 0

        async def failure(attempt: int, error: TransientError) -> None:
            nonlocal failed
            failed = attempt
            self._events.put_nowait(_Event(case, attempt, error, final=False))

        settings = self._book.plan.settings
        retry = Retry(settings.retries, settings.timeout_ms / 1000, failure)
        try:
            attempted = await agenerate(case.request, self._backend, self._book.limits, retry)
        except TransientError as error:
            return failed, error
        except BackendError as error:
            return failed + 1, error
        except Exception as error:  # a backend's mistake costs its case, as it would in a process of its own
            return failed + 1, BackendError(f"{type(error).__name__}: {error}")
        return attempted.attempts, attempted

    async def _desk(self) -> None:
        while (event := await self._events.get()) is not None:
            # Off the loop: writing to disk must not hold up answers that are coming in.
            outcome = await asyncio.to_thread(self._settle, event)
            if outcome is not None:
                self._broken = self._ended(outcome) or self._broken

    def _settle(self, event: _Event) -> Outcome | None:
        case, result = event.case, event.result
        if isinstance(result, Attempted):
            self._book.answered(case, event.attempt, result.value, result.elapsed_ms)
            return self._book.judged(case, event.attempt, result.value, result.elapsed_ms)
        # A last attempt that failed for a passing reason was told when it did.
        if not (event.final and isinstance(result, TransientError)):
            self._book.failed(case, event.attempt, result)
        return InstrumentFailure(case, str(result), event.attempt) if event.final else None

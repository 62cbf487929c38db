"""Asking a service again: only for what can pass, ever more patiently, and not before it wants to be asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from ctxsift.errors import TransientError

# A service that asks for more patience than this has no answer for this run.
MAX_RETRY_AFTER_S = 120.0
_BACKOFF = wait_random_exponential(multiplier=1, max=30)

T = TypeVar("T")


@dataclass(frozen=True)
class Attempted(Generic[T]):
    """What came of it in the end.

    Attributes:
        attempts: how often was asked, the last time included.
        elapsed_ms: from the first question to the answer, waiting included.

    """

    value: T
    attempts: int
    elapsed_ms: float


@dataclass(frozen=True)
class Retry:
    """How often to ask again, and how long one attempt may take.

    Attributes:
        retries: further attempts after the first.
        timeout_s: seconds one attempt may take; after that it counts as failed for a reason that may pass.
        on_failure: told the number and the error of every attempt that failed.

    """

    retries: int
    timeout_s: float
    on_failure: Callable[[int, TransientError], Awaitable[None]] | None = None

    async def run(self, ask: Callable[[], Awaitable[T]]) -> Attempted[T]:
        """Return the answer of the first attempt that brings one; raises what the last attempt raised."""
        started = time.perf_counter()
        attempts = 0

        async def once() -> T:
            nonlocal attempts
            attempts += 1
            try:
                try:
                    async with asyncio.timeout(self.timeout_s):
                        return await ask()
                except TimeoutError:
                    raise TransientError(f"no answer within {self.timeout_s:g} s") from None
            except TransientError as error:
                if self.on_failure is not None:
                    await self.on_failure(attempts, error)
                raise

        retrying = AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            stop=self._stop,
            wait=_wait,
            reraise=True,
        )
        value: T = await retrying(once)
        return Attempted(value, attempts, (time.perf_counter() - started) * 1000)

    def _stop(self, state: RetryCallState) -> bool:
        return _retry_after(state) > MAX_RETRY_AFTER_S or stop_after_attempt(self.retries + 1)(state)


def _retry_after(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    return (error.retry_after_s or 0.0) if isinstance(error, TransientError) else 0.0


def _wait(state: RetryCallState) -> float:
    """Return seconds to wait: random up to 1, 2, 4 ... 30 s, and that on top of what the service asks for."""
    return _retry_after(state) + _BACKOFF(state)

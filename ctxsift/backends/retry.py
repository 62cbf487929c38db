"""One rule for asking again: which errors, how often, and how long to wait before it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from ctxsift.errors import BackendError, LoadError, RefusedError, TransientError

# A service that asks for more patience than this has no answer for this run.
MAX_RETRY_AFTER_S = 120.0
# After these, asking anything more is of no use.
FATAL = (LoadError, RefusedError)
_BACKOFF = wait_random_exponential(multiplier=1, max=30)

T = TypeVar("T")
OnFailure = Callable[[int, BackendError], Awaitable[None]]


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
class Begun:
    """Attempts that were made before, all of them in vain.

    Attributes:
        started: clock (`time.perf_counter`) of the first one.

    """

    attempts: int
    started: float


@dataclass(frozen=True)
class Retry:
    """Which errors may pass, how often to ask again, and how long one attempt may take.

    Attributes:
        retries: further attempts after the first.
        timeout_s: seconds one attempt may take; after that it counts as failed for a reason that may pass. None where
            whoever is asked keeps the time.
        errors: those that may pass.
        patient: wait before asking again: as long as the service wants, and ever longer.

    """

    retries: int
    timeout_s: float | None
    errors: tuple[type[BackendError], ...] = (TransientError,)
    patient: bool = True

    async def run(
        self, ask: Callable[[], Awaitable[T]], *, on_failure: OnFailure | None = None, begun: Begun | None = None
    ) -> Attempted[T]:
        """Return the answer of the first attempt that brings one; raises what the last attempt raised.

        Args:
            ask: makes one attempt.
            on_failure: told the number and the error of every attempt that failed, the last one included. That a model
                could not be loaded is not an attempt.
            begun: attempts that count already.

        """
        started = begun.started if begun else time.perf_counter()
        made = attempts = begun.attempts if begun else 0

        async def once() -> T:
            nonlocal attempts
            attempts += 1
            try:
                return await self._in_time(ask)
            except BackendError as error:
                if on_failure is not None and not isinstance(error, LoadError):
                    await on_failure(attempts, error)
                raise

        def enough(state: RetryCallState) -> bool:
            return _retry_after(state) > MAX_RETRY_AFTER_S or stop_after_attempt(self.retries + 1 - made)(state)

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, self.errors) and not isinstance(error, FATAL)),
            stop=enough,
            wait=_wait if self.patient else _at_once,
            reraise=True,
        )
        value: T = await retrying(once)
        return Attempted(value, attempts, (time.perf_counter() - started) * 1000)

    async def _in_time(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self.timeout_s):
                return await ask()
        except TimeoutError:
            if self.timeout_s is None:
                raise
            raise TransientError(f"no answer within {self.timeout_s:g} s") from None


# A model on this machine is asked once more, at once, whatever happened; its worker keeps the time.
LOCAL_RETRY = Retry(1, None, (BackendError,), patient=False)


def _retry_after(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    return (error.retry_after_s or 0.0) if isinstance(error, TransientError) else 0.0


def _wait(state: RetryCallState) -> float:
    """Return seconds to wait: random up to 1, 2, 4 ... 30 s, and that on top of what the service asks for."""
    return _retry_after(state) + _BACKOFF(state)


def _at_once(state: RetryCallState) -> float:
    del state
    return 0.0

"""Signals that ask this process to end: noted, and heeded where nothing can get lost by it.

Whatever is imported here is imported before any signal is noted.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import TypeVar

    T = TypeVar("T")

# Those that end a program that does not know them: output that was read must not be lost over any.
ENDING = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU),
)
# `timeout` sends a signal to its child and then to the whole group: what comes so soon is the same request.
_SAME_REQUEST_S = 0.5


class SignalledError(Exception):
    """A signal came before the work was done."""


class Signals:
    """Notes every signal of ENDING from now until this process ends, except those it was told to ignore.

    No signal raises anything, so none cuts a write short; the one who waits here is woken.

    Attributes:
        first: the signal that came first; None while there was none.
        insisted: another one came, too late to be the same request.
        left_behind: `interruptible` gave up a thread, which may never end.

    """

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self.insisted = False
        self.left_behind = False
        self._first_at = 0.0
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)
        # The end of a child wakes whoever waits; ignored, as a parent may have left it, it would cost the exit code.
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.first is None:
            self.first, self._first_at = signal.Signals(number), time.monotonic()
        elif time.monotonic() - self._first_at > _SAME_REQUEST_S:
            self.insisted = True

    def wake(self) -> None:
        """Wake whoever is in `wait`, from any thread."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"\x00")

    def wait(self, descriptor: int | None, until: float | None) -> bool:
        """Wait until there is something to read, a signal comes, a child ends or `wake` is called.

        Args:
            descriptor: what to read from; None for nothing.
            until: the latest return, a point of time.monotonic(); None waits for ever.

        Returns:
            Whether reading from `descriptor` would not block.

        """
        poll = select.poll()
        poll.register(self._reader, select.POLLIN)
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
        ready = dict(poll.poll(None if until is None else max(0.0, until - time.monotonic()) * 1000))
        if self._reader in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._reader, 4096)
        return descriptor in ready

    def interruptible(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, or raise what it raises; it runs in another thread.

        Raises:
            SignalledError: a signal came first; the thread is left to itself.

        """
        results: list[T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(work())
            except BaseException as error:
                errors.append(error)
            self.wake()

        threading.Thread(target=run, daemon=True).start()
        while not results and not errors:
            if self.first is not None:
                self.left_behind = True
                raise SignalledError
            self.wait(None, None)
        if errors:
            raise errors[0]
        return results[0]

    def block(self) -> None:
        """Let no signal of ENDING reach this process any more: all is printed, and its exit code stands."""
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)


def is_key(number: signal.Signals) -> bool:
    """Say whether the signal comes from a key of our terminal, which sends it to the commands we run as well."""
    if number not in (signal.SIGINT, signal.SIGQUIT):
        return False
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)

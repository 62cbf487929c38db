"""Asking for the end of a run."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


class Stop:
    """A person wants the run to end; what scenarios wait for is ended, too.

    May be asked for from every thread, and from a signal handler.
    """

    def __init__(self) -> None:
        # No Event: a signal handler may come while this very thread sets it, and would wait for itself.
        self._requested = False
        self._actions: list[Callable[[], None]] = []
        self._lock = threading.RLock()

    @property
    def requested(self) -> bool:
        """Somebody wants it to end."""
        return self._requested

    @contextlib.contextmanager
    def on_request(self, action: Callable[[], None]) -> Iterator[None]:
        """Have `action` called once when somebody asks while inside; at once when somebody already has."""
        with self._lock:
            self._actions.append(action)
        if self._requested:
            self._act()
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._actions.remove(action)

    def request(self) -> None:
        """End it."""
        self._requested = True
        self._act()

    def _act(self) -> None:
        while True:
            with self._lock:
                if not self._actions:
                    return
                action = self._actions.pop()
            action()

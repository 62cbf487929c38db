"""Asking scenarios in other threads to end."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Stop:
    """Asks scenarios in other threads to end; what they wait for is ended too."""

    def __init__(self) -> None:
        self._requested = threading.Event()
        self._actions: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def requested(self) -> bool:
        """Somebody wants it to end."""
        return self._requested.is_set()

    def on_request(self, action: Callable[[], None]) -> None:
        """Have `action` called when somebody does."""
        with self._lock:
            self._actions.append(action)
            late = self.requested
        if late:
            action()

    def request(self) -> None:
        """End it."""
        with self._lock:
            self._requested.set()
            actions = list(self._actions)
        for action in actions:
            action()

"""Several GPUs, one scenario on each at a time; everything else one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace

from benchmark.matrix import Track
from benchmark.run.preflight import Ready
from benchmark.run.signals import stop_at_once_next_time


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


def run_in_lanes(ready: Sequence[Ready], devices: Sequence[str], run_one: Callable[[Ready, Stop], bool]) -> bool:
    """Run all scenarios and return whether a person interrupted them.

    Args:
        ready: in their order; those that are no GPU's business run first, one after the other.
        devices: the GPUs to use; with fewer than two there is one lane.
        run_one: runs a scenario and returns whether it was interrupted.

    Raises:
        OSError: whatever `run_one` raises first; the other lanes end their scenario.

    """
    stop = Stop()
    on_gpus = [entry for entry in ready if entry.scenario.track is Track.GPU] if len(devices) > 1 else []
    for entry in ready:
        if entry not in on_gpus and run_one(entry, stop):
            return True
    if not on_gpus:
        return False
    waiting, lock = list(on_gpus), threading.Lock()

    def next_for(device: str) -> Ready | None:
        with lock:
            for entry in waiting:
                if entry.device in ("", device):
                    waiting.remove(entry)
                    return replace(entry, device=device)
        return None

    def lane(device: str) -> None:
        while not stop.requested and (entry := next_for(device)) is not None:
            run_one(entry, stop)

    with ThreadPoolExecutor(len(devices), thread_name_prefix="gpu") as pool:
        lanes = [pool.submit(lane, device) for device in devices]
        try:
            wait(lanes, return_when=FIRST_EXCEPTION)
            for ended in lanes:
                if ended.done():
                    ended.result()
        except KeyboardInterrupt:
            stop_at_once_next_time()
            stop.request()
            return True
        except BaseException:
            stop.request()
            raise
    return False

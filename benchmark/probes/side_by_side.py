"""Sessions measured side by side: a process is at one session at a time, and sends each result as it is made."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from benchmark.probes.measuring import MethodResult, ProbedSubject, measure
from benchmark.probes.scenarios import ProbeScenario
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET


@dataclass(frozen=True)
class SessionJob:
    """What is to be measured of a session."""

    subject: ProbedSubject
    scenarios: Sequence[ProbeScenario]


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(parts: Sequence[SessionJob], processes: int) -> Generator[tuple[int, ProbeScenario, MethodResult]]:
    """Yield results as they come, each with the place of its part.

    What cannot be measured elsewhere is left out, whatever the reason: whoever measures it here hears of it. So is all
    of it where there is one part or one process. The processes end with this iterator, and with this process.

    Args:
        parts: no session twice.
        processes: at most.

    """
    # Long ones first, so that no process is left with one at the end.
    longest = sorted(range(len(parts)), key=lambda number: -len(parts[number].subject.session.steps))
    open_ones = (number for number in longest if parts[number].scenarios)
    waiting = [(number, data) for number in open_ones if (data := _pickled(parts[number]))]
    if min(processes, len(waiting)) < 2:
        return
    with _started(min(processes, len(waiting))) as idle:
        working: dict[Connection, int] = {}
        while waiting or working:
            while waiting and idle:
                pipe, (number, data) = idle.pop(), waiting.pop(0)
                with contextlib.suppress(OSError):
                    pipe.send_bytes(data)
                    working[pipe] = number
            if not working:
                return
            ready = wait(list(working))
            for pipe in [each for each in working if each in ready]:
                yield from _heard(pipe, working, idle)


def _heard(
    pipe: Connection, working: dict[Connection, int], idle: list[Connection]
) -> Iterator[tuple[int, ProbeScenario, MethodResult]]:
    """Yield what a process sends, if it is a result; note that it is done with its part, or has died."""
    try:
        came = pipe.recv()
    except (EOFError, OSError):
        del working[pipe]
        return
    if came is None:
        del working[pipe]
        idle.append(pipe)
    else:
        yield (working[pipe], *came)


def _pickled(part: SessionJob) -> bytes:
    """Return a part without what is known of its session, which is more than the session; nothing where it cannot."""
    fields = {name: getattr(part.subject, name) for name in ProbedSubject.__dataclass_fields__}
    try:
        return pickle.dumps(SessionJob(ProbedSubject(**fields), part.scenarios))
    except (pickle.PicklingError, AttributeError, TypeError):
        # A judge that is defined inside of a function.
        return b""


@contextlib.contextmanager
def _started(count: int) -> Iterator[list[Connection]]:
    """Start processes, give the pipes to them, and end them."""
    spawn, pipes, started = get_context("spawn"), list[Connection](), list[SpawnProcess]()
    # It would let signals through while it is started.
    resource_tracker.ensure_running()
    # A terminal sends it to all processes; the one that writes the journal ends the others. They inherit the mask.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        try:
            for _ in range(count):
                ours, theirs = spawn.Pipe()
                started.append(spawn.Process(target=_work, args=(theirs,), daemon=True))
                started[-1].start()
                theirs.close()
                pipes.append(ours)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield pipes[:]
    finally:
        for process in started:
            # They hold nothing that could get lost.
            if process.pid is not None:
                process.kill()
                process.join()
        for pipe in pipes:
            pipe.close()


def _work(pipe: Connection) -> None:
    """Measure part after part, until the process that sends them ends this one, or is gone."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Next to no cycles are left.
    gc.disable()
    while True:
        data = pipe.recv_bytes()
        with contextlib.suppress(Exception):
            part: SessionJob = pickle.loads(data)
            for scenario in part.scenarios:
                pipe.send((scenario, measure(part.subject, scenario.method, scenario.budget or DEFAULT_BUDGET)))
        pipe.send(None)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

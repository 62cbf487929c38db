"""Runs a program within bounds of time, memory and output, and leaves nothing of it behind.

It runs in a session of its own. When it has ended, or has gone beyond a bound, its whole process group is killed, and
so is every process that has left the group but still has the HOME that the program was given.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_MEGABYTE = 1_000_000
_CHUNK = 1 << 16
_TICK_S = 0.05
_MEMORY_EVERY_S = 0.25
# After the program has ended: what it started may still be writing.
_GRACE_S = 1.0
# ... and may end with it.
_MOMENT_S, _LOOK_S = 0.2, 0.02
_TAIL_BYTES = 2000


@dataclass(frozen=True)
class Bounds:
    """What a program may use; memory is what all its processes have resident together, looked at now and then."""

    timeout_s: float
    output_bytes: int = _MEGABYTE
    memory_bytes: int = 4_000 * _MEGABYTE


@dataclass(frozen=True)
class Ran:
    """What came of a program.

    Attributes:
        output: its standard output, cut where it went beyond the bound.
        exit_code: -N where signal N killed it.
        wall_ms: milliseconds from its start to its end, or to when it was ended.
        beyond: the bound that it went beyond, in words; empty where it ended by itself.
        last_words: the last line on standard error.
        left_processes: it had ended, and processes that it had started had not.

    """

    output: bytes
    exit_code: int
    wall_ms: float
    beyond: str
    last_words: str
    left_processes: bool


def run_confined(
    command: Sequence[str],
    *,
    stdin: bytes | None,
    env: Mapping[str, str],
    folder: Path,
    bounds: Bounds,
    stop: threading.Event | None = None,
) -> Ran:
    """Run a program to its end.

    Args:
        command: program and arguments.
        stdin: what it reads; None for nothing.
        env: all its variables; HOME has to be its alone.
        folder: it works in.
        bounds: at which it is ended.
        stop: ends it at once when set.

    Raises:
        OSError, ValueError: it cannot be started.

    """
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=folder,
        start_new_session=True,
    )
    running = _Running(process, stdin or b"", bounds, started, stop or threading.Event())
    try:
        beyond = running.watch()
        wall_ms = (time.perf_counter() - started) * 1000
    finally:
        left = _end(process, env.get("HOME", ""))
        running.close()
    return Ran(
        output=bytes(running.output),
        exit_code=process.returncode,
        wall_ms=wall_ms,
        beyond=beyond,
        last_words=_last_line(bytes(running.errors)),
        left_processes=left,
    )


class _Running:
    """A program while it runs."""

    def __init__(
        self, process: subprocess.Popen[bytes], stdin: bytes, bounds: Bounds, started: float, stop: threading.Event
    ) -> None:
        self._process, self._bounds, self._stop = process, bounds, stop
        self._left = memoryview(stdin)
        self._deadline = started + bounds.timeout_s
        self._memory_due = started + _MEMORY_EVERY_S
        self._exited_at: float | None = None
        self._selector = selectors.DefaultSelector()
        self.output, self.errors = bytearray(), bytearray()
        for stream, events in (
            (process.stdin, selectors.EVENT_WRITE),
            (process.stdout, selectors.EVENT_READ),
            (process.stderr, selectors.EVENT_READ),
        ):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, events)

    def watch(self) -> str:
        """Wait for its end, and return the bound that it went beyond, if any."""
        while not (beyond := self._beyond()):
            if self._exited() and not self._reading():
                return ""
            if self._exited_at is not None and time.perf_counter() - self._exited_at > _GRACE_S:
                return ""
            if not self._reading():
                # Its output has ended; its end is near.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_TICK_S)
                continue
            for key, _ in self._selector.select(_TICK_S):
                self._move(key.fileobj)
        return beyond

    def close(self) -> None:
        """Close all pipes."""
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _exited(self) -> bool:
        if self._exited_at is None and self._process.poll() is not None:
            self._exited_at = time.perf_counter()
        return self._exited_at is not None

    def _reading(self) -> bool:
        return any(key.events & selectors.EVENT_READ for key in self._selector.get_map().values())

    def _move(self, stream: object) -> None:
        try:
            if stream is self._process.stdin:
                self._write()
            elif stream is self._process.stdout:
                self._read(stream, self.output)
            else:
                self._read(stream, self.errors)
                del self.errors[:-_TAIL_BYTES]
        except BlockingIOError:
            pass
        except OSError:
            # It does not read on; whether that matters, its answer tells.
            self._drop(stream)

    def _write(self) -> None:
        assert self._process.stdin is not None
        if self._left:
            self._left = self._left[os.write(self._process.stdin.fileno(), self._left[:_CHUNK]) :]
        if not self._left:
            self._drop(self._process.stdin)

    def _read(self, stream: object, into: bytearray) -> None:
        chunk = os.read(stream.fileno(), _CHUNK)  # type: ignore[attr-defined]
        into += chunk
        if not chunk:
            self._drop(stream)

    def _drop(self, stream: object) -> None:
        self._selector.unregister(stream)  # type: ignore[arg-type]
        stream.close()  # type: ignore[attr-defined]

    def _beyond(self) -> str:
        now, bounds = time.perf_counter(), self._bounds
        if self._stop.is_set():
            return "was stopped"
        if len(self.output) > bounds.output_bytes:
            del self.output[bounds.output_bytes :]
            return f"printed more than {bounds.output_bytes / _MEGABYTE:g} MB"
        if self._exited():
            return ""
        if now > self._deadline:
            return f"did not end within {bounds.timeout_s:g} s"
        if now > self._memory_due:
            self._memory_due = now + _MEMORY_EVERY_S
            if _resident_bytes(self._process.pid) > bounds.memory_bytes:
                return f"took more than {bounds.memory_bytes / _MEGABYTE:g} MB of memory"
        return ""


def _resident_bytes(pid: int) -> int:
    total = 0
    with contextlib.suppress(psutil.Error):
        program = psutil.Process(pid)
        for process in (program, *program.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
    return total


def _end(process: subprocess.Popen[bytes], home: str) -> bool:
    """Kill all that is left of a program, itself included, and say whether others were still there at its end."""
    left = process.returncode is not None and _linger(process.pid, home)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    until = time.perf_counter() + _GRACE_S
    # One may start another meanwhile; one of another user stays.
    while (members := _members(process.pid, home)) and time.perf_counter() < until:
        for member in members:
            with contextlib.suppress(psutil.Error):
                member.kill()
    process.wait()
    return left


def _linger(leader: int, home: str) -> bool:
    """Say whether processes of a program that has ended are still there after a moment, in which they may end, too."""
    until = time.perf_counter() + _MOMENT_S
    while _members(leader, home):
        if time.perf_counter() > until:
            return True
        time.sleep(_LOOK_S)
    return False


def _members(leader: int, home: str) -> list[psutil.Process]:
    """Return the processes in the group of a program, or with its HOME: whoever left the group took that along."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            is_member = os.getpgid(process.pid) == leader or (home and process.environ().get("HOME") == home)
            if is_member and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _last_line(errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""

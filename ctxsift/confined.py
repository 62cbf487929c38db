"""Runs a program within bounds of time, memory, output and disk, and leaves nothing of it behind.

It runs in a session of its own, below a supervisor to which whatever it leaves behind falls. When it has ended, or has
gone beyond a bound, every process below the supervisor is killed; by the supervisor, should we be gone. Should it have
ended the supervisor, what is left of its process group is killed, and what still has the HOME that it was given.
"""

from __future__ import annotations

import contextlib
import errno
import marshal
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_MEGABYTE = 1_000_000
_CHUNK = 1 << 16
_TICK_S = 0.05
_MEMORY_EVERY_S, _DISK_EVERY_S = 0.25, 0.5
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
# After the program has ended: what it started may still be writing.
_GRACE_S = 1.0
# ... and may end with it.
_MOMENT_S, _LOOK_S = 0.2, 0.02
_TAIL_BYTES = 2000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Bounds:
    """What a program may use.

    Attributes:
        memory_bytes: that all its processes have resident together, looked at now and then.
        file_bytes: of any one file.
        disk_bytes, files: in its folder, looked at now and then.

    """

    timeout_s: float
    output_bytes: int = _MEGABYTE
    memory_bytes: int = 4_000 * _MEGABYTE
    file_bytes: int = 256 * _MEGABYTE
    disk_bytes: int = 1_000 * _MEGABYTE
    files: int = 20_000


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
    whole: Path | None = None,
    stop: threading.Event | None = None,
) -> Ran:
    """Run a program to its end.

    Args:
        command: program and arguments.
        stdin: what it reads; None for nothing.
        env: all its variables; HOME has to be its alone.
        folder: it works in.
        bounds: at which it is ended.
        whole: the folder that is bounded, with its own in it; by default, that in which it works.
        stop: ends it at once when set.

    Raises:
        OSError, ValueError: it cannot be started.

    """
    started = time.perf_counter()
    process, told = _supervised(command, stdin, env, folder, bounds)
    running = _Running(process, told, stdin or b"", bounds, whole or folder, started, stop or threading.Event())
    try:
        beyond = running.watch()
        wall_ms = (time.perf_counter() - started) * 1000
    finally:
        left = _end(process, running.pid, env.get("HOME", ""), has_ended=running.ended is not None)
        running.close()
    if running.refused:
        raise OSError(running.refused)
    beyond = beyond or too_much_in(whole or folder, bounds)
    exit_code, took_s = running.ended or (-signal.SIGKILL, wall_ms / 1000)
    return Ran(
        output=bytes(running.output),
        exit_code=exit_code,
        wall_ms=took_s * 1000,
        beyond=beyond,
        last_words=_last_line(bytes(running.errors)),
        left_processes=left,
    )


def _supervised(
    command: Sequence[str], stdin: bytes | None, env: Mapping[str, str], folder: Path, bounds: Bounds
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a program below a supervisor; return that, and where it tells how the program fares."""
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            (sys.executable, "-I", "-S", "-X", "utf8", str(_SUPERVISOR), str(theirs.fileno())),
            bufsize=0,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            cwd=folder,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    with contextlib.suppress(OSError):  # it ended; that is noticed
        ours.sendall(marshal.dumps((os.getpid(), list(command), dict(env), bounds.file_bytes)))
        ours.shutdown(socket.SHUT_WR)
    return process, ours


class _Running:
    """A program while it runs.

    Attributes:
        pid: its process; None until that is known.
        ended: its exit code, and how many seconds it took.
        refused: why it could not be started.

    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        told: socket.socket,
        stdin: bytes,
        bounds: Bounds,
        whole: Path,
        started: float,
        stop: threading.Event,
    ) -> None:
        self._process, self._told, self._bounds, self._whole, self._stop = process, told, bounds, whole, stop
        self._news = bytearray()
        self.pid: int | None = None
        self.ended: tuple[int, float] | None = None
        self.refused = ""
        self._is_alone = False
        self._left = memoryview(stdin)
        self._deadline = started + bounds.timeout_s
        self._memory_due = started + _MEMORY_EVERY_S
        self._disk_due = started + _DISK_EVERY_S
        told.setblocking(False)
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
            if self._is_alone and self.ended is None:
                return "" if self.refused else "ended what watched over it"
            if self._exited() and not self._reading():
                return ""
            if self._exited_at is not None and time.perf_counter() - self._exited_at > _GRACE_S:
                return ""
            if not self._reading():
                # Its output has ended; its end is near.
                select.select([self._told], [], [], _TICK_S)
                continue
            for key, _ in self._selector.select(_TICK_S):
                self._move(key.fileobj)
        return beyond

    def close(self) -> None:
        """Close all pipes."""
        self._selector.close()
        self._told.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _exited(self) -> bool:
        if self._exited_at is None:
            self._hear()
            if self.ended is not None:
                self._exited_at = time.perf_counter()
        return self._exited_at is not None

    def _hear(self) -> None:
        """Take note of what the supervisor has told."""
        with contextlib.suppress(BlockingIOError):
            while chunk := self._received():
                self._news += chunk
            self._is_alone = True
        *lines, rest = bytes(self._news).split(b"\n")
        self._news[:] = rest
        for line in lines:
            word, _, rest = line.partition(b" ")
            if word == b"pid":
                self.pid = int(rest)
            elif word == b"failed":
                self.refused = rest.decode("utf-8", "replace")
            else:
                exit_code, took_s = rest.split()
                self.ended = int(exit_code), float(took_s)

    def _received(self) -> bytes:
        try:
            return self._told.recv(_CHUNK)
        except ConnectionError:
            return b""

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
        if now > self._disk_due:
            self._disk_due = now + _DISK_EVERY_S
            return too_much_in(self._whole, bounds)
        return ""


def too_much_in(folder: Path, bounds: Bounds) -> str:
    """Return in words the bound that the content of a folder is beyond, if any; links are not followed."""
    size = 0
    try:
        for number, size_of_one in enumerate(_sizes(folder), 1):
            size += size_of_one
            if size > bounds.disk_bytes:
                return f"wrote more than {bounds.disk_bytes / _MEGABYTE:g} MB"
            if number > bounds.files:
                return f"made more than {bounds.files:,} files"
    except OSError:
        return "made folders in folders, too deep to look into"
    return ""


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the bytes on disk of whatever is below a folder. Raises OSError for a path that is too long."""
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError as error:
            # It may be gone again, or closed to us.
            if error.errno == errno.ENAMETOOLONG:
                raise


def removed(folder: Path) -> bool:
    """Remove a folder with all that a program may have made of it; return False where something of it stays.

    It goes from folder to folder by descriptor, one open at a time: they may lie deeper in each other than a path, or
    recursion, can be. Raises nothing.
    """
    with contextlib.suppress(OSError):
        if folder.is_symlink() or not folder.is_dir():
            # What it leads to is not ours.
            folder.unlink()
            return True
        folder.chmod(0o700)
        _empty(os.open(folder, _FOLDER))
        folder.rmdir()
    return not os.path.lexists(folder)


def _empty(here: int) -> None:
    """Remove all that is in an open folder, and close it. Raises OSError."""
    try:
        # Of each folder from the outermost to this one: its name, and the folders in it that are left.
        levels = [("", _unlinked(here))]
        while True:
            _, folders = levels[-1]
            if folders:
                name = folders.pop()
                os.chmod(name, 0o700, dir_fd=here)
                here = _moved(here, name)
                levels.append((name, _unlinked(here)))
                continue
            name, _ = levels.pop()
            if not levels:
                return
            here = _moved(here, "..")
            os.rmdir(name, dir_fd=here)
    finally:
        os.close(here)


def _moved(here: int, name: str) -> int:
    """Open a folder beside an open one, which is closed."""
    there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there


def _unlinked(here: int) -> list[str]:
    """Remove what is no folder from an open folder, and return the names of the folders."""
    with os.scandir(here) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=here)
    return [name for name, is_folder in found if is_folder]


def _resident_bytes(supervisor: int) -> int:
    total = 0
    for process in _below(supervisor):
        with contextlib.suppress(psutil.Error):
            total += process.memory_info().rss
    return total


def _end(process: subprocess.Popen[bytes], pid: int | None, home: str, *, has_ended: bool) -> bool:
    """Kill all that is left of a program, itself included, and say whether others were still there at its end.

    Args:
        process: the supervisor.
        pid: of the program.
        home: its HOME.
        has_ended: the program ended by itself.

    """
    left = has_ended and _linger(process.pid, pid, home)
    until = time.perf_counter() + _GRACE_S
    # One may start another meanwhile; one of another user stays.
    while (members := _members(process.pid, pid, home)) and time.perf_counter() < until:
        for member in members:
            with contextlib.suppress(psutil.Error):
                member.kill()
    try:
        # It ends when nothing is left below it.
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return left


def _linger(supervisor: int, pid: int | None, home: str) -> bool:
    """Say whether processes of a program that has ended are still there after a moment, in which they may end, too."""
    until = time.perf_counter() + _MOMENT_S
    while _members(supervisor, pid, home):
        if time.perf_counter() > until:
            return True
        time.sleep(_LOOK_S)
    return False


def _members(supervisor: int, leader: int | None, home: str) -> list[psutil.Process]:
    """Return the processes below the supervisor of a program, in its group, or with its HOME."""
    found = {process.pid: process for process in _below(supervisor)}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getpgid(process.pid) == leader or (home and process.environ().get("HOME") == home):
                found[process.pid] = process
    return [process for process in found.values() if _is_alive(process)]


def _below(supervisor: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return psutil.Process(supervisor).children(recursive=True)
    return []


def _is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def _last_line(errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""

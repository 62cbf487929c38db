"""Stands between us and a program: starts it, tells how it ended, and is the parent of whatever it leaves behind.

Run by its path, alone, with one argument: the descriptor on which it is told what to run, and on which it tells what
came of that. It ends when no process below it is left. If the process that started it is gone, it kills all below it.
"""

from __future__ import annotations

import contextlib
import ctypes
import marshal
import os
import resource
import signal
import sys
import time
from typing import NoReturn

_PR_SET_CHILD_SUBREAPER = 36
# How often it looks whether its parent is there. A signal at the parent's death (PR_SET_PDEATHSIG) would come when the
# thread that started it ends, and on Linux alone.
_LOOK_S = 0.25
_KILL_AGAIN_S = 0.02
# Python ignores them, and what is ignored stays so in a program.
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)


def main() -> None:
    """Run the program that is named on the descriptor."""
    told = int(sys.argv[1])
    os.set_inheritable(told, False)
    with open(told, "rb", closefd=False) as file:
        parent, command, env, file_bytes = marshal.load(file)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _become(command, env, file_bytes, told)
    _end_with(parent, pid)
    _leave_streams()
    _tell(told, "pid", pid)
    while True:
        try:
            ended, status = os.wait()
        except ChildProcessError:
            return
        if ended == pid:
            _tell(told, "exit", os.waitstatus_to_exitcode(status), time.perf_counter() - started)


def _become(command: list[str], env: dict[str, str], file_bytes: int, told: int) -> NoReturn:
    try:
        os.setsid()
        for each in _IGNORED:
            signal.signal(each, signal.SIG_DFL)
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        most = file_bytes if hard == resource.RLIM_INFINITY else min(file_bytes, hard)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.execvpe(command[0], command, env)
    except (OSError, ValueError) as error:
        _tell(told, "failed", str(error))
    os._exit(127)


def _end_with(parent: int, pid: int) -> None:
    """Look now and then whether the parent is there; once it is not, kill the program and all that it has started."""

    def look(*_: object) -> None:
        if os.getppid() != parent:
            signal.setitimer(signal.ITIMER_REAL, 0)
            _kill_all(pid)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
    # It may have gone before anything looked.
    look()


def _kill_all(pid: int) -> NoReturn:
    """Kill until nothing is below: one may start another meanwhile, and what a killed one had started falls to us."""
    while True:
        for each in _below(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(each, signal.SIGKILL)
        if sys.platform != "linux":
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            os._exit(1)
        time.sleep(_KILL_AGAIN_S)


def _below(top: int) -> list[int]:
    """Return the processes below one, as /proc tells them; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            if not entry.name.isdecimal():
                continue
            # Every program waits for this module, and pathlib takes a while to import.
            with contextlib.suppress(OSError), open(f"{entry.path}/stat", "rb") as file:  # noqa: PTH123
                # Its name stands in parentheses, and may hold some.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [top]
    for each in found:
        found += children.get(each, [])
    return found[1:]


def _leave_streams() -> None:
    """Let go of the program's streams, which would stay open with it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


def _tell(told: int, *what: object) -> None:
    try:
        os.write(told, (" ".join(map(str, what)).replace("\n", " ") + "\n").encode("utf-8", "replace"))
    except OSError:
        # Whoever waited is gone.
        return


if __name__ == "__main__":
    main()

"""Stands between us and a program: starts it, tells how it ended, and is the parent of whatever it leaves behind.

Run by its path, alone, with one argument: the descriptor on which it is told what to run, and on which it tells what
came of that. It ends when no process is left below it.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import signal
import sys
import time
from typing import NoReturn

_PR_SET_CHILD_SUBREAPER = 36
# Python ignores them, and what is ignored stays so in a program.
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)


def main() -> None:
    """Run the program that is named on the descriptor."""
    told = int(sys.argv[1])
    os.set_inheritable(told, False)
    with open(told, "rb", closefd=False) as file:
        command, env, file_bytes = marshal.load(file)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _become(command, env, file_bytes, told)
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

"""The commands as tests call them: inside this process where only their words matter, else as a process."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

Main = Callable[[Sequence[str]], int]


def run_inside(
    main: Main, arguments: Sequence[str], cwd: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Call the `main` of a command in a folder and an environment, and return what a process of it would have.

    Its standard streams are files, for its children too. An exception that it does not catch is told as Python tells
    it. What only a process has (signals, closed streams, memory, start-up) needs a process.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _working_in(cwd, environ), _printing_to(out, err):
            try:
                code = main(list(arguments))
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else int(left.code is not None)
            except Exception:
                traceback.print_exc()
                code = 1
        told = []
        for file in (out, err):
            file.seek(0)
            told.append(file.read().decode())
    return subprocess.CompletedProcess(list(arguments), code, *told)


@contextlib.contextmanager
def _working_in(folder: Path, environ: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    with contextlib.chdir(folder):
        os.environ.clear()
        os.environ.update(environ)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


@contextlib.contextmanager
def _printing_to(out: IO[bytes], err: IO[bytes]) -> Iterator[None]:
    """Let stdout and stderr, of Python and of every child, be these files."""
    streams = sys.stdout, sys.stderr
    kept = []
    for number, file, stream in ((1, out, sys.stdout), (2, err, sys.stderr)):
        stream.flush()
        kept.append(os.dup(number))
        os.dup2(file.fileno(), number)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(os.dup(n), "wb"), "utf-8", write_through=n == 2) for n in (1, 2)
    )
    try:
        yield
    finally:
        for opened in (sys.stdout, sys.stderr):
            opened.close()
        sys.stdout, sys.stderr = streams
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)


def default_signals() -> None:
    """Undo, in a child, that its parent ignores signals (jobs in the background, nohup); to be passed as preexec_fn."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)

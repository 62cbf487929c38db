"""`ctxsift` as processes that need not import LiteLLM: forked from one that has imported it, and done nothing else.

A call has streams, signals and an end of its own, and begins seconds earlier. What LiteLLM does while it is imported
needs a process of the usual kind.
"""

from __future__ import annotations

import atexit
import functools
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.remote import clean_environ

_ROOT = Path(__file__).parents[2]


def call_ctxsift(*arguments: str, cwd: Path, given: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `ctxsift` in a clean environment and `environ`, with `given` on stdin."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("in", "out", "err")]
        streams[0].write_text(given, encoding="utf-8")
        call = dict(arguments=arguments, cwd=str(cwd), environ=clean_environ(**environ), streams=[*map(str, streams)])
        parent = _parent()
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(json.dumps(call) + "\n")
        parent.stdin.flush()
        code = int(parent.stdout.readline())
        out, err = (path.read_bytes().decode("utf-8", "surrogateescape") for path in streams[1:])
    return subprocess.CompletedProcess(list(arguments), code, out, err)


@functools.cache
def _parent() -> subprocess.Popen[str]:
    """Start the process that calls are forked from; it ends with this one."""
    pipe = subprocess.PIPE
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.support.warm"], cwd=_ROOT, stdin=pipe, stdout=pipe, text=True
    )

    def end() -> None:
        parent.communicate(timeout=60)

    atexit.register(end)
    return parent


def _become(call: dict[str, Any]) -> None:
    """Be a process of `ctxsift`."""
    for number, path in enumerate(call["streams"]):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, mode, closefd=False), "utf-8", write_through=number == 2)
        for number, mode in enumerate(("rb", "wb", "wb"))
    )
    os.chdir(call["cwd"])
    os.environ.clear()
    os.environ.update(call["environ"])
    sys.argv[1:] = call["arguments"]
    runpy.run_module("ctxsift", run_name="__main__", alter_sys=True)


def _serve() -> None:
    from ctxsift.backends.litellm import _import_litellm

    _import_litellm()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    _serve()

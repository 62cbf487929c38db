"""Standard streams in every state a caller can leave them in."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

_PROGRAM = """
import os, sys
from ctxsift.streams import guard_streams, stdout_loss
guard_streams()
print("out \\u2713 \\udc80")
print("err \\u2713", file=sys.stderr)
sys.stdout.flush()
sys.stdout.buffer.write(b"bytes\\n")
opened = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
loss = stdout_loss()
os.write(opened, f"{opened} {loss.errno if loss else None}".encode())
sys.exit(7)
"""


def _run(redirection: str, tmp_path: Path, **environment: str) -> tuple[subprocess.CompletedProcess[bytes], str]:
    told = tmp_path / "told"
    command = f'"$0" -c "$1" "$2" {redirection}'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable, _PROGRAM, str(told)],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        timeout=60,
    )
    return done, told.read_text()


@pytest.mark.parametrize(
    ("redirection", "out", "err", "loss"),
    [
        ("", b"out \xe2\x9c\x93 \\udc80\nbytes\n", b"err \xe2\x9c\x93\n", "None"),
        (">&-", b"", b"err \xe2\x9c\x93\n", "None"),
        ("2>&-", b"out \xe2\x9c\x93 \\udc80\nbytes\n", b"", "None"),
        ("<&- >&- 2>&-", b"", b"", "None"),
        (">/dev/full", b"", b"err \xe2\x9c\x93\n", "28"),
        ("2>/dev/full", b"out \xe2\x9c\x93 \\udc80\nbytes\n", b"", "None"),
        ("> >(:)", b"", b"err \xe2\x9c\x93\n", "None"),
    ],
)
def test_whatever_a_stream_is_the_exit_code_stays(
    redirection: str, out: bytes, err: bytes, loss: str, tmp_path: Path
) -> None:
    done, told = _run(redirection, tmp_path, PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stdout, done.stderr) == (7, out, err)
    opened, found = told.split()
    assert int(opened) > 2, "a file must not take the number of a stream"
    assert found == loss


def test_letters_that_a_stream_does_not_have_are_escaped(tmp_path: Path) -> None:
    done, _ = _run("", tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout) == (7, b"out \\u2713 \\udc80\nbytes\n")


def test_a_stream_that_does_not_block_is_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    program = "from ctxsift.streams import guard_streams; guard_streams(); print('x' * 1_000_000)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=writing) as process:
        os.close(writing)
        time.sleep(0.5)
        with os.fdopen(reading, "rb") as stream:
            assert stream.read() == b"x" * 1_000_000 + b"\n"
        assert process.wait(30) == 0


def test_a_reader_that_leaves_in_the_middle_costs_nothing() -> None:
    program = (
        "import sys; from ctxsift.streams import guard_streams; guard_streams()\n"
        "for _ in range(99999): print('x' * 99)\n"
        "sys.exit(3)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        threading.Thread(target=process.stdout.close).start()
        assert process.stderr.read() == b""
        assert process.wait(30) == 3

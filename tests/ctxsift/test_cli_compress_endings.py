"""Ways in which `ctxsift compress` loses a stream or gets a signal: what the command printed arrives, with its code."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import psutil
import pytest

from tests.conftest import ROOT
from tests.support.depth import FUZZ
from tests.support.speaker import FAREWELL, noise

pytestmark = pytest.mark.slow

SPEAKER = str(ROOT / "tests" / "support" / "speaker.py")
COMPRESS = [sys.executable, "-m", "ctxsift", "compress", "--min-bytes", "0", "what failed?"]
INT, TERM, HUP, QUIT = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT
# Far above what any of it takes.
PATIENCE_S = 40.0
FALLBACK: dict[str, Any] = {"fail_load": "no memory"}
HANG: dict[str, Any] = {"hang_on": "first line"}


def model(folder: Path, **script: Any) -> list[str]:
    """Return the options that choose the scripted backend with this script; `asked` appears when it is asked."""
    path = folder / "script.json"
    path.write_text(json.dumps(script | {"log": str(folder / "asked")}))
    return ["--backend", "scripted", "--model", str(path)]


def until(happened: Callable[[], object]) -> None:
    """Wait for it."""
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def as_children() -> None:
    """Give a child the signals a person's shell would, whatever the runner of the tests ignores."""
    for number in (INT, TERM, HUP, QUIT):
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def started(
    command: Sequence[str], *, preexec_fn: Callable[[], None] = as_children, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in a session of its own; whatever is left of that session at the end is killed."""
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=preexec_fn, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run to the end."""
    with started(
        command, **({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options)
    ) as process:
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


# Streams. ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def stream(kind: str) -> Iterator[int | None]:
    """Give a standard stream of this kind for a child; "closed" is left to `closing`."""
    if kind == "closed":
        yield None
        return
    if kind == "full":
        writer = os.open("/dev/full", os.O_WRONLY)
        yield writer
        os.close(writer)
        return
    reader, writer = os.pipe()
    if kind == "no reader":
        os.close(reader)
    else:
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
    yield writer
    os.close(writer)
    if kind != "no reader":
        os.close(reader)


def closing(*descriptors: int) -> Callable[[], None]:
    """Return what closes these in a child before it starts."""

    def close() -> None:
        as_children()
        for descriptor in descriptors:
            os.close(descriptor)

    return close


@pytest.mark.parametrize("source", ["command", "piped"])
@pytest.mark.parametrize("stderr", ["no reader", "full", "closed", "reader stalls"])
def test_a_lost_stderr_costs_nothing(tmp_path: Path, stderr: str, source: str) -> None:
    speaker = [sys.executable, SPEAKER, str(tmp_path / "record"), "--print", "200000", "--exit", "3"]
    command = [*COMPRESS, *model(tmp_path, **FALLBACK), *(["--", *speaker] if source == "command" else [])]
    before = closing(2) if stderr == "closed" else as_children
    with (
        stream(stderr) as theirs,
        started(command, stdin=PIPE, stdout=PIPE, stderr=theirs, preexec_fn=before) as process,
    ):
        piped = b"" if source == "command" else noise(200_000)
        stdout, _ = process.communicate(piped, timeout=PATIENCE_S)
    assert sha256(stdout) == sha256(noise(200_000))
    assert process.returncode == (3 if source == "command" else 0)


@pytest.mark.parametrize("answer", ["the answer", "the original"])
@pytest.mark.parametrize("stdout", ["no reader", "full", "closed"])
def test_a_lost_stdout_leaves_the_exit_code(tmp_path: Path, stdout: str, answer: str) -> None:
    script = {"default": "It failed.\n" * 5000} if answer == "the answer" else FALLBACK
    speaker = [sys.executable, SPEAKER, str(tmp_path / "record"), "--print", "200000", "--exit", "3"]
    command = [*COMPRESS, *model(tmp_path, **script), "--max-output-tokens", "99999", "--", *speaker]
    before = closing(1) if stdout == "closed" else as_children
    with stream(stdout) as theirs, started(command, stdout=theirs, stderr=PIPE, preexec_fn=before) as process:
        _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    assert b"Traceback" not in stderr
    assert (b"not all of the output could be written (No space left on device)" in stderr) == (stdout == "full")


def test_without_any_standard_stream_the_command_runs_and_its_exit_code_is_kept(tmp_path: Path) -> None:
    look = f"import os; [os.fstat(n) for n in (0, 1, 2)]; open({str(tmp_path / 'sane')!r}, 'w').close(); os._exit(5)"
    command = [*COMPRESS, *model(tmp_path, **FALLBACK), "--", sys.executable, "-c", look]
    with started(command, preexec_fn=closing(0, 1, 2)) as process:
        assert process.wait(timeout=PATIENCE_S) == 5
    assert (tmp_path / "sane").exists()


@pytest.mark.parametrize("closed", [(2,), (0, 2)])
def test_what_is_meant_for_stderr_is_in_no_other_stream(tmp_path: Path, closed: tuple[int, ...]) -> None:
    command = [*COMPRESS, *model(tmp_path, **FALLBACK), "--", "sh", "-c", "echo out; echo err >&2"]
    done = run(command, preexec_fn=closing(*closed), stderr=None)
    assert (done.returncode, done.stdout) == (0, b"out\nerr\n")


# Signals. ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ending:
    """A way to be signalled.

    Attributes:
        then, on_signal: what the command does; see the speaker.
        signals: what is sent to us, half-second pauses between.
        code: the exit code.
        moment: when the first one is sent: the command is printing, the model answering, the original being printed.
        said: what the command says while it ends.

    """

    moment: str
    signals: tuple[signal.Signals, ...]
    code: int
    then: str = "exit"
    on_signal: str = ""
    said: bytes = b""
    piped: bool = False
    as_json: bool = False


ENDINGS = {
    # The command dies by the signal that is passed on to it.
    "int kills the command": Ending("printing", (INT,), 130, "wait"),
    "term kills the command": Ending("printing", (TERM,), 143, "wait"),
    "hup kills the command": Ending("printing", (HUP,), 129, "wait"),
    "quit kills the command": Ending("printing", (QUIT,), 131, "wait"),
    # It says something more, and has an exit code of its own.
    "int, farewell": Ending("printing", (INT,), 7, "wait", "farewell", FAREWELL),
    "term, farewell": Ending("printing", (TERM,), 7, "wait", "farewell", FAREWELL),
    "term, farewell, as JSON": Ending("printing", (TERM,), 7, "wait", "farewell", FAREWELL, as_json=True),
    # It does not care.
    "int twice": Ending("printing", (INT, INT), 137, "wait", "ignore"),
    "int, then term": Ending("printing", (INT, TERM), 137, "wait", "ignore"),
    "hup twice": Ending("printing", (HUP, HUP), 137, "wait", "ignore"),
    "term once, and patience": Ending("printing", (TERM,), 137, "wait", "ignore"),
    # It runs on without its streams.
    "term after it closed its streams": Ending("printing", (TERM,), 143, "close+wait"),
    # The model answers.
    "int while the model answers": Ending("answering", (INT,), 7),
    "term while the model answers": Ending("answering", (TERM,), 7),
    "hup while the model answers": Ending("answering", (HUP,), 7),
    "three while the model answers": Ending("answering", (INT, INT, TERM), 7),
    "int while the model answers, as JSON": Ending("answering", (INT,), 7, as_json=True),
    "int while the model answers, piped": Ending("answering", (INT,), 130, piped=True),
    "term while the model answers, piped": Ending("answering", (TERM,), 143, piped=True),
    "hup while the model answers, piped": Ending("answering", (HUP,), 129, piped=True),
    # The original is being printed.
    "four while printing": Ending("giving back", (INT, INT, TERM, HUP), 7),
    "four while printing, piped": Ending("giving back", (INT, INT, TERM, HUP), 0, piped=True),
    "four while printing, as JSON": Ending("giving back", (INT, TERM, HUP, INT), 7, as_json=True),
    # Input that is piped in and does not end.
    "usr1 kills the command": Ending("printing", (signal.SIGUSR1,), 138, "wait"),
    "int twice while it is piped in": Ending("printing", (INT, INT), 130, "wait", piped=True),
    "term while it is piped in": Ending("printing", (TERM,), 143, "wait", piped=True),
    "hup twice while it is piped in": Ending("printing", (HUP, HUP), 129, "wait", piped=True),
}
# Each signal, each moment, each way of the command and each form of output at least once, most pairs of them too; all
# under FUZZ.
IN_CI = (
    *("int kills the command", "hup kills the command", "quit kills the command", "term, farewell, as JSON"),
    *("usr1 kills the command", "int, then term", "term once, and patience", "term after it closed its streams"),
    *("int while the model answers, as JSON", "three while the model answers", "term while the model answers, piped"),
    *("four while printing, piped", "four while printing, as JSON", "hup twice while it is piped in"),
)
# More than pipes and buffers hold.
LARGE = 3_000_000


@pytest.mark.parametrize("name", ENDINGS if FUZZ else IN_CI)
def test_a_signal_loses_nothing(tmp_path: Path, name: str) -> None:
    way = ENDINGS[name]
    record = tmp_path / "record"
    size = LARGE if way.moment == "giving back" else 100_000
    code = "0" if way.piped else "7"
    speaker = [sys.executable, SPEAKER, str(record), "--print", str(size), "--then", way.then, "--exit", code]
    speaker += ["--on-signal", way.on_signal] if way.on_signal else []
    options = model(tmp_path, **(FALLBACK if way.moment == "giving back" else HANG)) + ["--json"] * way.as_json
    with contextlib.ExitStack() as stack:
        command, stdin = [*COMPRESS, *options], DEVNULL
        if way.piped:
            writer = stack.enter_context(started(speaker, stdout=PIPE))
            assert writer.stdout is not None
            stdin = writer.stdout.fileno()
        else:
            command += ["--", *speaker]
        stderr = tmp_path / "stderr"
        theirs = stack.enter_context(stderr.open("wb"))
        ours = stack.enter_context(started(command, stdin=stdin, stdout=PIPE, stderr=theirs))
        if way.moment == "printing":
            until(record.with_suffix(".ready").exists)
            # What it printed is to have been read.
            time.sleep(0.3)
        else:
            until((tmp_path / "asked").exists if way.moment == "answering" else stderr.read_bytes)
        workers = psutil.Process(ours.pid).children() if way.moment == "answering" else []
        for turn, number in enumerate(way.signals):
            # Two at once are one request.
            time.sleep(1 if turn else 0)
            ours.send_signal(number)
        stdout, _ = ours.communicate(timeout=PATIENCE_S)
    printed = record.read_bytes()
    assert printed.startswith(noise(size) + way.said)
    if way.as_json:
        shown = json.loads(stdout)
        assert shown["exit_code"] == way.code
        stdout = base64.b64decode(shown["original_base64"])
    assert (len(stdout), sha256(stdout)) == (len(printed), sha256(printed))
    assert ours.returncode == way.code
    assert b"printing the original output" in stderr.read_bytes()
    assert b"Traceback" not in stderr.read_bytes()
    assert not left_of(record)
    assert (len(workers) == 1) == (way.moment == "answering")
    assert not psutil.wait_procs(workers, timeout=PATIENCE_S)[1]


def ready(record: Path) -> None:
    """Wait until a speaker has printed all, and it is read."""
    until(record.with_suffix(".ready").exists)
    time.sleep(0.3)


def left_of(record: Path) -> list[psutil.Process]:
    """Return the speakers that still run."""
    return [p for p in psutil.process_iter(["cmdline"]) if str(record) in (p.info["cmdline"] or [])]


@pytest.mark.parametrize(("keys", "on_signal", "code", "said"), [(1, "farewell", 7, FAREWELL), (2, "ignore", 137, b"")])
def test_a_key_of_the_terminal_is_not_passed_on_again(
    tmp_path: Path, keys: int, on_signal: str, code: int, said: bytes
) -> None:
    record = tmp_path / "record"
    speaker = [sys.executable, SPEAKER, str(record), "--then", "wait", "--exit", "7", "--on-signal", on_signal]
    command = [*COMPRESS, *model(tmp_path, **HANG), "--", *speaker]
    controller, terminal = pty.openpty()

    def at_the_terminal() -> None:
        as_children()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    with started(command, stdin=terminal, stdout=PIPE, stderr=PIPE, preexec_fn=at_the_terminal) as process:
        ready(record)
        for turn in range(keys):
            time.sleep(1 if turn else 0)
            os.write(controller, b"\x03")
        stdout, _ = process.communicate(timeout=PATIENCE_S)
    os.close(controller)
    os.close(terminal)
    assert (process.returncode, stdout) == (code, noise(1000) + said)
    # The last key may kill the command before it has noted it.
    noted = record.with_suffix(".signals").read_text().split()
    assert noted in ([str(int(signal.SIGINT))] * keys, [str(int(signal.SIGINT))])


def test_a_signal_to_us_and_to_our_group_is_one_request(tmp_path: Path) -> None:
    # So does timeout(1).
    record = tmp_path / "record"
    speaker = [sys.executable, SPEAKER, str(record), "--then", "wait", "--exit", "7", "--on-signal", "farewell"]
    with started([*COMPRESS, *model(tmp_path, **HANG), "--", *speaker], stdout=PIPE, stderr=PIPE) as process:
        ready(record)
        process.send_signal(TERM)
        os.killpg(process.pid, TERM)
        stdout, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 7
    assert sha256(stdout) == sha256(record.read_bytes())
    assert stdout.endswith(FAREWELL)


def test_a_signal_reaches_the_children_of_the_command(tmp_path: Path) -> None:
    record = tmp_path / "record"
    line = f"{sys.executable} {SPEAKER} {record} --then wait; echo and more"
    with started([*COMPRESS, *model(tmp_path, **HANG), "--", "sh", "-c", line], stdout=PIPE, stderr=PIPE) as process:
        ready(record)
        process.send_signal(TERM)
        stdout, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 143
    assert stdout.startswith(noise(1000))
    assert not left_of(record)


def test_a_command_that_is_stopped_ends_too(tmp_path: Path) -> None:
    record = tmp_path / "record"
    command = [*COMPRESS, *model(tmp_path, **HANG), "--", sys.executable, SPEAKER, str(record), "--then", "wait"]
    with started(command, stdout=PIPE, stderr=PIPE) as process:
        ready(record)
        (speaker,) = left_of(record)[-1:]
        speaker.suspend()
        process.send_signal(TERM)
        stdout, _ = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout) == (143, noise(1000))


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    # As under nohup(1).
    def without_hup() -> None:
        as_children()
        signal.signal(HUP, signal.SIG_IGN)

    here = tmp_path / "here"
    line = f"echo one; touch {here}; sleep 1.5; echo two; exit 3"
    command = [*COMPRESS, *model(tmp_path, default="both."), "--", "sh", "-c", line]
    with started(command, stdout=PIPE, stderr=PIPE, preexec_fn=without_hup) as process:
        until(here.exists)
        process.send_signal(HUP)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout, stderr) == (3, b"both.\n", b"")


# Commands that end in their own ways, or never. -----------------------------------------------------------------------


def test_a_command_that_closes_its_streams_keeps_its_exit_code(tmp_path: Path) -> None:
    speaker = [sys.executable, SPEAKER, str(tmp_path / "record"), "--then", "close", "--exit", "7"]
    done = run([*COMPRESS, *model(tmp_path, **FALLBACK), "--", *speaker])
    assert (done.returncode, done.stdout) == (7, noise(1000))


def test_a_process_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    done = run([*COMPRESS, *model(tmp_path, **FALLBACK), "--", "sh", "-c", "sleep 300 & echo hi; exit 4"])
    assert (done.returncode, done.stdout) == (4, b"hi\n")
    assert b"a background process still has the output of the command open" in done.stderr


@pytest.mark.parametrize("piped", [False, True])
def test_output_without_end_flows_in_bounded_memory(tmp_path: Path, piped: bool) -> None:
    speaker = [sys.executable, SPEAKER, os.devnull, "--then", "flood"]
    with contextlib.ExitStack() as stack:
        command, stdin = [*COMPRESS, *model(tmp_path, default="never asked")], DEVNULL
        if piped:
            writer = stack.enter_context(started(speaker, stdout=PIPE))
            assert writer.stdout is not None
            stdin = writer.stdout.fileno()
        else:
            command += ["--", *speaker]
        ours = stack.enter_context(started(command, stdin=stdin, stdout=PIPE, stderr=PIPE))
        assert ours.stdout is not None
        assert ours.stderr is not None
        got = ours.stdout.read(100_000_000)
        assert psutil.Process(ours.pid).memory_info().rss < 300_000_000
        ours.stdout.close()
        # As without us: whoever writes to a pipe that nobody reads is ended by it.
        assert ours.wait(timeout=PATIENCE_S) == (0 if piped else 1)
        stderr = ours.stderr.read()
    assert got[:1000] == noise(1000)
    assert got[1000:] == (noise(65536) * 1526)[: len(got) - 1000]
    assert b"the output is longer than 64 MB; printing the original output" in stderr


@pytest.mark.parametrize(
    ("name", "code"),
    [("no-such-command", 127), ("./no-such-file", 127), ("./data", 126), ("./folder", 126), ("./data/below", 126)],
)
def test_what_cannot_be_run(tmp_path: Path, name: str, code: int) -> None:
    (tmp_path / "data").write_text("no program")
    (tmp_path / "folder").mkdir()
    done = run([*COMPRESS, *model(tmp_path, default="x"), "--", name], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, b"")
    assert b"ctxsift: " + name.encode() + b": cannot be run (" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_script_without_a_shebang_line_is_run_as_a_shell_would(tmp_path: Path) -> None:
    (tmp_path / "script").write_text('echo "$1"; exit 9\n')
    (tmp_path / "script").chmod(0o755)
    done = run([*COMPRESS, *model(tmp_path, **FALLBACK), "--", str(tmp_path / "script"), "an argument"])
    assert (done.returncode, done.stdout) == (9, b"an argument\n")


def test_arguments_that_are_no_utf8(tmp_path: Path) -> None:
    command = [*COMPRESS, *model(tmp_path, **FALLBACK), "--env-file", "\udcff", "--", "printf", "%s", "\udcfe\udcff"]
    (tmp_path / "\udcff").touch()
    done = run(command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"\xfe\xff")


# Usage errors. --------------------------------------------------------------------------------------------------------

WRONG = [
    [],
    ["x", "--intent", "sumary"],
    ["x", "--no-such-option"],
    ["x", "--backend", "no-such-backend"],
    ["x", "--env-file", "/no/such/file"],
]


@pytest.mark.parametrize("arguments", WRONG)
def test_a_usage_error_lets_piped_data_through(arguments: list[str]) -> None:
    data = noise(300_000)
    with started([*COMPRESS[:4], *arguments], stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        stdout, stderr = process.communicate(data, timeout=PATIENCE_S)
    assert (process.returncode, sha256(stdout)) == (2, sha256(data))
    assert stderr.startswith(b"ctxsift: ")
    assert stderr.count(b"\n") == 1


@pytest.mark.parametrize("arguments", [WRONG[1], WRONG[3]])
def test_a_usage_error_is_found_before_the_command_runs(tmp_path: Path, arguments: list[str]) -> None:
    done = run([*COMPRESS[:4], *arguments, "--", "touch", str(tmp_path / "ran")])
    assert (done.returncode, done.stdout) == (2, b"")
    assert not (tmp_path / "ran").exists()


# Standard input, and JSON. --------------------------------------------------------------------------------------------


def test_standard_input_that_is_closed_is_empty(tmp_path: Path) -> None:
    done = run([*COMPRESS, *model(tmp_path, **FALLBACK)], stdin=None, preexec_fn=closing(0))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_standard_input_that_cannot_be_read(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        done = run([*COMPRESS, *model(tmp_path, **FALLBACK)], stdin=file)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input cannot be read (Bad file descriptor)" in done.stderr


def test_standard_input_that_does_not_block(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with started([*COMPRESS, *model(tmp_path, **FALLBACK)], stdin=reader, stdout=PIPE, stderr=PIPE) as process:
        os.write(writer, b"one\n")
        time.sleep(1)
        os.write(writer, b"two\n")
        os.close(writer)
        stdout, _ = process.communicate(timeout=PATIENCE_S)
    os.close(reader)
    assert (process.returncode, stdout) == (0, b"one\ntwo\n")


@pytest.mark.parametrize(
    "data",
    [b"caf\xe9 \x00 and more\n", b"cut in a letter \xc3", noise(100_000)],
    ids=["another encoding", "cut", "no text"],
)
def test_json_gives_back_bytes_that_are_no_utf8(tmp_path: Path, data: bytes) -> None:
    with started([*COMPRESS, "--json", *model(tmp_path, **FALLBACK)], stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        stdout, _ = process.communicate(data, timeout=PATIENCE_S)
    shown = json.loads(stdout)
    assert base64.b64decode(shown["original_base64"]) == data
    assert shown["answer"] == data.decode("utf-8", errors="replace")
    assert shown["fallback"] == "no memory"


def test_json_of_text_holds_it_once(tmp_path: Path) -> None:
    data = "NUL \x00, \u00e9, \U0001f600\n".encode()
    with started([*COMPRESS, "--json", *model(tmp_path, **FALLBACK)], stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        stdout, _ = process.communicate(data, timeout=PATIENCE_S)
    shown = json.loads(stdout)
    assert (shown["answer"].encode(), shown["original_base64"]) == (data, None)


def test_json_of_more_than_memory_should_hold(tmp_path: Path) -> None:
    line = "head -c 70000000 /dev/zero; exit 6"
    done = run([*COMPRESS, "--json", *model(tmp_path, default="never asked"), "--", "sh", "-c", line])
    shown = json.loads(done.stdout)
    assert base64.b64decode(shown["original_base64"]) == bytes(70_000_000)
    assert (shown["answer"], shown["exit_code"], done.returncode) == ("", 6, 6)

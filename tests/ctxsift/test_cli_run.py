"""`ctxsift run` in front of an agent: the exit code, the signals and the bytes are those of the command alone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.depth import depth
from tests.support.processes import default_signals

pytestmark = pytest.mark.slow

RUN = [sys.executable, "-m", "ctxsift", "run"]
LAST = re.compile(
    rb"\n\[ctxsift: ([\d,]+) of ([\d,]+) lines, exit (\d+), extractor; all: (\S+) or: ctxsift raw (\w+)\]\n\Z"
)
LONG = "for n in range(900): print(f'[{n:03}] copied asset {n * 37 % 991} to the folder of the release')"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CTXSIFT", raising=False)
    return tmp_path / "state" / "ctxsift" / "raw"


def bare(*command: str | bytes, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=data, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False
    )


def call(*arguments: str | bytes, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*RUN, *arguments], input=data, capture_output=True, timeout=60, check=False)


def python(line: str) -> list[str]:
    return [sys.executable, "-c", line]


ENDINGS = {
    **{f"exit {code}": f"import sys; sys.exit({code})" for code in (0, 1, 2, 42, 126, 127)},
    **{
        number.name: f"import os, signal; signal.signal({number}, signal.SIG_DFL); os.kill(os.getpid(), {number})"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP)
    },
    "SIGKILL": "import os; os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("long", [True, False])
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_exit_code_is_what_a_shell_tells_of_the_command(ending: str, long: bool) -> None:
    line = f"{LONG if long else 'print(1)'}\nimport sys; sys.stdout.flush()\n{ENDINGS[ending]}"
    shell = subprocess.run(
        ["bash", "-c", f"{shlex.join(python(line))} > /dev/null; echo $?"], capture_output=True, timeout=60, check=False
    )
    done = call("--", *python(line))
    assert done.returncode == int(shell.stdout)
    told = [int(each[2]) for each in LAST.findall(done.stdout)]
    assert told == ([done.returncode] if long else [])


def test_what_cannot_be_run_is_told(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no program")
    assert call("--", str(tmp_path / "plain")).returncode == 126
    done = call("--", "no-such-command-here")
    assert (done.returncode, done.stdout) == (127, b"")
    assert b"cannot be run" in done.stderr


def test_a_long_output_is_shortened_and_kept() -> None:
    line = f"{LONG}\nimport sys\nprint('src/app.py:7: error: no total', file=sys.stderr)\nsys.exit(2)"
    done, whole = call("--", *python(line)), bare(*python(line))
    found = LAST.search(done.stdout)
    assert found is not None
    assert (done.returncode, done.stderr, found[2], found[3]) == (2, b"", b"901", b"2")
    assert b"\nsrc/app.py:7: error: no total\n" in done.stdout
    assert len(done.stdout) <= 8000
    path = Path(found[4].decode())
    assert sorted(path.read_bytes().split(b"\n")) == sorted(whole.stdout.split(b"\n"))
    assert path.name[:12] == hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    again = subprocess.run([*RUN[:-1], "raw", found[5]], capture_output=True, timeout=60, check=False)
    assert again.stdout == path.read_bytes()


@pytest.mark.parametrize(
    "data", [b"x" * 4095, bytes(range(256)) * 8, b"no end of line", b"\r\n\r\n", b""], ids=range(5)
)
def test_short_output_passes_byte_for_byte_and_nothing_is_written(data: bytes, state: Path) -> None:
    done = call("--", "cat", data=data)
    assert (done.returncode, done.stdout, done.stderr) == (0, data, b"")
    assert not state.parent.parent.exists()


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 400,
        b"caf\xe9 closed\n" * 4000,
        b"\n".join(b"%d " % n + b"x" * 499 for n in range(9)),
    ],
    ids=["bytes", "not UTF-8", "nothing saved"],
)
def test_what_cannot_be_shortened_passes_byte_for_byte(data: bytes, state: Path) -> None:
    done = call("--", "sh", "-c", "cat; exit 1", data=data)
    assert (done.returncode, done.stdout, done.stderr) == (1, data, b"")
    assert not state.exists()


def test_more_than_64_mb_pass_as_they_come(state: Path) -> None:
    command = ["sh", "-c", "yes 'error: all is lost' | head -c 64000100"]
    with subprocess.Popen([*RUN, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        digest = hashlib.file_digest(process.stdout, "sha256").hexdigest()  # type: ignore[arg-type]
    assert digest == hashlib.sha256((b"error: all is lost\n" * 3_500_000)[:64_000_100]).hexdigest()
    assert not state.exists()


@pytest.mark.parametrize("how", [("--raw",), ("--no-store",), ("--min-bytes", "1000000"), "CTXSIFT=0"])
def test_who_wants_all_gets_all(how: tuple[str, ...] | str, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(how, str):
        monkeypatch.setenv(*how.split("="))
    done = call(*(() if isinstance(how, str) else how), "--", *python(LONG))
    assert (done.stdout, done.stderr, state.exists()) == (bare(*python(LONG)).stdout, b"", False)


def test_a_smaller_bound_is_kept() -> None:
    done = call("--max-bytes", "1500", "--", *python(LONG))
    assert LAST.search(done.stdout)
    assert len(done.stdout) <= 1500


def test_the_question_picks_lines() -> None:
    done = call("-q", "asset 777", "--", *python(LONG))
    assert b"copied asset 777 to" in done.stdout


@pytest.mark.parametrize("line", ["cat", "sed -n 1,5000p", "grep -n copied"])
def test_a_kept_file_is_read_whole(line: str) -> None:
    found = LAST.search(call("--", *python(LONG)).stdout)
    assert found is not None
    path = found[4].decode()
    for command in ([*line.split(), path], ["sh", "-c", f"{line} {path}"]):
        assert call("--", *command).stdout == bare(*command).stdout
    for raw in ([*RUN[:-1], "raw", found[5].decode()], [*RUN, "--", *python(LONG)]):
        assert call("--", *raw).stdout == bare(*raw).stdout


def test_where_nothing_can_be_kept_the_original_comes(state: Path) -> None:
    state.parent.parent.mkdir()
    state.parent.write_text("a file where the folder should be")
    done = call("--", *python(f"{LONG}\nimport sys; sys.exit(3)"))
    assert (done.returncode, done.stdout) == (3, bare(*python(LONG)).stdout)
    assert done.stderr.count(b"\n") == 1
    assert b"the full output cannot be stored (Not a directory; ctxsift doctor says where)" in done.stderr


def test_what_was_not_printed_is_kept(state: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*RUN, "--", *python(LONG)], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)
    (path,) = state.iterdir()
    assert path.read_bytes() == bare(*python(LONG)).stdout


def test_a_line_is_run_by_the_shell_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    done = call("-c", 'printf \'%s|\' "$0" "${BASH_VERSION:0:1}"; false | true; exit 42', data=b"")
    assert (done.returncode, done.stdout) == (
        42,
        f"/bin/bash|{bare('bash', '-c', 'echo -n ${BASH_VERSION:0:1}').stdout.decode()}|".encode(),
    )
    monkeypatch.delenv("SHELL")
    assert call("-c", 'echo "$0"').stdout == b"/bin/sh\n"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("pytest", "run -- pytest"),
        ("pytest -v", "run -- pytest -v"),
        # Options of the command that are ours, too, or look like it.
        ("--max-bytes 99 make -c x --raw -q", "run --max-bytes 99 -- make -c x --raw -q"),
        ("-q 'which failed?' pytest -- -k cart", "run -q 'which failed?' -- pytest -- -k cart"),
    ],
)
def test_a_command_without_dashes_is_told_where_it_goes(arguments: str, meant: str) -> None:
    done = call(*shlex.split(arguments))
    said = f"ctxsift: run: put the command after `--`; try: ctxsift {meant}\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", said)


@pytest.mark.parametrize(
    "arguments", [(), ("-c", "touch ran", "--", "touch", "ran"), ("--frob", "--", "touch", "ran"), ("touch", "ran")]
)
def test_bad_usage_runs_nothing(arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    done = call(*arguments, data=b"piped")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert not (tmp_path / "ran").exists()


_ARGUMENT = st.binary(max_size=30).map(lambda each: each.replace(b"\x00", b"")) | st.sampled_from(
    [b"", b"a b", b"$HOME", b"'", b'"', b"\n", b"\\", b"`id`", b"--", b"-c", b"*", b"\xff\xfe", "日本".encode()]
)


@given(st.lists(_ARGUMENT, max_size=12))
@settings(max_examples=depth(12, 400), deadline=None)
def test_arguments_arrive_as_they_were_given(arguments: list[bytes]) -> None:
    line = "import os, sys; print(*(os.fsencode(each).hex() for each in sys.argv[1:]), sep=',')"
    assert call("--", *python(line), *arguments).stdout.decode() == ",".join(each.hex() for each in arguments) + "\n"
    quoted = b" ".join(b"'" + each.replace(b"'", b"'\\''") + b"'" for each in arguments)
    shell = os.fsencode(shlex.join(python(line))) + b" " + quoted
    assert call("-c", shell).stdout.decode() == ",".join(each.hex() for each in arguments) + "\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_command_and_what_it_said_is_printed(number: signal.Signals) -> None:
    line = f"import signal, sys, time\nsignal.signal({number}, lambda *_: (print('ended', flush=True), sys.exit(9)))\n"
    line += f"{LONG}\nprint('ready', flush=True)\nopen(sys.argv[1], 'w').close()\ntime.sleep(60)"
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder, "ready")
        process = subprocess.Popen(
            [*RUN, "--", *python(line), str(ready)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=default_signals,
        )
        with contextlib.ExitStack() as ending:
            ending.callback(process.kill)
            until = time.monotonic() + 40
            while not ready.exists() and time.monotonic() < until:
                time.sleep(0.02)
            process.send_signal(number)
            stdout, _ = process.communicate(timeout=40)
    assert process.returncode == 9
    assert stdout == bare(*python(LONG)).stdout + b"ready\nended\n"


@pytest.mark.parametrize("error", ["MemoryError", "RecursionError('deep')", "ValueError('x')"])
def test_a_fault_of_ours_costs_no_output(error: str) -> None:
    code = f"""
import sys
from ctxsift import shortening
from ctxsift.cli.main import main

def broken(*arguments, **options):
    raise {error}

shortening.extract = broken
sys.exit(main(["run", "--", *{python(LONG + chr(10) + "raise SystemExit(7)")!r}]))
"""
    done = bare(sys.executable, "-c", code)
    lines = done.stdout.split(b"\n")
    assert (done.returncode, len(lines)) == (7, 900 + 1 + 1)
    assert sum(b"printing the original output" in line for line in lines) == 1


@pytest.mark.parametrize("most", ["0", "100"])
def test_a_bound_without_room_leaves_the_output_as_it_is(most: str) -> None:
    assert call("--max-bytes", most, "--", *python(LONG)).stdout == bare(*python(LONG)).stdout


@pytest.mark.parametrize("long", [True, False])
def test_nothing_heavy_is_imported(long: bool) -> None:
    arguments = ["run", "--", *python(LONG if long else "print(1)")]
    code = f"import sys; from ctxsift.cli.main import main; main({arguments!r}); print(*sys.modules, file=sys.stderr)"
    done = bare(sys.executable, "-c", code)
    loaded = {name.partition(".")[0] for name in done.stdout.decode().split("\n")[-2].split()}
    ours = {name for name in done.stdout.decode().split("\n")[-2].split() if name.startswith("ctxsift.")}
    assert "subprocess" in loaded
    assert not {name for name in loaded - set(sys.stdlib_module_names) if not name.startswith("_")} - {"ctxsift"}
    assert not {name for name in ours if name.startswith(("ctxsift.backends", "ctxsift.models", "ctxsift.prompts"))}
    assert ("ctxsift.raw_store" in ours) == ("ctxsift.shortening" in ours) == long

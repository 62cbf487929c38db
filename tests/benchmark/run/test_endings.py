"""How a run ends: by signals, by streams that fail. What was answered becomes a result, and the exit code is right."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Run, scripted, write_matrix
from tests.support.processes import default_signals
from tests.support.runs import (
    PATIENCE_S,
    SMALL,
    answered,
    complete,
    cut_after,
    ended,
    files_of,
    first_words,
    held,
    result_of,
    start,
    wait_for,
)

pytestmark = pytest.mark.slow

CASES = 4
V2 = ROOT / "tests" / "data" / "results" / "v2"


# Signals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_the_last_answer_costs_nothing(tmp_path: Path, how: signal.Signals) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"), scripted(tmp_path, "next", default="x"))
    process = start(tmp_path, *SMALL, "--max-cases", str(CASES))
    with held(process, tmp_path, "scripted.json"):
        wait_for(lambda: answered(tmp_path) >= CASES, process)
        # The model's process is let go; what is left is to write the result down.
        time.sleep(0.3)
        process.send_signal(how)
        first_words(process, "stopping: ")
    code, stderr = ended(process)
    assert code == 130
    assert "Traceback" not in stderr
    (path,) = tmp_path.glob("results/*/scripted.json")
    record = json.loads(path.read_text())
    assert record["run"]["complete"]
    assert len(record["cases"]) == CASES
    assert (path.parent / "scripted.md").exists()
    assert len(list(tmp_path.glob("results/report-*.md"))) == len(list(tmp_path.glob("results/cases-*.csv"))) == 1
    assert f"interrupted; all {CASES} answers that were asked for are in results; there is nothing to resume" in stderr
    assert "not started: next; there is nothing to resume; run them again" in stderr
    assert "--resume" not in stderr


def test_a_signal_amid_many_runs_names_those_that_wait(tmp_path: Path, runner: Run) -> None:
    names = ("one", "two")
    write_matrix(tmp_path, *(scripted(tmp_path, name, default="x") for name in names))
    assert runner(*SMALL, "--max-cases", "10").returncode == 0
    cut_after(tmp_path, 3)
    for name in names:
        scripted(tmp_path, name, default="x", delay_ms=100)
    process = start(tmp_path, *SMALL, "--resume", "results")
    wait_for(lambda: begun(tmp_path, "one") > 4, process)
    code, stderr = ended(process, by=signal.SIGINT)
    assert code == 130
    told = re.search(r"interrupted; (\d+) of 10 answers are in results; to resume: (.+)", stderr)
    assert told, stderr
    # All that is in the journal is in the result, too.
    assert int(told[1]) == begun(tmp_path, "one") < 10
    assert "not resumed: two; rerun the same command to resume" in stderr
    for name in names:
        scripted(tmp_path, name, default="x")
    done = runner(*shlex.split(told[2])[3:])
    assert done.returncode == 0, done.stderr
    assert {begun(tmp_path, name) for name in names} == {10}


def begun(folder: Path, name: str) -> int:
    return sum(path.read_bytes().count(b'"generation"') for path in folder.glob(f"results/{name}-*/*.journal.jsonl"))


def test_a_model_that_loads_for_ever_is_interrupted(tmp_path: Path) -> None:
    row = scripted(tmp_path, default="x")
    os.mkfifo(tmp_path / "endless")
    write_matrix(tmp_path, row | {"model": str(tmp_path / "endless")})
    process = start(tmp_path, *SMALL, "--max-cases", "3")
    first_words(process, "scripted: loading")
    code, stderr = ended(process, by=signal.SIGTERM)
    assert code == 130
    assert "interrupted; 0 of 3 answers are in " in stderr
    assert result_of(tmp_path)["run"]["error"] == "interrupted"


def test_a_second_signal_leaves_at_once(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=100))
    process = start(tmp_path, *SMALL, "--max-cases", "6")
    with held(process, tmp_path, "scripted.json"):
        wait_for(lambda: answered(tmp_path) >= 1, process)
        process.send_signal(signal.SIGINT)
        first_words(process, "stopping: what was answered is kept; press again to leave at once")
        # What comes at once is no second thought: timeout(1) sends its signal twice.
        time.sleep(0.6)
        assert ended(process, by=signal.SIGTERM) == (130, "")
    assert not list(tmp_path.glob("results/*/*.json"))


def test_a_terminal_that_goes_away_twice_is_one_request(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=100))
    process = start(tmp_path, *SMALL, "--max-cases", "6")
    with held(process, tmp_path, "scripted.json"):
        wait_for(lambda: answered(tmp_path) >= 1, process)
        process.send_signal(signal.SIGHUP)
        first_words(process, "stopping: ")
        time.sleep(0.6)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
    code, stderr = ended(process)
    assert code == 130
    assert "to resume: " in stderr
    assert result_of(tmp_path)["run"]["error"] == "interrupted"


def test_who_ignores_hangups_is_not_disturbed_by_one(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=50))
    command = ["nohup", sys.executable, "-m", "benchmark.runner", *SMALL, "--max-cases", "6"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
    wait_for(lambda: answered(tmp_path) >= 2, process)
    code, stderr = ended(process, by=signal.SIGHUP)
    assert code == 0, stderr
    assert complete(tmp_path)


# Streams ----------------------------------------------------------------------------------------------------------

# What a shell does with the streams of a command.
REDIRECTED = {
    "both gone": "2>&1 | true",
    "read for a line": "2>&1 | head -1",
    "stdout full": ">/dev/full",
    "stderr full": "2>/dev/full",
    "stderr closed": "2>&-",
    "all closed": "<&- >&- 2>&-",
}


def in_shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a pipeline and return the exit code of its first command."""
    python = shlex.quote(sys.executable)
    script = f"{python} -m {command}\nexit ${{PIPESTATUS[0]}}"
    return subprocess.run(
        ["bash", "-c", script], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


@pytest.mark.parametrize("how", REDIRECTED)
def test_streams_that_fail_cost_no_result(tmp_path: Path, how: str) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=20))
    options = shlex.join([*SMALL, "--max-cases", "4", "--show-output"])
    done = in_shell(f"benchmark.runner {options} {REDIRECTED[how]}", tmp_path)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert complete(tmp_path)


def test_every_run_is_resumed_whoever_reads_along(tmp_path: Path, runner: Run) -> None:
    names = ["one", "two"]
    write_matrix(tmp_path, *(scripted(tmp_path, name, fail_load="not today") for name in names))
    assert runner(*SMALL, "--max-cases", "3").returncode == 1
    again = f"benchmark.runner {shlex.join(SMALL)} --resume results | true"
    # An incomplete run stays incomplete.
    assert in_shell(again, tmp_path).returncode == 1
    for name in names:
        scripted(tmp_path, name, default="x")
    done = in_shell(again, tmp_path)
    assert done.returncode == 0, done.stderr
    records = [json.loads(path.read_text()) for path in tmp_path.glob("results/*/*.json")]
    assert [record["run"]["complete"] for record in records] == [True] * 2


@pytest.mark.parametrize("ignored", [True, False])
def test_a_terminal_that_goes_away_costs_no_result(tmp_path: Path, *, ignored: bool) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=50))
    primary, replica = pty.openpty()

    def begin() -> None:
        os.setsid()
        fcntl.ioctl(0, 0x540E, 0)  # TIOCSCTTY
        default_signals()
        signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)

    process = subprocess.Popen(
        [sys.executable, "-m", "benchmark.runner", *SMALL, "--max-cases", "10"],
        cwd=tmp_path,
        stdin=replica,
        stdout=replica,
        stderr=replica,
        text=True,
        preexec_fn=begin,
    )
    os.close(replica)
    shown = read_until(lambda: answered(tmp_path) >= 3, primary, process)
    os.close(primary)
    try:
        code = process.wait(PATIENCE_S)
    finally:
        process.kill()
    assert code == (0 if ignored else 130), shown
    assert files_of(tmp_path) >= {"scripted.json", "scripted.md", "report.md", "cases.csv"}
    record = result_of(tmp_path)
    assert len(record["cases"]) == answered(tmp_path)
    assert record["run"]["complete"] == ignored


def read_until(condition: Callable[[], bool], terminal: int, process: subprocess.Popen[str]) -> bytes:
    """Return what a process shows on a terminal until something holds; kill it and fail where it never does."""
    shown, deadline = b"", time.monotonic() + PATIENCE_S
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"it ended, or did nothing for {PATIENCE_S} s; it showed: {shown!r}")
        if select.select([terminal], [], [], 0.05)[0]:
            # EIO: the other end is closed.
            with contextlib.suppress(OSError):
                shown += os.read(terminal, 1000)
    return shown


COMMANDS = {
    "report": "benchmark.report {0}",
    "compare": "benchmark.compare {0} --markdown",
    "export": "benchmark.corpus export",
    "show": "benchmark.corpus show java-root-cause-exact",
    "scenarios": "benchmark.runner --list-scenarios --matrix {1}",
    "help": "benchmark.report --help",
    "schema": "benchmark.record",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_printed_is_a_failure_unless_nobody_wants_it(tmp_path: Path, command: str) -> None:
    words = COMMANDS[command].format(V2, ROOT / "matrix.json")
    done = in_shell(f"{words} >/dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"error: stdout could not be written to ({os.strerror(errno.ENOSPC)})"
    assert "Traceback" not in done.stderr
    done = in_shell(f"{words} | true", tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize("how", ["| true", ">/dev/full", ">&-", "2>/dev/full"])
def test_a_gate_says_the_same_whoever_reads_along(tmp_path: Path, how: str) -> None:
    files = sorted(V2.rglob("model-0*.json*"))
    scores = {path: _score(path) for path in files}
    best, worst = (shlex.quote(str(choose(scores, key=scores.__getitem__))) for choose in (max, min))
    assert in_shell(f"benchmark.compare {best} {worst} --fail-on-drop 1 {how}", tmp_path).returncode == 1


def _score(path: Path) -> float:
    content = path.read_bytes()
    record: dict[str, Any] = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    return float(record["summary"]["final_score"])


# Names and permissions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "shown"),
    [
        ({"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}, rb"Ergebnisse-\xe4-\u65e5/"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, rb"Ergebnisse-\udcc3\udca4-\udce6"),
    ],
)
def test_names_that_a_terminal_has_no_letters_for(tmp_path: Path, environ: dict[str, str], shown: bytes) -> None:
    folder = tmp_path / "Ergebnisse-ä-日"
    folder.mkdir()
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    done = subprocess.run(
        [sys.executable, "-m", "benchmark.runner", *SMALL, "--max-cases", "1", "--output-dir", str(folder / "results")],
        cwd=tmp_path,
        env=os.environ | environ,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert shown in done.stdout
    assert complete(folder)


def test_files_are_as_private_as_they_are_wanted(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    command = [sys.executable, "-m", "benchmark.runner", *SMALL, "--max-cases", "1"]
    subprocess.run(command, cwd=tmp_path, umask=0o077, check=True, capture_output=True, timeout=PATIENCE_S)
    files = list(tmp_path.glob("results/*/*"))
    assert len(files) == 5
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {path.parent.stat().st_mode & 0o777 for path in files} == {0o700}

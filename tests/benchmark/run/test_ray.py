"""Workers of a real Ray cluster: answers as without one, whatever dies meanwhile."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmark.record.journal import AnswerLine, LoadedLine, read_journal
from tests.conftest import Run, scripted, write_matrix
from tests.support.depth import depth
from tests.support.runs import SMALL, answered, ended, first_words, journal_of, result_of, start, timeless, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]
pytest.importorskip("ray")

CASES = 12
WORKER = "ray::RayWorker"
KILLS, DRIVER_KILLS = depth(2, 10), depth(1, 5)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of one node with two cores, as Ray counts them."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield made
    made.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a matrix of one row, whose answers take a while and depend on the case."""
    answers = [[word, f"The {word} failed in src/app.py:3."] for word in ("error", "test", "file", "line")]
    write_matrix(tmp_path, scripted(tmp_path, answers=answers, default="Nothing failed.", delay_ms=150))
    return tmp_path


@pytest.fixture
def expected(tmp_path: Path, work: Path, runner_in: Run) -> dict[str, Any]:
    """What a run without Ray comes to."""
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "matrix.json").write_bytes((work / "matrix.json").read_bytes())
    assert runner_in(folder, *SMALL).returncode == 0
    return result_of(folder)


def asks(cluster: Any, *more: str) -> tuple[str, ...]:
    return (*SMALL, "--ray", cluster.address, "--workers", "2", *more)


def workers() -> list[psutil.Process]:
    """Return the processes of workers that hold a model."""
    return [each for each in psutil.process_iter(["cmdline"]) if WORKER in " ".join(each.info["cmdline"] or [])]


def answers_of(folder: Path) -> list[AnswerLine]:
    journal = journal_of(folder)
    assert journal
    return [line for line in read_journal(journal) if isinstance(line, AnswerLine)]


def nodes_of(folder: Path) -> set[str]:
    return {line.node for line in answers_of(folder)}


def test_two_workers_come_to_what_one_process_does(work: Path, cluster: Any, expected: dict[str, Any]) -> None:
    code, said = ended(start(work, *asks(cluster)))
    assert code == 0, said
    assert timeless(result_of(work)) == timeless(expected)
    lines = answers_of(work)
    assert Counter(line.case_id for line in lines).most_common(1)[0][1] == 1
    nodes = {line.node for line in lines}
    assert len(nodes) == 2
    journal = journal_of(work)
    assert journal
    loaded = {line.node: line for line in read_journal(journal) if isinstance(line, LoadedLine) and line.node}
    assert loaded.keys() == nodes
    assert all(line.hardware is not None and line.hardware.cpu for line in loaded.values())
    # Cases on one capture go to one worker, which reads it once.
    captures: dict[str, set[str]] = {}
    by_case = {case["case_id"]: case["capture"] for case in result_of(work)["cases"]}
    for line in lines:
        captures.setdefault(by_case[line.case_id], set()).add(line.node)
    assert all(len(places) == 1 for places in captures.values())


def test_killed_workers_cost_no_answer(work: Path, cluster: Any, expected: dict[str, Any]) -> None:
    rng = random.Random(5)
    process = start(work, *asks(cluster))
    wait_for(lambda: answered(work) >= 1, process)
    for _ in range(KILLS):
        wanted = answered(work) + rng.randrange(3)
        wait_for(lambda wanted=wanted: answered(work) >= min(wanted, CASES - 1), process)  # type: ignore[misc]
        if alive := workers():
            rng.choice(alive).send_signal(signal.SIGKILL)
    code, said = ended(process)
    assert code == 0, said
    assert timeless(result_of(work))["summary"] == timeless(expected)["summary"]
    effective = Counter(line.case_id for line in answers_of(work))
    assert len(effective) == CASES
    assert set(effective.values()) == {1}


def test_a_killed_driver_is_resumed(work: Path, cluster: Any, expected: dict[str, Any]) -> None:
    rng = random.Random(6)
    for _ in range(DRIVER_KILLS):
        process = start(work, *(asks(cluster) if journal_of(work) is None else resumes(cluster)))
        wanted = min(answered(work) + 1 + rng.randrange(3), CASES - 1)
        wait_for(lambda wanted=wanted: answered(work) >= wanted, process)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        process.communicate()
    code, said = ended(start(work, *resumes(cluster)))
    assert code == 0, said
    assert timeless(result_of(work)) == timeless(expected)
    assert set(Counter(line.case_id for line in answers_of(work)).values()) == {1}


def resumes(cluster: Any) -> tuple[str, ...]:
    return ("--resume", "results", *SMALL, "--ray", cluster.address, "--workers", "2")


def test_a_node_that_dies_is_done_without_and_one_that_joins_is_used(
    tmp_path: Path, cluster: Any, expected: dict[str, Any]
) -> None:
    # The head keeps a core for the driver, so that it has room for one worker.
    extra = cluster.add_node(num_cpus=1, include_dashboard=False)
    process = start(tmp_path, *SMALL, "--ray", cluster.address)
    wait_for(lambda: answered(tmp_path) > 0 and len(nodes_of(tmp_path)) == 2, process)
    cluster.remove_node(extra, allow_graceful=False)
    before = answered(tmp_path)
    wait_for(lambda: answered(tmp_path) >= before + 2, process)
    joined = cluster.add_node(num_cpus=1, include_dashboard=False)
    try:
        code, said = ended(process)
        assert code == 0, said
        assert len(nodes_of(tmp_path)) >= 2
        assert timeless(result_of(tmp_path))["summary"] == timeless(expected)["summary"]
    finally:
        cluster.remove_node(joined, allow_graceful=False)


def test_whoever_waits_for_room_is_told_what_is_free(work: Path, cluster: Any) -> None:
    process = start(work, *SMALL, "--ray", cluster.address, "--worker-cpus", "64")
    first_words(process, "scripted: no worker has been ready for 30 s: each needs 64 CPU on one node, free are 2 CPU")
    code, said = ended(process, by=signal.SIGINT)
    assert code == 130, said


def test_without_ray_it_says_what_to_install(work: Path) -> None:
    script = "import sys; sys.modules['ray'] = None; from benchmark.runner import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", script, *SMALL, "--ray"], cwd=work, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    hint = "workers on several machines need: pip install 'ctxsift-bench[ray]'"
    assert f"--ray: needs Ray, which is not installed; {hint}" in done.stderr


def test_nothing_is_imported_of_it_without_the_option(work: Path) -> None:
    script = (
        "import sys; from benchmark.runner import main; code = main(sys.argv[1:]); "
        "print([name for name in sys.modules if name.split('.')[0] == 'ray']); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *SMALL, "--max-cases", "1"], cwd=work, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_options_that_need_it_say_so(work: Path, runner_in: Run) -> None:
    for option in ("--workers", "--worker-cpus"):
        done = runner_in(work, *SMALL, option, "2")
        assert done.returncode == 2
        assert f"{option}: needs --ray" in done.stderr
    unreachable = runner_in(work, *SMALL, "--ray", "127.0.0.1:1")
    assert unreachable.returncode == 2
    assert "--ray 127.0.0.1:1: cannot be reached" in unreachable.stderr
    assert json.dumps(unreachable.stderr).count("\\n") == 1

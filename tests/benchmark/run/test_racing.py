"""A race finds the best of a full run, asks less, and goes on where it was killed."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.record.read import find_results
from benchmark.render.notes import notes
from benchmark.runner import main as runner_main
from tests.conftest import Run, scripted, write_matrix
from tests.support.depth import depth
from tests.support.processes import run_inside
from tests.support.runs import ended, start, wait_for

pytestmark = pytest.mark.slow

CASES, KILLS = 64, depth(2, 10)


def answers(corpus: Corpus, share: float, seed: int) -> list[list[str]]:
    """Return a script that has this share of the cases right, the same cases for better and worse scripts."""
    rng = random.Random(seed)
    luck = {case.case_id: rng.random() for case in corpus.cases}
    return [[case.instruction.strip(), case.expected_output] for case in corpus.cases if luck[case.case_id] < share]


@pytest.fixture
def work(tmp_path: Path, corpus: Corpus) -> Path:
    """A folder with a matrix of five rows, of which two are far better than the others."""
    shares = {"best": 0.95, "second": 0.8, "third": 0.15, "fourth": 0.1, "none": 0.0}
    rows = [
        scripted(tmp_path, name, answers=answers(corpus, share, 7), default="no idea", delay_ms=0)
        for name, share in shares.items()
    ]
    write_matrix(tmp_path, *rows)
    return tmp_path


def asks(*more: str) -> tuple[str, ...]:
    return ("--phase", "test", "--race", "2", "--max-cases", str(CASES), *more)


def table(stdout: str) -> dict[str, list[str]]:
    """Return the rows of the table of a race."""
    lines = stdout.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.split() == ["scenario", "asked", "mean", "race"])
    return {line.split()[0]: line.split()[1:] for line in lines[begin + 1 : -1]}


def test_it_finds_the_best_and_asks_less(work: Path, runner_in: Run) -> None:
    done = runner_in(work, *asks())
    assert done.returncode == 0, done.stderr
    rows = table(done.stdout)
    assert {name for name, row in rows.items() if row[-1] == "best"} == {"best", "second"}
    asked = {name: int(row[0].partition("/")[0]) for name, row in rows.items()}
    assert all(8 <= count < CASES for count in asked.values())
    sentence = done.stdout.splitlines()[-1]
    assert sentence.startswith("the best 2 by mean case score of all cases, with 95% confidence: best, second; ")
    assert f"{sum(asked.values())} of {5 * CASES} answers" in sentence
    for result in find_results([work / "results"]):
        run = result.record.run
        assert run is not None
        assert run.stopped_by == "race"
        assert not run.complete
        assert len(result.record.cases) == asked[result.name]
        rival: Any = json.loads(json.dumps(notes(result)))
        assert any(note.startswith(f"stopped by a race: {asked[result.name]}/{CASES}") for note in rival)
    # Whoever wants to know it all completes it.
    completed = runner_in(work, "--resume", "results")
    assert completed.returncode == 0, completed.stderr
    assert all(result.record.complete for result in find_results([work / "results"]))
    # A race with all answers has nothing to ask.
    again = runner_in(work, *asks())
    assert again.returncode == 0
    assert "round 1" not in again.stderr


def test_a_killed_race_is_raced_on_by_the_same_command(work: Path, runner_in: Run) -> None:
    whole = work / "whole"
    whole.mkdir()
    (whole / "matrix.json").write_bytes((work / "matrix.json").read_bytes())
    expected = table(runner_in(whole, *asks()).stdout)
    rng = random.Random(3)

    def lines() -> int:
        return sum(path.read_bytes().count(b'"generation"') for path in work.glob("results/*/*.journal.jsonl"))

    for _ in range(KILLS):
        process = start(work, *asks())
        wanted = lines() + 1 + rng.randrange(20)
        wait_for(lambda wanted=wanted: lines() >= wanted, process)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        process.communicate()
    code, said = ended(start(work, *asks()))
    assert code == 0, said
    assert "continues the race with the answers in results/" in said
    again = runner_in(work, *asks())
    assert table(again.stdout) == expected
    assert len(list(work.glob("results/*/*.journal.jsonl"))) == 5


def test_a_budget_ends_it_undecided(work: Path, runner_in: Run) -> None:
    done = runner_in(work, *asks("--budget", "50"))
    assert done.returncode == 1
    assert "another round would exceed 50 answers; the race ends undecided" in done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"not decided after 40 of {5 * CASES} answers; ahead so far: best,")


def test_a_scenario_that_fails_leaves_the_race(work: Path, runner_in: Run) -> None:
    matrix = json.loads((work / "matrix.json").read_text())
    broken = scripted(work, "broken", default="no idea", crash_always=True)
    gone = scripted(work, "gone", default="x") | {"model": str(work / "not-there.json")}
    write_matrix(work, *matrix["scenarios"], broken, gone)
    done = runner_in(work, *asks())
    rows = table(done.stdout)
    assert {name for name, row in rows.items() if row[-1] == "best"} == {"best", "second"}
    assert "left the race" in " ".join(rows["gone"])
    assert "left the race" in " ".join(rows["broken"])


def test_what_cannot_race_is_refused(work: Path, runner_in: Run) -> None:
    for arguments, why in (
        (("--race", "5", "--phase", "test", "--max-cases", "8"), "a race for the best 5 needs more than 5 scenarios"),
        (("--race", "0"), "is not a valid number of scenarios"),
        (("--race", "2", "--tolerance", "-1"), "is not a number of points"),
        (("--tolerance", "1"), "needs --race"),
        (("--budget", "10"), "needs --race"),
        (("--race", "2", "--shard", "1/2"), "cannot be used with --race"),
        (("--race", "2", "--resume", "results"), "cannot be used with --resume"),
    ):
        done = run_inside(runner_main, arguments, work, {})
        assert done.returncode == 2, arguments
        assert why in done.stderr

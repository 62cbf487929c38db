"""A run in shards comes to what it comes to undivided; what does not belong together is not joined."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmark.cases import Corpus
from benchmark.matrix import Track
from benchmark.merge import main as merge_main
from benchmark.record.journal import AnswerLine, Hardware, LoadedLine, RunLine, encode_line, read_journal
from benchmark.record.read import find_results
from benchmark.render.notes import notes
from benchmark.run.sharding import ShardName, array_of, read_shard, shard_index, shard_of
from ctxsift.backends.base import LoadInfo
from ctxsift.errors import InputError
from tests.conftest import Run, scripted, write_matrix
from tests.support.processes import run_inside
from tests.support.runs import SMALL, answered, ended, start, timeless, wait_for

SLURM = "SLURM_ARRAY_TASK_"
Merge = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a matrix of one row, which answers at once."""
    write_matrix(tmp_path, scripted(tmp_path, default="The build failed: src/app.py, 3 errors.", delay_ms=0))
    return tmp_path


def merge(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_inside(merge_main, [*(arguments or ("results",)), *SMALL], folder, os.environ)


def run_shards(runner_in: Run, folder: Path, *indices: int, count: int = 3) -> None:
    for index in indices:
        done = runner_in(folder, *SMALL, "--shard", f"{index}/{count}")
        assert done.returncode == 0, done.stderr


def shard_folder(folder: Path, index: int, count: int = 3) -> Path:
    (found,) = folder.glob(f"results/*-shard-{index}-of-{count}")
    return found


def journal_in(folder: Path) -> Path:
    (found,) = folder.glob("*.journal.jsonl")
    return found


def rewrite(journal: Path, change: Callable[[Any], Any]) -> None:
    """Write a journal anew, each line changed."""
    lines = [change(line) for line in read_journal(journal)]
    journal.write_bytes(b"".join(encode_line(line) for line in lines if line is not None))


def whole(folder: Path) -> dict[str, Any]:
    """Return the result of the undivided, or merged, run below a folder."""
    (result,) = find_results([folder / "results"])
    record: dict[str, Any] = json.loads(result.path.read_text(encoding="utf-8"))
    return record


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"CTXSIFT_SHARD": "3/16"}, "3/16"),
        ({"CTXSIFT_SHARD": "3/16", f"{SLURM}ID": "7", f"{SLURM}COUNT": "9"}, "3/16"),
        ({f"{SLURM}ID": "3", f"{SLURM}COUNT": "16"}, "3/16"),
        ({f"{SLURM}ID": "3", f"{SLURM}COUNT": "16", f"{SLURM}MIN": "1", f"{SLURM}MAX": "16"}, "3/16"),
        ({f"{SLURM}ID": "3", f"{SLURM}COUNT": "16", f"{SLURM}MIN": "0", f"{SLURM}MAX": "15"}, "4/16"),
        # Only some of its jobs, started again.
        (
            {f"{SLURM}ID": "5", f"{SLURM}COUNT": "2", f"{SLURM}MIN": "5", f"{SLURM}MAX": "9"},
            "number of shards is not known",
        ),
        (
            {f"{SLURM}ID": "1", f"{SLURM}COUNT": "1", f"{SLURM}MIN": "1", f"{SLURM}MAX": "1"},
            "number of shards is not known",
        ),
        ({f"{SLURM}ID": "5"}, "number of shards is not known"),
        ({f"{SLURM}ID": "5", f"{SLURM}COUNT": "2", "CTXSIFT_SHARDS": "16"}, "5/16"),
        ({f"{SLURM}ID": "0", f"{SLURM}COUNT": "16"}, "from 1"),
        ({f"{SLURM}ID": "17", "CTXSIFT_SHARDS": "16"}, "not one of the 16"),
        ({"JOB_COMPLETION_INDEX": "0", "CTXSIFT_SHARDS": "4"}, "1/4"),
        ({"JOB_COMPLETION_INDEX": "3", "CTXSIFT_SHARDS": "4"}, "4/4"),
        ({"JOB_COMPLETION_INDEX": "4", "CTXSIFT_SHARDS": "4"}, "not one of the 4"),
        ({"JOB_COMPLETION_INDEX": "2"}, "CTXSIFT_SHARDS"),
        ({"CTXSIFT_SHARDS": "4"}, "number of this shard is not known"),
        ({"CTXSIFT_SHARDS": "many"}, "whole number"),
        ({"CTXSIFT_SHARD": "0/3"}, "not a shard"),
        ({"CTXSIFT_SHARD": "4/3"}, "not a shard"),
    ],
)
def test_job_arrays_say_which_shard_they_mean(variables: dict[str, str], expected: str | None) -> None:
    if expected is None or re.fullmatch(r"\d+/\d+", expected):
        assert shard_of(variables) == (read_shard(expected) if expected else None)
    else:
        with pytest.raises(InputError, match=re.escape(expected)):
            shard_of(variables)


def test_indices_are_written_as_slurm_reads_them() -> None:
    assert array_of([7, 2, 5, 6, 2, 9, 10]) == "2,5-7,9-10"


def test_all_cases_of_a_capture_are_in_one_shard_and_every_case_in_one(corpus: Corpus) -> None:
    for count in (1, 2, 3, 16):
        parts = [ShardName(index, count).part_of(corpus.cases) for index in range(1, count + 1)]
        assert Counter(case.case_id for part in parts for case in part) == Counter(c.case_id for c in corpus.cases)
        captures = [{case.capture.name for case in part} for part in parts]
        assert sum(map(len, captures)) == len(set().union(*captures))
        # No shard is the slow tail: none has more than three times its share, none of a few is nearly empty.
        shares = [len(part) * count / len(corpus.cases) for part in parts]
        assert max(shares) < 3
        assert count > 3 or min(shares) > 0.5


def test_a_new_case_moves_no_other(corpus: Corpus) -> None:
    fewer = corpus.cases[::2]
    for index in range(1, 6):
        shard = ShardName(index, 5)
        assert set(shard.part_of(fewer)) == set(shard.part_of(corpus.cases)) & set(fewer)
    assert shard_index("a capture of tomorrow", 5) == shard_index("a capture of tomorrow", 5)


def test_merged_shards_equal_the_undivided_run(work: Path, runner_in: Run) -> None:
    undivided = work / "undivided"
    undivided.mkdir()
    shutil.copy(work / "matrix.json", undivided)
    assert runner_in(undivided, *SMALL).returncode == 0
    run_shards(runner_in, work, 3, 1, 2)
    done = merge(work)
    assert done.returncode == 0, done.stderr
    assert timeless(whole(work)) == timeless(whole(undivided))
    run, known = whole(work)["run"], whole(undivided)["run"]
    assert {key: run[key] for key in ("complete", "case_ids", "error")} == {
        key: known[key] for key in ("complete", "case_ids", "error")
    }
    assert "shard" not in run
    assert "machines" not in run
    # The same again changes nothing.
    files = {path: path.read_bytes() for path in (work / "results").glob("scripted-*Z/*")}
    again = merge(work)
    assert again.returncode == 0, again.stderr
    assert files == {path: path.read_bytes() for path in (work / "results").glob("scripted-*Z/*")}


def test_shards_are_on_no_board_and_readers_are_told_to_join_them(work: Path, runner_in: Run) -> None:
    run_shards(runner_in, work, 1)
    with pytest.raises(InputError, match=r"shards of a run.*benchmark\.merge"):
        find_results([work / "results"])
    assert {path.suffix for path in shard_folder(work, 1).iterdir()} == {".json", ".jsonl"}


def refused(folder: Path, *arguments: str) -> str:
    done = merge(folder, *arguments)
    assert done.returncode == 2, done.stdout
    (line,) = done.stderr.splitlines()
    assert not list(folder.glob("results/scripted-*Z"))
    return line


def test_missing_and_unfinished_shards_are_named_as_jobs(work: Path, runner_in: Run) -> None:
    run_shards(runner_in, work, 3)
    assert "CTXSIFT_SHARDS=3, --array=1-2" in refused(work)
    run_shards(runner_in, work, 1, 2)
    journal = journal_in(shard_folder(work, 3))
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4]))
    journal.with_name("scripted.json").unlink()
    line = refused(work)
    assert "--array=3" in line
    assert "shard 3 has 2 of 7" in line
    # The same command goes on where it stopped, in the same folder.
    run_shards(runner_in, work, 3)
    assert answered_in(work, 3) == 7
    assert merge(work).returncode == 0


def test_a_whole_of_which_cases_failed_is_joined_and_told(
    work: Path, runner_in: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_shards(runner_in, work, 1, 2, 3)

    def fails(*_: object) -> None:
        raise ValueError("a fault of the scorer")

    monkeypatch.setattr("benchmark.grading.outcome.score_view", fails)
    assert merge(work).returncode == 1
    assert not whole(work)["run"]["complete"]


def answered_in(folder: Path, index: int) -> int:
    return sum(isinstance(line, AnswerLine) for line in read_journal(journal_in(shard_folder(folder, index))))


def test_a_damaged_answer_is_asked_again(work: Path, runner_in: Run) -> None:
    run_shards(runner_in, work, 1, 2, 3)
    journal = journal_in(shard_folder(work, 2))
    content = journal.read_bytes()
    at = content.index(b'"type": "generation"')
    journal.write_bytes(content[: at + 30] + b"#" + content[at + 31 :])
    line = refused(work)
    assert "--array=2" in line
    assert f"{journal.relative_to(work)}:3" in line
    # Without a first line, nobody knows whose it is.
    journal.write_bytes(b"{}\n" + content.partition(b"\n")[2])
    line = refused(work)
    assert "shard 2 of 3 has no journal" in line
    assert str(journal.relative_to(work)) in line


def test_shards_of_another_run_are_named(work: Path, runner_in: Run) -> None:
    run_shards(runner_in, work, 1, 2, 3)

    def stale(line: Any) -> Any:
        identity = line.identity if isinstance(line, RunLine) else None
        return replace(line, identity=replace(identity, corpus_sha256="0" * 64)) if identity else line

    def other_load(line: Any) -> Any:
        return replace(line, load=load_of(line)) if isinstance(line, LoadedLine) else line

    def load_of(line: LoadedLine) -> LoadInfo:
        return dataclasses.replace(line.load, threads=line.load.threads + 3)

    journal = journal_in(shard_folder(work, 2))
    content = journal.read_bytes()
    for change, why in ((stale, "corpus_sha256"), (other_load, "threads")):
        rewrite(journal, change)
        line = refused(work)
        assert why in line
        assert str(journal.relative_to(work)) in line
        assert "--array=2" in line
        journal.write_bytes(content)
    # Shards of one run that was divided otherwise.
    run_shards(runner_in, work, 1, count=4)
    line = refused(work)
    assert "there were 3 shards, are 4" in line
    assert "shard-1-of-4" in line


def test_all_of_them_stale_is_said_once(work: Path, runner_in: Run) -> None:
    run_shards(runner_in, work, 1, 2, 3)
    done = run_inside(merge_main, ["results"], work, os.environ)
    assert done.returncode == 2
    assert "a different corpus" in done.stderr
    assert "--dataset" in done.stderr


def test_a_double_is_dropped_unless_its_answers_differ(work: Path, runner_in: Run) -> None:
    run_shards(runner_in, work, 1, 2, 3)
    first = shard_folder(work, 2)
    copy = shutil.copytree(first, work / "results" / first.name.replace("-shard", "X-shard"))

    def otherwise(line: Any) -> Any:
        generation = line.generation if isinstance(line, AnswerLine) else None
        return replace(line, generation=dataclasses.replace(generation, text="Nothing.")) if generation else line

    content = journal_in(copy).read_bytes()
    rewrite(journal_in(copy), otherwise)
    line = refused(work)
    assert "shard 2/3 answer" in line
    assert "differently" in line
    journal_in(copy).write_bytes(content)
    done = merge(work)
    assert done.returncode == 0
    assert "3 answers occur twice" in done.stderr
    (merged,) = work.glob("results/scripted-*Z/*.journal.jsonl")
    ids = [line.case_id for line in read_journal(merged) if isinstance(line, AnswerLine)]
    assert len(ids) == len(set(ids)) == 12


def test_another_run_in_the_place_of_the_result_stays(work: Path, runner_in: Run) -> None:
    run_shards(runner_in, work, 1, 2, 3)
    assert merge(work).returncode == 0
    (merged,) = work.glob("results/scripted-*Z/*.journal.jsonl")
    rewrite(merged, lambda line: None if isinstance(line, LoadedLine) else line)
    done = merge(work)
    assert done.returncode == 2
    assert "is there already" in done.stderr


def test_times_of_two_kinds_of_machine_are_never_put_together(work: Path, runner_in: Run) -> None:
    run_shards(runner_in, work, 1, 2, 3)
    slow = Hardware(cpu="Slow One", cpu_cores_physical=1, cpu_cores_logical=1)
    rewrite(
        journal_in(shard_folder(work, 3)),
        lambda line: replace(line, hardware=slow) if isinstance(line, LoadedLine) else line,
    )
    assert merge(work).returncode == 0
    (result,) = find_results([work / "results"])
    run = result.record.run
    assert run is not None
    assert result.record.summary.latency is None
    assert run.latency_ignored
    assert not run.disturbance.latency_clean
    machines: Any = run.machines
    assert [(machine.hardware.cpu == "Slow One", machine.case_count) for machine in machines] == [(False, 5), (True, 7)]
    # Of a control, nobody asks how fast it is.
    rival = replace(result.record, scenario=dataclasses.replace(result.record.scenario, track=Track.CPU))
    said = " ".join(notes(dataclasses.replace(result, record=rival)))
    assert "2 kinds of machine" in said
    assert "on Slow One, 1 cores: 7 answers" in said


def test_an_empty_shard_has_nothing_to_run(work: Path, runner_in: Run) -> None:
    done = runner_in(work, *SMALL, "--max-cases", "1", "--shard", "1/16")
    other = runner_in(work, *SMALL, "--max-cases", "1", "--shard", "2/16")
    assert (done.returncode, other.returncode) == (0, 0)
    assert "nothing to run" in done.stderr + other.stderr


def test_the_plan_lists_every_job_and_what_it_took_before(work: Path, runner_in: Run) -> None:
    before = runner_in(work, *SMALL, "--plan", "--shard", "1/3")
    assert before.returncode == 0
    assert "scripted  1/3    2      -" in before.stdout
    assert "CTXSIFT_SHARDS=3, --array=1-3" in before.stdout
    assert not (work / "results").exists()
    assert runner_in(work, *SMALL).returncode == 0
    after = runner_in(work, *SMALL, "--plan", "--shard", "1/3")
    assert "no earlier run" not in after.stdout
    assert re.search(r"3 jobs, \d+ s of work", after.stdout)


def test_a_killed_shard_is_resumed_by_the_same_command(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="The build failed.", delay_ms=100))
    asks = (*SMALL, "--shard", "3/3")
    process = start(tmp_path, *asks)
    wait_for(lambda: answered(tmp_path) >= 2, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = answered(tmp_path)
    code, said = ended(start(tmp_path, *asks))
    assert code == 0, said
    assert "goes on in results/" in said
    assert f"{kept}/7 cases already have an answer" in said
    assert answered_in(tmp_path, 3) == 7

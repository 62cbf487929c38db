"""`--status` tells what runs, what ended and what broke off, and disturbs nothing."""

import json
from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest

from benchmark.record.status import RunState, RunStatus, StatusReader, status_rows
from ctxsift.errors import InputError
from tests.conftest import Run, scripted, write_matrix
from tests.support.runs import SMALL, answered, cut_after, ended, journal_of, start, wait_for

CASES = 12


def refuse(error: InputError) -> None:
    """Take no unreadable journal."""
    raise error


def only(folder: Path) -> RunStatus:
    """Return the one run below a folder."""
    (status,) = StatusReader().statuses(folder / "results", refuse)
    return status


@pytest.mark.slow
def test_a_run_that_is_killed_and_resumed(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=150.0))
    process = start(tmp_path, *SMALL)
    wait_for(lambda: answered(tmp_path) >= 2, process)
    running = only(tmp_path)
    assert (running.state, running.planned) == (RunState.RUNNING, CASES)
    assert abs(running.answered - answered(tmp_path)) <= 1
    assert running.owner is not None
    assert running.owner.pid == process.pid
    assert running.left_s is not None
    # Ten cases of .15 s and a bit; not those of a whole run, and not none.
    assert 0.15 < running.left_s < 60
    assert running.age_s < 10
    assert ended(process, by=SIGKILL)[0] == -SIGKILL
    broken = only(tmp_path)
    assert (broken.state, broken.left_s) == (RunState.INTERRUPTED, None)
    assert 2 <= broken.answered < CASES

    # Looking at it again and again keeps nobody from going on.
    process = start(tmp_path, "--resume", "results", *SMALL)
    seen = set()
    while process.poll() is None:
        seen.add(only(tmp_path).state)
    assert ended(process)[0] == 0
    assert seen <= {RunState.INTERRUPTED, RunState.RUNNING, RunState.COMPLETE}
    assert RunState.RUNNING in seen
    done = only(tmp_path)
    assert (done.state, done.answered, done.left_s) == (RunState.COMPLETE, CASES, None)


@pytest.mark.slow
def test_a_run_that_was_ended_is_interrupted(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=150.0))
    process = start(tmp_path, *SMALL)
    wait_for(lambda: answered(tmp_path) >= 1, process)
    ended(process, by=SIGTERM)
    assert only(tmp_path).state is RunState.INTERRUPTED


def test_the_command(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    assert runner(*SMALL).returncode == 0
    told = runner("--status")
    assert told.returncode == 0, told.stderr
    heading, row = told.stdout.splitlines()
    assert heading.split() == ["scenario", "state", "answers", "last", "written", "time", "left", "folder"]
    assert row.split()[:3] == ["scripted", "complete", f"{CASES}/{CASES}"]
    assert told.stderr == ""
    cut_after(tmp_path, 5)
    told = runner("--status", "results")
    assert told.stdout.splitlines()[1].split()[:3] == ["scripted", "interrupted", f"5/{CASES}"]
    assert told.stderr == "to resume what was interrupted: python -m benchmark.runner --resume results\n"
    none = runner("--status", "nothing")
    assert (none.returncode, none.stdout) == (2, "")


def test_what_a_race_stopped_is_not_interrupted(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    assert runner(*SMALL).returncode == 0
    journal = journal_of(tmp_path)
    assert journal is not None
    result = journal.with_name("scripted.json")
    stored = result.read_text()
    cut_after(tmp_path, 5)
    record = json.loads(stored)
    record["run"]["stopped_by"] = "race"
    result.write_text(json.dumps(record))
    assert only(tmp_path).state is RunState.STOPPED


def test_failures_are_told(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", crash_on="the"))
    assert runner(*SMALL).returncode == 1
    status = only(tmp_path)
    assert status.state in (RunState.FAILED, RunState.INTERRUPTED)
    assert status.errors > 0
    (_, row) = status_rows([status])
    assert f"({status.errors} errors)" in row[2]


def test_a_damaged_journal_is_left_out_and_named(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    assert runner(*SMALL).returncode == 0
    journal = journal_of(tmp_path)
    assert journal is not None
    journal.write_bytes(b"{}\n" + journal.read_bytes())
    with pytest.raises(InputError, match="is not the journal of a run"):
        StatusReader().status(journal)
    told = runner("--status")
    assert f"left out: {journal.relative_to(tmp_path)}" in told.stderr

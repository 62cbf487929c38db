"""Many runs in one tree: one bad thing costs itself and is named; what a killed writer left undone is done."""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmark import compare, report, rescore
from benchmark.grading.baselines import ReferenceScores
from benchmark.record.journal import AnswerLine, read_journal
from benchmark.record.result import Outcome, Result
from benchmark.run import case_workload, provenance
from benchmark.run.plan import ScenarioPlan
from benchmark.run.workload import ScenarioRun
from ctxsift import prompts
from tests.conftest import ROOT, Run, scripted, write_matrix
from tests.support.processes import run_inside
from tests.support.runs import (
    PATIENCE_S,
    SMALL,
    answered,
    complete,
    ended,
    files_of,
    held,
    journal_of,
    result_of,
    start,
    wait_for,
)

pytestmark = pytest.mark.slow

CASES = 4


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that was killed when every answer was in the journal, and nothing more."""
    folder = tmp_path_factory.mktemp("killed")
    # The model is named by a relative path: the folder is copied.
    write_matrix(folder, scripted(folder, default="x") | {"model": "scripted.script.json"})
    process = start(folder, "--max-cases", str(CASES))
    with held(process, folder, "scripted.json"):
        wait_for(lambda: answered(folder) >= CASES, process)
        ended(process, by=signal.SIGKILL)
    return folder


@pytest.fixture
def cut(tmp_path: Path, killed: Path) -> Path:
    """A folder of its own with that run."""
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    return tmp_path


def run_folder(folder: Path) -> Path:
    journal = journal_of(folder)
    assert journal
    return journal.parent


def record_of(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "scripted.json").read_text())
    return record


# One bad thing ----------------------------------------------------------------------------------------------------


def test_a_bad_run_costs_itself(cut: Path, runner: Run) -> None:
    good, results = run_folder(cut), cut / "results"
    copies = {name: results / name for name in ("aa-damaged", "ab-link", "ac-loop", "ad-pipe", "ae-folder", "zz-good")}
    for folder in copies.values():
        shutil.copytree(good, folder)
    journals = {name: folder / "scripted.journal.jsonl" for name, folder in copies.items()}
    lines = journals["aa-damaged"].read_bytes().split(b"\n")
    journals["aa-damaged"].write_bytes(b"\n".join([b"\xff\x00", *lines]))
    for name, target in (("ab-link", "nowhere"), ("ac-loop", journals["ac-loop"].name)):
        journals[name].unlink()
        journals[name].symlink_to(target)
    journals["ad-pipe"].unlink()
    os.mkfifo(journals["ad-pipe"])
    (copies["ae-folder"] / "scripted.json").mkdir()
    done = runner("--resume", "results")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    for (name, folder), line in zip(list(copies.items())[:5], told, strict=True):
        assert line.startswith(f"error: {folder.relative_to(cut)}/scripted.j"), name
    assert "is not a file, but the result must be written there; move it away, then resume" in told[-1]
    for folder in (good, copies["zz-good"]):
        assert record_of(folder)["run"]["complete"]
        assert (folder / "report.md").exists()


def test_a_disk_that_is_full_costs_the_runs_on_it(cut: Path, runner: Run) -> None:
    good, small = run_folder(cut), cut / "results" / "aa-small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(small)], check=True)
    try:
        shutil.copy(good / "scripted.journal.jsonl", small)
        done = runner("--resume", "results")
        assert not (small / "scripted.json").exists()
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert record_of(good)["run"]["complete"]
    assert done.returncode == 1
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert "No space left on device" in told
    assert "what was answered is in its journal; fix that, then resume: python -m benchmark.runner --resume" in told


def test_a_scenario_whose_files_cannot_be_written_costs_itself(tmp_path: Path, runner: Run) -> None:
    shortest = ("ubsan-tidetable-shift-json", "cargo-tree-tideview-found-version-exact-format")
    arguments = [word for case in shortest for word in ("--case-id", case)]
    write_matrix(tmp_path, scripted(tmp_path, "wordy", default="x" * 60_000), scripted(tmp_path, default="x"))
    done = subprocess.run(
        [sys.executable, "-m", "benchmark.runner", *SMALL, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert result_of(tmp_path)["scenario"]["name"] == "scripted"
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert "File too large; wordy: what was answered is in its journal; fix that, then resume: " in told
    # With room, the command that was named does the rest.
    command = shlex.split(told.rpartition("resume: ")[2])
    assert runner(*command[3:]).returncode == 0
    assert len(list(tmp_path.glob("results/*/*.json"))) == 2


def test_a_resumed_scenario_that_is_refused_costs_itself(cut: Path, runner: Run) -> None:
    other = cut / "results" / "aa-other"
    shutil.copytree(run_folder(cut), other)
    journal = other / "scripted.journal.jsonl"
    with journal.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = runner("--resume", "results")
    assert done.returncode == 2
    assert f"error: {journal.relative_to(cut)}: is being written by " in done.stderr
    (result,) = cut.glob("results/*/*.json")
    assert result.parent != other


def test_a_mistake_of_ours_costs_its_scenario(tmp_path: Path, runner: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = provenance.result_of

    def mistaken(plan: ScenarioPlan, ran: ScenarioRun[Outcome], references: ReferenceScores) -> Result:
        if plan.scenario.name == "bad":
            raise TypeError("a number was\x1b[31m expected")
        return whole(plan, ran, references)

    monkeypatch.setattr(case_workload, "result_of", mistaken)
    write_matrix(tmp_path, scripted(tmp_path, "bad", default="x"), scripted(tmp_path, default="x"))
    done = runner("--max-cases", "2")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert result_of(tmp_path)["scenario"]["name"] == "scripted"
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("error: "))
    what = r"TypeError: a number was\\x1b\[31m expected \(test_trees\.py:\d+\)"
    assert re.match(f"error: bad: a mistake of this program, please report it: {what}; ", told)
    assert "then resume: python -m benchmark.runner --resume results/bad-" in told


def test_runs_behind_links_are_found_once(cut: Path, runner: Run) -> None:
    elsewhere = cut / "elsewhere"
    elsewhere.mkdir()
    shutil.move(run_folder(cut), elsewhere / "run")
    results = cut / "results"
    (results / "linked").symlink_to(elsewhere / "run")
    (results / "again").symlink_to(elsewhere / "run")
    (elsewhere / "run" / "round").symlink_to(results)
    done = runner("--resume", "results")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("cases already have an answer") == 1
    assert record_of(elsewhere / "run")["run"]["complete"]
    for main, *arguments in ((report.main, "results", "--json"), (rescore.main, "results", "--output-dir", "rescored")):
        shown = run_inside(main, arguments, cut, os.environ)
        assert shown.returncode == 0, shown.stderr
    assert len(list((cut / "rescored").rglob("*.json"))) == 1


# What a killed writer leaves --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["scripted.json", "scripted.md", "report.md", "cases.csv"])
def test_whatever_was_being_written_is_written_anew(tmp_path: Path, runner: Run, name: str) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=20))
    process = start(tmp_path, *SMALL, "--max-cases", str(CASES))
    with held(process, tmp_path, name):
        wait_for(lambda: before(name) <= files_of(tmp_path), process)
        ended(process, by=signal.SIGKILL)
    assert name not in files_of(tmp_path)
    done = runner(*SMALL, "--resume", "results")
    assert done.returncode == 0, done.stderr
    # Also no temporary file.
    assert complete(tmp_path)
    assert ("was missing or out of date; rewrote it" in done.stderr) == (name != "scripted.json")
    done = runner(*SMALL, "--resume", "results")
    assert done.returncode == 0
    assert done.stderr == "nothing to resume below results; every run is complete\n"


def test_reports_over_several_folders_are_written_anew(tmp_path: Path, runner: Run) -> None:
    names = ("one", "two")
    write_matrix(tmp_path, *(scripted(tmp_path, name, default="x", delay_ms=20) for name in names))
    process = start(tmp_path, *SMALL, "--max-cases", str(CASES))
    wait_for(lambda: journal_of(tmp_path) is not None, process)
    timestamp = run_folder(tmp_path).name.removeprefix("one-")
    results = tmp_path / "results"
    with (results / f".cases-{timestamp}.csv.tmp").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        wait_for((results / f"report-{timestamp}.md").exists, process)
        ended(process, by=signal.SIGKILL)
    done = runner(*SMALL, "--resume", "results")
    assert done.returncode == 0
    assert f"cases-{timestamp}.csv was missing or out of date; rewrote it" in done.stderr
    folders = {f"{name}-{timestamp}" for name in names}
    assert {path.name for path in results.iterdir()} == {*folders, f"report-{timestamp}.md", f"cases-{timestamp}.csv"}
    assert len((results / f"cases-{timestamp}.csv").read_text().splitlines()) == 1 + 2 * CASES
    assert "nothing to resume" in runner(*SMALL, "--resume", "results").stderr


def before(name: str) -> set[str]:
    """Return what a run has written before it writes `name`."""
    order = ["scripted.journal.jsonl", "scripted.json", "scripted.md", "report.md", "cases.csv"]
    return set(order[: order.index(name)])


def test_a_killed_retry_leaves_nothing_behind(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default=""))
    assert runner(*SMALL, "--max-cases", "2").returncode == 0
    scripted(tmp_path, default="x")
    process = start(tmp_path, *SMALL, "--resume", "results", "--retry-failed")
    with held(process, tmp_path, "scripted.json"):
        wait_for(lambda: answered(tmp_path) >= 4, process)
        ended(process, by=signal.SIGKILL)
    assert result_of(tmp_path)["summary"]["model_failure_counts"]
    assert runner(*SMALL, "--resume", "results").returncode == 0
    assert result_of(tmp_path)["summary"]["model_failure_counts"] == {}
    assert complete(tmp_path)


def test_reports_older_than_their_result_are_written_anew(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    assert runner("--max-cases", "2").returncode == 0
    folder = run_folder(tmp_path)
    for name in ("scripted.md", "report.md"):
        os.utime(folder / name, (0, 0))
    whole = (folder / "report.md").read_bytes()
    # A copy has any times; what says the right thing is left alone.
    assert "nothing to resume" in runner("--resume", "results").stderr
    (folder / "report.md").write_text("of an earlier part")
    os.utime(folder / "report.md", (0, 0))
    assert "report.md was missing or out of date; rewrote it" in runner("--resume", "results").stderr
    assert (folder / "report.md").read_bytes() == whole


# Prompts ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def edited(runner: Run) -> Run:
    """Run the benchmark with other words in its prompt."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(prompts, "_SYSTEM", "Other words.")
            return runner(*arguments)

    return run


def test_what_lies_in_place_of_a_report_or_beside_it_is_not_waited_for(cut: Path, runner: Run) -> None:
    assert runner("--resume", "results").returncode == 0
    folder = run_folder(cut)
    (folder / "report.md").unlink()
    os.mkfifo(folder / "report.md")
    os.utime(folder / "report.md", (0, 0))
    (folder / "beside.json").symlink_to("nowhere")
    (folder / "notes.json").write_text("{}")
    done = runner("--resume", "results")
    assert done.returncode == 0, done.stderr
    assert (folder / "report.md").is_file()
    assert "nothing to resume" in runner("--resume", "results").stderr


def test_a_prompt_edited_without_a_new_version_is_another_run(cut: Path, runner: Run, edited: Run) -> None:
    journal = journal_of(cut)
    assert journal
    before = journal.read_bytes()
    done = edited("--resume", "results")
    assert done.returncode == 2
    assert "belongs to another run: questions.prompt_sha256 was " in done.stderr
    assert journal.read_bytes() == before
    assert edited("--max-cases", str(CASES)).returncode == 0
    assert runner("--resume", str(journal.parent)).returncode == 0
    compared = run_inside(compare.main, ["results"], cut, os.environ)
    assert "were asked with different prompts" in compared.stdout


def test_answers_that_fit_no_question_are_counted(tmp_path: Path, edited: Run) -> None:
    older = ROOT / "tests" / "data" / "journals"
    for file in ("corpus.jsonl", "matrix.json", "scripted.script.json"):
        shutil.copy(older / file, tmp_path)
    (tmp_path / "results").mkdir()
    shutil.copy(older / "scripted.journal.jsonl", tmp_path / "results")
    lines = read_journal(tmp_path / "results" / "scripted.journal.jsonl")
    had = len({line.case_id for line in lines if isinstance(line, AnswerLine)})
    assert had > 2
    done = edited("--resume", "results", "--dataset", "corpus.jsonl")
    assert done.returncode == 0, done.stderr
    said = f"scripted: {had} answers in its journal no longer match the questions; these cases will be run"
    assert said in done.stderr

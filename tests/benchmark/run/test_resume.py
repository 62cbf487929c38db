"""A run that was killed or interrupted is resumed where it stopped, and comes to what it would have come to."""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmark.cases import Corpus
from benchmark.record.journal import AnswerLine, read_journal
from ctxsift.backends.baselines import BASELINES_VERSION
from ctxsift.prompts import PROMPT_VERSION
from tests.conftest import ROOT, Run, scenario, scripted, write_matrix
from tests.support.depth import depth
from tests.support.runs import (
    CLOCKS,
    SMALL,
    answered,
    cut_after,
    ended,
    journal_of,
    result_of,
    start,
    timeless,
    wait_for,
)

pytestmark = pytest.mark.slow

KILLS, CASES = depth(6, 20), depth(40, 100)
REAL_KILLS, REAL_CASES = depth(1, 5), depth(4, 12)


def answers(corpus: Corpus) -> list[list[str]]:
    """Return a script of answers of any quality, each to its case."""
    texts = (lambda c: c.expected_output, lambda c: f"<think>hm</think>\n{c.expected_output}", lambda c: c.title)
    return [[case.instruction.strip(), texts[number % 3](case)] for number, case in enumerate(corpus.cases)]


def test_killed_at_any_moment_it_comes_to_the_same(tmp_path: Path, runner_in: Run, corpus: Corpus) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        row = scripted(folder, answers=answers(corpus), delay_ms=20, log=str(folder / "log"))
        write_matrix(folder, row | {"model": f"{folder}/scripted.script.json"})
    arguments = ["--max-cases", str(CASES)]
    assert runner_in(whole, *arguments).returncode == 0
    rng = random.Random(11)
    moments: Counter[str] = Counter()
    for kill in range(KILLS):
        process = start(killed, *(["--resume", "results"] if journal_of(killed) else arguments))
        wanted = answered(killed) + rng.randrange(5)
        if kill % 4 == 3:
            # Also while it starts, loads, or takes over what is there.
            time.sleep(rng.uniform(0.3, 1.2))
        else:
            wait_for(lambda wanted=wanted: answered(killed) >= wanted > 0, process)  # type: ignore[misc]
            time.sleep(rng.uniform(0, 0.04))
        moments["early" if answered(killed) == wanted else "amid"] += 1
        assert ended(process, by=signal.SIGKILL)[0] == -signal.SIGKILL
    assert answered(killed) < CASES
    done = runner_in(killed, "--resume", "results")
    assert done.returncode == 0, done.stderr
    assert "cases already have an answer" in done.stderr
    mine, theirs = result_of(killed), result_of(whole)
    assert mine["run"]["complete"]
    assert json.dumps(timeless(mine)).replace(str(killed), "") == json.dumps(timeless(theirs)).replace(str(whole), "")
    # Every case is in the journal once; only what was in flight when it was killed was asked again.
    journal = journal_of(killed)
    assert journal
    asked = Counter(line.case_id for line in read_journal(journal) if isinstance(line, AnswerLine))
    assert len(asked) == CASES
    assert set(asked.values()) == {1}
    log = Counter((killed / "log").read_text().split())
    assert len(log) == CASES
    assert sum(log.values()) - CASES <= KILLS


@pytest.mark.model
def test_a_real_model_that_is_killed_comes_to_the_same(tmp_path: Path, corpus: Corpus) -> None:
    shortest = sorted(corpus.cases, key=lambda case: len(case.raw_input))[:REAL_CASES]
    arguments = [word for case in shortest for word in ("--case-id", case.case_id)]
    folders = [tmp_path / "whole", tmp_path / "killed"]
    for folder in folders:
        folder.mkdir()
        write_matrix(folder, scenario(max_output_tokens=24))
    whole, killed = folders
    assert ended(start(whole, *arguments))[0] == 0
    for kill in range(REAL_KILLS):
        process = start(killed, *(["--resume", "results"] if journal_of(killed) else arguments))
        wait_for(lambda kill=kill: answered(killed) > 2 * kill, process)  # type: ignore[misc]
        time.sleep(0.1 * kill)
        ended(process, by=signal.SIGKILL)
    assert 0 < answered(killed) < REAL_CASES
    code, stderr = ended(start(killed, "--resume", "results"))
    assert code == 0, stderr
    mine, theirs = result_of(killed), result_of(whole)
    assert len(mine["cases"]) == REAL_CASES
    for a, b in zip(mine["cases"], theirs["cases"], strict=True):
        assert {k: v for k, v in a.items() if k not in CLOCKS} == {k: v for k, v in b.items() if k not in CLOCKS}
    assert mine["summary"]["quality_core"] == theirs["summary"]["quality_core"]


def test_scenarios_that_were_not_started_are_named(tmp_path: Path) -> None:
    write_matrix(tmp_path, *(scripted(tmp_path, name, default=name, delay_ms=40) for name in ("one", "two", "three")))
    process = start(tmp_path, *SMALL)
    wait_for(lambda: answered(tmp_path) >= 2, process)
    code, stderr = ended(process, by=signal.SIGINT)
    assert code == 130
    assert "not started: two, three; there is nothing to resume; run them again" in stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_who_interrupts_is_told_how_to_resume(tmp_path: Path, runner: Run, how: signal.Signals) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=100))
    process = start(tmp_path, *SMALL)
    wait_for(lambda: answered(tmp_path) >= 3, process)
    code, stderr = ended(process, by=how)
    assert code == 130
    assert "Traceback" not in stderr
    told = re.search(r"interrupted; (\d+) of 12 answers are in (\S+); to resume: (.+)", stderr)
    assert told, stderr
    assert 3 <= int(told[1]) == answered(tmp_path) < 12
    command = shlex.split(told[3])
    assert command[:3] == ["python", "-m", "benchmark.runner"]
    done = runner(*command[3:])
    assert done.returncode == 0, done.stderr
    assert len(result_of(tmp_path)["cases"]) == 12
    # There is nothing left to resume.
    done = runner(*command[3:])
    assert done.returncode == 0
    assert "nothing to resume" in done.stderr


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> Path:
    """A folder with a run of 12 cases that was killed when 5 or more were answered."""
    folder = tmp_path_factory.mktemp("killed")
    # The model is named by a relative path: the folder is copied.
    row = scripted(folder, answers=answers(corpus), delay_ms=100)
    write_matrix(folder, row | {"model": "scripted.script.json"})
    process = start(folder, "--max-cases", "12")
    wait_for(lambda: answered(folder) >= 5, process)
    ended(process, by=signal.SIGKILL)
    assert 5 <= answered(folder) < 12
    return folder


@pytest.fixture
def cut(tmp_path: Path, killed: Path) -> Path:
    """A folder of its own with that run; the model answers at once from now on."""
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    script = tmp_path / "scripted.script.json"
    script.write_text(json.dumps(json.loads(script.read_text()) | {"delay_ms": 0}))
    return tmp_path


def test_a_line_that_was_torn_is_cut_off(cut: Path, runner: Run) -> None:
    journal = journal_of(cut)
    assert journal
    whole = journal.read_bytes()
    lines = whole.split(b"\n")
    journal.write_bytes(b"\n".join(lines[:4]) + b"\n" + lines[4][: len(lines[4]) // 2])
    done = runner("--resume", "results")
    assert done.returncode == 0, done.stderr
    assert len([line for line in read_journal(journal) if isinstance(line, AnswerLine)]) == 12


def test_what_differs_is_named(cut: Path, runner: Run) -> None:
    matrix = json.loads((cut / "matrix.json").read_text())
    matrix["scenarios"][0] |= {"max_output_tokens": 99, "quantization": "other"}
    (cut / "matrix.json").write_text(json.dumps(matrix))
    before = journal_of(cut)
    assert before
    content = before.read_bytes()
    done = runner("--resume", "results")
    assert done.returncode == 2
    assert 'scenario.quantization was "none", is "other"' in done.stderr
    assert "max_output_tokens was 512, is 99" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert before.read_bytes() == content


def test_a_model_that_loads_in_another_way_is_another_run(cut: Path, runner: Run) -> None:
    script = cut / "scripted.script.json"
    script.write_text(json.dumps(json.loads(script.read_text()) | {"engine_version": "2"}))
    done = runner("--resume", "results")
    assert done.returncode == 2
    assert 'engine_version was "1", is "2"' in done.stderr


def test_settings_are_part_of_the_run(cut: Path, runner: Run) -> None:
    (cut / ".env").write_text("CTXSIFT_RECOVERY_ENABLED=0\n")
    done = runner("--resume", "results", "--env-file", ".env")
    assert done.returncode == 2
    assert "recovery_enabled was true, is false" in done.stderr


def test_a_new_run_says_that_there_is_an_unfinished_one(cut: Path, runner: Run) -> None:
    done = runner("--max-cases", "12")
    assert done.returncode == 0
    told = re.search(r"an unfinished run of the same has (\d+) of 12 answers; to resume it: (.+)", done.stderr)
    assert told, done.stderr
    assert 5 <= int(told[1]) < 12
    done = runner(*shlex.split(told[2])[3:])
    assert done.returncode == 0, done.stderr
    # Finished runs are no news, and others neither.
    for cases in ("12", "3"):
        time.sleep(1.1)  # Folders are named by the second.
        assert "unfinished" not in runner("--max-cases", cases).stderr


def test_one_bad_journal_does_not_keep_the_others_from_being_resumed(cut: Path, runner: Run) -> None:
    (cut / "results" / "empty.journal.jsonl").write_bytes(b"")
    (cut / "results" / "old.journal.jsonl").write_text('{"type": "run", "journal_version": 1}\n')
    done = runner("--resume", "results")
    assert done.returncode == 2
    assert "old.journal.jsonl:1: journal version 1 is not 3" in done.stderr
    # Nothing was ever written to it.
    assert "empty.journal.jsonl" not in done.stderr
    assert result_of(cut)["run"]["complete"]


def test_a_failed_retry_keeps_the_answer_there_was(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default=""))
    assert runner("--max-cases", "2").returncode == 0
    (tmp_path / "scripted.script.json").write_text(json.dumps({"crash_always": True}))
    runner("--resume", "results", "--retry-failed")
    assert result_of(tmp_path)["summary"]["model_failure_counts"] == {"empty_answer": 2}


def test_only_failures_of_the_instrument_are_asked_again(tmp_path: Path, runner: Run, corpus: Corpus) -> None:
    write_matrix(
        tmp_path, scripted(tmp_path, answers=answers(corpus), log="log", crash_on="Answer format: One valid JSON")
    )
    done = runner("--max-cases", "16")
    assert done.returncode == 1
    failed = result_of(tmp_path)["summary"]["instrument_failure_count"]
    assert failed > 0
    script = json.loads((tmp_path / "scripted.script.json").read_text())
    del script["crash_on"]
    (tmp_path / "scripted.script.json").write_text(json.dumps(script))
    before = len((tmp_path / "log").read_text().split())
    done = runner("--resume", "results")
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "log").read_text().split()) - before == failed
    assert result_of(tmp_path)["summary"]["instrument_failure_count"] == 0


def test_failures_of_the_model_are_asked_again_on_demand(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="", log="log"))
    assert runner("--max-cases", "8").returncode == 0
    assert result_of(tmp_path)["summary"]["model_failure_counts"] == {"empty_answer": 8}
    (tmp_path / "scripted.script.json").write_text(json.dumps({"default": "an answer", "log": "log"}))
    assert "nothing to resume" in runner("--resume", "results").stderr
    done = runner("--resume", "results", "--retry-failed")
    assert done.returncode == 0, done.stderr
    record = result_of(tmp_path)
    assert record["summary"]["model_failure_counts"] == {}
    assert {case["output"] for case in record["cases"]} == {"an answer"}
    assert runner("--retry-failed").stderr.startswith("error: --retry-failed: needs --resume")


def test_all_unfinished_runs_of_a_tree_are_resumed(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, "one", default="x"), scripted(tmp_path, "two", default="y"))
    assert runner("--max-cases", "8", "--name", "both").returncode == 0
    cut_after(tmp_path, 3)
    done = runner("--resume", "results")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "results").iterdir()
    report = (folder / "report.md").read_text()
    assert "| one " in report.replace("\\", "")
    assert "| two " in report.replace("\\", "")
    assert len((folder / "cases.csv").read_text().splitlines()) == 1 + 16


def test_two_runners_do_not_write_to_one_journal(tmp_path: Path, runner: Run) -> None:
    # It is asking for longer than the other takes to start.
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=1000))
    first = start(tmp_path, *SMALL)
    wait_for(lambda: answered(tmp_path) >= 1, first)
    done = runner(*SMALL, "--resume", "results")
    assert done.returncode == 2
    assert re.search(rf"is being written by process {first.pid} on \S+ since \d+T\d+Z; wait for it", done.stderr)
    assert ended(first)[0] == 0
    assert len(result_of(tmp_path)["cases"]) == 12


def test_a_runner_that_is_gone_leaves_no_lock_and_no_child(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=50))
    process = start(tmp_path, *SMALL)
    wait_for(lambda: answered(tmp_path) >= 2, process)
    assert _workers_in(tmp_path)
    ended(process, by=signal.SIGKILL)
    # Its child sees that and leaves.
    deadline = time.monotonic() + 60
    while _workers_in(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _workers_in(tmp_path)
    assert runner(*SMALL, "--resume", "results").returncode == 0


def _workers_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (
                b"ctxsift.backends.worker" in (process / "cmdline").read_bytes()
                and (process / "cwd").resolve() == folder
            ):
                found.append(process.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--resume", "nowhere"], "error: nowhere: no such file or folder; name a run folder"),
        (["--resume", "."], "error: .: contains no journal of a run; name a run folder"),
        (["--resume", ".", "--max-cases", "3"], "error: --max-cases: cannot be used with --resume"),
        (["--resume", "a.journal.jsonl"], "a.journal.jsonl:1: is not the journal of a run"),
        (
            ["--case-timeout", "0"],
            "error: --case-timeout 0.0: is not a valid time limit; give a number of seconds above 0",
        ),
    ],
)
def test_what_cannot_be_resumed(tmp_path: Path, runner: Run, arguments: list[str], said: str) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    if arguments[1].endswith("jsonl"):
        (tmp_path / arguments[1]).write_text("{}\n")
    done = runner(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def earlier_run(folder: Path, name: str) -> Path:
    """Copy a journal of an earlier version, and what its run read, into `folder`, and return the journal."""
    older = ROOT / "tests" / "data" / "journals"
    for file in ("corpus.jsonl", "matrix.json", "scripted.script.json"):
        shutil.copy(older / file, folder)
    run = folder / "results" / "old"
    run.mkdir(parents=True)
    return Path(shutil.copy(older / f"{name}.journal.jsonl", run))


def test_a_run_of_other_baselines_is_not_resumed(tmp_path: Path, runner: Run) -> None:
    journal = earlier_run(tmp_path, "control-tf-idf")
    before = answers_in(journal)
    done = runner("--resume", "results", "--dataset", "corpus.jsonl")
    assert done.returncode == 2
    assert f'belongs to another run: engine_version was "1", is "{BASELINES_VERSION}"' in done.stderr
    assert answers_in(journal) == before != []


def answers_in(journal: Path) -> list[AnswerLine]:
    return [line for line in read_journal(journal) if isinstance(line, AnswerLine)]


@pytest.mark.parametrize("name", ["scripted", "control-gold", "service"])
def test_a_run_of_an_earlier_version_is_resumed(tmp_path: Path, runner: Run, name: str) -> None:
    journal = earlier_run(tmp_path, name)
    before = answers_in(journal)
    options = ["--dataset", "corpus.jsonl", "--remote"]
    done = runner("--resume", "results", *options)
    assert done.returncode == 0, done.stderr
    assert f"{name}: {len(before)}/12 cases already have an answer" in done.stderr
    after = answers_in(journal)
    assert [line.key for line in after[: len(before)]] == [line.key for line in before]
    assert len({line.key for line in after}) == len(after) == 12
    assert runner("--scenario", name, "--output-dir", "anew", *options).returncode == 0
    (anew,) = (tmp_path / "anew").glob("*/*.json")
    assert timeless(result_of(tmp_path)) == timeless(json.loads(anew.read_text()))


def test_a_run_with_an_earlier_prompt_is_another_run(tmp_path: Path, runner: Run) -> None:
    older = ROOT / "tests" / "data" / "journals"
    for file in ("corpus.jsonl", "matrix.json", "scripted.script.json"):
        shutil.copy(older / file, tmp_path)
    folder = tmp_path / "results" / "old"
    folder.mkdir(parents=True)
    text = (older / "scripted.journal.jsonl").read_text()
    now, before = (f'"prompt_version": "{version}"' for version in (PROMPT_VERSION, "1"))
    assert text.count(now) == 1
    (folder / "scripted.journal.jsonl").write_text(text.replace(now, before))
    done = runner("--resume", "results", "--dataset", "corpus.jsonl")
    assert done.returncode == 2
    assert f'questions.prompt_version was "1", is "{PROMPT_VERSION}"' in done.stderr
    assert (folder / "scripted.journal.jsonl").read_text() == text.replace(now, before)


def test_what_changes_no_answer_keeps_nobody_from_resuming(cut: Path, runner: Run) -> None:
    matrix = json.loads((cut / "matrix.json").read_text())
    matrix["scenarios"][0] |= {"enabled": False, "phase": "another"}
    (cut / "matrix.json").write_text(json.dumps(matrix))
    done = runner("--resume", "results")
    assert done.returncode == 0, done.stderr

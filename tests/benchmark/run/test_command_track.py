"""Programs on the board: rows of track `command`, from the matrix to the report, with real processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.record.journal import AnswerLine, read_journal
from tests.conftest import Run, scenario, write_matrix
from tests.support.runs import SMALL, journal_of, result_of

LONG = 'import os, sys; os.environ["CTXSIFT_INTENT"] == "json" and sys.exit("cannot do JSON"); print(sys.stdin.read())'


def program(name: str, *command: str, **fields: Any) -> dict[str, Any]:
    """Return a matrix row of a program."""
    row = {"track": "command", "gguf_filename": None, "max_output_tokens": None, "model": command[0]}
    return scenario(**row | {"name": name, "command": command} | fields)


def test_a_program_is_run_scored_and_reported(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, program("tail", "tail", "-n", "20", version_command=["tail", "--version"], question=False))
    done = runner(*SMALL)
    assert done.returncode == 0, done.stderr
    record = result_of(tmp_path)
    assert record["run"]["complete"]
    assert record["run"]["backend"]["engine_version"].startswith("tail (GNU coreutils)")
    assert record["run"]["backend"]["settings"]["program"]["command"] == ["tail", "-n", "20"]
    assert record["scenario"]["question"] is False
    assert "~: a program that does not see the question" in done.stdout
    for case in record["cases"]:
        kept = case["raw_input"].splitlines(keepends=True)[-20:]
        assert case["raw_view"]["output"] == "".join(kept)
        assert case["inference_ms"] > 0


def test_a_program_that_is_missing_is_told_once_and_the_others_run(tmp_path: Path, runner: Run) -> None:
    gone = program("gone", "nosuchtool", install="pip install nosuchtool")
    write_matrix(tmp_path, gone, program("all", "cat"))
    done = runner(*SMALL)
    assert done.returncode == 1
    assert done.stderr.count("nosuchtool") == 2
    assert "not ready: gone: there is no program nosuchtool; install it: pip install nosuchtool\n" in done.stderr
    assert result_of(tmp_path)["scenario"]["name"] == "all"


def test_a_failure_of_a_program_costs_its_case(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, program("some", "python3", "-c", LONG))
    done = runner(*SMALL)
    assert done.returncode == 0, done.stderr
    record = result_of(tmp_path)
    failed = [case for case in record["cases"] if case["intent"] == "json"]
    assert failed
    for case in failed:
        assert (case["outcome"], case["failure_reason"]) == ("model_failure", "program_failed")
        assert case["fault"] == "exited with 1: cannot do JSON"
        assert case["case_score"] == 0.0
    assert record["summary"]["model_failure_counts"] == {"program_failed": len(failed)}
    assert "the first failure: exited with 1: cannot do JSON" in done.stdout
    report = next(path for path in tmp_path.glob("results/*/*.md")).read_text()
    assert "exited with 1: cannot do JSON" in report


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ('[ "$CTXSIFT_INTENT" != json ] || rm -rf "$PWD"; echo E1', "removed or replaced its folder or HOME"),
        ('[ "$CTXSIFT_INTENT" != json ] || { rmdir "$HOME"; mkfifo "$HOME"; }; echo E1', "removed or replaced"),
    ],
)
def test_no_case_is_dropped_by_what_a_program_does_to_its_folders(
    tmp_path: Path, runner: Run, code: str, fault: str
) -> None:
    write_matrix(tmp_path, program("some", "sh", "-c", code))
    done = runner(*SMALL)
    assert done.returncode == 0, done.stderr
    record = result_of(tmp_path)
    assert record["summary"]["instrument_failure_count"] == 0
    failed = [case for case in record["cases"] if case["intent"] == "json"]
    assert {(case["outcome"], case["case_score"]) for case in failed} == {("model_failure", 0.0)}
    assert all(case["fault"].startswith(fault) for case in failed)


@pytest.mark.parametrize(
    ("fields", "is_private"), [({}, False), ({"env": {"TOKEN": "x"}}, True), ({"leaves_machine": True}, True)]
)
def test_what_may_hold_secrets_is_read_by_its_owner_alone(
    tmp_path: Path, runner: Run, fields: dict[str, Any], is_private: bool
) -> None:
    write_matrix(tmp_path, program("some", "cat", **fields))
    assert runner("--max-cases", "1", *(("--remote",) if "leaves_machine" in fields else ())).returncode == 0
    files = [*tmp_path.glob("results/*/some.json"), *tmp_path.glob("results/*/some.journal.jsonl")]
    assert len(files) == 2
    assert {(file.stat().st_mode & 0o077 == 0) for file in files} == {is_private}


def test_what_it_does_beside_answering_is_told(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, program("clock", "sh", "-c", "touch left; date +%N"))
    done = runner(*SMALL)
    assert "clock: 12 cases: left files in its folder or HOME" in done.stdout
    assert "clock: 3 cases: two answers to the same request differ" in done.stdout


def test_a_program_that_sends_its_input_away_has_to_be_allowed(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, program("away", "cat", leaves_machine=True))
    assert "not ready: away: a remote scenario sends the corpus" in runner(*SMALL).stderr
    assert runner(*SMALL, "--remote").returncode == 0


def test_a_run_is_resumed_by_the_same_program_alone(
    tmp_path: Path, runner: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "mine.sh"
    script.write_text("#!/bin/sh\nhead -n 3\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    write_matrix(tmp_path, program("mine", "./mine.sh"))
    assert runner(*SMALL).returncode == 0
    journal = journal_of(tmp_path)
    assert journal
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:6]))
    result = next(tmp_path.glob("results/*/*.json"))
    result.unlink()
    script.write_text("#!/bin/sh\nhead -n 4\n")
    refused = runner("--resume", "results", *SMALL)
    assert refused.returncode == 2
    assert "settings.sha256../mine.sh was" in refused.stderr
    script.write_text("#!/bin/sh\nhead -n 3\n")
    assert runner("--resume", "results", *SMALL).returncode == 0
    answers = [line.case_id for line in read_journal(journal) if isinstance(line, AnswerLine)]
    assert len(answers) == len(set(answers)) == len(json.loads(result.read_text())["cases"]) == 12

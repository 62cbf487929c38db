"""A program before a model: what the model reads, what that costs, and what it is measured against."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmark.analysis.leaderboard import build_leaderboard
from benchmark.compare import main as compare
from benchmark.record.read import find_results
from ctxsift.backends.baselines import baseline_answer
from ctxsift.intents import Intent
from ctxsift.models.filtered import BEFORE, FAILED
from ctxsift.prompts import Request
from tests.benchmark.run.test_command_track import program
from tests.conftest import Run, scenario, scripted, write_matrix
from tests.support.runs import SMALL, result_of


def extractor(**fields: Any) -> dict[str, Any]:
    row = {"track": "control", "gguf_filename": None, "max_output_tokens": None, "model": "extractor"}
    return scenario(**row | fields)


def test_the_model_reads_what_the_program_prints(tmp_path: Path, runner: Run) -> None:
    tail = program("tail", "tail", "-n", "4", enabled=False)
    write_matrix(tmp_path, tail, extractor(name="behind", before="tail"))
    done = runner(*SMALL)
    assert done.returncode == 0, done.stderr
    record = result_of(tmp_path)
    assert record["run"]["backend"]["settings"][BEFORE]["program"]["command"] == ["tail", "-n", "4"]
    for case in record["cases"]:
        read = "".join(case["raw_input"].splitlines(keepends=True)[-4:])
        assert case["read"] == read
        request = Request(read, case["instruction"], Intent(case["intent"]))
        assert case["raw_view"]["output"] == baseline_answer("extractor", request)
        # What is saved is saved of the whole.
        assert case["read_tokens"] < case["input_tokens"]
    share = sum(c["read_tokens"] for c in record["cases"]) / sum(c["input_tokens"] for c in record["cases"])
    assert record["summary"]["read_share"] == pytest.approx(share)
    assert "behind: this model reads the output of tail instead of the raw output" in done.stdout


def test_the_time_of_the_program_is_part_of_the_answer(tmp_path: Path, runner: Run) -> None:
    slow = program("slow", "sh", "-c", "sleep 0.15; cat", enabled=False)
    write_matrix(tmp_path, slow, scripted(tmp_path, "model", default="x", delay_ms=1.0) | {"before": "slow"})
    assert runner(*SMALL, "--max-cases", "2").returncode == 0
    assert all(case["inference_ms"] > 150 for case in result_of(tmp_path)["cases"])


def test_a_program_that_fails_leaves_the_raw_output_to_the_model(tmp_path: Path, runner: Run) -> None:
    picky = program("picky", "python3", "-c", "import sys; t = sys.stdin.read(); sys.exit(t != 'ok\\n')", enabled=False)
    write_matrix(tmp_path, picky, extractor(name="behind", before="picky"))
    done = runner(*SMALL, "--max-cases", "3")
    for case in result_of(tmp_path)["cases"]:
        assert case["read"] == case["raw_input"]
        assert case["remarks"] == [FAILED]
        assert case["outcome"] == "scored"
    assert f"behind: 3 cases: {FAILED}" in done.stdout


def test_behind_a_program_a_baseline_is_no_reference(tmp_path: Path, runner: Run) -> None:
    write_matrix(
        tmp_path,
        program("all", "cat", enabled=False),
        extractor(name="alone"),
        extractor(name="behind", before="all"),
    )
    assert runner(*SMALL).returncode == 0
    results = find_results([tmp_path / "results"])
    references = {row.label: row.result.is_reference for row in build_leaderboard(results).rows}
    assert references == {"alone": True, "behind": False}
    alone, behind = (next(r for r in results if r.name == name) for name in ("alone", "behind"))
    # Reading all of it, it says the same.
    assert [case.score for case in alone.cases.values()] == [case.score for case in behind.cases.values()]
    assert compare([str(alone.path), str(behind.path)]) == 0


def test_a_program_that_is_missing_is_told_before_anything_runs(tmp_path: Path, runner: Run) -> None:
    gone = program("gone", "nosuchtool", enabled=False, install="pip install nosuchtool")
    write_matrix(tmp_path, gone, extractor(name="behind", before="gone"))
    told = "not ready: behind: its program gone: there is no program nosuchtool; install it: pip install nosuchtool"
    assert told in runner(*SMALL).stderr


@pytest.mark.parametrize("before", ["tial", "alone"])
def test_what_stands_before_a_model_is_a_row_of_a_program(tmp_path: Path, runner: Run, before: str) -> None:
    write_matrix(tmp_path, program("tail", "tail"), extractor(name="alone"), extractor(name="behind", before=before))
    done = runner(*SMALL)
    assert done.returncode == 2
    assert f"behind: {before!r} is not a row of track command" in done.stderr


def test_another_program_before_it_is_another_run(tmp_path: Path, runner: Run) -> None:
    row = extractor(name="behind", before="some")
    write_matrix(tmp_path, program("some", "tail", "-n", "4", enabled=False), row)
    assert runner(*SMALL).returncode == 0
    (result,) = tmp_path.glob("results/*/behind.json")
    (journal,) = tmp_path.glob("results/*/*.jsonl")
    result.unlink()
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:6]))
    write_matrix(tmp_path, program("some", "tail", "-n", "5", enabled=False), row)
    refused = runner("--resume", "results", *SMALL)
    assert refused.returncode == 2
    assert "settings.program_before.program.command was" in refused.stderr

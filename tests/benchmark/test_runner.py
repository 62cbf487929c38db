"""The runner from the command line, on the scripted backend that is registered like every other."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from benchmark.cases import EASY_TIER, Corpus
from benchmark.record.journal import AnswerLine, LoadedLine, RunLine, read_journal
from benchmark.record.read import read_result
from benchmark.record.schema import result_schema
from benchmark.render.terminal import print_board
from benchmark.run.selection import CaseOrder, select_cases, stratified
from benchmark.runner import PHASES
from ctxsift.intents import Intent
from tests.conftest import ROOT, Run, scripted, write_matrix
from tests.support.processes import default_signals

pytestmark = pytest.mark.slow

PUBLISHED_CASE_FIELDS = {
    *("case_id", "title", "domain", "instruction", "expected_output", "inference_ms", "cpu_rss_bytes"),
    *("gpu_peak_bytes", "output", "exact_preservation_ratio", "summary_quality_ratio", "format_adherence_score"),
    *("instruction_following_score", "validation_status", "validation_flags", "missing_tokens", "error"),
    *("brevity_ratio", "family", "thought_leakage_density", "thought_marker_count", "case_score", "raw_view"),
}
PUBLISHED_SUMMARY_FIELDS = {
    *("case_count", "success_count", "accepted_count", "soft_accepted_count", "rejected_count", "exact_pass_count"),
    *("avg_inference_ms", "p95_inference_ms", "avg_exact_preservation_ratio", "avg_summary_quality_ratio"),
    *("avg_format_adherence_score", "avg_instruction_following_score", "avg_brevity_ratio"),
    *("avg_thought_leakage_density", "avg_thought_marker_count", "avg_case_score", "p10_case_score"),
    *("quality_core", "latency_factor", "final_score", "peak_cpu_rss_bytes", "peak_gpu_bytes", "raw_view"),
}


def results(folder: Path) -> list[dict[str, Any]]:
    found = [json.loads(path.read_text()) for path in sorted((folder / "results").glob("*/*.json"))]
    schema = Draft202012Validator(result_schema())
    for result in found:
        schema.validate(result)
    return found


def answers(corpus: Corpus) -> list[list[str]]:
    """Return a script that answers every case with its gold."""
    return [[case.instruction.strip(), case.expected_output] for case in corpus.cases]


def test_gold_answers_score_full_marks(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    write_matrix(tmp_path, scripted(tmp_path, answers=answers(corpus), delay_ms=1))
    done = runner("--max-cases", "16")
    assert done.returncode == 0, done.stderr
    (result,) = results(tmp_path)
    assert result["summary"]["final_score"] == pytest.approx(100.0)
    assert result["summary"]["accepted_count"] == result["summary"]["case_count"] == 16
    assert result["run"]["complete"]
    assert "100.0" in done.stdout
    assert "16/16 cases" in done.stderr


def test_result_is_a_superset_of_the_published_layout(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    write_matrix(tmp_path, scripted(tmp_path, answers=answers(corpus)))
    assert runner("--max-cases", "8").returncode == 0
    (result,) = results(tmp_path)
    assert set(result) >= {"scenario", "warmup", "summary", "cases"}
    assert set(result["summary"]) >= PUBLISHED_SUMMARY_FIELDS
    not_of_a_view = {"avg_inference_ms", "p95_inference_ms", "latency_factor", "raw_view"}
    not_of_a_view |= {"peak_cpu_rss_bytes", "peak_gpu_bytes"}
    assert set(result["summary"]["raw_view"]) >= PUBLISHED_SUMMARY_FIELDS - not_of_a_view
    assert set(result["warmup"]) >= {"load_ms", "torch_num_threads", "omp_num_threads", "mkl_num_threads"}
    for case in result["cases"]:
        assert set(case) >= PUBLISHED_CASE_FIELDS
        known = {"case_id", "title", "domain", "instruction", "expected_output", "family", "error", "raw_view"}
        measured = {"inference_ms", "cpu_rss_bytes", "gpu_peak_bytes"}
        assert set(case["raw_view"]) >= PUBLISHED_CASE_FIELDS - known - measured


def test_eight_cases_show_all_intents(corpus: Corpus, runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="nothing of use"))
    assert runner("--max-cases", "8").returncode == 0
    (result,) = results(tmp_path)
    assert len({case["intent"] for case in result["cases"]}) == 8
    assert [case["case_id"] for case in result["cases"]] == [c.case_id for c in select_cases(corpus, max_cases=8)]
    ordered = stratified(corpus.cases)
    assert sorted(case.case_id for case in ordered) == sorted(case.case_id for case in corpus.cases)
    assert ordered == stratified(reversed(corpus.cases))


def test_a_short_run_begins_with_the_easy_tier(corpus: Corpus) -> None:
    easy = {case for case in corpus.cases if EASY_TIER in case.tags}
    chosen = select_cases(corpus, max_cases=len(easy) + 8)
    assert set(chosen[: len(easy)]) == easy
    for stretch in (chosen[:8], chosen[8:16], chosen[len(easy) :]):
        assert {case.intent for case in stretch} == set(Intent)
    assert select_cases(corpus, max_cases=50, order=CaseOrder.MIXED) == stratified(corpus.cases)[:50]
    assert select_cases(corpus) == stratified(corpus.cases)


def test_case_ids_select_cases(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    done = runner("--case-id", "java-root-cause-exact", "--case-id", "git-bisect-summary")
    assert done.returncode == 0
    (result,) = results(tmp_path)
    assert {case["case_id"] for case in result["cases"]} == {"java-root-cause-exact", "git-bisect-summary"}


def test_name_puts_all_scenarios_into_one_folder(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, "one", default="x"), scripted(tmp_path, "two", default="y"))
    assert runner("--max-cases", "1", "--name", "smoke").returncode == 0
    (folder,) = (tmp_path / "results").iterdir()
    assert folder.name.startswith("smoke-")
    assert {path.name for path in folder.iterdir()} == {
        *(f"{name}.{kind}" for name in ("one", "two") for kind in ("json", "md", "journal.jsonl")),
        *("report.md", "cases.csv"),
    }


def test_without_name_each_scenario_has_its_folder(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, "one", default="x"), scripted(tmp_path, "two", default="y"))
    assert runner("--max-cases", "1", "--output-dir", "out/deep").returncode == 0
    found = sorted(path.name for path in (tmp_path / "out" / "deep").iterdir())
    assert [name.partition("-")[0] for name in found] == ["cases", "one", "report", "two"]


def test_journal_has_identity_and_one_line_an_answer(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="an answer"))
    assert runner("--max-cases", "5").returncode == 0
    (path,) = (tmp_path / "results").glob("*/*.journal.jsonl")
    records = list(read_journal(path))
    assert [type(record) for record in records] == [RunLine, LoadedLine, *[AnswerLine] * 5]
    first, answers = records[0], [record for record in records if isinstance(record, AnswerLine)]
    assert isinstance(first, RunLine)
    assert [answer.case_id for answer in answers] == first.identity.case_ids
    assert len({answer.key for answer in answers}) == 5


def test_show_output_is_safe_for_a_terminal(runner: Run, tmp_path: Path) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07 [red]markup[/red] \u202e end"
    write_matrix(tmp_path, scripted(tmp_path, default=hostile))
    done = runner("--max-cases", "1", "--show-output")
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b[2J" in done.stderr
    assert "[red]markup[/red]" in done.stderr
    (result,) = results(tmp_path)
    assert result["cases"][0]["raw_view"]["output"] == hostile


def test_a_scenario_that_cannot_load_does_not_stop_the_others(runner: Run, tmp_path: Path) -> None:
    broken = scripted(tmp_path, "broken", fail_load="the weights are cursed")
    write_matrix(tmp_path, broken, scripted(tmp_path, "fine", default="x"))
    done = runner("--max-cases", "2", "--name", "both")
    assert done.returncode == 1
    failed, fine = results(tmp_path)
    assert failed["run"]["error"] == "the weights are cursed"
    assert failed["summary"]["case_count"] == 0
    assert not failed["run"]["complete"]
    assert fine["run"]["complete"]
    assert "failed: the weights are cursed" in done.stdout
    assert "Traceback" not in done.stderr


def test_missing_weights_are_told_for_all_scenarios_at_once(runner: Run, tmp_path: Path) -> None:
    rows = [scripted(tmp_path, "fine", default="x")]
    for name, model in (("gone", "package:no-such-package"), ("lost", "./nowhere"), ("bad", str(tmp_path))):
        row = scripted(tmp_path, name) | {"track": "cpu", "model": model, "gguf_filename": "m.gguf"}
        rows.append({key: value for key, value in row.items() if key != "backend"})
    (tmp_path / "m.gguf").write_bytes(b"GGML is not it")
    write_matrix(tmp_path, *rows)
    done = runner("--max-cases", "1")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("not ready: ")]
    assert lines[0].startswith("not ready: gone: package:no-such-package: no such packaged model, and no package")
    assert lines[1] == "not ready: lost: ./nowhere: no such file or folder"
    assert "not a GGUF file" in lines[2]
    assert [result["scenario"]["name"] for result in results(tmp_path)] == ["fine"]


def test_scenarios_that_lack_the_same_are_told_in_one_line(runner: Run, tmp_path: Path) -> None:
    lost = scripted(tmp_path, "s") | {"track": "cpu", "model": "./nowhere", "gguf_filename": "m.gguf"}
    del lost["backend"]
    write_matrix(tmp_path, *(lost | {"name": f"s{number}"} for number in range(7)))
    told = runner("--max-cases", "1").stderr
    assert "7 scenarios are not ready: ./nowhere: no such file or folder: s0, s1, s2, s3, s4 and 2 more\n" in told
    assert told.count("nowhere") == 1


def test_remote_scenarios_need_the_remote_flag(runner: Run, tmp_path: Path) -> None:
    row = scripted(tmp_path, default="x") | {"track": "remote", "device": "remote"}
    write_matrix(tmp_path, row)
    done = runner("--max-cases", "1")
    assert done.returncode == 1
    assert "add --remote" in done.stderr
    assert runner("--max-cases", "1", "--remote").returncode == 0


def test_crash_costs_one_case_and_is_no_bad_answer(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    victim = select_cases(corpus, max_cases=2)[1]
    write_matrix(tmp_path, scripted(tmp_path, answers=answers(corpus), crash_on=victim.instruction.strip()[:60]))
    done = runner("--max-cases", "4")
    assert done.returncode == 1
    (result,) = results(tmp_path)
    summary = result["summary"]
    assert summary["instrument_failure_count"] == 1
    assert summary["coverage"] == 0.75
    assert summary["final_score"] == pytest.approx(100.0)
    failed = result["cases"][1]
    assert failed["outcome"] == "instrument_failure"
    assert failed["attempts"] == 2
    assert "SIGSEGV" in failed["error"]
    assert "this is the last line of stderr" in failed["error"]
    assert "case_score" not in failed
    assert "incomplete: 3/4 cases" in done.stdout


def test_three_cases_without_answer_end_the_scenario(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, crash_always=True))
    assert runner("--max-cases", "8").returncode == 1
    (result,) = results(tmp_path)
    assert len(result["cases"]) == 3
    assert result["run"]["error"].startswith("3 cases in a row got no answer")


@pytest.mark.parametrize(
    ("script", "reason"), [({"default": ""}, "empty_answer"), ({"default": "w " * 999}, "token_limit")]
)
def test_model_failures_are_scored_and_named(runner: Run, tmp_path: Path, script: dict[str, Any], reason: str) -> None:
    write_matrix(tmp_path, scripted(tmp_path, **script))
    assert runner("--max-cases", "2").returncode == 0
    (result,) = results(tmp_path)
    assert result["summary"]["model_failure_counts"] == {reason: 2}
    assert all(case["outcome"] == "model_failure" for case in result["cases"])
    assert result["summary"]["final_score"] < 40


def test_an_input_that_does_not_fit_is_cut_visibly_and_flagged(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, room=250, default="x"))
    assert runner("--max-cases", "8", "--order", "mixed").returncode == 0
    (result,) = results(tmp_path)
    assert sum(case["input_chars_cut"] > 0 for case in result["cases"]) >= 4
    assert all(case["prompt_tokens"] <= 250 for case in result["cases"])


def test_recovery_can_be_switched_off(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    wrapped = [[needle, f"<think>hm</think>\n{gold}"] for needle, gold in answers(corpus)]
    write_matrix(tmp_path, scripted(tmp_path, answers=wrapped))
    (tmp_path / "off.env").write_text("CTXSIFT_RECOVERY_ENABLED=false\n")
    assert runner("--max-cases", "8", "--name", "a").returncode == 0
    assert runner("--max-cases", "8", "--name", "b", "--env-file", "off.env").returncode == 0
    on, off = results(tmp_path)
    assert on["summary"]["recovery_lift"] > 20
    assert on["cases"][0]["recovery_steps"][0]["name"] == "reasoning_block"
    assert off["summary"]["recovery_lift"] == 0
    assert not off["run"]["recovery_enabled"]


def test_interrupt_ends_with_130_and_keeps_what_is_done(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=100))
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmark.runner"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )
    deadline = time.monotonic() + 60
    while not _answers_so_far(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert 0 < _answers_so_far(tmp_path) < 48
    (result,) = results(tmp_path)
    assert result["run"]["error"] == "interrupted"
    # The answer that was being scored when the interrupt came is in the journal only.
    assert 0 <= _answers_so_far(tmp_path) - len(result["cases"]) <= 1


def _answers_so_far(folder: Path) -> int:
    paths = list(folder.glob("results/*/*.journal.jsonl"))
    # The file is there a moment before its first line.
    if not paths or b"\n" not in paths[0].read_bytes():
        return 0
    return sum(isinstance(line, AnswerLine) for line in read_journal(paths[0]))


def test_markdown_report(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="a | b <script>"))
    assert runner("--max-cases", "8").returncode == 0
    (path,) = (tmp_path / "results").glob("*/scripted.md")
    text = path.read_text()
    for part in (
        *("# scripted", "## By intent", "## By input length", "## Profile", "## Beside the score", "## Cases"),
        *("## Between floor and ceiling", "## Identity", "| recovered |"),
    ):
        assert part in text
    assert "<script>" not in text


def test_help_shows_every_option_and_examples(runner: Run) -> None:
    shown = runner("--help").stdout
    for option in (
        *("--matrix", "--dataset", "--output-dir", "--list-scenarios", "--scenario", "--phase", "--max-cases"),
        *("--case-id", "--show-output", "--name", "--remote", "--env-file", "exit codes"),
    ):
        assert option in shown


def test_help_names_the_phases_of_the_packaged_matrix(runner: Run) -> None:
    rows = json.loads((ROOT / "matrix.json").read_text(encoding="utf-8"))["scenarios"]
    assert set(PHASES) == {row["phase"] for row in rows}
    assert ", ".join(PHASES) in runner("--help").stdout


@pytest.mark.parametrize(("width", "shown"), [(180, "recovered ┃"), (80, "recovered 100")])
def test_the_summary_fits_the_terminal(runner: Run, tmp_path: Path, width: int, shown: str) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    assert runner("--max-cases", "2").returncode == 0
    (path,) = (tmp_path / "results").glob("*/scripted.json")
    console = Console(width=width, record=True, file=io.StringIO())
    print_board(console, [read_result(path)])
    text = console.export_text()
    assert shown in text
    assert "scripted" in text
    assert "gold (reference)" in text
    # Notes are one line each, however long.
    assert max(len(line) for line in text.splitlines() if not line.startswith("* ")) <= width

"""Stored answers scored anew: byte-identical when nothing changed, and clear about what moved when it did."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmark import rescore
from benchmark.cases import Corpus
from benchmark.corpus import DEFAULT_CORPUS
from benchmark.runner import main as runner_main
from tests.conftest import Run, published_layout, scripted, write_matrix
from tests.support.processes import run_inside

# One worker makes the run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("rescore")]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> Path:
    """A run of three scenarios, with scored cases, model failures and instrument failures; each test gets a copy."""
    place = tmp_path_factory.mktemp("finished")
    gold = [[case.instruction.strip(), case.expected_output] for case in corpus.cases[::2]]
    rows = [
        scripted(place, "half", answers=gold, default="Sure! Here it is:\n\nThe build failed.", delay_ms=1),
        scripted(place, "crashing", default="It broke.", crash_on=corpus.cases[0].instruction.strip()),
        scripted(place, "silent", default=""),
    ]
    write_matrix(place, *rows)
    ids = [option for case in corpus.cases[:24] for option in ("--case-id", case.case_id)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("CTXSIFT_")}
    done = run_inside(runner_main, ["--name", "run", *ids], place, environ)
    assert done.returncode == 1, done.stderr  # the crash
    (folder,) = (place / "results").iterdir()
    return folder


@pytest.fixture
def run_folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return shutil.copytree(finished, tmp_path / "results" / finished.name)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def edit(path: Path, **changes: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(record))
    return record


def test_nothing_changes_when_nothing_changed(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(run_folder)
    assert {"half.json", "half.md", "report.md", "cases.csv"} <= set(before)
    assert rescore.main([str(run_folder)]) == 0
    assert contents(run_folder) == before
    assert "nothing changed" in capsys.readouterr().out


def test_other_scores_are_fixed_and_told(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(run_folder)
    path = run_folder / "half.json"
    record = json.loads(path.read_text())
    record["cases"][0]["case_score"] = 0.123
    record["summary"]["final_score"] = 1.5
    path.write_text(json.dumps(record))
    assert rescore.main([str(run_folder), "--dry-run"]) == 0
    assert json.loads(path.read_text())["summary"]["final_score"] == 1.5
    assert rescore.main([str(run_folder)]) == 0
    assert contents(run_folder) == before
    told = capsys.readouterr().out
    assert "1.50 -> " in told
    assert "1 of 24" in told
    assert f"half: {record['cases'][0]['case_id']}  0.123 -> " in told


def test_changed_rules_of_the_corpus_move_scores(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], corpus: Corpus
) -> None:
    data = tmp_path / "data"
    shutil.copytree(DEFAULT_CORPUS, data)
    case = next(c for c in corpus.cases[:24:2] if c.required_anchors)
    file = data / case.capture.ecosystem / f"{case.capture.name.split('/')[1]}.yaml"
    text = file.read_text()
    old = text[text.index(f"id: {case.case_id}\n") :]
    new = old.replace("derived_anchors: []", "derived_anchors: [not-to-be-found]", 1)
    file.write_text(text.replace(old, new))
    before = contents(run_folder)
    assert rescore.main([str(run_folder), "--dataset", str(data), "--output-dir", str(tmp_path / "new")]) == 0
    assert contents(run_folder) == before
    moved = json.loads((tmp_path / "new" / "half.json").read_text())
    assert (tmp_path / "new" / "report.md").exists()
    row = next(row for row in moved["cases"] if row["case_id"] == case.case_id)
    assert "not-to-be-found" in row["missing_tokens"]
    assert f"{case.case_id}  1.000 -> " in capsys.readouterr().out


def test_a_case_that_asks_something_else_is_refused_or_left_out(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_folder / "silent.json"
    record = json.loads(path.read_text())
    record["cases"][2]["instruction"] = "Something else?"
    path.write_text(json.dumps(record))
    before = contents(run_folder)
    assert rescore.main([str(run_folder)]) == 2
    told = capsys.readouterr().err
    assert "/cases/2" in told
    assert "asks something else by now" in told
    assert len(told.splitlines()) == 1
    assert contents(run_folder) == before
    assert rescore.main([str(path), "--skip-changed"]) == 2
    assert "add --output-dir" in capsys.readouterr().err
    assert rescore.main([str(path), "--skip-changed", "--output-dir", str(run_folder.parent / "new")]) == 0
    assert contents(run_folder) == before
    after = json.loads((run_folder.parent / "new" / "silent.json").read_text())
    assert len(after["cases"]) == 23
    assert after["run"]["complete"] is False
    assert after["summary"]["coverage"] == pytest.approx(23 / 24)


@pytest.mark.parametrize(
    ("told", "ungrounded"),
    [
        ({}, []),
        ({"command": None}, ["hosts.ini"]),
        ({"command": "bash", "exit_code": 22}, None),
        ({"exit_code": 0}, None),
    ],
)
def test_an_answer_is_scored_by_what_its_model_was_told(
    run_folder: Path, capsys: pytest.CaptureFixture[str], told: dict[str, Any], ungrounded: list[str] | None
) -> None:
    path = run_folder / "silent.json"
    record = json.loads(path.read_text())
    row = next(row for row in record["cases"] if row["case_id"] == "ansible-host-status-bullets")
    assert (row["command"], row["exit_code"]) == ("ansible-playbook -i hosts.ini site.yml", 4)
    row["raw_view"]["output"] = "- It broke in hosts.ini."
    row |= told
    if None in told.values():
        # A file of an earlier prompt has no such keys.
        del row["command"], row["exit_code"]
    path.write_text(json.dumps(record))
    code = rescore.main([str(path)])
    if ungrounded is None:
        assert code == 2
        assert "asks something else by now" in capsys.readouterr().err
        return
    assert code == 0
    after = json.loads(path.read_text())
    (row,) = (row for row in after["cases"] if row["case_id"] == "ansible-host-status-bullets")
    assert row["ungrounded_facts"] == ungrounded
    assert row["command"] == (None if told else "ansible-playbook -i hosts.ini site.yml")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema_version": 99}, "/schema_version: 99 is"),
        ({"cases": [{"case_id": "x"}]}, "/cases/0"),
        ({"cases": "none"}, "/cases"),
    ],
)
def test_foreign_files_are_refused_in_one_line(
    run_folder: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], problem: str
) -> None:
    edit(run_folder / "half.json", **changes)
    before = contents(run_folder)
    assert rescore.main([str(run_folder)]) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert len(told.splitlines()) == 1
    assert contents(run_folder) == before


def test_a_file_of_the_published_layout_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published = published_layout(tmp_path / "published.json", "gpt", {"git-01": 0.5})
    assert rescore.main([str(published)]) == 2
    assert "uses the published layout of CtxSift" in capsys.readouterr().err


def test_results_of_the_first_schema_version_are_rescored(run_folder: Path) -> None:
    path = run_folder / "half.json"
    before = path.read_bytes()
    record = json.loads(before)
    record["schema_version"] = 1
    record["run"]["scorer_version"] = "1"
    del record["breakdowns"], record["run"]["statistics"]
    for row in record["cases"]:
        for name in ("cost_usd", "input_tokens", "output_tokens"):
            row.pop(name, None)
    path.write_text(json.dumps(record))
    assert rescore.main([str(path)]) == 0
    assert json.loads(path.read_text())["summary"] == json.loads(before)["summary"]


def test_one_file_of_a_run_leaves_the_report_whole(run_folder: Path) -> None:
    before = contents(run_folder)
    assert rescore.main([str(run_folder / "silent.json")]) == 0
    assert contents(run_folder) == before
    record = json.loads(before["silent.json"])
    record["summary"]["final_score"] = 50.0
    (run_folder / "silent.json").write_text(json.dumps(record))
    (run_folder / "report.md").write_text("stale")
    assert rescore.main([str(run_folder / "silent.json")]) == 0
    assert contents(run_folder) == before


def test_results_mirrored_elsewhere_do_not_collide_or_escape(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for tree in ("x/a", "x/b"):
        (tmp_path / tree / "r").mkdir(parents=True)
        shutil.copy(run_folder / "half.json", tmp_path / tree / "r" / "half.json")
    assert rescore.main([str(tmp_path / "x"), "--output-dir", str(tmp_path / "out")]) == 0
    assert len(list((tmp_path / "out").rglob("half.json"))) == 2
    both = [str(tmp_path / "x/a"), str(tmp_path / "x/b")]
    assert rescore.main([*both, "--output-dir", str(tmp_path / "other")]) == 2
    assert "would both become" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path / "x" / "a")
    before = (tmp_path / "x/a/r/half.json").read_bytes()
    assert rescore.main(["r/half.json", "--output-dir", "r"]) == 2
    assert "name another folder" in capsys.readouterr().err
    assert (tmp_path / "x/a/r/half.json").read_bytes() == before


def test_a_packed_result_stays_packed(run_folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed" / "half.json.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress((run_folder / "half.json").read_bytes()))
    before = packed.read_bytes()
    assert rescore.main([str(packed)]) == 0
    assert packed.read_bytes() == before
    record = json.loads((run_folder / "half.json").read_text())
    record["summary"]["final_score"] = 3.0
    packed.write_bytes(gzip.compress(json.dumps(record).encode()))
    assert rescore.main([str(packed)]) == 0
    assert gzip.decompress(packed.read_bytes()) == (run_folder / "half.json").read_bytes()
    assert {path.name for path in packed.parent.iterdir()} == {"half.json.gz", "half.md"}


def test_an_answer_that_could_not_be_scored_is_kept_and_tried_again(run_folder: Path) -> None:
    path = run_folder / "silent.json"
    before = path.read_bytes()
    record = json.loads(before)
    kept = ("finish_reason", "prompt_tokens", "completion_tokens", "prefill_ms", "decode_ms", "model", "reasoning")
    for row in record["cases"]:
        answer = {name: row[name] for name in (*kept, "cost_usd", "input_chars_cut")}
        row["unscored_answer"] = answer | {"text": row["raw_view"]["output"], "total_ms": row["inference_ms"]}
        row |= {"outcome": "instrument_failure", "error": "scoring failed: ZeroDivisionError: x"}
        for name in ("raw_view", "case_score", "output"):
            del row[name]
    record["run"]["complete"] = False
    path.write_text(json.dumps(record))
    assert rescore.main([str(path)]) == 0
    after = json.loads(path.read_text())
    assert after["run"]["complete"] is True
    # The memory of the process is not kept with an answer that was not scored.
    unknown = {"peak_cpu_rss_bytes": None}
    assert after["summary"] | unknown == json.loads(before)["summary"] | unknown


def test_a_fault_of_the_scorer_changes_nothing(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(run_folder)
    monkeypatch.setattr("benchmark.grading.outcome.score_view", lambda *_: 1 / 0)
    assert rescore.main([str(run_folder)]) == 2
    assert "scoring failed: ZeroDivisionError" in capsys.readouterr().err
    assert contents(run_folder) == before


def test_reports_of_runs_without_a_folder_of_their_own_follow(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, "one", default="x"), scripted(tmp_path, "two", default="y"))
    assert runner("--max-cases", "2").returncode == 0
    (report,) = (tmp_path / "results").glob("report-*.md")
    before = report.read_bytes()
    report.write_text("stale")
    (folder,) = (tmp_path / "results").glob("one-*")
    assert rescore.main([str(folder), "--output-dir", str(tmp_path / "new" / "deep")]) == 0
    assert not list((tmp_path / "new").glob("*.md"))
    assert rescore.main([str(folder / "one.json")]) == 0
    assert report.read_bytes() == before

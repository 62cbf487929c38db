"""Two results, or many, against each other: from the command line, on files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark import compare, report
from benchmark.paired import leaderboard
from benchmark.stored import find_results, read_result
from ctxsift.errors import InputError
from tests.conftest import published_layout

CASES = 120


def write(folder: Path, name: str, scores: dict[str, float], *, track: str = "cpu", **run: Any) -> Path:
    """Write a result with these case scores, as far as comparing reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = [
        {
            "case_id": case,
            "case_score": score,
            "inference_ms": 1000.0,
            "outcome": "scored",
            "intent": "json" if number % 2 else "recall",
            "family": "recall",
            "tool": "git",
            "difficulty": "easy",
            "validation_status": "accepted" if score > 0 else "rejected",
            "exact_preservation_ratio": 1.0 if score > 0.5 else 0.5,
            "raw_view": {"case_score": score / 2},
        }
        for number, (case, score) in enumerate(sorted(scores.items()))
    ]
    record = {
        "schema_version": 2,
        "scenario": {"name": name, "track": track},
        "warmup": {},
        "run": {
            "timestamp": "20260101T000000Z",
            "complete": True,
            "error": None,
            "scorer_version": "2",
            "corpus_sha256": "c" * 64,
            "prompt_version": "1",
            "backend": None,
            "wall_s": 1.0,
            "disturbance": {"latency_clean": True, "other_cpu_share": 0.0},
            **run,
        },
        "summary": {"case_count": len(cases), "raw_view": {}, "instrument_failure_count": 0}
        | {"model_failure_counts": {}, "final_score": 100 * sum(scores.values()) / max(1, len(scores))},
        "breakdowns": {},
        "cases": cases,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(record))
    return path


def drawn(seed: int, shift: float = 0.0) -> dict[str, float]:
    rng = np.random.default_rng(7)
    common = rng.beta(2, 2, CASES)
    noise = np.random.default_rng(seed).normal(0, 0.05, CASES)
    return {f"case-{n:03}": float(s) for n, s in enumerate(np.clip(common + noise + shift, 0, 1))}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return str(write(tmp_path / "a", "before", drawn(1))), str(write(tmp_path / "b", "after", drawn(2, -0.1)))


def figures(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shown


def test_a_drop_is_found_with_its_interval(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([*pair, "--json"]) == 0
    shown = figures(capsys)
    final = shown["figures"][0]
    assert final["name"] == "final"
    assert final["b"] - final["a"] == pytest.approx(final["difference"]["value"])
    assert (
        final["difference"]["interval"]["low"] < final["difference"]["value"] < final["difference"]["interval"]["high"]
    )
    assert final["difference"]["interval"]["high"] < 0
    assert final["difference"]["p"] < 0.001
    assert shown["verdict"] == "B is worse"
    assert shown["wins"] + shown["losses"] + shown["ties"] == shown["shared_cases"] == CASES
    assert shown["losses"] > shown["wins"]
    assert [group["name"] for group in shown["intents"]] == ["json", "recall"]
    assert sum(group["case_count"] for group in shown["intents"]) == CASES


def test_cases_that_flipped_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write(tmp_path / "a", "a", {"one": 0.9, "two": 0.9, "three": 0.3, "four": 0.2, "five": 0.7})
    b = write(tmp_path / "b", "b", {"one": 0.9, "two": 0.0, "three": 0.8, "four": 0.2, "six": 0.7})
    assert compare.main([str(a), str(b), "--json"]) == 0
    shown = figures(capsys)
    assert (shown["passed_only_in_a"], shown["passed_only_in_b"]) == (["two"], ["three"])
    assert (shown["wins"], shown["losses"], shown["ties"]) == (1, 1, 2)
    assert (shown["shared_cases"], shown["only_a"], shown["only_b"]) == (4, 1, 1)
    assert compare.main([str(a), str(b)]) == 0
    text = capsys.readouterr().out
    assert "4 shared cases; 1 only in A and 1 only in B are left out" in text
    assert "two  0.90 -> 0.00" in text
    assert "no difference beyond chance" in text


@pytest.mark.parametrize(("allowed", "code"), [("0", 1), ("5", 1), ("30", 0)])
def test_the_gate_fails_only_on_a_sure_drop(
    pair: tuple[str, str], allowed: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare.main([*pair, "--fail-on-drop", allowed]) == code
    assert ("dropped by more than" in capsys.readouterr().err) == bool(code)
    assert compare.main([*pair[::-1], "--fail-on-drop", "0"]) == 0


def test_quality_leaves_latency_out(tmp_path: Path) -> None:
    a, b = write(tmp_path, "a", drawn(1)), write(tmp_path, "b", drawn(1))
    record = json.loads(b.read_text())
    for case in record["cases"]:
        case["inference_ms"] = 60_000.0
    b.write_text(json.dumps(record))
    assert compare.main([str(a), str(b), "--fail-on-drop", "1"]) == 1
    assert compare.main([str(a), str(b), "--fail-on-drop", "1", "--score", "quality"]) == 0


def test_the_gate_lets_noise_pass(tmp_path: Path) -> None:
    a, b = write(tmp_path, "a", drawn(1)), write(tmp_path, "b", drawn(3))
    assert compare.main([str(a), str(b), "--fail-on-drop", "0"]) == 0


def test_markdown_of_a_pair(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([*pair, "--markdown"]) == 0
    text = capsys.readouterr().out
    for part in ("# after against before", "| score | A | B | B - A |", "## By intent", "cases passed only in A"):
        assert part in text


def test_many_results_make_a_matrix_with_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed, shift in (("best", 1, 0.2), ("twin-1", 2, 0.0), ("twin-2", 3, 0.0), ("worst", 4, -0.3)):
        write(tmp_path / "tree" / name, name, drawn(seed, shift))
    assert compare.main([str(tmp_path / "tree"), "--json"]) == 0
    shown = figures(capsys)
    ranks = {row["label"]: (row["place"], row["tied"]) for row in shown["results"]}
    assert ranks == {"best": (1, False), "twin-1": (2, True), "twin-2": (2, True), "worst": (4, False)}
    assert len(shown["differences"]) == 6
    assert compare.main([str(tmp_path / "tree"), "--markdown"]) == 0
    assert "| 2= | 2 twin-1 |" in capsys.readouterr().out
    assert compare.main([str(tmp_path / "tree")]) == 0
    assert "Holm" in capsys.readouterr().out


def test_corrected_p_values_are_never_smaller(tmp_path: Path) -> None:
    results = [read_result(write(tmp_path, f"r{n}", drawn(n, 0.008 * n))) for n in range(5)]
    board = leaderboard(results)
    for (i, j), difference in board.differences.items():
        alone = leaderboard([results[i], results[j]]).differences[0, 1]
        assert difference.p >= alone.p
        assert difference.value == pytest.approx(alone.value)


def test_results_without_a_shared_case_tie(tmp_path: Path) -> None:
    a = read_result(write(tmp_path, "a", {"one": 1.0}))
    b = read_result(write(tmp_path, "b", {"two": 0.0}))
    board = leaderboard([a, b])
    assert [str(rank) for rank in board.ranks] == ["1=", "1="]
    assert board.differences == {}


def test_what_is_hard_to_compare_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write(tmp_path, "a", drawn(1))
    disturbed = {"latency_clean": False, "other_cpu_share": 0.4}
    b = write(tmp_path, "b", drawn(2), scorer_version="1", complete=False, disturbance=disturbed)
    assert compare.main([str(a), str(b)]) == 0
    text = capsys.readouterr().out
    for warning in ("scored by different scorers (2, 1)", "b: latency was disturbed", "b: incomplete"):
        assert warning in text


def test_files_of_the_published_layout_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = published_layout(tmp_path / "a.result.json", "a", {f"c{n}": 0.4 for n in range(30)})
    b = published_layout(tmp_path / "b.result.json", "b", {f"c{n}": 0.6 for n in range(30)})
    packed = tmp_path / "b.result.json.gz"
    packed.write_bytes(gzip.compress(b.read_bytes()))
    assert compare.main([str(a), str(packed), "--json"]) == 0
    shown = figures(capsys)
    assert shown["figures"][0]["difference"]["value"] == pytest.approx(20.0)
    assert shown["intents"] == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "no JSON"),
        ("[]", "a list stands where a mapping is expected"),
        ('{"scenario": {"name": "x", "track": "cpu"}, "summary": {}}', "/cases: required field is missing"),
        ('{"scenario": {"name": "x", "track": "cpu"}, "summary": {}, "cases": [3]}', "/cases/0"),
        ("[" * 100_000, "cannot be read"),
        ("\udcff", "cannot be read"),
    ],
)
def test_damaged_files_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, problem: str
) -> None:
    path = tmp_path / "damaged.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    for command in (compare.main, report.main):
        assert command([str(path), str(write(tmp_path, "ok", {"one": 1.0}))]) == 2
        told = capsys.readouterr().err
        assert problem in told
        assert str(path) in told
        assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "problem"), [(float("nan"), "number"), (1.5, "out of range"), ("1", "number"), (True, "number")]
)
def test_scores_that_are_none_are_refused(tmp_path: Path, value: object, problem: str) -> None:
    path = write(tmp_path, "a", {"one": 1.0})
    record = json.loads(path.read_text())
    record["cases"][0]["case_score"] = value
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=problem):
        read_result(path)


def test_wrong_usage_is_one_line(tmp_path: Path, pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, problem in (
        ([pair[0]], "1 result to compare"),
        ([pair[0], pair[0]], "1 result to compare"),
        ([str(empty), pair[0]], "holds no result file"),
        ([str(tmp_path / "none"), pair[0]], "no such file or folder"),
        ([*pair, str(write(tmp_path, "c", drawn(5))), "--fail-on-drop", "1"], "name two result files"),
        ([*pair, "--fail-on-drop", "-1"], "is no number of points"),
        ([pair[0], str(write(tmp_path, "d", {"other": 1.0}))], "share no answered case"),
    ):
        assert compare.main(arguments) == 2
        told = capsys.readouterr().err
        assert problem in told
        assert len(told.splitlines()) == 1


def test_other_json_in_a_results_tree_is_no_result(tmp_path: Path) -> None:
    write(tmp_path / "run", "a", {"one": 1.0})
    (tmp_path / "matrix.json").write_text('{"scenarios": []}')
    assert [result.name for result in find_results([tmp_path])] == ["a"]


def test_report_writes_markdown_and_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "run", "winner", drawn(1, 0.3))
    write(tmp_path / "run", "loser", drawn(2, -0.2))
    write(tmp_path / "run", "control-tf-idf", drawn(3, -0.3), track="control")
    markdown, rows = tmp_path / "r.md", tmp_path / "c.csv"
    assert report.main([str(tmp_path / "run"), "--markdown", str(markdown), "--csv", str(rows)]) == 0
    shown = capsys.readouterr().out
    assert shown.index("winner") < shown.index("loser")
    assert "ref" in shown
    assert "| 1 | winner |" in markdown.read_text()
    assert "| ref | control-tf-idf |" in markdown.read_text()
    lines = rows.read_text().splitlines()
    assert len(lines) == 1 + 3 * CASES
    assert lines[0].startswith("scenario,track,model,case_id,")


def test_no_cell_of_the_csv_runs_in_a_spreadsheet(tmp_path: Path) -> None:
    path = write(tmp_path, "a", {"one": 1.0})
    record = json.loads(path.read_text())
    record["cases"][0]["tool"] = "=cmd()"
    path.write_text(json.dumps(record))
    assert report.main([str(path), "--csv", str(tmp_path / "c.csv")]) == 0
    assert "'=cmd()" in (tmp_path / "c.csv").read_text()

"""The command: table, warnings, CSV, gate."""

from __future__ import annotations

import csv
import io
import json
import statistics
from pathlib import Path

import pytest

from benchmark.utilization.__main__ import main


def data(folder: Path, *labels: list[int], question: str = "why?") -> Path:
    rows = [
        {"question": question, "contexts": [f"{i} {j}" for j in range(len(row))], "answer": "so", "labels": row}
        for i, row in enumerate(labels)
    ]
    path = folder / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_the_table_shows_both_means_and_what_is_undefined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data(tmp_path, [1, 0], [0, 1], [0, 0], [1, 0, 1], [0, 0, 1])
    assert main([str(path), "--labels-column", "labels"]) == 0
    printed = capsys.readouterr()
    values = [1, 1 / 2, 5 / 6, 1 / 3]
    for value in (statistics.mean(values), statistics.stdev(values), sum(values) / 5):
        assert f" {value:.3f} " in printed.out
    assert "undefined (no relevant chunk), left out of the mean: rows 3" in printed.out
    assert "0.33  row 5  0 0 1  why?" in printed.out
    assert "warning: the standard deviation 0.30 is above 0.3" in printed.out
    assert "warning: the sample is small: 4 defined rows, fewer than 30" in printed.out
    assert printed.err == ""


def test_perfect_orders_have_no_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data(tmp_path, *[[1, 1, 0]] * 30)
    assert main([str(path), "--labels-column", "labels", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["spread"]["mean"] == 1.0
    assert found["spread"]["interval"] == [1.0, 1.0]
    assert found["histogram"] == [0] * 9 + [30]
    assert found["warnings"] == []
    assert found["mean_precision"] == pytest.approx(2 / 3)


def test_every_sign_of_risk_names_its_threshold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data(tmp_path, [0, 1], [0, 0, 0, 1])
    assert main([str(path), "--labels-column", "labels", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["warnings"]
    assert [warning["figure"] for warning in found] == ["mean", "median", "highest", "count"]
    assert all(str(warning["threshold"]) in warning["text"] for warning in found)


def test_nothing_defined_is_shown_and_fails_a_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data(tmp_path, [0, 0], [0])
    assert main([str(path), "--labels-column", "labels", "--fail-below", "0"]) == 1
    printed = capsys.readouterr()
    assert "undefined" in printed.out
    assert printed.err == "failed: no row is defined\n"


@pytest.mark.parametrize(("least", "code"), [("0.75", 0), (".76", 1)])
def test_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str], least: str, code: int) -> None:
    path = data(tmp_path, [1, 0], [0, 1])
    assert main([str(path), "--labels-column", "labels", "--fail-below", least]) == code
    assert (capsys.readouterr().err == "failed: the mean 0.750 is below 0.76\n") == bool(code)


def test_k_counts_the_first_chunks_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data(tmp_path, [0, 1, 1], [0, 0, 1])
    assert main([str(path), "--labels-column", "labels", "--k", "2", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["utilization"] for row in rows] == ["0.5", ""]
    assert [row["state"] for row in rows] == ["defined", "undefined"]
    assert [row["verdicts"] for row in rows] == ["0 1", "0 0"]


def test_csv_holds_no_formula(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data(tmp_path, [1], question="=1+1")
    assert main([str(path), "--labels-column", "labels", "--csv"]) == 0
    assert "'=1+1" in capsys.readouterr().out


def test_questions_cannot_command_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data(tmp_path, [0, 1], question="a\x1b[2Jb\nc")
    assert main([str(path), "--labels-column", "labels"]) == 0
    assert "a\\x1b[2Jb c" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--k", "0"], "expected a whole number from 1 on, got '0'"),
        (["--k", "x"], "got 'x'"),
        (["--fail-below", "2"], "expected a number from 0 to 1, got '2'"),
        (["--fail-below", "nan"], "got 'nan'"),
        (["--json", "--csv"], "not allowed with"),
    ],
)
def test_bad_options(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], expected: str) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(data(tmp_path, [1])), "--labels-column", "labels", *options])
    assert left.value.code == 2
    assert expected in capsys.readouterr().err

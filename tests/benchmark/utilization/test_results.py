"""Cases of a result as rows: which lines a filter selected, and whether those that gold needs come first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.utilization.__main__ import main
from tests.conftest import ROOT, Run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tree(runner_in: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of baselines over twelve cases."""
    folder = tmp_path_factory.mktemp("utilization")
    scenarios = [part for name in ("gold", "ok", "tf-idf") for part in ("--scenario", f"control-{name}")]
    cases = ("--max-cases", "12", "--order", "mixed")
    done = runner_in(folder, "--matrix", str(ROOT / "matrix.json"), *scenarios, *cases)
    assert done.returncode == 0, done.stderr
    return folder / "results"


def result(tree: Path, name: str) -> Path:
    return next(tree.rglob(f"control-{name}.json"))


def measured(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> dict[str, Any]:
    assert main(["--from", "cases", str(path), *options, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_lines_of_a_filter_are_chunks(tree: Path, corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, result(tree, "tf-idf"))
    rows = found["rows"]
    assert len(rows) == 12
    assert all(1 <= row["chunks"] <= 5 for row in rows)
    assert {row["question"] for row in rows} <= {case.instruction for case in corpus.cases}
    assert 0 < found["mean_precision"] < 1


def test_gold_puts_what_it_needs_first(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, result(tree, "gold").parent)
    assert 0 < found["count"] < 12
    assert found["spread"]["mean"] == found["mean_precision"] == 1


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("ok", [], "control-ok.json: no answer contains a line of the output"),
        (None, [], "results: contains 3 results; name one of them"),
        ("gold", ["--labels-column", "x"], "--labels-column: has no effect together with --from cases"),
        ("gold", ["--dataset", "nowhere"], "nowhere: no such file or folder"),
    ],
)
def test_what_makes_no_rows(
    tree: Path, capsys: pytest.CaptureFixture[str], name: str | None, options: list[str], expected: str
) -> None:
    assert main(["--from", "cases", str(tree if name is None else result(tree, name)), *options]) == 2
    printed = capsys.readouterr()
    assert expected in printed.err
    assert printed.out == ""


def test_a_dataset_is_for_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "--dataset", str(tmp_path)]) == 2
    assert "--dataset: has no effect without --from cases" in capsys.readouterr().err

"""docs/adding-a-model.md does what it says: its rows are valid, its example backend installs and runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.matrix import load_matrix
from benchmark.record.read import find_results
from benchmark.record.result import Answered
from tests.conftest import ROOT, write_matrix

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "adding-a-model.md").read_text()
ROWS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def test_the_page_has_a_row_for_every_track() -> None:
    rows = [row["scenarios"][0] if "scenarios" in row else row for row in ROWS]
    assert list(dict.fromkeys(row["track"] for row in rows)) == ["cpu", "gpu", "remote", "control"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.get("name", "whole file")))
def test_its_rows_are_valid(row: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(row if "scenarios" in row else {"scenarios": [row]}))
    assert len(load_matrix(path)) == 1


def test_its_backend_installs_and_runs(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(site)]
    example = ROOT / "docs" / "examples" / "grep_backend"
    subprocess.run([sys.executable, "-m", "pip", *install, str(example)], check=True, capture_output=True, timeout=120)
    write_matrix(tmp_path, ROWS[-1])
    done = subprocess.run(
        [sys.executable, "-m", "benchmark.runner", "--max-cases", "8"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (result,) = find_results([tmp_path / "results"])
    assert result.record.run
    assert result.record.run.backend
    assert result.record.run.backend.name == "grep"
    assert {case.generation.model for case in result.record.cases if isinstance(case, Answered)} == {"grep error"}

"""The commands, one after the other over a few cases, as a newcomer would run them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark import report
from benchmark.__main__ import MODULES
from benchmark.__main__ import main as list_modules
from tests.conftest import ROOT, Run, scripted, write_matrix


def run(*arguments: str) -> str:
    """Run a module of the benchmark and return what it printed."""
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_what_is_run_is_reported_compared_and_rescored(tmp_path: Path) -> None:
    tree = str(tmp_path)
    shown = run("benchmark.runner", "--phase", "control", "--max-cases", "8", "--output-dir", tree)
    assert "control-gold" in shown
    assert "100.0" in run("benchmark.report", tree)
    assert "control-tf-idf" in run("benchmark.compare", tree)
    assert "nothing changed" in run("benchmark.rescore", tree)


@pytest.mark.slow
@pytest.mark.parametrize("part", [("--split", "test"), ("--tag", "easy-tier")])
def test_a_part_keeps_its_reference_rows(
    part: tuple[str, str], runner: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="ok") | {"track": "gpu", "device": "cuda"})
    assert runner("--max-cases", "8", "--split", "test", "--name", "part").returncode == 0
    assert runner("--max-cases", "12", "--name", "whole").returncode == 0
    capsys.readouterr()
    assert report.main([str(tmp_path / "results"), *part, "--json"]) == 0
    boards = json.loads(capsys.readouterr().out)["boards"]
    assert len(boards) == 2
    for board in boards:
        assert board["best"] == []
        assert "best baseline (" in board["headline"] or "significantly better" in board["headline"]
        assert {"gold", "ok"} <= {row["name"] for row in board["references"]}
        assert board["references"][0]["figures"]["score"] > 99


def test_the_package_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "benchmark"
    commands = {path.parent.name for path in folder.glob("*/__main__.py")}
    commands |= {path.stem for path in folder.glob("[a-z]*.py") if "def main(" in path.read_text(encoding="utf-8")}
    assert set(MODULES) == commands
    assert list_modules([]) == 0
    shown = capsys.readouterr().out
    assert all(f"python -m benchmark.{name} " in shown for name in commands)


def test_a_module_named_as_an_argument_is_told_how_it_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_modules(["reprt", "my results", "--json"]) == 2
    told = capsys.readouterr().err
    assert told.endswith("; try: python -m benchmark.report 'my results' --json\n")

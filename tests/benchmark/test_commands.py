"""The commands, one after the other over a few cases, as a newcomer would run them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


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

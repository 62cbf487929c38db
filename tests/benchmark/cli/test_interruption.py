"""Ctrl-C while a command is still being imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Python imports it before anything else.
_INTERRUPTING = """
import builtins
real = builtins.__import__
def imported(name, *rest, **more):
    if name == "benchmark.cli.command":
        raise KeyboardInterrupt
    return real(name, *rest, **more)
builtins.__import__ = imported
"""


@pytest.mark.parametrize("command", ["runner", "report", "viewer"])
def test_an_interruption_while_modules_are_imported_is_told_in_a_word(tmp_path: Path, command: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(_INTERRUPTING)
    done = subprocess.run(
        [sys.executable, "-m", f"benchmark.{command}"],
        cwd=ROOT,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == "interrupted\n"
    assert done.returncode != 0

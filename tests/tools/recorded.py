"""A recorder as a person calls it, and a small project to work on."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

CART = """\
def total(prices):
    if not prices:
        return None
    return sum(prices)
"""
TEST = """\
import unittest

from cart import total


class TotalTest(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(total([]), 0)


if __name__ == "__main__":
    unittest.main()
"""


@dataclass(frozen=True)
class Recorder:
    """Calls `python -m tools.record` on one recording."""

    folder: Path

    def __call__(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tools.record", *arguments],
            cwd=ROOT,
            env=os.environ | {"RECORDING": str(self.folder)},
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def done(self, *arguments: str, text: str = "") -> str:
        """Return what a call printed that has to succeed."""
        done = self(*arguments, text=text)
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

    def run(self, command: str, *options: str) -> str:
        return self.done("run", "--reason", "To see", *options, "--", command)

    def finished(self, target: Path, *options: str) -> Path:
        self.done("finish", str(target), "--split", "dev", "--licence", "MIT", *options)
        return target

    @property
    def files(self) -> Path:
        """The working folder, as it lies on this machine."""
        return self.folder / "root" / "home" / "dev" / "shop"


def started(folder: Path, *options: str) -> Recorder:
    """Return a recorder that has begun with a project of three files."""
    project = folder / "shop"
    project.mkdir()
    (project / "cart.py").write_text(CART)
    (project / "test_cart.py").write_text(TEST)
    (project / ".gitignore").write_text("__pycache__/\n*.log\n")
    recorder = Recorder(folder / "recording")
    recorder.done("start", str(project), *options)
    return recorder


def short_session(folder: Path) -> Recorder:
    """Return a recorder with a short working session: a check that fails, an edit, a check that passes."""
    recorder = started(folder)
    recorder.done("user", text="Empty carts have to cost 0. Never touch the tests.\n")
    recorder.run("python3 -m unittest")
    recorder.done("read", "--reason", "Where the total is made", "cart.py", "--lines", "2-3")
    recorder.done("edit", "--reason", "An empty cart costs 0", "cart.py", "--old", "return None", "--new", "return 0")
    recorder.run("python3 -m unittest > check.log 2>&1; tail -n 1 check.log")
    recorder.done("write", "--reason", "For the release", "notes/CHANGES.md", text="Empty carts cost 0.\n")
    recorder.run("git mv cart.py basket.py && cp basket.py cart.py && rm -r notes && mkdir src && cd src")
    recorder.done("say", text="Empty carts cost 0 now.")
    return recorder

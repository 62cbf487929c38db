"""Writes what docs/runner.md shows of the packaged results: their board as text, and pictures of their page.

`make samples` writes both in half a minute; a test holds the text to what the command prints.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmark.record.read import read_result
from benchmark.record.result import Answered
from ctxsift.files import write_atomically
from ctxsift.terminal import show
from tests.conftest import ROOT
from tests.support.chromium import ARGUMENTS, CHROMIUM

RUNNER, IMAGES = ROOT / "docs" / "runner.md", ROOT / "docs" / "images"
RESULTS = ROOT / "benchmark" / "packaged_results" / "easy"
SAMPLE = re.compile("(<!-- sample: make samples -->\\n\\n```\\n).*?(```\\n\\n<!-- end of sample -->\\n)", re.DOTALL)
_WIDTH, _HEIGHT = 1500, 720
# One of its cases is shown.
_SHOWN_MODEL = "cpu-qwen2.5-coder-1.5b-q4_k_m"


def board() -> str:
    """Return what `benchmark.report` prints of the packaged results over the easy cases, in a narrow terminal."""
    command = [sys.executable, "-m", "benchmark.report", str(RESULTS)]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment).stdout
    return "".join(f"{line.rstrip()}\n" for line in told.splitlines())


def best_case() -> str:
    """Return the id of the case that the shown model answered best."""
    answered = read_result(RESULTS / f"{_SHOWN_MODEL}.json.gz").record.cases
    best = max((case for case in answered if isinstance(case, Answered)), key=lambda case: case.recovered.case_score)
    return best.question.case_id


def take_pictures(folder: Path) -> None:
    """Write the pictures of the leaderboard and of one case."""
    page = folder / "page.html"
    subprocess.run([sys.executable, "-m", "benchmark.viewer", str(RESULTS), "-o", str(page)], cwd=ROOT, check=True)
    views = {"board": ("", _HEIGHT + 300), "case": (f"#/case/{_SHOWN_MODEL}/{best_case()}", 2 * _HEIGHT)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name, (address, height) in views.items():
            tab = browser.new_page(viewport={"width": _WIDTH, "height": height})
            tab.goto(page.as_uri() + address)
            tab.wait_for_selector("main h1")
            tab.wait_for_timeout(500)
            tab.screenshot(path=IMAGES / f"{name}.png")
            tab.close()
        browser.close()


def main() -> int:
    """Write docs/runner.md and pictures, and say where."""
    text = RUNNER.read_text(encoding="utf-8")
    if len(SAMPLE.findall(text)) != 1:
        raise ValueError(f"{RUNNER}: needs one sample between its marks")
    with tempfile.TemporaryDirectory() as name:
        take_pictures(Path(name))
    told = board()
    write_atomically(RUNNER, SAMPLE.sub(lambda found: f"{found[1]}{told}{found[2]}", text))
    for path in (RUNNER, IMAGES / "board.png", IMAGES / "case.png"):
        show(str(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())

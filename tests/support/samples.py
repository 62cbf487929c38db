"""Writes what docs/runner.md shows of a run: `make samples` runs the packaged models as `make bench` does (minutes).

The text of the run goes between the marks there, the pictures of its page into docs/images. Run it on a quiet
machine: the times in it are of that machine.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

from ctxsift.files import write_atomically
from ctxsift.terminal import show
from tests.conftest import ROOT
from tests.support.chromium import ARGUMENTS, CHROMIUM

RUNNER, IMAGES = ROOT / "docs" / "runner.md", ROOT / "docs" / "images"
_SAMPLE = re.compile("(<!-- sample: make samples -->\n).*?(<!-- end of sample -->\n)", re.DOTALL)
_SHOWN_FIRST = 4
_WIDTH, _HEIGHT = 1500, 520
# The model whose progress and one of whose cases are shown.
_SHOWN_MODEL = "cpu-qwen2.5-coder-1.5b-q4_k_m"


def run_models(folder: Path, options: Sequence[str]) -> str:
    """Run the packaged models and return what was printed: progress of one of them in short, and the board."""
    command = [sys.executable, "-m", "benchmark.runner", "--phase", "cpu-screen", "--output-dir", str(folder), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = [line for line in done.stderr.splitlines() if line.startswith(f"{_SHOWN_MODEL}: ")]
    board = "\n".join(line.rstrip() for line in done.stdout.splitlines() if str(folder) not in line).strip()
    return "\n".join(["```", *told[:_SHOWN_FIRST], "...", told[-1], "```", "", "```", board, "```", ""])


def best_case(folder: Path) -> str:
    """Return the id of the case that the shown model answered best."""
    (path,) = folder.rglob(f"{_SHOWN_MODEL}.json")
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return str(max(cases, key=lambda case: case.get("case_score") or 0.0)["case_id"])


def take_pictures(folder: Path) -> None:
    """Write the pictures of the leaderboard and of one case."""
    page = folder / "page.html"
    subprocess.run([sys.executable, "-m", "benchmark.viewer", str(folder), "-o", str(page)], cwd=ROOT, check=True)
    views = {"board": ("", _HEIGHT), "case": (f"#/case/{_SHOWN_MODEL}/{best_case(folder)}", 2 * _HEIGHT)}
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


def main(options: Sequence[str]) -> int:
    """Run the models with `options` (those of the runner), write docs/runner.md and pictures, and say where."""
    if len(_SAMPLE.findall(RUNNER.read_text(encoding="utf-8"))) != 1:
        raise ValueError(f"{RUNNER}: needs one sample between its marks")
    with tempfile.TemporaryDirectory() as name:
        said = run_models(Path(name), options)
        take_pictures(Path(name))
    text = RUNNER.read_text(encoding="utf-8")
    write_atomically(RUNNER, _SAMPLE.sub(lambda found: f"{found[1]}\n{said}\n{found[2]}", text))
    for path in (RUNNER, IMAGES / "board.png", IMAGES / "case.png"):
        show(str(path))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

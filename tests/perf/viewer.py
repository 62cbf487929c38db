"""What page and report of many results cost, in a process of its own: `python -m tests.perf.viewer` prints JSON."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmark.corpus import load_corpus
from benchmark.record.read import iterate_results
from benchmark.scoring import Embedder
from benchmark.viewer.page import build_page
from benchmark.viewer.page_data import gather
from tests.support.chromium import ARGUMENTS, CHROMIUM
from tests.support.results import many, synthesise, template, write_results

SCENARIOS = 28
MANY = 300
_ROUNDS = 5
# A view is there once it is painted and the browser is idle again: two frames later.
_WHEN_THERE = """selector => new Promise(done => {
    const look = () => document.readyState === "complete" && document.querySelector(selector)
        ? requestAnimationFrame(() => setTimeout(() => done(performance.now())))
        : requestAnimationFrame(look);
    look();
})"""


def timed(*arguments: str) -> float:
    """Return the median seconds of three runs of a command, start of Python included."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def open_board(browser: Browser, page: Path) -> float:
    """Return the median seconds from asking for the page to a leaderboard that is painted and answers."""
    times: list[float] = []
    for _ in range(_ROUNDS):
        context = browser.new_context()
        tab = context.new_page()
        tab.goto(page.as_uri(), wait_until="commit")
        times.append(float(tab.evaluate(_WHEN_THERE, "main tbody tr")) / 1000)
        context.close()
    return float(statistics.median(times))


def open_case(browser: Browser, page: Path) -> float:
    """Return the median seconds from a click on a case to its answers, each case opened for the first time."""
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(page.as_uri() + "#/scenario/model-20?sort=case")
    tab.wait_for_selector("main > .scroll tbody tr")
    times: list[float] = []
    for number in range(20):
        started = tab.evaluate(
            "number => { const now = performance.now();"
            "document.querySelectorAll('main > .scroll tbody th a')[number].click(); return now; }",
            number * 10,
        )
        times.append(float(tab.evaluate(_WHEN_THERE, ".answers .text") - started) / 1000)
        tab.go_back()
        tab.wait_for_selector("main > .scroll tbody tr")
    context.close()
    return float(statistics.median(times))


def measure() -> dict[str, float]:
    """Return seconds and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        tree, page, long_page = Path(folder, "results"), Path(folder, "page.html"), Path(folder, "long.html")
        record = template(Path(folder, "template"))
        write_results(synthesise(record, load_corpus(), Embedder(), SCENARIOS), tree)
        found = {"build_s": timed("benchmark.viewer", str(tree), "-o", str(page)), "bytes": page.stat().st_size}
        found["report_s"] = timed("benchmark.report", str(tree))
        records = [result.record for result in iterate_results([tree])]
        started = time.perf_counter()
        long_page.write_text(build_page(gather(many(records, MANY)), [], title="many"))
        found |= {"many_build_s": time.perf_counter() - started, "many_bytes": long_page.stat().st_size}
        del records
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            found["board_s"] = open_board(browser, page)
            found["case_s"] = open_case(browser, page)
            found["many_s"] = open_board(browser, long_page)
            browser.close()
    return found


if __name__ == "__main__":
    print(json.dumps(measure()))

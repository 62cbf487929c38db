"""A browser, the page of results that do not belong together, and a result of probes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from benchmark.probes.records import ProbeResult
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import scenarios_of
from benchmark.probes.subjects import recorded_subjects
from tests.support.chromium import ARGUMENTS, CHROMIUM
from tests.support.mixed import mixed_results
from tests.support.pages import page_of
from tests.support.watched_pages import WatchedPages


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert Path(CHROMIUM).exists(), "the page is tested in a real browser: apt-get install chromium"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[WatchedPages]:
    pages = WatchedPages(browser)
    yield pages
    pages.close()


@pytest.fixture(scope="module")
def mixed_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed")
    page_of(mixed_results(folder / "results"), folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="session")
def probed() -> ProbeResult:
    scenarios = scenarios_of(["gold", "everything", "text", "anchored", "random-1", "random-2"], [2000])
    return run_scenarios(recorded_subjects(["parcelgrid", "wattline"]), scenarios)

"""Results of probes on the page, in a real browser: figures as the report has them, by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from benchmark.probes.figures import boards
from benchmark.probes.printing import findings_of
from benchmark.probes.records import RESULT_FILE, ProbeResult
from tests.support.pages import overview_of, page_of, run_viewer

Open = Callable[..., Page]
PATIENCE_MS = 30_000
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("probes page")]
VIEWS = {
    "compaction": "#/",
    "of a session": "#/compaction?session=wattline&made=rule",
}


@pytest.fixture(scope="module")
def folder(probed: ProbeResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probes")
    (folder / "probes.json").write_text(RESULT_FILE.text(probed, "probes.json"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def page_file(folder: Path) -> Path:
    page_of(folder, folder / "page.html")
    return folder / "page.html"


@pytest.fixture
def show(browser: Browser, page_file: Path) -> Iterator[Open]:
    """Open an address of the page; the test fails on any message in the console, fault, or request to a network."""
    faults: list[str] = []
    contexts = []

    def open_(address: str = "#/", width: int = 1400, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        local = (page_file.as_uri(), "data:,")
        page.on("request", lambda request: None if request.url.startswith(local) else faults.append(request.url[:200]))
        page.goto(page_file.as_uri() + address)
        settled(page)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not faults


def settled(page: Page) -> None:
    page.wait_for_function("document.querySelector('h1') && !document.body.innerText.includes('Unpacking…')")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_every_view_is_accessible_and_fits(show: Open, view: str, scheme: str, width: int) -> None:
    page = show(VIEWS[view], width, color_scheme=scheme)
    for disclosure in page.locator("main details").all():
        disclosure.evaluate("element => { element.open = true }")
    serious = [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for rule in Axe().run(page).response["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"][:3]
    ]
    assert not serious, "\n".join(serious)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert len(page.locator("main").inner_text()) > 200


# Methods ----------------------------------------------------------------------------------------------------------


def cells(page: Page, label: str) -> list[str]:
    row = page.locator("tbody tr").filter(has=page.get_by_role("rowheader", name=label, exact=True))
    return [re.sub(r"\s+", " ", text) for text in row.first.locator("th, td").all_inner_texts()]


def test_figures_and_findings_are_those_of_the_report(show: Open, probed: ProbeResult) -> None:
    page = show()
    board = next(boards(probed))
    for row in board.rows:
        rank, name, tokens, score, _, *types = cells(page, row.label)
        assert name == row.label
        assert rank == (f"{row.rank.place}{'=' if row.rank.tied else ''}" if row.rank else "ref")
        assert score.split()[0] == f"{row.score.value:.2f}"
        assert tokens.endswith(f"{100 / row.ratio:.0f}%")
        assert types == [f"{found.value:.2f}" for found in row.types.values()]
    leads = page.locator(".lead").all_inner_texts()
    assert set(findings_of(board)) <= set(leads)
    # A picture names every method; the ends of the scale are lines.
    drawn = page.locator("svg.plot").text_content() or ""
    assert all(row.label in drawn for row in board.rows)
    assert page.locator("svg.plot .dot").count() == len(board.rows) - page.locator("svg.plot .end").count()


def test_every_column_is_explained(show: Open) -> None:
    page = show()
    asked = page.get_by_role("button", name="what tokens left means").first
    asked.press("Enter")
    expect(page.locator(".words > div:focus dt")).to_have_text("tokens left")


def test_choices_are_part_of_the_address_and_back_works(show: Open, probed: ProbeResult) -> None:
    page = show()
    whole = cells(page, "text")
    page.get_by_label("Session").select_option("wattline")
    expect(page).to_have_url(re.compile("session=wattline"))
    assert cells(page, "text") != whole
    page.get_by_label("Probes made by").select_option("rule")
    expect(page.locator("main")).to_contain_text("Probes generated by rules")
    page.reload()
    settled(page)
    expect(page.locator("main")).to_contain_text("Probes generated by rules")
    page.locator("thead").first.get_by_role("button", name="score", exact=False).first.press("Enter")
    expect(page).to_have_url(re.compile("sort=-score"))


def test_a_page_of_probes_alone_has_no_views_of_results(show: Open, page_file: Path, folder: Path) -> None:
    page = show()
    assert page.locator("header nav a").all_inner_texts() == ["Compaction"]
    text = page_file.read_text(encoding="utf-8")
    assert 'id="pack-vega"' not in text
    assert overview_of(text)["results"] == []
    done = run_viewer(folder, "--png", folder / "pictures")
    assert done.returncode == 2
    assert "contains no result file" in done.stderr


def test_results_and_probes_share_a_page(browser: Browser, folder: Path, mixed_page: Path, tmp_path: Path) -> None:
    page_of(mixed_page.parent / "results", folder / "probes.json", tmp_path / "both.html")
    page = browser.new_page()
    page.goto((tmp_path / "both.html").as_uri())
    settled(page)
    expect(page.locator("h1")).to_have_text("Leaderboard")
    page.get_by_role("link", name="Compaction").click()
    expect(page.locator("h1")).to_have_text("Compaction")
    settled(page)
    expect(page.locator("svg.plot")).to_be_visible()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Leaderboard")
    page.close()

"""The page in a real browser, with results that do not belong together: it misleads nobody, and keeps the place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmark.record.read import find_results
from tests.support.chromium import ARGUMENTS, CHROMIUM
from tests.support.mixed import mixed_results
from tests.support.pages import page_of

Open = Callable[..., Page]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("mixed page")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def mixed_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed")
    page_of(mixed_results(folder / "results"), folder / "page.html")
    return folder / "page.html"


@pytest.fixture
def show(browser: Browser, mixed_page: Path) -> Iterator[Open]:
    faults: list[str] = []
    contexts = []

    def open_(address: str = "#/", **options: Any) -> Page:
        context = browser.new_context(viewport=options.pop("viewport", {"width": 1400, "height": 900}), **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.goto(mixed_page.as_uri() + address)
        expect(page.locator("h1")).to_be_visible()
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not faults


def until(page: Page, expression: str) -> None:
    """Wait until an expression is true; the page's policy forbids what Playwright waits with."""
    for _ in range(100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(expression)


def test_another_scorer_has_no_verdict(show: Open) -> None:
    page = show("#/compare/model-02/older")
    expect(page.get_by_text("were scored by different scorers")).to_be_visible()
    card = page.locator("section.card")
    expect(card.locator(".good, .bad")).to_have_count(0)
    expect(card).not_to_contain_text("loses")
    expect(card.get_by_text("not comparable").first).to_be_visible()


def test_headline_and_chooser_follow_what_is_asked(show: Open) -> None:
    page = show("#/")
    page.get_by_label("Find").fill("zzzz")
    expect(page.get_by_text("No result is left by the filters.").first).to_be_visible()
    expect(page.locator("p.lead", has_text=re.compile("^ *Best"))).to_have_count(0)
    chooser = page.get_by_role("region", name="Which result to choose")
    chooser.get_by_label("at most GB").fill("0.000001")
    chooser.get_by_label("I need").select_option("json")
    chooser.get_by_label("without services").check()
    expect(chooser.get_by_text("The limits leave none of")).to_be_visible()
    # What was asked is in the address.
    page.reload()
    expect(chooser.get_by_text("The limits leave none of")).to_be_visible()
    expect(chooser.get_by_label("without services")).to_be_checked()
    chooser.get_by_label("at most GB").fill("much")
    expect(chooser.get_by_role("alert")).to_have_text("not a number")
    chooser.get_by_label("I need").select_option("all")
    page.get_by_label("Find").fill("")
    chooser.get_by_label("without services").uncheck()
    chooser.get_by_label("from").select_option("Published layout, 20 cases")
    expect(chooser.get_by_role("region")).to_have_count(3)
    chooser.get_by_role("region", name="best").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_going_back_keeps_the_place(show: Open) -> None:
    page = show("#/scenario/model-01")
    expect(page.locator("#cases")).to_be_visible()
    page.evaluate("scrollTo(0, 700)")
    until(page, "history.state?.y === 700")
    page.evaluate("document.querySelector('main tbody th.name a').click()")
    expect(page.locator(".crumbs")).to_be_visible()
    assert page.evaluate("scrollY") == 0
    page.go_back()
    expect(page.locator("#cases")).to_be_visible()
    until(page, "Math.abs(scrollY - 700) <= 10")


def test_a_reason_leads_to_its_cases(show: Open) -> None:
    page = show("#/scenario/model-01", viewport={"width": 1400, "height": 700})
    page.locator("table", has_text="Why answers were rejected").locator("a").first.click()
    until(page, "document.getElementById('cases').getBoundingClientRect().top < innerHeight - 150")


def test_ticks_stand_in_the_address(show: Open) -> None:
    page = show("#/")
    page.get_by_label("compare model-02").check()
    page.get_by_label("compare model-01").check()
    expect(page.get_by_role("link", name="Compare 2 chosen")).to_be_visible()
    page.reload()
    expect(page.get_by_label("compare model-02")).to_be_checked()
    # Keys are the page's where a box has the focus.
    page.get_by_label("compare model-02").focus()
    page.keyboard.press("2")
    expect(page.locator("h1")).to_have_text("Charts")


def test_the_theme_that_was_chosen_stays(show: Open) -> None:
    page = show("#/", color_scheme="light")
    page.get_by_role("button", name="switch to dark").click()
    page.reload()
    expect(page.get_by_role("button", name="switch to light")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="switch to light").click()
    page.emulate_media(color_scheme="light")
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_role("button", name="switch to dark")).to_be_visible()


def test_pictures_are_of_one_board_and_every_point_is_filled(show: Open) -> None:
    page = show("#/pictures")
    boards = page.get_by_label("Board").locator("option").all_inner_texts()
    assert len(boards) >= 3
    for about in boards:
        page.get_by_label("Board").select_option(about)
        for drawing in page.locator(".drawing").all():
            expect(drawing.locator("svg, canvas").first).to_be_visible()
        points = page.locator("svg path[aria-roledescription='point']")
        assert not {"none", "null", None} & {point.get_attribute("fill") for point in points.all()}
        fills = page.locator("figure", has_text="Latency").locator("svg path[aria-roledescription='bar']")
        assert not {"none", "null", None} & {bar.get_attribute("fill") for bar in fills.all()}


@pytest.mark.parametrize("view", ["#/", "#/pictures", "#/compare/model-02/older", "#/retention", "#/scenario/service"])
def test_mixed_results_fit_a_phone(show: Open, view: str) -> None:
    page = show(view, viewport={"width": 390, "height": 844})
    expect(page.get_by_text("Unpacking…")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_paper_cuts_no_picture(show: Open) -> None:
    page = show("#/pictures")
    for drawing in page.locator(".drawing").all():
        expect(drawing.locator("svg, canvas").first).to_be_visible()
    page.emulate_media(media="print")
    # A4 in CSS pixels, as far as it is printed on.
    page.set_viewport_size({"width": 718, "height": 1000})
    wide = "[...document.querySelectorAll('.drawing svg')].filter((s) => s.getBoundingClientRect().right > 718).length"
    assert page.evaluate(wide) == 0


def test_a_filter_goes_along_to_the_pictures(show: Open) -> None:
    page = show("#/")
    page.get_by_label("Find").fill("model-0")
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Charts").click()
    expect(page.locator("h1")).to_have_text("Charts")
    expect(page.get_by_label("Find")).to_have_value("model-0")


def test_cases_are_found_by_their_domain(show: Open, tmp_path: Path) -> None:
    (record,) = find_results([mixed_results(tmp_path) / "model-01.json"])
    domains = Counter(case.question.domain for case in record.record.cases)
    domain, count = next((str(d), n) for d, n in domains.most_common() if d and "_" not in d)
    page = show("#/scenario/model-01")
    page.get_by_label("Find").fill(domain)
    told = page.locator("main").get_by_role("status").last.inner_text()
    assert int(told.split()[0]) >= count


@pytest.mark.parametrize("view", ["#/", "#/pictures", "#/compare/model-02/older", "#/scenario/service"])
def test_every_view_of_mixed_results_is_accessible(show: Open, view: str) -> None:
    page = show(view)
    expect(page.get_by_text("Unpacking…")).to_have_count(0)
    for drawing in page.locator(".drawing").all():
        expect(drawing.locator("svg, canvas").first).to_be_visible()
    broken = [rule for rule in Axe().run(page).response["violations"] if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in broken] == []

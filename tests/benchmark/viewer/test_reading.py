"""The page in a real browser, with results that do not belong together: it misleads nobody, and keeps the place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from benchmark.record.read import find_results
from tests.support.mixed import mixed_results
from tests.support.watched_pages import WatchedPages

Open = Callable[..., Page]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("mixed page")]


@pytest.fixture
def show(watched: WatchedPages, mixed_page: Path) -> Open:
    def open_(address: str = "#/", **options: Any) -> Page:
        page = watched.open(mixed_page, address, **options)
        expect(page.locator("h1")).to_be_visible()
        return page

    return open_


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
    # Numbers side by side would be read as a verdict.
    expect(card.locator("table")).to_have_count(0)
    expect(card).to_contain_text("run python -m benchmark.rescore on them first")
    expect(page.get_by_role("columnheader", name="B − A")).to_have_count(0)
    page.goto(page.url.replace("older", "model-01"))
    expect(card.locator("table")).to_have_count(1)
    expect(page.get_by_role("columnheader", name="B − A").last).to_be_visible()


def test_hidden_columns_are_counted_and_reached(show: Open) -> None:
    page = show("#/", viewport={"width": 1300, "height": 900})
    hint = page.locator(".beyond button").first
    expect(hint).to_have_text(re.compile(r"^[2-9] more columns: scroll →$"))
    hint.focus()
    page.keyboard.press("Enter")
    expect(hint).to_have_text("← first columns")
    page.keyboard.press("Enter")
    expect(hint).to_have_text(re.compile("more columns"))
    wide = show("#/", viewport={"width": 2600, "height": 900})
    expect(wide.locator(".beyond")).to_have_count(0)


def test_every_column_and_badge_is_explained_without_a_mouse(show: Open) -> None:
    page = show("#/")
    told = dict(
        zip(page.locator(".words dt").all_inner_texts(), page.locator(".words dd").all_inner_texts(), strict=True)
    )
    heads = page.locator("main > .scroll").first.locator("thead th")
    for head in heads.all():
        title = head.locator("button").first
        # One text, on hover and in the list.
        assert told[title.inner_text().strip("▲▼")] == title.get_attribute("title")
    for badge in page.locator("main .flag").all():
        assert told[badge.inner_text().split(":")[0]] == badge.get_attribute("title")
    assert {"=", "ref"} <= told.keys()
    page.get_by_role("button", name="what norm means").first.focus()
    page.keyboard.press("Enter")
    about = page.locator(".explained").first
    expect(about).to_have_text(f"norm: {told['norm']}")
    page.keyboard.press("Enter")
    expect(about).to_be_empty()


def test_an_incomplete_run_says_how_much_it_holds_wherever_it_stands(show: Open) -> None:
    page = show("#/retention")
    row = page.get_by_role("row", name="model-03").first
    expect(row).to_contain_text("incomplete: 7 of 16 cases")


def test_an_old_scorer_is_told_in_the_heading(show: Open) -> None:
    page = show("#/")
    heading = page.get_by_role("heading", name=re.compile("scorer 0"))
    expect(heading).to_have_text(re.compile(r"scorer 0 \(old: today's is \d+\)"))


def test_no_gap_stands_below_a_refusal(show: Open) -> None:
    page = show("#/")
    expect(page.get_by_text("Nothing is recommended.")).to_be_visible()
    gap = "[...document.querySelectorAll('.chooser')].map((e) => e.offsetHeight - e.scrollHeight + "
    gap += "e.getBoundingClientRect().bottom - e.lastElementChild.getBoundingClientRect().bottom)[0]"
    assert page.evaluate(gap) < 30


def test_headline_and_chooser_follow_what_is_asked(show: Open) -> None:
    page = show("#/")
    page.get_by_label("Find").fill("zzzz")
    expect(page.get_by_text("No result is left by the filters.").first).to_be_visible()
    expect(page.locator("p.lead", has_text=re.compile("^ *Best"))).to_have_count(0)
    chooser = page.get_by_role("region", name="Which result to choose")
    chooser.get_by_label("memory limit (GB)").fill("0.000001")
    chooser.get_by_label("I need").select_option("json")
    chooser.get_by_label("without services").check()
    expect(chooser.get_by_text(re.compile("none of .* within the limits"))).to_be_visible()
    # What was asked is in the address.
    page.reload()
    expect(chooser.get_by_text(re.compile("none of .* within the limits"))).to_be_visible()
    expect(chooser.get_by_label("without services")).to_be_checked()
    chooser.get_by_label("memory limit (GB)").fill("much")
    expect(chooser.get_by_role("alert")).to_have_text("not a number")
    chooser.get_by_label("I need").select_option("all")
    page.get_by_label("Find").fill("")
    chooser.get_by_label("without services").uncheck()
    chooser.get_by_label("from").select_option("Published layout, 20 cases")
    expect(chooser.get_by_role("region")).to_have_count(3)
    chooser.get_by_role("region", name="best").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_going_back_undoes_a_choice_and_stays_on_the_page(show: Open) -> None:
    page = show()
    track = page.get_by_role("combobox", name="Track")
    page.get_by_label("Find").fill("model")
    track.select_option("cpu")
    expect(page).to_have_url(re.compile("track=cpu"))
    page.go_back()
    expect(track).to_have_value("")
    # Letters that somebody types are no steps of their own.
    expect(page.get_by_label("Find")).to_have_value("model")


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

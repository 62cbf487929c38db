"""Tables and pictures of the page as a reader takes them along."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.watched_pages import PATIENCE_MS, WatchedPages, saved_picture

Open = Callable[..., Page]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("mixed page")]
REFUSING = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
"""Some browsers give a page from disk no clipboard."""


@pytest.fixture
def show(watched: WatchedPages, mixed_page: Path) -> Open:
    def open_(address: str, script: str = "") -> Page:
        allowed = ["clipboard-read", "clipboard-write"]
        page = watched.open(mixed_page, address, script=script, accept_downloads=True, permissions=allowed)
        expect(page.locator("h1")).to_be_visible(timeout=PATIENCE_MS)
        return page

    return open_


def test_what_is_shown_of_a_table_is_copied(show: Open) -> None:
    page = show("#/?q=model-0&sort=result")
    take = page.locator(".take").first
    take.get_by_role("button", name="copy CSV").click()
    expect(take.get_by_role("button", name="copy CSV ✓")).to_be_visible()
    titles, *rows = csv.reader(io.StringIO(page.evaluate("navigator.clipboard.readText()")))
    assert titles[:3] == ["rank", "result", "track"]
    shown = page.locator("main > .scroll").first.locator("tbody th.name").all_inner_texts()
    assert len(rows) == len(shown)
    models = [row for row in rows if row[1].startswith("model-0")]
    assert [row[1].split()[0] for row in models] == ["model-00", "model-01", "model-02", "model-03"]
    core = titles.index("quality core")
    assert titles[core + 1 : core + 3] == ["quality core low", "quality core high"]
    value, low, high = map(float, models[2][core : core + 3])
    assert low < value < high
    # Badges are apart from names.
    assert titles[-1] == "flags"
    assert models[3][1] == "model-03"
    assert models[3][-1].startswith("incomplete: 7 of 16 cases, ")
    assert all(len(row) == len(titles) for row in rows)
    with page.expect_download() as started:
        take.get_by_role("button", name="save as CSV").click()
    assert started.value.suggested_filename.endswith(".csv")
    saved = csv.reader(io.StringIO(Path(started.value.path()).read_text(encoding="utf-8")))
    assert list(saved) == [titles, *rows]
    take.get_by_role("button", name="copy Markdown").click()
    expect(take.get_by_role("button", name="copy Markdown ✓")).to_be_visible()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert len(lines) == len(rows) + 2
    assert lines[0].startswith("| rank | result |")
    take.get_by_role("button", name="copy link to this view").click()
    expect(take.get_by_role("button", name="copy link to this view ✓")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_a_page_without_a_clipboard_offers_the_text_selected(show: Open) -> None:
    page = show("#/cases?q=json", REFUSING)
    page.get_by_role("button", name="copy CSV").click()
    field = page.get_by_label("This browser does not let the page copy")
    text = field.input_value()
    assert len(list(csv.reader(io.StringIO(text)))) == 1 + page.locator("main > .scroll tbody tr").count() > 1
    assert field.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)") == text
    expect(field).to_be_focused()


def test_a_picture_is_saved(show: Open) -> None:
    page = show("#/pictures")
    figure = page.locator("figure").first
    expect(figure.locator("svg")).to_be_visible(timeout=30_000)
    assert saved_picture(figure, "quality-against-latency", "PNG")
    # It can be put on any ground.
    assert b'fill="#ffffff"' in saved_picture(figure, "quality-against-latency", "SVG")[:600]

"""Stress experiments on the page, in a real browser: the tables and charts that their command prints and draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmark.stress.reading import read_experiment
from benchmark.viewer.stress_data import is_stress_file, read_stress_files
from ctxsift.errors import InputError
from tests.support.pages import page_of, run_viewer
from tests.support.stressed import DOCUMENTS, stored
from tests.support.watched_pages import PATIENCE_MS, WatchedPages, serious_faults

Open = Callable[..., Page]
CHARTS = {name: len(read_experiment(name, stored(name)).pictures) for name in DOCUMENTS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all experiments; their names say nothing, the last one is of no scenario."""
    folder = tmp_path_factory.mktemp("stress")
    for number, name in enumerate(reversed(DOCUMENTS)):
        (folder / f"file-{number}.json").write_text(json.dumps(stored(name)), encoding="utf-8")
    nobody = stored("noise") | {"scenarios": []}
    (folder / "nobody.json").write_text(json.dumps(nobody), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def page_file(folder: Path) -> Path:
    page_of(folder, folder / "page.html")
    return folder / "page.html"


@pytest.fixture
def show(watched: WatchedPages, page_file: Path) -> Open:
    """Open the view."""

    def open_(width: int = 1400, scheme: str = "light") -> Page:
        page = watched.open(page_file, "#/stress", viewport={"width": width, "height": 900}, color_scheme=scheme)
        expect(page.locator(".drawing > svg, .drawing canvas, .drawing svg.marks")).to_have_count(
            sum(CHARTS.values()), timeout=PATIENCE_MS
        )
        return page

    return open_


@pytest.mark.browser
@pytest.mark.xdist_group("stress page")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_the_view_is_accessible_and_fits(show: Open, scheme: str, width: int) -> None:
    page = show(width, scheme)
    serious = serious_faults(page)
    assert not serious, "\n".join(serious)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.xdist_group("stress page")
def test_each_file_has_a_section_with_its_table_and_charts(show: Open) -> None:
    page = show()
    expect(page.get_by_role("navigation")).to_have_text("Stress")
    sections = page.locator("main section")
    expect(sections).to_have_count(len(DOCUMENTS) + 1)
    for name in DOCUMENTS:
        shown = read_experiment(name, stored(name))
        section = sections.filter(has_text=f"About {name}").first
        table = section.locator("table").first
        assert table.locator("thead th").all_inner_texts() == list(shown.titles)
        found = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]
        assert found == [list(row) for row in shown.rows]
        for line in shown.lines:
            expect(section.get_by_text(line)).to_be_visible()
        expect(section.get_by_role("button", name="copy Markdown")).to_be_visible()
        expect(section.locator("figure")).to_have_count(CHARTS[name])
        for picture in shown.pictures:
            drawn = section.locator("figure").filter(has_text=picture.title)
            texts = drawn.locator(".drawing text").all_text_contents()
            assert {row["label"] for row in picture.rows} <= set(texts)
    expect(page.get_by_text("No scenario was asked.")).to_have_count(1)


def test_a_damaged_file_is_left_out_with_a_reason(folder: Path, tmp_path: Path) -> None:
    damaged = stored("variants")
    damaged["scenarios"][1]["old_names"] = "many"
    (tmp_path / "x.json").write_text(json.dumps(damaged), encoding="utf-8")
    (tmp_path / "y.json").write_text(json.dumps(stored("length")), encoding="utf-8")
    (tmp_path / "z.json").write_text("[1]", encoding="utf-8")
    assert [is_stress_file(tmp_path / f"{name}.json") for name in "xyz"] == [True, True, False]
    skipped: list[InputError] = []
    (left,) = read_stress_files([tmp_path / "x.json", tmp_path / "y.json"], skipped)
    assert left.table.name == "length"
    assert "x.json: is a damaged file of an experiment (Expected `object | null`" in str(skipped[0])
    done = run_viewer(tmp_path, "-o", tmp_path / "page.html")
    assert done.returncode == 2
    assert "1 stress experiment," in done.stdout
    assert "is a damaged file of an experiment" in done.stderr


def test_the_charts_of_experiments_are_files_too(folder: Path, tmp_path: Path) -> None:
    done = run_viewer(folder, "--svg", tmp_path)
    assert done.returncode == 0, done.stderr
    names = sorted(file.name.split("-", 2)[2] for file in tmp_path.glob("stress-*.svg"))
    assert names == sorted(f"{name}.svg" for name in DOCUMENTS)

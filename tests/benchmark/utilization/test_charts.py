"""Histogram, box plot and page as files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmark.utilization.__main__ import main

LABELS = ["--labels-column", "labels"]


def data(folder: Path, *labels: list[int], question: str = "why?") -> str:
    rows = [
        {"question": question, "contexts": [f"{i} {j}" for j in range(len(row))], "answer": "so", "labels": row}
        for i, row in enumerate(labels)
    ]
    path = folder / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def test_every_form_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    targets = [tmp_path / name for name in ("spread.png", "spread.svg", "page.html")]
    options = [part for target in targets for part in ("-o", str(target))]
    assert main([data(tmp_path, [1, 0], [0, 1], [0, 0, 1, 1]), *LABELS, *options]) == 0
    assert targets[0].read_bytes().startswith(b"\x89PNG")
    drawn = ElementTree.fromstring(targets[1].read_text(encoding="utf-8"))
    labels = [mark.get("aria-label", "") for mark in drawn.iter() if "role-mark" in mark.get("class", "")]
    assert len(labels) >= 4
    assert "mean" in capsys.readouterr().out


def test_the_chart_holds_the_figures(tmp_path: Path) -> None:
    target = tmp_path / "spread.svg"
    assert main([data(tmp_path, [1, 0], [0, 1], [0, 0, 1]), *LABELS, "-o", str(target)]) == 0
    drawn = target.read_text(encoding="utf-8")
    for part in ("start: 0.5; rows: 1", "start: 0.9; rows: 1", "median: 0.5", "quartile_1: 0.41"):
        assert part in drawn


def test_nothing_defined_is_drawn_as_nothing(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    assert main([data(tmp_path, [0, 0]), *LABELS, "-o", str(target)]) == 0
    assert "undefined" in target.read_text(encoding="utf-8")


def test_the_page_needs_no_network_and_holds_no_foreign_markup(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    question = "<img src=x onerror=alert(1)> & $rows \x1b[2J"
    assert main([data(tmp_path, [0, 1], question=question), *LABELS, "-o", str(target)]) == 0
    page = target.read_text(encoding="utf-8")
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; $rows \\x1b[2J" in page
    assert "<img" not in page
    assert "<script" not in page
    assert set(re.findall(r"https?://[^\"' ]+", page)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_lowest_rows_stand_first_on_the_page(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    assert main([data(tmp_path, [0, 0], [1], [0, 1], [0, 0, 1]), *LABELS, "-o", str(target)]) == 0
    page = target.read_text(encoding="utf-8")
    assert re.findall(r"row (\d):", page) == ["4", "3", "2", "1"]
    assert page.count("<li>needed (label)</li>") == 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("page.pdf", "page.pdf: has an unsupported file type; use a name that ends in .html, .png, .svg"),
        ("nowhere/page.html", "cannot be written (No such file or directory); name another file"),
    ],
)
def test_files_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, expected: str
) -> None:
    assert main([data(tmp_path, [1]), *LABELS, "-o", str(tmp_path / name)]) == 2
    printed = capsys.readouterr()
    assert expected in printed.err
    assert printed.out == ""


@pytest.mark.browser
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    from tests.support.chromium import ARGUMENTS, CHROMIUM

    target = tmp_path / "page.html"
    assert main([data(tmp_path, [1, 0], [0, 1], question="which one?"), *LABELS, "-o", str(target)]) == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 400, "height": 800})
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text))
        page.goto(target.as_uri())
        assert page.locator("svg").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        item = page.locator("details").first
        assert not item.locator("li").first.is_visible()
        item.locator("summary").click()
        assert item.locator("li").all_inner_texts() == ["not needed (label)", "needed (label)"]
        browser.close()
    assert not faults


def test_a_full_disk_is_told_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        # As a write has it: only opening a file names it.
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("benchmark.utilization.__main__.write", full)
    assert main([data(tmp_path, [1, 0]), *LABELS, "-o", "page.html"]) == 2
    assert capsys.readouterr().err.startswith("error: page.html: cannot be written (No space left on device)")

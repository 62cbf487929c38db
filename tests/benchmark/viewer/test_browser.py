"""The page in a real browser: every view, by mouse and keyboard, with hostile answers, for every reader."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from benchmark.analysis.comparison import Comparisons
from benchmark.analysis.retention import LeftOut, Retention, RetentionBoard
from benchmark.record.read import read_result, stored
from benchmark.scoring import Embedder
from benchmark.viewer.page import build_page
from benchmark.viewer.page_data import gather
from ctxsift.backends.baselines import BASELINES
from tests.conftest import published_layout
from tests.support.agreeing import summed
from tests.support.depth import FUZZ
from tests.support.frozen import page_cases
from tests.support.pages import compared, documents, pack, page_of, run_viewer
from tests.support.statements import NO_PROSE, STATEMENTS, WITH, WITHOUT, measurement, result_of, worded_cases
from tests.support.watched_pages import PATIENCE_MS, WatchedPages, serious_faults

COUNT = len(page_cases().cases)
CASE = "sphinx-orgelbau-autodoc-recall"
VIEWS = {
    "board": "#/",
    "pictures": "#/pictures",
    "compare": "#/compare/model-05/model-04/model-02",
    "side by side": f"#/compare/model-05/model-04?case={CASE}",
    "choose": "#/compare",
    "scenario": "#/scenario/model-05",
    "case": f"#/case/model-05/{CASE}",
    "incomplete": "#/scenario/model-03",
    "slices": "#/slices",
    "cases": "#/cases?order=divided",
    "all answers": f"#/cases?case={CASE}",
    "unknown": "#/scenario/nobody",
}
COLOURS = """() => {
    const style = getComputedStyle(document.body);
    return [style.backgroundColor, style.color, style.getPropertyValue("--missing").trim()];
}"""
"""A busy machine is no fault of the page."""
expect.set_options(timeout=PATIENCE_MS)
Open = Callable[..., Page]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("page")]


@pytest.fixture(scope="module")
def page_file(results_page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("browser") / "page.html"
    file.write_text(results_page, encoding="utf-8")
    return file


@pytest.fixture
def show(watched: WatchedPages, page_file: Path) -> Open:
    """Open an address of the page."""

    def open_(address: str = "#/", file: Path = page_file, **options: Any) -> Page:
        page = watched.open(file, address, **options)
        settled(page)
        return page

    return open_


SETTLED = """() => {
  const drawings = [...document.querySelectorAll(".drawing")];
  return document.querySelector("h1") !== null
    && !document.body.innerText.includes("Unpacking…")
    && drawings.every((drawing) => drawing.querySelector("svg, canvas") !== null);
}"""


def settled(page: Page) -> None:
    """Wait until nothing is being unpacked or drawn, at one moment: a click may replace what was looked at."""
    page.wait_for_function(SETTLED)
    expect(page.locator("h1")).to_be_visible()


def names(page: Page) -> list[str]:
    """Return the names in the first column that names, from top to bottom."""
    return page.locator("main > .scroll tbody th.name a").all_inner_texts()


# Every view -------------------------------------------------------------------------------------------------------


# Colours are of a few kinds, and these views have them all.
DARK = ("board", "pictures", "case")


@pytest.mark.parametrize(
    ("view", "scheme"), [*((view, "light") for view in VIEWS), *((view, "dark") for view in (VIEWS if FUZZ else DARK))]
)
def test_every_view_is_drawn_and_accessible(show: Open, view: str, scheme: str) -> None:
    page = show(VIEWS[view], color_scheme=scheme)
    serious = serious_faults(page)
    assert not serious, "\n".join(serious)
    assert len(page.locator("main").inner_text()) > 40


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_fits_a_phone_and_prints(show: Open, view: str) -> None:
    page = show(VIEWS[view], viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="switch to dark").click()
    dark = page.evaluate(COLOURS)
    page.emulate_media(media="print")
    expect(page.locator("header nav")).to_be_hidden()
    # Paper is light, whatever the screen was.
    assert page.evaluate(COLOURS) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)", "#ffd9d3"] != dark
    assert page.pdf().startswith(b"%PDF")


def test_addresses_survive_a_reload_and_the_way_back(show: Open) -> None:
    page = show()
    page.get_by_role("link", name="model-04", exact=True).first.click()
    expect(page.locator("h1")).to_have_text("model-04")
    page.get_by_role("link", name=CASE).click()
    expect(page.locator(".lead code")).to_have_text(CASE)
    expect(page).to_have_title(re.compile("Two objects autodoc could not import"))
    title, address = page.title(), page.url
    page.reload()
    expect(page).to_have_title(title)
    assert page.url == address
    page.go_back()
    expect(page.locator("h1")).to_have_text("model-04")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Leaderboard")


# Leaderboard ------------------------------------------------------------------------------------------------------


def test_the_board_is_ordered_sorted_and_filtered(show: Open) -> None:
    page = show()
    assert names(page)[0] == "control-gold"
    assert next(name for name in names(page) if name.startswith("model")) == "model-05"
    assert {"control-extractor", "control-ok"} < set(names(page))
    assert "control-echo" not in names(page)
    heading = page.get_by_role("columnheader", name="quality core")
    expect(heading).to_have_attribute("aria-sort", "descending")
    heading.get_by_role("button").first.click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    assert names(page)[-1] == "control-gold"
    heading = page.get_by_role("columnheader", name="result")
    heading.get_by_role("button").first.click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    models = [name for name in names(page) if name.startswith("model")]
    assert models == sorted(models)
    page.get_by_label("Find").fill("model-02")
    expect(page.get_by_role("status")).to_have_text("1 of 6 results")
    # Who types keeps the place to type; who shares the address shares the filter.
    expect(page.get_by_label("Find")).to_be_focused()
    assert "q=model-02" in page.url
    page.get_by_label("Find").fill("")
    page.get_by_role("combobox", name="Track").select_option("gpu")
    expect(page.get_by_role("status")).to_have_text("1 of 6 results")
    page.get_by_role("combobox", name="Track").select_option("")
    page.get_by_label("all reference rows").check()
    expect(page.get_by_role("link", name="control-echo", exact=True)).to_be_visible()
    assert "control-echo" in names(page)
    page.reload()
    settled(page)
    assert "control-echo" in names(page)


def test_floor_and_ceiling_are_lines_and_doubts_are_marked(show: Open) -> None:
    page = show()
    lines = page.locator("tr.line")
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("ceiling")
    expect(lines.last).to_contain_text("floor")
    expect(lines.locator("input")).to_have_count(0)
    expect(page.get_by_role("row", name="model-02")).to_contain_text("disturbed")
    incomplete = page.get_by_role("row", name="model-03")
    expect(incomplete).to_contain_text(f"incomplete: {COUNT - 9} of {COUNT} cases")
    expect(incomplete).to_contain_text("scored on fewer cases than the others, so it stands last")
    expect(incomplete.locator(".bar .apart")).to_have_count(1)
    expect(incomplete.locator(".bar .fill, .bar .line")).to_have_count(0)
    expect(incomplete).to_contain_text(f"{100 * (COUNT - 9) // COUNT}%")
    # Whatever it scores over some of the cases, it is not above a run over all of them.
    assert names(page)[-1].startswith("model-03")
    page.get_by_role("button", name="recovered").first.click()
    settled(page)
    assert not names(page)[-1].startswith("model-03")
    expect(incomplete).not_to_contain_text("stands last")


def test_reference_rows_that_are_no_results_look_like_none(show: Open, results_tree: Path, tmp_path: Path) -> None:
    page_file = tmp_path / "models.html"
    page_of(*results_tree.rglob("model-*.json"), page_file)
    page = show("#/?q=model-02", file=page_file)
    own = documents(results_tree)["model-05"]["summary"]["reference"]
    best = sorted(own["controls"], key=lambda name: -own["controls"][name])[:3]
    expected = {"gold (reference)": own["ceiling_score"]}
    expected |= {f"baseline {name}": own["controls"][name] for name in dict.fromkeys([*best, "ok"])}
    rows = page.locator("tr.line, tr.reference")
    # A filter leaves what there is to measure by.
    expect(rows).to_have_count(len(expected))
    for label, score in expected.items():
        row = rows.filter(has=page.get_by_role("rowheader", name=label))
        expect(row.locator(".of-score")).to_have_text(f"{score:.1f}")
        expect(row.locator("td").first).to_have_text("ref")
    expect(rows.locator("a, input")).to_have_count(0)
    expect(page.locator("tr.line")).to_have_count(2)
    rival = page.get_by_role("row", name="model-02").locator("td").first
    for part in (rows.first, rows.last):
        shade = "element => getComputedStyle(element).backgroundColor"
        assert part.locator("td").first.evaluate(shade) != rival.evaluate(shade)
    expect(page.get_by_text(f"scored on the {COUNT} cases of model-05")).to_be_visible()
    assert not [rule for rule in Axe().run(page).response["violations"] if rule["impact"] in ("serious", "critical")]


def test_cells_of_the_board_are_the_files_figures(show: Open, results_tree: Path) -> None:
    page = show("#/?all=1")
    titles = [
        text.strip("▲▼") for text in page.locator("main > .scroll thead th > button:first-child").all_inner_texts()
    ]
    checked = 0
    files = {path.stem: path for path in results_tree.rglob("*.json")}
    for name, record in documents(results_tree).items():
        summary = record["summary"]
        row = page.locator("main > .scroll tbody tr").filter(has=page.get_by_role("link", name=name, exact=True))
        cells = dict(zip(titles, row.locator("th, td").all_inner_texts(), strict=True))
        assert cells["recovered"] == f"{summary['final_score']:.1f}"
        assert cells["raw"] == f"{summary['raw_view']['final_score']:.1f}"
        assert cells["lift"] == shown(summary["recovery_lift"], "+.1f")
        # The norm of a run that is not complete has a zero of its own.
        whole = summary["case_count"] == summary["planned_count"]
        assert cells["norm"] == (shown(summary["normalised_score"], ".1f") if whole else "–")
        _, ends = Comparisons().core(read_result(files[name]))
        interval = f"[{ends.low:.1f},{ends.high:.1f}]" if ends and ends.low < ends.high else ""
        assert squeezed(cells["quality core"]) == f"{100 * summary['quality_core']:.1f}{interval}"
        assert cells["covered"] == f"{math.floor(100 * summary['coverage'])}%"
        verdicts = (summary[f"{name}_count"] for name in ("accepted", "soft_accepted", "rejected"))
        assert cells["acc/soft/rej"] == "/".join(map(str, verdicts))
        assert cells["avg s"] == f"{summary['avg_inference_ms'] / 1000:.2f}"
        assert cells["p95 s"] == f"{summary['p95_inference_ms'] / 1000:.2f}"
        assert cells["thought"] == f"{summary['avg_thought_leakage_density']:.2f}"
        checked += 1
    assert checked == 6 + 1 + len(BASELINES)


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def shown(value: float, form: str) -> str:
    text = format(value, form)
    zero = not text.strip("+-0.")
    return text.replace("-", "+" if zero and "+" in form else "" if zero else "−")


# Slices -----------------------------------------------------------------------------------------------------------


def test_a_slice_is_chosen_and_stands_in_the_address(show: Open, page_file: Path) -> None:
    (board, *_) = pack(page_file.read_text(encoding="utf-8"), "slices")["boards"]
    page = show("#/slices")
    # The last facet differs from the first one, which is shown unasked.
    for each in (board["slices"][0], board["slices"][-1]):
        name = f"{each['facet']}={each['name']}"
        page.locator("main select").select_option(name)
        expect(page.locator(".lead").first).to_have_text(
            f"{each['cases']} cases about {each['captures']} raw outputs."
            + (f" The best baseline on them, a program without a model: {each['floor']}." if each["floor"] else "")
        )
        rows = page.locator("main .scroll").first.locator("tbody tr")
        expect(rows).to_have_count(len(each["rows"]))
        best = max(row["core"] for row in each["rows"])
        expect(rows.first).to_contain_text(f"{best:.1f}")
    assert page.url.endswith(urlencode({"slice": name}))


# Head to head -----------------------------------------------------------------------------------------------------


def test_two_are_chosen_and_compared(show: Open, results_tree: Path) -> None:
    page = show()
    button = page.get_by_role("link", name="Compare")
    page.get_by_role("checkbox", name="compare model-02").check()
    page.get_by_role("checkbox", name="compare model-05").check()
    button = page.get_by_role("link", name="Compare 2 chosen")
    button.click()
    settled(page)
    # Addresses name runs.
    assert re.search(r"#/compare/model-02~\w+/model-05~\w+$", page.url)
    files = {path.stem: str(path) for path in results_tree.rglob("model-*.json")}
    said = compared(files["model-02"], files["model-05"])
    card = page.locator(".card").first
    expect(card).to_contain_text(f"B wins {said['wins']}, loses {said['losses']}, ties {said['ties']}")
    for figure in said["figures"]:
        name = "quality core" if figure["name"] == "quality" else figure["name"]
        row = card.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True))
        interval = figure["difference"]["interval"]
        expect(row).to_contain_text(f"{figure['a']:.1f}")
        expect(row).to_contain_text(shown(figure["difference"]["value"], "+.1f"))
        ends = f"[{shown(interval['low'], '+.1f')}, {shown(interval['high'], '+.1f')}]"
        # The verdict is on one of them, which alone has an interval.
        expect(row.get_by_text(ends)).to_have_count(1 if name == "quality core" else 0)
    # Flips stand first.
    passed = page.locator("main > .scroll tbody tr td:nth-child(3)").all_inner_texts()
    flips = [text in ("A", "B") for text in passed]
    count = len(said["passed_only_in_a"]) + len(said["passed_only_in_b"])
    assert flips == [True] * count + [False] * (len(flips) - count)
    assert count > 0
    # Of these, what only A passed.
    lost = len(said["passed_only_in_a"])
    assert passed[:lost] == ["A"] * lost
    verdict = card.locator(".verdict")
    (core,) = (each for each in said["figures"] if each["name"] == "quality")
    expect(verdict).to_contain_text(f"B is better than A by {core['difference']['value']:.1f} points")
    if lost:
        expect(verdict).to_contain_text(f"it loses {lost} case")
    page.get_by_label("flips only").check()
    expect(page.locator("main > .scroll tbody tr")).to_have_count(count)
    # The other way round, every difference turns its sign.
    first = card.get_by_role("row").nth(1).locator("td").all_inner_texts()
    page.goto(page.url.split("#")[0] + "#/compare/model-05/model-02")
    settled(page)
    expect(page.locator(".verdict")).to_contain_text("B is worse than A by")
    turned = page.locator(".card").first.get_by_role("row").nth(1).locator("td").all_inner_texts()
    assert turned[1:3] == first[2:0:-1]
    assert turned[3] == first[3].replace("+", "−")


def test_all_are_measured_by_one(show: Open, results_tree: Path) -> None:
    page = show()
    page.get_by_label("Difference from").select_option(label="model-02")
    board = page.get_by_role("region", name="Leaderboard")
    expect(board.locator("thead").get_by_role("button", name="against", exact=True)).to_be_visible()
    titles = [title.strip("?▼▲ \n") for title in board.locator("thead th").all_inner_texts()]
    cells = board.get_by_role("row").filter(has_text="model-02").locator("th, td")
    expect(cells.nth(titles.index("against"))).to_have_text("measured by it")
    files = {path.stem: str(path) for path in results_tree.rglob("model-*.json")}
    for other in ("model-05", "model-00"):
        (core,) = (each for each in compared(files["model-02"], files[other])["figures"] if each["name"] == "quality")
        ends = core["difference"]["interval"]
        cell = board.get_by_role("row").filter(has_text=other).locator("th, td").nth(titles.index("against"))
        expect(cell).to_contain_text(shown(core["difference"]["value"], "+.1f"))
        expect(cell).to_contain_text(f"[{shown(ends['low'], '+.1f')}, {shown(ends['high'], '+.1f')}]")
    # It stands in the address, and the column sorts.
    page.reload()
    board.locator("thead").get_by_role("button", name="against", exact=True).click()
    first = board.locator("tbody tr td.number a").first.inner_text()
    gains = [float(text.replace("−", "-")) for text in board.locator("td.number a b").all_inner_texts()]
    assert gains == sorted(gains, reverse=True)
    board.get_by_role("link", name=first).first.click()
    expect(page).to_have_url(re.compile("#/compare/model-02"))


def test_four_are_compared_and_a_case_side_by_side(show: Open) -> None:
    page = show("#/compare/model-05/model-04")
    for name in ("model-02", "control-gold"):
        page.get_by_label("Add").select_option(name)
        settled(page)
    expect(page.get_by_role("heading", name=re.compile("[BCD] against A"))).to_have_count(3)
    expect(page.get_by_label("Add")).to_have_count(0)
    page.get_by_role("link", name=CASE).click()
    expect(page.locator(".answers .card")).to_have_count(5)
    expect(page.locator(".answers")).to_contain_text("ModuleNotFoundError: No module named 'lautsprecher'")
    page.go_back()
    page.get_by_role("button", name="remove model-04").click()
    expect(page.get_by_role("heading", name=re.compile("[BCD] against A"))).to_have_count(2)


def test_answers_to_different_questions_are_not_mixed_up(show: Open, results_tree: Path, tmp_path: Path) -> None:
    record = documents(results_tree)["model-05"]
    for name in ("one", "two"):
        record["scenario"]["name"] = name
        for case in record["cases"]:
            case["title"] = f"title of {name}"
            case["output"] = case["raw_view"]["output"] = f"answer of {name}"
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    page_file = tmp_path / "page.html"
    page_of(tmp_path, page_file)
    page = show(f"#/compare/one/two?case={CASE}", file=page_file)
    expect(page.locator(".answers .card").nth(1)).to_contain_text("answer of one")
    expect(page.locator(".answers .card").nth(2)).to_contain_text("answer of two")
    expect(page.get_by_text("B was asked something else")).to_be_visible()


def test_a_case_without_a_score_says_so_side_by_side(show: Open, results_tree: Path) -> None:
    record = documents(results_tree)["model-03"]
    lost = next(case["case_id"] for case in record["cases"] if case["outcome"] == "instrument_failure")
    page = show(f"#/compare/model-05/model-03?case={lost}")
    expect(page.locator(".answers .card").nth(2)).to_contain_text("no scored answer")
    page.get_by_role("link", name="model-05").click()
    expect(page.locator(".answers .card")).to_have_count(3)


def test_a_fault_takes_its_view_down_and_not_the_page(browser: Browser, page_file: Path) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(page_file.as_uri() + "#/scenario/model-05")
    expect(page.locator("h1")).to_have_text("This view cannot be shown")
    expect(page.locator(".fault")).to_contain_text("DecompressionStream")
    page.get_by_role("link", name="To the leaderboard").click()
    expect(page.locator("main > .scroll tbody tr").first).to_be_visible()
    page.close()


# Scenario and case ------------------------------------------------------------------------------------------------


def test_cases_are_sorted_filtered_and_stepped_through(show: Open) -> None:
    page = show("#/scenario/model-03")
    expect(page.get_by_text(f"{COUNT} cases", exact=True)).to_be_visible()
    scores = [float(t) for t in page.locator("main > .scroll tbody td:nth-child(5)").all_inner_texts() if t != "–"]
    assert scores == sorted(scores)
    assert len(scores) == COUNT - 9
    page.get_by_label("Verdict").select_option("not scored")
    expect(page.locator("main > .scroll tbody tr")).to_have_count(9)
    page.get_by_label("Verdict").select_option("")
    page.get_by_label("Intent").select_option("json")
    expect(page.get_by_role("status")).to_contain_text(re.compile(rf"^\d of {COUNT} cases"))
    shown_cases = names(page)
    assert 3 < len(shown_cases) < 10
    heading = page.get_by_role("columnheader", name="score", exact=True)
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    ordered = names(page)
    page.get_by_role("link", name=ordered[0]).click()
    # The keys go the way of the table.
    code = page.locator(".lead code")
    expect(code).to_have_text(ordered[0])
    for key, place in (("j", 1), ("ArrowRight", 2), ("k", 1), ("ArrowLeft", 0), ("k", 0)):
        page.keyboard.press(key)
        expect(code).to_have_text(ordered[place])
    expect(page.get_by_text(f"1 of {len(ordered)}", exact=True)).to_be_visible()
    # Who opens a case hears and stands at its heading.
    expect(page.locator("h1")).to_be_focused()
    expect(page.locator("#announced")).to_have_text(page.locator("h1").inner_text())
    # Behind the help, keys do nothing.
    page.keyboard.press("?")
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(code).to_have_text(ordered[0])
    page.keyboard.press("u")
    expect(page.locator("h1")).to_have_text("model-03")
    # The way up keeps filter and order.
    expect(page.get_by_label("Intent")).to_have_value("json")


def test_reasons_for_rejection_lead_to_their_cases(show: Open) -> None:
    page = show("#/scenario/model-00")
    reasons = page.locator("table.plain", has_text="Why answers were rejected")
    row = reasons.locator("tbody tr").first
    count = int(row.locator("td").inner_text())
    row.get_by_role("link").click()
    expect(page.locator("main > .scroll tbody tr").first).to_be_visible()
    assert len(names(page)) >= count > 0
    assert all(row.locator("a").inner_text() in text for text in page.locator(".why").all_inner_texts())


def test_a_case_shows_question_answers_parts_and_anchors(show: Open, results_tree: Path) -> None:
    name, leaking = next(
        (name, case)
        for name, record in sorted(documents(results_tree).items(), reverse=True)
        for case in record["cases"]
        if any("```" in step["removed"] for step in case.get("recovery_steps", ()))
    )
    page = show(f"#/case/{name}/{leaking['case_id']}")
    cards = {card.locator("h2").inner_text(): card for card in page.locator(".answers .card").all()}
    assert cards["Gold"].locator(".text").inner_text().strip() == leaking["expected_output"].strip()
    removed = "".join(cards["Raw"].locator("mark.gone").all_inner_texts())
    assert "```" in removed
    expect(page.get_by_text(leaking["instruction"].strip().splitlines()[0][:60])).to_be_visible()
    expect(page.get_by_text(f"Command: {leaking['command'].splitlines()[0][:60]}")).to_be_visible()
    expect(page.get_by_text(f"Exit code: {leaking['exit_code']}", exact=True)).to_be_visible()
    found = len(leaking["required_anchors"]) - len(leaking["missing_tokens"])
    expect(page.get_by_role("heading", name=f"Anchors: {found} of {len(leaking['required_anchors'])}")).to_be_visible()
    total = page.get_by_role("row").filter(has_text="case score")
    expect(total).to_contain_text(f"{leaking['case_score']:.3f}")
    expect(total).to_contain_text(f"{leaking['raw_view']['case_score']:.3f}")
    raw_input = page.get_by_role("region", name="Raw input")
    assert raw_input.inner_text().strip() == leaking["raw_input"].strip()
    marked = set(raw_input.locator("mark").all_inner_texts())
    assert marked & set(leaking["required_anchors"])


def test_words_that_gold_has_and_the_answer_has_not_are_marked(show: Open, results_tree: Path) -> None:
    record = documents(results_tree)["model-04"]
    lost = next(
        case for case in record["cases"] if case.get("missing_tokens") and case["validation_status"] != "rejected"
    )
    page = show(f"#/case/model-04/{lost['case_id']}")
    expect(page.locator("mark.missing").first).to_be_visible()
    expect(page.locator(".anchors .missed")).to_have_count(len(lost["missing_tokens"]))


# Pictures ---------------------------------------------------------------------------------------------------------


def test_pictures_show_the_chosen_results(show: Open) -> None:
    page = show("#/pictures")
    expect(page.locator("figure")).to_have_count(6)
    heat = page.locator("figure", has_text="Scores by intent")
    expect(heat.locator("svg")).to_contain_text("exact-lines")
    expect(heat.locator("svg")).to_contain_text("model-05")
    page.get_by_role("button", name="difficulty").click()
    heat = page.locator("figure", has_text="Scores by difficulty")
    expect(heat.locator("svg")).to_contain_text("medium")
    assert "by=difficulty" in page.url
    page.get_by_label("Find").fill("model-02")
    expect(heat.locator("svg")).not_to_contain_text("model-05")
    # What is drawn can be read, too.
    heat.get_by_text("Figures of this picture").click()
    expect(heat.get_by_role("row").nth(1)).to_contain_text("model-02")
    page.locator("figure", has_text="Verdicts").locator("svg path[aria-roledescription='bar']").first.click()
    expect(page.locator("h1")).to_have_text("model-02")


def test_a_point_says_whose_it_is(show: Open) -> None:
    page = show("#/pictures")
    page.locator("figure", has_text="Recovery lift").locator("svg path[aria-roledescription='point']").first.hover()
    expect(page.locator("#vg-tooltip-element")).to_contain_text("model-")


# Keyboard ---------------------------------------------------------------------------------------------------------


def test_everything_is_reached_by_keys(show: Open) -> None:
    page = show()
    page.keyboard.press("Tab")
    expect(page.get_by_text("To the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("2")
    expect(page.locator("h1")).to_have_text("Charts")
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("3")
    expect(page.locator("h1")).to_have_text("Head to head")
    page.keyboard.press("1")
    expect(page.locator("h1")).to_have_text("Leaderboard")
    page.keyboard.press("/")
    expect(page.get_by_label("Find")).to_be_focused()
    # In a field, letters are letters.
    page.keyboard.type("2?u")
    expect(page.get_by_label("Find")).to_have_value("2?u")
    page.get_by_label("Find").fill("")
    page.locator("h1").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_light_and_dark_by_the_system_or_by_hand(show: Open) -> None:
    page = show(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(17, 20, 27)"
    page.get_by_role("button", name="switch to light").click()
    assert page.evaluate(ground) == "rgb(246, 247, 251)"


# Hostile and foreign files ----------------------------------------------------------------------------------------

HOSTILE = {
    "script": "<script>window.hacked = 1</script></script><script>window.hacked = 2</script><!-- <script>",
    "handler": "<img src=x onerror=\"window.hacked = 3\"><svg onload='window.hacked = 4'>",
    "link": "[click](javascript:window.hacked=5) <a href='javascript:window.hacked=6'>here</a>",
    "escapes": "\x1b[31mred\x1b[0m \x07bell \x00null \x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "direction": "user\u202egnp.exe\u202c \u200bzero\ufeff \u2066isolate\u2069",
    "half": "half \ud800 a character",
    "long": "A" * 1_000_000,
    "template": "${window.hacked = 7} {{constructor.constructor('window.hacked=8')()}} </textarea></title>",
}


@pytest.fixture(scope="module")
def hostile_page(results_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    record = documents(results_tree)["model-04"]
    markup = HOSTILE["handler"]
    record["scenario"] |= {"name": f"evil {markup}", "model": HOSTILE["script"], "phase": HOSTILE["link"]}
    record["run"]["error"] = HOSTILE["script"]
    for row, text in zip(record["cases"], HOSTILE.values(), strict=False):
        row["output"] = row["raw_view"]["output"] = text
        row |= {"title": text[:200], "tool": markup, "instruction": text[:5000], "raw_input": text, "model": markup}
        row["required_anchors"] = row["missing_tokens"] = [text[:100]]
        row["raw_view"]["missing_tokens"] = [text[:100]]
        row["reasons"] = row["raw_view"]["reasons"] = {"quality": [text[:300]]}
        row["recovery_steps"], row["thought_marker_count"] = [], 0
        row["raw_view"]["thought_marker_count"] = 0
    record["cases"][0]["case_id"] = "../<b>id</b>?#%2F&"
    record["run"]["case_ids"][0] = record["cases"][0]["case_id"]
    (folder / "evil.json").write_text(json.dumps(summed(record)))
    published_layout(folder / "theirs.json", "remote-theirs", {"python-01": 0.25, "python-02": 0.75})
    (folder / "<img src=x onerror=alert(1)>.json").write_text("{}")
    page = folder / "page.html"
    run_viewer(folder, "-o", page)
    return page


# Signs of addresses, of paths and of markup; letters of other scripts; two that differ in case alone.
IDS = (
    "a/b",
    "a b",
    "../up",
    "n#1",
    "50%2F",
    "straße",
    "q?x=1&y=2",
    "Up",
    "up",
    "b" * 200,
    "end.",
    "<i>",
    "'\"",
    "日本",
)


def test_a_case_of_any_id_opens_by_its_link(show: Open, results_tree: Path, tmp_path: Path) -> None:
    record = documents(results_tree)["model-04"]
    record["cases"] = record["cases"][: len(IDS)]
    for number, (row, case_id) in enumerate(zip(record["cases"], IDS, strict=True)):
        row |= {"case_id": case_id, "instruction": f"question {number} of them"}
    record["run"]["case_ids"] = list(IDS)
    (tmp_path / "odd.json").write_text(json.dumps(summed(record)))
    file = tmp_path / "page.html"
    run_viewer(tmp_path, "-o", file)
    page = show("#/scenario/model-04", file=file)
    links = page.locator("main a[href^='#/case/']")
    addresses = links.evaluate_all("all => Object.fromEntries(all.map(a => [a.textContent, a.getAttribute('href')]))")
    assert set(IDS) <= set(addresses)
    for number, case_id in enumerate(IDS):
        page = show(addresses[case_id], file=file)
        expect(page.get_by_text(f"question {number} of them").first).to_be_visible()


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_answers_are_text(show: Open, hostile_page: Path, kind: str) -> None:
    page = show(file=hostile_page)
    page.get_by_role("link", name=re.compile("evil")).first.click()
    settled(page)
    row = page.locator("main > .scroll tbody tr").filter(has=page.locator("th a"))
    expect(row.first).to_be_visible()
    order = list(HOSTILE)
    ids = page.evaluate("[...document.querySelectorAll('main > .scroll tbody th a')].map(a => a.textContent)")
    record = json.loads((hostile_page.parent / "evil.json").read_text(encoding="utf-8"))
    case_id = record["cases"][order.index(kind)]["case_id"]
    assert case_id in ids
    row.get_by_role("link", name=case_id, exact=True).click()
    settled(page)
    answer = page.get_by_role("region", name="Recovered").inner_text()
    expected = HOSTILE[kind]
    if kind == "long":
        assert answer == "A" * 20_000
        page.locator(".answers .card", has_text="Recovered").get_by_role("button", name="Show all").click()
        assert len(page.get_by_role("region", name="Recovered").inner_text()) == 1_000_000
    elif kind == "escapes":
        assert "^[[31mred^[[0m ^Gbell ^@null" in answer
    elif kind == "direction":
        assert "userU+202Egnp.exeU+202C U+200BzeroU+FEFF" in answer
    elif kind == "half":
        # Half characters cannot stand in a file; they were written as escapes.
        assert "\\ud800" in answer or "U+D800" in answer
    else:
        assert answer == expected
    for view in ("#/", "#/pictures", "#/compare"):
        page.goto(hostile_page.as_uri() + view)
        settled(page)
        assert page.evaluate("window.hacked") is None
    assert page.locator("img, a[href^='javascript:'], iframe").count() == 0


def test_scripts_that_were_not_written_with_the_page_do_not_run(browser: Browser, page_file: Path) -> None:
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(page_file.as_uri())
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.hacked = 1";
            document.body.append(script);
            const image = "<img src='https://example.com/x.png' onerror='window.hacked = 2'>";
            document.body.insertAdjacentHTML("beforeend", image);
            setTimeout("window.hacked = 3");
            return fetch("https://example.com/").catch(() => null);
        }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert sum("Content Security Policy" in text for text in refused) >= 3
    page.close()


def test_files_of_the_published_layout_are_shown_as_far_as_they_go(show: Open, hostile_page: Path) -> None:
    page = show(file=hostile_page)
    row = page.get_by_role("row", name="remote-theirs")
    expect(row).to_contain_text("published layout")
    expect(row).to_contain_text("46.0")
    page.get_by_role("link", name="remote-theirs").first.click()
    settled(page)
    expect(page.locator("main > .scroll tbody tr")).to_have_count(2)
    page.get_by_role("link", name="python-02").click()
    expect(page.get_by_text("unknown: the file does not hold it")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="case score")).to_contain_text("0.750")
    page.goto(hostile_page.as_uri())
    expect(page.get_by_role("heading", name="What failed or was left out")).to_be_visible()
    expect(page.get_by_text("<img src=x onerror=alert(1)>.json: is not a result file")).to_be_visible()


# Statements, and how far scores can be trusted --------------------------------------------------------------------


@pytest.fixture(scope="module")
def worded_pages(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A result judged by statements, with a measurement of its scorer, of another one, and with none."""
    folder = tmp_path_factory.mktemp("worded")
    result = stored(Path("worded.json"), result_of(worded_cases(), embedder))
    files = {}
    for name, validity in (("measured", measurement()), ("other", measurement("1")), ("none", None)):
        files[name] = folder / f"{name}.html"
        files[name].write_text(build_page(gather([result], validity), [], title="worded"), encoding="utf-8")
    return files


def serious(page: Page) -> list[str]:
    violations = Axe().run(page).response["violations"]
    return [rule["id"] for rule in violations if rule["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_case_shows_its_statements_and_what_an_answer_does_with_them(
    show: Open, worded_pages: dict[str, Path], scheme: str
) -> None:
    page = show(f"#/case/worded/{WITH}", file=worded_pages["none"], color_scheme=scheme)
    gold = page.locator(".answers .card").first
    assert gold.locator(".statements li").all_inner_texts() == [statement.says for statement in STATEMENTS]
    reasons = page.locator(".components tr").filter(has=page.get_by_role("rowheader", name="quality")).locator("li")
    told = [(reason.get_attribute("class"), reason.inner_text().split(":")[0]) for reason in reasons.all()]
    assert told[:4] == [
        ("says", "says"),
        ("unsaid", "does not say"),
        ("unsaid", "does not say"),
        ("contradicts", "contradicts"),
    ]
    # Told apart by signs and words, not by colour alone.
    sign = "element => getComputedStyle(element).listStyleType"
    assert len({reasons.nth(place).evaluate(sign) for place in (0, 1, 3, 4)}) == 4
    assert not serious(page)
    expect(page.get_by_text("no statements yet")).to_have_count(0)


def test_cases_that_are_judged_by_wording_are_marked(show: Open, worded_pages: dict[str, Path]) -> None:
    page = show("#/", file=worded_pages["none"])
    expect(page.locator(".notes li").first).to_contain_text("1 of 2 prose cases has no statements")
    page.get_by_role("link", name="worded", exact=True).first.click()
    settled(page)
    expect(page.locator(".notes")).to_contain_text("1 of 2 prose cases has no statements")
    marked = page.locator("main > .scroll tbody tr").filter(has=page.locator(".by-wording"))
    expect(marked.get_by_role("rowheader")).to_have_text([WITHOUT])
    marked.get_by_role("link").click()
    settled(page)
    expect(page.locator(".answers .card").first).to_contain_text(
        "their quality is only similarity to the wording of gold"
    )
    expect(page.locator(".statements")).to_have_count(0)
    page.goto(page.url.split("#")[0] + f"#/case/worded/{NO_PROSE}")
    settled(page)
    expect(page.get_by_text("similarity to the wording of gold")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_measurement_is_drawn_told_and_accessible(show: Open, worded_pages: dict[str, Path], scheme: str) -> None:
    page = show(file=worded_pages["measured"], color_scheme=scheme)
    page.keyboard.press("4")
    settled(page)
    expect(page.locator("h1")).to_have_text("How far to trust the scores")
    expect(page.get_by_role("link", name="Validity")).to_have_attribute("aria-current", "page")
    expect(page.locator(".lead")).to_have_text(
        "2 of 5 targets missed: best baseline, final score (whole corpus); right answers, mean (held out)."
    )
    expect(page.locator(".drawing svg")).to_have_count(2)
    answers, whole = page.locator(".drawing svg").all()
    expect(answers).to_contain_text("0.90, missed")
    expect(whole).to_contain_text("26.2, missed")
    page.get_by_text("Figures of this picture").first.click()
    row = page.locator("figure").first.locator("tbody tr").first
    expect(row.locator("td")).to_have_text(
        ["right answers, mean", "held out", "0.900", "at least 0.93", "missed", "40"]
    )
    # What an answer says is text, never markup.
    right, wrong = page.locator(".judged tbody tr").all()
    expect(right).to_contain_text("<b>right</b>")
    expect(right).to_contain_text("held out")
    expect(wrong.locator("td").first).to_have_text("0.84")
    assert not serious(page)


def test_the_measurement_fits_a_phone(show: Open, worded_pages: dict[str, Path]) -> None:
    page = show("#/validity", file=worded_pages["measured"], viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_measurement_of_another_scorer_is_one_sentence(show: Open, worded_pages: dict[str, Path]) -> None:
    page = show("#/validity", file=worded_pages["other"])
    expect(page.locator(".lead")).to_contain_text("it was measured for version 1 of the scorer")
    expect(page.locator(".drawing, table")).to_have_count(0)


def test_without_a_measurement_there_is_no_such_view(show: Open, worded_pages: dict[str, Path]) -> None:
    page = show(file=worded_pages["none"])
    expect(page.get_by_role("link", name="Validity")).to_have_count(0)
    page.keyboard.press("4")
    expect(page.locator("h1")).to_have_text("Slices")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("1 2 3 4 5leaderboard, charts, head to head, slices, cases")


# What is kept of the output ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept_page(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with what three rows keep: a result, a filter with a hostile name, gold."""
    file = tmp_path_factory.mktemp("kept") / "page.html"
    gathered = gather([stored(Path("worded.json"), result_of(worded_cases(), embedder))])
    gold = Retention("gold", True, False, 100.0, 2, 1.0, 1.0, 0.04, 26.0, 0.1, 0.2, 0.9, 0.96, (0.95, 0.97))
    model = Retention("worded", False, False, 40.0, 2, 0.5, 0.5, 0.1, 10.0, 0.1, 0.2, 0.4, 0.216, (0.1, 0.3))
    hostile = Retention("<b>tail</b>", False, True, None, 2, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5, None, -0.05, None)
    board = RetentionBoard(gathered.boards[0], (gold, model, hostile), {LeftOut.DERIVED: 3})
    page = build_page(dataclasses.replace(gathered, retention=(board,)), [], title="kept")
    file.write_text(page, encoding="utf-8")
    return file


def test_what_is_kept_is_a_table_that_sorts(show: Open, kept_page: Path) -> None:
    page = show(file=kept_page)
    page.keyboard.press("4")
    expect(page.locator("h1")).to_have_text("What is kept of the output")
    rows = page.locator("main .scroll tbody tr")
    expect(rows.get_by_role("rowheader")).to_have_text(["gold", "worded", "<b>tail</b> blind"])
    expect(rows.nth(1)).to_contain_text("21.6 [10.0, 30.0]")
    # Whoever leaves out nothing has no lift; what is not known comes last either way.
    lift = page.get_by_role("columnheader", name="above random")
    for direction in ("descending", "ascending"):
        lift.get_by_role("button").click()
        expect(lift).to_have_attribute("aria-sort", direction)
        expect(rows.last).to_contain_text("<b>tail</b>")
    expect(page.locator(".notes")).to_contain_text("left out: 3 with anchors that the output does not contain")
    assert not serious(page)
    page.get_by_role("link", name="worded").click()
    expect(page.locator("h1")).to_have_text("worded")


def test_what_is_kept_fits_a_phone(show: Open, kept_page: Path) -> None:
    page = show("#/retention", file=kept_page, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


# Cases by models --------------------------------------------------------------------------------------------------


def test_cases_by_models_lead_to_all_answers(show: Open, page_file: Path) -> None:
    (board,) = pack(page_file.read_text(encoding="utf-8"), "items")
    catalog = pack(page_file.read_text(encoding="utf-8"), "catalog")
    ids = {
        order["key"]: [catalog[board["items"][place]["question"]]["case_id"] for place in order["items"]]
        for order in board["orders"]
    }
    assert ids["hardest"] != ids["divided"]
    page = show("#/cases")
    assert names(page) == ids["hardest"]
    page.get_by_role("button", name="largest spread of scores first").click()
    expect(page.get_by_role("button", name="largest spread of scores first")).to_have_attribute("aria-pressed", "true")
    assert names(page) == ids["divided"]
    assert "order=divided" in page.url
    page.get_by_label("Find").fill(CASE)
    expect(page.get_by_role("status")).to_contain_text(f"1 of {COUNT} cases")
    (item,) = (each for each in board["items"] if catalog[each["question"]]["case_id"] == CASE)
    expect(page.locator("main > .scroll a.shade")).to_have_count(len(item["scores"]) - item["scores"].count(None))
    page.get_by_label("Find").fill("")
    case_id = ids["divided"][0]
    page.get_by_role("link", name=case_id, exact=True).click()
    settled(page)
    # Gold, and every model, the best answer first.
    expect(page.locator(".answers .card")).to_have_count(1 + len(board["models"]))
    titles = page.locator(".answers .card h2").all_inner_texts()[1:]
    scores = [float(title.split()[-1]) for title in titles if title.split()[-1][0].isdigit()]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) > 3
    page.keyboard.press("j")
    expect(page.locator(".lead code")).to_have_text(ids["divided"][1])
    page.keyboard.press("u")
    settled(page)
    assert names(page) == ids["divided"]
    page.locator("a.shade").first.click()
    expect(page.locator(".lead code")).to_have_text(case_id)

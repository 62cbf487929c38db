"""What readers come for, from the open page alone: at most three actions each, and all of it by keyboard."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from benchmark.analysis.choosing import Needs, choose, shelves
from benchmark.analysis.figures import QUALITY_CORE
from benchmark.analysis.items import ItemOrder, analyse, in_order
from benchmark.analysis.ladder import ladders
from benchmark.analysis.leaderboard import Leaderboard
from benchmark.analysis.slices import Facet, parts_of
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.record.read import iterate_results
from benchmark.render.choosing import sentence
from benchmark.render.ladder import ladder_sentence, verdict_text
from benchmark.scoring import COMPONENTS
from benchmark.viewer.page_data import Gathered, gather, pairs, questions_of
from tests.support.mixed import mixed_results
from tests.support.pages import page_of
from tests.support.rungs import rungs

PATIENCE_MS = 30_000
"""A busy machine is no fault of the page."""
MOST_ACTIONS = 3
MOST_STOPS = 400
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("tasks")]


@dataclass(frozen=True)
class Shelf:
    """A page of results that do not belong together, and what Python knows of them."""

    file: Path
    gathered: Gathered

    @property
    def first(self) -> Leaderboard:
        """The board at the top of the page."""
        return self.gathered.boards[0]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("tasks")
    results = mixed_results(folder / "results")
    # A program would have all answers judged by what they keep, which no task here is about.
    (results / "tool-x.json").unlink()
    rungs(results / "rungs")
    shutil.copytree(PACKAGED_RESULTS / "mixed", results / "packaged")
    (results / "cut").mkdir()
    (results / "cut" / "broken-off.journal.jsonl").write_text("{}\n")
    page_of(results, folder / "page.html")
    return Shelf(folder / "page.html", gather(iterate_results([results])))


@pytest.fixture(scope="module")
def opened(browser: Browser, shelf: Shelf) -> Iterator[Page]:
    """Load the page once; each task begins at its leaderboard."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(shelf.file.as_uri())
    yield page
    context.close()


# Readers ----------------------------------------------------------------------------------------------------------


class Reader(Protocol):
    """Somebody at the page; a task says what to do, the reader how."""

    page: Page
    actions: int

    def press(self, target: Locator) -> None:
        """Press a link, a button or a checkbox."""

    def choose(self, target: Locator, value: str) -> None:
        """Choose one of the options of a field."""

    def type(self, target: Locator, text: str) -> None:
        """Type into a field."""


@dataclass
class Mouse:
    """Counts clicks, choices and texts that are typed."""

    page: Page
    actions: int = 0

    def press(self, target: Locator) -> None:
        """Click."""
        self.actions += 1
        target.click()

    def choose(self, target: Locator, value: str) -> None:
        """Choose."""
        self.actions += 1
        target.select_option(value)

    def type(self, target: Locator, text: str) -> None:
        """Type."""
        self.actions += 1
        target.fill(text)


# What has the focus: is it the target, does it come after it, can it be seen?
FOCUS = """(target) => {
  const at = document.activeElement;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
  const box = at.getBoundingClientRect();
  const ring = (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) || boxShadow !== "none";
  const onScreen = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return {
    there: at === target,
    back: Boolean(target && target.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING),
    seen: at === document.body || (ring && onScreen),
    what: at.outerHTML.slice(0, 200),
  };
}"""
SELECTED = "(field, value) => [...field.options].findIndex((each) => each.value === value) - field.selectedIndex"


@dataclass
class Keyboard:
    """Tabs to what is wanted, never touching a mouse; whatever has the focus on the way must show it."""

    page: Page
    actions: int = 0
    unseen: list[str] = field(default_factory=list)

    def press(self, target: Locator) -> None:
        """Go there and press Enter, or the space bar for a checkbox."""
        self._reach(target)
        self.page.keyboard.press("Space" if target.get_attribute("type") == "checkbox" else "Enter")

    def choose(self, target: Locator, value: str) -> None:
        """Go there and take the arrows."""
        self._reach(target)
        steps = target.evaluate(SELECTED, value)
        for _ in range(abs(steps)):
            self.page.keyboard.press("ArrowDown" if steps > 0 else "ArrowUp")
        expect(target).to_have_value(value)

    def type(self, target: Locator, text: str) -> None:
        """Go there and type."""
        self._reach(target)
        self.page.keyboard.type(text)

    def _reach(self, target: Locator) -> None:
        expect(target).to_be_visible()
        element = target.element_handle()
        at = self.page.evaluate(FOCUS, element)
        for _ in range(MOST_STOPS):
            if at["there"]:
                break
            self.page.keyboard.press("Shift+Tab" if at["back"] else "Tab")
            at = self.page.evaluate(FOCUS, element)
            if not at["seen"]:
                self.unseen.append(at["what"])
        expect(target).to_be_focused()
        assert not self.unseen


# Tasks ------------------------------------------------------------------------------------------------------------


def view(reader: Reader, title: str) -> None:
    reader.press(reader.page.get_by_role("navigation").get_by_role("link", name=title, exact=True))


def compare_the_first_two(reader: Reader, number: int = 0) -> tuple[str, str]:
    """Choose the first two results of a board of the page and compare them; return their labels, A first."""
    board = reader.page.locator("main > .scroll").nth(number)
    names = board.locator("tbody th.name a").all_inner_texts()
    boxes = board.get_by_role("checkbox")
    for place in range(2):
        reader.press(boxes.nth(place))
    reader.press(reader.page.get_by_role("link", name="Compare 2 chosen"))
    return names[0], names[1]


def best_small_model_for_json(reader: Reader, shelf: Shelf) -> None:
    # The board with the most cases of the use is chosen from.
    on_boards = [found for board in shelf.gathered.boards for found in shelves(board, ("json",))]
    most = max(on_boards, key=lambda found: found.case_count)
    chooser = reader.page.get_by_role("region", name="Which result to choose")
    reader.choose(chooser.get_by_label("I need"), "json")
    reader.type(chooser.get_by_label("memory limit (GB)"), "2")
    reader.press(chooser.get_by_label("without services"))
    expect(chooser).to_contain_text(sentence(choose(most, Needs("json", 2e9, None, True))))


def sentence_on(shelf: Shelf, a: str, b: str) -> str:
    labels = {row.result: row.label for board in shelf.gathered.boards for row in board.rows}
    keys = {labels[each.result]: each.key for each in shelf.gathered.shown}
    for pair in pairs(shelf.gathered) or []:
        if {pair.a, pair.b} == {keys[a], keys[b]}:
            return (pair.words if pair.a == keys[a] else pair.turned_words).replace("{b}", "B")
    raise AssertionError(f"{a} and {b} are not compared")


def is_a_better_than_b(reader: Reader, shelf: Shelf) -> None:
    a, b = compare_the_first_two(reader)
    verdict = reader.page.locator(".verdict")
    expect(verdict).to_have_text(sentence_on(shelf, a, b))
    expect(verdict).to_contain_text(re.compile("better|worse|cannot be told apart|same quality core"))


def how_much_faster(reader: Reader, shelf: Shelf) -> None:
    # On the first board, the machine was disturbed.
    a, b = compare_the_first_two(reader, 1)
    times = re.search(r"takes .* the time of A\)|takes about as long as A", sentence_on(shelf, a, b))
    assert times
    expect(reader.page.locator(".verdict")).to_contain_text(times[0])
    expect(reader.page.get_by_role("row").filter(has_text="latency").first).to_contain_text("×")


def why_did_this_case_fail(reader: Reader, shelf: Shelf) -> None:
    row = next(row for row in shelf.first.rows if not row.result.is_reference)
    reader.press(reader.page.locator("main > .scroll").first.get_by_role("link", name=row.label, exact=True))
    worst = reader.page.locator("main > .scroll tbody th.name a").first
    expect(worst).to_be_visible()
    case_id = worst.inner_text()
    score = row.result.cases[case_id].score
    assert score == min(case.score for case in row.result.cases.values())
    reader.press(worst)
    expect(reader.page.locator(".lead code")).to_have_text(case_id)
    (found,) = (
        case for shown in shelf.gathered.shown if shown.result is row.result for case in shown.cases
        if shelf.gathered.asked[case.question].question.case_id == case_id
    )  # fmt: skip
    total = reader.page.get_by_role("row").filter(has_text="case score")
    expect(total).to_contain_text(f"{score:.3f}")
    assert found.recovered
    expect(total).to_contain_text(", ".join(found.recovered.flags) or found.verdict)
    # Each component says why it is what it is.
    components = reader.page.get_by_role("region", name="Components").locator("tbody tr")
    lost = [name for name, value in found.recovered.parts.items() if value < 1]
    assert lost
    for name in lost:
        why = components.filter(has=reader.page.get_by_role("rowheader", name=name, exact=True)).locator("td").last
        expect(why).not_to_be_empty()


def which_cases_do_all_fail(reader: Reader, shelf: Shelf) -> None:
    view(reader, "Cases")
    reader.press(reader.page.get_by_role("button", name=re.compile("^passed by no model")))
    rows = [row for row in shelf.first.rows if not row.result.is_reference]
    questions = {each.case_id: each for each in questions_of(shelf.gathered, shelf.first).values()}
    items = analyse([row.result for row in rows], [row.label for row in rows], questions)
    failed = [item.case_id for item in in_order(ItemOrder.FAILED, items)]
    assert 0 < len(failed) < len(items)
    expect(reader.page.get_by_role("status")).to_have_text(f"{len(failed)} cases: passed by no model")
    assert sorted(reader.page.locator("main > .scroll tbody th.name a").all_inner_texts()) == sorted(failed)


def which_quantization_hurts(reader: Reader, shelf: Shelf) -> None:
    (ladder,) = (ladder for board in shelf.gathered.boards for ladder in ladders(board))
    view(reader, "Quantizations")
    expect(reader.page.locator("p.lead")).to_have_text(ladder_sentence(ladder))
    rows = reader.page.get_by_role("region", name=re.compile("^Quantizations of")).locator("tbody tr")
    expect(rows).to_have_count(len(ladder.rungs))
    for rung, row in zip(ladder.rungs, rows.all(), strict=True):
        expect(row.locator("td").first).to_have_text(rung.quantization)
        expect(row).to_contain_text(f"{rung.score:.1f}")
        expect(row).to_contain_text(verdict_text(rung) or "–")
        if rung.difference:
            expect(row).to_contain_text(f"{rung.difference.value:+.1f}".replace("-", "−"))


def only_python(reader: Reader, shelf: Shelf) -> None:
    view(reader, "Slices")
    reader.choose(reader.page.get_by_label("Slice"), "domain=python")
    board, part = next(
        (board, part)
        for board in shelf.gathered.boards
        if board.rows[0].result.record.run
        for part in parts_of(
            board,
            {q.case_id: q for q in questions_of(shelf.gathered, board).values()},
            Facet.DOMAIN,
            baselines=True,
        )
        if part.value == "python" and part.captures >= 10
    )
    table = reader.page.get_by_role("region", name=re.compile("^domain python"))
    assert len(part.placed) == table.locator("tbody tr").count()
    for placed in part.placed:
        assert placed.core is not None
        row = table.get_by_role("row").filter(has_text=placed.label)
        expect(row).to_contain_text(f"{placed.core:.1f}")
        expect(row.locator("td").last).to_have_text(str(placed.case_count))
        assert placed.gain is not None
        expect(row).to_contain_text(f"{placed.gain[0]:+.1f}".replace("-", "−"))
    expect(reader.page.locator("p.lead")).to_contain_text(f"{part.case_count} cases about {part.captures} raw outputs")
    assert len(board.rows) >= len(part.placed)


def copied(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def link_to_this_view(reader: Reader, shelf: Shelf) -> None:
    page = reader.page
    reader.type(page.get_by_label("Find"), "qwen")
    expect(page.get_by_role("status").first).to_contain_text(" of ")
    shown, names = page.get_by_role("status").first.inner_text(), page.locator("tbody th.name a").all_inner_texts()
    reader.press(page.locator(".take").first.get_by_role("button", name="copy link to this view"))
    expect(page.locator(".take").first.get_by_role("button", name="✓")).to_be_visible()
    page.evaluate("location.hash = '#/slices'")
    expect(page.locator("h1")).to_have_text("Slices")
    # The copied link opens the same view.
    page.goto(copied(page))
    expect(page.get_by_role("status").first).to_have_text(shown)
    assert page.locator("tbody th.name a").all_inner_texts() == names
    assert all("qwen" in name for name in names)


def table_and_picture_as_files(reader: Reader, shelf: Shelf) -> None:
    page = reader.page
    reader.press(page.locator(".take").first.get_by_role("button", name="copy CSV"))
    expect(page.locator(".take").first.get_by_role("button", name="copy CSV ✓")).to_be_visible()
    titles, *rows = csv.reader(io.StringIO(copied(page)))
    told = {row[1].split()[0]: row[titles.index("quality core")] for row in rows}
    for row in shelf.first.rows:
        core = QUALITY_CORE.read(row.summary)
        assert core is not None
        assert told[row.label.split()[0]] == f"{100 * core:.1f}"
    view(reader, "Charts")
    picture = page.locator("figure").first
    expect(picture.locator(".drawing svg")).to_be_visible()
    with page.expect_download() as started:
        reader.press(picture.get_by_role("button", name="save as SVG"))
    assert Path(started.value.path()).read_bytes().startswith(b"<svg")


def what_failed_to_run(reader: Reader, shelf: Shelf) -> None:
    page = reader.page
    reader.press(page.get_by_role("button", name=re.compile("^1 left out, 1 incomplete, [0-9]+ with failed answers$")))
    heading = page.get_by_role("heading", name="What failed or was left out")
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    listed = page.locator("section").filter(has=heading).get_by_role("listitem")
    expect(listed.first).to_contain_text("broken-off.journal.jsonl: the run has no result yet; resume it with")
    expect(listed.nth(1)).to_contain_text(": incomplete, 7 of 16 cases")
    loops = listed.filter(has_text="cpu-smollm2").get_by_role("link", name=re.compile("loops")).first
    count = int(loops.inner_text().split()[0])
    reader.press(loops)
    expect(page.get_by_role("status").last).to_contain_text(re.compile(f"^{count} of"))


TASKS: dict[str, Callable[[Reader, Shelf], None]] = {
    "best small model for JSON": best_small_model_for_json,
    "is A better than B": is_a_better_than_b,
    "why did this case fail": why_did_this_case_fail,
    "which cases do all fail": which_cases_do_all_fail,
    "how much faster": how_much_faster,
    "which quantization hurts": which_quantization_hurts,
    "only Python": only_python,
    "link to this view": link_to_this_view,
    "table and picture as files": table_and_picture_as_files,
    "what failed to run": what_failed_to_run,
}


def at_the_board(page: Page) -> None:
    # Where nothing has the focus, as on a page that was just opened.
    page.evaluate("location.hash = '#/slices'")
    expect(page.locator("h1")).to_have_text("Slices")
    page.evaluate("location.hash = '#/'")
    expect(page.locator("h1")).to_have_text("Leaderboard")
    expect(page.get_by_label("I need")).to_be_visible()
    page.evaluate("document.activeElement.blur(); document.getElementById('main').tabIndex = -1")


@pytest.mark.parametrize("task", TASKS)
def test_a_task_takes_at_most_three_actions(opened: Page, shelf: Shelf, task: str) -> None:
    at_the_board(opened)
    reader = Mouse(opened)
    TASKS[task](reader, shelf)
    assert 0 < reader.actions <= MOST_ACTIONS


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_done_by_keyboard(opened: Page, shelf: Shelf, task: str) -> None:
    at_the_board(opened)
    TASKS[task](Keyboard(opened), shelf)


def test_the_keyboard_is_trapped_nowhere(opened: Page) -> None:
    at_the_board(opened)
    stops = 0
    while stops < MOST_STOPS:
        opened.keyboard.press("Tab")
        if opened.evaluate("document.activeElement === document.body"):
            break
        stops += 1
    assert 50 < stops < MOST_STOPS


def test_only_the_cases_that_a_model_passes_are_left(opened: Page, shelf: Shelf) -> None:
    opened.evaluate("location.hash = '#/cases'")
    status = opened.get_by_role("status")
    count = len({case for row in shelf.first.rows for case in row.result.cases})
    expect(status).to_have_text(f"{count} cases: lowest mean score first")
    row = next(row for row in shelf.first.rows if not row.result.is_reference)
    opened.get_by_label("Passed by").select_option(label=row.label)
    passed = {case.case_id for case in row.result.cases.values() if case.passed}
    assert 0 < len(passed) < count
    expect(status).to_have_text(f"{len(passed)} of {count} cases: lowest mean score first")
    assert set(opened.locator("main > .scroll tbody th.name a").all_inner_texts()) == passed
    # No case is passed by one model and by none.
    opened.get_by_role("button", name=re.compile("^passed by no model")).click()
    expect(status).to_have_text(re.compile("^0 of "))


def test_every_table_can_be_copied(opened: Page, shelf: Shelf) -> None:
    best = shelf.gathered.shown[0]
    case = next(iter(best.result.cases))
    for address, tables in {f"#/scenario/{best.id}": 3, f"#/case/{best.id}/{case}": 1}.items():
        opened.evaluate("to => { location.hash = to }", address)
        expect(opened.get_by_role("table")).to_have_count(tables)
        expect(opened.get_by_role("button", name="copy CSV")).to_have_count(tables)
    opened.get_by_role("button", name="copy CSV").click()
    expect(opened.get_by_role("button", name="copy CSV ✓")).to_be_visible()
    titles, *rows = csv.reader(io.StringIO(copied(opened)))
    assert titles == ["component", "recovered", "raw", "why"]
    assert [row[0] for row in rows] == [*(component.name for component in COMPONENTS), "case score"]


def test_a_result_leads_to_the_other_quantizations_of_its_model(opened: Page, shelf: Shelf) -> None:
    (ladder,) = (ladder for board in shelf.gathered.boards for ladder in ladders(board))
    ids = {shown.result: shown.id for shown in shelf.gathered.shown}
    worst = ladder.rungs[-1].row
    opened.evaluate("to => { location.hash = to }", f"#/scenario/{ids[worst.result]}")
    opened.get_by_role("link", name="Other quantizations").click()
    expect(opened.locator("h1")).to_have_text("Quantizations")
    # And from there to the pair, where the sentence says the same.
    row = opened.get_by_role("row").filter(has_text=worst.label)
    row.get_by_role("link", name="worse").click()
    difference = ladder.rungs[-1].difference
    assert difference
    expect(opened.locator(".verdict")).to_contain_text(f"B is worse than A by {-difference.value:.1f} points")
    other = next(row for row in shelf.first.rows if row not in [rung.row for rung in ladder.rungs])
    opened.evaluate("to => { location.hash = to }", f"#/scenario/{ids[other.result]}")
    expect(opened.locator("h1")).to_have_text(other.label)
    expect(opened.get_by_role("link", name="Other quantizations")).to_have_count(0)


@pytest.mark.parametrize("address", ["#/quantizations", "#/cases?order=failed", "#/"])
def test_new_parts_of_the_page_are_for_every_reader(opened: Page, address: str) -> None:
    opened.evaluate("to => { location.hash = to }", address)
    try:
        for scheme in ("dark", "light"):
            opened.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            expect(opened.get_by_role("table").first).to_be_visible()
            found = Axe().run(opened)
            serious = [each["id"] for each in found.response["violations"] if each["impact"] in ("serious", "critical")]
            assert not serious
        opened.set_viewport_size({"width": 360, "height": 740})
        assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    finally:
        opened.set_viewport_size({"width": 1400, "height": 900})


def test_arrows_pass_by_results_until_one_is_added(opened: Page, shelf: Shelf) -> None:
    opened.evaluate("location.hash = '#/compare'")
    added = opened.get_by_label("Add")
    expect(added).to_be_visible()
    added.focus()
    labels = added.locator("option").all_inner_texts()
    for label in labels[1:3]:
        opened.keyboard.press("ArrowDown")
        assert added.evaluate("field => field.selectedOptions[0].text") == label
        expect(opened.locator("span.chosen")).to_have_count(0)
    opened.keyboard.press("Enter")
    expect(opened.locator("span.chosen a")).to_have_text(labels[2])
    # A choice by mouse is one at once.
    opened.get_by_label("Add").select_option(label=labels[1])
    expect(opened.locator("span.chosen")).to_have_count(2)

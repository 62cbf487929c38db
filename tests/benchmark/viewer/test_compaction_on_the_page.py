"""Results of probes on the page, in a real browser: figures as the report has them, by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from benchmark.probes.drift import drifts
from benchmark.probes.figures import boards
from benchmark.probes.model import Maker
from benchmark.probes.printing import findings_of, heading_of
from benchmark.probes.records import RESULT_FILE, AskedProbe, JudgedStatement, ProbeResult, read_result
from benchmark.probes.states import ProbeState, posed_by_id, state_of, statement_state
from tests.conftest import ROOT
from tests.support.pages import overview_of, page_of, run_viewer
from tests.support.watched_pages import WatchedPages, saved_picture, serious_faults

Open = Callable[..., Page]
WATTLINE = "wattline"
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("probes page")]
VIEWS = {
    "compaction": "#/",
    "of a session": "#/compaction?session=wattline&made=rule",
    "session": "#/session/wattline?made=hand&method=anchored+2k",
    "probe": "#/probe/wattline/PROBE?method=text",
    "pair": "#/pair/text/anchored%202k?made=hand",
    "side by side": "#/pair/text/anchored%202k?every=1&case=wattline%2CPROBE%2CCUT",
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
def show(watched: WatchedPages, page_file: Path) -> Open:
    """Open an address of the page."""

    def open_(address: str = "#/", width: int = 1400, **options: Any) -> Page:
        page = watched.open(page_file, address, viewport={"width": width, "height": 900}, **options)
        settled(page)
        return page

    return open_


def asked_in(result: ProbeResult, session: str, label: str = "anchored 2k") -> list[AskedProbe]:
    """Return what a method was asked of the probes by hand in a session, in the order of the page."""
    order = {each.probe: (min(each.evidence), each.probe) for each in result.probes if each.session == session}
    method = next(method for method in result.methods if method.label == label)
    found = [each for each in method.asked if each.session == session and each.made_by is Maker.HAND]
    return sorted(found, key=lambda each: (order[each.probe], each.at))


def settled(page: Page) -> None:
    page.wait_for_function("() => document.querySelector('h1') && !document.body.innerText.includes('Unpacking…')")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_every_view_is_accessible_and_fits(show: Open, probed: ProbeResult, view: str, scheme: str, width: int) -> None:
    first = asked_in(probed, WATTLINE)[0]
    address = VIEWS[view].replace("PROBE", first.probe).replace("CUT", str(first.at))
    page = show(address, width, color_scheme=scheme)
    expect(page.locator("h1")).not_to_have_text("Not in this page")
    serious = serious_faults(page)
    assert not serious, "\n".join(serious)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert len(page.locator("main").inner_text()) > 200


# Methods ----------------------------------------------------------------------------------------------------------


def drawn_scores(page: Page) -> Locator:
    return page.get_by_role("img", name="score against tokens left")


def cells(page: Page, label: str) -> list[str]:
    row = page.locator("tbody tr").filter(has=page.locator("th", has_text=re.compile(rf"^\s*{re.escape(label)}\s*$")))
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
    drawn = drawn_scores(page).text_content() or ""
    assert all(row.label in drawn for row in board.rows)
    assert page.locator("svg.plot .dot").count() == len(board.rows) - page.locator("svg.plot .end").count()


def test_every_column_is_explained(show: Open) -> None:
    page = show()
    asked = page.get_by_role("button", name="what tokens left means").first
    asked.press("Enter")
    expect(page.locator(".explained").first).to_contain_text("tokens left: in the context after a cut")


def test_choices_are_part_of_the_address_and_back_works(show: Open, probed: ProbeResult) -> None:
    page = show()
    whole = cells(page, "text")
    page.get_by_role("combobox", name="Session").select_option("wattline")
    expect(page).to_have_url(re.compile("#/compaction\\?session=wattline"))
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
    expect(drawn_scores(page)).to_be_visible()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Leaderboard")
    page.close()


def test_its_charts_are_saved_with_their_colours(show: Open) -> None:
    page = show()
    take = page.locator(".plotted + .take").first
    assert saved_picture(take, "score-by-tokens-left", "PNG")
    text = saved_picture(take, "score-by-tokens-left", "SVG").decode()
    assert "class=" not in text
    assert "anchored 2k" in text
    dot = page.locator(".plot circle.dot").first.evaluate("dot => getComputedStyle(dot).fill")
    assert f'fill="{dot}"' in text


def test_drift_is_of_the_same_probes_at_every_age(show: Open, probed: ProbeResult) -> None:
    page = show()
    drift = page.locator("section").filter(has=page.get_by_role("heading", name="Drift by age"))
    board = next(boards(probed))
    every = list(drifts(probed.methods, board.maker))
    for ages in {each.ages for each in every}:
        drift.get_by_label("Ages").select_option(f"0 to {ages - 1}")
        expect(page).to_have_url(re.compile(rf"ages=0\+to\+{ages - 1}"))
        told = [each for each in every if each.ages == ages]
        assert drift.locator("h3").all_inner_texts() == [each.type for each in told]
        for number, each in enumerate(told):
            ticks = drift.locator("svg.plot").nth(number).locator(".tick").all_text_contents()
            assert ticks[3:] == [text for age in range(ages) for text in (str(age), f"n {each.probes}")]
    # The figures are those of the methods that are drawn: chosen ones, if any are.
    page.get_by_role("checkbox", name="compare anchored 2k", exact=True).press("Space")
    drift.locator("summary").press("Enter")
    rows = [row.split("\t") for row in drift.locator("tbody tr").all_inner_texts()]
    assert rows == [
        ["anchored 2k", each.type, str(each.probes)]
        + [f"{100 * (share or 0):.0f}%" for share in each.kept["anchored 2k"]]
        for each in told
    ]


# A session, and one of its probes ---------------------------------------------------------------------------------


def score_text(asked: AskedProbe, probed: ProbeResult) -> str:
    """Return a score as the page has it: with a sign for other words, and for a contradiction that stands last."""
    state = state_of(asked, posed_by_id(probed.probes)[asked.session, asked.probe])
    reworded = "~" if state is ProbeState.OTHER_WORDS else ""
    return f"{round(asked.score, 2):g}{reworded}{'!' if asked.uptake else ''}"


def test_a_session_shows_each_probe_along_its_steps(show: Open, probed: ProbeResult) -> None:
    page = show(VIEWS["session"])
    told: dict[str, list[str]] = {}
    for each in asked_in(probed, WATTLINE):
        told.setdefault(each.probe, []).append(f"cut {each.at + 1}: {score_text(each, probed)}")
    bars = page.locator("svg.strip a")
    assert bars.count() == len(told)
    for number, (probe, scores) in enumerate(told.items()):
        label = bars.nth(number).get_attribute("aria-label") or ""
        assert label.startswith(f"{probe}, ")
        assert label.endswith(", ".join(scores))
        # What colours say stands there as text.
        texts = bars.nth(number).locator("text:not(.name)").all_text_contents()
        assert texts == [score.split(": ")[1] for score in scores]
        assert bars.nth(number).locator(".part").count() == len(scores)
    page.get_by_label("Method").select_option("text")
    expect(page).to_have_url(re.compile("method=text"))
    expect(page.locator("section h2").first).to_contain_text("What text keeps")
    page.get_by_label("Type").select_option("decision")
    assert set(page.locator("tbody td.aside:nth-child(2)").all_inner_texts()) == {"decision"}


def test_a_probe_is_reached_by_keys_and_back(show: Open, probed: ProbeResult) -> None:
    page = show()
    page.get_by_role("link", name=WATTLINE, exact=True).press("Enter")
    expect(page.locator("h1")).to_have_text(f"Session {WATTLINE}")
    settled(page)
    first = asked_in(probed, WATTLINE)[0].probe
    page.locator("svg.strip a").first.press("Enter")
    question = posed_by_id(probed.probes)[WATTLINE, first].question
    expect(page.locator("h1")).to_have_text(question)
    settled(page)
    page.keyboard.press("j")
    expect(page.locator("h1")).not_to_have_text(question)
    settled(page)
    page.keyboard.press("k")
    expect(page.locator("h1")).to_have_text(question)
    settled(page)
    page.keyboard.press("u")
    expect(page.locator("h1")).to_have_text(f"Session {WATTLINE}")
    for _ in range(3):
        page.go_back()
    page.go_back()
    expect(page.locator("h1")).to_have_text(f"Session {WATTLINE}")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Compaction")


def part_kept(each: AskedProbe) -> bool:
    """Whether a statement is kept, one is lost, and all of them count."""
    states = {statement_state(statement) for statement in each.statements}
    return {ProbeState.KEPT, ProbeState.LOST} <= states


def test_a_cell_says_where_each_statement_stands(show: Open, probed: ProbeResult) -> None:
    each = next(each for each in asked_in(probed, WATTLINE) if part_kept(each))
    page = show(f"#/probe/{WATTLINE}/{each.probe}?method=text")
    row = page.locator("tbody tr").filter(has=page.get_by_role("rowheader", name="anchored 2k", exact=True))
    cell = row.get_by_role("link").nth([one.at for one in asked_of(probed, each)].index(each.at))
    assert cell.inner_text() == score_text(each, probed)
    cell.press("Enter")
    expect(page.locator("#main h2:focus")).to_contain_text(f"What anchored 2k left at cut {each.at + 1}")
    expect(page).to_have_url(re.compile(rf"at={each.at}"))
    expect(cell).to_have_attribute("aria-current", "true")
    gold = posed_by_id(probed.probes)[each.session, each.probe].gold_at(each.at)
    items = page.locator(".verdicts li").all_inner_texts()
    for statement in each.statements:
        says = gold.statements[statement.index].says
        assert any(item.startswith(f"{statement_state(statement)}: {says}") for item in items), (says, items)
    method = next(method for method in probed.methods if method.label == "anchored 2k")
    left = next(one for one in method.contexts if (one.session, one.at) == (each.session, each.at))
    lines = probed.contexts[left.sha256 or ""].split("\n")
    if (more := page.get_by_role("button", name="Show all")).count():
        more.last.press("Enter")
    expect(more).to_have_count(0)
    assert page.locator(".card .text").last.inner_text().split("\n") == lines
    found = [one for one in each.statements if statement_state(one) is ProbeState.KEPT and one.line]
    assert found
    marked(page, found, lines)


def asked_of(probed: ProbeResult, probe: AskedProbe) -> list[AskedProbe]:
    return [each for each in asked_in(probed, probe.session) if each.probe == probe.probe]


def marked(page: Page, found: list[JudgedStatement], lines: list[str]) -> None:
    assert set(page.locator(".card .text mark.kept").all_inner_texts()) == {lines[each.line - 1] for each in found}
    page.get_by_role("button", name=f"line {found[0].line}", exact=True).first.press("Enter")
    expect(page.locator("mark:focus")).to_have_text(lines[found[0].line - 1])


def test_what_does_not_count_is_named(show: Open, probed: ProbeResult) -> None:
    posed = posed_by_id(probed.probes)
    each, index = next(
        (each, index)
        for session in (each.name for each in probed.sessions)
        for each in asked_in(probed, session)
        for index in range(len(posed[session, each.probe].gold_at(each.at).statements))
        if index not in {statement.index for statement in each.statements}
    )
    page = show(f"#/probe/{each.session}/{each.probe}?method=anchored+2k&at={each.at}")
    says = posed[each.session, each.probe].gold_at(each.at).statements[index].says
    assert f"does not count: {says}" in " ".join(page.locator(".verdicts li").all_inner_texts())


def test_the_evidence_of_a_probe_stands_there(show: Open, probed: ProbeResult) -> None:
    posed = next(each for each in probed.probes if each.session == WATTLINE and len(each.evidence) > 1)
    page = show(f"#/probe/{WATTLINE}/{posed.probe}")
    steps = page.locator("details summary").filter(has_text=re.compile(r"^Step \d+"))
    assert [text.split(",")[0] for text in steps.all_inner_texts()] == [f"Step {step}" for step in posed.evidence]
    steps.first.press("Enter")
    text = page.locator("details .text").first.inner_text()
    assert text.split("\n")[0].endswith(f"step {posed.evidence[0]}]")


def test_what_is_not_there_is_told(show: Open) -> None:
    for address in ("#/session/nobody", f"#/probe/{WATTLINE}/nothing"):
        expect(show(address).locator("h1")).to_have_text("Not in this page")


# Two methods ------------------------------------------------------------------------------------------------------


def test_two_methods_are_chosen_and_what_only_one_keeps_is_shown_worst_first(show: Open, probed: ProbeResult) -> None:
    page = show()
    for label in ("text", "anchored 2k"):
        page.get_by_role("checkbox", name=f"compare {label}", exact=True).press("Space")
    expect(page.get_by_role("checkbox", name="compare gold")).to_be_disabled()
    # Draws of random lines are one row, and no method.
    expect(page.get_by_role("checkbox", name="compare random 2k")).to_have_count(0)
    page.get_by_role("link", name="Compare the two chosen").press("Enter")
    expect(page.locator("h1")).to_have_text("Two methods")
    settled(page)
    posed = posed_by_id(probed.probes)
    sessions = [session.name for session in probed.sessions]
    first, second = (
        {each.key: each for name in sessions for each in asked_in(probed, name, label)}
        for label in ("text", "anchored 2k")
    )
    kept = [[state_of(by_key[key], posed[key[:2]]) is ProbeState.KEPT for key in first] for by_key in (first, second)]
    flips = [key for key, one, other in zip(first, *kept, strict=True) if one != other]
    assert flips
    expect(page.locator("[role=status]").last).to_contain_text(f"{len(flips)} question")
    rows = page.get_by_role("region", name="Probe by probe").locator("tbody tr")
    gaps = [float(text.replace("\u2212", "-")) for text in rows.locator("td:nth-child(7)").all_inner_texts()]
    assert gaps == sorted(gaps)
    assert gaps == pytest.approx(sorted(second[key].score - first[key].score for key in flips), abs=0.006)
    counts = page.get_by_role("region", name="Kept by type").locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert sum(map(int, counts)) == len(first)


def test_two_contexts_stand_side_by_side(show: Open, probed: ProbeResult) -> None:
    page = show(VIEWS["pair"])
    link = page.get_by_role("region", name="Probe by probe").locator("tbody a").first
    probe = link.inner_text()
    link.press("Enter")
    expect(page.locator("h1")).to_have_text(next(each.question for each in probed.probes if each.probe == probe))
    titles = page.locator(".answers h2[id^=cell]").all_inner_texts()
    assert titles == ["A: text", "B: anchored 2k"]
    for mine, other in (("A: text", "B: anchored 2k"), ("B: anchored 2k", "A: text")):
        theirs = page.get_by_label(f"{other}: the context").inner_text()
        said = page.get_by_label(f"{mine}: the context").locator("mark.alone").all_inner_texts()
        assert said
        assert not [sentence for sentence in said if f" {sentence}\n" in theirs]
    page.keyboard.press("u")
    expect(page.locator("h1")).to_have_text("Two methods")


def test_a_difference_is_told_either_way_round(show: Open, probed: ProbeResult) -> None:
    board = next(boards(probed))
    one, other = "text", "anchored 2k"
    found = board.differences[one, other]
    page = show(VIEWS["pair"])
    way = "higher" if found.value > 0 else "lower"
    expect(page.locator(".verdict")).to_contain_text(f"{other} scores {abs(found.value):.2f} {way} than {one}")
    page.get_by_role("link", name="The other way round").press("Enter")
    way = "lower" if found.value > 0 else "higher"
    expect(page.locator(".verdict")).to_contain_text(f"{one} scores {abs(found.value):.2f} {way} than {other}")


def test_runs_are_chosen_and_one_without_texts_has_figures_alone(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    old = ROOT / "tests" / "data" / "probes" / "v1.json"
    page_of(folder / "probes.json", old, tmp_path / "two.html")
    faults: list[str] = []
    page = browser.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((tmp_path / "two.html").as_uri())
    settled(page)
    expect(page.get_by_role("region", name="Sessions")).to_be_visible()
    runs = page.get_by_role("combobox", name="Run").locator("option").all_inner_texts()
    assert len(runs) == 2
    page.get_by_role("combobox", name="Run").select_option(runs[1])
    board = next(boards(read_result(old)))
    expect(page.locator("main")).to_contain_text(heading_of(board))
    expect(page.get_by_role("region", name="Sessions")).to_have_count(0)
    for row in board.rows:
        assert cells(page, row.label)[3].split()[0] == f"{row.score.value:.2f}"
    assert not faults
    page.close()

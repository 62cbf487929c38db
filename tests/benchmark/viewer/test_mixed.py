"""Results that do not belong together, on one page: nothing spans two boards, and every mark says what it is."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmark.analysis.choosing import shelves
from benchmark.analysis.comparison import DifferenceVerdict
from benchmark.analysis.figures import FIGURES, RECOVERED
from benchmark.analysis.leaderboard import Flag
from benchmark.analysis.retention import RetentionJudge, retention_boards
from benchmark.matrix import Track
from benchmark.record.read import iterate_results
from benchmark.render.retention import COLUMNS, retention_notes
from benchmark.scoring import SCORER_VERSION, Embedder
from benchmark.viewer.board_data import detail, overview
from benchmark.viewer.charts import _pictures, chart_rows, specifications
from benchmark.viewer.labels import Spot, names_with_room
from benchmark.viewer.page_data import NO_ANSWER, Gathered, gather, pairs, shelve
from ctxsift.errors import InputError
from tests.conftest import published_layout
from tests.support.mixed import SILENT, mixed_results, texts_of


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    return gather(iterate_results([mixed_results(tmp_path_factory.mktemp("mixed"))]))


def boards_of(gathered: Gathered) -> dict[int, int]:
    """Return the number of the board of each result."""
    numbers = {row.result: number for number, board in enumerate(gathered.boards) for row in board.rows}
    return {shown.key: numbers[shown.result] for shown in gathered.shown}


def keys_of(specification: dict[str, Any]) -> set[int]:
    data = specification["datasets"].items()
    return {row["key"] for name, rows in data if name not in ("lines", "measured") for row in rows}


# Pictures ---------------------------------------------------------------------------------------------------------


def domains(value: Any) -> list[list[str]]:
    """Return the colours of tracks that a specification has."""
    if isinstance(value, list):
        return [found for each in value for found in domains(each)]
    if not isinstance(value, dict):
        return []
    own = [value["scale"]["domain"]] if value.get("field") == "track" else []
    return own + [found for each in value.values() for found in domains(each)]


def test_every_track_has_a_colour_in_every_picture() -> None:
    found = {name: domains(specification) for name, specification in specifications().items()}
    coloured = {name for name, each in found.items() if each}
    assert coloured == {"score-latency", "lift", "latency"}
    for name in coloured:
        assert all(set(domain) == set(Track) for domain in found[name]), name


def test_no_picture_spans_two_boards(gathered: Gathered) -> None:
    assert len(gathered.boards) >= 3
    boards = boards_of(gathered)
    drawn = _pictures(gathered)
    for name, specification in drawn.items():
        assert len({boards[key] for key in keys_of(specification)}) <= 1, name
    # Lines to measure by are those of the board that is drawn.
    floors = {
        name: {line["score"] for line in each["datasets"]["lines"]}
        for name, each in drawn.items()
        if "lines" in each["datasets"]
    }
    assert floors["score-latency"]
    published = next(n for n, board in enumerate(gathered.boards, 1) if board.rows[0].result.record.run is None)
    assert floors[f"board-{published}-score-latency"] == set()


def test_every_title_of_a_file_fits_it(gathered: Gathered) -> None:
    for specification in _pictures(gathered).values():
        assert all(len(line) <= 110 for line in specification["title"]["text"])
        assert "limit" not in specification["title"]


def test_every_figure_of_the_heat_map_has_its_number_of_captures(gathered: Gathered) -> None:
    cells = chart_rows(gathered).cells
    assert all(0 < cell.captures <= cell.cases for cell in cells)
    # Published files tell no means by group; their cases tell the groups.
    published = {shown.key for shown in gathered.shown if shown.result.record.run is None}
    assert published & {cell.key for cell in cells}
    text = json.dumps(specifications()["heat"])
    assert "datum.captures < 10" in text
    assert "'n ' + datum.captures" in text


def test_a_front_is_of_quality_without_latency() -> None:
    text = json.dumps(specifications()["score-latency"])
    assert '"field": "core"' in text
    assert "datum.core >= datum.best" in text
    assert "datum.seconds > 0 && datum.front" in text


def test_a_front_is_of_what_may_be_compared(gathered: Gathered) -> None:
    found = {row.result: row for board in gathered.boards for row in board.rows}
    rows = {shown.key: found[shown.result] for shown in gathered.shown}
    points = chart_rows(gathered).points
    for point in points:
        row = rows[point.key]
        doubts = {Flag.DISTURBED, Flag.INCOMPLETE, Flag.BELOW_FLOOR} & set(row.flags)
        assert point.front is (row.rank is not None and not doubts)
    assert {point.front for point in points} == {True, False}
    # What has no rank is not drawn as best, and a layer without a point is not drawn.
    drawn = _pictures(gathered)["score-latency"]
    assert "front" not in {layer.get("name") for layer in drawn["layer"]}
    for name in ("score-latency", "latency"):
        assert "disturbed" in specifications()[name]["description"]
    assert {point.latency for point in points} == {"disturbed", "unknown"}
    assert {times.latency for times in chart_rows(gathered).times} == {"disturbed", "unknown"}


def test_no_name_stands_on_another_and_none_is_lost(gathered: Gathered) -> None:
    names = {point.label: point.name for point in chart_rows(gathered).points}
    # The three are one answer three times, so they are one point.
    assert names["model-02"] == "model-02 +2"
    assert (names["service"], names["tool-x"]) == ("", "")
    # It would stand on the name of the floor.
    assert names["model-00"] == ""
    (title,) = (each["title"]["text"] for name, each in _pictures(gathered).items() if name == "score-latency")
    assert "lack of room: service, tool-x, model-00." in " ".join(title)


def test_names_have_room() -> None:
    def names(*spots: tuple[str, float, float], first: str = "") -> list[str]:
        return names_with_room([Spot(label, s, core, label == first) for label, s, core in spots])

    far = (("a", 1.0, 20.0), ("b", 10.0, 20.0))
    assert names(*far) == ["a", "b"]
    near = (("first-model", 1.0, 20.0), ("other-model", 1.2, 20.5), ("far", 10.0, 80.0))
    assert names(*near) == ["", "other-model", "far"]
    assert names(*near, first="first-model") == ["first-model", "", "far"]
    assert names(("one", 2.0, 50.0)) == ["one"]
    assert names() == []
    spots = [Spot("x", 1.0, 20.0, first=False), Spot("y", 9.0, 9.0, first=False)]
    assert names_with_room(spots, [("floor: tf-idf", 21.0)]) == ["", "y"]


# Verdicts ---------------------------------------------------------------------------------------------------------


def test_pairs_across_scorers_and_layouts_have_no_verdict(gathered: Gathered) -> None:
    boards = boards_of(gathered)
    scorers = {s.key: s.result.record.run.scorer_version if s.result.record.run else None for s in gathered.shown}
    found = pairs(gathered)
    assert found
    refused = 0
    for pair in found:
        verdicts = {figure.verdict for figure in [*pair.figures, *pair.intents]} - {""}
        if scorers[pair.a] == scorers[pair.b]:
            assert not pair.no_verdict
            continue
        refused += 1
        assert boards[pair.a] != boards[pair.b]
        assert "scored by different scorers" in pair.no_verdict
        assert verdicts == {"not comparable"}
        assert all(figure.interval is None for figure in [*pair.figures, *pair.intents])
    assert refused > 3


def test_only_the_quality_core_and_intents_have_a_verdict(gathered: Gathered) -> None:
    for pair in pairs(gathered) or []:
        told = {figure.name: figure.verdict for figure in pair.figures}
        assert {name for name, verdict in told.items() if verdict} == {"quality core"}
        for figure in pair.intents:
            if figure.verdict == DifferenceVerdict.CANNOT_TELL and figure.interval:
                assert figure.interval.low <= 0 <= figure.interval.high


def test_what_a_service_did_not_answer_is_rejected_everywhere_for_one_reason(gathered: Gathered) -> None:
    (service,) = (shown for shown in gathered.shown if shown.result.name == "service")
    (row,) = (row for row in overview(gathered, []).results if row.label == "service")
    drawn = {each.verdict: each.count for each in chart_rows(gathered).verdicts if each.key == service.key}
    told = {"accepted": row.figures["accepted"], "soft accepted": row.figures["soft"]}
    assert drawn == {**told, "rejected": row.figures["rejected"]}
    assert Counter(case.verdict for case in service.cases) == drawn
    silent = [case for case in service.cases if case.recovered and case.recovered.flags == [NO_ANSWER]]
    assert len(silent) >= SILENT
    assert {case.verdict for case in silent} == {"rejected"}
    found = detail(service)
    assert "empty output" not in {each.reason for each in found.reasons}
    (reason,) = (each for each in found.reasons if each.reason == NO_ANSWER)
    assert (reason.count, reason.of_generation) == (len(silent), True)
    assert f"the service gave no answer to {len(silent)} cases; they count as rejected" in row.notes
    others = [case for s in gathered.shown if s is not service for case in s.cases if case.recovered]
    assert not any(NO_ANSWER in case.recovered.flags for case in others if case.recovered)


def test_nothing_is_counted_of_an_answer_that_was_not_given(gathered: Gathered) -> None:
    (service,) = (shown for shown in gathered.shown if shown.result.name == "service")
    silent = [case for case in service.cases if case.recovered and case.recovered.flags == [NO_ANSWER]]
    assert silent
    for case in silent:
        answer = gathered.asked[case.question].answers[service.key]
        assert case.recovered
        assert case.raw
        assert (case.recovered.tokens, case.raw.tokens) == (None, None)
        assert msgspec.to_builtins(answer.recovered).get("reasons", {}) == {}
        assert msgspec.to_builtins(answer.raw).get("reasons", {}) == {}


# Names ------------------------------------------------------------------------------------------------------------


def test_another_run_leaves_the_addresses_of_the_others(tmp_path: Path) -> None:
    folder = mixed_results(tmp_path / "one")
    before = {shown.result.name: shown.id for shown in gather(iterate_results([folder])).shown}
    record = json.loads((folder / "model-02.json").read_text())
    record["run"]["timestamp"] = "20270101T000000Z"
    (folder / "zz-again.json").write_text(json.dumps(record))
    after = gather(iterate_results([folder]))
    ids = [shown.id for shown in after.shown]
    assert len(set(ids)) == len(ids)
    assert set(before.values()) <= set(ids)
    rows = overview(after, []).results
    assert sum(row.scenario == "model-02" for row in rows) == 2


def test_cases_are_found_by_their_domain(gathered: Gathered) -> None:
    catalog, _ = shelve(gathered.asked)
    domains = {entry.domain for entry in catalog}
    assert len(domains - {""}) > 2
    asked = {each.question.case_id: each.question.domain for each in gathered.asked}
    assert all(entry.domain == (asked[entry.case_id] or "").replace("_", " ") for entry in catalog)


def test_no_place_of_this_machine_is_on_the_page(gathered: Gathered, tmp_path: Path) -> None:
    error = InputError(str(tmp_path / "somewhere" / "damaged.json"), "not valid JSON", "remove it")
    shown = overview(gathered, [error])
    told = [*texts_of(msgspec.to_builtins(shown))]
    for each in gathered.shown:
        told += texts_of(msgspec.to_builtins(detail(each).identity))
    assert "…/somewhere/damaged.json: not valid JSON; remove it" in shown.skipped
    places = [text for text in told if re.search(r"(?:^|[\s(])/(?:tmp|home|root|Users|work)/", text)]
    assert places == []


def test_head_to_head_says_what_ranks_say(tmp_path: Path) -> None:
    # Between what is sure alone and what is sure beside all other pairs.
    paths = [
        published_layout(
            tmp_path / f"{n}.json",
            f"r{n}",
            {f"c{k}": min(1.0, (k % 10) / 12 + 0.02 * n + ((7 * k + 3 * n) % 11) / 60) for k in range(40)},
        )
        for n in range(8)
    ]
    found = gather(iterate_results(paths))
    (board,) = found.boards
    of_key = {shown.key: shown.result for shown in found.shown}
    seen = set()
    for pair in pairs(found) or []:
        a, b = of_key[pair.a], of_key[pair.b]
        (core,) = (figure for figure in pair.figures if figure.verdict)
        ranks = "better" if b in board.beaten_by[a] else "worse" if a in board.beaten_by[b] else "not significant"
        assert core.verdict == ranks
        assert pair.corrected_for == 28
        seen.add(ranks)
    assert {"worse", "not significant"} <= seen


def test_a_sentence_on_a_pair_says_what_its_figures_say(gathered: Gathered) -> None:
    found = pairs(gathered) or []
    verdicts = set()
    for pair in found:
        assert bool(pair.words) is not bool(pair.no_verdict)
        if pair.no_verdict:
            continue
        (core,) = (figure for figure in pair.figures if figure.verdict)
        begin = {
            "better": f"{{b}} is better than A by {core.gain:.1f} points",
            "worse": f"{{b}} is worse than A by {-core.gain:.1f} points",
            "not significant": f"{{b}} and A cannot be told apart on {pair.shared} cases",
            "no difference": f"{{b}} and A have the same quality core on {pair.shared} cases",
        }[core.verdict]
        assert pair.words.startswith(begin)
        turned = {"better": "{b} is worse", "worse": "{b} is better"}.get(core.verdict, "{b} and A ")
        assert pair.turned_words.startswith(turned)
        # Times and memory are those of one machine.
        told = pair.words.split("; ")
        assert all(each.startswith(("it ", "each ")) for each in told[1:])
        assert bool(re.search(r"it takes .* a case (more|less)", pair.words)) is (
            pair.speed is not None and pair.speed.verdict in ("faster", "slower")
        )
        assert not re.search(r"-\d", pair.words)
        lost = re.search(r"loses (\d+) cases? that A passes", pair.words)
        won = re.search(r"passes (\d+) cases? that A does not", pair.turned_words)
        assert (lost and lost[1]) == (won and won[1])
        verdicts.add(core.verdict)
    assert {"better", "worse"} & verdicts
    assert {"not significant", "no difference"} <= verdicts


# What is kept -----------------------------------------------------------------------------------------------------


def test_a_word_means_one_thing_on_every_table() -> None:
    shared = {column.title for column in COLUMNS} & {figure.title for figure in FIGURES}
    assert shared == {RECOVERED.title}


def test_a_board_of_which_nothing_can_be_judged_is_not_what_is_kept(gathered: Gathered, embedder: Embedder) -> None:
    folder = Path(gathered.shown[0].result.path).parent
    results = iterate_results([folder])
    found = retention_boards(gathered.boards, results, RetentionJudge(embedder))
    assert found
    assert all(any(row.case_count for row in board.rows) for board in found)
    assert len(found) < len(gathered.boards)
    for board in found:
        counts = [row.case_count for row in board.rows]
        assert counts == sorted(counts, reverse=True)
        assert [row.label for row in board.rows if row.is_ceiling] in ([], ["gold (reference)"])
    assert any(row.is_ceiling for board in found for row in board.rows)
    # It kept more than the others, of half the cases.
    assert found[0].rows[-1].label == "model-03"
    assert "model-03: 5 cases of them, so it stands last" in retention_notes(found[0])


# One score --------------------------------------------------------------------------------------------------------


def test_a_result_has_one_score_on_every_table(gathered: Gathered) -> None:
    rows = {row.key: row for row in overview(gathered, []).results}
    cores = {key: row.figures["core"] * 100 for key, row in rows.items() if "core" in row.figures}
    seen = 0
    for pair in pairs(gathered) or []:
        if pair.only_a or pair.only_b:
            continue
        (core,) = (figure for figure in pair.figures if figure.name == "quality core")
        assert [core.a, core.b] == pytest.approx([cores[pair.a], cores[pair.b]])
        assert core.cases == rows[pair.a].answered
        seen += rows[pair.a].label == "remote-gpt-4o-mini"
    assert seen
    points = {point.key: point.core for point in chart_rows(gathered).points}
    assert points == pytest.approx(cores)
    for board in gathered.boards:
        for shelf in shelves(board, ("all",)):
            for candidate in shelf.candidates:
                key = next(shown.key for shown in gathered.shown if shown.result is candidate.row.result)
                assert candidate.score == pytest.approx(cores[key])
                assert candidate.case_count == rows[key].answered


def test_a_file_with_a_part_of_its_cases_says_so(gathered: Gathered) -> None:
    (row,) = (row for row in overview(gathered, []).results if row.label == "remote-gpt-4o-mini")
    assert row.answered == 20
    assert "this file holds 20 cases, but its own summary is of 280: all figures are of the cases it holds" in row.notes


def test_an_incomplete_run_tells_its_part_and_nothing_measured_from_its_own_zero(gathered: Gathered) -> None:
    told = overview(gathered, [])
    assert {row.label: row.part for row in told.results if row.part} == {"model-03": "7 of 16 cases"}
    assert {figure.key for figure in told.figures if figure.needs_all} == {"norm"}
    assert {board.about.rsplit(", ")[-1]: board.is_old for board in told.boards}["20 cases"] is False
    for board in told.boards:
        if "scorer 0" in board.about:
            assert board.about.endswith(f"scorer 0 (old: today's is {SCORER_VERSION})")
            assert any("python -m benchmark.rescore" in note for note in board.notes)

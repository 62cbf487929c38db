"""What is kept of an output: by hand, and through the runner with real programs."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from pathlib import Path

import pytest
from msgspec import structs

from benchmark.analysis.leaderboard import build_leaderboard, build_leaderboards
from benchmark.analysis.retention import (
    Kept,
    LeftOut,
    Retention,
    RetentionBoard,
    RetentionJudge,
    net_saved,
    retention_boards,
    summarised,
)
from benchmark.record.read import StoredResult, find_results
from benchmark.record.result import Question
from benchmark.report import main as report
from benchmark.scoring import Embedder
from tests.benchmark.run.test_command_track import program
from tests.conftest import Run, scenario, write_matrix
from tests.support.frozen import CASES
from tests.support.pages import overview_of, page_of


class Words(Embedder):
    """Counts words, as one does by hand."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())


@pytest.fixture(scope="module")
def words() -> RetentionJudge:
    return RetentionJudge(Words())


def question(raw_input: str, *anchors: str, asked: str = "What of E1 or E2?", case_id: str = "a") -> Question:
    return Question(
        case_id=case_id,
        capture=case_id,
        intent="recall",
        raw_input=raw_input,
        instruction=asked,
        required_anchors=list(anchors),
    )


# By hand ----------------------------------------------------------------------------------------------------------

FIVE = (
    # 8 words in, 2 out, the anchor is there: 6 saved. One line of four fits.
    (question("E1 a\nb c\nd e\nf g", "E1", case_id="1"), "E1 a"),
    # 5 in, 2 out, one of two anchors: 2 for nothing. Two thirds of the line that has both fit, or the other line.
    (question("E2 x E3\ny z", "E2", "E3", case_id="2"), "E2 y"),
    # Nothing said, nothing saved.
    (question("E4 q", "E4", case_id="3"), ""),
    # All of it.
    (question("E5\nE5 r", "E5", case_id="4"), "E5\nE5 r"),
    # 2 in, 4 out: 2 for nothing.
    (question("E6 s", "E6", case_id="5"), "E6 s t u"),
)


def test_five_cases_by_hand(words: RetentionJudge) -> None:
    kept = [words.kept(asked, text) for asked, text in FIVE]
    assert [each.saved for each in kept] == [6, -2, 0, 0, -2]
    assert [each.anchors for each in kept] == [1, 0.5, 0, 1, 1]
    row = summarised(Retention("x", is_reference=False, is_blind=False, score=None, case_count=0), kept)
    assert row.case_count == 5
    assert row.anchors_kept == pytest.approx(0.7)
    assert row.all_kept == pytest.approx(0.6)
    assert row.tokens_left == pytest.approx(11 / 20)
    assert row.ratio == pytest.approx(20 / 11)
    assert row.net_saved == pytest.approx(2 / 20)
    assert row.net_saved_interval is not None
    assert row.tf_idf_kept == pytest.approx((1 + 2 / 3 + 0 + 1 + 1) / 5)
    # Each order of lines is as likely as any other.
    assert row.random_kept == pytest.approx((1 / 4 + 1 / 3 + 0 + 1 + 1) / 5, abs=0.05)
    assert row.lift == pytest.approx(0.7 - (row.random_kept or 0))


def test_random_lines_are_the_same_each_time() -> None:
    asked, _ = FIVE[0]
    first, second = (RetentionJudge(Words()).kept(asked, "E1 a").random for _ in range(2))
    assert first == second


def test_lines_of_equal_size_keep_more_the_more_there_is(words: RetentionJudge) -> None:
    asked = question("\n".join(f"line {n} E{n}" for n in range(40)), *(f"E{n}" for n in range(40)))
    found = [words.kept(asked, "w " * size) for size in (0, 12, 60, 120)]
    assert [each.random for each in found] == [pytest.approx(size / 120) for size in (0, 12, 60, 120)]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (question("E1 a", "E1"), None),
        (question("E1 a\nE1 b", "E1", "2"), LeftOut.DERIVED),
        (question("E10 a", "E1"), LeftOut.DERIVED),
        (question("E1 a"), LeftOut.NO_ANCHORS),
    ],
)
def test_what_nobody_who_passes_lines_on_could_keep_is_left_out(
    words: RetentionJudge, asked: Question, reason: LeftOut | None
) -> None:
    assert words.left_out(asked) is reason


def test_too_few_captures_have_no_interval() -> None:
    kept = [Kept(10, 5, 1.0, 0.5, 0.5, ("capture", str(n))) for n in range(4)]
    assert net_saved(kept) == (0.5, None)


# With real programs -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, runner_in: Run) -> list[StoredResult]:
    folder = tmp_path_factory.mktemp("retention")
    control = {"track": "control", "gguf_filename": None, "max_output_tokens": None}
    write_matrix(
        folder,
        program("all", "cat", question=False),
        program("nothing", "true", question=False),
        program("tail", "tail", "-n", "5", question=False),
        program("asked", "grep", "-iwF", "-e", "{instruction}", ok_exit_codes="any"),
        scenario(**control | {"name": "gold", "model": "gold", "backend": "gold"}),
    )
    done = runner_in(folder, "--dataset", str(CASES))
    assert done.returncode == 0, done.stderr
    return find_results([folder / "results"])


@pytest.fixture(scope="module")
def board(results: list[StoredResult], embedder: Embedder) -> RetentionBoard:
    (found,) = retention_boards([build_leaderboard(results)], results, RetentionJudge(embedder))
    return found


def test_all_and_nothing_save_exactly_nothing(board: RetentionBoard) -> None:
    rows = {row.label: row for row in board.rows}
    everything, nothing = rows["all"], rows["nothing"]
    assert (everything.net_saved, everything.anchors_kept, everything.all_kept) == (0.0, 1.0, 1.0)
    assert (everything.tokens_left, everything.lift) == (1.0, None)
    assert (nothing.net_saved, nothing.anchors_kept, nothing.tokens_left, nothing.ratio) == (0.0, 0.0, 0.0, None)
    assert everything.net_saved_interval == nothing.net_saved_interval == (0.0, 0.0)


def test_gold_is_at_the_top_and_keeps_everything(board: RetentionBoard) -> None:
    gold = board.rows[0]
    assert (gold.label, gold.is_reference, gold.anchors_kept, gold.all_kept) == ("gold", True, 1.0, 1.0)
    assert all((gold.net_saved or 0) > (row.net_saved or 0) for row in board.rows[1:])


def test_what_is_not_told_the_question_is_marked(board: RetentionBoard) -> None:
    blind = {row.label for row in board.rows if row.is_blind}
    assert {"all", "nothing", "tail"} <= blind
    assert not blind & {"asked", "gold", "baseline extractor", "baseline tf-idf"}


def test_the_order_of_results_changes_nothing(results: list[StoredResult], embedder: Embedder) -> None:
    found = []
    for order in itertools.islice(itertools.permutations(results), 0, 120, 40):
        (board,) = retention_boards([build_leaderboard(order)], order, RetentionJudge(embedder))
        found.append([dataclasses.astuple(row) for row in board.rows])
    assert len(found) == 3
    assert found[0] == found[1] == found[2]


def test_every_format_tells_the_same(
    results: list[StoredResult], board: RetentionBoard, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(result.path) for result in results]
    files = ["--markdown", str(tmp_path / "r.md"), "--csv", str(tmp_path / "r.csv")]
    assert report([*paths, "--retention", *files]) == 0
    printed = capsys.readouterr().out
    assert report([*paths, "--retention", "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["boards"]
    assert [row["label"] for row in document["results"]] == [row.label for row in board.rows]
    assert sum(document["left_out"].values()) + document["results"][0]["judged"] == len(results[0].cases)
    table = (tmp_path / "r.csv").read_text().splitlines()
    assert len(table) == 1 + len(board.rows)
    markdown = (tmp_path / "r.md").read_text()
    for row, told in zip(board.rows, document["results"], strict=True):
        assert told["net_saved"] == row.net_saved
        for text in (printed, markdown):
            name = re.compile(rf"[│|] \*?{re.escape(row.label)}(?: \(blind\))?\*? *[│|]")
            (line,) = filter(name.match, text.splitlines())
            assert f"{row.anchors_kept:.2f}" in line
    assert "tail (blind)" in printed


def test_the_page_holds_the_same_figures(results: list[StoredResult], board: RetentionBoard, tmp_path: Path) -> None:
    page = page_of(*(result.path for result in results), tmp_path / "page.html")
    (shown,) = overview_of(page)["retention"]
    assert [row["label"] for row in shown["rows"]] == [row.label for row in board.rows]
    assert [row["figures"].get("net saved %") for row in shown["rows"]] == [row.net_saved for row in board.rows]
    assert [row["is_blind"] for row in shown["rows"]] == [row.is_blind for row in board.rows]
    # Without a program among them, results are read once.
    without = [result.path for result in results if result.is_reference]
    assert "retention" not in overview_of(page_of(*without, tmp_path / "without.html"))


def test_a_board_without_inputs_says_nothing(embedder: Embedder, tmp_path: Path) -> None:
    from tests.conftest import published_layout

    results = find_results([published_layout(tmp_path / "old.json", "old", {"a": 0.5})])
    (board,) = retention_boards(build_leaderboards(results), results, RetentionJudge(embedder))
    (row,) = board.rows
    assert (row.case_count, row.net_saved) == (0, None)


@pytest.mark.parametrize(("marker", "usable"), [("^E1", True), ("(", False), (r"((.|..)+)+[^\x00-\U0010ffff]", False)])
def test_a_marker_that_cannot_be_used_costs_its_own_row(
    marker: str, usable: bool, results: list[StoredResult], words: RetentionJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmark.analysis.retention._MARKER_S", 1.0)
    result = results[0]
    scenario = dataclasses.replace(result.record.scenario, marker=marker)
    kept = words.read(dataclasses.replace(result, record=structs.replace(result.record, scenario=scenario)))
    assert kept.answers
    assert (kept.without_markers is not None) is usable

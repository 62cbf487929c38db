"""One model at several quantizations: who is on a ladder, in which order, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.analysis.comparison import Comparisons, verdict_of
from benchmark.analysis.ladder import NOT_QUANTIZED, Ladder, ladders, quantization_of
from benchmark.analysis.leaderboard import Leaderboard, build_leaderboards
from benchmark.cli.command import PACKAGED_RESULTS, PUBLISHED_RESULTS
from benchmark.record.read import find_results, iterate_results
from benchmark.render.ladder import ladder_notes, ladder_sentence, ladders_document
from benchmark.report import main
from tests.support.rungs import rungs

MODEL = "qwen2.5-coder-0.5b-instruct"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rungs(tmp_path_factory.mktemp("rungs"))


def board_of(folder: Path) -> Leaderboard:
    (board,) = build_leaderboards(iterate_results([folder]))
    return board


@pytest.fixture(scope="module")
def board(folder: Path) -> Leaderboard:
    return board_of(folder)


@pytest.fixture(scope="module")
def published() -> dict[str, Ladder]:
    (board,) = build_leaderboards(find_results([PUBLISHED_RESULTS]))
    return {ladder.model: ladder for ladder in ladders(board)}


def test_a_model_stands_with_its_quantizations_the_biggest_first(board: Leaderboard) -> None:
    (ladder,) = ladders(board)
    assert ladder.model == MODEL
    assert [rung.quantization for rung in ladder.rungs] == ["Q8_0", "Q4_K_M", "Q3_K_M", "Q2_K"]
    # The package identifies the packaged result; file names identify the others.
    models = [rung.row.result.record.scenario.model for rung in ladder.rungs]
    assert models[1] == "package:qwen2.5-coder-0.5b"
    assert set(models) - {models[1]} == {"Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF"}
    # Other models with the same quantization stand apart.
    assert len(board.rows) == len(ladder.rungs) + 2


def test_a_loss_is_the_difference_that_ranks(board: Leaderboard) -> None:
    (ladder,) = ladders(board)
    top, *others = ladder.rungs
    assert top.difference is None
    places = {result: n for n, result in enumerate(board.ranking.results)}
    compared = Comparisons()
    for rung in others:
        assert rung.difference
        assert rung.difference.value == pytest.approx(rung.score - top.score)
        if rung.row.rank:
            i, j = sorted((places[top.row.result], places[rung.row.result]))
            difference = board.ranking.differences[i, j]
            assert rung.difference in (difference, difference.turned)
        else:
            assert rung.difference == compared.difference(top.row.result, rung.row.result, timed=False)
    assert {rung.row.rank is None for rung in others} == {True, False}
    assert [verdict_of(rung.difference).removeprefix("B ") for rung in others if rung.difference] == ["worse"] * 3


def test_a_sentence_says_what_the_figures_say(board: Leaderboard, published: dict[str, Ladder]) -> None:
    (ladder,) = ladders(board)
    by = [f"{quantization} (by {-rung.difference.value:.1f} points)" for rung in ladder.rungs[1:]
          if (quantization := rung.quantization) and rung.difference]  # fmt: skip
    assert ladder_sentence(ladder) == f"{by[0]}, {by[1]} and {by[2]} are worse than Q8_0."
    assert ladder_notes(ladder) == []
    assert set(published) == {"Qwen3.5-0.8B", "LFM2.5-1.2B-Instruct", "gemma-3-1b-it"}
    for found in published.values():
        assert [rung.quantization for rung in found.rungs] == [NOT_QUANTIZED, "Q8_0"]
        assert ladder_sentence(found) == "Q8_0 cannot be told apart from the unquantized model."
        # What else differs is said.
        (note,) = ladder_notes(found)
        assert note.startswith("different tracks (gpu, cpu)")


def changed(folder: Path, name: str, change: Callable[[dict[str, Any]], object]) -> None:
    file = folder / f"{name}.json"
    record = json.loads(file.read_text())
    change(record)
    file.write_text(json.dumps(record))


def rename(name: str, header: str) -> Callable[[dict[str, Any]], object]:
    def change(record: dict[str, Any]) -> None:
        record["scenario"]["gguf_filename"] = name
        record["run"]["backend"]["model_file"]["name"] = header

    return change


@pytest.mark.parametrize(
    ("change", "count"),
    [
        # Either is enough: the name of the file, or what its header says.
        (rename("Qwen2.5-Coder-0.5B-Instruct-UD-Q2_K_XL.gguf", "Qwen2.5-Coder-0.5B Whoever"), 4),
        (rename("weights.gguf", "Qwen2.5 Coder 0.5B Instruct GGUF"), 4),
        # A tuned model is another one, whatever it was made from.
        (rename("qwen2.5-coder-0.5b-extract-q2_k.gguf", "Qwen2.5 Coder 0.5B Extract"), 3),
        # So is one that reads something else.
        (lambda record: record["scenario"].update(before="tail"), 3),
        # Another scorer is another board.
        (lambda record: record["run"].update(scorer_version="1"), 3),
        (lambda record: record["run"].update(corpus_sha256="0" * 64), 3),
        (lambda record: record["scenario"].update(track="remote"), 3),
    ],
)
def test_what_is_one_model(tmp_path: Path, change: Callable[[dict[str, Any]], object], count: int) -> None:
    changed(rungs(tmp_path), "cpu-qwen2.5-coder-0.5b-q2_k", change)
    found = [ladder for board in build_leaderboards(iterate_results([tmp_path])) for ladder in ladders(board)]
    assert [len(ladder.rungs) for ladder in found] == [count]


def test_one_quantization_is_no_ladder() -> None:
    for board in build_leaderboards(find_results([PACKAGED_RESULTS / "easy"])):
        assert ladders(board) == ()


def test_a_header_tells_more_than_a_name(tmp_path: Path) -> None:
    name = "cpu-qwen2.5-coder-0.5b-q2_k"
    changed(rungs(tmp_path), name, rename("qwen2.5-coder-0.5b-instruct-q5_0.gguf", "x"))
    (result,) = (row.result for row in board_of(tmp_path).rows if row.result.name == name)
    assert quantization_of(result) == "Q2_K"
    changed(tmp_path, name, lambda record: record["run"]["backend"].pop("model_file"))
    (result,) = (row.result for row in board_of(tmp_path).rows if row.result.name == name)
    assert quantization_of(result) == "Q5_0"


def test_the_report_prints_the_ladders(
    folder: Path, board: Leaderboard, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert main([str(folder), "--quantizations"]) == 0
    told = capsys.readouterr().out
    (ladder,) = ladders(board)
    assert ladder_sentence(ladder) in told
    assert f"{MODEL}; 40 of 280 cases (easy tier), corpus" in told
    # A mark behind a name is explained.
    assert "q2_k" in told
    assert "! not significantly better than the best baseline" in told
    # At 80 columns, the first table has what matters.
    monkeypatch.setenv("COLUMNS", "80")
    assert main([str(folder), "--quantizations"]) == 0
    first = capsys.readouterr().out.split("└")[0]
    assert all(word in first for word in ("Q2_K", "against the first", "worse"))
    assert main([str(folder), "--quantizations", "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert document == json.loads(json.dumps(ladders_document([(board, [ladder])])[0]))
    assert main([str(PACKAGED_RESULTS / "easy"), "--quantizations"]) == 2
    assert "no model at several quantizations" in capsys.readouterr().err

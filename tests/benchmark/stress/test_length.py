"""`python -m benchmark.stress length`: the same facts in outputs of several lengths."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmark.corpus import load_corpus
from benchmark.corpus.checks import check_scores
from benchmark.scoring import Embedder
from benchmark.statistics import Interval
from benchmark.stress.__main__ import main
from benchmark.stress.changing import id_of
from benchmark.stress.figures import Estimate
from benchmark.stress.lengthening import Lengthening, Stretched, kept_text, kind_of, lengthening
from ctxsift.preselection import tokens_in
from tests.conftest import scripted, write_matrix
from tests.support.runs import SMALL

SLICE = load_corpus(Path(SMALL[1])).cases
TIMES = (1, 2, 4)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def made() -> Lengthening:
    return lengthening(SLICE, Embedder(), TIMES, count=12, most_tokens=900, seed=1)


def test_a_longer_output_has_the_lines_of_a_shorter_one_and_its_length(made: Lengthening) -> None:
    found = {(each.base, each.kind): each.case for each in made.cases}
    bases = {base for base, _ in found}
    assert len(bases) >= 3
    for base in bases:
        case = next(case for case in SLICE if case.case_id == base)
        outputs = [found[base, kind_of(times)].raw_input for times in TIMES]
        lines = [Counter(output.split("\n")) for output in outputs]
        assert lines[0] < lines[1] < lines[2]
        # Nothing is added but lines of the same output.
        assert lines[2].keys() <= set(case.raw_input.split("\n"))
        for times, output in zip(TIMES, outputs, strict=True):
            assert tokens_in(output) == pytest.approx(times * tokens_in(outputs[0]), rel=0.25)


def test_what_the_answer_says_is_in_the_shortest_and_gold_keeps_its_hundred(made: Lengthening) -> None:
    for each in made.cases:
        assert list(check_scores(each.case, Embedder())) == []
        case = next(case for case in SLICE if case.case_id == each.base)
        for line in case.raw_input.split("\n"):
            if any(anchor in line for anchor in case.required_anchors) and case.raw_input.count(line) == 1:
                assert line in each.case.raw_input.split("\n")


def test_a_count_cannot_be_asked_of_another_length() -> None:
    counting = [dataclasses.replace(case, derived_anchors=("7",)) for case in SLICE]
    found = lengthening(counting, Embedder(), TIMES, count=12, most_tokens=900, seed=1)
    assert found.cases == ()
    assert found.skipped > 0


def stretched(times: int, score: float, share: float | None) -> Stretched:
    tokens, of = Estimate(200.0 * times, None), None if share is None else Estimate(share, None)
    return Stretched("model", times, 5, tokens, Estimate(score, None), of, None, None)


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ([95, 91, 40], "up to 800 tokens, 4 times the needed lines"),
        ([40, 95, 95], "up to 200 tokens, the needed lines alone"),
        ([95, 91, 90], "up to 1,600 tokens, 8 times the needed lines (the longest asked)"),
    ],
)
def test_the_longest_input_at_which_the_score_holds(shares: list[float], told: str) -> None:
    found = [stretched(1, 80, None), *(stretched(2**n, 0.8 * share, share) for n, share in enumerate(shares, 1))]
    assert kept_text(found) == f"model: keeps 90% of its score {told}; no loss is significant"


def test_a_loss_is_significant_where_its_whole_interval_is_one() -> None:
    shares = [Estimate(70, Interval(20, 120)), Estimate(60, Interval(30, 99)), Estimate(50, Interval(10, 90))]
    found = [
        stretched(1, 80, None),
        *(dataclasses.replace(stretched(2, 80, 1), share=share, times=2**n) for n, share in enumerate(shares, 1)),
    ]
    assert kept_text(found).endswith("the needed lines alone; significant loss at 4, 8 times")


def test_a_model_that_loses_at_length(folder: Path, capsys: pytest.CaptureFixture[str], made: Lengthening) -> None:
    # It reads only the first so many words, and says nothing of what is longer.
    texts = {each.case.case_id: each.case for each in made.cases}
    lost = {}
    for base in {each.base for each in made.cases}:
        short, long = (set(texts[id_of(base, kind_of(times))].raw_input.split("\n")) for times in (1, 4))
        line = max(long - short, key=len)
        assert line.strip()
        lost[base] = line
    script = [[line, "x"] for line in lost.values()]
    script += [[case.instruction, case.expected_output] for case in SLICE]
    matrix = str(write_matrix(folder, scripted(folder, "model", answers=script, default="x")))
    command = ["length", *SMALL, "--output-dir", "out", "--max-tokens", "900", "--times", "4"]
    assert main([*command, "--matrix", matrix, "--scenario", "model"]) == 0
    document: dict[str, Any] = json.loads(Path("out/length.json").read_text(encoding="utf-8"))
    first, last = document["scenarios"]
    assert (first["times"], last["times"]) == (1, 4)
    assert first["score"]["value"] == pytest.approx(100)
    assert last["score"]["value"] < 20
    assert last["share"]["value"] == pytest.approx(last["score"]["value"])
    assert first["share"] is None
    assert last["tokens"]["value"] == pytest.approx(4 * first["tokens"]["value"], rel=0.2)
    assert "model: keeps 90% of its score up to" in capsys.readouterr().out


def test_other_lengths_have_a_dataset_of_their_own(folder: Path) -> None:
    files = []
    for times in ("2", "4", "2"):
        assert main(["length", *SMALL, "--output-dir", "out", "--times", times]) == 0
        files.append(json.loads(Path("out/length.json").read_text(encoding="utf-8"))["dataset"])
    # A run of the first one that was interrupted is continued on the cases with which it began.
    assert files[0] == files[2] != files[1]
    kinds = {
        file: {case.case_id.rpartition("--")[2] for case in load_corpus(Path("out", file)).cases} for file in files
    }
    assert kinds == {files[0]: {"1-times", "2-times"}, files[1]: {"1-times", "4-times"}}


def test_without_a_scenario_the_lengths_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["length", *SMALL, "--output-dir", "out", "--times", "2"]) == 0
    printed = capsys.readouterr().out
    assert "2x" in printed
    assert "(no model)" in printed
    with pytest.raises(SystemExit) as left:
        main(["length", *SMALL, "--times", "101"])
    assert left.value.code == 2

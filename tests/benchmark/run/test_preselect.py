"""Rows that let rules choose what a model reads of a long output: what it reads, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.corpus import load_corpus
from ctxsift.backends.baselines import baseline_answer
from ctxsift.preselection import preselected
from tests.benchmark.run.test_before import extractor
from tests.benchmark.run.test_command_track import program
from tests.conftest import Run, write_matrix
from tests.support.runs import SMALL, cut_after, result_of

BUDGET = 100


@pytest.fixture(scope="module")
def small() -> Corpus:
    return load_corpus(Path(SMALL[1]))


def lines(**fields: Any) -> dict[str, Any]:
    return extractor(**{"name": "behind", "preselect": "lines", "preselect_tokens": BUDGET} | fields)


def test_the_model_reads_lines_of_long_outputs_and_short_ones_whole(tmp_path: Path, runner: Run, small: Corpus) -> None:
    write_matrix(tmp_path, lines())
    done = runner(*SMALL)
    assert done.returncode == 0, done.stderr
    record, long = result_of(tmp_path), 0
    for case in small.cases:
        (told,) = (each for each in record["cases"] if each["case_id"] == case.case_id)
        chosen = preselected(case.request, BUDGET)
        assert told["raw_view"]["output"] == baseline_answer("extractor", chosen)
        # What an answer is worth, the whole output decides.
        assert told["raw_input"] == case.raw_input
        if chosen != case.request:
            long += 1
            assert told["read"] == chosen.raw_input
            assert told["read_tokens"] < told["input_tokens"]
        else:
            assert told.get("read_tokens") is None
    assert 0 < long < len(small.cases)
    read = sum(c.get("read_tokens") or c["input_tokens"] for c in record["cases"])
    assert record["summary"]["read_share"] == pytest.approx(read / sum(c["input_tokens"] for c in record["cases"]))
    assert record["scenario"]["preselect"] == "lines"
    assert f"of outputs longer than about {BUDGET} tokens, this model reads lines that rules choose" in done.stdout


def test_a_run_is_resumed_only_with_what_was_read(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, lines())
    assert runner(*SMALL).returncode == 0
    whole = result_of(tmp_path)["cases"]
    cut_after(tmp_path, 4)
    write_matrix(tmp_path, lines(preselect_tokens=2 * BUDGET))
    refused = runner("--resume", "results", *SMALL)
    assert refused.returncode == 2
    assert f"preselect_tokens was {BUDGET}, is {2 * BUDGET}" in refused.stderr
    write_matrix(tmp_path, lines())
    assert runner("--resume", "results", *SMALL).returncode == 0
    outputs = [case["raw_view"]["output"] for case in result_of(tmp_path)["cases"]]
    assert outputs == [case["raw_view"]["output"] for case in whole]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (lines(preselect="words"), "preselect"),
        (lines(preselect_tokens=9), "preselect_tokens"),
        (lines(before="tail"), "does not go with before"),
        (lines(model="gold", backend="gold"), "does not go with gold"),
        (program("mine", "cat") | {"preselect": "lines"}, "preselect: does not go with track command"),
    ],
)
def test_rows_that_cannot_be_meant_are_refused(tmp_path: Path, runner: Run, row: dict[str, Any], problem: str) -> None:
    write_matrix(tmp_path, program("tail", "tail", enabled=False), row)
    done = runner(*SMALL)
    assert done.returncode == 2
    assert problem in done.stderr

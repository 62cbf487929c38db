"""The packaged sample: what its rows hold, and how the rules do on the labels of its readers."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from benchmark.corpus import DEFAULT_CORPUS
from benchmark.corpus.canary import CANARY_STRING
from benchmark.scoring import Embedder
from benchmark.utilization.__main__ import main
from benchmark.utilization.records import DataRow
from benchmark.utilization.support import supported
from benchmark.utilization.tables import SAMPLE
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "utilization.md").read_text(encoding="utf-8")
HELD_OUT, TUNED_ON = "held out", "tuned on"
# A half -> what the page calls it.
_ROWS = {HELD_OUT: "held out", TUNED_ON: "used for tuning"}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]


def test_rows_are_questions_on_real_output(rows: list[Row]) -> None:
    assert len({row["id"] for row in rows}) == len(rows) == 60
    assert len({(row["capture"], row["question"]) for row in rows}) == 60
    # The corpus has moved on from some of the outputs.
    there = [row for row in rows if (DEFAULT_CORPUS / f"{row['capture']}.txt").exists()]
    assert len(there) >= 50
    for row in there:
        printed = (DEFAULT_CORPUS / f"{row['capture']}.txt").read_text(encoding="utf-8").split("\n")
        for chunk in row["contexts"]:
            lines = chunk.split("\n")
            assert not Counter(lines) - Counter(printed), row["id"]
    for row in rows:
        assert len(row["contexts"]) == len(row["labels_a"]) == len(row["labels_b"]) == 6
        assert row["canary"] == CANARY_STRING
    assert Counter(row["ranked_by"] for row in rows) == Counter(
        {"embeddings": 20, "shared words": 20, "place in the output": 20}
    )


def test_no_output_is_in_both_halves(rows: list[Row]) -> None:
    halves = {half: {row["capture"] for row in rows if row["half"] == half} for half in (HELD_OUT, TUNED_ON)}
    assert halves[HELD_OUT]
    assert not halves[HELD_OUT] & halves[TUNED_ON]


def f1(truth: list[int], said: list[int]) -> float:
    both = sum(t and s for t, s in zip(truth, said, strict=True))
    return 2 * both / (sum(truth) + sum(said))


def figure(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


@pytest.mark.parametrize(("half", "least"), [(HELD_OUT, 0.85), (TUNED_ON, 0.88)])
def test_rules_agree_with_readers_as_the_page_says(
    rows: list[Row], embedder: Embedder, half: str, least: float
) -> None:
    here = [row for row in rows if row["half"] == half]
    said = [
        verdict.relevant or 0
        for row in here
        for verdict in supported(DataRow(1, "", row["question"], tuple(row["contexts"]), row["answer"]), embedder)
    ]
    a, b = ([label for row in here for label in row[column]] for column in ("labels_a", "labels_b"))
    assert min(f1(a, said), f1(b, said)) >= least
    both = sum(t and s for t, s in zip(a, said, strict=True))
    told = [
        f"{len(here)} | {sum(a)} of {len(a)} | {figure(f1(a, said))}, {figure(f1(b, said))}",
        f"{figure(both / sum(said))}, {figure(both / sum(a))} | {figure(f1(a, b))}",
    ]
    assert f"| {_ROWS[half]} | {' | '.join(told)} |" in PAGE


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = re.findall(r"```\n\$ python -m benchmark.utilization sample\n(.*?)```", PAGE, re.DOTALL)
    assert main(["sample"]) == 0
    assert capsys.readouterr().out == shown
    assert main(["sample", "--labels-column", "labels_a", "--json"]) == 0
    mean = json.loads(capsys.readouterr().out)["spread"]["mean"]
    assert f"and {figure(mean)} with the labels from reader A" in " ".join(PAGE.split())

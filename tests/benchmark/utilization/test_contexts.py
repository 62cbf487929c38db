"""Compacted sessions as rows: where in a summary the answers of the probes stand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmark.probes.subjects import recorded_subjects
from benchmark.utilization import contexts
from benchmark.utilization.__main__ import main


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """One session is enough."""
    subjects = recorded_subjects(["parcelgrid"])
    monkeypatch.setattr(contexts, "recorded_subjects", lambda: subjects)


def measured(capsys: pytest.CaptureFixture[str], method: str) -> dict[str, Any]:
    assert main(["--from", "probes", method, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_lines_of_a_summary_are_chunks(capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, "first")
    assert found["count"] + found["undefined"] == len(found["rows"])
    assert 0 < found["mean_precision"] < 0.2
    # The first lines of the session are the orders of its first step.
    orders = [row for row in found["rows"] if row["question"] == "What did the user order in step 1?"]
    assert min(row["utilization"] for row in orders) > 0.1
    assert [row["row"] for row in found["rows"]] == list(range(1, len(found["rows"]) + 1))


def test_what_is_not_kept_is_undefined(capsys: pytest.CaptureFixture[str]) -> None:
    said = measured(capsys, "anchored")
    assert said["undefined"] < measured(capsys, "opaque")["undefined"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["drop"], "the method drop leaves no summary; name a method that keeps something"),
        (["mask"], "mask has no budget, and leaves too many lines; name a method with a budget"),
        (["anchord"], "unknown method 'anchord'; did you mean anchored"),
        (["anchored", "--dataset", "x"], "--dataset: has no effect without --from cases"),
        (["anchored", "--labels-column", "x"], "--labels-column: has no effect together with --from probes"),
    ],
)
def test_what_cannot_be_ranked(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--from", "probes", *arguments]) == 2
    assert told in capsys.readouterr().err

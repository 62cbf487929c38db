"""`python -m benchmark.race` as somebody calls it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.race.__main__ import main
from tests.conftest import published_layout

FEW = ["simulate", "--drawn", "6", "--orders", "3", "--top", "1", "2", "--tolerance", "0", "2"]


def test_a_table_has_a_row_for_each_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--markdown"]) == 0
    heading, _, _, _, *rows = capsys.readouterr().out.splitlines()
    assert heading.startswith("6 scenarios, 280 cases on 173 captures; 3 orders")
    assert [row.split("|")[1:3] for row in rows] == [[f" {top} ", f" {t} "] for top in (1, 2) for t in (0, 2)]


def test_json_has_the_figures_unrounded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--json"]) == 0
    races = json.loads(capsys.readouterr().out)["races"]
    assert len(races) == 4
    assert races[0]["top"] == 1
    assert races[3]["tolerance"] == 0.02
    assert 0 < races[0]["low"] <= races[0]["share"] <= races[0]["high"] <= 1
    assert main([*FEW, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["races"] == races


def test_the_chart_holds_a_mark_for_each_setting(tmp_path: Path) -> None:
    target = tmp_path / "race.svg"
    assert main([*FEW, "--chart", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert text.count('aria-roledescription="point"') == 4
    assert "share of all generations" in text


def test_packaged_results_race(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", str(PACKAGED_RESULTS), "--top", "1", "--tolerance", "1", "--orders", "2"]) == 0
    assert "2 orders, drawn of cases" in capsys.readouterr().out


def test_mistakes_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mistakes", "--runs", "1", "--json"]) == 0
    boards = json.loads(capsys.readouterr().out)["boards"]
    assert {each["shuffled"] for each in boards} == {"cases", "stratified", "captures"}
    assert all(each["runs"] == 1 for each in boards)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["simulate"], "give RESULTS, or --drawn N"),
        (["simulate", "somewhere", "--drawn", "3"], "give RESULTS, or --drawn N"),
        (["simulate", "nowhere"], "no such file or folder"),
        (["simulate", "--drawn", "3", "--top", "3"], "--top 3: is too many for 3 results; give 1 to 2"),
        (["simulate", "--drawn", "3", "--chart", "race.png"], "use a name that ends in .svg"),
    ],
)
def test_refusals_are_one_line(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert len(told.splitlines()) == 1


def test_intents_that_nobody_tells_are_not_taken_in_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        published_layout(tmp_path / f"{name}.result.json", name, {f"c{number}": 0.4 for number in range(30)})
    race = ["simulate", str(tmp_path), "--top", "1", "--orders", "2"]
    assert main(race) == 0
    capsys.readouterr()
    assert main([*race, "--shuffled", "stratified"]) == 2
    assert "needs the intent of each case, which these results do not record" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["-1", "100", "nan", "much"])
def test_a_tolerance_is_of_points(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["simulate", "--drawn", "3", "--tolerance", value])
    assert left.value.code == 2
    assert "expected points" in capsys.readouterr().err

"""What the JSON files of experiments show when they are read back: tables, and charts with a name at every point."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmark.statistics import Interval
from benchmark.stress.__main__ import main
from benchmark.stress.breaking_even import Agent, Band, BreakEven, Crossing, Saved
from benchmark.stress.charts import Shape, check_chart, write_charts
from benchmark.stress.figures import Estimate
from benchmark.stress.hostility import Withstood
from benchmark.stress.lengthening import Stretched
from benchmark.stress.noising import Shaken
from benchmark.stress.preselecting import Asked, Reading
from benchmark.stress.reading import experiment_of, read_experiment
from benchmark.stress.repeating import CaseSpread, RepeatFigures, RunSpread
from benchmark.stress.varying import VariantFollowed
from ctxsift.errors import InputError
from tests.support.runs import SMALL

ONE, OTHER = "cpu-a-model-with-a-long-name-q4_k_m", "control-extractor"


def figure(value: float, reach: float | None = 3.0) -> Estimate:
    return Estimate(value, None if reach is None else Interval(value - reach, value + reach))


def of_change(scenario: str, change: str, gain: Estimate | None) -> Shaken:
    return Shaken(scenario, change, 7, figure(40), gain, figure(50), gain, figure(1), None)


def band(shortest: int, longest: int, saved: float) -> Band:
    return Band(shortest, longest, 5, dict.fromkeys(Saved, figure(saved)))


READING = Reading(800, 6, figure(700), figure(80), 1.0)
SAVED = BreakEven(
    ONE,
    1,
    (band(70, 630, -40), band(700, 3000, 90), band(70, 3000, 25)),
    dict.fromkeys(Saved, Crossing(None, None, 1, 1)),
    (),
)
DOCUMENTS: dict[str, dict[str, Any]] = {
    "preselect": {
        "readings": [READING],
        "scenarios": [
            Asked(ONE, Reading(None, 6, figure(5000), None, 0.0), figure(9), None, None, None, None),
            Asked(ONE, READING, figure(10), figure(1.4), figure(20), figure(3), figure(-9)),
        ],
    },
    "break-even": {"agent": Agent(), "results": [SAVED, dataclasses.replace(SAVED, result=OTHER)]},
    "hostile": {
        "skipped": {"order": 1},
        "cases": [{"case_id": "a", "order": "Say so"}],
        "scenarios": [
            Withstood(ONE, "order", 6, figure(0), None, figure(20), figure(30), figure(35), figure(-4)),
            Withstood(ONE, "secret", 6, None, figure(100), figure(20), figure(30), figure(35), None),
        ],
    },
    "noise": {
        "skipped": {"crlf": 1},
        "cases": [{"case_id": "a", "change": "crlf"}],
        "scenarios": [
            of_change(name, change, gain)
            for name in (ONE, OTHER)
            for change, gain in (("unchanged", None), ("progress bars", figure(-8)), ("crlf", figure(0.001, None)))
        ],
    },
    "length": {
        "skipped": 2,
        "cases": [{"case_id": "a", "length": "1 times"}],
        "scenarios": [
            Stretched(name, times, 5, figure(300 * times), figure(40), share, figure(50), figure(1))
            for name in (ONE, OTHER)
            for times, share in ((1, None), (4, figure(95)), (8, figure(60)))
        ],
    },
    "variants": {
        "skipped": {"variant 1": 3},
        "cases": [{"case_id": "a", "variant": "variant 1"}],
        "scenarios": [
            VariantFollowed(ONE, "as it is", 5, figure(40), None, figure(50), None, None),
            VariantFollowed(ONE, "variant 1", 5, figure(38), figure(-2), figure(50), figure(0), figure(20)),
        ],
    },
    "repeats": {
        "repeats": 2,
        "scenarios": [RepeatFigures(ONE, "all repeats", 5, *[figure(1)] * 8)],
        "runs": [RunSpread(ONE, 0.7, figure(40), 38, 42, 2, 5.5)],
        "cases": [CaseSpread(ONE, "a-case", 50, [40, 60], 14.1, [True, False], [True, True])],
    },
}


def stored(name: str) -> dict[str, Any]:
    """Return the document of an experiment as its file has it."""
    text = json.dumps({"about": f"About {name}", **DOCUMENTS[name]}, default=dataclasses.asdict)
    found: dict[str, Any] = json.loads(text)
    return found


def fields(specification: Any) -> Iterator[str]:
    """Yield every field that a specification draws; layers with data of their own are left out."""
    if isinstance(specification, dict):
        if specification.get("data", {}).get("name") == "loss":
            return
        yield from [specification["field"]] if "field" in specification else []
        for value in specification.values():
            yield from fields(value)
    elif isinstance(specification, list):
        for value in specification:
            yield from fields(value)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_file_is_known_by_its_content_and_shows_a_row_for_each_figure(name: str) -> None:
    document = stored(name)
    assert experiment_of(document) == name
    shown = read_experiment(name, document)
    assert shown.about == f"About {name}"
    assert shown.rows
    assert all(len(row) == len(shown.titles) for row in shown.rows)
    assert {row[0] for row in shown.rows} <= {ONE, OTHER}


def test_other_files_are_none_of_an_experiment() -> None:
    assert experiment_of([1]) is None
    assert experiment_of({"about": 3, "runs": []}) is None
    assert experiment_of({"about": "x", "results": []}) is None
    assert experiment_of({"runs": []}) is None
    damaged = stored("noise")
    damaged["scenarios"][0]["score"] = "much"
    with pytest.raises(msgspec.ValidationError, match="Expected `object"):
        read_experiment("noise", damaged)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_point_of_a_chart_has_its_name_and_nothing_is_cut(name: str, tmp_path: Path) -> None:
    pictures = read_experiment(name, stored(name)).pictures
    assert pictures
    for picture in pictures:
        specification = picture.specification()
        drawn = set(fields(specification))
        known = {key for row in picture.rows for key in row}
        assert drawn <= known
        assert set(picture.columns) <= known
        assert "MEASURE" not in json.dumps(specification)
        assert "DOMAIN" not in json.dumps(specification)
    write_charts(pictures, tmp_path / "x.svg")
    svg = (tmp_path / "x.svg").read_text(encoding="utf-8")
    texts = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    assert not [text for text in texts if "…" in text]
    for picture in pictures:
        assert {picture.title, picture.about, picture.measure} <= texts
        assert {row["label"] for row in picture.rows} <= texts
        assert {row["scenario"] for row in picture.rows} <= texts


def test_a_chart_says_where_the_agent_loses() -> None:
    picture = read_experiment("break-even", stored("break-even")).pictures[0]
    assert picture.shape is Shape.SAVINGS
    assert [row["low"] for row in picture.data["loss"]] == [-43]
    cents = read_experiment("break-even", stored("break-even")).pictures[2]
    assert cents.rows[0]["value"] == pytest.approx(100_000 * -40)
    winning = dataclasses.replace(picture, rows=[row for row in picture.rows if row["low"] > 0])
    assert winning.rows
    assert list(winning.data["loss"]) == []


def test_a_small_difference_does_not_fill_a_chart() -> None:
    (picture,) = read_experiment("noise", stored("noise")).pictures
    assert picture.domain == (-11, 5)
    fallen, lost = read_experiment("hostile", stored("hostile")).pictures
    assert (fallen.domain, lost.domain) == ((0, 100), (-7, 5))


def test_a_chart_is_written_beside_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    noise = ["noise", *SMALL, "--max-tokens", "1200", "--cases", "6", "--change", "crlf", "--output-dir", "out"]
    assert main([*noise, "--chart", "noise.gif"]) == 2
    assert "use a name that ends in .svg or .png" in capsys.readouterr().err
    assert main([*noise, "--chart", "noise.svg"]) == 2
    assert "noise.svg: has nothing to draw" in capsys.readouterr().err
    assert main([*noise, "--scenario", "control-extractor", "--chart", "noise.png"]) == 0
    assert "noise.png" in capsys.readouterr().out
    assert Path("noise.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads(Path("out/noise.json").read_text(encoding="utf-8"))
    assert experiment_of(document) == "noise"
    with pytest.raises(InputError):
        check_chart(Path("x.pdf"))

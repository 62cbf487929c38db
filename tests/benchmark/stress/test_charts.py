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

from benchmark.stress.__main__ import main
from benchmark.stress.charts import ChartShape, check_chart, write_charts
from benchmark.stress.reading import experiment_of, read_experiment
from ctxsift.errors import InputError
from tests.support.runs import SMALL
from tests.support.stressed import DOCUMENTS, ONE, OTHER, stored


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


def test_a_line_names_the_differences_that_are_significant() -> None:
    document = stored("noise")
    lines = read_experiment("noise", document).lines
    told = "significant differences in score: progress bars -8.0 [-11.0, -5.0]"
    assert lines == [f"{ONE}: {told}", f"{OTHER}: {told}"]
    for each in document["scenarios"]:
        if each["change"] == "progress bars":
            each["score_gain"]["interval"]["high"] = 0.0
    assert read_experiment("noise", document).lines[0] == f"{ONE}: no significant difference in score"


def test_a_chart_says_where_the_agent_loses() -> None:
    picture = read_experiment("break-even", stored("break-even")).pictures[0]
    assert picture.shape is ChartShape.SAVINGS
    assert [row["low"] for row in picture.data["loss"]] == [-43]
    cents = read_experiment("break-even", stored("break-even")).pictures[2]
    assert cents.rows[0]["value"] == pytest.approx(100_000 * -40)
    winning = dataclasses.replace(picture, rows=[row for row in picture.rows if row["low"] > 0])
    assert winning.rows
    assert list(winning.data["loss"]) == []


def test_a_small_difference_does_not_fill_a_chart() -> None:
    (picture,) = read_experiment("noise", stored("noise")).pictures
    assert [picture.domain] == [(-11, 5)]
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

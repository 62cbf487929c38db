"""Charts of experiments: what each is drawn from, its Vega-Lite specification, and charts as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from textwrap import wrap
from typing import Any

import vl_convert

from benchmark.record.base import Json
from benchmark.render.theme import light_theme
from benchmark.stress.breaking_even import BreakEven, Saved, scaled
from benchmark.stress.figures import Estimate, estimate_text
from benchmark.stress.lengthening import KEPT, Stretched, kind_of
from benchmark.stress.repeating import CaseSpread
from ctxsift.errors import InputError
from ctxsift.files import write_atomically

_TEMPLATES = Path(__file__).parent / "templates"
FORMS = (".svg", ".png")
_WIDTH, _TITLE_WIDTH = 760, 110
# Of a row with one scenario, and of each in a row with several, in pixels.
_ROW, _SCENARIO = 30, 18
_WHOLE = 100.0
# Of an axis of differences, to each side of zero.
_LEAST_REACH = 5.0


class ChartShape(StrEnum):
    """How figures are drawn; names a template and its data set."""

    DIFFERENCES = "differences"
    LENGTH = "length"
    SAVINGS = "savings"
    SPREAD = "spread"


@dataclass(frozen=True)
class StressPicture:
    """A chart.

    Attributes:
        title: what is drawn, in words.
        about: how to read it.
        measure: title of the axis of the figures.
        rows: of the data set, which is named like the shape.
        columns: field -> title, of the table of these rows.
        domain: least and largest value on the axis of the figures, where the rows do not say it.

    """

    shape: ChartShape
    title: str
    about: str
    measure: str
    rows: Sequence[Mapping[str, Any]]
    columns: Mapping[str, str]
    domain: tuple[float, float] | None = None

    @property
    def data(self) -> dict[str, Sequence[Mapping[str, Any]]]:
        """The data sets of the specification."""
        found = {str(self.shape): self.rows}
        if self.shape is ChartShape.SAVINGS:
            ends = [row["value"] if row["low"] is None else row["low"] for row in self.rows]
            found["loss"] = [{"low": min(ends)}] if min(ends, default=0.0) < 0 else []
        return found

    def specification(self) -> Json:
        """Return the Vega-Lite specification without its data."""
        text = (_TEMPLATES / f"{self.shape}.vl.json").read_text(encoding="utf-8")
        found: Json = json.loads(
            text.replace('"MEASURE"', json.dumps(self.measure)).replace('"DOMAIN"', json.dumps(self.domain))
        )
        if "height" not in found:
            labels = len({row["label"] for row in self.rows})
            scenarios = len({row["scenario"] for row in self.rows})
            found["height"] = labels * max(_ROW, _SCENARIO * scenarios)
        return found


def differences(
    title: str,
    about: str,
    measure: str,
    found: Iterable[tuple[str, str, Estimate | None]],
    *,
    signed: bool = True,
) -> StressPicture:
    """Return a chart of one figure for each kind: (scenario, kind, figure); kinds without a figure are left out."""
    rows = [
        {
            "scenario": scenario,
            "label": label,
            **_ends(value),
            "end": value.interval.high if value.interval else value.value,
            "name": estimate_text(value, signed=signed),
        }
        for scenario, label, value in found
        if value is not None
    ]
    columns = {"scenario": "scenario", "label": "what", "value": measure, "low": "low", "high": "high"}
    # A difference that is none must not fill the picture.
    drawn = [value for _, _, value in found if value is not None]
    ends = [end for value in drawn for end in _ends(value).values() if end is not None]
    domain = (min([-_LEAST_REACH, *ends]), max([_LEAST_REACH, *ends])) if signed else (0.0, _WHOLE)
    return StressPicture(ChartShape.DIFFERENCES, title, about, measure, rows, columns, domain)


def lengths(found: Sequence[Stretched]) -> StressPicture:
    """Return a chart of the score against the length of the outputs."""
    rows = [
        {
            "scenario": each.scenario,
            "label": kind_of(each.times),
            "tokens": each.tokens.value,
            **_ends(each.score),
            "name": estimate_text(each.score),
            "goal": each.score.value * KEPT / _WHOLE if each.times == 1 else None,
            # All scenarios are asked the same outputs.
            "is_first": each.scenario == found[0].scenario,
        }
        for each in found
        if each.tokens is not None and each.score is not None
    ]
    title, measure = "Score in longer outputs", "mean case score"
    about = f"The same questions; the dashed line is at {KEPT:.0f}% of the score in the shortest outputs."
    columns = {"scenario": "scenario", "label": "length", "tokens": "tokens", "value": measure}
    return StressPicture(ChartShape.LENGTH, title, about, measure, rows, columns | _INTERVAL)


def savings(found: Sequence[BreakEven], what: Saved, measure: str, factor: float) -> StressPicture:
    """Return a chart of what is saved against the length of the outputs, `factor` times as large as it is stored."""
    # The last band is all outputs.
    bands = [(each.result, band) for each in found for band in each.bands[:-1]]
    rows = []
    for result, band in sorted(bands, key=lambda each: (each[1].shortest, each[1].longest)):
        saved = scaled(band.saved[what], factor)
        if saved is not None:
            rows.append(
                {
                    "scenario": result,
                    "label": f"{band.shortest:,} to {band.longest:,}",
                    **_ends(saved),
                    "name": estimate_text(saved, 1, signed=True),
                }
            )
    about = "Mean of the outputs in each band of lengths; below the zero line, the agent loses."
    columns = {"scenario": "result", "label": "tokens of the output", "value": measure}
    return StressPicture(ChartShape.SAVINGS, _capital(measure), about, measure, rows, columns | _INTERVAL)


def spreads(found: Sequence[CaseSpread]) -> StressPicture:
    """Return a chart of the scores of all answers to each case, the case with the largest spread first."""
    widest: dict[str, float] = {}
    for each in found:
        widest[each.case_id] = max(each.spread, widest.get(each.case_id, 0.0))
    rows = []
    for each in sorted(found, key=lambda one: -widest[one.case_id]):
        ends = [*each.scores, each.greedy]
        common = {"scenario": each.scenario, "label": each.case_id, "spread": each.spread}
        whole = {"low": min(each.scores), "high": max(each.scores), "end": max(ends)}
        rows.append(
            common | whole | {"answer": "greedy", "kind": "greedy", "score": each.greedy, "name": f"{each.spread:.1f}"}
        )
        rows += [
            common | {"answer": f"repeat {number}", "kind": "repeat", "score": score}
            for number, score in enumerate(each.scores, 1)
        ]
    title = "Scores of the same case again and again"
    about = "Each circle is one repeat, the diamond the greedy answer; the number is the standard deviation."
    columns = {"scenario": "scenario", "label": "case", "answer": "answer", "score": "score", "spread": "spread"}
    return StressPicture(ChartShape.SPREAD, title, about, "case score", rows, columns)


_INTERVAL = {"low": "low", "high": "high"}


def _ends(found: Estimate) -> dict[str, float | None]:
    ends = found.interval
    low, high = (ends.low, ends.high) if ends else (None, None)
    return {"value": found.value, "low": low, "high": high}


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


# Charts as files ----------------------------------------------------------------------------------------------------


def check_chart(path: Path) -> Path:
    """Return the path of a chart to write. Raises InputError when its name says no form that can be written."""
    if path.suffix.lower() not in FORMS:
        raise InputError(str(path), "has an unsupported file type", f"use a name that ends in {' or '.join(FORMS)}")
    return path


def write_charts(pictures: Sequence[StressPicture], path: Path) -> None:
    """Write charts into one file, one below the other. Raises OSError, and InputError as `check_chart`."""
    placed = [_placed(each) for each in pictures]
    whole = {"vconcat": placed, "resolve": {"scale": {"color": "independent"}}, "spacing": 40, "config": light_theme()}
    if check_chart(path).suffix.lower() == ".png":
        write_atomically(path, bytes(vl_convert.vegalite_to_png(whole, scale=2)))
    else:
        write_atomically(path, str(vl_convert.vegalite_to_svg(whole)))


def _placed(picture: StressPicture) -> Json:
    """Return a specification with its title, width and data."""
    data = {name: {"values": rows} for name, rows in picture.data.items()}
    found = _with_data(picture.specification(), data)
    heading = {
        "text": wrap(picture.title, _TITLE_WIDTH),
        "subtitle": wrap(picture.about, _TITLE_WIDTH),
        "anchor": "start",
    }
    return found | {"title": heading, "width": _WIDTH}


def _with_data(specification: Json, data: Mapping[str, Json]) -> Json:
    """Return a specification in which the rows stand where a data set was named: two charts may name one alike."""
    found = dict(specification)
    if name := found.get("data", {}).get("name"):
        found["data"] = data[name]
    if layers := found.get("layer"):
        found["layer"] = [_with_data(layer, data) for layer in layers]
    return found

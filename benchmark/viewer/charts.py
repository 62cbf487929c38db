"""What the pictures are drawn from, and the pictures as files; the page draws the same specifications in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

from benchmark.report import is_reference
from benchmark.results import write_atomically
from benchmark.statistics import percentile
from benchmark.stored import StoredResult, labels
from benchmark.viewer.gather import Gathered, Shown

Json = dict[str, Any]
Rows = list[Json]
FOLDER = Path(__file__).parent / "charts"
_BINS = 20
_PERCENTS = (5, 25, 50, 75, 95)
_VERDICTS = ("accepted", "soft accepted", "rejected", "not scored")
# Rows of a picture in a file: more cannot be told apart.
_MOST_ROWS = 60
_WIDTH = 760


def specifications() -> Json:
    """Return the Vega-Lite specifications by name, and under `theme` what makes them light and dark."""
    found = {file.name.split(".")[0]: json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")}
    return dict(sorted(found.items()))


def chart_rows(gathered: Gathered) -> dict[str, Rows]:
    """Return for each data set of the specifications its rows, best result first; `key` says whose a row is.

    `cells` holds all dimensions; a picture shows one.
    """
    rows: dict[str, Rows] = {name: [] for name in ("points", "cells", "verdicts", "bins", "tails", "times")}
    for shown, label in zip(gathered.shown, labels(gathered.results), strict=True):
        if not shown.result.cases:
            continue
        one = {"key": shown.key, "label": label, "track": shown.result.track}
        summary = shown.result.record["summary"]
        rows["points"].append(one | _point(shown.result))
        rows["cells"] += [one | cell for cell in _cells(shown.detail["breakdowns"] or {})]
        rows["verdicts"] += [one | verdict for verdict in _verdicts(summary)]
        rows["bins"] += [one | bin_ for bin_ in _bins(shown)]
        rows["times"].append(one | _times(shown))
        if "p10_case_score" in summary:
            rows["tails"].append(one | {"p10": summary["p10_case_score"]})
    return rows


def reference_lines(results: Sequence[StoredResult]) -> Rows:
    """Return floor and ceiling: of the control rows, or else of the results' own references where they agree."""
    controls = {r.name: r.record["summary"]["final_score"] for r in results if is_reference(r) and r.cases}
    gold = {name: score for name, score in controls.items() if name.endswith("gold")}
    floors = {name: score for name, score in controls.items() if name not in gold}
    if gold and floors:
        ceiling, floor = max(gold, key=lambda name: gold[name]), max(floors, key=lambda name: floors[name])
        return [{"label": ceiling, "score": gold[ceiling]}, {"label": f"floor: {floor}", "score": floors[floor]}]
    own = [r.record["summary"]["reference"] for r in results if r.record["summary"].get("reference")]
    if len({(o["ceiling_score"], o["floor"], o["floor_score"]) for o in own}) != 1:
        return []
    return [
        {"label": "gold", "score": own[0]["ceiling_score"]},
        {"label": f"floor: {own[0]['floor']}", "score": own[0]["floor_score"]},
    ]


def _point(result: StoredResult) -> Json:
    summary = result.record["summary"]
    ends = (summary.get("intervals") or {}).get
    raw = summary.get("raw_view", {}).get("final_score")
    low, high = ends("final_score") or (None, None)
    lift_low, lift_high = ends("recovery_lift") or (None, None)
    lift = summary.get("recovery_lift")
    run = result.record.get("run")
    return {
        "score": summary.get("final_score"),
        "low": low,
        "high": high,
        "raw": raw,
        "lift": summary["final_score"] - raw if lift is None and raw is not None else lift,
        "lift_low": lift_low,
        "lift_high": lift_high,
        "seconds": summary["avg_inference_ms"] / 1000 if "avg_inference_ms" in summary else None,
        "latency": "unknown" if run is None else "clean" if run["disturbance"]["latency_clean"] else "disturbed",
    }


def _cells(breakdowns: Json) -> Rows:
    return [
        {
            "dimension": dimension,
            "group": row["group"],
            "value": 100 * row["avg_case_score"],
            "low": 100 * ends[0] if (ends := row["avg_case_score_interval"]) else None,
            "high": 100 * ends[1] if ends else None,
            "cases": row["case_count"],
        }
        for dimension, groups in breakdowns.items()
        for row in groups
        if row["case_count"]
    ]


def _verdicts(summary: Json) -> Rows:
    names = ("accepted_count", "soft_accepted_count", "rejected_count", "instrument_failure_count")
    counts = [summary.get(name) for name in names]
    return [
        {"verdict": verdict, "count": count, "order": place}
        for place, (verdict, count) in enumerate(zip(_VERDICTS, counts, strict=True))
        if count
    ]


def _bins(shown: Shown) -> Rows:
    scores = [case.score for case in shown.result.cases.values()]
    counts, edges = np.histogram(scores, bins=_BINS, range=(0, 1))
    return [
        {"from": float(edges[i]), "to": float(edges[i + 1]), "cases": int(count), "share": int(count) / len(scores)}
        for i, count in enumerate(counts)
        if count
    ]


def _times(shown: Shown) -> Json:
    seconds = [case.time_ms / 1000 for case in shown.result.cases.values()]
    return {f"p{percent}": percentile(seconds, percent) for percent in _PERCENTS}


def write_pictures(gathered: Gathered, folder: Path, form: str) -> list[Path]:
    """Write every picture as `form` (png or svg) into `folder` and return the files. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    render: Callable[..., Any] = vl_convert.vegalite_to_png if form == "png" else vl_convert.vegalite_to_svg
    written = []
    for name, specification in _pictures(gathered).items():
        file = folder / f"{name}.{form}"
        picture = render(specification, **({"scale": 2} if form == "png" else {}))
        if isinstance(picture, str):
            write_atomically(file, picture)
        else:
            file.write_bytes(picture)
        written.append(file)
    return written


def _pictures(gathered: Gathered) -> dict[str, Json]:
    """Return complete specifications by file name: the results that compete, or all if none does."""
    rivals = [s.key for s in gathered.shown if not is_reference(s.result)] or [s.key for s in gathered.shown]
    chosen = set(rivals[:_MOST_ROWS])
    rows = {name: [r for r in some if r["key"] in chosen] for name, some in chart_rows(gathered).items()}
    rows["lines"] = reference_lines(gathered.results)
    known = specifications()
    config = known["theme"]["light"] | {"background": "white", "padding": 16}
    cells = rows.pop("cells")
    found = {
        name: _complete(known[name], rows, config)
        for name in ("score-latency", "lift", "verdicts", "case-scores", "latency")
    }
    for dimension in dict.fromkeys(cell["dimension"] for cell in cells):
        shown = [heat_cell(cell) for cell in cells if cell["dimension"] == dimension]
        found[f"heat-{dimension.replace('_', '-')}"] = _complete(known["heat"], {"cells": shown}, config)
    return found


def heat_cell(cell: Json) -> Json:
    """Return a cell with its place: groups are columns, tools rows, for there are a hundred of them."""
    across = cell["dimension"] == "tool"
    row, column = (cell["group"], cell["label"]) if across else (cell["label"], cell["group"])
    return cell | {"row": row, "column": column}


def _complete(specification: Json, rows: dict[str, Rows], config: Json) -> Json:
    title = {"text": specification["description"], "anchor": "start", "fontWeight": "normal", "limit": _WIDTH + 200}
    return specification | {"width": _WIDTH, "datasets": rows, "config": config, "title": title}

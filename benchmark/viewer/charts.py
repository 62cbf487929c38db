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
from benchmark.viewer.gather import Gathered, Shown, lift_of

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
        rows["cells"] += [_placed(one | cell) for cell in _cells(shown.detail["breakdowns"] or {})]
        rows["verdicts"] += [one | verdict for verdict in _verdicts(summary)]
        rows["bins"] += [one | bin_ for bin_ in _bins(shown)]
        rows["times"].append(one | _times(shown))
        if "p10_case_score" in summary:
            rows["tails"].append(one | {"p10": summary["p10_case_score"]})
    return rows


def reference_lines(shown: Sequence[Shown]) -> Rows:
    """Return ceiling and floor as label, score and the key of their own row, if it is here.

    They are what most results say of themselves: a result over other cases has lines of its own. Where none says it,
    they are the best control rows.
    """
    controls = [s for s in shown if is_reference(s.result) and s.result.cases]
    rivals = [s.result for s in shown if not is_reference(s.result) and s.result.record["summary"].get("reference")]
    if not rivals:
        gold = [s for s in controls if s.result.name.endswith("gold")][:1]
        floor = [s for s in controls if not s.result.name.endswith("gold")][:1]
        scores = [(s, s.result.record["summary"]["final_score"]) for s in gold + floor]
        return [{"label": s.result.name, "score": score, "key": s.key} for s, score in scores]
    over: dict[frozenset[str], list[StoredResult]] = {}
    for rival in rivals:
        over.setdefault(frozenset(rival.cases), []).append(rival)
    cases, alike = max(over.items(), key=lambda item: len(item[1]))
    own = alike[0].record["summary"]["reference"]
    keys = {s.result.name: s.key for s in controls if s.result.cases.keys() == cases}

    def key(name: str) -> int | None:
        return next((key for control, key in keys.items() if control.endswith(name)), None)

    return [
        {"label": "gold", "score": own["ceiling_score"], "key": key("gold")},
        {"label": f"floor: {own['floor']}", "score": own["floor_score"], "key": key(own["floor"])},
    ]


def _point(result: StoredResult) -> Json:
    summary = result.record["summary"]
    ends = (summary.get("intervals") or {}).get
    raw = summary.get("raw_view", {}).get("final_score")
    low, high = ends("final_score") or (None, None)
    lift_low, lift_high = ends("recovery_lift") or (None, None)
    run = result.record.get("run")
    return {
        "score": summary.get("final_score"),
        "low": low,
        "high": high,
        "raw": raw,
        "lift": lift_of(result),
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
    counts = [summary.get(name) for name in ("accepted_count", "soft_accepted_count", "rejected_count")]
    counts.append(summary.get("planned_count", summary["case_count"]) - summary["case_count"])
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
        write_atomically(file, picture)
        written.append(file)
    return written


def _pictures(gathered: Gathered) -> dict[str, Json]:
    """Return complete specifications by file name: the results that compete, or all if none does."""
    rivals = [s.key for s in gathered.shown if not is_reference(s.result)] or [s.key for s in gathered.shown]
    chosen = set(rivals[:_MOST_ROWS])
    rows = {name: [r for r in some if r["key"] in chosen] for name, some in chart_rows(gathered).items()}
    rows["lines"] = reference_lines(gathered.shown)
    known = specifications()
    config = known["theme"]["light"] | {"background": "white", "padding": 16}
    cells = rows.pop("cells")
    found = {
        name: _complete(known[name], rows, config)
        for name in ("score-latency", "lift", "verdicts", "case-scores", "latency")
    }
    for dimension in dict.fromkeys(cell["dimension"] for cell in cells):
        shown = [cell for cell in cells if cell["dimension"] == dimension]
        found[f"heat-{dimension.replace('_', '-')}"] = _complete(known["heat"], {"cells": shown}, config)
    return found


def _placed(cell: Json) -> Json:
    # Groups are columns; tools are rows, for there are a hundred of them.
    across = cell["dimension"] == "tool"
    row, column = (cell["group"], cell["label"]) if across else (cell["label"], cell["group"])
    return cell | {"row": row, "column": column}


def _complete(specification: Json, rows: dict[str, Rows], config: Json) -> Json:
    title = {"text": specification["description"], "anchor": "start", "fontWeight": "normal", "limit": _WIDTH + 200}
    return specification | {"width": _WIDTH, "datasets": rows, "config": config, "title": title}

"""Pictures of a board: score against tokens left, and dimensions by method; as SVG or PNG."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import vl_convert

from benchmark.probes.figures import ProbeBoard, Row
from benchmark.probes.nulls import NULLS, ORACLE
from benchmark.probes.references import PUBLISHED
from benchmark.record.base import Json
from benchmark.render.theme import light_theme
from ctxsift.errors import InputError
from ctxsift.files import write_atomically

_TEMPLATE = Path(__file__).parent / "templates" / "board.vl.json"
FORMS = (".svg", ".png")
# What a label takes: points of the score, and by how much its tokens grow with each letter (logarithms); half a mark.
_HEIGHT, _LETTER, _MARK = 0.13, 0.048, 1.04
# How far a label is moved at once, and how often at most; how far, before it stands on the other side.
_STEP, _MOST_STEPS, _ASIDE = 0.04, 40, 0.2


def check_chart(path: Path) -> Path:
    """Return the path of a picture to write. Raises InputError when its name says no form that can be written."""
    if path.suffix.lower() not in FORMS:
        raise InputError(str(path), "has an unsupported file type", f"use a name that ends in {' or '.join(FORMS)}")
    return path


def write_chart(board: ProbeBoard, path: Path) -> None:
    """Write both pictures of a board, one below the other. Raises OSError, and InputError as `check_chart`."""
    specification = _chart(board)
    if check_chart(path).suffix.lower() == ".png":
        write_atomically(path, bytes(vl_convert.vegalite_to_png(specification, scale=2)))
    else:
        write_atomically(path, str(vl_convert.vegalite_to_svg(specification)))


def _chart(board: ProbeBoard) -> Json:
    specification: Json = json.loads(_TEMPLATE.read_text(encoding="utf-8"))
    rows = [row for row in board.rows if row.method != ORACLE]
    sets = {"methods": list(_apart([*map(_point, rows), *_published()])), "dimensions": list(_dimensions(rows))}
    return specification | {"datasets": sets, "config": light_theme()}


def _point(row: Row) -> Json:
    low, high = row.score.interval or (row.score.value, row.score.value)
    return {
        "label": row.label,
        "kind": _kind(row),
        "left": 1 / row.ratio,
        "score": row.score.value,
        "low": low,
        "high": high,
    }


def _kind(row: Row) -> str:
    if row.method in NULLS:
        return "chance"
    return "within a budget" if row.budget else "as long as it comes out"


def _published() -> Iterator[Json]:
    for each in PUBLISHED:
        score, told = each.overall, f"{each.method}, as published"
        yield {"label": told, "kind": "published", "left": each.left, "score": score, "low": score, "high": score}


def _apart(points: Sequence[Json]) -> Iterator[Json]:
    """Yield points with where their labels stand: on the side and at the height where these meet nothing else."""
    taken = [(each["left"] / _MARK, each["left"] * _MARK, each["score"]) for each in points]
    for point in sorted(points, key=lambda each: -each["score"]):
        left, score = point["left"], point["score"]
        begin, end = left * _MARK, left / _MARK
        width = math.exp(_LETTER * len(point["label"]))
        heights = [score + sign * step * _STEP for step in range(_MOST_STEPS) for sign in (-1, 1)]
        places = [(begin, begin * width, at) for at in heights] + [(end / width, end, at) for at in heights]
        # Right of the mark, if that is not far.
        places.sort(key=lambda place: abs(place[2] - score) + (_ASIDE if place[1] == end else 0))
        place = next((place for place in places if place[2] >= 0 and not _meets(place, taken)), places[0])
        taken.append(place)
        yield point | {"label_at": place[2], "side": "left" if place[1] == end else "right"}


def _meets(place: tuple[float, float, float], taken: Sequence[tuple[float, float, float]]) -> bool:
    begin, end, at = place
    return any(abs(at - y) < _HEIGHT and begin < right and left < end for left, right, y in taken)


def _dimensions(rows: Sequence[Row]) -> Iterator[Json]:
    for row in rows:
        for dimension, found in row.dimensions.items():
            yield {"label": row.label, "dimension": dimension, "score": found.value}
    for published in PUBLISHED:
        for dimension, score in published.dimensions.items():
            yield {"label": f"{published.method}, as published", "dimension": dimension, "score": score}

"""Pictures of a board: score against tokens left, and dimensions by method; as SVG or PNG."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import vl_convert

from benchmark.probes.figures import Board, Row
from benchmark.probes.measuring import ORACLE
from benchmark.probes.nulls import NULLS
from benchmark.probes.references import PUBLISHED
from benchmark.record.base import Json
from benchmark.viewer.charts import light_theme
from ctxsift.errors import InputError
from ctxsift.files import write_atomically

_TEMPLATE = Path(__file__).parent / "templates" / "board.vl.json"
FORMS = (".svg", ".png")
# Labels of figures that lie closer than this, in points of the score and in their share of tokens, are moved apart.
_APART, _BESIDE = 0.13, 1.9


def check_chart(path: Path) -> Path:
    """Return the path of a picture to write. Raises InputError when its name says no form that can be written."""
    if path.suffix.lower() not in FORMS:
        raise InputError(str(path), "is of no form that can be written", f"end the name in {' or '.join(FORMS)}")
    return path


def write_chart(board: Board, path: Path) -> None:
    """Write both pictures of a board, one below the other. Raises OSError, and InputError as `check_chart`."""
    specification = _chart(board)
    if check_chart(path).suffix.lower() == ".png":
        write_atomically(path, bytes(vl_convert.vegalite_to_png(specification, scale=2)))
    else:
        write_atomically(path, str(vl_convert.vegalite_to_svg(specification)))


def _chart(board: Board) -> Json:
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
    """Yield points with where their labels stand, so that these do not lie on each other."""
    placed: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda each: -each["score"]):
        at = point["score"]
        while any(abs(at - y) < _APART and 1 / _BESIDE < point["left"] / x < _BESIDE for x, y in placed):
            at -= _APART / 4
        placed.append((point["left"], at))
        yield point | {"label_at": at}


def _dimensions(rows: Sequence[Row]) -> Iterator[Json]:
    for row in rows:
        for dimension, found in row.dimensions.items():
            yield {"label": row.label, "dimension": dimension, "score": found.value}
    for published in PUBLISHED:
        for dimension, score in published.dimensions.items():
            yield {"label": f"{published.method}, as published", "dimension": dimension, "score": score}

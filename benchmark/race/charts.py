"""How often races are right against what they ask, as a picture; beside everybody asked the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import vl_convert

from benchmark.race.simulating import Simulated
from benchmark.record.base import Json
from benchmark.render.theme import light_theme
from ctxsift.errors import InputError
from ctxsift.files import write_atomically

_TEMPLATE = Path(__file__).parent / "templates" / "race.vl.json"


def check_chart(path: Path) -> Path:
    """Return the path of a picture to write. Raises InputError when its name does not end in .svg."""
    if path.suffix.lower() != ".svg":
        raise InputError(str(path), "has an unsupported file type", "use a name that ends in .svg")
    return path


def write_chart(found: Sequence[Simulated], path: Path) -> None:
    """Write the picture. Raises OSError, and InputError as `check_chart`."""
    specification: Json = json.loads(_TEMPLATE.read_text(encoding="utf-8"))
    rows = [row for each in found for row in _rows(each)]
    chart = specification | {"datasets": {"shares": rows}, "config": light_theme()}
    write_atomically(check_chart(path), str(vl_convert.vegalite_to_svg(chart)))


def _rows(found: Simulated) -> Iterator[Json]:
    setting = {"top": str(found.top), "tolerance": f"{100 * found.tolerance:g}"}
    shares = {"share": found.share, "low": found.low, "high": found.high}
    yield setting | shares | {"kind": "race", "right": found.right}
    for each in found.even:
        yield setting | {"kind": "even", "share": each.share, "right": each.right}

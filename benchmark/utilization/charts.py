"""Histogram and box plot as PNG and SVG; a page with these, the figures and every verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template

import vl_convert

from benchmark.record.base import Json, to_json
from benchmark.render.theme import light_theme
from benchmark.utilization.printing import figure_rows, headline, verdicts_shown
from benchmark.utilization.records import BINS, ChunkVerdict, RowState, RowUtilization, Utilization
from ctxsift.errors import InputError
from ctxsift.files import write_atomically
from ctxsift.terminal import in_line

_TEMPLATES = Path(__file__).parent / "templates"
FORMS = (".html", ".png", ".svg")
_MARKS = {None: "unscored", 0: "not needed", 1: "needed"}


def check_form(path: Path) -> Path:
    """Return the path of a file to write. Raises InputError when its name says no form that can be written."""
    if path.suffix.lower() not in FORMS:
        raise InputError(str(path), "has an unsupported file type", f"use a name that ends in {', '.join(FORMS)}")
    return path


def write(found: Utilization, path: Path) -> None:
    """Write the figures in the form that the name of the file says. Raises OSError, and InputError as above."""
    form = check_form(path).suffix.lower()
    if form == ".png":
        write_atomically(path, bytes(vl_convert.vegalite_to_png(_chart(found), scale=2)))
    elif form == ".svg":
        write_atomically(path, _svg(found))
    else:
        write_atomically(path, _page(found))


def _svg(found: Utilization) -> str:
    return str(vl_convert.vegalite_to_svg(_chart(found)))


def _chart(found: Utilization) -> Json:
    specification: Json = json.loads((_TEMPLATES / "spread.vl.json").read_text(encoding="utf-8"))
    bins = [{"start": n / BINS, "end": (n + 1) / BINS, "rows": count} for n, count in enumerate(found.histogram)]
    spread = [] if found.spread is None else [to_json(found.spread)]
    return specification | {"datasets": {"bins": bins, "spread": spread}, "config": light_theme()}


def _page(found: Utilization) -> str:
    lowest = sorted(found.rows, key=lambda row: (row.state != RowState.DEFINED, row.utilization or 0.0, row.row))
    parts = {
        # Where it lies on this machine is nobody's.
        "source": _text(Path(found.source).name or found.source),
        "headline": _text(headline(found)),
        "warnings": _lines(f'<p class="warning">Warning: {_text(warning.text)}.</p>' for warning in found.warnings),
        "chart": _svg(found),
        "figures": _lines(
            f'<tr><th scope="row">{_text(title)}</th><td>{_text(value)}</td></tr>'
            for title, value in figure_rows(found)
        ),
        "rows": _lines(map(_row, lowest)),
    }
    return Template((_TEMPLATES / "page.html").read_text(encoding="utf-8")).substitute(parts)


def _row(row: RowUtilization) -> str:
    value = row.state.value if row.utilization is None else f"{row.utilization:.2f}"
    head = f'<span class="digits">{value}</span> row {row.row}: {_text(row.question)} ({verdicts_shown(row)})'
    chunks = _lines(f"<li>{_verdict(verdict)}</li>" for verdict in row.verdicts)
    return f"<details><summary>{head}</summary><ol>{chunks}</ol></details>"


def _verdict(verdict: ChunkVerdict) -> str:
    sentence = "" if verdict.sentence is None else f": <q>{_text(verdict.sentence)}</q>"
    return f"{_MARKS[verdict.relevant]} ({_text(verdict.reason)}){sentence}"


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(parts)


def _text(text: str) -> str:
    return escape(in_line(text, limit=len(text)))

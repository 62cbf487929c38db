"""Writes the figures of `benchmark.validity` into the documents: `python -m tests.support.validity_table`."""

from __future__ import annotations

from pathlib import Path

from benchmark.record.validity import Half, Validity, ValidityFigure, read_validity
from benchmark.render.markdown import markdown_table
from tests.conftest import ROOT

BEGIN, END = "<!-- validity table: python -m tests.support.validity_table -->\n", "<!-- end of validity table -->"
DOCUMENTS = (ROOT / "docs" / "scoring.md",)


def validity_table(validity: Validity) -> str:
    """Return the figures of both halves side by side, with their bars."""
    by_half = {half: {f.measure: f for f in validity.figures if f.half is half} for half in Half}
    rows = [
        [measure, _cell(figure), _cell(by_half[Half.TUNED].get(measure))]
        for measure, figure in by_half[Half.HELD_OUT].items()
    ]
    return markdown_table(["36 prose cases", "held out (bar)", "tuned (bar)"], rows)


def _cell(figure: ValidityFigure | None) -> str:
    if figure is None:
        return ""
    sign = "" if figure.bar is None else f" ({figure.limit} {figure.bar:.2f})"
    return f"{figure.value:.3f}{sign}"


def renewed(text: str, table: str) -> str:
    """Return a document with the table between its marks."""
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}{table.strip()}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Renew the table in every document that has one."""
    table = validity_table(read_validity())
    for document in DOCUMENTS:
        Path(document).write_text(renewed(document.read_text(encoding="utf-8"), table), encoding="utf-8")


if __name__ == "__main__":
    main()

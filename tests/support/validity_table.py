"""The figures of `benchmark.validity` as the table of docs/scoring.md."""

from __future__ import annotations

from benchmark.record.validity import Half, Validity, ValidityFigure
from benchmark.render.markdown import markdown_table


def validity_table(validity: Validity) -> str:
    """Return the figures of both halves side by side, with their bars."""
    by_half = {half: {f.measure: f for f in validity.figures if f.half is half} for half in Half}
    rows = [
        [measure, _cell(by_half[Half.HELD_OUT].get(measure)), _cell(figure)]
        for measure, figure in by_half[Half.TUNED].items()
    ]
    return markdown_table(["answers", "held out (bar)", "tuned (bar)"], rows)


def _cell(figure: ValidityFigure | None) -> str:
    if figure is None:
        return ""
    sign = "" if figure.bar is None else f" ({figure.limit} {figure.bar:.2f})"
    return f"{figure.value:.3f}{sign}{'' if figure.met else ', missed'}"

"""Two runs of one identity: in a terminal, as Markdown and as a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from rich.console import Console

from benchmark.analysis.figures import Form
from benchmark.analysis.noise import LatencyNoise, Noise
from benchmark.record.read import labels
from benchmark.render.figures import counted, form_text
from benchmark.render.markdown import markdown_list, markdown_table, plain_cell
from benchmark.render.notes import comparison_notes
from benchmark.render.terminal import print_table
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line

TITLES = ("noise", "A to B")
_SHARE, _POINTS, _SIGNED = Form(scale=100, suffix="%"), Form(digits=2), Form(digits=2, signed=True)
_RATIO = Form(digits=3, suffix="x")


@dataclass(frozen=True)
class _NoiseDocument:
    a: str
    b: str
    cases: int
    equal_answers: float
    mean_difference: float
    largest_difference: float
    final_difference: float
    same_machine: bool
    latency: LatencyNoise | None
    verdict: str
    warnings: list[str]


def print_noise(console: Console, found: Noise) -> None:
    """Print the noise floor of two runs."""
    pair = found.a, found.b
    for letter, name, result in zip("AB", labels(pair), pair, strict=True):
        console.print(plain_text(one_line(f"{letter}  {name}  {result.path}")), soft_wrap=True)
    print_table(console, TITLES, _rows(found))
    for line in [_verdict(found), *_warnings(found)]:
        console.print(plain_text(line), soft_wrap=True)


def noise_markdown(found: Noise) -> str:
    """Return the noise floor of two runs as Markdown."""
    a, b = map(plain_cell, labels((found.a, found.b)))
    parts = [
        f"# {b} against {a}, two runs of one identity",
        markdown_table(TITLES, _rows(found)),
        markdown_list([_verdict(found), *_warnings(found)]),
    ]
    return "\n\n".join(parts)


def noise_document(found: Noise) -> Any:
    """Return the noise floor of two runs as JSON values."""
    document = _NoiseDocument(
        a=str(found.a.path),
        b=str(found.b.path),
        cases=found.cases,
        equal_answers=found.equal_answers,
        mean_difference=found.mean_difference,
        largest_difference=found.largest_difference,
        final_difference=found.final_difference,
        same_machine=found.same_machine,
        latency=found.latency,
        verdict=_verdict(found),
        warnings=_warnings(found),
    )
    return msgspec.to_builtins(document)


def _rows(found: Noise) -> list[list[str]]:
    rows = [
        ["cases answered by both", str(found.cases)],
        ["equal answers", form_text(_SHARE, found.equal_answers)],
        ["case score, mean difference", form_text(_POINTS, found.mean_difference)],
        ["case score, largest difference", form_text(_POINTS, found.largest_difference)],
        ["final score, B - A", form_text(_SIGNED, found.final_difference)],
    ]
    if latency := found.latency:
        rows += [
            ["time per case, median B / A", form_text(_RATIO, latency.median_ratio)],
            ["... longer / shorter time, 95th percentile", form_text(_RATIO, latency.wide_ratio)],
            ["total time, B / A", form_text(_RATIO, latency.sums_ratio)],
        ]
    return rows


def _verdict(found: Noise) -> str:
    if found.latency is None:
        return "no time was recorded, so speed cannot be compared"
    if found.latency.floor is None:
        return f"{counted(found.latency.cases, 'case')} on too few captures to say what a verdict on speed needs"
    return f"a verdict on speed needs a difference above {form_text(_SHARE, found.latency.floor)}"


def _warnings(found: Noise) -> list[str]:
    machines = [] if found.same_machine else ["the machines differ, so the times compare them, not noise alone"]
    return machines + comparison_notes((found.a, found.b))

"""Two results against each other: in a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console

from benchmark.analysis.comparison import Comparison, Measure, verdict_of
from benchmark.analysis.gate import Gate, GateFinding
from benchmark.analysis.speed import Speed
from benchmark.record.read import labels
from benchmark.record.summary import Dimension
from benchmark.render.figures import MISSING, counted, signed
from benchmark.render.markdown import markdown_list, markdown_table, plain_cell
from benchmark.render.notes import comparison_notes, refused
from benchmark.render.pair_words import answer_tokens, pair_sentence
from benchmark.render.terminal import print_table
from benchmark.statistics import Difference
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line

_SHOWN_FLIPS = 20
_DIFFERENCE_TITLES = ("A", "B", "B - A", "95% interval", "p", "")
_FIGURE_TITLES = ("score", *_DIFFERENCE_TITLES)
# Their intervals are corrected, so that p values would say the same again.
_INTENT_TITLES = (Dimension.INTENT.words, "n", *(title for title in _DIFFERENCE_TITLES if title != "p"))
_SPEED_TITLES = ("seconds per case", "A", "B", "B / A", "95% interval", "")
NOT_COMPARABLE = "not comparable"
_HOLD_LATENCY = "final, raw and lift include latency, so the verdict uses only the quality core"


def gate_reason(gate: Gate) -> str:
    """Return why the gate passed or failed."""
    difference, allowed = gate.difference, f"{gate.allowed:g}"
    interval = difference.interval
    ends = f" [{interval.low:+.1f}, {interval.high:+.1f}]" if interval else ""
    shown = f"{gate.measure.words} {difference.value:+.1f}{ends}"
    return {
        GateFinding.UNANSWERED: f"B has no answer to {counted(gate.unanswered, 'case')} that A answered: "
        "complete the run first",
        GateFinding.TOO_FEW: f"{counted(gate.shared, 'shared case')} on {counted(gate.captures, 'distinct capture')}: "
        "too few to show a difference",
        GateFinding.DROP: f"dropped by more than {allowed} with 95% confidence: {shown}",
        GateFinding.POSSIBLE_DROP: f"no certain drop by more than {allowed}, but one is not ruled out: {shown}",
        GateFinding.NO_DROP: f"no drop by more than {allowed}: {shown}",
    }[gate.finding]


def gate_line(gate: Gate) -> str:
    """Return the outcome of the gate as one line."""
    return f"gate: {'passed' if gate.passed else 'FAILED'}: {gate_reason(gate)}"


def print_pair(console: Console, comparison: Comparison, gate: Gate | None) -> None:
    """Print a comparison, the cases that flipped, what makes it uncertain, and the gate."""
    pair = comparison.a, comparison.b
    for letter, name, result in zip("AB", labels(pair), pair, strict=True):
        console.print(plain_text(one_line(f"{letter}  {name}  {result.path}")), soft_wrap=True)
    for line in [*_first_words(comparison), *_verdict_words(comparison), *_sentences(comparison)]:
        console.print(plain_text(line), soft_wrap=True)
    print_table(console, _FIGURE_TITLES, _figure_rows(comparison))
    if comparison.speed:
        print_table(console, _SPEED_TITLES, [_speed_row(comparison.speed)])
    if comparison.intents:
        print_table(console, _INTENT_TITLES, _intent_rows(comparison))
    for title, cases in _flips(comparison):
        console.print(plain_text(title))
        for case, a, b in _scores(comparison, cases[:_SHOWN_FLIPS]):
            console.print(plain_text(f"  {case}  {a} -> {b}"), soft_wrap=True)
        if len(cases) > _SHOWN_FLIPS:
            console.print(plain_text(f"  ... and {len(cases) - _SHOWN_FLIPS} more (--json lists all)"))
    for note in _notes(comparison):
        console.print(plain_text(f"* {note}"), soft_wrap=True)
    if gate:
        console.print(plain_text(gate_line(gate)), soft_wrap=True)


def pair_markdown(comparison: Comparison, gate: Gate | None) -> str:
    """Return a comparison as Markdown, with all cases that flipped."""
    pair = comparison.a, comparison.b
    a, b = map(plain_cell, labels(pair))
    parts = [
        f"# {b} against {a}",
        *(f"**{line[0].upper()}{line[1:]}.**" for line in _first_words(comparison)),
        *(f"**{plain_cell(line)}**" for line in _verdict_words(comparison)),
        f"A is {a}, B is {b}. " + ". ".join(_sentences(comparison)) + ".",
        markdown_table(_FIGURE_TITLES, _figure_rows(comparison)),
    ]
    if comparison.speed:
        parts.append(markdown_table(_SPEED_TITLES, [_speed_row(comparison.speed)]))
    if comparison.intents:
        parts.append("## By intent\n\n" + markdown_table(_INTENT_TITLES, _intent_rows(comparison)))
    for title, cases in _flips(comparison):
        body = markdown_table(["case", "A", "B"], list(_scores(comparison, cases))) if cases else "none"
        parts.append(f"## {title}\n\n{body}")
    parts.append(markdown_list(_notes(comparison) + ([gate_line(gate)] if gate else [])))
    return "\n\n".join(parts)


def no_verdict(comparison: Comparison) -> str:
    """Return why there is no verdict; an empty text where there is one."""
    found = refused((comparison.a, comparison.b))
    return f"no verdict: the results {'; '.join(found)}" if found else ""


def _first_words(comparison: Comparison) -> list[str]:
    words = no_verdict(comparison)
    return [words] if words else []


def _verdict_words(comparison: Comparison) -> list[str]:
    """Return what the page says of the pair: which is better, and what that costs; nothing if there is no verdict."""
    words = pair_sentence(comparison, answer_tokens(comparison))
    return [words.replace("{b}", "B")] if words else []


def _notes(comparison: Comparison) -> list[str]:
    return [_HOLD_LATENCY, *comparison_notes((comparison.a, comparison.b))]


def _speed_row(found: Speed) -> list[str]:
    ends = found.interval
    interval = f"[{ends.low:.2f}, {ends.high:.2f}]" if ends else MISSING
    return [
        "mean",
        f"{found.a_ms / 1000:.2f}",
        f"{found.b_ms / 1000:.2f}",
        f"{found.ratio:.2f}",
        interval,
        found.verdict,
    ]


def _sentences(comparison: Comparison) -> list[str]:
    """Return what is said above the tables."""
    shared = counted(len(comparison.shared), "shared case")
    if comparison.only_a or comparison.only_b:
        shared += f"; {comparison.only_a} only in A and {comparison.only_b} only in B are left out"
    return [
        shared,
        f"B wins {comparison.wins}, loses {comparison.losses}, ties {comparison.ties} (less than a point apart)",
    ]


def _figure_rows(comparison: Comparison) -> list[list[str]]:
    return [
        [f.name.words, *_difference_cells(f.a, f.b, f.difference, comparison, judged=f.name is Measure.CORE)]
        for f in comparison.figures
    ]


def _intent_rows(comparison: Comparison) -> list[list[str]]:
    rows = []
    for g in comparison.intents:
        *figures, _, verdict = _difference_cells(g.a, g.b, g.difference, comparison, judged=True)
        rows.append([g.name, str(g.case_count), *figures, verdict])
    return rows


def _difference_cells(a: float, b: float, difference: Difference, comparison: Comparison, *, judged: bool) -> list[str]:
    """Return figures, and what they say where the difference is for a verdict; nobody else's p value is shown."""
    shown = [f"{a:.1f}", f"{b:.1f}", signed(difference.value)]
    if not judged or comparison.refusals:
        return [*shown, MISSING, MISSING, NOT_COMPARABLE if judged else ""]
    interval, p = difference.interval, difference.p
    ends = f"[{signed(interval.low)}, {signed(interval.high)}]" if interval else MISSING
    shown_p = MISSING if interval is None else "<0.001" if p < 0.001 else f"{p:.3f}"
    return [*shown, ends, shown_p, verdict_of(difference)]


def _flips(comparison: Comparison) -> list[tuple[str, Sequence[str]]]:
    lost, won = comparison.lost, comparison.won
    return [
        (
            f"{counted(len(lost), 'case')} passed only in A (usable, with every anchor and a case score of 50 or more)",
            lost,
        ),
        (f"{counted(len(won), 'case')} passed only in B", won),
    ]


def _scores(comparison: Comparison, cases: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for case in cases:
        a, b = comparison.a.cases[case], comparison.b.cases[case]
        yield case, f"{100 * a.score:.1f}", f"{100 * b.score:.1f}"

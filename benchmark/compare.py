"""Compare results case by case: `python -m benchmark.compare A B`; more than two give a matrix of pairs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmark.console import reader_may_go, terminal
from benchmark.documents import markdown_table, plain_cell
from benchmark.paired import ALPHA, Comparison, Leaderboard, beyond_chance, compare, leaderboard
from benchmark.report import is_reference, notes_together, order_by_score, ranks
from benchmark.statistics import Difference
from benchmark.stored import StoredResult, find_results, labels
from ctxsift.errors import InputError
from ctxsift.terminal import one_line

EXIT_SAME, EXIT_DROP, EXIT_USAGE = 0, 1, 2
_SHOWN_FLIPS = 20
_EXAMPLES = """\
examples:
  python -m benchmark.compare results/before/X.json results/after/X.json
  python -m benchmark.compare old.json new.json --fail-on-drop 1      (a gate for CI)
  python -m benchmark.compare results/ --markdown > pairs.md

Intervals are 95 % paired bootstrap intervals over the cases both answered; a matrix is corrected for the number of
its pairs, intents for each other (Holm). A case is passed when its answer is usable and has every anchor.
exit codes: 0 compared, 1 the gate failed (--fail-on-drop), 2 bad usage or input
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of this command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.compare",
        description="Say which of two results is better, by how much, and where; or compare each of many with each.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="result file, run folder or results tree")
    parser.add_argument(
        "--fail-on-drop",
        type=float,
        metavar="X",
        help="exit 1 when B's score is worse than A's by more than X points with 95 %% confidence",
    )
    parser.add_argument(
        "--score",
        choices=("final", "quality"),
        default="final",
        help="what the gate and the matrix look at: the final score, or quality, which leaves latency out "
        "(for runs on different machines)",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print figures for a program")
    how.add_argument("--markdown", action="store_true", help="print Markdown")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = build_parser().parse_args(argv)
    try:
        return _run(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE


def _run(options: argparse.Namespace) -> int:
    results = find_results(options.paths)
    names = " ".join(map(str, options.paths))
    if len(results) < 2:
        raise InputError(names, "names only one result", "name two, or a tree that holds several")
    allowed: float | None = options.fail_on_drop
    if len(results) > 2:
        if allowed is not None:
            raise InputError(
                "--fail-on-drop", f"{len(results)} results stand below {names}", "name two result files: A, then B"
            )
        with reader_may_go():
            _print_matrix(order_by_score(results), options)
        return EXIT_SAME
    if allowed is not None and not allowed >= 0:
        raise InputError(f"--fail-on-drop {allowed}", "is no number of points", "give 0 or more")
    comparison = compare(*results)
    # Before anything is printed: a gate does not depend on who reads along.
    gate = None if allowed is None else judge_drop(comparison, options.score, allowed)
    with reader_may_go():
        _print_pair(comparison, gate, options)
    return EXIT_SAME if gate is None or gate.passed else EXIT_DROP


@dataclass(frozen=True)
class Gate:
    """What --fail-on-drop found."""

    passed: bool
    reason: str


def judge_drop(comparison: Comparison, score: str, allowed: float) -> Gate:
    """Say whether B may pass: it answered every case of A, and did not surely drop by more than `allowed` points."""
    difference = comparison.difference(score)
    if comparison.only_a:
        return Gate(False, f"B has no answer to {comparison.only_a} cases that A answered: complete the run first")
    if difference.interval is None:
        return Gate(True, f"{len(comparison.shared)} cases are too few to tell")
    low, high = difference.interval.low, difference.interval.high
    shown = f"{score} {difference.value:+.1f} [{low:+.1f}, {high:+.1f}]"
    if high < -allowed:
        return Gate(False, f"dropped by more than {allowed:g} with 95 % confidence: {shown}")
    if low < -allowed:
        return Gate(True, f"no sure drop by more than {allowed:g}, but one is not ruled out: {shown}")
    return Gate(True, f"no drop by more than {allowed:g}: {shown}")


def verdict(difference: Difference) -> str:
    """Return in words what a difference says."""
    if difference.interval is None:
        return "too few cases"
    if not beyond_chance(difference):
        return "even"
    return "B better" if difference.value > 0 else "B worse"


def warnings(results: Sequence[StoredResult]) -> list[str]:
    """Return what makes these results hard to compare."""
    found = []
    runs = [result.record.get("run") or {} for result in results]
    for field, words, mend in (
        ("scorer_version", "were scored by different scorers", "run benchmark.rescore over them first"),
        ("corpus_sha256", "come from different states of the corpus", "run benchmark.rescore over them first"),
        ("prompt_version", "were asked with different prompts", "the difference may be the prompt's"),
    ):
        values = [str(run.get(field)) for run in runs]
        if len(set(values)) > 1:
            found.append(f"the results {words} ({', '.join(dict.fromkeys(one_line(v[:12]) for v in values))}): {mend}")
    for label, result, run in zip(labels(results), results, runs, strict=True):
        if run and not run["disturbance"]["latency_clean"] and not is_reference(result):
            found.append(f"{label}: latency was disturbed; quality leaves latency out (--score quality)")
        if run and not run["complete"]:
            found.append(f"{label}: incomplete")
    return found


def _signed(difference: Difference) -> list[str]:
    interval = difference.interval
    if interval is None:
        return [_signed_figure(difference.value), "-", "-"]
    p = "<0.001" if difference.p < 0.001 else f"{difference.p:.3f}"
    ends = f"[{_signed_figure(interval.low)}, {_signed_figure(interval.high)}]"
    return [_signed_figure(difference.value), ends, p]


_FIGURE_TITLES = ("score", "A", "B", "B - A", "95 % interval", "p", "")
_INTENT_TITLES = ("intent", "cases", "A", "B", "B - A", "95 % interval", "p", "")


def _figure_rows(comparison: Comparison) -> list[list[str]]:
    return [
        [f.name, f"{f.a:.1f}", f"{f.b:.1f}", *_signed(f.difference), verdict(f.difference)] for f in comparison.figures
    ]


def _intent_rows(comparison: Comparison) -> list[list[str]]:
    return [
        [g.name, str(g.case_count), f"{g.a:.1f}", f"{g.b:.1f}", *_signed(g.difference), verdict(g.difference)]
        for g in comparison.intents
    ]


def _sentences(comparison: Comparison) -> list[str]:
    """Return what stands between the tables."""
    shared = f"{len(comparison.shared)} shared cases"
    if comparison.only_a or comparison.only_b:
        shared += f"; {comparison.only_a} only in A and {comparison.only_b} only in B are left out"
    return [
        shared,
        f"B wins {comparison.wins}, loses {comparison.losses}, ties {comparison.ties} (less than a point apart)",
    ]


def _flips(comparison: Comparison) -> list[tuple[str, Sequence[str]]]:
    return [
        ("passed only in A (usable, with every anchor)", comparison.lost),
        ("passed only in B", comparison.won),
    ]


def _print_pair(comparison: Comparison, gate: Gate | None, options: argparse.Namespace) -> None:
    names = labels([comparison.a, comparison.b])
    if options.json:
        _print_json(_pair_json(comparison, names) | {"gate": asdict(gate) if gate else None})
    elif options.markdown:
        print(_pair_markdown(comparison, names, gate))
    else:
        _pair_terminal(terminal(), comparison, names, gate)


def _pair_terminal(console: Console, comparison: Comparison, names: Sequence[str], gate: Gate | None) -> None:
    for letter, name, result in zip("AB", names, (comparison.a, comparison.b), strict=True):
        console.print(Text(one_line(f"{letter}  {name}  {result.path}")), soft_wrap=True)
    for line in _sentences(comparison):
        console.print(Text(line), soft_wrap=True)
    console.print(_table(_FIGURE_TITLES, _figure_rows(comparison)))
    if comparison.intents:
        console.print(_table(_INTENT_TITLES, _intent_rows(comparison)))
    for title, cases in _flips(comparison):
        console.print(Text(f"{len(cases)} cases {title}"))
        for case in cases[:_SHOWN_FLIPS]:
            a, b = comparison.a.cases[case], comparison.b.cases[case]
            console.print(Text(f"  {one_line(case)}  {100 * a.score:.1f} -> {100 * b.score:.1f}"), soft_wrap=True)
        if len(cases) > _SHOWN_FLIPS:
            console.print(Text(f"  ... and {len(cases) - _SHOWN_FLIPS} more (--json lists all)"))
    for warning in warnings([comparison.a, comparison.b]):
        console.print(Text(f"* {warning}"), soft_wrap=True)
    if gate:
        console.print(Text(gate_line(gate)), soft_wrap=True)


def gate_line(gate: Gate) -> str:
    """Return the outcome of the gate as one line."""
    return f"gate: {'passed' if gate.passed else 'FAILED'}: {gate.reason}"


def _pair_markdown(comparison: Comparison, names: Sequence[str], gate: Gate | None) -> str:
    parts = [f"# {plain_cell(names[1])} against {plain_cell(names[0])}"]
    parts.append(
        f"A is {plain_cell(names[0])}, B is {plain_cell(names[1])}. " + ". ".join(_sentences(comparison)) + "."
    )
    parts.append(markdown_table(_FIGURE_TITLES, _figure_rows(comparison)))
    if comparison.intents:
        parts.append("## By intent\n\n" + markdown_table(_INTENT_TITLES, _intent_rows(comparison)))
    for title, cases in _flips(comparison):
        rows = [
            [case, f"{100 * comparison.a.cases[case].score:.1f}", f"{100 * comparison.b.cases[case].score:.1f}"]
            for case in cases
        ]
        body = markdown_table(["case", "A", "B"], rows) if rows else "none"
        parts.append(f"## {len(cases)} cases {title}\n\n{body}")
    found = warnings([comparison.a, comparison.b]) + ([gate_line(gate)] if gate else [])
    if found:
        parts.append("\n".join(f"- {plain_cell(line)}" for line in found))
    return "\n\n".join(parts)


def _pair_json(comparison: Comparison, names: Sequence[str]) -> dict[str, Any]:
    return {
        "a": {"label": names[0], "path": str(comparison.a.path)},
        "b": {"label": names[1], "path": str(comparison.b.path)},
        "shared_cases": len(comparison.shared),
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "verdict": verdict(comparison.difference("final")),
        "figures": [asdict(figure) for figure in comparison.figures],
        "wins": comparison.wins,
        "losses": comparison.losses,
        "ties": comparison.ties,
        "passed_only_in_a": list(comparison.lost),
        "passed_only_in_b": list(comparison.won),
        "intents": [asdict(group) for group in comparison.intents],
        "warnings": warnings([comparison.a, comparison.b]),
    }


def _print_matrix(results: Sequence[StoredResult], options: argparse.Namespace) -> None:
    board = leaderboard(results, timed=options.score == "final")
    names, places = labels(results), ranks(results)
    if options.json:
        pairs = [
            {"a": names[i], "b": names[j], **asdict(difference)} for (i, j), difference in board.differences.items()
        ]
        ranked = [
            {"label": name, "rank": place, "score": score, "case_count": len(result.cases)}
            for name, place, score, result in zip(names, places, board.scores, results, strict=True)
        ]
        _print_json({"results": ranked, "differences": pairs, "warnings": warnings(results)})
        return
    titles = ["rank", "row minus column", "cases", options.score, *(str(number + 1) for number in range(len(names)))]
    rows = [
        [
            *(places[i], f"{i + 1} {names[i]}", str(len(results[i].cases)), f"{board.scores[i]:.1f}"),
            *(_cell(board, i, j) for j in range(len(names))),
        ]
        for i in range(len(names))
    ]
    remarks = [
        f"differences of {options.score} scores on shared cases; * = beyond chance (p < {ALPHA} corrected after Holm, "
        "interval without 0)",
        *notes_together(results),
        *warnings(results),
    ]
    if options.markdown:
        print("\n\n".join([markdown_table(titles, rows), "\n".join(f"- {plain_cell(line)}" for line in remarks)]))
        return
    console = terminal()
    console.print(_table(titles, rows))
    for line in remarks:
        console.print(Text(f"* {line}"), soft_wrap=True)


def _cell(board: Leaderboard, row: int, column: int) -> str:
    if row == column:
        return ""
    difference = board.differences.get((min(row, column), max(row, column)))
    if difference is None:
        return "-"
    value = difference.value if row > column else -difference.value
    return f"{_signed_figure(value)}{' *' if beyond_chance(difference) else ''}"


def _signed_figure(value: float) -> str:
    # No "-0.0": nothing has no sign.
    return f"{value if abs(value) >= 0.05 else 0.0:+.1f}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table()
    for number, title in enumerate(titles):
        table.add_column(title, justify="left" if number == 0 or not title else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _print_json(document: dict[str, Any]) -> None:
    print(json.dumps(document, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())

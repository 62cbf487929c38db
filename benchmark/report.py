"""The leaderboard, in a terminal: `python -m benchmark.report results/`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchmark.paired import leaderboard
from benchmark.stored import as_result, find_results
from ctxsift.errors import InputError

Row = dict[str, Any]
_Cell = Callable[[Row], str]
_TITLE = "Results, best first (scores 0 to 100 with 95 % intervals; ! = no better than without a model)"


def figure(name: str, form: str = "{:.1f}", scale: float = 1.0, view: str | None = None) -> _Cell:
    """Return what formats one figure of a summary; a dash where it has none."""

    def cell(summary: Row) -> str:
        value = (summary.get(view) or {} if view else summary).get(name)
        return "-" if value is None else form.format(value * scale)

    return cell


def pair(first: _Cell, second: _Cell) -> _Cell:
    """Return what formats two figures in one cell."""

    def cell(summary: Row) -> str:
        cells = first(summary), second(summary)
        return "-" if cells == ("-", "-") else "/".join(cells)

    return cell


def _with_interval(summary: Row) -> str:
    score = figure("final_score")(summary)
    ends = summary.get("intervals", {}).get("final_score")
    return f"{score} [{ends[0]:.1f}, {ends[1]:.1f}]" if ends else score


def _verdicts(summary: Row) -> str:
    if "accepted_count" not in summary:
        return "-"
    return f"{summary['accepted_count']}/{summary['soft_accepted_count']}/{summary['rejected_count']}"


def cases_of(summary: Row) -> str:
    """Return answered and planned cases."""
    return f"{summary['case_count']}/{summary.get('planned_count', summary['case_count'])}"


COLUMNS: tuple[tuple[str, _Cell], ...] = (
    ("cases", cases_of),
    ("recovered", _with_interval),
    ("raw", figure("final_score", view="raw_view")),
    ("lift", figure("recovery_lift", "{:+.1f}")),
    ("norm", figure("normalised_score")),
    ("quality", figure("quality_core", scale=100)),
    ("acc/soft/rej", _verdicts),
    ("thought", figure("avg_thought_leakage_density", "{:.2f}")),
    ("ratio", figure("compression_ratio", "{:.0f}x")),
    ("saved", figure("tokens_saved_share", "{:.0%}")),
    ("avg/p95 s", pair(figure("avg_inference_ms", "{:.2f}", 0.001), figure("p95_inference_ms", "{:.2f}", 0.001))),
    ("read/write t/s", pair(figure("prefill_tokens_per_s", "{:.0f}"), figure("decode_tokens_per_s", "{:.0f}"))),
    ("cost $", figure("cost_usd", "{:.3f}")),
)


def is_reference(record: Row) -> bool:
    """Say whether a result is a control row: a line to measure by, no competitor."""
    return bool(record["scenario"]["track"] == "control")


def order_by_score(records: Sequence[Row]) -> list[Row]:
    """Return the records, best recovered score first, those without any answer last; equals by name."""
    return sorted(records, key=lambda r: (-r["summary"].get("final_score", -1.0), r["scenario"]["name"]))


def ranks(records: Sequence[Row]) -> list[str]:
    """Return for each record its rank, with `=` where it ties; `ref` for reference rows, a dash without answers."""
    results = [as_result(Path(str(number)), record) for number, record in enumerate(records)]
    rivals = [i for i, result in enumerate(results) if result.cases and not is_reference(records[i])]
    board = leaderboard([results[i] for i in rivals])
    named = dict(zip(rivals, map(str, board.ranks), strict=True))
    return [named.get(i, "ref" if is_reference(record) else "-") for i, record in enumerate(records)]


def notes(record: Row) -> list[str]:
    """Return what a reader must know before comparing this result."""
    run, summary = record.get("run"), record["summary"]
    if run is None:
        return ["a file of the published layout: other cases, other scorer"]
    found = []
    if run["error"]:
        found.append(f"failed: {run['error']}")
    if summary["instrument_failure_count"]:
        found.append(f"{summary['instrument_failure_count']} cases got no answer and are not scored")
    if not run["complete"]:
        found.append(f"incomplete: {cases_of(summary)} cases ({summary['coverage']:.0%})")
    if is_reference(record):
        return found
    if not run["disturbance"]["latency_clean"]:
        share = run["disturbance"]["other_cpu_share"]
        found.append(f"latency is not clean: other processes used {share:.0%} of the machine")
    backend = run["backend"]
    if backend and backend["chat_template_note"]:
        found.append(f"chat template {backend['chat_template']}: {backend['chat_template_note']}")
    if backend and "canary" in backend["settings"]:
        found.append(backend["settings"]["canary"])
    reference = summary.get("reference")
    if reference and not reference["beats_floor"]:
        best = f"{reference['floor']}, {reference['floor_score']:.1f}"
        found.append(f"does not beat the best compressor without a model ({best}) beyond chance")
    failures = summary["model_failure_counts"]
    if failures:
        words = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in failures.items())
        found.append(f"model failures: {words}")
    return found


def named(record: Row) -> str:
    """Return the scenario's name, with `*` when incomplete or disturbed, `!` when no better than without a model."""
    name, run = str(record["scenario"]["name"]), record.get("run")
    if run is None or is_reference(record):
        return name
    if not (run["complete"] and run["disturbance"]["latency_clean"]):
        name += " *"
    return name if record["summary"].get("reference", {}).get("beats_floor", True) else name + " !"


def summary_table(records: Sequence[Row]) -> Table:
    """Return one table over all scenarios for a terminal."""
    ordered = order_by_score(records)
    # Columns that nobody fills (cost, tokens per second) only take room.
    columns = [(title, cell) for title, cell in COLUMNS if any(cell(r["summary"]) != "-" for r in ordered)]
    table = Table(title=_TITLE)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("scenario", overflow="fold")
    for title, _ in columns:
        table.add_column(title, justify="right", no_wrap=True)
    for rank, record in zip(ranks(ordered), ordered, strict=True):
        cells = [cell(record["summary"]) for _, cell in columns]
        table.add_row(rank, Text(named(record)), *map(Text, cells), style="dim" if is_reference(record) else "")
    return table


def print_summary(console: Console, records: Sequence[Row]) -> None:
    """Print the table over all scenarios, or its figures as lines where the table does not fit, and the notes."""
    table = summary_table(records)
    if Measurement.get(console, console.options.update(width=1000), table).maximum <= console.width:
        console.print(table)
    else:
        ordered = order_by_score(records)
        for rank, record in zip(ranks(ordered), ordered, strict=True):
            figures = [
                f"{title} {cell(record['summary'])}" for title, cell in COLUMNS if cell(record["summary"]) != "-"
            ]
            console.print(Text(f"{rank:>4}  {record['scenario']['name']}", style="bold"))
            console.print(Padding(Text("   ".join(figures)), (0, 0, 0, 6)))
    for record in order_by_score(records):
        for note in notes(record):
            console.print(Text(f"* {record['scenario']['name']}: {note}"), soft_wrap=True)


def terminal() -> Console:
    """Return a console on stdout; piped output has no width of its own, and a table that wraps there helps nobody."""
    return Console(width=None if sys.stdout.isatty() else 200)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.report",
        description="Show stored results as one leaderboard; write it as Markdown, and all case rows as CSV.",
        epilog="example: python -m benchmark.report results/ --markdown report.md --csv cases.csv",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="results tree, run folder or result file")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the report of all of them")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one line a case and scenario")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 on bad input."""
    from benchmark.documents import case_csv, run_markdown
    from benchmark.results import write_atomically

    options = _parser().parse_args(argv)
    try:
        records = [result.record for result in find_results(options.paths)]
        print_summary(terminal(), records)
        if options.markdown:
            write_atomically(options.markdown, run_markdown(records))
        if options.csv:
            write_atomically(options.csv, case_csv(records))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"error: {error}; name another file", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

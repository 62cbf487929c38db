"""The leaderboard, in a terminal: `python -m benchmark.report results/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchmark.console import reader_may_go, terminal
from benchmark.paired import Comparisons, leaderboard
from benchmark.stored import StoredResult, find_results, labels
from ctxsift.errors import InputError
from ctxsift.terminal import one_line

Row = dict[str, Any]
_Cell = Callable[[Row], str]
_TITLE = "Results, best first (scores 0 to 100 with 95 % intervals; * disturbed, ! no better than no model)"


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


def is_reference(result: StoredResult) -> bool:
    """Say whether a result is a control row: a line to measure by, no competitor."""
    return result.track == "control"


def order_by_score(results: Sequence[StoredResult]) -> list[StoredResult]:
    """Return the results, best recovered score first, those without any answer last; equals by name."""
    return sorted(results, key=lambda r: (-r.record["summary"].get("final_score", -1.0), r.name, r.timestamp))


def ranks(results: Sequence[StoredResult], comparisons: Comparisons | None = None) -> list[str]:
    """Return for each result its rank, with `=` where it ties; `ref` for reference rows, a dash without answers."""
    rivals = [i for i, result in enumerate(results) if result.cases and not is_reference(result)]
    board = leaderboard([results[i] for i in rivals], comparisons=comparisons)
    places = dict(zip(rivals, map(str, board.ranks), strict=True))
    return [places.get(i, "ref" if is_reference(result) else "-") for i, result in enumerate(results)]


def notes(result: StoredResult) -> list[str]:
    """Return what a reader must know before comparing this result."""
    run, summary = result.record.get("run"), result.record["summary"]
    if run is None:
        return ["a file of the published layout: other cases, other scorer"]
    found = []
    if run["error"]:
        found.append(f"failed: {run['error']}")
    if summary["instrument_failure_count"]:
        found.append(f"{summary['instrument_failure_count']} cases got no answer that could be scored")
    if not run["complete"]:
        found.append(f"incomplete: {cases_of(summary)} cases ({summary['coverage']:.0%})")
    if is_reference(result):
        return found
    if not run["disturbance"]["latency_clean"]:
        share = run["disturbance"]["other_cpu_share"]
        # Older files only know of other processes.
        reasons = run["disturbance"].get("reasons") or [f"other processes used {share:.0%} of the machine"]
        left_out = "; left out of the score" if run.get("latency_ignored") else ""
        found.append(f"latency is not clean: {', '.join(reasons)}{left_out}")
    backend = run["backend"]
    if backend and backend["chat_template_note"]:
        found.append(f"chat template {backend['chat_template']}: {backend['chat_template_note']}")
    if backend and "canary" in backend["settings"]:
        found.append(backend["settings"]["canary"])
    reference = summary.get("reference")
    if reference and reference["beats_floor"] is False:
        best = f"{reference['floor']}, {reference['floor_score']:.1f}"
        found.append(f"does not beat the best compressor without a model ({best}) beyond chance")
    failures = summary["model_failure_counts"]
    if failures:
        words = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in failures.items())
        found.append(f"model failures: {words}")
    return found


def notes_together(results: Sequence[StoredResult]) -> list[str]:
    """Return what makes these results hard to rank against each other."""
    selections = {tuple(sorted(result.cases)) for result in results if result.cases}
    if len(selections) < 2:
        return []
    return ["the results answer different cases: scores are each over its own, ranks over those that two share"]


def mark(result: StoredResult) -> str:
    """Return ` *` for an incomplete or disturbed result, ` !` for one that is no better than without a model."""
    run = result.record.get("run")
    if run is None or is_reference(result):
        return ""
    clean = run["complete"] and run["disturbance"]["latency_clean"]
    beats = result.record["summary"].get("reference", {}).get("beats_floor", True)
    return ("" if clean else " *") + (" !" if beats is False else "")


@dataclass(frozen=True)
class Line:
    """One row of the leaderboard.

    Attributes:
        name: tells the result from the others; marks: what is said of it behind the name.
        cells: one for each column.

    """

    result: StoredResult
    rank: str
    name: str
    marks: str
    cells: tuple[str, ...]

    @property
    def label(self) -> str:
        """Name and marks."""
        return self.name + self.marks


def board_lines(results: Sequence[StoredResult]) -> tuple[tuple[str, ...], list[Line]]:
    """Return the titles of the columns that anybody fills, and the rows, best first."""
    ordered = order_by_score(results)
    # Columns without a figure (cost, tokens per second) only take room.
    columns = [(title, cell) for title, cell in COLUMNS if any(cell(r.record["summary"]) != "-" for r in ordered)]
    rows = [
        Line(result, rank, label, mark(result), tuple(cell(result.record["summary"]) for _, cell in columns))
        for result, rank, label in zip(ordered, ranks(ordered), labels(ordered), strict=True)
    ]
    return tuple(title for title, _ in columns), rows


def _summary_table(titles: Sequence[str], rows: Sequence[Line]) -> Table:
    table = Table(title=_TITLE)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("scenario", overflow="fold")
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        style = "dim" if is_reference(row.result) else ""
        table.add_row(row.rank, Text(row.label), *map(Text, row.cells), style=style)
    return table


def print_summary(console: Console, results: Sequence[StoredResult]) -> None:
    """Print the table over all scenarios, or its figures as lines where the table does not fit, and the notes."""
    titles, rows = board_lines(results)
    table = _summary_table(titles, rows)
    if Measurement.get(console, console.options.update(width=1000), table).maximum <= console.width:
        console.print(table)
    else:
        console.print(Text(_TITLE, style="italic"))
        for row in rows:
            console.print(Text(f"{row.rank:>4}  {row.label}", style="bold"))
            # A no-break space keeps a figure beside its title.
            pairs = [f"{t} {c}".replace(" ", "\u00a0") for t, c in zip(titles, row.cells, strict=True) if c != "-"]
            console.print(Padding(Text("   ".join(pairs)), (0, 0, 0, 6)))
    for row in rows:
        for note in notes(row.result):
            console.print(Text(one_line(f"* {row.name}: {note}")), soft_wrap=True)
    for note in notes_together(results):
        console.print(Text(f"* {note}"), soft_wrap=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.report",
        description="Show stored results as one leaderboard; write it as Markdown, and all case rows as CSV.",
        epilog="example: python -m benchmark.report results/ --markdown report.md --csv cases.csv\n"
        "exit codes: 0 shown, 2 bad usage or input",
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
        results = find_results(options.paths)
        if options.markdown:
            write_atomically(options.markdown, run_markdown(results))
        if options.csv:
            write_atomically(options.csv, case_csv(results))
        with reader_may_go():
            print_summary(terminal(), results)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error.strerror or error}: a file of --markdown or --csv; name another", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Results as tables: one for the terminal, Markdown for people and CI summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Row = dict[str, Any]
_Cell = Callable[[Row], str]


def _figure(name: str, form: str = "{:.1f}", scale: float = 1.0, view: str | None = None) -> _Cell:
    def cell(summary: Row) -> str:
        value = (summary.get(view) or {} if view else summary).get(name)
        return "-" if value is None else form.format(value * scale)

    return cell


def _verdicts(summary: Row) -> str:
    if "accepted_count" not in summary:
        return "-"
    return f"{summary['accepted_count']}/{summary['soft_accepted_count']}/{summary['rejected_count']}"


def _cases(summary: Row) -> str:
    return f"{summary['case_count']}/{summary['planned_count']}"


COLUMNS: tuple[tuple[str, _Cell], ...] = (
    ("cases", _cases),
    ("recovered", _figure("final_score")),
    ("raw", _figure("final_score", view="raw_view")),
    ("lift", _figure("recovery_lift", "{:+.1f}")),
    ("acc/soft/rej", _verdicts),
    ("thought", _figure("avg_thought_leakage_density", "{:.2f}")),
    ("avg s", _figure("avg_inference_ms", "{:.2f}", 0.001)),
    ("p95 s", _figure("p95_inference_ms", "{:.2f}", 0.001)),
    ("prefill t/s", _figure("prefill_tokens_per_s", "{:.0f}")),
    ("decode t/s", _figure("decode_tokens_per_s", "{:.0f}")),
)


def order_by_score(results: Sequence[Row]) -> list[Row]:
    """Return the results, best recovered score first, those without any answer last."""
    return sorted(results, key=lambda r: -r["summary"].get("final_score", -1.0))


def notes(result: Row) -> list[str]:
    """Return what a reader must know before comparing this result."""
    run, summary = result["run"], result["summary"]
    found = []
    if run["error"]:
        found.append(f"failed: {run['error']}")
    if summary["instrument_failure_count"]:
        found.append(f"{summary['instrument_failure_count']} cases got no answer and are not scored")
    if not run["complete"]:
        found.append(f"incomplete: {_cases(summary)} cases ({summary['coverage']:.0%})")
    if not run["disturbance"]["latency_clean"]:
        share = run["disturbance"]["other_cpu_share"]
        found.append(f"latency is not clean: other processes used {share:.0%} of the machine")
    backend = run["backend"]
    if backend and backend["chat_template_note"]:
        found.append(f"chat template {backend['chat_template']}: {backend['chat_template_note']}")
    if backend and "canary" in backend["settings"]:
        found.append(backend["settings"]["canary"])
    failures = summary["model_failure_counts"]
    if failures:
        words = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in failures.items())
        found.append(f"model failures: {words}")
    return found


def summary_table(results: Sequence[Row]) -> Table:
    """Return one table over all scenarios for a terminal."""
    table = Table(title="Results, best first (scores 0 to 100; acc/soft/rej = accepted, soft accepted, rejected)")
    table.add_column("scenario", overflow="fold")
    for title, _ in COLUMNS:
        table.add_column(title, justify="right", no_wrap=True)
    for result in order_by_score(results):
        mark = "" if result["run"]["complete"] and result["run"]["disturbance"]["latency_clean"] else " *"
        cells = [cell(result["summary"]) for _, cell in COLUMNS]
        table.add_row(Text(result["scenario"]["name"] + mark), *cells)
    return table


def print_summary(console: Console, results: Sequence[Row]) -> None:
    """Print the table over all scenarios, or its figures as lines where the table does not fit."""
    table = summary_table(results)
    if Measurement.get(console, console.options.update(width=1000), table).maximum <= console.width:
        console.print(table)
        return
    for result in order_by_score(results):
        figures = [f"{title} {cell(result['summary'])}" for title, cell in COLUMNS]
        console.print(Text(result["scenario"]["name"], style="bold"))
        console.print(Padding(Text("   ".join(figures)), (0, 0, 0, 2)))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; cells are text, never markup."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def scenario_markdown(result: Row) -> str:
    """Return the report of one scenario."""
    scenario, run, summary = result["scenario"], result["run"], result["summary"]
    titles = [title for title, _ in COLUMNS]
    parts = [
        f"# {scenario['name']}",
        f"{scenario['model']} ({scenario['track']}, phase {scenario['phase']}), {run['timestamp']}",
        markdown_table(titles, [[cell(summary) for _, cell in COLUMNS]]),
    ]
    remarks = notes(result)
    if remarks:
        parts.append("\n".join(f"- {_cell(note)}" for note in remarks))
    if summary["case_count"]:
        parts.append("## By intent\n\n" + _intents(result["cases"]))
        parts.append("## Profile\n\n" + _profile(summary))
    parts.append("## Cases\n\n" + _case_table(result["cases"]))
    parts.append("## Identity\n\n" + _identity(run))
    return "\n\n".join(parts) + "\n"


def _intents(cases: Sequence[Row]) -> str:
    groups: dict[str, list[Row]] = {}
    for case in cases:
        if "case_score" in case:
            groups.setdefault(case["intent"], []).append(case)
    rows = [
        [intent, str(len(group)), _mean(group), _mean([case["raw_view"] for case in group])]
        for intent, group in sorted(groups.items())
    ]
    return markdown_table(["intent", "cases", "recovered case score", "raw"], rows)


def _mean(views: Sequence[Row]) -> str:
    return f"{sum(view['case_score'] for view in views) / len(views):.3f}"


_PROFILE = {
    "preserve": "avg_exact_preservation_ratio",
    "quality": "avg_summary_quality_ratio",
    "format": "avg_format_adherence_score",
    "brevity": "avg_brevity_ratio",
    "instruction": "avg_instruction_following_score",
    "case score": "avg_case_score",
    "p10 case score": "p10_case_score",
    "quality core": "quality_core",
    "latency factor": "latency_factor",
}


def _profile(summary: Row) -> str:
    raw = summary["raw_view"]
    rows = [[title, f"{summary[name]:.3f}", f"{raw[name]:.3f}"] for title, name in _PROFILE.items()]
    return markdown_table(["component", "recovered", "raw"], rows)


def _case_table(cases: Sequence[Row]) -> str:
    rows = []
    for case in sorted(cases, key=lambda c: c.get("case_score", -1.0)):
        if case["outcome"] == "instrument_failure":
            rows.append([case["case_id"], case["intent"], "-", "no answer", case["error"], "-"])
            continue
        why = ", ".join(case["validation_flags"] + ([case["failure_reason"]] if case["failure_reason"] else []))
        score, seconds = f"{case['case_score']:.2f}", f"{case['inference_ms'] / 1000:.1f}"
        rows.append([case["case_id"], case["intent"], score, case["validation_status"], why, seconds])
    return markdown_table(["case", "intent", "score", "verdict", "why", "s"], rows)


def _identity(run: Row) -> str:
    backend, environment = run["backend"] or {}, run["environment"]
    commit = environment["git_commit"] or "unknown"
    if environment["git_dirty"]:
        commit += " (with local changes)"
    rows = {
        "corpus": f"{run['corpus_cases']} cases, sha256 {run['corpus_sha256'][:16]}",
        "weights": f"sha256 {run['weights_sha256'][:16]}" if run["weights_sha256"] else "-",
        "prompt / scorer / recovery": f"{run['prompt_version']} / {run['scorer_version']} / {run['recovery_version']}",
        "engine": f"{backend.get('engine', '-')} {backend.get('engine_version', '')}",
        "chat template": f"{backend.get('chat_template', '-')}, sha256 {backend.get('chat_template_sha256', '-')[:16]}",
        "machine": f"{environment['cpu']}, {environment['cpu_cores_physical']} cores, {environment['platform']}",
        "commit": commit,
    }
    return markdown_table(["what", "value"], [[key, value] for key, value in rows.items()])

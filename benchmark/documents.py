"""Results as files for people and spreadsheets: Markdown per scenario and per run, CSV of all cases."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from benchmark.report import COLUMNS, Row, figure, named, notes, order_by_score, ranks
from benchmark.rollup import DIMENSIONS

REPORT_NAME, CASES_NAME = "report.md", "cases.csv"
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
_AXES = {
    "generation, mean s": figure("avg_inference_ms", "{:.2f}", 0.001),
    "generation, p50 s": figure("p50_inference_ms", "{:.2f}", 0.001),
    "generation, p95 s": figure("p95_inference_ms", "{:.2f}", 0.001),
    "time to first token, mean s": figure("avg_time_to_first_token_ms", "{:.2f}", 0.001),
    "prefill tokens/s": figure("prefill_tokens_per_s", "{:.0f}"),
    "decode tokens/s": figure("decode_tokens_per_s", "{:.0f}"),
    "input tokens per answer token (usable answers)": figure("compression_ratio"),
    "tokens saved with all anchors": figure("tokens_saved", "{:.0f}"),
    "... of all input tokens": figure("tokens_saved_share", "{:.1%}"),
    "cost in $": figure("cost_usd", "{:.4f}"),
}
_CASE_FIELDS = (
    *("case_id", "domain", "tool", "family", "intent", "output_mode", "difficulty", "outcome", "failure_reason"),
    *("validation_status", "case_score", "exact_preservation_ratio", "summary_quality_ratio"),
    *("format_adherence_score", "brevity_ratio", "instruction_following_score", "thought_leakage_density"),
    *("inference_ms", "prefill_ms", "decode_ms", "prompt_tokens", "completion_tokens", "input_tokens"),
    *("output_tokens", "finish_reason", "cost_usd", "error"),
)
_CASE_LISTS = ("validation_flags", "missing_tokens")


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; cells are text, never markup."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(plain_cell(cell) for cell in line) + " |" for line in lines)


def plain_cell(text: str) -> str:
    """Return `text` as one line without Markdown or HTML of its own."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def run_markdown(records: Sequence[Row]) -> str:
    """Return the report of a whole run: the leaderboard, notes, and every breakdown across scenarios."""
    ordered = order_by_score(records)
    titles = ["rank", "scenario", *(title for title, _ in COLUMNS)]
    rows = [
        [rank, named(record), *(cell(record["summary"]) for _, cell in COLUMNS)]
        for rank, record in zip(ranks(ordered), ordered, strict=True)
    ]
    parts = ["# Results", markdown_table(titles, rows)]
    remarks = [f"- {record['scenario']['name']}: {plain_cell(note)}" for record in ordered for note in notes(record)]
    if remarks:
        parts.append("\n".join(remarks))
    parts.append(
        "Recovered is the headline score with its 95 % interval; results whose ranks carry `=` cannot be told from at "
        "least one other (paired bootstrap, Holm-corrected). Norm is 0 at the best compressor without a model and 100 "
        "at gold; `!` marks what does not beat that floor beyond chance. Saved is the share of input tokens an agent "
        "would be spared without losing an anchor."
    )
    for dimension in DIMENSIONS:
        table = _across(ordered, dimension)
        if table:
            parts.append(f"## By {dimension.replace('_', ' ')}\n\nMean case score, 0 to 100.\n\n{table}")
    return "\n\n".join(parts) + "\n"


def _across(records: Sequence[Row], dimension: str) -> str:
    broken_down = [record for record in records if "breakdowns" in record]
    found = {
        record["scenario"]["name"]: {row["group"]: row for row in record["breakdowns"].get(dimension, [])}
        for record in broken_down
    }
    groups = list(dict.fromkeys(group for rows in found.values() for group in rows))
    if not groups:
        return ""
    rows = [
        [group, *(figure("avg_case_score", scale=100)(rows.get(group, {})) for rows in found.values())]
        for group in groups
    ]
    return markdown_table([dimension.replace("_", " "), *found], rows)


def scenario_markdown(record: Row) -> str:
    """Return the report of one scenario."""
    scenario, run, summary = record["scenario"], record["run"], record["summary"]
    titles = [title for title, _ in COLUMNS]
    parts = [
        f"# {scenario['name']}",
        f"{scenario['model']} ({scenario['track']}, phase {scenario['phase']}), {run['timestamp']}",
        markdown_table(titles, [[cell(summary) for _, cell in COLUMNS]]),
    ]
    remarks = notes(record)
    if remarks:
        parts.append("\n".join(f"- {plain_cell(note)}" for note in remarks))
    if summary["case_count"]:
        parts.append("## Profile\n\n" + _profile(summary))
        parts.append("## Beside the score\n\n" + markdown_table(["axis", "value"], _axes(summary)))
        parts.append("## Between floor and ceiling\n\n" + _references(summary))
        for dimension in DIMENSIONS:
            title = dimension.replace("_", " ")
            parts.append(f"## By {title}\n\n{_breakdown(title, record['breakdowns'][dimension])}")
    parts.append("## Cases\n\n" + _case_table(record["cases"]))
    parts.append("## Identity\n\n" + _identity(run))
    return "\n\n".join(parts) + "\n"


def _axes(summary: Row) -> list[list[str]]:
    return [[title, cell(summary)] for title, cell in _AXES.items()]


def _references(summary: Row) -> str:
    reference = summary["reference"]
    rows = [["gold", f"{reference['ceiling_score']:.1f}"], ["this scenario", f"{summary['final_score']:.1f}"]]
    rows += [[name, f"{score:.1f}"] for name, score in sorted(reference["controls"].items(), key=lambda c: -c[1])]
    gap = f"Above the best control by {reference['difference']:+.1f}"
    if reference["difference_interval"]:
        gap += " [{:+.1f}, {:+.1f}]".format(*reference["difference_interval"])
    return markdown_table(["on the same cases", "final score"], rows) + f"\n\n{gap}."


def _breakdown(title: str, groups: Sequence[Row]) -> str:
    rows = [
        [
            group["group"],
            f"{group['case_count']}/{group['planned_count']}",
            _interval(group, "avg_case_score", "{:.1f}"),
            _interval(group, "raw_avg_case_score", "{:.1f}"),
            _interval(group, "avg_lift", "{:+.1f}"),
        ]
        for group in groups
    ]
    return markdown_table([title, "cases", "recovered", "raw", "lift"], rows)


def _interval(group: Row, name: str, form: str) -> str:
    if name not in group:
        return "-"
    shown = form.format(100 * group[name])
    ends = group[f"{name}_interval"]
    return f"{shown} [{', '.join(form.format(100 * end) for end in ends)}]" if ends else shown


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
        why = [*case["validation_flags"], *([case["failure_reason"]] if case["failure_reason"] else [])]
        why += [
            reason for name in ("preserve", "format", "instruction") for reason in case["reasons"].get(name, [])[:3]
        ]
        score, seconds = f"{case['case_score']:.2f}", f"{case['inference_ms'] / 1000:.1f}"
        status = case["validation_status"]
        rows.append([case["case_id"], case["intent"], score, status, ", ".join(dict.fromkeys(why)), seconds])
    return markdown_table(["case", "intent", "score", "verdict", "why", "s"], rows)


def _identity(run: Row) -> str:
    backend, environment = run["backend"] or {}, run["environment"]
    commit = environment["git_commit"] or "unknown"
    if environment["git_dirty"]:
        commit += " (with local changes)"
    statistics = run["statistics"]
    rows = {
        "corpus": f"{run['corpus_cases']} cases, sha256 {run['corpus_sha256'][:16]}",
        "weights": f"sha256 {run['weights_sha256'][:16]}" if run["weights_sha256"] else "-",
        "prompt / scorer / recovery": f"{run['prompt_version']} / {run['scorer_version']} / {run['recovery_version']}",
        "intervals": f"{statistics['confidence']:.0%} {statistics['method']}, {statistics['draws']} draws, "
        f"seed {statistics['seed']}",
        "engine": f"{backend.get('engine', '-')} {backend.get('engine_version', '')}",
        "chat template": f"{backend.get('chat_template', '-')}, sha256 {backend.get('chat_template_sha256', '-')[:16]}",
        "machine": f"{environment['cpu']}, {environment['cpu_cores_physical']} cores, {environment['platform']}",
        "commit": commit,
    }
    return markdown_table(["what", "value"], [[key, value] for key, value in rows.items()])


def case_csv(records: Sequence[Row]) -> str:
    """Return one CSV line a case and scenario, scores of both views, no texts."""
    target = io.StringIO()
    header = ["scenario", "track", "model", *_CASE_FIELDS, *_CASE_LISTS, "raw_validation_status", "raw_case_score"]
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(header)
    for record in sorted(records, key=lambda r: str(r["scenario"]["name"])):
        scenario = record["scenario"]
        for case in record["cases"]:
            raw = case.get("raw_view", {})
            cells = [scenario["name"], scenario["track"], scenario.get("model", "")]
            cells += [case.get(name) for name in _CASE_FIELDS]
            cells += [" ".join(case.get(name, [])) for name in _CASE_LISTS]
            cells += [raw.get("validation_status"), raw.get("case_score")]
            writer.writerow([_csv_cell(cell) for cell in cells])
    return target.getvalue()


def _csv_cell(value: Any) -> Any:
    # A spreadsheet would run a text that begins like a formula.
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value

"""Results as files for people and spreadsheets: Markdown per scenario and per run, CSV of all cases."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from benchmark.report import (
    COLUMNS,
    Line,
    Row,
    board_lines,
    figure,
    is_reference,
    notes,
    notes_together,
)
from benchmark.rollup import DIMENSIONS
from benchmark.stored import StoredResult, labels
from ctxsift.terminal import one_line

REPORT_NAME, CASES_NAME = "report.md", "cases.csv"
_MARKUP = re.compile(r"([\\`*_\[\]!#~|])")
_LEGEND = """\
Recovered is the headline score with its 95 % interval, after wrappers were removed; raw is without that step, lift the
difference. Results whose ranks carry `=` cannot be told from at least one other (paired bootstrap, Holm-corrected);
`ref` is a row to measure by. Norm is 0 at the best compressor without a model and 100 at gold; `!` marks what does not
beat that floor beyond chance, `*` what is incomplete or was disturbed. Quality leaves latency out. Ratio is input
tokens per answer token over usable answers, saved the share of input an agent is spared without losing an anchor."""
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
    """Return `text` as one printable line in which Markdown and HTML mean nothing."""
    return _MARKUP.sub(r"\\\1", one_line(text)).replace("&", "&amp;").replace("<", "&lt;")


def run_markdown(results: Sequence[StoredResult]) -> str:
    """Return the report of a whole run: the leaderboard, notes, and every breakdown across scenarios."""
    titles, rows = board_lines(results)
    parts = ["# Results", _in_a_sentence(rows)]
    parts.append(markdown_table(["rank", "scenario", *titles], [[r.rank, r.label, *r.cells] for r in rows]))
    remarks = [f"- {plain_cell(f'{row.name}: {note}')}" for row in rows for note in notes(row.result)]
    remarks += [f"- {plain_cell(note)}" for note in notes_together(results)]
    if remarks:
        parts.append("\n".join(remarks))
    parts.append(_LEGEND)
    for dimension in DIMENSIONS:
        table = _across([row.result for row in rows], dimension)
        if table:
            parts.append(f"## By {dimension.replace('_', ' ')}\n\nMean case score, 0 to 100.\n\n{table}")
    return "\n\n".join(parts) + "\n"


def _in_a_sentence(rows: Sequence[Line]) -> str:
    """Return what the board comes to."""
    rivals = [row for row in rows if not is_reference(row.result) and row.result.cases]
    if not rivals:
        return "Reference rows only."
    first = min(int(row.rank.rstrip("=")) for row in rivals)
    best = [row for row in rivals if row.rank.rstrip("=") == str(first)]
    names = ", ".join(plain_cell(row.name) for row in best)
    text = f"Best: {names}." if len(best) == 1 else f"Best, and not to be told apart: {names}."
    useful = [r for r in rivals if r.result.record["summary"].get("reference", {}).get("beats_floor") is not False]
    return text if useful else f"{text} None of the models beats the best compressor without a model beyond chance."


def _across(results: Sequence[StoredResult], dimension: str) -> str:
    broken_down = [result for result in results if result.record.get("breakdowns", {}).get(dimension)]
    found = [{row["group"]: row for row in result.record["breakdowns"][dimension]} for result in broken_down]
    groups = list(dict.fromkeys(group for rows in found for group in rows))
    if not groups:
        return ""
    counts = {group: max(rows[group]["case_count"] for rows in found if group in rows) for group in groups}
    body = [
        [group, str(counts[group]), *(figure("avg_case_score", scale=100)(rows.get(group, {})) for rows in found)]
        for group in groups
    ]
    return markdown_table([dimension.replace("_", " "), "cases", *labels(broken_down)], body)


def scenario_markdown(result: StoredResult) -> str:
    """Return the report of one scenario."""
    record = result.record
    scenario, run, summary = record["scenario"], record["run"], record["summary"]
    titles = [title for title, _ in COLUMNS]
    parts = [
        f"# {plain_cell(scenario['name'])}",
        plain_cell(f"{scenario['model']} ({scenario['track']}, phase {scenario['phase']}), {run['timestamp']}"),
        markdown_table(titles, [[cell(summary) for _, cell in COLUMNS]]),
    ]
    remarks = notes(result)
    if remarks:
        parts.append("\n".join(f"- {plain_cell(note)}" for note in remarks))
    if summary["case_count"]:
        parts.append("## Profile\n\n" + _profile(summary))
        parts.append(
            "## Beside the score\n\n"
            + markdown_table(["axis", "value"], [[title, cell(summary)] for title, cell in _AXES.items()])
        )
        parts.append("## Between floor and ceiling\n\n" + _references(summary))
        for dimension in DIMENSIONS:
            title = dimension.replace("_", " ")
            parts.append(f"## By {title}\n\n{_breakdown(title, record['breakdowns'][dimension])}")
    parts.append("## Cases\n\n" + _case_table(record["cases"]))
    parts.append("## Identity\n\n" + _identity(run))
    return "\n\n".join(parts) + "\n"


def _references(summary: Row) -> str:
    reference = summary["reference"]
    rows = [["gold", f"{reference['ceiling_score']:.1f}"], ["this scenario", f"{summary['final_score']:.1f}"]]
    rows += [[name, f"{score:.1f}"] for name, score in sorted(reference["controls"].items(), key=lambda c: -c[1])]
    gap = f"Difference from the best control: {reference['difference']:+.1f}"
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
            rows.append([case["case_id"], case["intent"], "-", "not scored", case["error"], "-"])
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


def case_csv(results: Sequence[StoredResult]) -> str:
    """Return one CSV line a case and scenario, scores of both views, no texts."""
    target = io.StringIO()
    header = ["scenario", "timestamp", "track", "model", *_CASE_FIELDS, *_CASE_LISTS]
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([*header, "raw_validation_status", "raw_case_score"])
    for result in sorted(results, key=lambda r: (r.name, r.timestamp)):
        for case in result.record["cases"]:
            raw = case.get("raw_view", {})
            cells = [result.name, result.timestamp, result.track, result.record["scenario"].get("model", "")]
            cells += [case.get(name) for name in _CASE_FIELDS]
            # Tokens hold spaces, so lists are JSON.
            cells += [json.dumps(case.get(name, []), ensure_ascii=False) for name in _CASE_LISTS]
            cells += [raw.get("validation_status"), raw.get("case_score")]
            writer.writerow([_csv_cell(cell) for cell in cells])
    return target.getvalue()


def _csv_cell(value: Any) -> Any:
    # A spreadsheet would run a text that begins like a formula.
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value

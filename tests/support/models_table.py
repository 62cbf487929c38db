"""What the packaged models score, as the tables of docs/models.md: figures of the runs that come with the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET

from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.record.read import StoredResult, find_results
from benchmark.record.summary import Dimension
from benchmark.render.figures import counted
from ctxsift.intents import Intent

_HEAD = (
    "model",
    "recovered [95%]",
    "quality core",
    "accepted/soft/rejected",
    "failures",
    "read/write t/s",
    "s/case",
    "memory",
)


def packaged_runs() -> dict[str, list[StoredResult]]:
    """Return the runs by the name of their cases (`easy`), the best model first."""
    folders = sorted(folder for folder in PACKAGED_RESULTS.iterdir() if folder.is_dir())
    return {folder.name: _best_first(folder) for folder in folders}


def _best_first(folder: Path) -> list[StoredResult]:
    return sorted(find_results([folder]), key=lambda run: -(run.record.summary.final_score or 0.0))


def models_table(runs: Sequence[StoredResult]) -> str:
    """Return a row a model, and the best baselines on the same cases."""
    rows = [_row(run) for run in runs]
    standing = runs[0].record.summary.standing
    assert standing is not None
    best = sorted(standing.reference.baselines.items(), key=lambda each: -each[1])[:3]
    # Baselines take no time, so that their score is their quality core.
    rows += [[f"baseline {name}", f"{score:.1f}", f"{score:.1f}", *[""] * (len(_HEAD) - 3)] for name, score in best]
    return _table(_HEAD, rows)


def _row(run: StoredResult) -> list[str]:
    summary = run.record.summary
    view, latency, standing = summary.recovered, summary.latency, summary.standing
    assert view
    assert latency
    assert standing
    interval = view.intervals.final_score
    shown = f"{view.final_score:.1f}" + (f" [{interval[0]:.1f}, {interval[1]:.1f}]" if interval else "")
    core = f"{100 * view.quality_core:.1f}"
    if standing.reference.beats_floor:
        core = f"**{core}**"
    failures = ", ".join(counted(count, name.replace("_", " ")) for name, count in summary.model_failure_counts.items())
    peak = summary.peaks.peak_cpu_rss_bytes if summary.peaks else None
    return [
        run.name,
        shown,
        core,
        f"{view.accepted_count}/{view.soft_accepted_count}/{view.rejected_count}",
        failures or "none",
        f"{latency.prefill_tokens_per_s or 0:.0f}/{latency.decode_tokens_per_s or 0:.0f}",
        f"{latency.avg_inference_ms / 1000:.1f}",
        f"{peak / 1e9:.1f} GB" if peak else "",
    ]


def intents_table(runs: Sequence[StoredResult]) -> str:
    """Return mean case scores (0 to 100) by intent, a column a model, with their intervals."""
    rows = [[str(intent), *(_of_intent(run, intent) for run in runs)] for intent in Intent]
    return _table(("intent", *(run.name for run in runs)), rows)


def _of_intent(run: StoredResult, intent: Intent) -> str:
    groups = (run.record.breakdowns or {}).get(Dimension.INTENT, [])
    for group in groups:
        if group.group == intent and group.avg_case_score is not UNSET:
            interval = group.avg_case_score_interval
            shown = f"{100 * group.avg_case_score:.1f}"
            return shown + (f" [{100 * interval[0]:.0f}, {100 * interval[1]:.0f}]" if interval else "")
    return ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def models_texts() -> dict[str, str]:
    """Return what stands between the marks, by their names."""
    found = {}
    for name, runs in packaged_runs().items():
        found[f"models {name}"] = models_table(runs)
        found[f"models {name} by intent"] = intents_table(runs)
    return found

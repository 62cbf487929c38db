"""Stored results -> what the page shows, as JSON values. Figures are those of the files; nothing is scored here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmark.paired import Comparison, Comparisons, beyond_chance
from benchmark.report import is_reference, mark, notes, notes_together, order_by_score, ranks
from benchmark.statistics import Difference
from benchmark.stored import StoredResult, labels
from benchmark.viewer.marks import Mark, anchor_places, flat, removed_marks, thought_marks
from ctxsift.contracts import CONTRACTS, Intent
from ctxsift.terminal import one_line

Json = dict[str, Any]
_Identity = tuple[Any, ...]
# Each with each is quadratic: beyond this, pairs have no intervals in the page, and it says so.
MOST_COMPARED = 64
_CATALOG = ("case_id", "title", "intent", "family", "tool", "difficulty", "output_mode")
_LABELS = ("title", "tool", "family", "difficulty", "domain")
_QUESTION = (*_CATALOG, "domain", "instruction", "raw_input", "expected_output")
_VIEW_FIGURES = (
    *("case_score", "exact_preservation_ratio", "summary_quality_ratio", "format_adherence_score", "brevity_ratio"),
    *("instruction_following_score", "thought_leakage_density", "thought_marker_count", "output_tokens"),
    *("validation_status", "validation_flags"),
)
_FIGURES = (
    *("outcome", "failure_reason", "attempts", "elapsed_ms", "inference_ms", "prefill_ms", "decode_ms"),
    *("prompt_tokens", "completion_tokens", "input_tokens", "reasoning_tokens", "input_chars_cut", "finish_reason"),
    *("cost_usd", "cpu_rss_bytes", "gpu_peak_bytes"),
)
_TEXTS = ("error", "model", "reasoning")


@dataclass(frozen=True)
class Shown:
    """One result as the page holds it.

    Attributes:
        key: names it in the answers of the bodies.
        result: without its cases' texts.
        detail: what the views of this scenario need: identity, breakdowns, and the figures of all cases as columns.

    """

    key: int
    result: StoredResult
    detail: Json


@dataclass
class Gathered:
    """Everything the page shows, except what is drawn.

    Attributes:
        shown: best first.
        bodies: what is asked in each case, once for all results, with all their answers by key: they say much the
            same about the same input, so together they pack into a fraction.

    """

    shown: list[Shown] = field(default_factory=list)
    bodies: list[Json] = field(default_factory=list)
    comparisons: Comparisons = field(default_factory=Comparisons)

    @property
    def results(self) -> list[StoredResult]:
        """The results in the order of the page."""
        return [shown.result for shown in self.shown]


def gather(results: Iterable[StoredResult]) -> Gathered:
    """Return what to show of the results, best first; they are read one at a time and let go of what is not shown."""
    gathered = Gathered()
    known: dict[_Identity, int] = {}
    for key, result in enumerate(results):
        rows = [_case(key, row, result, gathered.bodies, known) for row in result.record["cases"]]
        record = {name: value for name, value in result.record.items() if name != "cases"}
        detail = {name: record.get(name) for name in ("scenario", "warmup", "run", "breakdowns")}
        detail |= {"file": one_line(str(result.path)), "cases": _columns(rows)}
        gathered.shown.append(Shown(key, replace(result, record=record), detail))
    order = {id(result): place for place, result in enumerate(order_by_score(gathered.results))}
    gathered.shown.sort(key=lambda shown: order[id(shown.result)])
    return gathered


def _columns(rows: Sequence[Json]) -> dict[str, list[Any]]:
    """Return the rows as columns; those that no row fills are left out."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def overview(gathered: Gathered) -> Json:
    """Return what the leaderboard needs: a row for each result with the summary as its file has it."""
    results = gathered.results
    names, places = labels(results), ranks(results, gathered.comparisons)
    rows = [
        {
            "id": name,
            "key": shown.key,
            "name": result.name,
            "track": result.track,
            "phase": one_line(result.record["scenario"].get("phase") or ""),
            "model": one_line(result.record["scenario"].get("model") or ""),
            "timestamp": result.timestamp,
            "rank": rank,
            "reference": is_reference(result),
            "marks": mark(result).split(),
            "notes": [one_line(note) for note in notes(result)],
            "latency_clean": _latency_clean(result),
            "complete": (result.record.get("run") or {}).get("complete"),
            "lift": lift_of(result),
            "summary": result.record["summary"],
        }
        for shown, result, name, rank in zip(gathered.shown, results, names, places, strict=True)
    ]
    return {"rows": rows, "notes": notes_together(results), "best": _best(gathered, places)}


def _best(gathered: Gathered, places: Sequence[str]) -> list[int]:
    """Return the keys of the best result and of those of its rank that were compared with it, on shared cases."""
    rivals = [(shown, place) for shown, place in zip(gathered.shown, places, strict=True) if place[:1].isdigit()]
    first = min((int(place.rstrip("=")) for _, place in rivals), default=0)
    best = [shown for shown, place in rivals if int(place.rstrip("=")) == first]
    return [shown.key for shown in best if shown.result.cases.keys() & best[0].result.cases.keys()]


def lift_of(result: StoredResult) -> float | None:
    """Return recovered minus raw score; the published layout does not say it."""
    summary = result.record["summary"]
    raw = summary.get("raw_view", {}).get("final_score")
    lift: float | None = summary.get("recovery_lift")
    return summary["final_score"] - raw if lift is None and raw is not None else lift


def _latency_clean(result: StoredResult) -> bool | None:
    run = result.record.get("run")
    return run["disturbance"]["latency_clean"] if run else None


def catalog(gathered: Gathered) -> list[list[str | None]]:
    """Return for each body what tables of cases show of it: id, title, intent, family, tool, difficulty, mode."""
    return [[body.get(name) for name in _CATALOG] for body in gathered.bodies]


def pairs(gathered: Gathered) -> Json | None:
    """Return each result against each, keyed `i,j` with i < j by their places; None when there are too many."""
    results = gathered.results
    if len(results) > MOST_COMPARED:
        return None
    return {
        f"{i},{j}": _comparison(comparison)
        for (i, a), (j, b) in itertools.combinations(enumerate(results), 2)
        if (comparison := gathered.comparisons.of(a, b)) is not None
    }


def _comparison(comparison: Comparison) -> Json:
    return {
        "shared": len(comparison.shared),
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "wins": comparison.wins,
        "losses": comparison.losses,
        "ties": comparison.ties,
        "figures": {f.name: [f.a, f.b, *_difference(f.difference)] for f in comparison.figures},
        "intents": {g.name: [g.case_count, g.a, g.b, *_difference(g.difference)] for g in comparison.intents},
    }


def _difference(difference: Difference) -> list[Any]:
    """Return value, low, high, p, and whether it is beyond chance."""
    ends = difference.interval
    low, high = (ends.low, ends.high) if ends else (None, None)
    return [difference.value, low, high, difference.p, beyond_chance(difference)]


def _case(key: int, row: Json, result: StoredResult, bodies: list[Json], known: dict[_Identity, int]) -> Json:
    """Return the figures of one case, and put its texts beside the other results' answers to the same question."""
    place = _place(row, bodies, known)
    body = bodies[place]
    figures = {"body": place} | {name: _figure(row.get(name)) for name in _FIGURES}
    texts = {name: row.get(name) for name in _TEXTS}
    stored = result.cases.get(row["case_id"])
    raw_texts: Json = {}
    if stored is None:
        texts["unscored"] = row.get("unscored_answer", {}).get("text")
    else:
        figures["passed"] = stored.passed
        raw = row["raw_view"]
        figures |= {name: _figure(row.get(name)) for name in _VIEW_FIGURES}
        figures |= {f"raw_{name}": _figure(raw.get(name)) for name in _VIEW_FIGURES}
        seen = _view_texts(row, body)
        # Also when it is empty: that is not what the recovered view says.
        raw_texts = {f"raw_{name}": value for name, value in _view_texts(raw, body).items() if value != seen[name]}
        steps = [(step["name"], step["removed"]) for step in row.get("recovery_steps", [])]
        texts |= seen | _marks(row, body, steps)
    kept = {name: value for name, value in texts.items() if value not in (None, "", [], {})}
    body["answers"][key] = kept | raw_texts
    return {name: value for name, value in figures.items() if value is not None}


def _place(row: Json, bodies: list[Json], known: dict[_Identity, int]) -> int:
    """Return where the question of a case stands in `bodies`; the same question has one place."""
    anchors = row.get("required_anchors")
    identity = (*(row.get(name) for name in _QUESTION), None if anchors is None else tuple(anchors))
    if identity not in known:
        known[identity] = len(bodies)
        body = {name: row.get(name) for name in _QUESTION} | {"anchors": anchors, "answers": {}}
        body |= {name: one_line(label) for name in _LABELS if (label := body[name])}
        if body["intent"] in set(Intent):
            body["contract"] = CONTRACTS[Intent(body["intent"])].words
        if body["raw_input"] is not None and anchors:
            body["places"] = anchor_places(body["raw_input"], anchors)
        bodies.append(body)
    return known[identity]


def _figure(value: Any) -> Any:
    # Six decimals are more than anybody reads, and half of what is written.
    return round(value, 6) if isinstance(value, float) else value


def _view_texts(view: Json, body: Json) -> Json:
    """Return the texts of one view; what repeats the anchors says so by their places."""
    missing, anchors = view.get("missing_tokens") or [], body["anchors"] or []
    reasons = dict(view.get("reasons") or {})
    if reasons.get("preserve") == [f"missing {anchor}" for anchor in missing]:
        del reasons["preserve"]
    return {
        "output": view.get("output") or "",
        "reasons": reasons,
        "ungrounded_facts": view.get("ungrounded_facts") or [],
        "missing_tokens": [anchors.index(a) for a in missing] if set(missing) <= set(anchors) else missing,
    }


def _marks(row: Json, body: Json, steps: Sequence[tuple[str, str]]) -> Json:
    """Return what is marked in the answers; where nothing was found when they were scored, nothing is looked for."""
    if body["raw_input"] is None or body["intent"] not in set(Intent):
        return {}

    def thought(view: Json) -> list[Mark]:
        if not view.get("thought_marker_count"):
            return []
        return thought_marks(view["output"], body["raw_input"], body["instruction"], Intent(body["intent"]))

    raw, recovered = row["raw_view"].get("output") or "", row.get("output") or ""
    return {
        "raw_marks": flat([*removed_marks(raw, recovered, steps), *thought(row["raw_view"])], raw),
        "marks": flat(thought(row), recovered),
    }

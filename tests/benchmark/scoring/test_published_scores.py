"""Fed with the published components, our formulas give the published scores."""

from __future__ import annotations

import csv
import json
from collections import defaultdict

import pytest

from benchmark.scoring import case_score, scenario_score
from tests.conftest import ROOT

DATA = ROOT / "tests" / "data"


def published_scores() -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Return (ours, theirs) for each case, by scenario and view."""
    scores = defaultdict(list)
    with (DATA / "published_case_components.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            ours = case_score(
                row["intent"],
                validation_status=row["validation_status"],
                thought_density=float(row["thought_leakage_density"]),
                preserve=float(row["exact_preservation_ratio"]),
                quality=float(row["summary_quality_ratio"]),
                format=float(row["format_adherence_score"]),
                brevity=float(row["brevity_ratio"]),
                instruction=float(row["instruction_following_score"]),
            )
            scores[row["scenario"], row["view"]].append((ours, float(row["case_score"])))
    return scores


def test_case_scores_are_reproduced() -> None:
    pairs = [pair for group in published_scores().values() for pair in group]
    assert len(pairs) == 1680
    assert max(abs(ours - theirs) for ours, theirs in pairs) < 1e-9


@pytest.mark.parametrize(("view", "prefix"), [("recovered", ""), ("raw", "raw_")])
def test_scenario_scores_are_reproduced(view: str, prefix: str) -> None:
    scores = published_scores()
    published = json.loads((DATA / "published_scenarios.json").read_text())
    assert len(published) == 3
    for row in published:
        ours = scenario_score([s for s, _ in scores[row["scenario"], view]], row["avg_inference_ms"])
        assert ours.quality_core == pytest.approx(row[f"{prefix}quality_core"], abs=1e-9)
        assert ours.final_score == pytest.approx(row[f"{prefix}final_score"], abs=1e-9)
        assert ours.latency_factor == pytest.approx(row["latency_factor"], abs=1e-9)

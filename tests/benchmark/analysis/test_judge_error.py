"""Verdicts contain the error of the scorer where it was measured, and only there."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from benchmark.analysis import comparison
from benchmark.analysis.comparison import Comparison, Measure, compare
from benchmark.record.read import StoredResult, find_results
from benchmark.record.summary import Dimension
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def results() -> dict[str, StoredResult]:
    """The packaged results over outputs of any length, by model."""
    return {r.record.scenario.model: r for r in find_results([ROOT / "benchmark" / "packaged_results" / "mixed"])}


@pytest.fixture(scope="module")
def two(results: dict[str, StoredResult]) -> tuple[StoredResult, StoredResult]:
    return results["package:qwen2.5-coder-0.5b"], results["package:qwen2.5-coder-1.5b"]


def width(found: Comparison, measure: Measure = Measure.CORE) -> float:
    interval = found.difference(measure).interval
    assert interval is not None
    return interval.high - interval.low


def without_error(monkeypatch: pytest.MonkeyPatch, a: StoredResult, b: StoredResult) -> Comparison:
    with monkeypatch.context() as patch:
        patch.setattr(comparison, "measured_error", lambda *_: None)
        return compare(a, b)


def test_the_error_widens_the_difference_and_moves_no_value(
    two: tuple[StoredResult, StoredResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, unknown = compare(*two), without_error(monkeypatch, *two)
    assert width(known) > 1.02 * width(unknown)
    assert known.difference(Measure.CORE).value == unknown.difference(Measure.CORE).value
    assert known.difference(Measure.LIFT) == unknown.difference(Measure.LIFT)


def test_exact_cases_have_no_such_error(
    two: tuple[StoredResult, StoredResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = [replace(r, cases={name: case for name, case in r.cases.items() if not case.is_prose}) for r in two]
    assert len(exact[0].cases) > 30
    assert compare(*exact).difference(Measure.CORE) == without_error(monkeypatch, *exact).difference(Measure.CORE)
    groups = {group.name: group.difference for group in compare(*two).intents}
    same = {group.name: group.difference for group in without_error(monkeypatch, *two).intents}
    has_prose = {case.group[Dimension.INTENT] for case in two[0].cases.values() if case.is_prose}
    assert (
        {name for name in groups if groups[name].p != same[name].p}
        <= has_prose
        == {
            "summary",
            "recall",
            "bullet-list",
        }
    )


def test_two_runs_of_one_model_share_its_error(two: tuple[StoredResult, StoredResult]) -> None:
    a, _ = two
    again = compare(a, a).difference(Measure.CORE)
    assert (again.value, again.interval and (again.interval.low, again.interval.high)) == (0.0, (0.0, 0.0))
    # The same answers under the name of another model may be those of another kind of writer.
    scenario = replace(a.record.scenario, model="another")
    other = replace(a, record=msgspec.structs.replace(a.record, scenario=scenario))
    assert width(compare(a, other)) > 0


def test_another_scorer_or_corpus_has_no_known_error(
    two: tuple[StoredResult, StoredResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    renamed = []
    for each in two:
        assert each.record.run is not None
        run = msgspec.structs.replace(each.record.run, corpus_sha256="0" * 64)
        renamed.append(replace(each, record=msgspec.structs.replace(each.record, run=run)))
    assert width(compare(*renamed)) == width(without_error(monkeypatch, *two))

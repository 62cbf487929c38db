"""The gate, and what makes results hard to compare, as data."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmark.analysis.caveats import Identity, Mismatch, mismatches
from benchmark.analysis.comparison import DifferenceVerdict, Measure, compare, verdict_of
from benchmark.analysis.gate import GateFinding, judge_drop
from benchmark.record.read import StoredResult, find_results, stored
from benchmark.statistics import Difference, Interval
from tests.conftest import ROOT, published_layout

STORED = ROOT / "tests" / "data" / "results"


@pytest.fixture(scope="module")
def results() -> dict[str, StoredResult]:
    return {result.name: result for result in find_results([STORED / "v2"])}


def cut(result: StoredResult, cases: int) -> StoredResult:
    return stored(result.path, replace(result.record, cases=result.record.cases[:cases]))


def test_every_finding_of_the_gate(results: dict[str, StoredResult], tmp_path: Path) -> None:
    low, high = results["model-00"], results["model-02"]
    good, bad = find_results(
        [
            published_layout(tmp_path / f"{name}.json", name, {f"c{n}": score for n in range(30)})
            for name, score in (("good", 0.9), ("bad", 0.1))
        ]
    )
    cases = [
        (high, cut(high, 9), 0.0, GateFinding.UNANSWERED, False),
        (cut(low, 3), cut(high, 3), 0.0, GateFinding.TOO_FEW, True),
        (good, bad, 1.0, GateFinding.DROP, False),
        (low, high, 0.0, GateFinding.POSSIBLE_DROP, True),
        (bad, good, 0.0, GateFinding.NO_DROP, True),
        (good, bad, 90.0, GateFinding.NO_DROP, True),
    ]
    for a, b, allowed, finding, passed in cases:
        gate = judge_drop(compare(a, b), Measure.FINAL, allowed)
        assert (gate.finding, gate.passed) == (finding, passed)


def test_a_difference_in_words() -> None:
    for difference, verdict in (
        (Difference(5.0, None, 1.0), DifferenceVerdict.TOO_FEW),
        (Difference(5.0, Interval(1.0, 9.0), 0.01), DifferenceVerdict.BETTER),
        (Difference(-5.0, Interval(-9.0, -1.0), 0.01), DifferenceVerdict.WORSE),
        (Difference(5.0, Interval(-1.0, 11.0), 0.01), DifferenceVerdict.CANNOT_TELL),
        (Difference(5.0, Interval(1.0, 9.0), 0.2), DifferenceVerdict.CANNOT_TELL),
    ):
        assert verdict_of(difference) is verdict


def test_every_measure_is_compared(results: dict[str, StoredResult]) -> None:
    comparison = compare(results["model-01"], results["model-02"])
    assert [figure.name for figure in comparison.figures] == list(Measure)
    for figure in comparison.figures:
        assert comparison.difference(figure.name) is figure.difference


def test_results_of_the_same_making_have_no_mismatch(results: dict[str, StoredResult]) -> None:
    assert mismatches(list(results.values())) == ()


@pytest.mark.parametrize(
    ("identity", "changes"),
    [
        (Identity.SCORER, {"scorer_version": "other"}),
        (Identity.CORPUS, {"corpus_sha256": "0" * 64}),
        (Identity.PROMPT, {"prompt_version": "other"}),
        (Identity.PROMPT, {"prompt_sha256": "0" * 64}),
    ],
)
def test_each_identity_is_looked_at(
    results: dict[str, StoredResult], identity: Identity, changes: dict[str, str]
) -> None:
    a = results["model-01"]
    run = a.record.run
    assert run is not None
    b = stored(Path("b.json"), replace(a.record, run=replace(run, **changes)))
    (mismatch,) = mismatches([a, b])
    assert mismatch.identity is identity
    assert mismatch.values[1] == next(iter(changes.values()))


def test_published_files_do_not_tell_their_identity(results: dict[str, StoredResult]) -> None:
    published = find_results([STORED / "published"])
    assert mismatches(published) == ()
    found = mismatches([results["model-01"], published[0]])
    assert [mismatch.identity for mismatch in found] == list(Identity)
    assert all(isinstance(mismatch, Mismatch) and mismatch.values[1] is None for mismatch in found)

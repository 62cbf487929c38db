"""Drift: the same probes at every age, by type."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchmark.probes.drift import drifts
from benchmark.probes.figures import boards
from benchmark.probes.model import Maker, ProbeType
from benchmark.probes.records import AskedProbe, ProbeResult
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import scenarios_of
from benchmark.probes.subjects import recorded_subjects
from tests.benchmark.probes.test_figures import asked, result


def at_ages(probe: str, *scores: float, kind: ProbeType = ProbeType.RECALL) -> list[AskedProbe]:
    return [replace(asked("a", age, score, probe=probe), type=kind) for age, score in enumerate(scores)]


def test_only_probes_that_are_asked_at_every_age_count() -> None:
    often, twice, once = at_ages("often", 5, 4, 2), at_ages("twice", 5, 0), at_ages("once", 0)
    late = [asked("a", 2, 5, probe="late")]
    rule = [asked("a", age, 0, probe="rule", maker=Maker.RULE) for age in (0, 1, 2)]
    methods = result({"m": [*often, *twice, *once, *late, *rule]}).methods
    short, long = drifts(methods, Maker.HAND)
    assert (short.ages, short.probes, short.kept) == (2, 2, {"m 2k": (1, 0.4)})
    assert (long.ages, long.probes, long.kept) == (3, 1, {"m 2k": (1, 0.8, 0.4)})
    assert [each.kept["m 2k"][0] for each in drifts(methods, Maker.RULE)] == [0, 0]


def test_types_are_apart_and_a_method_may_lack_a_summary() -> None:
    decided = at_ages("d", 5, 0, kind=ProbeType.DECISION)
    methods = result({"m": [*at_ages("r", 5, 5), *decided], "n": decided[:1]}).methods
    recall, decision = drifts(methods, Maker.HAND)
    assert (recall.type, recall.kept) == (ProbeType.RECALL, {"m 2k": (1, 1), "n 2k": (None, None)})
    assert (decision.type, decision.kept) == (ProbeType.DECISION, {"m 2k": (1, 0), "n 2k": (1, None)})


def test_nothing_drifts_at_one_age() -> None:
    assert not list(drifts(result({"m": at_ages("once", 5)}).methods, Maker.HAND))


@pytest.fixture(scope="module")
def measured() -> ProbeResult:
    return run_scenarios(recorded_subjects(["harvestlog"]), scenarios_of(["text", "random-1", "random-2"], [2000]))


def test_over_all_types_it_is_what_the_report_tells(measured: ProbeResult) -> None:
    board = next(boards(measured))
    ages = len(board.ages)
    found = [each for each in drifts(measured.methods, board.maker) if each.ages == ages]
    assert sum(each.probes for each in found) == board.at_every_age > 0
    for row in board.rows:
        for age, share in enumerate(row.kept_of_same):
            whole = sum(each.probes * (each.kept[row.label][age] or 0) for each in found)
            assert whole / board.at_every_age == pytest.approx(share)

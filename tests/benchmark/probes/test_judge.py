"""A judge of one's own: one class, and a whole run is judged by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.probes.figures import boards
from benchmark.probes.judge import Mention, Need, ProbeUnit, ProbeVerdict, SessionProbes
from benchmark.probes.measuring import ProbedSubject
from benchmark.probes.model import Maker
from benchmark.probes.nulls import ORACLE
from benchmark.probes.records import RESULT_FILE, read_result
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import scenarios_of
from benchmark.probes.subjects import recorded_subjects
from ctxsift.errors import InputError

METHODS = scenarios_of(["drop", "anchored+index", "everything", ORACLE], [2000])


class FirstName:
    """A statement is said if its first name stands anywhere; one without names never is."""

    name, version, needs = "first name", "1", frozenset({Need.CONTEXT})

    def judge(self, unit: ProbeUnit) -> ProbeVerdict:
        """Return the statements that count and whose first name stands in the context."""
        assert not unit.gold
        firsts = ((index, unit.statements[index].names[:1]) for index in unit.counted.statements)
        named = {index: name[0] if isinstance(name[0], str) else name[0][0] for index, name in firsts if name}
        return ProbeVerdict({index: Mention(why=name) for index, name in named.items() if name in unit.context})


class Parrot:
    """Reads nothing but the right answer, and finds in it whatever is asked."""

    name, version, needs = "parrot", "1", frozenset({Need.GOLD})

    def __init__(self, questions: SessionProbes) -> None:
        self._known = {probe.probe_id for probe in questions.probes}

    def judge(self, unit: ProbeUnit) -> ProbeVerdict:
        """Return that all is said."""
        assert unit.probe.probe_id in self._known
        assert unit.gold
        assert not unit.context
        return ProbeVerdict({index: Mention() for index in unit.counted.statements})


class Examiner(FirstName):
    """Needs what nobody has been asked for."""

    needs = frozenset({Need.ANSWER})


@pytest.fixture(scope="module")
def subject() -> ProbedSubject:
    return recorded_subjects(["parcelgrid"])[0]


def test_a_whole_run_is_judged_by_it(tmp_path: Path, subject: ProbedSubject) -> None:
    journal, path = tmp_path / "journal", tmp_path / "r.json"
    result = run_scenarios([subject], METHODS, judge=lambda _: FirstName(), journal=journal)
    path.write_text(RESULT_FILE.text(result, "r.json"), encoding="utf-8")
    assert read_result(path).judge == "first name, version 1"
    board = next(board for board in boards(result) if board.maker is Maker.HAND)
    score = {row.method: row.score.value for row in board.rows}
    assert 0 < score["drop"] < score["anchored+index"] < score["everything"]
    assert all(not row.uptake for row in board.rows)
    rules = run_scenarios([subject], METHODS, journal=journal)
    # Both are asked the same, of the same contexts, and none goes on from what the other left.
    assert rules.judge.startswith("rules")
    for ours, theirs in zip(result.methods, rules.methods, strict=True):
        assert [(each.probe, each.at) for each in ours.asked] == [(each.probe, each.at) for each in theirs.asked]
        assert [each.sha256 for each in ours.contexts] == [each.sha256 for each in theirs.contexts]
    assert result.methods[1].asked != rules.methods[1].asked


def test_a_judge_sees_what_it_needs_and_no_more(subject: ProbedSubject) -> None:
    result = run_scenarios([subject], scenarios_of(["drop"], [2000]), judge=Parrot)
    (drop,) = result.methods
    assert {each.score for each in drop.asked} == {5}


def test_a_judge_of_answers_needs_some(subject: ProbedSubject) -> None:
    with pytest.raises(InputError, match="judges answers, but this run has none"):
        run_scenarios([subject], scenarios_of(["drop"], [2000]), judge=lambda _: Examiner())

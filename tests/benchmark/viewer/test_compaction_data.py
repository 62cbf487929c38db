"""What the page is given of a run of probes: the figures of `probes report`, and texts from which nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmark.probes.figures import boards
from benchmark.probes.records import RESULT_FILE, ProbeResult
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import scenarios_of
from benchmark.probes.states import ProbeState, posed_by_id, state_of
from benchmark.probes.subjects import recorded_subjects
from benchmark.viewer.compaction_data import ProbeRun, compaction_packs, is_probe_file, read_runs
from benchmark.viewer.compaction_records import ProbePack, SessionTexts
from ctxsift.errors import InputError
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def result() -> ProbeResult:
    scenarios = scenarios_of(["everything", "text", "anchored", "random-1", "random-2"], [2000])
    return run_scenarios(recorded_subjects(["parcelgrid"]), scenarios)


@pytest.fixture(scope="module")
def packs(result: ProbeResult) -> tuple[ProbePack, SessionTexts]:
    found = dict(compaction_packs([ProbeRun("run", result)]))
    whole, texts = found["probes-0"], found["probes-0-0"]
    assert isinstance(whole, ProbePack)
    assert isinstance(texts, SessionTexts)
    return whole, texts


def test_figures_are_those_of_the_report(result: ProbeResult, packs: tuple[ProbePack, SessionTexts]) -> None:
    whole, _ = packs
    for ours, theirs in zip(whole.boards, boards(result), strict=True):
        assert [row.label for row in ours.rows] == [row.label for row in theirs.rows]
        for row, told in zip(ours.rows, theirs.rows, strict=True):
            assert row.score.value == pytest.approx(told.score.value, abs=1e-4)
            assert {kind: each.count for kind, each in row.types.items()} == {
                kind: each.count for kind, each in told.types.items()
            }
            assert row.kept_of_same == [each and pytest.approx(each, abs=1e-4) for each in told.kept_of_same]
            assert (row.lift and row.lift.over) == (told.lift and told.lift.over)
    random = next(row for row in whole.boards[0].rows if row.label == "random 2k")
    assert [whole.methods[place] for place in random.methods] == ["random-1 2k", "random-2 2k"]


def test_each_cell_is_a_score_and_a_state(result: ProbeResult, packs: tuple[ProbePack, SessionTexts]) -> None:
    whole, _ = packs
    told = {
        (method.label, *each.key): (each.score, state_of(each, posed_by_id(result.probes)[each.session, each.probe]))
        for method in result.methods
        for each in method.asked
    }
    found = {
        (whole.methods[place], session.name, probe.id, asked.at): (score, whole.states[asked.states[place]])
        for session in whole.sessions
        for probe in session.probes
        for asked in probe.asked
        for place, score in enumerate(asked.scores)
    }
    assert found.keys() == told.keys()
    for key, (score, state) in found.items():
        assert (pytest.approx(score, abs=1e-4), state) == told[key]
    assert {state for _, state in found.values()} >= {ProbeState.KEPT, ProbeState.LOST}


def test_every_context_is_put_together_again(result: ProbeResult, packs: tuple[ProbePack, SessionTexts]) -> None:
    whole, texts = packs
    for place, method in enumerate(result.methods):
        for context in method.contexts:
            assert context.sha256 is not None
            stretches = texts.texts[texts.contexts[place][context.at]]
            pairs = zip(stretches[::2], stretches[1::2], strict=True)
            lines = [line for begin, count in pairs for line in texts.lines[begin : begin + count]]
            assert "\n".join(lines) == result.contexts[context.sha256]
    evidence = {step for probe in whole.sessions[0].probes for step in probe.evidence}
    assert {int(step) for step in texts.evidence} == evidence
    for step, (begin, count) in texts.evidence.items():
        assert texts.lines[begin].endswith(f"step {step}]")
        assert count > 0


def test_a_file_is_known_by_its_content(result: ProbeResult, tmp_path: Path) -> None:
    path = tmp_path / "anything.json"
    path.write_text(RESULT_FILE.text(result, path.name), encoding="utf-8")
    other = tmp_path / "probes.json"
    other.write_text(json.dumps({"methods": [], "sessions": []}), encoding="utf-8")
    assert is_probe_file(path)
    assert not is_probe_file(other)
    refused: list[InputError] = []
    (first, second) = read_runs([path, ROOT / "tests" / "data" / "probes" / "v1.json", other], refused)
    assert first.result == result
    assert [error.where.split(":")[0] for error in refused] == [str(other)]
    # Files of version 1 hold figures alone.
    (pack,) = (value for _, value in compaction_packs([second]))
    assert isinstance(pack, ProbePack)
    assert pack.boards
    assert not pack.sessions

"""What the page is given of a run of probes: the figures of `probes report`, and texts from which nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

from benchmark.probes.figures import boards
from benchmark.probes.records import RESULT_FILE, ProbeResult
from benchmark.probes.states import ProbeState, posed_by_id, state_of
from benchmark.viewer.compaction_data import ProbeRun, compaction_packs, is_probe_file, read_runs
from benchmark.viewer.compaction_records import ProbePack, SessionTexts
from ctxsift.errors import InputError
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def packs(probed: ProbeResult) -> tuple[ProbePack, SessionTexts]:
    found = dict(compaction_packs([ProbeRun("run", probed)]))
    whole, texts = found["probes-0"], found["probes-0-0"]
    assert isinstance(whole, ProbePack)
    assert isinstance(texts, SessionTexts)
    return whole, texts


def test_figures_are_those_of_the_report(probed: ProbeResult, packs: tuple[ProbePack, SessionTexts]) -> None:
    whole, _ = packs
    for ours, theirs in zip(whole.boards, boards(probed), strict=True):
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


def test_a_session_has_boards_of_its_own(probed: ProbeResult, packs: tuple[ProbePack, SessionTexts]) -> None:
    whole, _ = packs
    for session in whole.sessions:
        for board in session.boards:
            asked = [probe for probe in session.probes if probe.maker == board.maker]
            for row in board.rows:
                scores: dict[int, list[float]] = {}
                for probe in asked:
                    for each in probe.asked:
                        found = [score for place in row.methods if (score := each.scores[place]) is not None]
                        scores.setdefault(each.age, []).extend(found)
                assert row.score.value == pytest.approx(fmean(map(fmean, scores.values())), abs=1e-3)
            assert not board.pairs
            assert not board.drifts
    names = [session.name for session in probed.sessions]
    assert [session.name for session in whole.sessions] == names
    assert len({board.rows[-1].score.value for session in whole.sessions for board in session.boards}) > 1


def test_each_cell_is_a_score_and_a_state(probed: ProbeResult, packs: tuple[ProbePack, SessionTexts]) -> None:
    whole, _ = packs
    told = {
        (method.label, *each.key): (each.score, state_of(each, posed_by_id(probed.probes)[each.session, each.probe]))
        for method in probed.methods
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
        points, expected = told[key]
        assert score == pytest.approx(points, abs=1e-4)
        assert state == expected
    assert {state for _, state in found.values()} >= {ProbeState.KEPT, ProbeState.LOST}


def test_every_context_is_put_together_again(probed: ProbeResult, packs: tuple[ProbePack, SessionTexts]) -> None:
    whole, texts = packs
    for place, method in enumerate(probed.methods):
        for context in method.contexts:
            if context.session != whole.sessions[0].name:
                continue
            assert context.sha256 is not None
            stretches = texts.texts[texts.contexts[place][context.at]]
            pairs = zip(stretches[::2], stretches[1::2], strict=True)
            lines = [line for begin, count in pairs for line in texts.lines[begin : begin + count]]
            assert "\n".join(lines) == probed.contexts[context.sha256]
    evidence = {step for probe in whole.sessions[0].probes for step in probe.evidence}
    assert {int(step) for step in texts.evidence} == evidence
    for step, (begin, count) in texts.evidence.items():
        assert texts.lines[begin].endswith(f"step {step}]")
        assert count > 0


def test_a_file_is_known_by_its_content(probed: ProbeResult, tmp_path: Path) -> None:
    path = tmp_path / "anything.json"
    path.write_text(RESULT_FILE.text(probed, path.name), encoding="utf-8")
    other = tmp_path / "probes.json"
    other.write_text(json.dumps({"methods": [], "sessions": []}), encoding="utf-8")
    assert is_probe_file(path)
    assert not is_probe_file(other)
    refused: list[InputError] = []
    (first, second) = read_runs([path, ROOT / "tests" / "data" / "probes" / "v1.json", other], refused)
    assert first.result == probed
    assert [error.where.split(":")[0] for error in refused] == [str(other)]
    # Files of version 1 hold figures alone.
    (pack,) = (value for _, value in compaction_packs([second]))
    assert isinstance(pack, ProbePack)
    assert pack.boards
    assert not pack.sessions

"""Answers of known truth as labelled answers, and judges calibrated with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmark.cases import Corpus
from benchmark.corpus.answers import DEFAULT_ANSWERS, IRRELEVANT, RIGHT, read_answers
from benchmark.judges import agreement
from benchmark.judges.calibration import calibrate
from benchmark.judges.calibrations import CALIBRATION_FILE, known_calibration, written
from benchmark.judges.prose import CRITERIA
from benchmark.judges.records import JudgedTask, Use
from benchmark.judges.rubric import FULL, Criterion
from benchmark.record.validity import Half
from benchmark.scoring import Embedder
from benchmark.validity.__main__ import LABELLED, main
from benchmark.validity.labelled import LabelledProse, labelled_prose, scorer_on
from tests.conftest import scripted, write_matrix

_FEW = 6


@pytest.fixture(scope="module")
def labelled(corpus: Corpus) -> list[LabelledProse]:
    return labelled_prose(corpus, read_answers(), set(Half))


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A file with the first answers of six cases."""
    path = tmp_path / "answers.jsonl"
    first = [line for line in DEFAULT_ANSWERS.read_text(encoding="utf-8").splitlines() if '"writer": "first"' in line]
    cases = sorted({json.loads(line)["case_id"] for line in first})[:_FEW]
    path.write_text("\n".join(line for line in first if json.loads(line)["case_id"] in cases), encoding="utf-8")
    return path


def verdicts(path: Path, labelled: Sequence[LabelledProse], less: float = 0.0) -> str:
    """Write a file of verdicts, the labels less a little, and return how it is named as a judge."""
    lines = []
    for each in labelled:
        labels = each.answer.labels
        scores = [{"criterionId": name, "score": max(0.0, labels.get(name, 0.0) - less)} for name in CRITERIA]
        lines.append(json.dumps({"id": each.answer.judged.input_id, "criterionResults": scores}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return f"recorded:{path}"


def test_what_is_known_of_an_answer_is_its_label(labelled: list[LabelledProse]) -> None:
    assert len(labelled) == LABELLED == len({each.answer.judged.input_id for each in labelled})
    for each in labelled:
        judged, labels = each.answer.judged, each.answer.labels
        told = judged.probe_question, judged.ground_truth, judged.compacted_context
        assert told == (each.case.instruction, each.case.expected_output, "")
        assert (each.answer.session, each.answer.kind) == (each.case.capture.name, each.case.intent)
        if each.kind == IRRELEVANT:
            assert labels == {Criterion.COMPLETENESS_COVERAGE: 0.0}
        else:
            assert labels == dict.fromkeys(CRITERIA, FULL if each.kind == RIGHT else 0.0)


def test_sets_and_contexts(corpus: Corpus, labelled: list[LabelledProse]) -> None:
    held_out = labelled_prose(corpus, read_answers(), {Half.HELD_OUT}, with_context=True)
    assert len(held_out) == sum(each.half is Half.HELD_OUT for each in labelled) == 360
    assert all(each.answer.judged.compacted_context == each.case.request.raw_input for each in held_out)


def test_the_scorer_gives_its_quality_for_both(labelled: list[LabelledProse]) -> None:
    some = labelled[:3]
    judge = scorer_on(some, Embedder())
    found = judge.verdicts([each.answer.judged for each in labelled[:4]])
    # Of an answer that it was not told of it says nothing.
    assert list(found.judged) == [each.answer.judged.input_id for each in some]
    for judged in found.judged.values():
        accuracy, coverage = judged.scored.values()
        assert 0 <= accuracy == coverage <= FULL


def test_a_calibration_is_of_what_was_asked(labelled: list[LabelledProse], tmp_path: Path) -> None:
    answers = [each.answer for each in labelled[:4]]
    for asked, some in ((JudgedTask.PROBES, answers[:1]), (JudgedTask.CASES, answers)):
        written(calibrate(some, {}, asked=asked, judge="j", version="1", identity="same"), tmp_path)
    found = {asked: known_calibration("same", [tmp_path, tmp_path / "nowhere"], asked) for asked in JudgedTask}
    assert {asked: each and each.answers for asked, each in found.items()} == {
        JudgedTask.PROBES: 1,
        JudgedTask.CASES: 4,
    }
    assert known_calibration("another", [tmp_path]) is None


def test_judges_are_calibrated(
    corpus: Corpus, few: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement, "_DRAWS", 4)
    labelled = labelled_prose(corpus, read_answers(few), {Half.TUNED})
    judge = verdicts(tmp_path / "perfect.jsonl", labelled)
    out = tmp_path / "out"
    assert main(["calibrate", "--judge", judge, "--answers", str(few), "-o", str(out), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["asked"], found["answers"]) == (JudgedTask.CASES, len(labelled))
    by_name = {each["criterion"]: each for each in found["criteria"]}
    assert by_name.keys() == set(CRITERIA)
    for each in by_name.values():
        assert each["use"] == Use.MAY_BE_USED
        assert each["agreement"]["kappa"] == 1
        assert each["types"].keys() <= {"recall", "summary", "bullet-list"}
    # What is fluent and beside the question is labelled by coverage alone.
    counts = [by_name[name]["agreement"]["answers"] for name in reversed(CRITERIA)]
    assert counts == [len(labelled), len(labelled) - _FEW]
    (path,) = out.glob("*.json")
    assert CALIBRATION_FILE.read(path).answers == len(labelled)


def test_a_row_judges_what_was_drawn(
    few: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement, "_DRAWS", 4)
    said = {"criterionResults": [{"criterionId": name, "score": 3, "reasoning": "so"} for name in CRITERIA]}
    log = tmp_path / "log"
    write_matrix(tmp_path, scripted(tmp_path, "judging", default=json.dumps(said), log=str(log)))
    command = ["--answers", str(few), "calibrate", "--judge", "judging", "--judge", "rules", "--most", "24"]
    command += ["--matrix", str(tmp_path / "matrix.json"), "-o", str(tmp_path / "out")]
    assert main(command) == 0
    told = capsys.readouterr()
    assert "completeness_coverage: not to be used" in told.out
    assert "on 24 labelled answers" in told.out
    assert told.err.count("written: ") == 2
    assert len(log.read_text(encoding="utf-8").splitlines()) == 24
    # The journal answers it the next time.
    assert main(command) == 0
    assert len(log.read_text(encoding="utf-8").splitlines()) == 24


def test_who_judges_has_to_be_somebody(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--judge", "recorded:nowhere", "--answers", str(few)]) == 2
    assert "no such file" in capsys.readouterr().err

"""Stored answers judged again: blind, beside each other, and with a person's labels in their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmark.judges.protocol import JudgePrompt
from benchmark.judges.records import Use
from benchmark.judges.rubric import GUIDES, Criterion, RubricDimension
from benchmark.probes.__main__ import main
from benchmark.probes.answered import published_answering
from benchmark.probes.judged import judged_boards, to_judge
from benchmark.probes.records import RESULT_FILE, ProbeResult, read_result
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import scenarios_of
from benchmark.probes.subjects import recorded_subjects

SESSION = "wattline"
FACTUAL, COVERAGE = Criterion.ACCURACY_FACTUAL, Criterion.COMPLETENESS_COVERAGE


@pytest.fixture(scope="module")
def result() -> ProbeResult:
    subjects = recorded_subjects([SESSION])
    measured = run_scenarios(subjects, scenarios_of(["drop"], [2000]))
    published, texts = published_answering(subjects)
    assert published
    return replace(measured, answered=[published], contexts=measured.contexts | texts)


@pytest.fixture
def stored(tmp_path: Path, result: ProbeResult) -> Path:
    path = tmp_path / "r.json"
    path.write_text(RESULT_FILE.text(result, "r.json"), encoding="utf-8")
    return path


def verdicts(path: Path, result: ProbeResult, **scores: float | None) -> str:
    """Write the same scores for every answer, and return who judges so."""
    inputs = {each.judged.input_id for each in to_judge(result, result.answered[0])}
    results = [{"criterionId": name, "score": score, "reasoning": "so"} for name, score in scores.items()]
    lines = [json.dumps({"id": each, "criterionResults": results}) for each in sorted(inputs)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return f"recorded:{path}"


def test_judges_are_told_the_same_whatever_methods_are_called(result: ProbeResult) -> None:
    answering = result.answered[0]
    renamed = [
        replace(method, method=f"best of all {number}", budget=number * 1000 + 1)
        for number, method in enumerate(reversed(answering.methods))
    ]
    other = replace(answering, methods=renamed)
    for with_context in (False, True):
        told = [
            [
                message.content
                for each in to_judge(result, some, with_context=with_context)
                for message in JudgePrompt(each.judged).messages
            ]
            for some in (answering, other)
        ]
        assert told[0] == told[1]
    names = {SESSION, *(method.method for method in answering.methods if len(method.method) > 6)}
    assert not [name for name in names if any(name in each for each in told[0] if "compacted" not in each)]


def test_a_judge_is_asked_for_what_goes_with_the_question(result: ProbeResult) -> None:
    for each in to_judge(result, result.answered[0]):
        asked = each.judged.rubric_criteria
        assert (Criterion.CONTINUITY_REASONING in asked) == (each.asked.type == "decision")
        assert (Criterion.INSTRUCTION_CONSTRAINTS in asked) == (each.asked.type == "constraint")
        assert Criterion.INSTRUCTION_FORMAT not in asked
    assert {each.judged.rubric_criteria for each in to_judge(result, result.answered[0], [COVERAGE])} == {(COVERAGE,)}


def test_scores_are_means_of_dimensions_and_unscored_is_left_out(
    tmp_path: Path, stored: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    who = verdicts(tmp_path / "v.jsonl", result, accuracy_factual=5, completeness_coverage=2, completeness_depth=None)
    assert main(["judge", str(stored), "--judge", who, "--json"]) == 0
    (board,) = json.loads(capsys.readouterr().out)
    assert (board["unscored"], board["use"]["accuracy_factual"]) == (0, Use.NOT_CALIBRATED)
    for row in board["board"]["rows"]:
        figures = row["figures"]
        assert (figures["overall"]["value"], figures["score"]["value"]) == (3.5, 3.5)
        assert (figures["accuracy"]["value"], figures["completeness"]["value"]) == (5, 2)
        assert "completeness_depth" not in figures
    (found,) = judged_boards(read_result(stored))
    assert found.board.rows[0].dimensions.keys() == {RubricDimension.ACCURACY, RubricDimension.COMPLETENESS}


def test_what_is_not_calibrated_stands_in_parentheses(
    tmp_path: Path, stored: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    who = verdicts(tmp_path / "v.jsonl", result, accuracy_factual=5, completeness_coverage=2)
    assert main(["judge", str(stored), "--judge", who, "--judge", "rules", "--all"]) == 0
    shown = capsys.readouterr().out
    assert "Not calibrated: nothing of it may be used" in shown
    assert "(3.50)" in shown
    # Rules have earned coverage, by the calibration that ships.
    assert "May be used: completeness_coverage" in shown
    for form in ("--markdown", "--csv", "--json", ""):
        assert main(["report", str(stored), *([form] if form else [])]) == 0
        assert "v.jsonl" in capsys.readouterr().out


def test_unscored_answers_fail(
    tmp_path: Path, stored: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "v.jsonl"
    who = verdicts(path, result, accuracy_factual=4)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[len(lines) // 2 :]), encoding="utf-8")
    command = ["judge", str(stored), "--judge", who]
    code, told = main(command), capsys.readouterr()
    assert (code, "of the answers are unscored (--fail-unscored 0.2)" in told.err) == (1, True)
    assert main([*command, "--fail-unscored", "1"]) in (0, 1)
    path.write_text(json.dumps({"id": "another", "criterionResults": []}), encoding="utf-8")
    assert main(command) == 1
    assert "has scored none of the answers" in capsys.readouterr().err


def test_two_judges_and_a_persons_labels(
    tmp_path: Path, stored: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    mild = verdicts(tmp_path / "mild.jsonl", result, completeness_coverage=5)
    labels = tmp_path / "mine.jsonl"
    command = ["judge", str(stored), "--judge", mild, "--judge", "rules", "--criteria", COVERAGE]
    assert main([*command, "--label", str(labels), "--json"]) == 0
    asked = labels.read_text(encoding="utf-8")
    labels.unlink()
    assert main([*command, "--label", str(labels)]) == 0
    shown = capsys.readouterr().out
    assert f"rules and {mild}" in shown
    assert labels.read_text(encoding="utf-8") == asked
    lines = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 10
    assert all(line["criterionResults"][0]["score"] is None for line in lines)
    lines[0]["criterionResults"][0]["score"] = 1
    lines[1]["criterionResults"][0]["score"] = 7
    labels.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert main([*command, "--label", str(labels)]) == 0
    told = capsys.readouterr().err
    assert "1 answer labelled; results use these labels from now on" in told
    assert "completeness_coverage has the score 7; write 0 to 5" in told
    found = read_result(stored)
    assert [each.scored for each in found.labels] == [{COVERAGE: 1}]
    boards = list(judged_boards(found))
    assert [board.labelled for board in boards] == [1, 1]
    assert min(row.score.value for row in boards[0].board.rows) < 5
    # A later judge does not take it back.
    assert main(command[:4]) == 0
    assert [each.scored for each in read_result(stored).labels] == [{COVERAGE: 1}]
    assert main([*command[:4], "--label", str(labels)]) == 2


def test_labelled_answers_go_out_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", "--for-judging", "a.jsonl"]) == 2
    assert "create one without a model: python -m benchmark.probes run --answerer" in capsys.readouterr().err
    assert main(["export", "--for-judging", "a.jsonl", "--labelled", "24"]) == 0
    assert len(Path("a.jsonl").read_text(encoding="utf-8").splitlines()) == 24


def test_faults_of_verdicts_are_named(
    tmp_path: Path, stored: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    who = verdicts(tmp_path / "v.jsonl", result, accuracy_factual=7, accuracy_fact=3, completeness_coverage=4)
    assert main(["judge", str(stored), "--judge", who]) == 0
    told = capsys.readouterr().err
    assert "accuracy_factual has the score 7; write 0 to 5, or null for unscored" in told
    assert "'accuracy_fact' is no criterion; did you mean accuracy_factual" in told
    assert "more scores are left out" in told


def test_verdicts_on_another_answerer_are_not_foreign(tmp_path: Path, stored: Path, result: ProbeResult) -> None:
    (first,) = result.answered[:1]
    methods = [
        replace(method, asked=[replace(each, answer=f"{each.answer} So it is.") for each in method.asked])
        for method in first.methods
    ]
    both = replace(result, answered=[first, replace(first, answerer="another", methods=methods)])
    stored.write_text(RESULT_FILE.text(both, str(stored)), encoding="utf-8")
    path = tmp_path / "v.jsonl"
    who, others = verdicts(path, result, completeness_coverage=3), tmp_path / "others.jsonl"
    verdicts(others, replace(result, answered=both.answered[1:]), completeness_coverage=1)
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{others.read_text(encoding='utf-8')}", encoding="utf-8")
    assert main(["judge", str(stored), "--judge", who]) == 0
    judged = read_result(stored).judged
    assert [each.foreign for each in judged] == [0, 0]
    assert [{each.scored[COVERAGE] for each in some.answers} for some in judged] == [{3}, {1}]


def test_answers_go_out_and_come_back(
    tmp_path: Path, stored: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    packet = tmp_path / "packet.jsonl"
    export = ["export", "--for-judging", str(packet), "--result", str(stored), "--labelled", "16"]
    assert main(export) == 0
    lines = [json.loads(line) for line in packet.read_text(encoding="utf-8").splitlines()]
    ids = {each.judged.input_id for each in to_judge(result, result.answered[0])}
    assert ids < {line["id"] for line in lines}
    assert {frozenset(line) - {"id"} for line in lines} == {
        frozenset({"probe_question", "model_response", "compacted_context", "ground_truth", "rubric_criteria"})
    }
    prompt = packet.with_name("packet.jsonl.prompt.txt").read_text(encoding="utf-8")
    assert all(f"{criterion}: {GUIDES[criterion].question}" in prompt for criterion in Criterion)
    assert main(export) == 2
    assert "already exists" in capsys.readouterr().err
    scored: list[dict[str, Any]] = [
        {"id": line["id"], "criterionResults": [{"criterionId": FACTUAL, "score": 3}]} for line in lines
    ]
    path = tmp_path / "v.jsonl"
    path.write_text("\n".join(map(json.dumps, scored)), encoding="utf-8")
    assert main(["judge", str(stored), "--judge", f"recorded:{path}"]) == 0

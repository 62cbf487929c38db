"""Who judges: a row of the matrix, asked as every row is, or a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.judges.named_judges import Judge, JudgeOptions, RowJudge, judges_of
from benchmark.judges.protocol import JudgeInput
from benchmark.judges.records import JudgedAnswer
from benchmark.judges.rubric import Criterion, overall_score
from ctxsift.errors import InputError
from tests.support.fault_service import Fault, FaultService, completion, hang_up, refusal

FACTUAL, COVERAGE, DEPTH = (
    Criterion.ACCURACY_FACTUAL,
    Criterion.COMPLETENESS_COVERAGE,
    Criterion.COMPLETENESS_DEPTH,
)
QUESTION, GOLD = "Which error came first?", "a 401 from /api/auth/login"


def judged(answer: str, *criteria: Criterion) -> JudgeInput:
    return JudgeInput(QUESTION, answer, criteria or (FACTUAL, COVERAGE), GOLD)


def verdict(**scores: Any) -> str:
    results = [{"criterionId": name, "score": score, "reasoning": "seen"} for name, score in scores.items()]
    return json.dumps({"criterionResults": results, "aggregateScore": 4.8})


def options(folder: Path, row: dict[str, Any], **more: Any) -> JudgeOptions:
    matrix = folder / "matrix.json"
    common = {"name": "mine", "phase": "p", "quantization": "none", "device": "cpu"}
    matrix.write_text(json.dumps({"scenarios": [common | row]}), encoding="utf-8")
    return JudgeOptions(folder / "journals", matrix, **more)


def no_rules() -> Judge:
    raise AssertionError("rules are not asked")


def scripted(folder: Path, answers: Mapping[str, str], **more: Any) -> Judge:
    """Return a row that replies by a script to what has a text in its prompt."""
    script = folder / "script.json"
    script.write_text(json.dumps({"answers": list(answers.items()), "default": "?"}), encoding="utf-8")
    row = {"track": "control", "backend": "scripted", "model": str(script)}
    (judge,) = judges_of(["mine"], options(folder, row, **more), no_rules)
    return judge


def said(judge: Judge, *inputs: JudgeInput) -> list[JudgedAnswer]:
    found = judge.verdicts(inputs).judged
    return [found[each.input_id] for each in inputs]


def test_a_row_gives_exact_figures(tmp_path: Path) -> None:
    first, second = judged("A 401 at the login", FACTUAL, COVERAGE, DEPTH), judged("Something failed")
    judge = scripted(
        tmp_path,
        {
            "A 401 at the login": verdict(accuracy_factual=5, completeness_coverage="4.0", completeness_depth=3),
            "Something failed": verdict(accuracy_factual=2),
        },
    )
    one, two = said(judge, first, second)
    assert one.scored == {FACTUAL: 5, COVERAGE: 4, DEPTH: 3}
    # Means of dimensions, 5 and 3.5, whatever the judge writes beside.
    assert overall_score(one.scored) == 4.25
    assert one.aggregate == 4.8
    assert two.scored == {FACTUAL: 2}
    assert two.scores[COVERAGE].score is None
    assert two.scores[COVERAGE].reasoning == "the judge gave no score"


def test_a_reply_that_is_no_verdict_is_unscored_and_never_zero(tmp_path: Path) -> None:
    judge = scripted(tmp_path, {"well": verdict(accuracy_factual=0, completeness_coverage=0)})
    bad, good = said(judge, judged("nothing that the script knows"), judged("it goes well"))
    assert (bad.scored, bad.unread, bad.replies) == ({}, 1, 1)
    assert "the reply is no verdict" in bad.scores[FACTUAL].reasoning
    assert (good.scored, good.unread) == ({FACTUAL: 0, COVERAGE: 0}, 0)


def test_without_a_right_answer_only_what_needs_none_is_asked(tmp_path: Path) -> None:
    judge = scripted(tmp_path, {"plain": verdict(instruction_format=4, accuracy_factual=5)})
    free = JudgeInput(QUESTION, "plain", (FACTUAL, Criterion.INSTRUCTION_FORMAT))
    (found,) = said(judge, free)
    assert found.scored == {Criterion.INSTRUCTION_FORMAT: 4}
    assert found.scores[FACTUAL].reasoning == "no ground truth was given"
    nothing = JudgeInput(QUESTION, "nothing", (FACTUAL,))
    assert judge.verdicts([nothing]).judged == {}


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a judge at a service, and the service, for a way to reply."""

    def start(service: FaultService, **more: Any) -> RowJudge:
        monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", service.url)
        monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
        row = {"track": "remote", "model": "openai/m", "device": "remote", "concurrency": 2}
        (judge,) = judges_of(["mine"], options(tmp_path, row, remote=True, **more), no_rules)
        assert isinstance(judge, RowJudge)
        return judge

    return start


def asked_about(request: dict[str, Any]) -> str:
    told: str = request["messages"][-1]["content"]
    return told.partition("model_response:")[2]


GOOD = verdict(accuracy_factual=4, completeness_coverage=3)


def test_what_cannot_be_read_is_asked_for_once_more(served: Any) -> None:
    replies = {"first": iter(["I would say it is fine.", GOOD]), "second": iter(["Well.", "Well, well."])}

    def chosen(request: dict[str, Any]) -> Fault:
        return completion(next(replies["first" if "first" in asked_about(request) else "second"]))

    with FaultService(chosen=chosen) as service:
        found = said(served(service), judged("first"), judged("second"))
        assert len(service.requests) == 4
    assert [each.scored for each in found] == [{FACTUAL: 4, COVERAGE: 3}, {}]
    assert [each.unread for each in found] == [0, 1]


@pytest.mark.parametrize("fault", [refusal(400, "no"), completion("{" * 400), completion(""), hang_up])
def test_a_fault_costs_its_own_answer_alone(served: Any, fault: Fault) -> None:
    def chosen(request: dict[str, Any]) -> Fault:
        return fault if "faulty" in asked_about(request) else completion(GOOD)

    with FaultService(chosen=chosen) as service:
        faulty, *rest = said(served(service), judged("faulty"), *(judged(f"answer {n}") for n in range(3)))
    assert faulty.scored == {}
    assert faulty.unread == 1
    assert all(each.scored == {FACTUAL: 4, COVERAGE: 3} for each in rest)


def test_repeats_have_a_median_and_a_spread_and_are_asked_once(served: Any) -> None:
    scores = {0: 1, 1: 5, 2: 4}

    def chosen(request: dict[str, Any]) -> Fault:
        assert request["temperature"] == 0.7
        return completion(verdict(accuracy_factual=scores[request["seed"]], completeness_coverage=2))

    with FaultService(chosen=chosen) as service:
        judge = served(service, repeats=3)
        (found,) = said(judge, judged("thrice"))
        assert (found.scores[FACTUAL].score, found.scores[FACTUAL].spread) == (4, 4)
        assert (found.scores[COVERAGE].score, found.scores[COVERAGE].spread) == (2, 0)
        assert said(judge, judged("thrice")) == [found]
        assert len(service.requests) == 3


def test_a_judge_is_known_by_model_service_and_way_of_asking(served: Any) -> None:
    with FaultService() as one, FaultService() as other:
        known = [served(one), served(other), served(one, repeats=2), served(one, with_context=True)]
        assert len({each.identity for each in known}) == len(known)
        assert served(one).identity == known[0].identity


def test_what_leaves_the_machine_needs_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
    row = {"track": "remote", "model": "openai/m", "device": "remote"}
    with pytest.raises(InputError, match="sends its questions to a provider"):
        judges_of(["mine"], options(tmp_path, row), no_rules)


@pytest.mark.slow
def test_a_packaged_model_judges(tmp_path: Path) -> None:
    row = {"track": "cpu", "model": "package:qwen2.5-coder-0.5b", "max_output_tokens": 256}
    (judge,) = judges_of(["mine"], options(tmp_path, row, repeats=2), no_rules)
    (found,) = said(judge, judged("A 401 came first, from /api/auth/login.", COVERAGE))
    # Held to the schema, each reply is a verdict.
    assert (found.replies, found.unread) == (2, 0)
    assert set(found.scored) == {COVERAGE}


def recorded(folder: Path, *lines: str) -> Judge:
    path = folder / "verdicts.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    (judge,) = judges_of([f"recorded:{path}"], JudgeOptions(folder), no_rules)
    return judge


def test_verdicts_from_elsewhere(tmp_path: Path) -> None:
    ours, twin = judged("A 401"), replace(judged("A 401"), rubric_criteria=(COVERAGE,))
    results = [{"criterionId": "accuracy_factual", "score": 5}, {"criterionId": "completeness_coverage", "score": None}]
    line = json.dumps({"id": ours.input_id, "criterionResults": results})
    judge = recorded(tmp_path, line, json.dumps({"id": "another", "criterionResults": results}))
    found = judge.verdicts([ours, judged("other words")])
    assert found.foreign == 1
    assert found.judged[ours.input_id].scored == {FACTUAL: 5}
    assert set(found.judged) == {ours.input_id}
    # The same answer, asked for other criteria.
    assert judge.verdicts([twin]).judged[twin.input_id].scored == {}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["{"], ":1: is not JSON"),
        (['{"id": "a", "score": 5}'], ":1: is not a verdict"),
        (['{"id": "a", "criterionResults": []}'] * 2, ":2: judges a twice"),
        ([""], "contains no verdicts"),
    ],
)
def test_files_that_hold_no_verdicts(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        recorded(tmp_path, *lines)

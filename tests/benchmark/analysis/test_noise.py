"""Two runs of one identity: what is no noise is refused, and what is left is how far chance goes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import fields, replace

from benchmark import compare
from benchmark.analysis.noise import noise
from benchmark.matrix import Scenario
from benchmark.record.identity import identity_differences
from benchmark.record.read import StoredResult, read_result, stored
from benchmark.record.result import Answered, LoadedBackend, Result, Run
from benchmark.record.write import write_result
from benchmark.run.identity import AskedModel, LoadedModel
from ctxsift.backends.base import CANARY
from ctxsift.errors import InputError
from tests.conftest import published_layout
from tests.support.agreeing import agreeing
from tests.support.results import template

CASES = 16
BACKEND = LoadedBackend(
    name="llama_cpp",
    engine="engine",
    engine_version="1",
    architecture="llama",
    chat_template="model",
    chat_template_note="",
    chat_template_sha256="a" * 64,
    context_tokens=4096,
    threads=2,
    settings={"seed": 0, CANARY: "one"},
)
# What differs from run to run, is a name for people, or is told by something else: the hash of the weights.
NEED_NOT = {
    Scenario: {"name", "phase", "enabled", "gguf_filename", "install"},
    LoadedBackend: {"environment", "model_file"},
    Run: {
        "timestamp",
        "complete",
        "error",
        "wall_s",
        "statistics",
        "case_ids",
        "environment",
        "disturbance",
        "latency_ignored",
    },
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A run of a few cases, as if a local model had been asked."""
    found = template(tmp_path_factory.mktemp("run"), "--max-cases", str(CASES))
    assert found.run is not None
    return timed(replace(found, run=replace(found.run, backend=BACKEND)), [1000.0] * CASES)


def timed(result: Result, times_ms: Sequence[float], *, said: str = "") -> Result:
    """Return the result with these times; `said` is what the first case was answered with."""
    cases = []
    for number, (case, time_ms) in enumerate(zip(result.cases, times_ms, strict=True)):
        assert isinstance(case, Answered)
        raw = replace(case.raw, output=said) if said and not number else case.raw
        cases.append(replace(case, raw=raw, generation=dataclasses.replace(case.generation, total_ms=time_ms)))
    return replace(result, cases=cases)


def scored(result: Result, score: float) -> Result:
    """Return the result with another score of its first case."""
    first, *others = result.cases
    assert isinstance(first, Answered)
    return replace(result, cases=[replace(first, recovered=replace(first.recovered, case_score=score)), *others])


def in_memory(result: Result, name: str = "a") -> StoredResult:
    return stored(Path(f"{name}.json"), result)


def differences(before: Result, after: Result) -> list[str]:
    assert before.run is not None
    assert after.run is not None
    return identity_differences((before.scenario, before.run), (after.scenario, after.run))


def changed(value: Any) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, dict):
        return {**value, "another": "1"}
    if isinstance(value, (list, tuple)):
        return type(value)([*value, "another"])
    return "b" * 64 if value is None else f"{value}b"


def test_equal_runs_make_no_noise(run: Result) -> None:
    found = noise(in_memory(run), in_memory(run, "b"))
    assert (found.cases, found.equal_answers) == (CASES, 1.0)
    assert found.mean_difference == found.largest_difference == found.final_difference == 0
    assert found.same_machine
    assert found.latency is not None
    assert (found.latency.median_ratio, found.latency.wide_ratio, found.latency.sums_ratio) == (1, 1, 1)
    assert found.latency.floor == pytest.approx(0)


def test_noise_is_what_differs(run: Result) -> None:
    times = np.full(CASES, 1000.0)
    times[:4] = 500.0
    times[4:6] = 4000.0
    other = scored(timed(run, times.tolist(), said="else"), 0.25)
    found = noise(in_memory(scored(run, 0.75)), in_memory(other, "b"))
    assert found.equal_answers == pytest.approx(1 - 1 / CASES)
    assert found.largest_difference == pytest.approx(50)
    assert found.mean_difference == pytest.approx(50 / CASES)
    assert found.final_difference < 0
    assert found.latency is not None
    assert found.latency.median_ratio == 1
    assert 2 < found.latency.wide_ratio <= 4
    assert found.latency.sums_ratio == pytest.approx(times.sum() / 1000 / CASES)
    assert found.latency.floor is not None
    assert found.latency.floor > found.latency.sums_ratio - 1


def test_the_floor_does_not_depend_on_which_is_first(run: Result) -> None:
    slower = timed(run, np.linspace(1000, 1500, CASES).tolist())
    one, other = (noise(in_memory(a), in_memory(b, "b")).latency for a, b in ((run, slower), (slower, run)))
    assert one is not None
    assert other is not None
    assert one.floor == pytest.approx(other.floor, rel=0.02)
    assert one.wide_ratio == pytest.approx(other.wide_ratio)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Scenario)])
def test_a_row_is_the_same_but_for_what_need_not_be(run: Result, field: str) -> None:
    other = dataclasses.replace(run.scenario, **{field: changed(getattr(run.scenario, field))})
    _check(run, replace(run, scenario=other), field, "scenario", NEED_NOT[Scenario])


@pytest.mark.parametrize("field", [field.name for field in fields(Run) if field.name != "backend"])
def test_a_run_is_the_same_but_for_what_need_not_be(run: Result, field: str) -> None:
    assert run.run is not None
    value = getattr(run.run, field)
    if field in ("environment", "disturbance", "statistics"):
        other = replace(value, **{fields(type(value))[0].name: "b" if field != "disturbance" else 0.5})
    else:
        other = changed(value)
    _check(run, replace(run, run=replace(run.run, **{field: other})), field, "", NEED_NOT[Run])


@pytest.mark.parametrize("field", [field.name for field in fields(LoadedBackend)])
def test_what_is_loaded_is_the_same_but_for_what_need_not_be(run: Result, field: str) -> None:
    assert run.run is not None
    backend = replace(BACKEND, **{field: changed(getattr(BACKEND, field))})
    _check(run, replace(run, run=replace(run.run, backend=backend)), field, "backend", NEED_NOT[LoadedBackend])


def _check(before: Result, after: Result, field: str, part: str, need_not: set[str]) -> None:
    found = differences(before, after)
    assert bool(found) == (field not in need_not)
    assert all(f"{part}.{field}".lstrip(".") in difference for difference in found)


def test_all_that_can_change_an_answer_is_compared() -> None:
    asked = {field.name for field in dataclasses.fields(AskedModel)} - {"batch"} | {"concurrency"}
    assert asked <= {field.name for field in dataclasses.fields(Scenario)} - NEED_NOT[Scenario]
    # Of the backend, "name" is what is loaded.
    loaded = {field.name for field in dataclasses.fields(LoadedModel)} - {"backend"} | {"name"}
    assert loaded <= {field.name for field in fields(LoadedBackend)} - NEED_NOT[LoadedBackend]


def test_what_was_drawn_to_watch_the_engine_may_differ(run: Result) -> None:
    assert run.run is not None
    other = replace(run.run, backend=replace(BACKEND, settings={"seed": 0, CANARY: "two"}))
    assert not differences(run, replace(run, run=other))


def test_other_machines_are_said(run: Result) -> None:
    assert run.run is not None
    other = replace(run.run, environment=replace(run.run.environment, cpu="another"))
    assert not noise(in_memory(run), in_memory(replace(run, run=other), "b")).same_machine


def test_published_files_do_not_tell(run: Result, tmp_path: Path) -> None:
    path = published_layout(tmp_path / "a.result.json", "a", {"one": 0.4})
    with pytest.raises(InputError, match="does not record how it was run"):
        noise(read_result(path), in_memory(run))


@pytest.fixture
def pair(run: Result, tmp_path: Path) -> list[str]:
    """The files of two runs."""
    times = np.linspace(900, 1200, CASES).tolist()
    paths = [tmp_path / name / "x.json" for name in ("first", "second")]
    for path, result in zip(paths, (run, timed(run, times, said="else")), strict=True):
        path.parent.mkdir()
        write_result(path, agreeing(result))
    return list(map(str, paths))


def test_the_command_says_what_a_verdict_on_speed_needs(pair: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["--same", *pair]) == 0
    shown = capsys.readouterr().out
    assert "93.8%" in shown
    assert "a verdict on speed needs a difference above " in shown
    assert compare.main(["--same", *pair, "--markdown"]) == 0
    text = capsys.readouterr().out
    assert "two runs of one identity" in text
    assert "| equal answers | 93.8% |" in text
    assert compare.main(["--same", *pair, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["equal_answers"] == pytest.approx(1 - 1 / CASES)
    assert document["latency"]["floor"] > 0
    assert document["warnings"] == []


def test_the_command_names_what_differs(
    run: Result, pair: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.run is not None
    path = tmp_path / "other.json"
    other = agreeing(run)
    assert other.run is not None
    write_result(path, replace(other, run=replace(other.run, weights_sha256="c" * 64, seed=3)))
    assert compare.main(["--same", pair[0], str(path)]) == 2
    told = capsys.readouterr().err
    assert "seed is 0 and 3" in told
    assert 'weights_sha256 is null and "ccc' in told
    assert len(told.splitlines()) == 1
    assert compare.main(["--same", *pair, str(path)]) == 2
    assert "compares two runs, but found 3" in capsys.readouterr().err


def test_a_gate_is_for_other_runs(pair: list[str]) -> None:
    with pytest.raises(SystemExit):
        compare.main(["--same", "--fail-on-drop", "1", *pair])

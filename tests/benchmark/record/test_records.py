"""Records: what is written is read back, older and younger files are borne, the schema says what is written."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from benchmark.cases import Corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.outcome import grade, question_of, unanswered
from benchmark.grading.result import STATISTICS, build_result
from benchmark.matrix import Scenario, Track
from benchmark.record.base import from_json, to_json
from benchmark.record.earlier import with_text
from benchmark.record.journal import AnswerLine, JournalLine, LoadedLine, parse_line
from benchmark.record.read import as_result
from benchmark.record.result import (
    Disturbance,
    Environment,
    InstrumentFailure,
    ModelFailure,
    Result,
    Run,
    Scored,
    Warmup,
)
from benchmark.record.schema import result_schema, schema_keys
from benchmark.record.write import result_text
from benchmark.scoring import SCORER_VERSION, Embedder
from benchmark.statistics import Clusters
from ctxsift.asking import Answer
from ctxsift.backends.base import Generation, LoadInfo

SHA = "a" * 64
LOAD = LoadInfo("llama_cpp", "engine", "1.0", "llama", "model", "", SHA, 4096, 2, 12.0, {"seed": 0})


def generation(text: str, **fields: Any) -> Generation:
    known = {"finish_reason": "stop", "prompt_tokens": 10, "completion_tokens": 3, "prefill_ms": 1.0, "decode_ms": 2.0}
    return Generation(text=text, total_ms=3.0, model="m", **{**known, **fields})


@pytest.fixture(scope="module")
def result(corpus: Corpus, embedder: Embedder) -> Result:
    """A result with all three outcomes, built by the real path."""
    cases = corpus.cases[:8]
    texts = [case.expected_output for case in cases[:5]] + ["", "I should say ok."]
    known: dict[str, Any] = {"recovery_enabled": True, "attempts": 1, "elapsed_ms": 4.0}
    outcomes = [
        grade(case, Answer(generation(text), 0), embedder, **known) for case, text in zip(cases, texts, strict=False)
    ]
    outcomes.append(unanswered(cases[7], "the model process died (SIGKILL)", 2))
    run = Run(
        timestamp="20261101T000000Z",
        complete=False,
        error=None,
        wall_s=1.0,
        seed=0,
        corpus_sha256=corpus.sha256,
        corpus_cases=len(corpus.cases),
        recovery_version="2",
        scorer_version=SCORER_VERSION,
        statistics=STATISTICS,
        case_ids=[case.case_id for case in cases],
        prompt_version="1",
        prompt_sha256=SHA,
        recovery_enabled=True,
        weights_sha256=None,
        max_output_tokens=64,
        backend=None,
        environment=Environment(
            platform="p",
            python="3",
            cpu="c",
            cpu_cores_physical=2,
            cpu_cores_logical=2,
            memory_bytes=1,
            packages={"numpy": "2"},
            git_commit=None,
            git_dirty=None,
        ),
        disturbance=Disturbance(other_cpu_share=0.0, load_average=(0.0, 0.0), latency_clean=True),
    )
    scenario = Scenario("x", Track.CPU, "test", "m", "none", "cpu", "m.gguf")
    return build_result(scenario, Warmup(), run, outcomes, cases, ReferenceScores(embedder))


def written(result: Result) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(result_text(result))
    return document


def test_a_result_is_read_back_as_it_was_written(result: Result) -> None:
    assert as_result(Path("x.json"), written(result)).record == result
    assert {type(case) for case in result.cases} == {Scored, ModelFailure, InstrumentFailure}


def test_the_file_is_flat_where_the_published_layout_is(result: Result) -> None:
    case, summary = written(result)["cases"][0], written(result)["summary"]
    for key in ("case_id", "inference_ms", "prompt_tokens", "exact_preservation_ratio", "output", "raw_view"):
        assert key in case
    for key in ("final_score", "avg_inference_ms", "compression_ratio", "normalised_score", "reference", "raw_view"):
        assert key in summary
    assert not {"question", "generation", "recovered", "text", "total_ms"} & case.keys()


def test_a_result_without_an_answer_keeps_its_counts(result: Result) -> None:
    bare = msgspec.structs.replace(result, cases=[], summary=type(result.summary)(planned_count=8, case_count=0))
    read = as_result(Path("x.json"), written(bare)).record
    assert read.summary.recovered is None
    assert read.summary.final_score is None
    assert read.summary.planned_count == 8


def test_unknown_keys_are_passed_over_and_missing_ones_have_their_defaults(result: Result) -> None:
    document = written(result)
    document["cases"][0] |= {"a_younger_key": [1], "recovery_steps": []}
    document["run"]["younger"] = {"deep": 1}
    for key in ("reasoning", "cost_usd", "begins_in_reasoning", "gpu_peak_bytes", "elapsed_ms"):
        del document["cases"][0][key]
    case = as_result(Path("x.json"), document).record.cases[0]
    assert isinstance(case, Scored)
    assert (case.generation.reasoning, case.elapsed_ms) == ("", None)


def test_the_schema_is_that_of_what_is_written(result: Result) -> None:
    schema = result_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = written(result)
    assert not list(validator.iter_errors(document))
    spoils: tuple[Callable[[dict[str, Any]], object], ...] = (
        lambda d: d["cases"][0].update(case_score=1.5),
        lambda d: d["cases"][0].pop("exact_preservation_ratio"),
        lambda d: d["run"].pop("corpus_sha256"),
        lambda d: d["summary"].update(final_score="high"),
    )
    for spoil in spoils:
        damaged = copy.deepcopy(document)
        spoil(damaged)
        assert list(validator.iter_errors(damaged))


def test_every_key_that_is_written_is_in_the_schema(result: Result) -> None:
    def keys(value: Any) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(keys, value))
        return set(value).union(*map(keys, value.values())) if isinstance(value, dict) else set()

    document = written(result)
    # Mappings whose keys are data: groups, packages, settings, names of baselines, components, failures.
    named = {"breakdowns", "packages", "settings", "controls", "reasons", "model_failure_counts", "environment"}

    def prune(value: Any) -> Any:
        if isinstance(value, list):
            return [prune(item) for item in value]
        if isinstance(value, dict):
            return {k: None if k in named else prune(v) for k, v in value.items()}
        return value

    tags = {"outcome"}
    assert keys(prune(document)) <= schema_keys() | tags


@pytest.mark.parametrize(
    "line",
    [
        LoadedLine(load=LOAD, at_s=1.0),
        AnswerLine(
            case_id="a", attempt=1, key="k", generation=generation("x\ud800"), input_chars_cut=0, elapsed_ms=1.0
        ),
    ],
)
def test_journal_lines_are_read_back(line: JournalLine) -> None:
    assert parse_line(json.dumps(to_json(line)).encode()) == line


def test_a_younger_field_of_a_generation_does_not_damage_older_lines() -> None:
    line = AnswerLine(case_id="a", attempt=1, key="k", generation=generation("x"), input_chars_cut=0)
    older = {key: value for key, value in to_json(line).items() if key not in ("cost_usd", "gpu_peak_bytes", "at_s")}
    assert from_json(AnswerLine, older) == line
    # Written again, it has every key, as a line of today has.
    assert to_json(from_json(AnswerLine, older)) == to_json(line)
    assert parse_line(json.dumps(older | {"a_younger_key": 1}).encode()) == line
    assert parse_line(b'{"type": "of a younger kind", "x": 1}') is None


def test_files_that_name_no_capture_have_the_same_cases_together(corpus: Corpus) -> None:
    questions = [question_of(case) for case in corpus.cases]
    named = Clusters.of(question.cluster for question in questions)
    assert named == Clusters.of(case.capture.name for case in corpus.cases)
    assert named.count < len(questions)
    older = [msgspec.structs.replace(question, capture=None) for question in questions]
    assert Clusters.of(question.cluster for question in older) == named
    # A published file may tell neither.
    bare = [msgspec.structs.replace(question, raw_input=None) for question in older]
    assert Clusters.of(question.cluster for question in bare).count == len(questions)


def test_the_capture_is_written_and_may_be_missing(result: Result) -> None:
    document = written(result)
    names = [case["capture"] for case in document["cases"]]
    read = as_result(Path("x.json"), document)
    assert [case.question.capture for case in read.record.cases] == names
    for case in document["cases"]:
        del case["capture"]
    older = as_result(Path("x.json"), document)
    assert {case.question.capture for case in older.record.cases} == {None}
    clusters, before = ([figures.cluster for figures in each.cases.values()] for each in (read, older))
    assert Clusters.of(clusters) == Clusters.of(before)
    assert len(set(clusters)) == len(set(names[:-1])) < len(clusters)


_AT_ONCE = """
import enum, json, sys, threading, time
from benchmark.record.base import from_json
from benchmark.record.result import Outcome

value = json.loads(sys.argv[1])
found, start, usual = [], threading.Barrier(4), enum.EnumMeta.__setattr__

def slowly(*given):
    # msgspec keeps there what it knows of an enumeration, in the middle of reading a type.
    time.sleep(0.02)
    usual(*given)

def read():
    start.wait()
    found.append(type(from_json(Outcome, value)).__name__)

enum.EnumMeta.__setattr__ = slowly
threads = [threading.Thread(target=read) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(*found)
"""


def test_several_threads_may_be_the_first_to_read_a_record(corpus: Corpus, embedder: Embedder) -> None:
    answer = Answer(generation("nothing of use"), 0)
    outcome = grade(corpus.cases[0], answer, embedder, recovery_enabled=True, attempts=1, elapsed_ms=1.0)
    done = subprocess.run(
        [sys.executable, "-c", _AT_ONCE, json.dumps(with_text(to_json(outcome)))],
        cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "Scored Scored Scored Scored\n"), done.stderr

"""Results from outside are read or refused in bounded memory; none is written that would not be read back."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET, structs

from benchmark.cases import Corpus
from benchmark.grading.outcome import grade
from benchmark.record.read import read_result
from benchmark.record.result import Answered, InstrumentFailure, Result
from benchmark.record.write import result_text
from benchmark.scoring import Embedder
from ctxsift.asking import Answer
from ctxsift.backends.base import Generation
from ctxsift.errors import InputError
from tests.conftest import published_layout, scripted, write_matrix
from tests.support.depth import FUZZ
from tests.support.measured import measured
from tests.support.results import template

pytestmark = pytest.mark.slow

MOST_MB = 500
MILLION = 1_000_000
HOSTILE: dict[str, Callable[[], bytes]] = {
    "lists.json": lambda: b"[" + b"[]," * (40 * MILLION) + b"[]]",
    "lists.json.gz": lambda: gzip.compress(b"[" + b"[]," * (160 * MILLION) + b"[]]", 1),
    "dicts in a case.json": lambda: (
        b'{"scenario": {}, "summary": {}, "cases": [' + b'{"a":1},' * (14 * MILLION) + b"1]}"
    ),
    "keys.json": lambda: b"{" + b",".join(b'"key%d":0.5' % number for number in range(2_400_000)) + b"}",
    "text.json": lambda: b'{"a": "' + b"A" * (120 * MILLION) + b'"}',
    "wide text.json": lambda: b'{"a": "' + b"A" * (120 * MILLION) + "😀".encode() + b'"}',
    "quotes.json": lambda: b'"' * (120 * MILLION),
    "deep.json": lambda: b'{"a":' * (20 * MILLION),
    "parts.json.gz": lambda: gzip.compress(b"") * 100_000,
    "packed twice.json.gz": lambda: gzip.compress(gzip.compress(b"[" * (300 * MILLION), 1), 1),
    "cut.json.gz": lambda: gzip.compress(b'{"a": 1}' * 1000)[:-20],
}


# What is large in a way of its own; the others under FUZZ.
IN_CI = ("lists.json.gz", "wide text.json", "deep.json", "parts.json.gz", "cut.json.gz")


@pytest.mark.parametrize("name", HOSTILE if FUZZ else IN_CI)
def test_a_hostile_result_is_refused_in_bounded_memory(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(HOSTILE[name]())
    done = measured("benchmark.report", name, cwd=tmp_path, timeout_s=120)
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.peak_mb < MOST_MB


@pytest.mark.parametrize("kind", ["fifo", "zero", "folder"])
@pytest.mark.parametrize("option", ["--matrix", "--dataset", "--env-file"])
def test_what_is_no_file_is_refused_by_every_option(tmp_path: Path, option: str, kind: str) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    odd = tmp_path / "odd.jsonl"
    if kind == "fifo":
        os.mkfifo(odd)
    elif kind == "zero":
        odd.symlink_to("/dev/zero")
    else:
        odd.mkdir()
    done = measured("benchmark.runner", option, odd.name, "--max-cases", "1", cwd=tmp_path, timeout_s=60)
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1
    assert "odd.jsonl" in done.stderr


@pytest.mark.parametrize("command", ["report", "compare", "rescore", "viewer"])
def test_what_is_no_file_in_a_tree_of_results_is_not_waited_for(tmp_path: Path, command: str) -> None:
    for name in ("a", "b"):
        published_layout(tmp_path / f"{name}.json", name, {"x": 0.5, "y": 0.75})
    os.mkfifo(tmp_path / "c.json")
    os.mkfifo(tmp_path / "c.json.gz")
    (tmp_path / "d.json").symlink_to("/dev/zero")
    done = measured(f"benchmark.{command}", ".", cwd=tmp_path, timeout_s=100)
    assert "Traceback" not in done.stderr
    # Results of the published layout cannot be scored again, which is said.
    assert done.code == (2 if command == "rescore" else 0), done.stderr


def test_rescore_does_not_wait_for_a_report_that_is_a_pipe(tmp_path: Path) -> None:
    template(tmp_path, "--max-cases", "2")
    (report,) = tmp_path.rglob("report.md")
    content = report.read_bytes()
    report.unlink()
    os.mkfifo(report)
    os.mkfifo(report.with_name(".report.md.tmp"))
    done = measured("benchmark.rescore", ".", cwd=tmp_path, timeout_s=60)
    assert "Traceback" not in done.stderr
    report.with_name(".report.md.tmp").unlink()
    assert measured("benchmark.rescore", ".", cwd=tmp_path, timeout_s=60).code == 0
    assert report.read_bytes() == content


GENERATION = Generation("an answer", "stop", 1, 1, 1.0, 1.0, 2.0, "m")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"total_ms": float("nan")}, "inference_ms"),
        ({"prompt_tokens": -1}, "/generation/prompt_tokens|/prompt_tokens"),
        ({"model": 3}, "/model"),
        ({"cost_usd": float("inf")}, "/cost_usd"),
    ],
)
def test_an_outcome_that_would_not_be_read_is_told_as_one(
    corpus: Corpus, embedder: Embedder, changes: dict[str, Any], place: str
) -> None:
    answer = Answer(replace(GENERATION, **changes), 0)
    outcome = grade(corpus.cases[0], answer, embedder, recovery_enabled=True, attempts=1, elapsed_ms=1.0)
    assert isinstance(outcome, InstrumentFailure)
    assert outcome.error.startswith("the outcome cannot be recorded: ")
    assert any(each.rpartition("/")[2] in outcome.error for each in place.split("|"))
    # Nor is the answer itself.
    assert outcome.unscored_answer is UNSET


def test_an_answer_that_can_be_read_is_kept_where_its_outcome_cannot(corpus: Corpus, embedder: Embedder) -> None:
    outcome = grade(
        corpus.cases[0], Answer(GENERATION, 0), embedder, recovery_enabled=True, attempts=1, elapsed_ms=float("nan")
    )
    assert isinstance(outcome, InstrumentFailure)
    assert "/elapsed_ms" in outcome.error
    assert outcome.unscored_answer is not UNSET
    assert outcome.unscored_answer.generation == GENERATION


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return template(tmp_path_factory.mktemp("run"), "--max-cases", "6")


def test_a_result_is_read_before_it_is_written(result: Result, tmp_path: Path) -> None:
    assert result.run is not None
    assert result.run.backend is not None
    backend = result.run.backend
    spoiled: list[tuple[str, Result]] = [
        ("/run/wall_s", structs.replace(result, run=structs.replace(result.run, wall_s=float("nan")))),
        ("/run/timestamp", structs.replace(result, run=structs.replace(result.run, timestamp="../x"))),
        (
            "/run/backend/settings/a/0",
            structs.replace(
                result,
                run=structs.replace(result.run, backend=structs.replace(backend, settings={"a": [float("inf")]})),
            ),
        ),
        ("/cases/6/case_id", structs.replace(result, cases=[*result.cases, result.cases[0]])),
        ("/summary/coverage", structs.replace(result, summary=structs.replace(result.summary, coverage=2.0))),
    ]
    for place, record in spoiled:
        refused = ""
        try:
            result_text(record)
        except InputError as error:
            refused = str(error)
        assert place in refused
    half = structs.replace(result, run=structs.replace(result.run, error="half a character: \ud800"))
    path = tmp_path / "half.json"
    path.write_bytes(result_text(half).encode("utf-8", "backslashreplace"))
    assert read_result(path).record == half
    assert json.loads(path.read_bytes())["run"]["error"].endswith("\ud800")


def test_figures_that_no_engine_can_mean_leave_a_result_that_can_be_read(corpus: Corpus, embedder: Embedder) -> None:
    from benchmark.grading.summary import summarise

    extreme = [
        replace(GENERATION, total_ms=5e-324, prefill_ms=5e-324, decode_ms=1e12, prompt_tokens=2**53),
        replace(GENERATION, total_ms=1e12, prefill_ms=1e12, decode_ms=1e12, completion_tokens=2**53, cost_usd=1e9),
    ]
    outcomes = [
        grade(case, Answer(generation, 0), embedder, recovery_enabled=True, attempts=1, elapsed_ms=1.0)
        for case, generation in zip(corpus.cases[:6], extreme * 3, strict=True)
    ]
    scores = {name: [0.5] * 6 for name in ("gold", "empty")}
    summary = summarise(6, outcomes, scores)
    assert summary.latency is not None
    assert summary.latency.prompt_tokens is None
    assert summary.latency.prefill_tokens_per_s is None or summary.latency.prefill_tokens_per_s < 1e13


def test_a_result_that_no_reader_takes_is_not_written(result: Result) -> None:
    first = result.cases[0]
    assert isinstance(first, Answered)
    large = structs.replace(first, raw=structs.replace(first.raw, output="a" * 1_000_000))
    with pytest.raises(InputError, match=r"would be larger than 128 MB.*the answers are in the journal; run fewer"):
        result_text(structs.replace(result, cases=[large] * 130))

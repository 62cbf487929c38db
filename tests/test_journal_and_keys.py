"""The journal survives torn lines; the resume key changes with everything that can change an answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.corpus import Case, Corpus
from benchmark.matrix import Scenario, Track
from benchmark.run.journal import Journal, read_journal
from benchmark.run.plan import resume_key
from ctxsift.backends.base import Limits, LoadInfo
from ctxsift.contracts import Intent
from ctxsift.errors import InputError

SCENARIO = Scenario("cpu-x", Track.CPU, "test", "model-x", "none", "cpu", "m.gguf")
LOAD = LoadInfo("llama_cpp", "engine", "1.0", "llama", "model", "", "a" * 64, 4096, 2, 12.0, {"seed": 0})


def key(case: Case, scenario: Scenario = SCENARIO, load: LoadInfo = LOAD, tokens: int = 64, weights: str = "w") -> str:
    return resume_key(case, scenario, limits=Limits(tokens), load=load, weights_sha256=weights)


@pytest.fixture
def case(corpus: Corpus) -> Case:
    return corpus.cases[0]


@pytest.mark.parametrize(
    "change",
    [
        {"raw_input": "other"},
        {"instruction": "other"},
        {"intent": Intent.YAML},
    ],
)
def test_key_changes_with_the_request(case: Case, change: dict[str, Any]) -> None:
    assert key(replace(case, **change)) != key(case)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"quantization": "bnb-8bit"},
        {"device": "cuda"},
        {"dtype": "bfloat16"},
        {"attn_implementation": "eager"},
    ],
)
def test_key_changes_with_the_scenario(case: Case, change: dict[str, Any]) -> None:
    assert key(case, replace(SCENARIO, **change)) != key(case)


@pytest.mark.parametrize(
    "change",
    [
        {"backend": "other"},
        {"engine": "other"},
        {"engine_version": "2.0"},
        {"chat_template_sha256": "b" * 64},
        {"context_tokens": 8192},
        {"threads": 4},
        {"settings": {"seed": 1}},
        {"settings": {"seed": 0, "use_extra_bufts": False}},
    ],
)
def test_key_changes_with_what_was_loaded(case: Case, change: dict[str, Any]) -> None:
    assert key(case, load=replace(LOAD, **change)) != key(case)


def test_key_changes_with_limit_and_weights(case: Case) -> None:
    assert len({key(case), key(case, tokens=65), key(case, weights="v")}) == 3


@pytest.mark.parametrize(
    "change", [{"title": "other"}, {"expected_output": "other"}, {"required_anchors": ()}, {"case_id": "other"}]
)
def test_key_does_not_change_with_gold(case: Case, change: dict[str, Any]) -> None:
    assert key(replace(case, **change)) == key(case)


def test_key_does_not_change_with_names_and_times(case: Case) -> None:
    assert key(case, replace(SCENARIO, name="renamed", phase="other", enabled=False)) == key(case)
    assert key(case, load=replace(LOAD, load_ms=99.0, settings={"seed": 0, "canary": "died once"})) == key(case)


def test_journal_reads_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, {"scenario": "x"}) as journal:
        journal.append({"type": "generation", "text": "line\nbreak \ud800 é"})
    records = read_journal(path)
    assert [record["type"] for record in records] == ["run", "generation"]
    assert records[1]["text"] == "line\nbreak \ud800 é"


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_torn_last_line_is_left_out(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, {}) as journal:
        journal.append({"type": "generation", "case_id": "one"})
        journal.append({"type": "generation", "case_id": "two"})
    path.write_bytes(path.read_bytes()[:-cut])
    assert [record.get("case_id") for record in read_journal(path)] == [None, "one"]


def test_damage_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, {}) as journal:
        journal.append({"type": "generation"})
        journal.append({"type": "generation"})
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[1][:5], *lines[2:]]))
    with pytest.raises(InputError, match=r"j\.jsonl:2: the journal is damaged"):
        read_journal(path)


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text('{"type": "other"}\n')
    with pytest.raises(InputError, match="is no journal"):
        read_journal(path)

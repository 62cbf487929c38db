"""What a model is: by its header, by its hash, or not known; and rows that say something else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import UNSET, UnsetType, structs

from benchmark.analysis.leaderboard import build_leaderboard
from benchmark.analysis.model_facts import facts_of, label_against
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.matrix import Scenario, Track
from benchmark.record.base import from_json, to_json
from benchmark.record.identity import identity_differences
from benchmark.record.read import StoredResult, find_results, stored
from benchmark.record.result import LoadedBackend
from benchmark.render.models import NOT_KNOWN, TITLES, fact_texts, model_rows
from ctxsift.backends.base import ModelFile
from tests.conftest import ROOT

FILE = ModelFile(4_700_000_000, 7_600_000_000, "Q4_K_M", "Seven", "Seven 7B", 32_768, "mit")


@pytest.fixture(scope="module")
def packaged() -> StoredResult:
    """A result as older files are: with the hash of its weights, and nothing of their header."""
    return with_file(find_results([PACKAGED_RESULTS / "easy"])[0], UNSET)


def with_file(result: StoredResult, file: ModelFile | UnsetType) -> StoredResult:
    run = result.record.run
    assert run is not None
    assert run.backend is not None
    backend = structs.replace(run.backend, model_file=file)
    return stored(Path("x.json"), structs.replace(result.record, run=structs.replace(run, backend=backend)))


@pytest.mark.parametrize(
    ("quantization", "name", "file", "header", "label"),
    [
        ("q4_k_m", "m", None, "Q8_0", "Q4_K_M"),
        ("Q4-K-M", "m", None, "Q4_K_M", ""),
        ("none", "m", None, "Q4_1", ""),
        ("none", "cpu-qwen2.5-0.5b-q4_k_m", None, "Q4_K_M", ""),
        ("none", "cpu-qwen2.5-0.5b-q4_k_m", None, "Q5_K_M", "Q4_K_M"),
        ("none", "m", "model.IQ3_XXS.gguf", "IQ3_XXS", ""),
        ("none", "m", "model.bf16.gguf", "F16", "BF16"),
        ("q4_k", "m", None, "Q4_K_M", ""),
        ("Q4_K_M", "m", None, "Q4_K", ""),
        # What no table names contradicts nothing.
        ("ud-q4_k_xl", "m", None, "Q4_K_M", ""),
        ("q4_0_4_4", "m", None, "Q8_0", ""),
        ("q4_k_m", "m", None, "", ""),
    ],
)
def test_a_label_that_the_header_contradicts_is_found(
    quantization: str, name: str, file: str | None, header: str, label: str
) -> None:
    row = Scenario(name, Track.CPU, "p", "m.gguf", quantization, "cpu", file)
    assert label_against(row, ModelFile(quantization=header)) == label


def test_a_file_that_was_read_is_told_in_words(packaged: StoredResult) -> None:
    # Its licence is that of the table, where its hash stands; the header may leave it out, or name another one.
    told = dict(zip(TITLES, fact_texts(facts_of(with_file(packaged, FILE))), strict=True))
    assert (told["quantization"], told["parameters"], told["file"]) == ("Q4_K_M", "7.6 B", "4.7 GB")
    assert (told["context"], told["base model"], told["licence"]) == ("32,768 tokens", "Seven 7B (qwen2)", "Apache-2.0")


def test_older_results_tell_what_their_hash_tells_and_else_nothing(packaged: StoredResult) -> None:
    told = dict(zip(TITLES, fact_texts(facts_of(packaged)), strict=True))
    assert (told["file"], told["licence"], told["quantization"]) == ("0.5 GB", "Apache-2.0", NOT_KNOWN)
    assert told["peak memory"] == "0.8 GB"
    earlier = find_results([ROOT / "tests" / "data" / "results" / "v2"])
    assert model_rows(build_leaderboard(earlier)) == ()


def test_the_header_is_one_key_of_a_result_and_no_part_of_its_identity(packaged: StoredResult) -> None:
    told = with_file(packaged, FILE)
    then, now = packaged.record.run, told.record.run
    assert then is not None
    assert now is not None
    assert "model_file" not in to_json(then.backend)
    assert from_json(LoadedBackend, to_json(now.backend)) == now.backend
    scenario = packaged.record.scenario
    assert identity_differences((scenario, then), (scenario, now)) == []
    assert identity_differences((scenario, then), (replace(scenario, model="other"), now)) != []

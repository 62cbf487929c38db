"""Real runs of the packaged models come with the benchmark, and every reader of results can show them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.cases import EASY_TIER, Corpus
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.record.read import find_results
from benchmark.scoring import SCORER_VERSION
from ctxsift.backends.packaged import packaged_models
from tests.support.models_table import packaged_runs

EASY = PACKAGED_RESULTS / "easy"


def call(module: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmark.{module}", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_every_packaged_model_of_the_extras_has_a_run_of_the_published_weights() -> None:
    by_hash = {model.sha256: model.name for model in packaged_models().values() if model.extra}
    for name, runs in packaged_runs().items():
        found = {run.record.run.weights_sha256 for run in runs if run.record.run is not None}
        assert found == set(by_hash), name


def test_the_runs_are_whole_and_of_todays_corpus_and_scorer(corpus: Corpus) -> None:
    easy = {case.case_id for case in corpus.cases if EASY_TIER in case.tags}
    for result in find_results([PACKAGED_RESULTS]):
        run = result.record.run
        assert run is not None
        assert run.complete, result.path
        assert run.scorer_version == SCORER_VERSION, "python -m benchmark.rescore benchmark/packaged_results"
        assert set(result.cases) <= {case.case_id for case in corpus.cases}
        if result.path.is_relative_to(EASY):
            assert set(result.cases) == easy
        assert result.path.suffix == ".gz"


def test_a_packaged_model_beats_the_best_baseline_beyond_chance() -> None:
    best = packaged_runs()["easy"][0].record.summary.standing
    assert best is not None
    assert best.reference.beats_floor


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "shown"), [("viewer", "viewer.html: "), ("report", "cpu-qwen2.5-coder-1.5b"), ("compare", "cpu-qwen2.5")]
)
def test_where_there_are_no_results_these_are_shown(tmp_path: Path, module: str, shown: str) -> None:
    done = call(module, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
    assert "no results/ folder here; showing the runs that ship with the benchmark" in done.stderr
    (tmp_path / "results").mkdir()
    assert "ship with the benchmark" not in call(module, folder=tmp_path).stderr
    # Controls alone check an installation; they leave nothing else to look at.
    controls = call("runner", "--scenario", "control-gold", "--max-cases", "4", folder=tmp_path)
    assert controls.stdout.splitlines()[-1] == "control-gold: 100.0, as expected"
    beside = call(module, folder=tmp_path)
    assert (beside.returncode, shown.replace("viewer.html", "results/viewer.html") in beside.stdout) == (0, True)
    assert "results/ contains only reference rows; showing them beside the runs that ship" in beside.stderr
    # The result of a model, whatever it is called, is looked at alone.
    shutil.copy(next(EASY.glob("*.json.gz")), tmp_path / "results" / "a.json.gz")
    assert "ship with the benchmark" not in call(module, folder=tmp_path).stderr

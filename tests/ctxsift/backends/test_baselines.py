"""Floor and ceiling: compressors without a model, and gold, through the path of every answer."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from benchmark.cases import Corpus
from benchmark.grading import baselines
from benchmark.grading.baselines import ReferenceScores, read_shipped, shipped_scores, shipped_text
from benchmark.scoring import Embedder
from ctxsift.backends.base import Limits, ModelOptions, ModelSpec, RequestBackend
from ctxsift.backends.baselines import BASELINES, BaselinesBackend, baseline_answer
from ctxsift.backends.registry import create_backend
from ctxsift.errors import InputError, LoadError
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from tests.conftest import ROOT, Run

pytestmark = pytest.mark.slow


def test_a_run_pays_for_the_cases_it_has(corpus: Corpus, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[str] = []

    def counted(name: str, request: Request) -> str:
        answered.append(name)
        return baseline_answer(name, request)

    monkeypatch.setattr(baselines, "baseline_answer", counted)
    references = ReferenceScores(embedder, shipped=None)
    for _ in range(2):
        assert {len(values) for values in references.scores(corpus.cases[:3]).values()} == {3}
    assert answered == [name for name in BASELINES for _ in range(3)]
    # The packaged corpus was scored before; what has changed since is scored again.
    answered.clear()
    as_before = references.scores(corpus.cases[:3])
    for name, scores in ReferenceScores(embedder).scores(corpus.cases[:3]).items():
        assert scores == pytest.approx(as_before[name], abs=1e-5)
    assert answered == []
    changed = dataclasses.replace(corpus.cases[0], instruction="Say ok.")
    ReferenceScores(embedder).scores([changed, *corpus.cases[1:3]])
    assert answered == list(BASELINES)


@pytest.mark.parametrize("content", ["{", '{"versions": ["6"], "cases": {}}'])
def test_scores_that_ship_and_are_damaged(corpus: Corpus, embedder: Embedder, tmp_path: Path, content: str) -> None:
    file = tmp_path / "reference_scores.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="does not contain valid reference scores"):
        ReferenceScores(embedder, shipped=file).scores(corpus.cases[:1])


def test_scores_that_ship_and_were_changed(corpus: Corpus, tmp_path: Path) -> None:
    case = corpus.cases[0]
    file = tmp_path / "reference_scores.json"
    written = shipped_text(shipped_scores([case], {"gold": [0.5]}))
    for changed in (written.replace("0.5", "0.6"), written.replace("0.5", "1.5"), written.replace("sha256", "sha")):
        file.write_text(changed, encoding="utf-8")
        with pytest.raises(InputError, match="does not contain valid reference scores"):
            read_shipped(file)
    file.write_text(shipped_text(shipped_scores([case], {"gold": [1.5]})), encoding="utf-8")
    with pytest.raises(InputError, match="<= 1"):
        read_shipped(file)


def test_scores_of_another_scorer_are_of_no_use(corpus: Corpus, embedder: Embedder, tmp_path: Path) -> None:
    case = corpus.cases[0]
    wrong = shipped_scores([case], {"gold": [0.5]})
    for versions, score in ((wrong.versions, 0.5), (("0", "0", "0"), 1.0)):
        file = tmp_path / f"{score}.json"
        file.write_text(shipped_text(replace(wrong, versions=versions)), encoding="utf-8")
        assert ReferenceScores(embedder, shipped=file).scores([case])["gold"] == [score]


def test_the_phase_runs_all_of_them_by_the_path_of_every_answer(runner: Run, tmp_path: Path) -> None:
    done = runner("--matrix", str(ROOT / "matrix.json"), "--phase", "control", "--max-cases", "8", "--name", "c")
    assert done.returncode == 0, done.stderr
    found = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "results").glob("*/control-*.json")}
    assert set(found) == {f"control-{name}" for name in ("gold", *BASELINES)}
    assert found["control-gold"]["summary"]["final_score"] == 100.0
    assert found["control-gold"]["summary"]["normalised_score"] == 100.0
    for name in BASELINES:
        summary = found[f"control-{name}"]["summary"]
        # What every result says of the controls is what running them gives.
        inside = found["control-gold"]["summary"]["reference"]["controls"][name]
        assert summary["quality_core"] * 100 == pytest.approx(inside, abs=1e-3)
        assert summary["normalised_score"] <= 1e-4
        assert not summary["reference"]["beats_floor"]
    assert found["control-gold"]["summary"]["reference"]["beats_floor"]
    # What is a row of its own is not shown again.
    assert "control-extractor" in done.stdout
    assert "baseline extractor" not in done.stdout
    assert "(ok always answers ok); both are scored on the same 8 cases" in done.stdout


def test_the_board_at_the_end_of_a_run_has_them(runner: Run, tmp_path: Path) -> None:
    matrix = ("--matrix", str(ROOT / "matrix.json"))
    done = runner(*matrix, "--scenario", "control-empty", "--max-cases", "3", "--name", "c")
    assert done.returncode == 0, done.stderr
    (report,) = (tmp_path / "results").glob("c-*/report.md")
    for text in (done.stdout, report.read_text(encoding="utf-8")):
        assert "gold (reference)" in text
        assert "baseline ok" in text
        assert "scored on the same 3 cases" in text


def answer(name: str, raw_input: str, instruction: str = "Which test failed?", intent: Intent = Intent.SUMMARY) -> str:
    backend = create_backend("controls")
    backend.load(ModelSpec(name))
    return cast(RequestBackend, backend).generate_request(Request(raw_input, instruction, intent), Limits(1)).text


LOG = "\n".join([*(f"tests/test_{n}.py ok" for n in range(30)), "FAILED tests/test_sum.py::test_carry", "done in 2 s"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("empty", ""),
        ("echo", LOG),
        ("first-20-lines", "\n".join(LOG.splitlines()[:20])),
        ("last-20-lines", "\n".join(LOG.splitlines()[-20:])),
        ("error-lines", "FAILED tests/test_sum.py::test_carry"),
        ("last-error-line", "FAILED tests/test_sum.py::test_carry"),
        ("ok", "ok"),
        ("shaped-ok", "ok"),
        ("instruction", "Which test failed?"),
    ],
)
def test_baselines_do_what_their_names_say(name: str, expected: str) -> None:
    assert answer(name, LOG) == expected


def test_tf_idf_picks_rare_lines_that_share_words_with_the_instruction() -> None:
    picked = answer("tf-idf", LOG, "Which test FAILED, and was it test_carry?").splitlines()
    assert len(picked) == 5
    assert "FAILED tests/test_sum.py::test_carry" in picked
    assert picked == [line for line in LOG.splitlines() if line in picked]
    assert answer("tf-idf", "", "x") == ""


def test_the_last_error_line_is_the_last_line_where_nothing_fails() -> None:
    assert answer("last-error-line", "error: one\nerror: two\nbye\n\n") == "error: two"
    assert answer("last-error-line", "hello\nbye\n  \n") == "bye"
    assert answer("last-error-line", "") == ""


def test_an_unknown_baseline_is_named() -> None:
    with pytest.raises(LoadError, match="no baseline 'tfidf'; did you mean tf-idf"):
        BaselinesBackend().load(ModelSpec("tfidf"))


def test_gold_refuses_what_is_no_case(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no such file or folder"):
        create_backend("gold").load(ModelSpec("gold", options=ModelOptions(dataset=str(tmp_path / "none"))))

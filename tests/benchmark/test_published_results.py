"""The published results come with the benchmark, and the page about them tells what follows from their files."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmark.cli.command import PUBLISHED_RESULTS, shown_results
from benchmark.record.following import raw_view, recovered_view, score_of_view
from benchmark.report import main as report
from benchmark.scoring import scenario_score
from benchmark.viewer.__main__ import main as viewer
from tests.conftest import ROOT
from tests.support.marks import renewed
from tests.support.published_table import (
    PUBLISHED_PAGE,
    answers_of,
    published_intents,
    published_results,
    published_texts,
)

CLOSE = 1e-9
PAGE = PUBLISHED_PAGE.read_text(encoding="utf-8")


def published(name: str) -> Any:
    """Return a published file as it is, read by nothing of ours."""
    return json.loads(gzip.decompress((PUBLISHED_RESULTS / f"{name}.json.gz").read_bytes()))


def cell(name: str, column: str) -> str:
    """Return what the page says of a result, in the first column whose title begins so."""
    tables: list[str] = re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE)
    for table in tables:
        head, _, *rows = [[each.strip() for each in line.strip("|\n").split("|")] for line in table.splitlines()]
        for place, title in enumerate(head):
            if title.startswith(column):
                return next(row[place] for row in rows if name in row)
    raise LookupError(column)


@pytest.mark.slow
def test_the_page_tells_what_the_command_makes() -> None:
    assert renewed(PAGE, published_texts()) == PAGE, "python -m tests.support.published_table"


def test_all_of_them_ship_once_and_are_small() -> None:
    files = sorted(PUBLISHED_RESULTS.iterdir())
    assert len(files) == 28
    assert all(file.name.endswith(".json.gz") for file in files)
    assert sum(file.stat().st_size for file in files) <= 2_300_000
    for known in (ROOT / "tests" / "data" / "results" / "published").glob("*.gz"):
        # Of these, a part of the cases is kept as it was published.
        part, whole = (
            json.loads(gzip.decompress(known.read_bytes())),
            published(known.name.removesuffix(".result.json.gz")),
        )
        assert part["summary"] == whole["summary"]
        assert all(case in whole["cases"] for case in part["cases"])
    assert "benchmark/published_results" in (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert "Copyright (c) 2026 Aakash" in (ROOT / "LICENSES" / "MIT-CtxSift.txt").read_text(encoding="utf-8")


def test_our_formula_makes_of_their_components_their_scores() -> None:
    intents = published_intents()

    compared = 0
    for result in published_results():
        answers, summary = answers_of(result), result.record.summary
        for view_of, theirs in ((recovered_view, summary.recovered), (raw_view, summary.raw_view)):
            assert theirs is not None
            assert summary.latency is not None
            scores = [score_of_view(intents[answer.question.case_id], view_of(answer)) for answer in answers]
            for answer, score in zip(answers, scores, strict=True):
                assert abs(score - view_of(answer).case_score) < CLOSE, (result.name, answer.question.case_id)
            whole = scenario_score(scores, summary.latency.avg_inference_ms)
            assert abs(whole.quality_core - theirs.quality_core) < CLOSE
            assert abs(whole.final_score - theirs.final_score) < CLOSE
            compared += len(scores)
    assert compared == 15_680


def test_three_figures_by_hand() -> None:
    # The worst tenth of 280 sorted scores ends nine tenths of the way from the 28th to the 29th.
    scores = sorted(case["case_score"] for case in published("gpu-qwen3.5-2b")["cases"])
    tenth = scores[27] + 0.9 * (scores[28] - scores[27])
    core = 100 * (0.8 * sum(scores) / 280 + 0.2 * tenth)
    assert f"{core:.1f}" == cell("gpu-qwen3.5-2b", "quality core").split()[0] == "71.8"

    silent = [case for case in published("remote-gpt-5-mini")["cases"] if not case["raw_view"]["output"].strip()]
    assert len(silent) == 130 == int(cell("remote-gpt-5-mini", "no answer"))
    assert "did not answer 130 of the 280 cases" in " ".join(PAGE.split())

    about = [c["case_score"] for c in published("cpu-qwen3-0.6b")["cases"] if c["family"] == "structured"]
    about.sort()
    # 23 scores: the tenth ends a fifth of the way from the third to the fourth.
    core = 100 * (0.8 * sum(about) / 23 + 0.2 * (about[2] + 0.2 * (about[3] - about[2])))
    assert f"{core:.1f}" == cell("cpu-qwen3-0.6b", "structured (23)").split()[0] == "15.0"


def test_one_case_score_by_hand() -> None:
    case = published("cpu-LFM2-350M-Extract")["cases"][0]
    assert case["validation_status"] == "soft_accepted"
    blended = 0.45 * 1.0 + 0.25 * 0.8792163578405174 + 0.20 * 0.5 + 0.10 * 0.13114754098360656
    score = 0.85 * (0.75 + 0.25 * 0.36967213114754094) * blended
    assert score == pytest.approx(case["case_score"], abs=CLOSE)


def test_intervals_hold_the_scores_that_the_files_tell() -> None:
    for result in published_results():
        recovered = result.record.summary.recovered
        assert recovered is not None
        interval = recovered.intervals.final_score
        assert interval is not None
        assert interval[0] < recovered.final_score < interval[1]


def test_their_name_stands_for_them_unless_something_else_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_results("published") == PUBLISHED_RESULTS
    assert report(["published", "--slice", "domain=rust"]) == 0
    told = capsys.readouterr()
    assert "remote-gpt-4.1" in told.out
    assert "only domain rust: 2 cases on 2 raw outputs" in told.err
    # Nobody counted their tokens.
    assert "saved" not in told.out
    (tmp_path / "published").mkdir()
    assert shown_results("published") == Path("published")


@pytest.mark.slow
def test_the_page_of_them_is_made_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert viewer(["published"]) == 0
    assert (tmp_path / "viewer.html").stat().st_size < 4_000_000
    assert not list(PUBLISHED_RESULTS.glob("*.html"))

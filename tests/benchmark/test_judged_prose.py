"""A judge's second opinion on prose in stored results: beside the score, which knows nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import jsonschema
import pytest

from benchmark import report, rescore
from benchmark.cases import Corpus
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.grading.result import part_of
from benchmark.judges.calibration import calibrate
from benchmark.judges.calibrations import written
from benchmark.judges.named_judges import RecordedJudge
from benchmark.judges.prose import CRITERIA, ProseAnswers
from benchmark.judges.records import JudgedTask
from benchmark.record.read import find_results
from benchmark.record.schema import result_schema
from benchmark.record.write import result_text
from benchmark.scoring.said import is_prose
from tests.conftest import scenario, scripted, write_matrix
from tests.support.agreeing import agreeing

PROSE, OTHERS = 6, 2


@pytest.fixture(scope="module")
def small(corpus: Corpus) -> str:
    """A result with a few cases in prose, and a few others; the first answer in prose has no text."""
    whole = next(iter(find_results([PACKAGED_RESULTS])))
    by_id = {case.case_id: case for case in corpus.cases}
    asked = [by_id[case.question.case_id] for case in whole.record.cases]
    prose = [case.case_id for case in asked if is_prose(case)][:PROSE]
    chosen = {*prose, *[case.case_id for case in asked if not is_prose(case)][:OTHERS]}
    part = part_of(whole.record, lambda question: question.case_id in chosen, None, None)
    document = json.loads(result_text(agreeing(part)))
    row = next(row for row in document["cases"] if row["case_id"] == prose[0])
    row["raw_view"]["output"] = ""
    return json.dumps(document)


@pytest.fixture
def path(small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of its own, brought up to date, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "results" / "run" / "small.json"
    path.parent.mkdir(parents=True)
    path.write_text(small, encoding="utf-8")
    assert rescore.main([str(path)]) == 0
    return path


@pytest.fixture
def verdicts(path: Path, corpus: Corpus) -> Callable[..., Path]:
    """Return what writes a file of verdicts on the answers that have a text, in their order."""

    def write(*scores: tuple[float | None, float | None]) -> Path:
        (result,) = find_results([path])
        told = ProseAnswers(result.record, {case.case_id: case for case in corpus.cases}).inputs()
        lines = []
        for (judged, _), values in zip(told, scores, strict=False):
            results = [
                {"criterionId": name, "score": value, "reasoning": "so"}
                for name, value in zip(CRITERIA, values, strict=True)
            ]
            lines.append(json.dumps({"id": judged.input_id, "criterionResults": results}))
        file = path.parent.parent.parent / "verdicts.jsonl"
        file.write_text("\n".join(lines), encoding="utf-8")
        return file

    return write


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def without_judge(document: dict[str, Any]) -> dict[str, Any]:
    """Return a result without all that a judge says."""
    summary = {key: value for key, value in document["summary"].items() if key != "prose"}
    cases = [{key: value for key, value in row.items() if key != "judged_quality"} for row in document["cases"]]
    return {key: value for key, value in document.items() if key != "judge"} | {"summary": summary, "cases": cases}


def test_a_result_that_nobody_judged_says_nothing_of_it(path: Path) -> None:
    document = read(path)
    assert document == without_judge(document)


def test_the_scorer_as_judge_says_what_it_says(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = read(path)
    assert rescore.main([str(path), "--judge", "rules"]) == 0
    after = read(path)
    jsonschema.validate(after, result_schema())
    # The headline and all else stay.
    assert without_judge(after) == before
    judged = [row for row in after["cases"] if "judged_quality" in row]
    assert len(judged) == PROSE
    for row in judged:
        assert row["judged_quality"]["quality"] == pytest.approx(row["summary_quality_ratio"])
    assert judged[0]["judged_quality"] == {"quality": 0.0, "criteria": {}}
    prose = after["summary"]["prose"]
    assert (prose["judged_count"], prose["unscored_count"]) == (PROSE, 0)
    assert prose["judged_quality"] == pytest.approx(prose["scorer_quality"])
    assert prose["judged_quality"] == pytest.approx(100 * fmean(row["judged_quality"]["quality"] for row in judged))
    low, high = prose["judged_quality_interval"]
    assert low <= prose["judged_quality"] <= high
    assert (after["judge"]["name"], after["judge"]["seconds"], after["judge"]["calibrated"]) == ("rules", None, {})
    told = capsys.readouterr().out
    assert "prose judged by rules" in told
    assert "not calibrated with prose" in told


def test_what_a_judge_leaves_out_is_unscored(
    path: Path, verdicts: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    # The second has one score of two, the fourth and fifth have none.
    file = verdicts((5, 4), (5, None), (0, 0))
    judge = RecordedJudge(f"recorded:{file}", file)
    name, version, identity = judge.name, judge.version, judge.identity
    for asked in JudgedTask:
        written(
            calibrate([], {}, asked=asked, judge=name, version=version, identity=identity), Path("results/calibrations")
        )
    assert rescore.main([str(path), "--judge", f"recorded:{file}"]) == 0
    told = capsys.readouterr()
    assert "3 answers unscored" in told.err
    document = read(path)
    found = [row["judged_quality"]["quality"] for row in document["cases"] if "judged_quality" in row]
    assert found == [0.0, 0.9, None, 0.0, None, None]
    prose = document["summary"]["prose"]
    assert (prose["judged_count"], prose["unscored_count"]) == (3, 3)
    assert prose["judged_quality"] == pytest.approx(30)
    # Below five captures there is none.
    assert prose["judged_quality_interval"] is None
    assert report.main([str(path)]) == 0
    assert "over 3 answers" in capsys.readouterr().out
    assert report.main([str(path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["boards"][0]["results"]
    assert (row["judge"], row["prose"]) == (document["judge"], prose)


def test_who_scores_nothing_fails(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = read(path)
    for row in document["cases"]:
        # Nothing of it has a text, but what a judge was asked about.
        row["raw_view"]["output"] = "It broke."
    path.write_text(json.dumps(document), encoding="utf-8")
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "of-another", "criterionResults": []}', encoding="utf-8")
    assert rescore.main([str(path), "--judge", f"recorded:{other}"]) == 1
    assert f"{PROSE} answers unscored" in capsys.readouterr().err
    assert read(path)["summary"]["prose"]["judged_quality"] is None


def test_verdicts_stay_with_their_answers(
    path: Path, verdicts: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert rescore.main([str(path), "--judge", f"recorded:{verdicts((5, 5), (4, 4), (3, 3), (2, 2), (1, 1))}"]) == 0
    judged = path.read_bytes()
    capsys.readouterr()
    assert rescore.main([str(path)]) == 0
    assert "nothing changed" in capsys.readouterr().out
    assert path.read_bytes() == judged
    document = read(path)
    row = [row for row in document["cases"] if "judged_quality" in row][1]
    row["raw_view"]["output"] = "Something else was said."
    path.write_text(json.dumps(document), encoding="utf-8")
    assert rescore.main([str(path)]) == 0
    after = read(path)
    assert sum("judged_quality" in row for row in after["cases"]) == PROSE - 1
    prose = after["summary"]["prose"]
    assert prose["judged_quality"] == pytest.approx(100 * (0 + 0.8 + 0.6 + 0.4 + 0.2) / 5)
    assert after["judge"] == document["judge"]


def test_a_row_is_asked_once(path: Path, tmp_path: Path) -> None:
    said = {"criterionResults": [{"criterionId": name, "score": 3, "reasoning": "so"} for name in CRITERIA]}
    log = tmp_path / "log"
    write_matrix(tmp_path, scripted(tmp_path, "judging", default=json.dumps(said), log=str(log)))
    command = [str(path), "--judge", "judging", "--matrix", "matrix.json"]
    assert rescore.main(command) == 0
    judged = path.read_bytes()
    document = json.loads(judged)
    assert document["summary"]["prose"]["judged_quality"] == pytest.approx(100 * (PROSE - 1) * 0.6 / PROSE)
    assert document["judge"]["seconds"] >= 0
    assert document["judge"]["tokens"] is None or document["judge"]["tokens"] > 0
    assert len(log.read_text(encoding="utf-8").splitlines()) == PROSE - 1
    # The journal answers it again, and what it took is the same.
    assert rescore.main(command) == 0
    assert len(log.read_text(encoding="utf-8").splitlines()) == PROSE - 1
    assert path.read_bytes() == judged
    assert rescore.main([*command, "--with-context"]) == 0
    assert read(path)["judge"]["with_context"] is True


def test_who_may_not_be_asked_is_not(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = path.read_bytes()
    away = scenario(name="away", track="remote", backend="litellm", model="openai/gpt", gguf_filename=None)
    write_matrix(tmp_path, away | {"device": "remote"})
    refusals = {
        "sends its questions to a provider": ["--judge", "away", "--matrix", "matrix.json"],
        "a result has only one judge": ["--judge", "rules", "--judge", "away"],
        "cannot be used with --dry-run": ["--judge", "rules", "--dry-run"],
        "no such file": ["--judge", "recorded:nowhere"],
    }
    for problem, options in refusals.items():
        assert rescore.main([str(path), *options]) == 2
        assert problem in capsys.readouterr().err
    assert path.read_bytes() == before

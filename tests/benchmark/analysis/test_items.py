"""Item analysis, and the split of a corpus."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from benchmark.analysis.items import ItemRemark, analyse
from benchmark.cases import Split, split_of
from benchmark.corpus import load_corpus
from benchmark.grading.result import part_of
from benchmark.record.read import StoredResult, find_results, labels, stored
from benchmark.record.result import Result, Scored
from benchmark.report import main
from benchmark.run.selection import select_cases
from ctxsift.errors import InputError
from tests.conftest import ROOT

V2 = ROOT / "tests" / "data" / "results" / "v2"


@pytest.fixture(scope="module")
def model() -> StoredResult:
    return next(result for result in find_results([V2]) if result.name == "model-02")


def with_scores(model: StoredResult, name: str, scores: list[float]) -> StoredResult:
    """Return a result with these case scores, by its cases in order."""
    kept = [case for case in model.record.cases if isinstance(case, Scored)][: len(scores)]
    cases = [
        replace(case, recovered=replace(case.recovered, case_score=score, validation_status="accepted"))
        for case, score in zip(kept, scores, strict=True)
    ]
    return stored(Path(f"{name}.json"), replace(model.record, cases=cases))


def test_difficulty_and_discrimination_are_those_of_the_books(model: StoredResult) -> None:
    matrix = np.array(
        [
            [1.0, 0.2, 0.9, 0.3],
            [1.0, 0.5, 0.6, 0.4],
            [1.0, 0.9, 0.1, 0.9],
            [1.0, 0.4, 0.7, 0.3],
            [1.0, 0.7, 0.4, 0.6],
        ]
    )
    names = [f"m{n}" for n in range(len(matrix))]
    results = [with_scores(model, f"m{n}", list(row)) for n, row in enumerate(matrix)]
    items = {item.case_id: item for item in analyse(results, names)}
    ids = [case.question.case_id for case in results[0].record.cases]
    for column, case_id in enumerate(ids):
        item = items[case_id]
        assert item.mean == pytest.approx(matrix[:, column].mean())
        assert item.spread == pytest.approx(matrix[:, column].std())
        rest = np.delete(matrix, column, axis=1).mean(axis=1)
        if np.ptp(matrix[:, column]):
            expected = np.corrcoef(matrix[:, column], rest)[0, 1]
            assert item.discrimination == pytest.approx(expected)
    assert items[ids[0]].discrimination is None
    assert items[ids[0]].winners == ()
    assert items[ids[0]].measured == "easy"
    assert ItemRemark.WEAK_WIN in items[ids[2]].remarks
    assert items[ids[2]].winners == ("m0",)
    # The least telling come first.
    assert analyse(results, names)[0].case_id == ids[2]


def test_four_models_are_too_few_to_tell_discrimination_and_difficulty(model: StoredResult) -> None:
    rows = ([0.1, 0.9, 0.2], [0.8, 0.3, 0.9], [0.9, 0.1, 0.7], [0.2, 0.8, 0.1])
    results = [with_scores(model, name, row) for name, row in zip("abcd", rows, strict=True)]
    items = analyse(results, list("abcd"))
    assert {(item.discrimination, item.measured) for item in items} == {(None, None)}
    assert not any(ItemRemark.WEAK_WIN in item.remarks for item in items)


def test_a_program_that_is_not_told_the_question_is_no_model(model: StoredResult) -> None:
    blind = with_scores(model, "tail", [0.1])
    record = replace(blind.record, scenario=dataclasses.replace(blind.record.scenario, question=False))
    results = [with_scores(model, "m", [0.5]), stored(blind.path, record)]
    (item,) = analyse(results, ["m", "tail"])
    assert item.results == 1


def test_only_the_least_telling_cases_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([str(V2), "--items", "--top", "3"]) == 0
    text = capfd.readouterr().out
    assert "least informative first: 3" in text
    assert "odd" in text
    assert main([str(V2), "--items", "--top", "3", "--json"]) == 0
    assert len(json.loads(capfd.readouterr().out)) == 3
    assert main([str(V2), "--top", "3"]) == 2
    assert "without --items or --cases" in capfd.readouterr().err


def test_reference_rows_are_no_models() -> None:
    results = [result for result in find_results([V2]) if result.is_reference]
    assert analyse(results, labels(results)) == []


def test_the_command_shows_and_prints_items(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([str(V2), "--items"]) == 0
    assert "least informative first" in capfd.readouterr().out
    assert main([str(V2), "--items", "--json"]) == 0
    items = json.loads(capfd.readouterr().out)
    assert {"case_id", "mean", "discrimination", "measured", "labelled", "winners", "remarks"} <= items[0].keys()


def test_results_with_one_answer_each_are_analysed_too(model: StoredResult) -> None:
    (item,) = analyse(
        [with_scores(model, name, [score]) for name, score in (("a", 0.1), ("b", 0.5), ("c", 0.9))], "abc"
    )
    assert (item.results, item.discrimination, item.winners) == (3, None, ("c",))


def test_items_leave_no_other_wish_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "damaged.json").write_text('{"scenario"')
    page, table = tmp_path / "r.md", tmp_path / "c.csv"
    assert main([str(V2), str(tmp_path), "--items", "--markdown", str(page), "--csv", str(table)]) == 2
    assert "left out: " in capfd.readouterr().err
    assert page.read_text().startswith("# Results")
    assert table.read_text().count("\n") > 10


def test_older_results_have_no_tags(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([str(V2), "--tag", "easy-tier"]) == 2
    assert "--tag easy-tier: matches no answer in these results; older files do not record" in capfd.readouterr().err


def test_a_third_of_the_captures_is_for_judging() -> None:
    corpus = load_corpus()
    names = {case.capture.name for case in corpus.cases}
    share = sum(split_of(name) is Split.TEST for name in names) / len(names)
    assert 0.25 < share < 0.42
    chosen = {split: select_cases(corpus, split=split) for split in Split}
    assert sum(map(len, chosen.values())) == len(corpus.cases)
    captures = {split: {case.capture.name for case in cases} for split, cases in chosen.items()}
    assert not captures[Split.DEV] & captures[Split.TEST]
    with pytest.raises(InputError, match="has none of these cases"):
        select_cases(corpus, case_ids=[chosen[Split.DEV][0].case_id], split=Split.TEST)


def test_parts_of_a_result_are_summed_up_anew(model: StoredResult) -> None:
    capture = load_corpus().cases[0].capture.name
    cases = [
        replace(case, question=replace(case.question, capture=f"{capture}-{n}"))
        for n, case in enumerate(model.record.cases)
    ]
    whole = replace(model.record, cases=cases)

    def part(split: Split) -> Result:
        return part_of(whole, lambda question: split_of(str(question.capture)) is split, None, None)

    parts = {split: part(split) for split in Split}
    assert sorted(c.question.case_id for found in parts.values() for c in found.cases) == sorted(
        c.question.case_id for c in cases
    )
    for split, found in parts.items():
        assert {split_of(str(case.question.capture)) for case in found.cases} <= {split}
        scores = [case.recovered.case_score for case in found.cases if isinstance(case, Scored)]
        assert found.summary.case_count == len(scores)
        assert found.summary.recovered is not None
        assert found.summary.recovered.avg_case_score == pytest.approx(np.mean(scores))

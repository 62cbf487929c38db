"""What a verdict is on, and when there is none: quality by one method, latency apart, one scorer, one corpus."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmark import compare as command
from benchmark.analysis.comparison import Comparisons, DifferenceVerdict, Measure, compare
from benchmark.analysis.leaderboard import Conclusion, build_leaderboard
from benchmark.analysis.ranking import Rank, rank_results
from benchmark.analysis.speed import SpeedFinding
from benchmark.cli.command import PUBLISHED_RESULTS
from benchmark.record.read import StoredResult, find_results, read_result, stored
from benchmark.record.result import Answered
from benchmark.render.documents import pair_document
from benchmark.render.figures import MISSING
from benchmark.render.notes import RANKS_APART, notes_of_rows, notes_together
from benchmark.render.pair import pair_markdown
from benchmark.statistics import Difference, Interval, corrected, holm
from tests.conftest import ROOT, published_layout
from tests.support.mixed import mixed_results

V2 = ROOT / "tests" / "data" / "results" / "v2"


@pytest.fixture(scope="module")
def results() -> dict[str, StoredResult]:
    return {result.name: result for result in find_results([V2])}


def slower(result: StoredResult, times: float, cpu: str | None = None) -> StoredResult:
    """Return a result with the same answers, which took longer, on the same machine or another."""
    run = result.record.run
    assert run is not None
    environment = replace(run.environment, cpu=cpu or run.environment.cpu)
    disturbance = replace(run.disturbance, latency_clean=True, reasons=[])
    cases = [
        replace(case, generation=dataclasses.replace(case.generation, total_ms=case.generation.total_ms * times))
        for case in result.record.cases
        if isinstance(case, Answered)
    ]
    changed = replace(run, environment=environment, disturbance=disturbance, latency_ignored=False)
    return stored(result.path, replace(result.record, run=changed, cases=cases))


def told(*, scorer: str, result: StoredResult) -> StoredResult:
    run = result.record.run
    assert run is not None
    return stored(Path("other.json"), replace(result.record, run=replace(run, scorer_version=scorer)))


def test_a_slow_machine_makes_no_result_worse(results: dict[str, StoredResult]) -> None:
    fast, slow = slower(results["model-02"], 0.01), slower(results["model-02"], 100.0, cpu="another")
    found = compare(fast, slow)
    assert found.difference(Measure.FINAL).value < -1
    assert found.verdict(Measure.CORE) is DifferenceVerdict.EQUAL
    assert found.verdict(Measure.FINAL) is None
    assert found.verdict(Measure.LIFT) is None
    assert found.speed is None
    assert rank_results([fast, slow]).ranks == (Rank(1, tied=True), Rank(1, tied=True))
    text = pair_markdown(found, None)
    assert "B worse" not in text
    assert "B better" not in text
    assert pair_document(found, None)["verdict"] == DifferenceVerdict.EQUAL


def test_latency_is_compared_apart_within_one_machine(results: dict[str, StoredResult]) -> None:
    fast, slow = slower(results["model-02"], 1.0), slower(results["model-02"], 3.0)
    speed = compare(fast, slow).speed
    assert speed is not None
    assert speed.ratio == pytest.approx(3.0)
    assert speed.verdict is SpeedFinding.SLOWER
    assert "B slower" in pair_markdown(compare(fast, slow), None)
    assert compare(fast, slower(slow, 1.0, cpu="another")).speed is None


def test_what_ranks_is_what_is_shown(tmp_path: Path) -> None:
    path = published_layout(tmp_path / "a.result.json", "a", {f"c{n}": 0.1 * (n % 10) for n in range(30)})
    record = json.loads(path.read_text())
    scores = sorted(case["case_score"] for case in record["cases"])
    core = 0.8 * sum(scores) / 30 + 0.2 * (scores[2] + 0.9 * (scores[3] - scores[2]))
    # A case that failed took long, and the mean of the file leaves it out.
    record["cases"][0] |= {"inference_ms": 200_000.0, "validation_status": "rejected"}
    record["summary"] |= {"quality_core": core, "final_score": 100 * core, "avg_inference_ms": 1500.0}
    record["summary"] |= {"success_count": 29, "accepted_count": 29, "rejected_count": 1}
    path.write_text(json.dumps(record))
    result = read_result(path)
    found = compare(result, result)
    figures = {figure.name: figure.a for figure in found.figures}
    assert figures[Measure.FINAL] == pytest.approx(result.record.summary.final_score)
    assert rank_results([result], timed=True).scores == pytest.approx([result.record.summary.final_score])
    assert rank_results([result]).scores == pytest.approx([100 * core])


def test_another_scorer_refuses_the_verdict(results: dict[str, StoredResult]) -> None:
    ours, theirs = results["model-02"], told(scorer="0", result=results["model-00"])
    found = compare(ours, theirs)
    assert found.verdict(Measure.CORE) is None
    assert pair_document(found, None)["verdict"] is None
    text = pair_markdown(found, None)
    assert "No verdict: the results were scored by different scorers" in text.split("| score |")[0]
    assert "B worse" not in text
    assert Comparisons().difference(ours, theirs, timed=False) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"scorer_version": "0"}, "different scorers"),
        ({"corpus_sha256": "b" * 64}, "different versions of the corpus"),
    ],
)
def test_the_gate_cannot_tell_across_scorers_and_corpora(
    tmp_path: Path, changes: dict[str, str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for name, run in (("a", {}), ("b", changes)):
        paths.append(copied(tmp_path / f"{name}.json", run))
    assert command.main([*map(str, paths), "--fail-on-drop", "1"]) == 2
    told = capsys.readouterr().err
    assert why in told
    assert "rescore" in told
    assert len(told.splitlines()) == 1


def copied(path: Path, changes: dict[str, str]) -> Path:
    record = json.loads(gzip.decompress((V2 / "model-02.json.gz").read_bytes()))
    record["run"] |= changes
    path.write_text(json.dumps(record))
    return path


def test_an_interval_is_corrected_as_its_p_value_is() -> None:
    alone = Difference(12.2, Interval(2.0, 23.1), 0.026)
    found = corrected([alone] + [Difference(1.0, Interval(-5.0, 7.0), 0.8)] * 7, [61.0] * 8)
    assert [each.p for each in found] == holm([0.026] + [0.8] * 7)
    ends = found[0].interval
    assert ends is not None
    assert ends.low <= 0 < ends.high
    sure = corrected([Difference(12.2, Interval(9.0, 15.0), 1e-9)] * 8)[0].interval
    assert sure is not None
    assert 0 < sure.low < 9.0
    assert corrected([alone]) == [alone]
    (wide, _) = corrected([Difference(60.0, Interval(-5.0, 95.0), 0.1)] * 2, most=100.0)
    assert wide.interval is not None
    assert wide.interval.high == 100.0
    assert wide.interval.low < -5.0


def test_no_verdict_of_an_intent_contradicts_its_interval(results: dict[str, StoredResult]) -> None:
    for a in results.values():
        for b in results.values():
            for group in compare(a, b).intents:
                ends = group.difference.interval
                if ends and group.difference.p >= 0.05:
                    assert ends.low <= 0 <= ends.high


def test_what_does_not_beat_the_best_baseline_is_first_of_nothing(results: dict[str, StoredResult]) -> None:
    board = build_leaderboard([results["model-00"], results["control-tf-idf"]])
    assert all(row.rank is None for row in board.rows)
    assert board.headline.conclusion is Conclusion.BELOW_FLOOR


def test_ranks_that_do_not_follow_the_score_are_explained() -> None:
    board = build_leaderboard(find_results([PUBLISHED_RESULTS]))
    cores = [row.summary.recovered.quality_core for row in board.rows if row.summary.recovered]
    assert cores == sorted(cores, reverse=True)
    assert not board.ranks_follow_rows
    assert RANKS_APART in notes_together(board)
    first = build_leaderboard([row.result for row in board.rows[:2]])
    assert first.ranks_follow_rows
    assert RANKS_APART not in notes_together(first)


def test_a_note_about_all_results_is_told_once(tmp_path: Path) -> None:
    paths = [published_layout(tmp_path / f"{n}.json", f"r{n}", {"one": 0.1 * n, "two": 0.2}) for n in range(5)]
    (note,) = notes_of_rows(build_leaderboard(find_results(paths)))
    assert note.startswith("all 5 results: published layout")


def test_a_matrix_of_two_scorers_ranks_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixed_results(tmp_path)
    paths = [str(tmp_path / f"{name}.json") for name in ("model-00", "model-01", "older")]
    assert command.main([*paths, "--json"]) == 0
    assert {row["rank"] for row in json.loads(capsys.readouterr().out)["results"]} == {MISSING}
    assert command.main(paths) == 0
    shown = capsys.readouterr().out
    assert "were scored by different scorers" in shown
    assert command.main([*paths[:2], str(tmp_path / "model-02.json"), "--json"]) == 0
    assert MISSING not in {row["rank"] for row in json.loads(capsys.readouterr().out)["results"]}

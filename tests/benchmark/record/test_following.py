"""A result that says of itself what does not follow from its cases is refused, in one line that names the figure."""

from __future__ import annotations

import copy
import functools
import gzip
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import benchmark.judges.records
import benchmark.utilization.records  # noqa: F401 - records with intervals
from benchmark import report, rescore
from benchmark.record.base import Interval, Record, WithIntervals
from benchmark.record.following import contradiction_in, figures_of
from benchmark.record.read import RESULT_FILE, as_result, find_results, read_result, stored
from benchmark.record.result import Disturbance
from ctxsift.errors import InputError
from tests.conftest import ROOT, published_layout

STORED = ROOT / "tests" / "data" / "results"
PACKAGED = ROOT / "benchmark" / "packaged_results"
# Of today's version and of an earlier one.
OURS = (next(PACKAGED.rglob("*0.5b*.json.gz")), STORED / "v2" / "model-01.json.gz")
Spoil = Callable[[dict[str, Any]], object]


@functools.cache
def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def refused(document: Any) -> str:
    """Return why a document is refused."""
    with pytest.raises(InputError) as caught:
        as_result(Path("x.json"), document)
    said = str(caught.value)
    assert "\n" not in said
    return said


def first(case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = case["cases"][0]
    return found


def the_best(document: dict[str, Any]) -> None:
    document["summary"] |= {"final_score": 100.0, "quality_core": 1.0}


def dropped(document: dict[str, Any], keep: int) -> None:
    document["cases"] = document["cases"][:keep]


def all_right(document: dict[str, Any]) -> None:
    for case in document["cases"]:
        case["case_score"] = 1.0


def rejected_with_a_score(document: dict[str, Any]) -> None:
    case = next(case for case in document["cases"] if case["case_score"] > 0.1)
    case["validation_status"] = "rejected"


def no_time(document: dict[str, Any]) -> None:
    for case in document["cases"]:
        case["inference_ms"] = 1.0


def no_failure(document: dict[str, Any]) -> None:
    document["summary"]["model_failure_counts"] = {"loop": 3}


def turned(document: dict[str, Any]) -> None:
    reference = document["summary"]["reference"]
    reference["beats_floor"] = not reference["beats_floor"]


def lead(document: dict[str, Any]) -> None:
    reference = document["summary"]["reference"]
    reference |= {"difference": 99.0, "difference_interval": [90.0, 99.0], "beats_floor": True}


FORGED: dict[str, tuple[Spoil, str]] = {
    "the best": (the_best, "/summary/quality_core: says 1,"),
    "final score": (lambda d: d["summary"].update(final_score=100.0), "/summary/final_score: says 100,"),
    "raw view": (lambda d: d["summary"]["raw_view"].update(final_score=100.0), "/summary/raw_view/final_score"),
    "core": (lambda d: d["summary"].update(quality_core=0.999), "/summary/quality_core: says 0.999,"),
    "p10": (lambda d: d["summary"].update(p10_case_score=1.0), "/summary/p10_case_score"),
    "component": (lambda d: d["summary"].update(avg_brevity_ratio=0.999), "/summary/avg_brevity_ratio"),
    "factor": (lambda d: d["summary"].update(latency_factor=0.999), "/summary/latency_factor"),
    "times": (no_time, "/summary/avg_inference_ms"),
    "lift": (lambda d: d["summary"].update(recovery_lift=99.0), "/summary/recovery_lift"),
    "no cases": (lambda d: dropped(d, 0), "/summary/case_count: says"),
    "two cases": (lambda d: dropped(d, 2), "/summary/case_count: says"),
    "counts": (lambda d: d["summary"].update(planned_count=9, case_count=9), "/summary/planned_count: says 9"),
    "accepted": (lambda d: d["summary"].update(accepted_count=0), "/summary/accepted_count: says 0"),
    "failures": (no_failure, "/summary/model_failure_counts"),
    "saved": (lambda d: d["summary"].update(tokens_saved=10**6), "/summary/tokens_saved: says 1000000"),
    "case scores": (all_right, "/case_score: says 1,"),
    "raw case score": (lambda d: first(d)["raw_view"].update(case_score=0.999), "/cases/0/raw_view/case_score"),
    "rejected": (rejected_with_a_score, "but 0 follows"),
    "beats": (turned, "/summary/reference/beats_floor: says"),
    "lead": (lead, "/summary/reference/difference: says 99,"),
    "floor": (lambda d: d["summary"]["reference"].update(floor_score=-5.0), "/summary/reference/floor_score: says -5"),
    "normalised": (lambda d: d["summary"].update(normalised_score=100.0), "/summary/normalised_score: says 100,"),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("path", OURS, ids=["today", "earlier"])
def test_a_forged_figure_is_refused_by_its_name(path: Path, name: str) -> None:
    spoil, told = FORGED[name]
    document = json.loads(content(path))
    spoil(document)
    said = refused(document)
    assert said.startswith("x.json: /")
    assert told in said
    assert "python -m benchmark.rescore x.json" in said


INTERVALS: dict[str, tuple[Spoil, str]] = {
    "final score": (lambda d: d["summary"]["intervals"].update(final_score=[99.0, 1.0]), "/summary/intervals"),
    "difference": (
        lambda d: d["summary"]["reference"].update(difference_interval=[99.0, 1.0]),
        "/summary/reference",
    ),
    "group": (lambda d: d["breakdowns"]["intent"][0].update(avg_case_score_interval=[0.9, 0.1]), "/breakdowns"),
}


@pytest.mark.parametrize("name", INTERVALS)
def test_an_interval_that_ends_before_it_begins_is_refused(name: str) -> None:
    spoil, place = INTERVALS[name]
    document = json.loads(content(OURS[0]))
    spoil(document)
    said = refused(document)
    assert place in said
    assert "ends before it begins" in said


def kinds(kind: type[Record]) -> Iterator[type[Record]]:
    yield kind
    for each in kind.__subclasses__():
        yield from kinds(each)


def test_every_record_with_intervals_checks_them() -> None:
    found = [kind for kind in kinds(Record) if any(str(Interval) in str(f.type) for f in msgspec.structs.fields(kind))]
    # Load at the first and the last sample is no interval.
    found.remove(Disturbance)
    assert len(found) >= 8
    assert [kind for kind in found if not issubclass(kind, WithIntervals)] == []


def test_all_stored_results_agree_with_themselves() -> None:
    found = find_results([STORED / "v1", STORED / "v2", STORED / "published", PACKAGED])
    assert len(found) >= 11
    assert [contradiction_in(result.record) for result in found] == [None] * len(found)


PUBLISHED: dict[str, tuple[Spoil, str]] = {
    "core": (the_best, "/summary/quality_core: says 1,"),
    "score": (lambda d: d["summary"].update(final_score=100.0), "/summary/final_score: says 100,"),
    "means": (lambda d: d["summary"].update(avg_case_score=1.0, quality_core=0.9, final_score=90.0), "/summary/"),
    "cases": (lambda d: first(d).update(case_score=1.0), "/summary/avg_case_score"),
    "factor": (lambda d: d["summary"].update(avg_inference_ms=9000.0), "/summary/latency_factor"),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_is_checked_as_far_as_it_goes(tmp_path: Path, name: str) -> None:
    path = published_layout(tmp_path / "p.json", "p", {"x": 0.5, "y": 0.75, "z": 0.25})
    spoil, told = PUBLISHED[name]
    document = json.loads(path.read_text())
    assert as_result(path, copy.deepcopy(document)).record.run is None
    spoil(document)
    said = refused(document)
    assert told in said
    assert "backup" in said


def test_a_part_of_a_published_file_has_to_agree_with_itself_alone() -> None:
    document = json.loads(content(next((STORED / "published").iterdir())))
    assert len(document["cases"]) < document["summary"]["case_count"]
    document["summary"]["final_score"] = 100.0
    assert "/summary/final_score: says 100," in refused(document)


def test_a_run_that_lacks_answers_is_not_complete() -> None:
    record = read_result(OURS[0]).record
    assert record.run is not None
    cases = record.cases[1:]
    summary = replace(figures_of(len(record.run.case_ids), cases), standing=None)
    found = contradiction_in(replace(record, cases=cases, summary=summary))
    assert found is not None
    assert (found.place, found.follows) == ("/run/complete", f"{len(cases)} of {len(cases) + 1} answers")


def test_intents_that_nobody_knows_are_no_traceback() -> None:
    document = json.loads(content(OURS[0]))
    for case in document["cases"]:
        case["intent"] = "nonsense"
    as_result(Path("x.json"), document)


def test_a_board_leaves_a_forger_out_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    honest = json.loads(content(OURS[0]))
    forger = copy.deepcopy(honest)
    forger["scenario"]["name"] = "forger"
    the_best(forger)
    for name, document in (("honest", honest), ("forger", forger)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    assert report.main([str(tmp_path), "--json"]) == 2
    told = capsys.readouterr()
    (row,) = json.loads(told.out)["boards"][0]["results"]
    assert row["label"] == honest["scenario"]["name"]
    (line,) = told.err.splitlines()
    assert "forger.json: /summary/quality_core: says 1, but" in line


@pytest.mark.slow
def test_scoring_again_mends_a_forged_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(shutil.copy(STORED / "v2" / "model-01.json.gz", tmp_path))
    corpus = ["--dataset", str(STORED / "corpus.jsonl")]
    assert rescore.main([str(path), *corpus]) == 0
    right = content_of(path)
    document = json.loads(right)
    the_best(document)
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    with pytest.raises(InputError, match="says 1"):
        read_result(path)
    assert rescore.main([str(path), *corpus]) == 0
    assert json.loads(content_of(path)) == json.loads(right)
    capsys.readouterr()


def content_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def test_the_check_takes_a_part_of_the_time_that_reading_takes() -> None:
    path = OURS[0]

    def read() -> Any:
        return stored(path, RESULT_FILE.record(path, RESULT_FILE.document(path))).record

    record = read()
    assert quickest(lambda: contradiction_in(record)) < 0.5 * quickest(read)


def quickest(call: Callable[[], object]) -> float:
    found = []
    for _ in range(10):
        started = time.process_time()
        call()
        found.append(time.process_time() - started)
    return min(found)


def test_a_published_file_may_count_successes_in_its_own_way(tmp_path: Path) -> None:
    """Published files count more successes in a view than they have answers that are not rejected."""
    path = published_layout(tmp_path / "p.json", "p", {"x": 0.5, "y": 0.75, "z": 0.25})
    document = json.loads(path.read_text())
    document["summary"]["raw_view"]["success_count"] += 1
    path.write_text(json.dumps(document))
    assert read_result(path).record.summary.final_score is not None

"""The viewer without a browser: what is gathered, what is marked, what the command says and writes."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.corpus import Corpus
from benchmark.scoring.anchors import missing_anchors
from benchmark.stored import as_result, iterate_results, labels, read_result
from benchmark.viewer.__main__ import main
from benchmark.viewer.charts import chart_rows, reference_lines
from benchmark.viewer.gather import MOST_COMPARED, gather, overview, pairs
from benchmark.viewer.marks import Mark, anchor_places, flat, removed_marks
from ctxsift.errors import InputError
from ctxsift.recovery import recover
from tests.conftest import ROOT, published_layout
from tests.results import Answers, many
from tests.wrappers import WRAPPERS


def pack(page: str, name: str) -> Any:
    """Unpack what the page holds under a name, as the browser does."""
    found = re.search(rf'id="pack-{name}">([^<]*)<', page)
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def overview_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="summary">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


# What is removed is marked where it stood -------------------------------------------------------------------------


def test_marks_of_every_wrapper_are_exactly_what_recovery_removed(corpus: Corpus) -> None:
    checked = 0
    for case in corpus.cases[::7]:
        for wrapper in WRAPPERS:
            if case.intent not in wrapper.intents:
                continue
            raw = wrapper.wrap(case.expected_output, case.intent)
            recovery = recover(raw, case.request)
            if not recovery.steps:
                continue
            marks = removed_marks(raw, recovery.text, [(step.name, step.removed) for step in recovery.steps])
            assert {mark.label for mark in marks} <= {step.name for step in recovery.steps}, wrapper.name
            assert without(raw, marks) == recovery.text, wrapper.name
            checked += 1
    assert checked > 500


def without(text: str, marks: list[Mark]) -> str:
    gone = {place for mark in marks for place in range(mark.start, mark.end)}
    return "".join(character for place, character in enumerate(text) if place not in gone)


def test_marks_of_real_answers_are_what_recovery_removed(corpus: Corpus) -> None:
    answers, checked = Answers(seed=3), 0
    for case in corpus.cases:
        raw = answers.pick(case, quality=0.3)
        recovery = recover(raw, case.request)
        marks = removed_marks(raw, recovery.text, [(step.name, step.removed) for step in recovery.steps])
        assert without(raw, marks) == recovery.text
        checked += bool(recovery.steps)
    assert checked > 40


def test_parts_from_the_middle_are_found() -> None:
    raw = "a<x>b<y>c"
    marks = removed_marks(raw, "abc", [("control_token", "<x><y>")])
    assert [(m.start, m.end) for m in marks] == [(1, 4), (5, 8)]


def test_a_record_that_does_not_add_up_still_shows_what_is_gone() -> None:
    assert removed_marks("xx answer yy", "answer", [("outer_fence", "zz")]) == [
        Mark(0, 3, "removed"),
        Mark(9, 12, "removed"),
    ]
    assert removed_marks("one", "two", [("outer_fence", "zz")]) == []


def test_marks_under_two_labels_carry_both_and_count_as_browsers_do() -> None:
    text = "😀 think this away"
    assert flat([Mark(2, 7, "thought"), Mark(2, 12, "thought_preamble")], text) == [
        [3, 8, "thought thought_preamble"],
        [8, 13, "thought_preamble"],
    ]
    assert anchor_places("😀 a.py and a.py:3", ["a.py", "a.py:3"]) == [[3, 7, 0], [12, 18, 1]]


def test_every_anchor_that_stands_in_an_input_is_marked(corpus: Corpus) -> None:
    for case in corpus.cases:
        marked = {index for _, _, index in anchor_places(case.raw_input, case.anchors)}
        absent = set(missing_anchors(case.raw_input, case.anchors))
        for index, anchor in enumerate(case.anchors):
            # One that stands within a longer one gives way to it.
            inside = any(anchor != other and anchor in other for other in case.anchors)
            assert index in marked or anchor in absent or inside, (case.case_id, anchor)


# Numbers ----------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_page_are_those_of_the_files(results_tree: Path, results_page: str) -> None:
    overview = overview_of(results_page)
    found = {result.name: result for result in iterate_results([results_tree], skip=lambda _: None)}
    assert {row["name"] for row in overview["rows"]} == set(found)
    catalog = pack(results_page, "catalog")
    compared = 0
    for row in overview["rows"]:
        record = found[row["name"]].record
        # To the last digit.
        assert row["summary"] == record["summary"]
        detail = pack(results_page, f"result-{row['key']}")
        assert detail["breakdowns"] == record.get("breakdowns")
        assert detail["run"] == record.get("run")
        columns = detail["cases"]
        for place, case in enumerate(record["cases"]):
            shelf, offset = catalog[columns["body"][place]][-2:]
            stored = pack_of(results_page, shelf)
            question = stored["cases"][offset]
            assert question["case_id"] == case["case_id"]
            assert stored["raw_input"] == case.get("raw_input")
            assert question["expected_output"] == case.get("expected_output")
            if case.get("outcome") == "instrument_failure":
                assert columns["case_score"][place] is None
                continue
            answer = question["answers"][str(row["key"])]
            assert answer.get("output", "") == case["output"]
            assert answer.get("raw_output", answer.get("output", "")) == case["raw_view"]["output"]
            for view, prefix in ((case, ""), (case["raw_view"], "raw_")):
                for name in ("case_score", "exact_preservation_ratio", "brevity_ratio", "thought_leakage_density"):
                    assert columns[prefix + name][place] == pytest.approx(view[name], abs=1e-6)
                    compared += 1
            assert columns["inference_ms"][place] == pytest.approx(case["inference_ms"], abs=1e-6)
    assert compared > 3000


_PACKS: dict[tuple[int, int], Any] = {}


def pack_of(page: str, shelf: int) -> Any:
    if (id(page), shelf) not in _PACKS:
        _PACKS[id(page), shelf] = pack(page, f"cases-{shelf}")
    return _PACKS[id(page), shelf]


def test_pairs_are_what_compare_says(results_tree: Path, results_page: str) -> None:
    rows = overview_of(results_page)["rows"]
    found = pack(results_page, "pairs")
    files = {path.stem: path for path in results_tree.rglob("*.json")}
    names = [row["name"] for row in rows]
    i, j = names.index("model-05"), names.index("model-02")
    i, j = min(i, j), max(i, j)
    command = [sys.executable, "-m", "benchmark.compare", str(files[names[i]]), str(files[names[j]]), "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
    pair = found[f"{i},{j}"]
    assert [pair["wins"], pair["losses"], pair["ties"]] == [said["wins"], said["losses"], said["ties"]]
    for figure in said["figures"]:
        difference = figure["difference"]
        ends = difference["interval"]
        expected = [figure["a"], figure["b"], difference["value"], ends["low"], ends["high"], difference["p"]]
        assert pair["figures"][figure["name"]][:6] == pytest.approx(expected, abs=1e-9)
    for group in said["intents"]:
        assert pair["intents"][group["name"]][:4] == pytest.approx(
            [group["case_count"], group["a"], group["b"], group["difference"]["value"]], abs=1e-9
        )


def test_too_many_results_for_all_pairs_say_so(results_tree: Path) -> None:
    records = [r.record for r in iterate_results([results_tree], skip=lambda _: None) if "run" in r.record]
    gathered = gather(many(records, MOST_COMPARED + 1))
    assert pairs(gathered) is None
    assert len(set(labels(gathered.results))) == MOST_COMPARED + 1


def altered(tree: Path, name: str) -> dict[str, Any]:
    """Return a record of the tree, to be altered."""
    record: dict[str, Any] = json.loads(one_of(tree).read_text(encoding="utf-8"))
    record["scenario"]["name"] = name
    return record


def test_what_only_the_recovered_answer_lacks_is_not_said_of_the_raw_one(results_tree: Path) -> None:
    record = altered(results_tree, "x")
    row = next(row for row in record["cases"] if row.get("case_score") is not None)
    row |= {"missing_tokens": row["required_anchors"][:1], "reasons": {"preserve": ["gone"]}, "ungrounded_facts": ["f"]}
    row["raw_view"] |= {"missing_tokens": [], "reasons": {}, "ungrounded_facts": []}
    (shown,) = (gathered := gather([as_result(Path("x.json"), record)])).shown
    body = next(body for body in gathered.bodies if body["case_id"] == row["case_id"])
    answer = body["answers"][shown.key]
    assert (answer["missing_tokens"], answer["raw_missing_tokens"]) == ([0], [])
    assert (answer["reasons"], answer["raw_reasons"]) == ({"preserve": ["gone"]}, {})
    assert answer["raw_ungrounded_facts"] == []


def test_cases_that_were_never_asked_are_not_scored(results_tree: Path) -> None:
    record = altered(results_tree, "x")
    record["summary"]["planned_count"] += 100
    rows = chart_rows(gather([as_result(Path("x.json"), record)]))["verdicts"]
    assert {row["verdict"]: row["count"] for row in rows}["not scored"] == 100
    assert sum(row["count"] for row in rows) == record["summary"]["planned_count"]


def test_the_best_are_only_those_that_were_compared(results_tree: Path, tmp_path: Path) -> None:
    other = published_layout(tmp_path / "theirs.json", "theirs", {"python-01": 0.9})
    gathered = gather(iterate_results([results_tree, other]))
    names = {shown.key: shown.result.name for shown in gathered.shown}
    ranked = {row["name"]: row["rank"] for row in overview(gathered)["rows"]}
    # Nobody can say that it is worse, so it shares the first rank; it is not called the best.
    assert (ranked["model-05"], ranked["theirs"]) == ("1=", "1=")
    best = [names[key] for key in overview(gathered)["best"]]
    assert best[0] == "model-05"
    assert "theirs" not in best


def test_lines_are_those_of_most_results(results_tree: Path) -> None:
    shown = gather(iterate_results([results_tree])).shown
    lines = reference_lines(shown)
    names = {s.key: s.result.name for s in shown}
    # One of the six is incomplete, and has a floor of its own.
    assert [names[line["key"]] for line in lines] == ["control-gold", "control-tf-idf"]
    own = next(s for s in shown if s.result.name == "model-05").result.record["summary"]["reference"]
    assert [line["score"] for line in lines] == [own["ceiling_score"], own["floor_score"]]


def spoiled(place: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def spoil(record: dict[str, Any]) -> None:
        *path, last = place.split("/")
        inner: Any = record
        for name in path:
            inner = inner[int(name)] if isinstance(inner, list) else inner[name]
        inner[last] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoiled("run", {}), "/run: stands in a file without a schema_version"),
        (spoiled("breakdowns", {"intent": [{}]}), "/breakdowns: stands in a file without"),
        (spoiled("summary/avg_inference_ms", "fast"), "/summary/avg_inference_ms: a string stands where a number"),
        (spoiled("summary/raw_view/final_score", []), "/summary/raw_view/final_score: a list stands where a number"),
        (spoiled("cases/0/title", {}), "/cases/0/title: a mapping stands where a string"),
        (spoiled("cases/0/output", 3), "/cases/0/output: a whole number stands where a string"),
        (spoiled("scenario/phase", 3), "/scenario/phase: a whole number stands where a string"),
        (lambda record: record["cases"].append(record["cases"][0]), "/cases/1/case_id: 'python-01' stands there twice"),
    ],
)
def test_odd_files_of_the_published_layout_are_skipped_with_their_place(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], None], said: str
) -> None:
    file = published_layout(tmp_path / "odd.json", "odd", {"python-01": 0.5})
    record = json.loads(file.read_text())
    spoil(record)
    file.write_text(json.dumps(record))
    skipped: list[InputError] = []
    assert not list(iterate_results([tmp_path], skip=skipped.append))
    assert len(skipped) == 1
    assert said in str(skipped[0])


def test_a_run_without_a_result_is_named(results_tree: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "x.journal.jsonl").write_text("{}\n")
    (cut / "one.json").write_bytes(one_of(results_tree).read_bytes())
    done = run(cut)
    assert done.returncode == 0
    assert (
        f"x.journal.jsonl: is of a run without a result; go on with it: python -m benchmark.runner --resume {cut}"
        in done.stderr
    )


def test_a_root_without_results_is_named(results_tree: Path, tmp_path: Path) -> None:
    done = run(tmp_path, one_of(results_tree), "-o", tmp_path / "page.html")
    assert done.returncode == 0
    assert f"skipped: {tmp_path}: holds no result file" in done.stderr


# The command ------------------------------------------------------------------------------------------------------


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark.viewer", *map(str, arguments)]
    environ = os.environ | environment
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=120)


def test_one_page_of_several_roots_with_what_was_left_out(results_tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    published_layout(other / "theirs.json", "remote-theirs", {"python-01": 0.5})
    (other / "package.json").write_text('{"name": "something else"}')
    (other / "torn.json").write_text('{"scenario": {"name": "x"')
    (other / "old.json").write_text(json.dumps(json.loads(one_of(results_tree).read_text()) | {"schema_version": 1}))
    page = tmp_path / "all.html"
    done = run(results_tree, other, "-o", page)
    assert done.returncode == 0, done.stderr
    skipped = [line for line in done.stderr.splitlines() if line.startswith("skipped: ")]
    assert len(skipped) == 3
    assert "package.json: is no result file" in done.stderr
    assert "torn.json:1:" in done.stderr
    assert "old.json: /schema_version: 1 is not 2; run benchmark.rescore over it" in done.stderr
    overview = overview_of(page.read_text())
    assert {row["name"] for row in overview["rows"]} >= {"remote-theirs", "model-00"}
    assert len(overview["skipped"]) == 3
    assert re.match(rf"{re.escape(str(page))}: \d+ results, [\d,]+ answers, \d\.\d MB\n", done.stdout)


def one_of(tree: Path) -> Path:
    return next(path for path in sorted(tree.rglob("*.json")) if path.stem.startswith("model"))


@pytest.mark.parametrize("content", [None, "{}", '{"scenario": 1, "summary": 2, "cases": 3}', "torn {"])
def test_nothing_to_show_is_an_error_with_the_mend(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "a.json").write_text(content)
    done = run(tmp_path)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last == f"error: {tmp_path}: no result file that can be shown; run a benchmark first: make bench"
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "viewer.html").exists()


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    done = run(tmp_path / "nowhere")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {tmp_path / 'nowhere'}: no such file or folder; name a results tree")


def test_the_page_goes_beside_the_results_and_is_opened(results_tree: Path, tmp_path: Path) -> None:
    run_folder = tmp_path / "run"
    run_folder.mkdir()
    file = run_folder / "one.json"
    file.write_bytes(one_of(results_tree).read_bytes())
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "opened"}\n')
    browser.chmod(0o755)
    done = run("--open", run_folder, BROWSER=f"{browser} %s")
    assert done.returncode == 0, done.stderr
    page = run_folder / "viewer.html"
    assert page.is_file()
    assert (tmp_path / "opened").read_text().strip() == page.resolve().as_uri()
    # A page among the results is no result, and a file as PATH has its page beside it.
    page.unlink()
    assert run(file).returncode == 0
    assert page.is_file()


def test_a_page_that_cannot_be_written_is_one_line(results_tree: Path, tmp_path: Path) -> None:
    target = tmp_path / "no" / "page.html"
    done = run(results_tree, "-o", target)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"error: {target}: cannot be written (No such file or directory)")
    assert "Traceback" not in done.stderr


def test_pictures_are_drawn_without_a_browser(results_tree: Path, tmp_path: Path) -> None:
    for form in ("png", "svg"):
        done = run(results_tree, f"--{form}", tmp_path / form)
        assert done.returncode == 0, done.stderr
        files = {Path(line).name for line in done.stdout.splitlines()}
        wanted = ("score-latency", "lift", "verdicts", "case-scores", "latency", "heat-intent", "heat-tool")
        assert {f"{name}.{form}" for name in wanted} <= files
    for file in (tmp_path / "png").iterdir():
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.stat().st_size > 5000
    text = (tmp_path / "svg" / "heat-intent.svg").read_text()
    ET.fromstring(text)
    shown = {result.name for result in iterate_results([results_tree]) if result.track != "control"}
    assert all(name in text for name in shown)


def test_png_and_a_page_at_once_are_refused(results_tree: Path, tmp_path: Path) -> None:
    done = run(results_tree, "--png", tmp_path, "--open")
    assert done.returncode == 2
    assert "--png and --svg write pictures" in done.stderr


def test_one_result_without_references_is_a_page_too(results_tree: Path, tmp_path: Path) -> None:
    page = tmp_path / "one.html"
    assert main([str(one_of(results_tree)), "-o", str(page)]) == 0
    overview = overview_of(page.read_text())
    assert [row["rank"] for row in overview["rows"]] == ["1"]
    # Floor and ceiling come from the result's own references.
    assert [line["label"] for line in overview["lines"]] == ["gold", "floor: tf-idf"]
    assert (
        overview["lines"][0]["score"]
        == read_result(one_of(results_tree)).record["summary"]["reference"]["ceiling_score"]
    )


def test_libraries_in_the_page_are_those_that_are_named() -> None:
    folder = ROOT / "benchmark" / "viewer" / "static" / "vendor"
    named = (folder / "README.md").read_text()
    import hashlib

    for file in sorted(folder.glob("*.js")):
        assert f"| {file.name} |" in named
        assert hashlib.sha256(file.read_bytes()).hexdigest() in named, file.name

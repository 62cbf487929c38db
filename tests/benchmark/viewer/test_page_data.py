"""The viewer without a browser: what is gathered, what is marked, what the command says and writes."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.analysis.figures import FIGURES
from benchmark.analysis.slices import FEW_CAPTURES
from benchmark.cases import Corpus
from benchmark.record.read import as_result, iterate_results, labels, read_result
from benchmark.record.summary import Dimension
from benchmark.scoring import COMPONENTS, scenario_score
from benchmark.scoring.anchors import missing_anchors
from benchmark.viewer.__main__ import main
from benchmark.viewer.board_data import overview
from benchmark.viewer.charts import chart_rows, data_sets, reference_lines, specifications
from benchmark.viewer.page import FOLDER as STATIC
from benchmark.viewer.page_data import MOST_COMPARED, gather, pairs, shelve
from benchmark.viewer.page_records import AnchorSpan, AnswerSpan, ReferenceLine
from benchmark.viewer.slice_data import slice_pack
from benchmark.viewer.spans import UNNAMED_STEP, RemovedSpan, anchor_spans, answer_spans, removed_spans
from ctxsift.answers.recovery import RecoveryStep, recover
from ctxsift.errors import InputError
from tests.benchmark.viewer import page_types
from tests.conftest import ROOT, published_layout
from tests.support.frozen import page_cases
from tests.support.pages import compared, documents, overview_of, pack, run_viewer
from tests.support.results import Answers, many
from tests.support.wrappers import WRAPPERS

# The results and the page are made once, where all their tests run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


# Names -----------------------------------------------------------------------------------------------------------


def test_the_declarations_that_scripts_are_checked_against_are_those_of_the_records() -> None:
    hint = "run python -m tests.benchmark.viewer.page_types, then make lint"
    assert page_types.FILE.read_text(encoding="utf-8") == page_types.declarations(), hint


def test_every_field_that_a_picture_names_is_one_of_its_rows() -> None:
    kinds = data_sets() | {"lines": ReferenceLine}
    named = 0
    for name, specification in specifications().items():
        for source, layer in layers(specification):
            text = json.dumps(layer)
            fields = {*re.findall(r'"field": "(\w+)"', text), *re.findall(r"datum\.(\w+)", text)}
            made = set(re.findall(r'"as": "(\w+)"', text))
            known = set(kinds[source].__struct_fields__) if source else set()
            assert fields <= known | made, (name, source)
            named += len(fields)
    assert named > 60


def layers(specification: dict[str, Any], outer: str | None = None) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield a specification and each of its layers, with the data set it draws."""
    source = specification.get("data", {}).get("name", outer)
    yield source, {key: value for key, value in specification.items() if key != "layer"}
    for layer in specification.get("layer", []):
        yield from layers(layer, source)


def test_no_line_of_the_scripts_is_longer_than_any_other_line_may_be() -> None:
    for file in STATIC.glob("*.*"):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            assert len(line) <= 120, f"{file.name}:{number}"


def test_slices_of_the_page_are_those_of_the_report(results_tree: Path) -> None:
    gathered = gather(iterate_results([results_tree]))
    board, told = gathered.boards[0], slice_pack(gathered).boards[0]
    results = {shown.key: shown.result for shown in gathered.shown}
    assert told.slices
    for each in told.slices:
        assert each.captures >= FEW_CAPTURES
        assert [results[row.key] for row in each.rows] == [
            row.result for row in board.rows if not row.result.is_reference
        ]
        for row in each.rows:
            cases = results[row.key].cases.values()
            if each.facet in Dimension.__members__.values():
                scores = [case.score for case in cases if case.group.get(Dimension(each.facet)) == each.name]
                assert row.cases == len(scores)
                assert row.core == pytest.approx(100 * scenario_score(scores, 0.0).quality_core, abs=1e-3)


def test_every_component_and_every_figure_is_told_to_the_page(results_tree: Path) -> None:
    gathered = gather(iterate_results([results_tree]))
    shown = overview(gathered, [])
    assert [component.name for component in shown.components] == [component.name for component in COMPONENTS]
    assert {figure.key for figure in shown.figures} == {figure.key for figure in FIGURES}
    assert all(name in {figure.key for figure in shown.figures} for column in shown.columns for name in column.figures)
    views = [case.recovered for each in gathered.shown for case in each.cases if case.recovered]
    assert all(list(view.parts) == [component.name for component in COMPONENTS] for view in views)


# What is removed is marked where it stood -------------------------------------------------------------------------


def test_spans_of_every_wrapper_are_exactly_what_recovery_removed(corpus: Corpus) -> None:
    checked = 0
    for case in corpus.cases[::7]:
        for wrapper in WRAPPERS:
            if case.intent not in wrapper.intents:
                continue
            raw = wrapper.wrap(case.expected_output, case.intent)
            recovery = recover(raw, case.request)
            if not recovery.steps:
                continue
            spans = removed_spans(raw, recovery.text, recovery.steps)
            assert {span.removed_by for span in spans} <= {step.name for step in recovery.steps}, wrapper.name
            assert without(raw, spans) == recovery.text, wrapper.name
            checked += 1
    assert checked > 500


def without(text: str, spans: list[RemovedSpan]) -> str:
    gone = {place for span in spans for place in range(span.start, span.end)}
    return "".join(character for place, character in enumerate(text) if place not in gone)


def test_spans_of_real_answers_are_what_recovery_removed(corpus: Corpus) -> None:
    answers, checked = Answers(seed=3), 0
    for case in corpus.cases:
        raw = answers.pick(case, quality=0.3)
        recovery = recover(raw, case.request)
        assert without(raw, removed_spans(raw, recovery.text, recovery.steps)) == recovery.text
        checked += bool(recovery.steps)
    assert checked > 40


def test_parts_from_the_middle_are_found() -> None:
    spans = removed_spans("a<x>b<y>c", "abc", [RecoveryStep("control_token", "<x><y>")])
    assert [(span.start, span.end) for span in spans] == [(1, 4), (5, 8)]


def test_a_record_that_does_not_add_up_still_shows_what_is_gone() -> None:
    assert removed_spans("xx answer yy", "answer", [RecoveryStep("outer_fence", "zz")]) == [
        RemovedSpan(0, 3, UNNAMED_STEP),
        RemovedSpan(9, 12, UNNAMED_STEP),
    ]
    assert removed_spans("one", "two", [RecoveryStep("outer_fence", "zz")]) == []


def test_overlapping_spans_say_both_and_count_as_browsers_do() -> None:
    text = "😀 think this away"
    assert answer_spans(
        [RemovedSpan(2, 7), RemovedSpan(2, 12, "thought_preamble"), RemovedSpan(13, 17, "outer_fence")], text
    ) == [
        AnswerSpan(start=3, end=8, is_thought=True, removed_as=["thought preamble"]),
        AnswerSpan(start=8, end=13, is_thought=True, removed_as=["thought preamble"]),
        AnswerSpan(start=14, end=18, removed_as=["outer fence"]),
    ]
    assert answer_spans([RemovedSpan(0, 1)], text) == [AnswerSpan(start=0, end=2, is_thought=True)]
    assert anchor_spans("😀 a.py and a.py:3", ["a.py", "a.py:3"]) == [
        AnchorSpan(start=3, end=7, anchor=0),
        AnchorSpan(start=12, end=18, anchor=1),
    ]


def test_every_anchor_that_stands_in_an_input_is_marked(corpus: Corpus) -> None:
    for case in corpus.cases:
        marked = {span.anchor for span in anchor_spans(case.raw_input, case.anchors)}
        absent = set(missing_anchors(case.raw_input, case.anchors))
        for index, anchor in enumerate(case.anchors):
            # One that stands within a longer one gives way to it.
            inside = any(anchor != other and anchor in other for other in case.anchors)
            assert index in marked or anchor in absent or inside, (case.case_id, anchor)


# Numbers ----------------------------------------------------------------------------------------------------------

# Figure of the board -> where result files have it.
_FIGURES = {
    "score": "final_score",
    "lift": "recovery_lift",
    "norm": "normalised_score",
    "core": "quality_core",
    "covered": "coverage",
    "accepted": "accepted_count",
    "soft": "soft_accepted_count",
    "rejected": "rejected_count",
    "thought": "avg_thought_leakage_density",
    "ratio": "compression_ratio",
    "saved": "tokens_saved_share",
    "latency": "avg_inference_ms",
    "p95": "p95_inference_ms",
    "speed": "decode_tokens_per_s",
    "cost": "cost_usd",
}
_PARTS = {
    "preserve": "exact_preservation_ratio",
    "quality": "summary_quality_ratio",
    "format": "format_adherence_score",
    "brevity": "brevity_ratio",
    "instruction": "instruction_following_score",
}


def test_the_numbers_of_the_board_are_those_of_the_files(results_tree: Path, results_page: str) -> None:
    found, rows = documents(results_tree), overview_of(results_page)["results"]
    assert {row["scenario"] for row in rows} == set(found)
    for row in rows:
        summary = found[row["scenario"]]["summary"]
        # To the last digit.
        assert {key: row["figures"].get(key) for key in _FIGURES} == {k: summary.get(n) for k, n in _FIGURES.items()}
        assert row["figures"]["raw"] == summary["raw_view"]["final_score"]
        low, high = summary["intervals"]["final_score"]
        # Where all draws come to the same, nothing is known of how far off that is.
        assert row["intervals"].get("score") == (None if low == high else {"low": low, "high": high})
        assert row["answered"] == summary["case_count"]


def test_the_numbers_of_a_result_are_those_of_its_file(results_tree: Path, results_page: str) -> None:
    found = documents(results_tree)
    cells = pack(results_page, "charts")["rows"]["cells"]
    for row in overview_of(results_page)["results"]:
        record = found[row["scenario"]]
        summary, detail = record["summary"], pack(results_page, f"result-{row['key']}")
        profile = {one["title"]: one for one in detail["profile"]}
        for component, name in _PARTS.items():
            assert profile[component]["recovered"] == summary[f"avg_{name}"]
            assert profile[component]["raw"] == summary["raw_view"][f"avg_{name}"]
        assert profile["case score, 10th percentile"]["recovered"] == summary["p10_case_score"]
        tiles = {tile["figure"]: tile.get("interval") for tile in detail["tiles"]}
        ends = summary["intervals"]["recovery_lift"], summary["raw_view"]["intervals"]["final_score"]
        assert [[*tiles[name].values()] for name in ("lift", "raw")] == [*ends]
        told = {(cell["dimension"], cell["group"]): cell for cell in cells if cell["key"] == row["key"]}
        groups = {(d.replace("_", " "), g["group"]): g for d, some in record["breakdowns"].items() for g in some}
        assert told.keys() == {place for place, group in groups.items() if group["case_count"]}
        for place, cell in told.items():
            assert cell["score"] == 100 * groups[place]["avg_case_score"]
            assert cell["cases"] == groups[place]["case_count"]
        identity = {line["content"] for group in detail["identity"] for line in group["lines"]}
        run, scenario = record["run"], record["scenario"]
        assert {run["corpus_sha256"], run["timestamp"], scenario["model"], run["environment"]["cpu"]} <= identity
        rejected = [case for case in record["cases"] if case.get("validation_status") == "rejected"]
        of_generation = {one["reason"]: one["count"] for one in detail["reasons"] if one.get("of_generation")}
        counts = sum(one["count"] for one in detail["reasons"]) - sum(of_generation.values())
        assert counts == sum(len(case["validation_flags"]) for case in rejected)
        assert of_generation == {name.replace("_", " "): n for name, n in summary["model_failure_counts"].items()}


def test_the_numbers_and_texts_of_cases_are_those_of_the_files(results_tree: Path, results_page: str) -> None:
    found, catalog = documents(results_tree), pack(results_page, "catalog")
    told = 0
    for row in overview_of(results_page)["results"]:
        record, detail = found[row["scenario"]], pack(results_page, f"result-{row['key']}")
        for shown, case in zip(detail["cases"], record["cases"], strict=True):
            entry = catalog[shown["question"]]
            shelf = pack(results_page, f"shelf-{entry['shelf']}")
            question = shelf["questions"][entry["place"]]
            assert entry["case_id"] == case["case_id"]
            assert shelf["raw_input"] == case["raw_input"]
            assert question["gold"] == case["expected_output"]
            if case["outcome"] == "instrument_failure":
                assert not {"recovered", "raw"} & shown.keys()
                continue
            texts = question["answers"][str(row["key"])]
            output = texts.get("recovered", {}).get("output", "")
            assert output == case["output"]
            assert texts.get("raw", {}).get("output", output) == case["raw_view"]["output"]
            for view, figures in ((case, shown["recovered"]), (case["raw_view"], shown["raw"])):
                assert figures["score"] == pytest.approx(view["case_score"], abs=1e-6)
                assert figures.get("thought", 0) == pytest.approx(view["thought_leakage_density"], abs=1e-6)
                assert figures["parts"] == pytest.approx({name: view[key] for name, key in _PARTS.items()}, abs=1e-6)
                told += 1
            assert shown["total_ms"] == pytest.approx(case["inference_ms"], abs=1e-6)
    assert told > 30 * len(catalog)


def test_pairs_are_what_compare_says(results_tree: Path, results_page: str) -> None:
    rows = overview_of(results_page)["results"]
    files = {path.stem: path for path in results_tree.rglob("*.json")}
    a, b = (row for row in rows if row["scenario"] in ("model-05", "model-02"))
    (found,) = (p for p in pack(results_page, "pairs")["found"] if (p["a"], p["b"]) == (a["key"], b["key"]))
    said = compared(*(files[row["scenario"]] for row in (a, b)))
    assert [found["wins"], found["losses"], found["ties"]] == [said["wins"], said["losses"], said["ties"]]
    shown = {figure["name"]: figure for figure in found["figures"] + found["intents"]}
    assert len(shown) == len(said["figures"]) + len(said["intents"])
    for figure in said["figures"] + said["intents"]:
        one, difference = shown[{"quality": "quality core"}.get(figure["name"], figure["name"])], figure["difference"]
        assert [one["a"], one["b"]] == [figure["a"], figure["b"]]
        assert one["gain"] == pytest.approx(difference["value"], abs=1e-9)
        # Only what is for a verdict has an interval.
        judged = figure["name"] not in ("final", "raw", "lift")
        if not judged:
            assert one["interval"] is None
        elif figure["name"] == "quality" and "corrected_for" in found:
            # Beside all pairs of the board less is sure.
            assert one["p"] >= difference["p"]
            assert one["interval"]["low"] <= difference["interval"]["low"]
        else:
            assert one["p"] == pytest.approx(difference["p"], abs=1e-9)
            assert one["interval"] == pytest.approx(difference["interval"], abs=1e-9)
        assert bool(one.get("verdict")) is judged
        assert one["cases"] == figure.get("case_count", found["shared"])


def test_too_many_results_for_all_pairs_say_so(results_tree: Path) -> None:
    records = [r.record for r in iterate_results([results_tree], skip=lambda _: None)]
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
    lost = row["required_anchors"][:1]
    row |= {"missing_tokens": lost, "reasons": {"preserve": ["gone"]}, "ungrounded_facts": ["f"]}
    row["raw_view"] |= {"missing_tokens": [], "reasons": {}, "ungrounded_facts": []}
    gathered = gather([as_result(Path("x.json"), record)])
    (asked,) = (each for each in gathered.asked if each.question.case_id == row["case_id"])
    answer = asked.answers[gathered.shown[0].key]
    assert (answer.recovered.missing, answer.raw.missing) == (lost, [])
    assert (answer.recovered.reasons, answer.raw.reasons) == ({"preserve": ["gone"]}, {})
    assert answer.raw.ungrounded == []


def test_questions_about_one_input_share_a_shelf(results_tree: Path) -> None:
    catalog, shelves = shelve(gather(iterate_results([results_tree])).asked)
    assert sum(len(shelf.questions) for shelf in shelves) == len(catalog) == len(page_cases().cases) > len(shelves)
    assert len({shelf.raw_input for shelf in shelves}) == len(shelves)
    assert {(entry.shelf, entry.place) for entry in catalog} == {
        (number, place) for number, shelf in enumerate(shelves) for place in range(len(shelf.questions))
    }


def test_a_question_tells_command_and_exit_code_where_the_file_does(results_tree: Path) -> None:
    record = altered(results_tree, "x")
    known: list[tuple[str | None, int | None]] = [("make all", 2), ("make all", None), (None, 0), (None, None)]
    for row, (command, exit_code) in zip(record["cases"], known, strict=False):
        row |= {"command": command, "exit_code": exit_code}
    for key in ("command", "exit_code"):
        # As in files of earlier versions.
        del record["cases"][3][key]
    catalog, shelves = shelve(gather([as_result(Path("x.json"), record)]).asked)
    questions = [shelves[entry.shelf].questions[entry.place] for entry in catalog]
    assert [(question.command, question.exit_code) for question in questions[:4]] == known


def test_cases_that_were_never_asked_are_not_scored(results_tree: Path) -> None:
    record = altered(results_tree, "x")
    record["summary"]["planned_count"] += 100
    rows = chart_rows(gather([as_result(Path("x.json"), record, believed=True)])).verdicts
    assert {row.verdict: row.count for row in rows}["not scored"] == 100
    assert sum(row.count for row in rows) == record["summary"]["planned_count"]


def test_what_was_asked_otherwise_has_a_board_of_its_own(results_tree: Path, tmp_path: Path) -> None:
    other = published_layout(tmp_path / "theirs.json", "theirs", {"python-01": 0.5})
    shown = overview(gather(iterate_results([results_tree, other])), [])
    keys = {row.scenario: row.key for row in shown.results}
    first, *_ = shown.boards
    (last,) = (board for board in shown.boards if keys["theirs"] in board.results)
    assert keys["model-05"] in first.results
    assert keys["theirs"] not in first.results
    assert (last.results, last.best) == ([keys["theirs"]], [keys["theirs"]])
    assert [key for board in shown.boards for key in board.results] == [row.key for row in shown.results]


def test_lines_are_those_of_most_results(results_tree: Path) -> None:
    gathered = gather(iterate_results([results_tree]))
    lines = reference_lines(gathered, gathered.boards[0])
    names = {each.key: each.result.name for each in gathered.shown}
    own = documents(results_tree)["model-05"]["summary"]["reference"]
    # One of the six is incomplete, and has a floor of its own.
    expected = ["control-gold", f"control-{own['floor']}"]
    assert [line.key is not None and names[line.key] for line in lines] == expected
    assert [(line.score, line.is_ceiling) for line in lines] == [
        (own["ceiling_score"], True),
        (own["floor_score"], False),
    ]
    # Where no model has a result, the reference rows say it themselves.
    references = gather(each for each in iterate_results([results_tree]) if each.is_reference)
    alone = reference_lines(references, references.boards[0])
    assert [(line.label, line.score) for line in alone] == [(line.label, line.score) for line in lines]


def test_reference_rows_without_a_result_are_told_to_the_page(results_tree: Path) -> None:
    models = [each for each in iterate_results([results_tree]) if not each.is_reference]
    gathered = gather(models)
    shown = overview(gathered, [])
    board = shown.boards[0]
    own = documents(results_tree)["model-05"]["summary"]["reference"]
    best = sorted(own["controls"], key=lambda name: -own["controls"][name])[:3]
    assert [row.model for row in board.references] == ["gold", *dict.fromkeys([*best, "ok"])]
    assert [row.figures["score"] for row in board.references[1:4]] == [own["controls"][name] for name in best]
    assert all(row.key < 0 and row.rank is None and row.is_reference for row in board.references)
    assert {line.key for line in board.lines} <= {row.key for row in board.references}
    assert not any(row.is_yardstick for row in shown.results)
    # What is a result itself is not there twice.
    all_of_them = overview(gather(iterate_results([results_tree])), [])
    assert all_of_them.boards[0].references == []
    yardsticks = {row.model for row in all_of_them.results if row.is_yardstick}
    assert yardsticks == {row.model for row in board.references}


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
        (spoiled("run", {}), "/run: does not belong in a file without a schema_version"),
        (spoiled("breakdowns", {"intent": [{}]}), "/breakdowns: does not belong in a file without"),
        (spoiled("summary/avg_inference_ms", "fast"), "/summary/avg_inference_ms: expected float, got str"),
        (spoiled("summary/raw_view/final_score", []), "/summary/raw_view/final_score: expected float, got array"),
        (spoiled("cases/0/title", {}), "/cases/0/title: expected str | null, got object"),
        (spoiled("cases/0/output", 3), "/cases/0/output: expected str, got int"),
        (spoiled("scenario/phase", 3), "/scenario/phase: expected str, got int"),
        (lambda record: record["cases"].append(record["cases"][0]), "/cases/1/case_id: 'python-01' appears twice"),
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
    done = run_viewer(cut)
    assert done.returncode == 0
    assert (
        f"x.journal.jsonl: the run has no result yet; resume it with: python -m benchmark.runner --resume {cut}"
        in done.stderr
    )


def test_a_root_without_results_is_named(results_tree: Path, tmp_path: Path) -> None:
    done = run_viewer(tmp_path, one_of(results_tree), "-o", tmp_path / "page.html")
    assert done.returncode == 2
    assert (tmp_path / "page.html").exists()
    assert f"skipped: {tmp_path}: contains no result file" in done.stderr


# The command ------------------------------------------------------------------------------------------------------


def test_one_page_of_several_roots_with_what_was_left_out(results_tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    published_layout(other / "theirs.json", "remote-theirs", {"python-01": 0.5})
    (other / "package.json").write_text('{"name": "something else"}')
    (other / "torn.json").write_text('{"scenario": {"name": "x"')
    young = json.loads(one_of(results_tree).read_text()) | {"schema_version": 99}
    (other / "young.json").write_text(json.dumps(young))
    page = tmp_path / "all.html"
    done = run_viewer(results_tree, other, "-o", page)
    assert done.returncode == 2, done.stderr
    skipped = [line for line in done.stderr.splitlines() if line.startswith("skipped: ")]
    assert len(skipped) == 3
    assert "package.json: is not a result file" in done.stderr
    assert "torn.json:1:" in done.stderr
    assert "young.json: /schema_version: 99 is not" in done.stderr
    shown = overview_of(page.read_text())
    assert {row["scenario"] for row in shown["results"]} >= {"remote-theirs", "model-00"}
    assert len(shown["skipped"]) == 3
    assert re.match(rf"{re.escape(str(page))}: \d+ results, [\d,]+ answers, \d\.\d MB\n", done.stdout)


def one_of(tree: Path) -> Path:
    return next(path for path in sorted(tree.rglob("*.json")) if path.stem.startswith("model"))


@pytest.mark.parametrize("content", [None, "{}", '{"scenario": 1, "summary": 2, "cases": 3}', "torn {"])
def test_nothing_to_show_is_an_error_with_a_hint(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "a.json").write_text(content)
    done = run_viewer(tmp_path)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    offer = "run a benchmark first (make bench), or show the runs that ship with it: python -m benchmark.viewer --open"
    assert last == f"error: {tmp_path}: contains no result file that can be shown; {offer}"
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "viewer.html").exists()


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    done = run_viewer(tmp_path / "nowhere")
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
    done = run_viewer("--open", run_folder, BROWSER=f"{browser} %s")
    assert done.returncode == 0, done.stderr
    page = run_folder / "viewer.html"
    assert page.is_file()
    assert (tmp_path / "opened").read_text().strip() == page.resolve().as_uri()
    # A page among the results is no result, and a file as PATH has its page beside it.
    page.unlink()
    assert run_viewer(file).returncode == 0
    assert page.is_file()


def test_a_page_that_cannot_be_written_is_one_line(results_tree: Path, tmp_path: Path) -> None:
    target = tmp_path / "no" / "page.html"
    done = run_viewer(results_tree, "-o", target)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"error: {target}: cannot be written (No such file or directory)")
    assert "Traceback" not in done.stderr


def test_pictures_are_drawn_without_a_browser(results_tree: Path, tmp_path: Path) -> None:
    for form in ("png", "svg"):
        done = run_viewer(results_tree, f"--{form}", tmp_path / form)
        assert done.returncode == 0, done.stderr
        files = {Path(line).name for line in done.stdout.splitlines()}
        wanted = ("score-latency", "lift", "verdicts", "case-scores", "latency", "heat-intent", "heat-tool")
        assert {f"{name}.{form}" for name in wanted} <= files
    for file in (tmp_path / "png").iterdir():
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.stat().st_size > 5000
    text = (tmp_path / "svg" / "heat-intent.svg").read_text()
    ET.fromstring(text)
    shown = {result.name for result in iterate_results([results_tree]) if not result.is_reference}
    assert all(name in text for name in shown)


def test_png_and_a_page_at_once_are_refused(results_tree: Path, tmp_path: Path) -> None:
    done = run_viewer(results_tree, "--png", tmp_path, "--open")
    assert done.returncode == 2
    assert done.stderr == "error: --png and --svg: write charts instead of a page; leave out --open and -o\n"


def test_one_result_without_references_is_a_page_too(results_tree: Path, tmp_path: Path) -> None:
    page = tmp_path / "one.html"
    assert main([str(one_of(results_tree)), "-o", str(page)]) == 0
    shown = overview_of(page.read_text())
    # What does not beat the best baseline is first of nothing.
    assert [(row["rank"], "not above floor" in row["flags"]) for row in shown["results"]] == [(None, True)]
    # Floor and ceiling come from the result's own references.
    reference = read_result(one_of(results_tree)).record.summary.reference
    assert reference is not None
    assert [line["label"] for line in shown["boards"][0]["lines"]] == ["gold", f"floor: {reference.floor}"]
    assert shown["boards"][0]["lines"][0]["score"] == reference.ceiling_score


def test_libraries_in_the_page_are_those_that_are_named() -> None:
    folder = ROOT / "benchmark" / "viewer" / "static" / "vendor"
    named = (folder / "README.md").read_text()
    import hashlib

    for file in sorted(folder.glob("*.js")):
        assert f"| {file.name} |" in named
        assert hashlib.sha256(file.read_bytes()).hexdigest() in named, file.name


def test_leaked_thought_is_marked_where_it_was_when_the_answer_was_scored(results_tree: Path) -> None:
    """Older files do not tell where it is; then it is found again."""

    def marked(change: Callable[[dict[str, Any]], None]) -> list[list[AnswerSpan]]:
        views = 0
        record = altered(results_tree, "x")
        for row in record["cases"]:
            for view in (row, row.get("raw_view", {})):
                if view.get("thought_marker_count"):
                    views += 1
                    assert view["thought_spans"]
                    change(view)
        assert views
        gathered = gather([as_result(Path("x.json"), record)])
        answers = [asked.answers[gathered.shown[0].key] for asked in gathered.asked]
        return [view.spans for answer in answers for view in (answer.raw, answer.recovered) if view.spans]

    as_scored = marked(lambda _: None)
    assert as_scored == marked(lambda view: view.pop("thought_spans"))
    # A file may tell anything.
    assert marked(lambda view: view.update(thought_spans=[[5, 2], [0, 10**9], [10**8, 10**9]])) != as_scored

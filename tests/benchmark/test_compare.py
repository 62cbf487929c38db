"""Two results, or many, against each other: from the command line, on files."""

from __future__ import annotations

import csv
import functools
import gzip
import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark import compare, report, rescore
from benchmark.analysis.comparison import Comparison, Measure
from benchmark.analysis.comparison import compare as compare_results
from benchmark.analysis.ranking import Rank, rank_results
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.record.read import find_results, read_result
from benchmark.render.markdown import markdown_table
from benchmark.render.pair import pair_markdown
from benchmark.viewer.page_data import gather, pairs
from ctxsift.errors import InputError
from tests.conftest import ROOT, published_layout, scripted, write_matrix
from tests.support.agreeing import scored, summed

CASES = 120
PUBLISHED = '"scenario": {"name": "x", "track": "cpu"}, "summary": {"final_score": 1, "case_count": 1}'


@functools.cache
def template() -> str:
    """Return a real result of one case, to be varied."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_matrix(folder, scripted(folder, "template", default="The build failed."))
        command = [sys.executable, "-m", "benchmark.runner", "--max-cases", "1"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        (path,) = folder.glob("results/*/template.json")
        return path.read_text()


def write(folder: Path, name: str, scores: dict[str, float], *, track: str = "cpu", **run: Any) -> Path:
    """Write a result with these case scores."""
    folder.mkdir(parents=True, exist_ok=True)
    record: dict[str, Any] = json.loads(template())
    (case,) = record["cases"]
    record["cases"] = [
        case
        | {"case_id": case_id, "capture": case_id, "inference_ms": 1000.0, "intent": intent}
        | scored(intent, score)
        | {"raw_view": case["raw_view"] | scored(intent, score / 2)}
        for (case_id, score), intent in zip(sorted(scores.items()), itertools.cycle(("recall", "json")), strict=False)
    ]
    record["scenario"] |= {"name": name, "track": track}
    clean = {"latency_clean": True, "other_cpu_share": 0.0, "load_average": [0.0, 0.0]}
    record["run"] |= {"complete": True, "timestamp": "20260101T000000Z", "disturbance": clean} | run
    path = folder / f"{name}.json"
    path.write_text(json.dumps(summed(record)))
    return path


def drawn(seed: int, shift: float = 0.0) -> dict[str, float]:
    rng = np.random.default_rng(7)
    common = rng.beta(2, 2, CASES)
    noise = np.random.default_rng(seed).normal(0, 0.05, CASES)
    return {f"case-{n:03}": float(s) for n, s in enumerate(np.clip(common + noise + shift, 0, 1))}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return str(write(tmp_path / "a", "before", drawn(1))), str(write(tmp_path / "b", "after", drawn(2, -0.1)))


def figures(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shown


@pytest.mark.slow
def test_a_drop_is_found_with_its_interval(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([*pair, "--json"]) == 0
    shown = figures(capsys)
    final = shown["figures"][0]
    assert final["name"] == "quality"
    assert final["b"] - final["a"] == pytest.approx(final["difference"]["value"])
    assert (
        final["difference"]["interval"]["low"] < final["difference"]["value"] < final["difference"]["interval"]["high"]
    )
    assert final["difference"]["interval"]["high"] < 0
    assert final["difference"]["p"] < 0.001
    assert shown["verdict"] == "B worse"
    assert shown["wins"] + shown["losses"] + shown["ties"] == shown["shared_cases"] == CASES
    assert shown["losses"] > shown["wins"]
    assert [group["name"] for group in shown["intents"]] == ["json", "recall"]
    assert sum(group["case_count"] for group in shown["intents"]) == CASES


@pytest.mark.slow
def test_cases_that_flipped_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write(tmp_path / "a", "a", {"one": 0.9, "two": 0.9, "three": 0.3, "four": 0.2, "five": 0.7})
    b = write(tmp_path / "b", "b", {"one": 0.9, "two": 0.0, "three": 0.8, "four": 0.2, "six": 0.7})
    assert compare.main([str(a), str(b), "--json"]) == 0
    shown = figures(capsys)
    assert (shown["passed_only_in_a"], shown["passed_only_in_b"]) == (["two"], ["three"])
    assert (shown["wins"], shown["losses"], shown["ties"]) == (1, 1, 2)
    assert (shown["shared_cases"], shown["only_a"], shown["only_b"]) == (4, 1, 1)
    assert compare.main([str(a), str(b)]) == 0
    text = capsys.readouterr().out
    assert "4 shared cases; 1 only in A and 1 only in B are left out" in text
    assert "two  90.0 -> 0.0" in text
    assert "too few captures" in text


@pytest.mark.parametrize(("allowed", "code"), [("0", 1), ("5", 1), ("30", 0)])
def test_the_gate_fails_only_on_a_sure_drop(
    pair: tuple[str, str], allowed: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare.main([*pair, "--fail-on-drop", allowed]) == code
    assert ("gate: FAILED: dropped by more than" in capsys.readouterr().out) == bool(code)
    assert compare.main([*pair[::-1], "--fail-on-drop", "0", "--json"]) == 0
    assert figures(capsys)["gate"]["passed"]


def on_captures(path: Path, each: int, *, named: bool = True) -> Path:
    """Put `each` cases of a result on one capture; without its name, as older files are, by their raw input."""
    record = json.loads(path.read_text())
    for number, case in enumerate(record["cases"]):
        case |= {"capture": f"made/{number // each}", "raw_input": f"error {number // each}\n"}
        if not named:
            del case["capture"]
    path.write_text(json.dumps(record))
    return path


def test_captures_are_drawn_not_cases(tmp_path: Path) -> None:
    # Three cases of a capture come out the same: three times the cases, not the evidence.
    thirds = list(drawn(1).values())[: CASES // 3], list(drawn(2).values())[: CASES // 3]
    once, thrice = (
        [
            write(tmp_path / f"{each}", name, {f"case-{n:03}": scores[n // each] for n in range(each * len(scores))})
            for name, scores in zip("ab", thirds, strict=True)
        ]
        for each in (1, 3)
    )
    plain = compare_files(*once)
    alone = compare_files(*thrice)
    together = compare_files(*(on_captures(path, 3) for path in thrice))
    assert (plain.captures, alone.captures, together.captures) == (CASES // 3, CASES, CASES // 3)

    def width(found: Comparison) -> float:
        interval = found.difference(Measure.CORE).interval
        assert interval is not None
        return interval.high - interval.low

    assert width(together) == pytest.approx(width(plain), rel=0.05)
    assert width(alone) == pytest.approx(width(plain) / 3**0.5, rel=0.1)
    assert together.difference(Measure.FINAL).p > alone.difference(Measure.FINAL).p


def test_an_older_file_is_compared_as_it_would_be_now(tmp_path: Path) -> None:
    a, b = (on_captures(write(tmp_path, name, drawn(seed)), 2) for name, seed in (("a", 1), ("b", 2)))
    now = compare_files(a, b)
    on_captures(a, 2, named=False)
    mixed = compare_files(a, b)
    on_captures(b, 2, named=False)
    before = compare_files(a, b)
    # What one file does not tell at all, the other does.
    record = json.loads(a.read_text())
    for case in record["cases"]:
        del case["raw_input"]
    a.write_text(json.dumps(record))
    on_captures(b, 2)
    silent = compare_files(a, b)
    assert now.captures == CASES // 2
    for found in (mixed, before, silent):
        assert (found.captures, found.figures, found.intents) == (now.captures, now.figures, now.intents)


def test_many_cases_on_a_few_captures_say_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = (on_captures(write(tmp_path, n, drawn(1, shift)), 30) for n, shift in (("a", 0.0), ("b", -0.3)))
    assert compare.main([str(a), str(b), "--fail-on-drop", "1"]) == 0
    assert f"{CASES} shared cases on 4 distinct captures: too few to show a difference" in capsys.readouterr().out


def compare_files(a: Path, b: Path) -> Comparison:
    return compare_results(read_result(a), read_result(b))


def test_quality_leaves_latency_out(tmp_path: Path) -> None:
    a, b = write(tmp_path, "a", drawn(1)), write(tmp_path, "b", drawn(1))
    record = json.loads(b.read_text())
    for case in record["cases"]:
        case["inference_ms"] = 60_000.0
    b.write_text(json.dumps(summed(record)))
    assert compare.main([str(a), str(b), "--fail-on-drop", "1", "--score", "final"]) == 1
    assert compare.main([str(a), str(b), "--fail-on-drop", "1"]) == 0


def test_the_gate_lets_noise_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = write(tmp_path, "a", drawn(1)), write(tmp_path, "b", drawn(3))
    assert compare.main([str(a), str(b), "--fail-on-drop", "0"]) == 0
    assert "is not ruled out" in capsys.readouterr().out


def test_the_gate_does_not_pass_an_unfinished_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = drawn(1)
    a, b = write(tmp_path, "a", scores), write(tmp_path, "b", dict(list(scores.items())[:60]), complete=False)
    assert compare.main([str(a), str(b), "--fail-on-drop", "50"]) == 1
    assert "B has no answer to 60 cases that A answered" in capsys.readouterr().out
    assert compare.main([str(b), str(a), "--fail-on-drop", "50"]) == 0


@pytest.mark.slow
def test_other_commands_let_the_reader_leave_too(pair: tuple[str, str]) -> None:
    for arguments in (("benchmark.report", *pair), ("benchmark.corpus", "stats"), ("benchmark.corpus", "export")):
        command = [sys.executable, "-m", *arguments]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == 0


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--json", "--markdown", "--score=final"])
def test_the_gate_holds_when_the_reader_leaves(pair: tuple[str, str], option: str) -> None:
    for files, code in ((pair, 1), (pair[::-1], 0)):
        command = [sys.executable, "-m", "benchmark.compare", *files, "--fail-on-drop", "0", option]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == code


def test_markdown_of_a_pair(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([*pair, "--markdown"]) == 0
    text = capsys.readouterr().out
    for part in ("# after against before", "| score | A | B | B - A |", "## By intent", "cases passed only in A"):
        assert part in text


def test_many_results_make_a_matrix_with_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed, shift in (("best", 1, 0.2), ("twin-1", 2, 0.0), ("twin-2", 3, 0.0), ("worst", 4, -0.3)):
        write(tmp_path / "tree" / name, name, drawn(seed, shift))
    assert compare.main([str(tmp_path / "tree"), "--json"]) == 0
    shown = figures(capsys)
    ranks = [(row["label"], row["rank"]) for row in shown["results"]]
    assert ranks[0] == ("best", "1")
    assert sorted(ranks[1:3]) == [("twin-1", "2="), ("twin-2", "2=")]
    assert ranks[3] == ("worst", "4")
    assert len(shown["differences"]) == 6
    assert compare.main([str(tmp_path / "tree"), "--markdown"]) == 0
    assert "| 4 worst | 4 | 120 |" in capsys.readouterr().out
    assert compare.main([str(tmp_path / "tree")]) == 0
    assert "Holm" in capsys.readouterr().out


def test_corrected_p_values_are_never_smaller(tmp_path: Path) -> None:
    results = [read_result(write(tmp_path, f"r{n}", drawn(n, 0.008 * n))) for n in range(5)]
    board = rank_results(results)
    for (i, j), difference in board.differences.items():
        alone = rank_results([results[i], results[j]]).differences[0, 1]
        assert difference.p >= alone.p
        assert difference.value == pytest.approx(alone.value)


def test_results_without_a_shared_case_tie(tmp_path: Path) -> None:
    a = read_result(write(tmp_path, "a", {f"a{n}": 1.0 for n in range(20)}))
    b = read_result(write(tmp_path, "b", {f"b{n}": 0.0 for n in range(20)}))
    board = rank_results([a, b])
    assert board.ranks == (Rank(1, tied=True), Rank(1, tied=True))
    assert board.differences == {}


def test_what_is_hard_to_compare_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write(tmp_path, "a", drawn(1))
    disturbed = {"latency_clean": False, "other_cpu_share": 0.4, "load_average": [3.0, 3.0]}
    b = write(tmp_path, "b", drawn(2), scorer_version="1", complete=False, disturbance=disturbed)
    assert compare.main([str(a), str(b)]) == 0
    text = capsys.readouterr().out
    for warning in ("scored by different scorers", "b: latency is unreliable (busy machine)", "b: incomplete"):
        assert warning in text


def test_files_of_the_published_layout_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = published_layout(tmp_path / "a.result.json", "a", {f"c{n}": 0.4 for n in range(30)})
    b = published_layout(tmp_path / "b.result.json", "b", {f"c{n}": 0.6 for n in range(30)})
    packed = tmp_path / "b.result.json.gz"
    packed.write_bytes(gzip.compress(b.read_bytes()))
    assert compare.main([str(a), str(packed), "--json"]) == 0
    shown = figures(capsys)
    assert shown["figures"][0]["difference"]["value"] == pytest.approx(20.0)
    assert shown["intents"] == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not valid JSON"),
        ("[]", "is not a result file (not a JSON object)"),
        (
            '{"scenario": {"name": "x", "track": "cpu"}, "summary": {"final_score": 1, "case_count": 1}}',
            "/cases: required field is missing",
        ),
        (
            '{"scenario": {"name": "x", "track": "cpu"}, "summary": {"final_score": 1, "case_count": 1}, "cases": [3]}',
            "/cases/0",
        ),
        ("[" * 100_000, "cannot be read"),
        ("\udcff", "is not a result file (not JSON); name a result"),
        ("# CtxSift", "is not a result file (not JSON); name a result"),
        ('{"name": "x", "version": "1"}', "is not a result file (none of its fields); name a result"),
        ('{"scenario": "\udcff', "cannot be read"),
    ],
)
def test_damaged_files_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, problem: str
) -> None:
    path = tmp_path / "damaged.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    for command in (compare.main, report.main):
        assert command([str(path), str(write(tmp_path, "ok", {"one": 1.0}))]) == 2
        told = capsys.readouterr().err
        assert problem in told
        assert str(path) in told
        assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "problem"),
    [(float("nan"), "NaN is not valid JSON"), (1.5, "expected float <= 1.0"), ("1", "got str"), (True, "got bool")],
)
def test_scores_that_are_none_are_refused(tmp_path: Path, value: object, problem: str) -> None:
    path = write(tmp_path, "a", {"one": 1.0})
    record = json.loads(path.read_text())
    record["cases"][0]["case_score"] = value
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=problem):
        read_result(path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("run",), {"complete": True}),
        (("run",), [1]),
        (("summary",), {}),
        (("summary", "final_score"), "high"),
        (("summary", "raw_view"), None),
        (("breakdowns",), [1]),
        (("cases", 0, "missing_tokens"), None),
        (("cases", 0, "inference_ms"), 10**400),
        (("cases", 0, "raw_view", "output"), 5),
        (("schema_version",), 99),
        (("schema_version",), True),
    ],
)
@pytest.mark.slow
def test_damaged_results_are_one_line_for_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: tuple[str | int, ...], value: object
) -> None:
    path = write(tmp_path, "a", {"one": 1.0})
    record = json.loads(path.read_text())
    inner = record
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    path.write_text(json.dumps(record))
    before = path.read_bytes()
    for command, arguments in (
        (compare.main, [str(path), str(write(tmp_path / "b", "b", {"one": 1.0}))]),
        (report.main, [str(path)]),
        (rescore.main, [str(path)]),
    ):
        assert command(arguments) == 2
        told = capsys.readouterr().err
        assert str(path) in told
        assert len(told.splitlines()) == 1
    assert path.read_bytes() == before


def test_names_from_files_do_not_reach_the_terminal_raw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a", {"one\x1b[31m": 1.0, "two": 0.5})
    record = json.loads(path.read_text())
    record["scenario"]["name"] = "\x1b[31mevil\x1b]0;pwned\x07\ud83d"
    record["run"]["error"] = "\x1b[2J"
    path.write_text(json.dumps(record))
    other = write(tmp_path / "b", "b", {"one\x1b[31m": 0.0, "two": 0.9})
    for command, arguments in (
        (compare.main, [str(path), str(other)]),
        (compare.main, [str(path), str(other), "--markdown"]),
        (compare.main, [str(path), str(other), str(write(tmp_path / "c", "c", {"two": 0.1}))]),
        (report.main, [str(path), str(other), "--markdown", str(tmp_path / "r.md")]),
    ):
        assert command(arguments) == 0
        shown = capsys.readouterr().out + (tmp_path / "r.md").read_text() if (tmp_path / "r.md").exists() else ""
        assert "\x1b" not in shown
        assert "\x07" not in shown


def test_two_results_of_one_scenario_stay_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "before", "same", drawn(1), timestamp="20260101T000000Z")
    write(tmp_path / "after", "same", drawn(2), timestamp="20260102T000000Z")
    assert report.main([str(tmp_path), "--markdown", str(tmp_path / "r.md"), "--csv", str(tmp_path / "c.csv")]) == 0
    for text in (capsys.readouterr().out, (tmp_path / "r.md").read_text()):
        assert "same (2026-01-01)" in text
        assert "same (2026-01-02)" in text
    # A row of the CSV file has a column for the time.
    rows = (tmp_path / "c.csv").read_text()
    assert "same,20260101T000000Z," in rows
    assert "same,20260102T000000Z," in rows


@pytest.mark.parametrize("text", ["__init__.py", "![x](http://evil)", "<b>", "a|b", "`c`", "# d", "~~e~~", "*f*"])
def test_cells_of_markdown_are_text(text: str) -> None:
    rendered = markdown_table(["head"], [[text]])
    bare = rendered.replace("\\", "").replace("&lt;", "<")
    assert text in bare
    for mark in "_!*`#~<":
        assert f" {mark}" not in rendered.splitlines()[2] or mark not in text


def test_wrong_usage_is_one_line(tmp_path: Path, pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, problem in (
        ([pair[0]], "is only one result"),
        ([pair[0], pair[0]], "is only one result"),
        ([str(empty), pair[0]], "contains no result file"),
        ([str(tmp_path / "none"), pair[0]], "no such file or folder"),
        ([*pair, str(write(tmp_path, "c", drawn(5))), "--fail-on-drop", "1"], "name two result files"),
        ([*pair, "--fail-on-drop", "-1"], "is not a number of points"),
        ([pair[0], str(write(tmp_path, "d", {"other": 1.0}))], "have no answered case in common"),
    ):
        assert compare.main(arguments) == 2
        told = capsys.readouterr().err
        assert problem in told
        assert len(told.splitlines()) == 1


def test_other_json_in_a_results_tree_is_no_result(tmp_path: Path) -> None:
    write(tmp_path / "run", "a", {"one": 1.0})
    (tmp_path / "matrix.json").write_text('{"scenarios": []}')
    assert [result.name for result in find_results([tmp_path])] == ["a"]


def test_report_writes_markdown_and_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "run", "winner", drawn(1, 0.3))
    write(tmp_path / "run", "loser", drawn(2, -0.2))
    write(tmp_path / "run", "control-tf-idf", drawn(3, -0.3), track="control")
    markdown, rows = tmp_path / "r.md", tmp_path / "c.csv"
    assert report.main([str(tmp_path / "run"), "--markdown", str(markdown), "--csv", str(rows)]) == 0
    shown = capsys.readouterr().out
    assert shown.index("winner") < shown.index("loser")
    assert "ref" in shown
    assert "| 1 | winner " in markdown.read_text()
    assert "| *ref* | *control-tf-idf* |" in markdown.read_text()
    lines = rows.read_text().splitlines()
    assert len(lines) == 1 + 3 * CASES
    assert lines[0].startswith("scenario,timestamp,track,model,case_id,")


def test_no_cell_of_the_csv_runs_in_a_spreadsheet(tmp_path: Path) -> None:
    path = write(tmp_path, "a", {"one": 1.0})
    record = json.loads(path.read_text())
    record["cases"][0]["tool"] = "=cmd()"
    path.write_text(json.dumps(record))
    assert report.main([str(path), "--csv", str(tmp_path / "c.csv")]) == 0
    assert "'=cmd()" in (tmp_path / "c.csv").read_text()


def test_a_damaged_result_of_a_tree_is_named_and_the_others_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a", "good", {"one": 1.0})
    (tmp_path / "a" / "package.json").write_text("{}")
    bad = write(tmp_path / "b", "bad", {"one": 1.0})
    bad.write_text(bad.read_text()[:-40])
    assert report.main([str(tmp_path), "--csv", str(tmp_path / "cases.csv")]) == 2
    told = capsys.readouterr()
    assert "good" in told.out
    assert told.err.startswith(f"left out: {bad}:")
    assert len(told.err.splitlines()) == 1
    assert "good" in (tmp_path / "cases.csv").read_text()


def test_a_long_cell_of_the_case_table_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a", {"one": 1.0})
    record = json.loads(path.read_text())
    missing = [f"token-{number:04d}" for number in range(900)] + ["\x9b31m", "\u202e"]
    record["cases"][0]["missing_tokens"] = missing
    path.write_text(json.dumps(record))
    assert report.main([str(path), "--csv", str(tmp_path / "cases.csv")]) == 0
    capsys.readouterr()
    with (tmp_path / "cases.csv").open(newline="") as table:
        (row,) = csv.DictReader(table)
    assert json.loads(row["missing_tokens"]) == missing


def test_a_corpus_and_its_variant_are_not_to_be_rescored(tmp_path: Path) -> None:
    paths = []
    for name, text in (("a", "the old name"), ("b", "the new name")):
        path = write(tmp_path / name, name, {"one": 0.5, "two": 0.25}, corpus_sha256=("0" if name == "a" else "1") * 64)
        record = json.loads(path.read_text())
        for case in record["cases"]:
            case["raw_input"] = text
        path.write_text(json.dumps(record))
        paths.append(path)
    told = pair_markdown(compare_results(*map(read_result, paths)), None)
    assert (
        "a corpus and its variant (000000000000, 111111111111): 2 cases with the same name ask different questions"
        in told
    )
    assert "rescore" not in told


@pytest.mark.parametrize("turned", [False, True])
def test_a_pair_is_told_in_the_sentence_of_the_page(capsys: pytest.CaptureFixture[str], turned: bool) -> None:
    files = [PACKAGED_RESULTS / "easy" / f"cpu-qwen2.5-coder-{size}-q4_k_m.json.gz" for size in ("0.5b", "1.5b")]
    if turned:
        files.reverse()
    assert compare.main([*map(str, files)]) == 0
    told = capsys.readouterr().out.splitlines()
    gathered = gather(find_results(files))
    (pair,) = pairs(gathered) or []
    names = {shown.key: shown.result.path for shown in gathered.shown}
    words = pair.words if names[pair.a] == files[0] else pair.turned_words
    # The page has the sign of a minus, the terminal that of a keyboard.
    assert told[2] == words.replace("{b}", "B").replace("−", "-")
    assert ("writes" in told[2], " as A)" in told[2]) == (True, True)
    assert compare.main([*map(str, files), "--markdown"]) == 0
    assert f"**{told[2]}**".replace("[", r"\[").replace("]", r"\]") in capsys.readouterr().out


def test_results_without_a_verdict_have_no_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write(tmp_path / "a", "a", {"one": 0.9, "two": 0.9})
    b = write(tmp_path / "b", "b", {"one": 0.9, "two": 0.0}, scorer_version="0")
    assert compare.main([str(a), str(b)]) == 0
    told = capsys.readouterr().out
    assert "no verdict: the results" in told
    assert not re.search("better than|worse than|too few to tell|loses 1 case", told)

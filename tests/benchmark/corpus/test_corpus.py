"""The corpus proves itself, and planted defects are found."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Case, Corpus, Rules
from benchmark.corpus import load_corpus
from benchmark.corpus.__main__ import main
from benchmark.corpus.checks import (
    check_case,
    check_corpus,
    check_each,
    check_scores,
    check_variant,
    house_findings,
    weak_anchors,
)
from benchmark.corpus.jsonl import case_row
from benchmark.corpus.quotas import quotas
from benchmark.corpus.variants import variant_of
from benchmark.grading.outcome import question_of
from benchmark.scoring import Embedder
from benchmark.scoring.case_score import Scores
from benchmark.scoring.component_score import ComponentScore
from ctxsift.contracts import OutputMode
from ctxsift.intents import Intent
from tests.conftest import ROOT, Run, scripted, write_matrix
from tests.support.frozen import CAPTURE, FOLDER, page_cases
from tests.support.processes import run_inside

# As other people write them, in the older field names.
ROW = {
    "case_id": "git-07",
    "domain": "git",
    "title": "A push",
    "instruction": "Which branch was rejected?",
    "raw_input": "To example.com:x.git\n ! [rejected] main -> main (fetch first)\n",
    "family": "recall",
    "intent": "recall",
    "must_preserve_tokens": ["main", "develop"],
    "ideal_summary": "main was rejected.",
    "output_mode": "json",
    "unheard_of": 1,
}


@pytest.mark.slow
def test_the_packaged_corpus_has_no_defect(corpus: Corpus, embedder: Embedder) -> None:
    assert check_corpus(corpus.cases, embedder) == []


def test_the_packaged_corpus_has_its_shape(corpus: Corpus, embedder: Embedder) -> None:
    missed = [quota for quota in quotas(corpus.cases, embedder.count_tokens) if not quota.met]
    assert missed == []
    assert [quota.name for quota in quotas(corpus.cases[:9], embedder.count_tokens) if not quota.met]


@pytest.fixture
def case() -> Case:
    return next(c for c in load_corpus(FOLDER).cases if c.case_id == "java-caused-by-recall")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"required_anchors": ("NOT-IN-INPUT",)}, "required anchor 'NOT-IN-INPUT' is not in the input"),
        ({"required_anchors": (), "derived_anchors": ()}, "has no anchors"),
        ({"expected_output": "Nothing of note."}, "is not in the gold"),
        ({"rules": Rules(max_words=3)}, "gold breaks its own rule"),
        ({"rules": Rules(forbidden=("NOT-IN-INPUT",))}, "forbidden token 'NOT-IN-INPUT' is not in the input"),
        ({"rules": Rules(pattern="(")}, "the pattern does not compile"),
    ],
)
def test_planted_defects_of_the_text_are_found(case: Case, change: dict[str, object], problem: str) -> None:
    broken = replace(case, **change)  # type: ignore[arg-type]
    assert any(problem in found for found in check_case(broken))


def test_a_derived_anchor_that_is_in_the_input_is_found(case: Case) -> None:
    broken = replace(case, derived_anchors=case.required_anchors[:1])
    assert any("make it a required one" in found for found in check_case(broken))


def test_a_mode_of_another_intent_is_found(case: Case) -> None:
    broken = replace(case, output_mode=OutputMode.JSON)
    assert "output mode json does not go with the intent recall: use plain_text" in list(check_case(broken))


def test_gold_that_recovery_would_change_is_found(case: Case, embedder: Embedder) -> None:
    broken = replace(case, expected_output=f"<think>x</think>\n{case.expected_output}")
    found = list(check_scores(broken, embedder))
    assert any(problem.startswith("recovery changes the gold") for problem in found)


def test_a_case_that_a_baseline_solves_is_found(case: Case, embedder: Embedder) -> None:
    gold = case.raw_input.splitlines()[0]
    broken = replace(
        case,
        raw_input=f"{gold}\n",
        expected_output=gold,
        intent=Intent.EXACT_LINES,
        required_anchors=(),
        rules=Rules(),
    )
    (strong,) = (
        finding for finding in check_each([broken], embedder) if "the baseline 'echo' scores" in finding.problem
    )
    assert strong.house


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"exact": ComponentScore(0.5), "format": ComponentScore(0.0, ("too long",))}, "format: too long"),
        ({"exact": ComponentScore(0.5), "format": ComponentScore(1.0)}, "exact 0.500"),
        ({"exact": ComponentScore(1.0)}, "the answer is accepted"),
    ],
)
def test_what_cost_gold_its_points_is_always_said(
    case: Case, embedder: Embedder, monkeypatch: pytest.MonkeyPatch, parts: dict[Any, ComponentScore], why: str
) -> None:
    monkeypatch.setattr("benchmark.corpus.checks.score_view", lambda *_: Scores(0.0, parts, ()))
    assert f"gold scores 0.000 (raw): {why}" in list(check_scores(case, embedder))


def test_gold_as_long_as_a_part_of_the_input_is_found(case: Case) -> None:
    broken = replace(case, raw_input="short")
    assert any("of the input's characters" in problem for problem in house_findings(broken))


def test_rules_of_the_packaged_corpus_only_warn_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {
        **{name: ROW[name] for name in ("case_id", "family", "intent")},
        "instruction": "Which port is in use?",
        "raw_input": "Error: port 3000 is in use\n",
        "expected_output": "Port 3000 is in use.",
        "required_anchors": ["3000"],
    }
    (tmp_path / "mine.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["check", "--dataset", str(tmp_path / "mine.jsonl")]) == 0
    told = capsys.readouterr().out
    assert "\n1 of 1 prose case has no statements: their quality is only similarity to the wording of gold\n" in told
    assert "warning, by a rule of the packaged corpus: " in told
    assert re.search(r"\n1 case on 1 capture: 0 findings, \d+ warnings?\n\Z", told), told


def test_overused_and_duplicate_captures_are_found(corpus: Corpus, case: Case, embedder: Embedder) -> None:
    many = [replace(case, case_id=f"copy-{number}") for number in range(4)]
    twin = replace(case, case_id="twin", capture=replace(case.capture, name="java/twin"))
    problems = [finding.problem for finding in check_corpus([*many, twin], embedder)]
    assert "is used by 4 cases, at most 3 are allowed" in problems
    assert "is used 4 times with the intent recall" in problems
    assert f"has the same text as {case.capture.name}" in problems
    assert "has no case of the intent json" in problems
    assert "has no case of the intent json" not in [f.problem for f in check_corpus(many, embedder, whole=False)]


def test_near_duplicates_are_found(case: Case, embedder: Embedder) -> None:
    text = case.raw_input.replace("88213", "77102")
    assert text != case.raw_input
    twin = replace(case, case_id="twin", raw_input=text, capture=replace(case.capture, name="java/twin"))
    problems = [finding.problem for finding in check_corpus([case, twin], embedder, whole=False)]
    assert any(f"% similar to {case.capture.name}" in problem for problem in problems)


def test_the_same_question_twice_is_found(case: Case, embedder: Embedder) -> None:
    again = replace(case, case_id="again", intent=Intent.SUMMARY)
    problems = [finding.problem for finding in check_corpus([case, again], embedder, whole=False)]
    assert f"asks what {case.case_id} asks of the same input" in problems


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_inside(main, arguments, ROOT, os.environ)


@pytest.mark.slow
def test_the_corpus_travels_as_jsonl(corpus: Corpus, tmp_path: Path) -> None:
    exported = call("export")
    assert exported.returncode == 0, exported.stderr
    rows = [json.loads(line) for line in exported.stdout.split("\n") if line]
    assert len(rows) == len(corpus.cases)
    for field in (
        *("case_id", "domain", "title", "instruction", "raw_input", "family", "intent", "ecosystem", "difficulty"),
        *("output_mode", "expected_output", "required_anchors", "forbidden_content", "judgement", "tags", "rationale"),
    ):
        assert all(field in row for row in rows)
    assert set(rows[0]["judgement"]) == {"format_check", "anchor_check", "max_extra_tokens", "pass_rule"}
    path = tmp_path / "corpus.jsonl"
    path.write_text(exported.stdout, encoding="utf-8")
    assert tuple(replace(c, where="") for c in load_corpus(path).cases) == tuple(
        # Known answers belong to the packaged corpus.
        replace(c, where="", known=())
        for c in corpus.cases
    )


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ({}, (None, None)),
        ({"command": " "}, (None, None)),
        ({"command": "git push"}, ("git push", None)),
        ({"exit_code": 0}, (None, 0)),
        ({"command": "git push", "exit_code": None}, ("git push", None)),
        ({"command": "git push", "exit_code": 1}, ("git push", 1)),
    ],
)
def test_rows_claim_no_command_and_no_exit_code_that_they_do_not_tell(
    tmp_path: Path, told: dict[str, object], known: tuple[object, object]
) -> None:
    path = tmp_path / "mine.jsonl"
    # A name is all that a capture needs.
    capture = {"capture": {"name": "git/push", **told}} if told else {}
    path.write_text(json.dumps(ROW | capture))
    (case,) = load_corpus(path).cases
    assert (case.request.command, case.request.exit_code) == known
    question = question_of(case)
    assert (question.command, question.exit_code) == known
    shown = call("show", case.case_id, "--dataset", str(path)).stdout
    assert f"-- command, exit code {'unknown' if known[1] is None else known[1]}\n{known[0] or 'unknown'}\n" in shown


def test_a_file_of_ours_need_not_tell_an_exit_code(tmp_path: Path) -> None:
    folder = tmp_path / "java"
    folder.mkdir()
    for suffix in (".yaml", ".txt"):
        text = CAPTURE.with_suffix(suffix).read_text(encoding="utf-8")
        (folder / f"x{suffix}").write_text(re.sub(r"(?m)^  exit_code: .*\n", "", text), encoding="utf-8")
    assert {case.request.exit_code for case in load_corpus(tmp_path).cases} == {None}


@pytest.mark.slow
def test_other_peoples_rows_are_read_and_judged(runner: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(ROW) + "\n\n")
    (case,) = load_corpus(path).cases
    assert (case.expected_output, case.required_anchors) == ("main was rejected.", ("main", "develop"))
    told = call("check", "--dataset", str(path))
    assert told.returncode == 1
    for problem in ("'develop' is not in the input", "output mode json does not go with", "of the input's characters"):
        assert problem in told.stdout
    write_matrix(tmp_path, scripted(tmp_path, default="main was rejected."))
    assert runner("--dataset", str(path)).returncode == 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{}", ":1: /case_id: required field is missing"),
        ('{"case_id": "x"}\n{', ":1: /instruction: required field is missing"),
        ("[1]", ":1: expected a mapping, got a list"),
        ("nonsense", ":1: not valid JSON"),
        (f"nonsense\n{json.dumps(ROW)}\n[1]\n\n{{", "write one JSON object per line; also wrong: line 3, 5"),
        ("", "has no cases"),
        (json.dumps(ROW | {"intent": "sumary"}), "/intent: 'sumary' is unknown; did you mean summary"),
        (json.dumps(ROW | {"title": 3}), "/title: expected a string, got a whole number"),
        (json.dumps(ROW | {"altrnatives": []}), ":1: /altrnatives: unknown field; did you mean alternatives?"),
        (json.dumps(ROW | {"tags": ["a", ""]}), "/tags/1: is empty; give it a value"),
        (json.dumps(ROW | {"rules": {"max_words": 0}}), "/rules/max_words: 0 is too small; give 1 or more"),
        ('{"raw_input": "x\\ud800"}', ":1: not valid JSON"),
        ('{"raw_input": NaN}', "NaN is not valid JSON"),
    ],
)
def test_damaged_jsonl_is_one_line(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(content)
    told = call("check", "--dataset", str(path))
    assert (told.returncode, told.stdout) == (2, "")
    assert problem in told.stderr
    assert len(told.stderr.splitlines()) == 1


def test_a_case_can_be_read(corpus: Corpus) -> None:
    case = corpus.cases[0]
    shown = call("show", case.case_id)
    assert shown.returncode == 0
    for part in (case.instruction.strip()[:40], case.expected_output.splitlines()[0], case.capture.command):
        assert part in shown.stdout
    told = call("show", f"{case.case_id}x")
    assert told.returncode == 2
    assert f"did you mean {case.case_id}" in told.stderr


@pytest.mark.slow
def test_some_cases_are_checked_by_themselves(corpus: Corpus) -> None:
    ids = [case.case_id for case in corpus.cases[:70:7]]
    told = call("check", "--case", *ids[:4], "--case", *ids[4:])
    assert told.returncode == 0, told.stdout
    assert told.stdout == f"10 of {len(corpus.cases)} cases: 0 findings\n"
    told = call("check", "--case", ids[0], f"{ids[1]}x")
    assert (told.returncode, told.stdout) == (2, "")
    assert f"{ids[1]}x: is not in the corpus; did you mean {ids[1]}" in told.stderr


@pytest.mark.slow
def test_a_case_has_the_same_variant_alone_as_among_all(corpus: Corpus) -> None:
    case = next(case for case in corpus.cases if case.statements)
    broken = replace(corpus, cases=tuple(replace(c, derived_anchors=c.required_anchors[:1]) for c in corpus.cases))
    (found,) = {finding.problem for finding in check_variant(broken, 3, {case.case_id}) if "derived" in finding.problem}
    (among,) = (c for c in variant_of(broken, 3).cases if c.case_id == case.case_id)
    assert repr(among.derived_anchors[0]) in found


@pytest.mark.parametrize("packaged", [True, False])
def test_gold_that_does_not_say_a_statement_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packaged: bool
) -> None:
    """A copied case whose gold and anchors stand, and that has one statement more than gold says."""
    row = next(case_row(case) for case in page_cases().cases if case.statements)
    row["statements"] = [*row["statements"], {"says": "it is Tuesday", "terms": [["Tuesday"]], "weight": "vital"}]
    path = tmp_path / "copied.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    if packaged:
        # Of the packaged corpus gold is not judged when it is read.
        monkeypatch.setattr("benchmark.corpus.loader.DEFAULT_CORPUS", path)
    told = call("check", "--dataset", str(path), "--case", row["case_id"])
    assert told.returncode == 1
    assert f"/statements/{len(row['statements']) - 1}: gold does not say it" in told.stdout


@pytest.mark.slow
def test_stats_show_every_quota() -> None:
    shown = call("stats").stdout
    for words in ("distinct captures", "median input, lines", "hostile cases", "intent bullet-list"):
        assert words in shown
    assert "missed" not in shown


@pytest.mark.parametrize(
    ("anchor", "problem"),
    [
        ("4 of 6", "binds the wording"),
        ("line 16", "binds the wording"),
        ("connection reset by peer", "binds the wording"),
        ("Move defaults", "binds the wording"),
        ("16", "small number"),
        ("-2", "small number"),
        ("failed", "plain word"),
    ],
)
def test_anchors_that_right_answers_may_lack_are_found(anchor: str, problem: str) -> None:
    (found,) = weak_anchors(["src/a.py:14", anchor])
    assert repr(anchor) in found
    assert problem in found


@pytest.mark.parametrize(
    "anchor",
    ["E1", "404", "src/a.py", "db_session", "0.37s", "PoisonError", "409 at C1", "npm --save", "oven-3", "SIGHUP"],
)
def test_names_and_large_numbers_are_strong_anchors(anchor: str) -> None:
    assert list(weak_anchors([anchor])) == []

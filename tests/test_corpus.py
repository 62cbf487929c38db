"""The corpus proves itself, and planted defects are found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.corpus import Case, Corpus, Family, Rules
from benchmark.corpus.check import check_case, check_corpus, check_scores
from benchmark.scoring import Embedder
from ctxsift.contracts import Intent


def test_the_packaged_corpus_has_no_defect(corpus: Corpus, embedder: Embedder) -> None:
    assert check_corpus(corpus.cases, embedder) == []


def test_the_packaged_corpus_covers_intents_and_families(corpus: Corpus) -> None:
    assert len(corpus.cases) >= 40
    assert len({c.capture.name for c in corpus.cases if c.capture.origin == "captured"}) >= 20
    assert {c.intent for c in corpus.cases} == set(Intent)
    assert {c.family for c in corpus.cases} == set(Family)
    assert all(len(c.raw_input) <= 14_000 for c in corpus.cases)


@pytest.fixture
def case(corpus: Corpus) -> Case:
    return next(c for c in corpus.cases if c.case_id == "java-caused-by-recall")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"required_anchors": ("NOT-IN-INPUT",)}, "required anchor 'NOT-IN-INPUT' is not in the input"),
        ({"required_anchors": (), "derived_anchors": ()}, "has no anchors"),
        ({"expected_output": "Nothing of note."}, "is not in the gold"),
        ({"rules": Rules(max_words=3)}, "gold breaks its own rule"),
        ({"rules": Rules(forbidden=("NOT-IN-INPUT",))}, "forbidden token 'NOT-IN-INPUT' is not in the input"),
        ({"rules": Rules(pattern="(")}, "the pattern does not compile"),
        ({"raw_input": "short"}, "of the input's characters"),
    ],
)
def test_planted_defects_of_the_text_are_found(case: Case, change: dict[str, object], problem: str) -> None:
    broken = replace(case, **change)  # type: ignore[arg-type]
    assert any(problem in found for found in check_case(broken))


def test_derived_anchor_that_stands_in_the_input_is_found(case: Case) -> None:
    broken = replace(case, derived_anchors=case.required_anchors[:1])
    assert any("make it a required one" in found for found in check_case(broken))


def test_gold_that_recovery_would_change_is_found(case: Case, embedder: Embedder) -> None:
    broken = replace(case, expected_output=f"<think>x</think>\n{case.expected_output}")
    found = list(check_scores(broken, embedder))
    assert any(problem.startswith("recovery changes the gold") for problem in found)


def test_a_case_that_a_control_solves_is_found(case: Case, embedder: Embedder) -> None:
    gold = case.raw_input.splitlines()[0]
    broken = replace(
        case,
        raw_input=f"{gold}\n",
        expected_output=gold,
        intent=Intent.EXACT_LINES,
        required_anchors=(),
        rules=Rules(),
    )
    assert any("the control 'echo' scores" in problem for problem in check_scores(broken, embedder))


def test_overused_and_duplicate_captures_are_found(corpus: Corpus, case: Case, embedder: Embedder) -> None:
    many = [replace(case, case_id=f"copy-{number}") for number in range(4)]
    twin = replace(case, case_id="twin", capture=replace(case.capture, name="java/twin"))
    problems = [finding.problem for finding in check_corpus([*many, twin], embedder)]
    assert "is used by 4 cases, at most 3 are allowed" in problems
    assert "is used 4 times with the intent recall" in problems
    assert f"has the same text as {case.capture.name}" in problems
    assert "has no case of the intent json" in problems

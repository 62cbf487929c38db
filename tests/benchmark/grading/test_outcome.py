"""Grading an answer whose model has marks of its own."""

from __future__ import annotations

from benchmark.cases import Corpus
from benchmark.grading.outcome import grade
from benchmark.grading.summary import summarise
from benchmark.record.result import ModelFailure, Scored
from benchmark.record.summary import HeldBack
from benchmark.scoring import Embedder
from ctxsift.asking import Answer
from ctxsift.backends.base import Generation
from ctxsift.gate import CONTRADICTS_EXIT_CODE
from ctxsift.intents import Intent

_MUSE = ("<muse>", "</muse>")


def test_marks_that_only_the_model_knows_are_taken_off(corpus: Corpus, embedder: Embedder) -> None:
    case = corpus.cases[0]
    text = f"<muse>Let me see.</muse>{case.expected_output}[[halt]]"
    said = Generation(text, "stop", 10, 10, 1.0, 1.0, 2.0, "m", control_tokens=("[[halt]]",), reasoning_tags=(_MUSE,))
    known = grade(case, Answer(said, 0), embedder, recovery_enabled=True, attempts=1, elapsed_ms=None)
    assert isinstance(known, Scored)
    assert known.recovered.output == case.expected_output
    assert known.recovered.case_score == 1.0 > known.raw.case_score
    assert [step.name for step in known.recovery_steps] == ["reasoning_block", "control_token"]


def test_an_answer_that_begins_in_reasoning_and_never_leaves_it_is_cut_off_thought(
    corpus: Corpus, embedder: Embedder
) -> None:
    case = corpus.cases[0]
    for text, reason in (("So, what failed", "truncated_reasoning"), ("So.</muse>E42", "token_limit")):
        said = Generation(text, "length", 10, 10, 1.0, 1.0, 2.0, "m", begins_in_reasoning=True, reasoning_tags=(_MUSE,))
        outcome = grade(case, Answer(said, 0), embedder, recovery_enabled=True, attempts=1, elapsed_ms=None)
        assert isinstance(outcome, ModelFailure)
        assert outcome.failure_reason == reason


def test_what_the_product_would_not_print_is_counted_beside_the_score(corpus: Corpus, embedder: Embedder) -> None:
    case = next(c for c in corpus.cases if c.request.exit_code and c.request.intent is Intent.SUMMARY)
    outcomes = []
    for text in ("Everything succeeded.", case.expected_output):
        said = Generation(text, "stop", 10, 10, 1.0, 1.0, 2.0, "m")
        outcomes.append(grade(case, Answer(said, 0), embedder, recovery_enabled=True, attempts=1, elapsed_ms=None))
    held, passed = outcomes
    assert isinstance(held, Scored)
    assert isinstance(passed, Scored)
    assert (held.held_back, passed.held_back) == ([CONTRADICTS_EXIT_CODE], [])
    assert held.recovered.validation_status == "accepted"
    told = summarise(2, outcomes, {}).held_back
    assert told == HeldBack(held_back_count=1, rightly_held_back_count=1)

"""Questions that give answers away, and rules that they do not state: each planted, each found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.cases import Capture, Case, Rules
from benchmark.corpus import load_corpus
from benchmark.corpus.question_checks import question_findings
from benchmark.statements.model import MustNot, Statement
from ctxsift.intents import Intent


@pytest.fixture(scope="module")
def case() -> Case:
    cases = load_corpus().cases
    plain = next(case for case in cases if case.intent is Intent.SUMMARY and case.capture.origin == "captured")
    return replace(
        plain,
        instruction="What broke the build?",
        rules=Rules(),
        statements=(),
        must_not=(),
        expected_output="E42 did.",
    )


def found(case: Case) -> str:
    return "\n".join(question_findings(case))


def test_a_plain_question_has_nothing_wrong_with_it(case: Case) -> None:
    assert not found(case)


@pytest.mark.parametrize(
    "question",
    [
        "Why did the four that failed fail?",
        "Which file causes the 3 errors?",
        "Name all seven tests and their reasons.",
        "Explain the twelve findings.",
    ],
)
def test_counts_that_only_a_reader_knows_are_found(case: Case, question: str) -> None:
    assert "only a reader of the output has counted" in found(replace(case, instruction=question))


@pytest.mark.parametrize(
    "question",
    [
        "Sum it up in two sentences.",
        "The first three errors, please.",
        "One table with three columns: file, line, rule.",
        "Which of the last two lines is an error?",
        "How do the two sides of the merge differ?",
    ],
)
def test_limits_and_shapes_are_no_counts(case: Case, question: str) -> None:
    assert not found(replace(case, instruction=question))


def test_a_count_in_the_command_is_known(case: Case) -> None:
    counted = replace(case, instruction="What do the 8 commits change?")
    assert found(counted)
    capture = replace(counted.capture, command="git log -n 8")
    assert not found(replace(counted, capture=capture))


def test_long_questions_are_found(case: Case) -> None:
    assert "has 61 words" in found(replace(case, instruction="why " * 61))


@pytest.mark.parametrize(
    ("rules", "stated"),
    [
        (Rules(max_words=45), "Why, in 45 words?"),
        (Rules(max_sentences=2), "Why, in two sentences?"),
        (Rules(max_lines=1), "Why, on a single line?"),
    ],
)
def test_rules_have_to_be_stated(case: Case, rules: Rules, stated: str) -> None:
    assert "does not state the limit" in found(replace(case, rules=rules))
    assert not found(replace(case, rules=rules, instruction=stated))


def test_what_the_answer_format_says_need_not_be_said_again(case: Case) -> None:
    assert not found(replace(case, rules=Rules(max_sentences=4)))


def test_decoys_are_no_words_of_the_question(case: Case) -> None:
    assert "forbidden token 'build'" in found(replace(case, rules=Rules(forbidden=("build",))))


def test_filters_belong_into_the_command(case: Case) -> None:
    capture: Capture = replace(case.capture, normalised=("the progress lines were removed",))
    assert "put the filter into the command" in found(replace(case, capture=capture))
    renamed = replace(case.capture, normalised=("host name replaced by build-7",))
    assert not found(replace(case, capture=renamed))


def test_gold_that_answers_more_than_was_asked_is_found(case: Case) -> None:
    gold = "cache.py broke it. The disk is 97% full as well."
    judged = replace(
        case,
        expected_output=gold,
        statements=(Statement("cache.py broke it.", names=("cache.py",), terms=(("broke", "fail"),)),),
        must_not=(MustNot("The disk broke it.", terms=(("disk",), ("broke",))),),
    )
    assert "gold says what no statement asks for: 'The disk is 97% full as well" in found(judged)
    more = (*judged.statements, Statement("The disk is full.", terms=(("disk",), ("full",))))
    assert not found(replace(judged, statements=more))

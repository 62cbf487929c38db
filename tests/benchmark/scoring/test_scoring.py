"""What the components promise: gold gets 1, nothing gets 0, damage costs."""

from __future__ import annotations

import random
import statistics
import time

import pytest

from benchmark.cases import Case, Corpus, Rules
from benchmark.scoring import COMPONENTS, Embedder, Scores, case_score, latency_factor, scenario_score, score_view
from benchmark.scoring.anchors import has_token
from benchmark.scoring.formats import matches_pattern
from benchmark.scoring.instruction import check_rules, count_sentences, in_order
from benchmark.scoring.prose_facts import contradictions, negations, numbers, same_order
from benchmark.scoring.quality import score_quality
from ctxsift.compression import examine
from ctxsift.contracts import Intent, Kind, contract_of
from ctxsift.prompts import Request
from ctxsift.validation import validate


def scores(text: str, case: Case, embedder: Embedder, view: int = 1) -> Scores:
    raw, recovered, _ = examine(text, case.request)
    examined = (raw, recovered)[view]
    return score_view(examined.text, examined.validation, case, embedder)


@pytest.mark.parametrize("view", [0, 1])
def test_gold_scores_exactly_one_on_every_component(corpus: Corpus, embedder: Embedder, view: int) -> None:
    for case in corpus.cases:
        for reference in case.references:
            got = scores(reference, case, embedder, view)
            assert len(got.parts) == 5
            assert all(part.score == 1.0 for part in got.parts.values()), (case.case_id, got.parts)
            assert got.case_score == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_nothing_scores_zero(corpus: Corpus, embedder: Embedder, text: str) -> None:
    for case in corpus.cases:
        got = scores(text, case, embedder)
        assert len(got.parts) == 5
        assert all(part.score == 0.0 for part in got.parts.values())
        assert got.case_score == 0.0


def test_gold_of_another_case_has_little_quality(corpus: Corpus, embedder: Embedder) -> None:
    plain = [case for case in corpus.cases if contract_of(case.intent).kind is Kind.PLAIN]
    figures = [
        score_quality(other.expected_output, case.expected_output, case.intent, embedder).score
        for case in plain
        for other in corpus.cases
        if other.capture != case.capture
    ]
    assert statistics.mean(figures) <= 0.15


@pytest.mark.parametrize(
    ("token", "text", "found"),
    [
        ("E1", "see E10", False),
        ("E1", "see E1.", True),
        ("1.2", "version 1.2.3", False),
        ("1.2", "version 11.2", False),
        ("1.2", "version 1.2.", True),
        ("12", "1,12", False),
        ("12", "12,500 rows", False),
        ("12", "rows: 12, files: 3", True),
        ("src/a.py", "in src/a.py:14:", True),
        ("a.py", "in src/a.py", True),
        ("a.py", "in data.py", False),
        ("a.py", "in my-a.py", False),
        ("StoreException", "io.relay.StoreException: x", True),
        ("python -m app", "python  -m\napp", True),
        ("--config", "run --config x", True),
        ("test_total", "test_total_ok", False),
        ("/etc/passwd", "cat /etc/passwd", True),
        ("/etc/passwd", "/mnt/backup/etc/passwd", False),
        ("exit code 2", "exit code 25", False),
        ("[id=3]", "worker[id=3]", True),
        ("café", "cafés", False),
    ],
)
def test_tokens_have_boundaries(token: str, text: str, found: bool) -> None:
    assert has_token(text, token) is found


def test_weights_sum_to_one() -> None:
    weighted = [component.weights for component in COMPONENTS if component.weights]
    assert len(weighted) == 4
    assert all(set(weights) == set(Intent) for weights in weighted)
    for intent in Intent:
        assert sum(weights[intent] for weights in weighted) == pytest.approx(1.0)


def test_strict_intents_forgive_instructions_where_the_format_is_right() -> None:
    perfect = {"validation_status": "accepted", "thought_density": 0.0, "preserve": 1.0, "quality": 1.0, "brevity": 1.0}
    assert case_score("json", format=1.0, instruction=0.0, **perfect) == pytest.approx(1.0)  # type: ignore[arg-type]
    assert case_score("summary", format=1.0, instruction=0.0, **perfect) == pytest.approx(0.75)  # type: ignore[arg-type]


@pytest.mark.parametrize(("ms", "factor"), [(0, 1.0), (2000, 1.0), (4000, 0.5**0.15), (1e9, 0.85)])
def test_latency_factor(ms: float, factor: float) -> None:
    assert latency_factor(ms) == pytest.approx(factor)


def test_scenario_of_no_cases_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        scenario_score([], 1.0)


@pytest.mark.parametrize(
    ("text", "count"),
    [("One.", 1), ("One. Two", 2), ("v1.2 of a.py failed. Then e.g. b.py did!", 2), ("", 0), ("No end mark", 1)],
)
def test_sentences(text: str, count: int) -> None:
    assert count_sentences(text) == count


def test_rules_are_graded_and_explained() -> None:
    rules = Rules(max_words=4, forbidden=("E2",), order=("a", "b"), pattern="a.*")
    kept = [round(figure, 2) for figure, _ in check_rules("a b c d e", rules, Intent.SUMMARY)]
    assert kept == [0.5, 1.0, 1.0, 1.0]
    broken = {why: kept for kept, why in check_rules("b a E2", rules, Intent.SUMMARY)}
    assert broken["contains E2, which was to be left out"] == 0.0
    assert broken["not in the order a, b"] == 0.0
    assert in_order("x", ("a", "b", "c")) == 0.0
    assert in_order("test_a_b failed, test_b, test_a", ("test_a", "test_b")) == 0.0


def test_a_pattern_that_explodes_or_is_none_matches_nothing() -> None:
    assert not matches_pattern("a" * 40 + "!", r"(a|aa)+$")
    assert not matches_pattern("x", "(")
    assert not matches_pattern("x", None)


@pytest.mark.parametrize(
    ("intent", "gold", "answers"),
    [
        # better before worse
        (
            "json",
            '{"a": 1, "b": ["x", "y"]}',
            ['{"b": ["x", "y"], "a": 1}', '{"a": 1, "b": ["x"]}', '{"a": 1}', '{"c": 2}'],
        ),
        ("yaml", "a: 1\nb: twenty", ["b: twenty\na: 1", "a: 1\nb: twentx", "a: 1", "c: 3"]),
        ("exact-lines", "one\ntwo\nthree", ["one\ntwo\nthree\n", "one\ntwo", "two\none", "four"]),
        (
            "table",
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
            ["| a | b |\n|---|---|\n| 1 | 2 |", "| x | y |\n|---|---|\n| 9 | 8 |"],
        ),
    ],
)
def test_quality_falls_with_distance(
    corpus: Corpus, embedder: Embedder, intent: str, gold: str, answers: list[str]
) -> None:
    figures = [score_quality(answer, gold, Intent(intent), embedder).score for answer in answers]
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures)) == len(figures)
    assert figures[-1] < 0.3


def test_shuffled_exact_lines_score_below_gold(corpus: Corpus, embedder: Embedder) -> None:
    cases = [c for c in corpus.cases if c.intent is Intent.EXACT_LINES and c.expected_output.count("\n")]
    assert cases
    for case in cases:
        lines = case.expected_output.split("\n")
        shuffled = lines[:]
        while shuffled == lines:
            random.Random(1).shuffle(shuffled)
            shuffled = shuffled if shuffled != lines else lines[::-1]
        assert scores("\n".join(shuffled), case, embedder).case_score < 1.0


@pytest.mark.parametrize(
    "answer", ["- 1: a\n  b: c", "- 2024-01-01: x", "- on: y\n- 1.5: [a, {b: 2}]", "a: !!int", "- ~: x"]
)
def test_odd_yaml_is_scored_without_a_fault(corpus: Corpus, embedder: Embedder, answer: str) -> None:
    for case in corpus.cases:
        if case.intent in (Intent.YAML, Intent.JSON):
            assert 0.0 <= scores(answer, case, embedder).case_score < 1.0
    assert scores("[" * 900 + "]" * 900, case, embedder).case_score < 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "\ud83d",
        "a: 0x" + "f" * 6000,
        "a: " + "9:" * 3000 + "9",
        "a: !!set {x, y}",
        "a: !!binary aGk=",
        "[" + "9" * 5000 + "]",
    ],
)
def test_hostile_answers_are_scored_without_a_fault(corpus: Corpus, embedder: Embedder, answer: str) -> None:
    for intent in Intent:
        case = next(case for case in corpus.cases if case.intent is intent)
        assert 0.0 <= scores(answer, case, embedder).case_score < 0.5
    assert embedder.count_tokens(answer) > 0


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("It took 4.9 percent.", "It took 4.9%."),
        ("It took 1.57 seconds.", "It took 1.57s."),
        ("It took 69 milliseconds.", "It took 69 ms."),
        ("Five tests failed.", "5 tests failed."),
        ("It took 50 \u03bcs.", "It took 50us."),
        ("It took 1,000 ms.", "It took 1000 ms."),
        ("No one failed.", "Nobody failed."),
    ],
)
def test_other_words_for_a_number_are_the_same_number(answer: str, gold: str) -> None:
    assert numbers(answer) == numbers(gold)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("a.py failed, b.py passed", "b.py failed, a.py passed"),
        ("3 of 12 in a.py", "12 of 3 in a.py"),
    ],
)
def test_facts_that_changed_places_are_seen(answer: str, gold: str) -> None:
    assert same_order(answer, gold) < 1
    assert same_order(gold, gold) == 1


@pytest.mark.parametrize(("one", "other"), [("code -1", "code 1"), ("v1.2.4", "v9.9.9"), ("3 ms", "3 s")])
def test_other_numbers_are_other_numbers(one: str, other: str) -> None:
    assert numbers(one) != numbers(other)


def test_both_apostrophes_negate() -> None:
    assert negations("it isn't ready") == negations("it isn\u2019t ready") == {"ready"}


@pytest.mark.parametrize("unit", [*"./:@#%+-_,1a \n", "not ", "n't ", "1.", "-1 ", "a.", ". ", "one ", "| ", "{"])
def test_megabytes_of_one_unit_are_scored_soon(corpus: Corpus, embedder: Embedder, unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    for intent in (Intent.SUMMARY, Intent.JSON, Intent.EXACT_FORMAT):
        case = next(case for case in corpus.cases if case.intent is intent)
        started = time.process_time()
        score_view(text, validate(text[:10], case.request), case, embedder)
        assert time.process_time() - started < 5


def test_opposites_contradict_and_silence_does_not() -> None:
    assert contradictions("It passed.", "It failed.") == [("passed", "failed")]
    assert contradictions("It broke.", "It failed.") == []
    assert contradictions("It failed before it passed.", "It passed before it failed.") == []


def test_whole_numbers_are_numbers(corpus: Corpus, embedder: Embedder) -> None:
    assert score_quality('{"a": 12.0}', '{"a": 12}', Intent.JSON, embedder).score == 1.0
    assert score_quality('{"a": true}', '{"a": 1}', Intent.JSON, embedder).score < 1.0


def test_an_echo_of_one_long_line_is_rejected() -> None:
    raw = "[" + ",".join(str(number) for number in range(900)) + "]"
    assert "raw_echo" in validate(raw, Request(raw, "How many?", Intent.JSON)).reasons

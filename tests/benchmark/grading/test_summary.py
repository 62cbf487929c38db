"""Figures of a scenario: their intervals draw captures, with all the cases that were answered on them."""

from __future__ import annotations

import dataclasses

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from benchmark.cases import Corpus
from benchmark.grading.baselines import GOLD
from benchmark.grading.outcome import grade, question_of, unanswered
from benchmark.grading.summary import break_down, summarise
from benchmark.record.result import Answered, Outcome
from benchmark.record.summary import Dimension
from benchmark.scoring import Embedder, bootstrap_cores, bootstrap_final_scores
from benchmark.scoring.judge_error import AnswerSource, JudgeError
from benchmark.statistics import Clusters, bootstrap_means, interval_of
from ctxsift.asking import Answer
from ctxsift.backends.base import Generation

CASES = 40


@pytest.fixture(scope="module")
def outcomes(corpus: Corpus, embedder: Embedder) -> list[Outcome]:
    """Gold for every third case, its first words for the others; the last case got no answer."""
    found: list[Outcome] = []
    for number, case in enumerate(corpus.cases[:CASES]):
        text = case.expected_output if number % 3 else case.expected_output[:12]
        generation = Generation(
            text=text,
            finish_reason="stop",
            prompt_tokens=9,
            completion_tokens=3,
            prefill_ms=1.0,
            decode_ms=2.0,
            total_ms=1000.0 + 150 * number,
            model="m",
        )
        found.append(
            grade(case, Answer(generation, 0), embedder, recovery_enabled=True, attempts=1, elapsed_ms=None)
            if number < CASES - 1
            else unanswered(case, "the model process died (SIGKILL)", 2)
        )
    return found


def test_the_question_names_its_capture(corpus: Corpus) -> None:
    for case in corpus.cases:
        assert question_of(case).capture == case.capture.name


def test_intervals_of_a_scenario_draw_captures(outcomes: list[Outcome], corpus: Corpus) -> None:
    answered = [outcome for outcome in outcomes if isinstance(outcome, Answered)]
    captures = Clusters.of(case.capture.name for case in corpus.cases[: CASES - 1])
    assert 5 < captures.count < CASES - 1
    floor, gold = [0.25] * len(answered), [1.0] * len(answered)
    summary = summarise(CASES, outcomes, {"tf-idf": floor, GOLD: gold})
    times = [a.generation.total_ms for a in answered]
    scores, raw = ([getattr(a, view).case_score for a in answered] for view in ("recovered", "raw"))
    finals, raw_finals = (bootstrap_final_scores(values, times, captures) for values in (scores, raw))
    assert summary.recovered is not None
    assert summary.raw_view is not None
    assert summary.reference is not None
    told = summary.recovered.intervals
    no_time = [0.0] * len(answered)
    assert summary.reference.floor == "tf-idf"
    for drawn, ends in (
        (finals, told.final_score),
        (bootstrap_means(scores, captures), told.avg_case_score),
        (finals - raw_finals, told.recovery_lift),
        (raw_finals, summary.raw_view.intervals.final_score),
        (finals - bootstrap_final_scores(floor, no_time, captures), summary.reference.difference_interval),
    ):
        interval = interval_of(drawn, captures)
        assert interval is not None
        assert ends == (interval.low, interval.high)
    # The verdict leaves latency out: slow answers with the quality of the floor would be worse otherwise.
    reference, core = summary.reference, 100 * summary.recovered.quality_core
    assert reference.core_difference == pytest.approx(core - reference.floor_score)
    core_gap = 100 * (bootstrap_cores(scores, captures) - bootstrap_cores(floor, captures))
    interval = interval_of(core_gap, captures)
    assert interval is not None
    assert reference.core_difference_interval == pytest.approx((interval.low, interval.high))
    assert reference.beats_floor == (interval.low > 0)


def test_the_error_of_the_scorer_widens_the_verdict_on_the_floor(outcomes: list[Outcome]) -> None:
    answered = [outcome for outcome in outcomes if isinstance(outcome, Answered)]
    scores = {"tf-idf": [0.25] * len(answered), GOLD: [1.0] * len(answered)}
    error = JudgeError(tuple(AnswerSource(0.7 + 0.05 * step, 0.1 * step) for step in range(5)))
    without = summarise(CASES, outcomes, scores).reference
    known = summarise(CASES, outcomes, scores, judge_error=error, author="model")
    assert without is not None
    assert known.reference is not None
    assert without.core_difference_interval is not None
    assert known.reference.core_difference_interval is not None
    assert known.reference.core_difference_interval[0] < without.core_difference_interval[0]
    assert known.reference.core_difference == without.core_difference
    assert known.halves is not None
    assert known.halves.right_share_interval is not None
    low, high = known.halves.right_share_interval
    assert 0 <= low < high <= 1


def test_groups_on_fewer_than_five_captures_have_no_interval(outcomes: list[Outcome], corpus: Corpus) -> None:
    answer = next(outcome for outcome in outcomes if isinstance(outcome, Answered))
    everywhere: list[Outcome] = [replace(answer, question=question_of(case)) for case in corpus.cases]
    captures: dict[str, set[str]] = {}
    for case in corpus.cases:
        captures.setdefault(case.capture.tool, set()).add(case.capture.name)
    groups = break_down(everywhere)
    assert any(group.case_count >= 5 > len(captures[group.group]) for group in groups[Dimension.TOOL])
    for group in groups[Dimension.TOOL]:
        few = len(captures[group.group]) < 5
        assert (group.avg_case_score_interval is None) == few
        assert (group.raw_avg_case_score_interval is None) == few
        assert (group.avg_lift_interval is None) == few
    assert all(group.avg_case_score_interval for group in groups[Dimension.INTENT])


def test_the_easy_tier_stands_apart(outcomes: list[Outcome], corpus: Corpus) -> None:
    answer = next(outcome for outcome in outcomes if isinstance(outcome, Answered))
    questions = [question_of(case) for case in corpus.cases]
    groups = break_down([replace(answer, question=question) for question in questions])
    easy = sum("easy-tier" in case.tags for case in corpus.cases)
    assert {group.group: group.case_count for group in groups[Dimension.TIER]} == {
        "easy tier": easy,
        "other cases": len(corpus.cases) - easy,
    }
    assert Dimension.TIER not in break_down([replace(answer, question=questions[0])])


def test_answers_whose_beginning_was_read_before_are_counted(outcomes: list[Outcome]) -> None:
    def cached(case: Outcome, tokens: int) -> Outcome:
        assert isinstance(case, Answered)
        told = dataclasses.replace(case.generation, cached_tokens=tokens, cached_ms=tokens / 8)
        return replace(case, generation=told)

    warm = [cached(case, tokens) for case, tokens in zip(outcomes[:3], (0, 256, 128), strict=True)]
    known = summarise(3, warm, {}).latency
    assert known is not None
    assert (known.cached_cases, known.cached_tokens, known.cached_ms) == (2, 384, 48)
    cold = summarise(3, outcomes[:3], {}).latency
    assert cold is not None
    assert cold.cached_cases is UNSET

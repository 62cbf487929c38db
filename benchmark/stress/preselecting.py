"""Pre-selection: what of the right answers survives it, and what it does to score and time of a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from benchmark.cases import Case
from benchmark.matrix import Scenario
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered
from benchmark.scoring import Embedder
from benchmark.scoring.anchors import missing_anchors
from benchmark.stress.figures import Estimate, Values, estimate, estimate_text, gain
from ctxsift.preselect import Preselect
from ctxsift.preselection import preselected, tokens_in

TITLES = (
    *("scenario", "read", "tokens read", "anchors left"),
    *("anchors kept", "score", "difference", "seconds", "change"),
)
_POINTS, _PERCENT, _MS_PER_S = 100.0, 100.0, 1000.0


@dataclass(frozen=True)
class Reading:
    """The text that any reader gets at one budget.

    Attributes:
        budget: in estimated tokens; None for whole outputs.
        tokens: read per case, by the scorer's tokenizer.
        anchors_left: percent of the required anchors of the outputs that stand in what is read.
        choose_ms: time the choice takes per case.

    """

    budget: int | None
    cases: int
    tokens: Estimate | None
    anchors_left: Estimate | None
    choose_ms: float


@dataclass(frozen=True)
class Asked:
    """A scenario at one budget, and how it differs from the same one that reads whole outputs.

    Attributes:
        score: mean case score, 0 to 100. score_gain: in points; None for whole outputs.
        anchors_kept: percent of the anchors that its answers keep.
        seconds: generation time per case. seconds_gain: negative where less reading saved time.

    """

    scenario: str
    reading: Reading
    score: Estimate | None
    score_gain: Estimate | None
    anchors_kept: Estimate | None
    seconds: Estimate | None
    seconds_gain: Estimate | None


def longest(cases: Sequence[Case], count: int) -> tuple[Case, ...]:
    """Return the cases on the longest outputs, longest first."""
    return tuple(sorted(cases, key=lambda case: (-tokens_in(case.raw_input), case.case_id))[:count])


def at_budget(scenario: Scenario, budget: int | None) -> Scenario:
    """Return a scenario that reads lines within a budget, under a name of its own; whole outputs for None."""
    if budget is None:
        return replace(scenario, preselect=Preselect.NONE)
    name = f"{scenario.name}-lines-{budget}"
    return replace(scenario, name=name, preselect=Preselect.LINES, preselect_tokens=budget)


def reading(cases: Sequence[Case], budget: int | None, embedder: Embedder) -> Reading:
    """Return what is read of cases at a budget; no model is needed for that."""
    tokens, left, spent = {}, {}, 0.0
    for case in cases:
        cluster = ("capture", case.capture.name)
        started = time.perf_counter()
        text = case.raw_input if budget is None else preselected(case.request, budget).raw_input
        spent += time.perf_counter() - started
        tokens[case.case_id] = float(embedder.count_tokens(text)), cluster
        # What is no part of the output cannot be lost with it.
        anchors = [each for each in case.required_anchors if not missing_anchors(case.raw_input, [each])]
        if anchors:
            left[case.case_id] = _PERCENT * (1 - len(missing_anchors(text, anchors)) / len(anchors)), cluster
    return Reading(budget, len(cases), estimate(tokens), estimate(left), _MS_PER_S * spent / len(cases))


def asked(scenario: str, read: Reading, result: StoredResult, whole: StoredResult | None) -> Asked:
    """Return the figures of a scenario at one budget; `whole` is its result on whole outputs, None for that result."""
    score, seconds, kept = (_of(result, value) for value in (_score, _seconds, _kept))
    return Asked(
        scenario=scenario,
        reading=read,
        score=estimate(score),
        score_gain=None if whole is None else gain(_of(whole, _score), score),
        anchors_kept=estimate(kept),
        seconds=estimate(seconds),
        seconds_gain=None if whole is None else gain(_of(whole, _seconds), seconds),
    )


def _of(result: StoredResult, value: Callable[[Answered], float]) -> Values:
    answers = [case for case in result.record.cases if isinstance(case, Answered)]
    return {case.question.case_id: (value(case), case.question.cluster) for case in answers}


def _score(case: Answered) -> float:
    return _POINTS * case.recovered.case_score


def _seconds(case: Answered) -> float:
    return case.generation.total_ms / _MS_PER_S


def _kept(case: Answered) -> float:
    return _PERCENT * case.recovered.preserve


def reading_row(each: Reading) -> list[str]:
    """Return the row of a budget without a model."""
    left = estimate_text(each.anchors_left, suffix="%")
    return ["(no model)", budget_text(each), estimate_text(each.tokens, 0), left, *["-"] * (len(TITLES) - 4)]


def asked_row(each: Asked) -> list[str]:
    """Return the row of a scenario at one budget."""
    read = each.reading
    return [
        each.scenario,
        budget_text(read),
        estimate_text(read.tokens, 0),
        estimate_text(read.anchors_left, suffix="%"),
        estimate_text(each.anchors_kept, suffix="%"),
        estimate_text(each.score),
        estimate_text(each.score_gain, signed=True),
        estimate_text(each.seconds, 2),
        estimate_text(each.seconds_gain, 2, signed=True),
    ]


def budget_text(each: Reading) -> str:
    """Return what is read at a budget, in words."""
    return "whole outputs" if each.budget is None else f"lines, {each.budget:,} tokens"

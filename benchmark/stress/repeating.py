"""Repeated questions: how far the answers of one model to the same question lie apart when they are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, mean, stdev

from benchmark.cases import Case
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered
from benchmark.scoring import Embedder
from benchmark.statistics import CONFIDENCE, Interval
from benchmark.stress.changing import (
    Changed,
    answers_of,
    by_turns,
    changed,
    id_of,
    is_usable,
    keeps_gold,
    score_values,
    second_values,
)
from benchmark.stress.figures import Estimate, Values, estimate, estimate_text, gain
from ctxsift.preselection import tokens_in

TITLES = (
    *("scenario", "answers", "cases", "score", "difference", "spread"),
    *("right", "right flips", "usable", "usable flips", "seconds"),
)
GREEDY = "greedy"
ALL = "all repeats"
_PERCENT, _MOST_SCORE = 100.0, 100.0
_WIDTH = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class Repeating:
    """All cases of an experiment.

    Attributes:
        cases: each base, to be asked greedily, and its repeats.
        repeats: of each base.
        skipped: cases whose gold does not score 100.
        too_long: cases that were left out because of their length.

    """

    cases: tuple[Changed, ...]
    repeats: int
    skipped: int
    too_long: int

    @property
    def bases(self) -> list[str]:
        """Ids of the bases, in the order in which they were drawn."""
        return [each.base for each in self.cases if each.kind == GREEDY]

    @property
    def numbers(self) -> dict[str, int]:
        """Id of each case that is a repeat -> which one it is, from 1."""
        return {id_of(base, kind): number for base in self.bases for number, kind in enumerate(self.kinds, 1)}

    @property
    def kinds(self) -> list[str]:
        """Names of the repeats, in order."""
        return [_kind(number) for number in range(1, self.repeats + 1)]


@dataclass(frozen=True)
class RepeatFigures:
    """A scenario and its answers of one kind: greedy ones, those of one repeat, or those of all repeats.

    Attributes:
        score: mean case score, 0 to 100. score_gain: in points, from the greedy answers; None for these.
        spread: standard deviation of the case score between the repeats, mean over cases, in points; for all repeats.
        right: percent of the answers that pass; see `ScoredView.passed`.
        right_flips: percent of the cases of which some repeats are right and others are not; for all repeats.
        usable, usable_flips: likewise.
        seconds: generation time per answer.

    """

    scenario: str
    answers: str
    cases: int
    score: Estimate | None
    score_gain: Estimate | None
    spread: Estimate | None
    right: Estimate | None
    right_flips: Estimate | None
    usable: Estimate | None
    usable_flips: Estimate | None
    seconds: Estimate | None


@dataclass(frozen=True)
class RunSpread:
    """How far runs of one scenario on the same cases lie apart, in points of the mean score.

    Attributes:
        temperature: 0 where the scenario cannot sample.
        score: mean over all repeats, and where one more run would lie with 95% probability.
        lowest, highest: mean score of a repeat.
        deviation: standard deviation of the mean score of a run.
        apart: two runs differ by more than that with 5% probability.

    """

    scenario: str
    temperature: float
    score: Estimate
    lowest: float
    highest: float
    deviation: float
    apart: float


@dataclass(frozen=True)
class CaseSpread:
    """The answers of a scenario to one case.

    Attributes:
        greedy: case score of the greedy answer, 0 to 100.
        scores: of the repeats, in order.
        spread: their standard deviation.
        right, usable: of the repeats, in order.

    """

    scenario: str
    case_id: str
    greedy: float
    scores: list[float]
    spread: float
    right: list[bool]
    usable: list[bool]


def repeating(
    cases: Sequence[Case], embedder: Embedder, repeats: int, *, count: int, most_tokens: int, seed: int
) -> Repeating:
    """Return cases, each to be asked once greedily and several times with different seeds.

    Args:
        cases: to be drawn from.
        embedder: of the scorer.
        repeats: of each base.
        count: bases.
        most_tokens: estimated tokens that the input of a base may have.
        seed: draws the bases.

    """
    short = [case for case in cases if tokens_in(case.raw_input) <= most_tokens]
    found: list[Changed] = []
    drawn = by_turns(short, seed)[:count]
    kept = [case for case in drawn if keeps_gold(case, embedder)]
    for case in kept:
        found.append(changed(case, GREEDY))
        found += [changed(case, _kind(number)) for number in range(1, repeats + 1)]
    return Repeating(tuple(found), repeats, len(drawn) - len(kept), len(cases) - len(short))


def _kind(number: int) -> str:
    return f"repeat {number}"


def case_spreads(scenario: str, made: Repeating, result: StoredResult) -> list[CaseSpread]:
    """Return what a scenario answered to each case."""
    answers = answers_of(result)

    def score(name: str) -> float:
        return _PERCENT * answers[name].recovered.case_score

    found = []
    for base in made.bases:
        names = [id_of(base, kind) for kind in made.kinds]
        scores = [score(name) for name in names]
        found.append(
            CaseSpread(
                scenario=scenario,
                case_id=base,
                greedy=score(id_of(base, GREEDY)),
                scores=scores,
                spread=stdev(scores),
                right=[answers[name].recovered.passed for name in names],
                usable=[is_usable(answers[name]) for name in names],
            )
        )
    return found


def repeat_figures(scenario: str, made: Repeating, result: StoredResult) -> list[RepeatFigures]:
    """Return the figures of a scenario: of its greedy answers, of each repeat, and of all repeats."""
    answers = answers_of(result)
    scores, seconds = score_values(answers), second_values(answers)
    right = _verdicts(answers, lambda answer: answer.recovered.passed)
    usable = _verdicts(answers, is_usable)
    greedy = _at(made, [GREEDY], scores)
    found = []
    for kind, kinds in _by_kind(made):
        several = len(kinds) > 1
        score = _at(made, kinds, scores)
        found.append(
            RepeatFigures(
                scenario=scenario,
                answers=kind,
                cases=len(score),
                score=estimate(score),
                score_gain=None if kind == GREEDY else gain(greedy, score),
                spread=estimate(_at(made, kinds, scores, stdev)) if several else None,
                right=estimate(_at(made, kinds, right)),
                right_flips=estimate(_at(made, kinds, right, _flips)) if several else None,
                usable=estimate(_at(made, kinds, usable)),
                usable_flips=estimate(_at(made, kinds, usable, _flips)) if several else None,
                seconds=estimate(_at(made, kinds, seconds)),
            )
        )
    return found


def _by_kind(made: Repeating) -> Iterator[tuple[str, list[str]]]:
    """Yield each row of the table with the kinds of its answers."""
    for kind in (GREEDY, *made.kinds):
        yield kind, [kind]
    yield ALL, made.kinds


def _verdicts(answers: Mapping[str, Answered], verdict: Callable[[Answered], bool]) -> Values:
    return {name: (_PERCENT * verdict(answer), answer.question.cluster) for name, answer in answers.items()}


def _at(
    made: Repeating, kinds: Sequence[str], values: Values, joined: Callable[[list[float]], float] = mean
) -> dict[str, tuple[float, tuple[str, str]]]:
    """Return one value for each base, out of those of its answers of these kinds."""
    names = {base: [id_of(base, kind) for kind in kinds] for base in made.bases}
    return {base: (joined([values[one][0] for one in own]), values[own[0]][1]) for base, own in names.items()}


def _flips(verdicts: list[float]) -> float:
    return _PERCENT * (len(set(verdicts)) > 1)


def run_spread(spreads: Sequence[CaseSpread], temperature: float) -> RunSpread:
    """Return how far runs of a scenario on the same cases lie apart.

    The draws of two cases are independent of each other. So the variance of the mean score of a run is the sum of the
    variances of the cases, divided by the square of their number.
    """
    means = [mean(scores) for scores in zip(*(each.scores for each in spreads), strict=True)]
    deviation = math.sqrt(sum(each.spread**2 for each in spreads)) / len(spreads)
    whole = mean(means)
    # One more run: its own deviation, and that of the mean of those that were made.
    reach = _WIDTH * deviation * math.sqrt(1 + 1 / len(means))
    return RunSpread(
        scenario=spreads[0].scenario,
        temperature=temperature,
        score=Estimate(whole, Interval(max(0.0, whole - reach), min(_MOST_SCORE, whole + reach))),
        lowest=min(means),
        highest=max(means),
        deviation=deviation,
        apart=_WIDTH * math.sqrt(2) * deviation,
    )


def spread_text(found: RunSpread, repeats: int) -> str:
    """Return in a line where one more run of a scenario on the same cases would lie."""
    if not found.temperature:
        told = f"cannot sample; asked {repeats} times without a temperature"
        return f"{found.scenario}: {told}; mean scores {_range_text(found)}"
    runs = f"at temperature {found.temperature:g}, mean scores {_range_text(found)} in {repeats} runs"
    more = f"one more run would score {estimate_text(found.score)}"
    return f"{found.scenario}: {runs}; {more}; two runs differ by up to {found.apart:.1f} points (95%)"


def _range_text(found: RunSpread) -> str:
    return f"{found.lowest:.1f} to {found.highest:.1f}"


def made_rows(made: Repeating) -> list[list[str]]:
    """Return the rows of the repeats without a model."""
    count = str(len(made.bases))
    return [["(no model)", kind, count, *["-"] * (len(TITLES) - 3)] for kind, _ in _by_kind(made)]


def figures_row(found: RepeatFigures) -> list[str]:
    """Return the row of a scenario and one kind of answers."""
    return [
        *(found.scenario, found.answers, str(found.cases)),
        *(estimate_text(found.score), estimate_text(found.score_gain, signed=True), estimate_text(found.spread)),
        *(estimate_text(found.right, suffix="%"), estimate_text(found.right_flips, suffix="%")),
        *(estimate_text(found.usable, suffix="%"), estimate_text(found.usable_flips, suffix="%")),
        estimate_text(found.seconds, 2),
    ]

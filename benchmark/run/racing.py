"""Scenarios that race: asked a round of cases at a time, until it is sure which K are the best."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.analysis.race import RaceResults, RaceRules, standing
from benchmark.grading.baselines import ReferenceScores
from benchmark.record.paths import result_beside
from benchmark.record.read import StoredResult, read_result
from benchmark.run.case_workload import run_cases
from benchmark.run.plan import ScenarioPlan
from benchmark.run.run_group import Failed, Listening, alone
from benchmark.run.stop import Stop
from benchmark.statistics import Floats, mean
from ctxsift.errors import InputError
from ctxsift.files import exists

_HEADINGS = "scenario asked mean race"


@dataclass(frozen=True)
class Racer:
    """How one scenario stands.

    Attributes:
        result: of the cases it was asked; None where there is none yet.
        asked: how many of the order.
        chosen: it is among the best K, as far as is known.

    """

    plan: ScenarioPlan
    result: StoredResult | None
    asked: int
    chosen: bool

    @property
    def mean_score(self) -> float | None:
        """Of its case scores, 0 to 100; None where it has none."""
        cases = self.result.cases.values() if self.result else ()
        return 100 * mean([case.score for case in cases]) if cases else None


@dataclass(frozen=True)
class Raced:
    """What came of a race.

    Attributes:
        racers: in the order of their plans.
        left: scenarios that could not be asked on, and why.
        decided: the best K are known within the tolerance; not where it was stopped, or its budget was spent.
        generations: that were asked, of `most`.

    """

    racers: tuple[Racer, ...]
    left: tuple[tuple[ScenarioPlan, str], ...]
    decided: bool
    most: int

    @property
    def generations(self) -> int:
        """How many were asked."""
        return sum(racer.asked for racer in self.racers)


def check_race(plans: Sequence[ScenarioPlan], rules: RaceRules) -> None:
    """Raise InputError where these scenarios cannot race."""
    where = f"--race {rules.top}"
    if not 1 <= rules.top < len(plans):
        what = f"a race for the best {rules.top} needs more than {len(plans)} scenarios that can run"
        raise InputError(where, what, "name more scenarios, or give a smaller K")
    first, *others = ([case.case_id for case in plan.cases] for plan in plans)
    if any(other != first for other in others):
        raise InputError(where, "these scenarios differ in their cases, or in their order", "race scenarios of one run")


class RacingScenarios:
    """Scenarios that race.

    Args:
        plans: all of the same cases, in an order as good as drawn; see `benchmark.analysis.race`.
        rules: of the race.
        references: gold and the baselines.
        stop: ends it early.
        listening: gives a listener for one scenario and round.
        failed: called with what is wrong with a scenario, which leaves the race; the others go on.

    """

    def __init__(
        self,
        plans: Sequence[ScenarioPlan],
        rules: RaceRules,
        references: ReferenceScores,
        stop: Stop,
        listening: Listening,
        failed: Failed,
    ) -> None:
        self._plans = list(plans)
        self._rules, self._references, self._stop = rules, references, stop
        self._listening, self._failed = listening, failed
        self._results: dict[str, StoredResult] = {}
        self._left: list[tuple[ScenarioPlan, str]] = []
        for plan in plans:
            if plan.resumed and exists(result_beside(plan.journal)):
                # Its journal may have come further; what is asked again there costs nothing.
                with contextlib.suppress(InputError):
                    self._results[plan.scenario.name] = read_result(result_beside(plan.journal))

    def run(self, budget: int | None, told: Callable[[str], None]) -> Raced:
        """Ask scenarios, round by round, until the best are known.

        Args:
            budget: answers beyond which no further round is begun; None for no bound.
            told: hears of each round.

        """
        rounds = 0
        while not self._stop.requested and len(self._plans) > self._rules.top:
            stands = standing(self._scores(), self._rules)
            if not stands.waiting.any():
                return self._raced(stands, decided=True)
            if budget is not None and int(stands.asked.sum()) > budget:
                told(f"another round would exceed {budget} answers; the race ends undecided")
                return self._raced(stands, decided=False)
            rounds += 1
            asked, waiting = stands.asked[0], stands.waiting[0]
            told(f"round {rounds}: {int(waiting.sum())} of {len(waiting)} scenarios, up to case {int(asked.max())}")
            for plan, count, waits in zip(list(self._plans), asked, waiting, strict=True):
                if waits and not self._stop.requested:
                    self._ask(plan, int(count))
        enough = len(self._plans) > self._rules.top
        return self._raced(standing(self._scores(), self._rules) if enough else None, decided=False)

    def _raced(self, stands: RaceResults | None, *, decided: bool) -> Raced:
        cases = len(self._plans[0].cases) if self._plans else 0
        racers = []
        for place, plan in enumerate(self._plans):
            result = self._results.get(plan.scenario.name)
            chosen = stands is not None and bool(stands.chosen[0, place])
            racers.append(Racer(plan, result, len(result.record.cases) if result else 0, chosen))
        return Raced(tuple(racers), tuple(self._left), decided, cases * len(self._plans))

    def _ask(self, plan: ScenarioPlan, count: int) -> None:
        name = plan.scenario.name
        now = dataclasses.replace(plan, first=count, resumed=plan.resumed or exists(plan.journal))
        problem = "it failed; its journal contains the answers so far"
        with alone(name, self._failed, plan.journal):
            with self._listening() as listener:
                result = read_result(run_cases(now, self._references, listener, self._stop))
            self._results[name] = result
            missing = sum(case.case_id not in result.cases for case in plan.cases[:count])
            if not missing or self._stop.requested:
                return
            run = result.record.run
            why = f" ({run.error})" if run is not None and run.error else ""
            problem = f"{missing} of its {count} cases have no answer{why}"
        self._plans.remove(plan)
        self._left.append((plan, problem))

    def _scores(self) -> Floats:
        scores = np.full((len(self._plans), len(self._plans[0].cases)), np.nan)
        for row, plan in enumerate(self._plans):
            if (result := self._results.get(plan.scenario.name)) is not None:
                for column, case in enumerate(plan.cases):
                    if (known := result.cases.get(case.case_id)) is not None:
                        scores[row, column] = known.score
        return scores


def raced_rows(raced: Raced) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table: who was asked how much, who is among the best."""
    yield tuple(_HEADINGS.split())
    ordered = sorted(raced.racers, key=lambda racer: (not racer.chosen, -(racer.mean_score or 0.0)))
    for racer in ordered:
        score = "-" if racer.mean_score is None else f"{racer.mean_score:.1f}"
        how = ("best" if raced.decided else "ahead") if racer.chosen else ""
        yield racer.plan.scenario.name, f"{racer.asked}/{len(racer.plan.cases)}", score, how
    for plan, why in raced.left:
        yield plan.scenario.name, "-", "-", f"left the race: {why}"


def raced_sentence(raced: Raced, rules: RaceRules) -> str:
    """Return what came of a race, in a line."""
    names = ", ".join(racer.plan.scenario.name for racer in raced.racers if racer.chosen)
    share = f"{raced.generations} of {raced.most} answers"
    if not raced.decided:
        return f"not decided after {share}; ahead so far: {names or 'none'}"
    sure = f"within {100 * rules.tolerance:g} points" if rules.tolerance else "of all cases"
    best = "the best" if rules.top == 1 else f"the best {rules.top}"
    return f"{best} by mean case score {sure}, with 95% confidence: {names}; {share}; p10 and latency are not raced"

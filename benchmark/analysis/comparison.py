"""Two results on the cases they share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, auto

import numpy as np

from benchmark.analysis.caveats import Mismatch, alike, refusals
from benchmark.analysis.speed import Speed, speed
from benchmark.record.questions import questions_of
from benchmark.record.read import StoredResult
from benchmark.record.summary import Dimension
from benchmark.record.validity import measured_error
from benchmark.scoring import bootstrap_cores, bootstrap_factors, latency_factor, scenario_score
from benchmark.scoring.judge_error import OF_MEAN
from benchmark.statistics import (
    Clusters,
    Difference,
    Floats,
    Interval,
    bootstrap_means,
    corrected,
    difference_of,
    differences_of,
    interval_of,
    mean,
)
from ctxsift.errors import InputError

# One point of a hundred: closer scores of a case are a tie.
TIE = 0.01
ALPHA = 0.05
# How far two scores of 0 to 100 can be apart.
MOST = 100.0


class Measure(StrEnum):
    """What two results are compared by, 0 to 100; the verdict is on the first, the others hold latency."""

    # The quality core; programs know it by its shorter name.
    CORE = "quality"
    FINAL = auto()
    RAW = auto()
    LIFT = auto()

    @property
    def words(self) -> str:
        """The measure as people read it."""
        return "quality core" if self is Measure.CORE else str(self)


class DifferenceVerdict(StrEnum):
    """What a difference says of B, in words."""

    TOO_FEW = "too few captures"
    CANNOT_TELL = "not significant"
    EQUAL = "no difference"
    BETTER = "B better"
    WORSE = "B worse"


def verdict_of(difference: Difference) -> DifferenceVerdict:
    """Return what a difference says."""
    if difference.interval is None:
        return DifferenceVerdict.TOO_FEW
    if not beyond_chance(difference):
        ends = (difference.interval.low, difference.value, difference.interval.high)
        return DifferenceVerdict.CANNOT_TELL if any(ends) else DifferenceVerdict.EQUAL
    return DifferenceVerdict.BETTER if difference.value > 0 else DifferenceVerdict.WORSE


def beyond_chance(difference: Difference) -> bool:
    """Say whether a difference is more than chance: its p value is below 0.05 and its interval does not hold 0."""
    interval = difference.interval
    return interval is not None and difference.p < ALPHA and not interval.low <= 0 <= interval.high


@dataclass(frozen=True)
class ComparedFigure:
    """One figure of both results on the shared cases."""

    name: Measure
    a: float
    b: float
    difference: Difference

    @property
    def turned(self) -> ComparedFigure:
        """The same of A against B."""
        return replace(self, a=self.b, b=self.a, difference=self.difference.turned)


@dataclass(frozen=True)
class ComparedGroup:
    """The mean case scores of both results, 0 to 100, in one group of cases."""

    name: str
    case_count: int
    a: float
    b: float
    difference: Difference

    @property
    def turned(self) -> ComparedGroup:
        """The same of A against B."""
        return replace(self, a=self.b, b=self.a, difference=self.difference.turned)


@dataclass(frozen=True)
class Comparison:
    """B against A.

    Attributes:
        shared: ids of the cases both answered.
        captures: how many raw outputs these are about.
        only_a, only_b: cases that only one of them answered; they are left out.
        figures: one for each measure, in their order, 0 to 100.
        wins, losses, ties: cases where B is better, worse, or less than a point away.
        speed: their latency; None where it says nothing of them: of two machines, of a service.
        refusals: why there is no verdict on them; empty where there is one.
        won, lost: cases that only B, or only A, passed; see `ScoredView.passed`.
        intents: per intent, as far as the files tell it; corrected for each other (Holm).

    """

    a: StoredResult
    b: StoredResult
    shared: tuple[str, ...]
    captures: int
    only_a: int
    only_b: int
    figures: tuple[ComparedFigure, ...]
    wins: int
    losses: int
    ties: int
    won: tuple[str, ...]
    lost: tuple[str, ...]
    intents: tuple[ComparedGroup, ...]
    speed: Speed | None = None
    refusals: tuple[Mismatch, ...] = ()

    def verdict(self, measure: Measure) -> DifferenceVerdict | None:
        """Return what the difference in a measure says of B's quality; None where that is not for it to say."""
        if self.refusals or measure is not Measure.CORE:
            return None
        return verdict_of(self.difference(measure))

    def with_difference(self, measure: Measure, difference: Difference) -> Comparison:
        """Return the comparison with another account of a measure: of the same value, asked beside other questions."""
        figures = (replace(each, difference=difference) if each.name is measure else each for each in self.figures)
        return replace(self, figures=tuple(figures))

    @property
    def turned(self) -> Comparison:
        """A against B."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            only_a=self.only_b,
            only_b=self.only_a,
            figures=tuple(figure.turned for figure in self.figures),
            wins=self.losses,
            losses=self.wins,
            won=self.lost,
            lost=self.won,
            intents=tuple(group.turned for group in self.intents),
            speed=self.speed and self.speed.turned,
        )

    def difference(self, measure: Measure) -> Difference:
        """Return the difference in a measure."""
        return next(figure.difference for figure in self.figures if figure.name is measure)


def compare(a: StoredResult, b: StoredResult) -> Comparison:
    """Compare two results case by case. Raises InputError when no case was answered by both."""
    found = Comparisons().of(a, b)
    if found is None:
        raise InputError(
            f"{a.path} and {b.path}", "have no answered case in common", "compare runs over the same corpus"
        )
    return found


def time_scale(result: StoredResult) -> float:
    """Return what times of cases are multiplied by for a score: the mean over all of them is then that of the file.

    Published files leave failed cases out of their mean. It is 0 where the score leaves latency out.
    """
    if result.latency_ignored:
        return 0.0
    latency = result.record.summary.latency
    observed = mean([case.time_ms for case in result.cases.values()]) if result.cases else 0.0
    return latency.avg_inference_ms / observed if result.record.run is None and latency and observed else 1.0


# A figure, and its values in draws of the captures, shape (draws,).
_Drawn = tuple[float, Floats]


@dataclass(frozen=True)
class _Shared:
    """The cases that two results share, and which of them are drawn together."""

    cases: tuple[str, ...]
    clusters: Clusters

    def part(self, places: Sequence[int]) -> _Shared:
        """Return the cases at these places."""
        labels = self.clusters.labels
        return _Shared(tuple(self.cases[i] for i in places), Clusters.of(labels[i] for i in places))


_Key = tuple[StoredResult, _Shared, str]
# Parts of measures that are drawn once for all of them.
_CORE, _RAW_CORE, _FACTOR, _ERROR = "core", "raw core", "factor", "judge error"


class Comparisons:
    """Results against each other; what is drawn of one for all its cases is drawn once for all its pairs.

    Figures are kept as long as this is.
    """

    def __init__(self) -> None:
        self._known: dict[_Key, _Drawn] = {}
        # Of a part of its cases, for one pair only: hundreds of pairs that share different cases would fill memory.
        self._passing: dict[_Key, _Drawn] = {}
        self._passing_cases: _Shared | None = None
        self._clusters: dict[StoredResult, Clusters] = {}

    def of(self, a: StoredResult, b: StoredResult) -> Comparison | None:
        """Return `b` against `a`; None when they share no case."""
        shared = self._shared(a, b)
        if not shared.cases:
            return None
        pairs = [(a.cases[case], b.cases[case]) for case in shared.cases]
        gains = [y.score - x.score for x, y in pairs]
        return Comparison(
            a=a,
            b=b,
            shared=shared.cases,
            captures=shared.clusters.count,
            only_a=len(a.cases) - len(shared.cases),
            only_b=len(b.cases) - len(shared.cases),
            figures=tuple(self._figure(name, a, b, shared) for name in Measure),
            wins=sum(gain >= TIE for gain in gains),
            losses=sum(gain <= -TIE for gain in gains),
            ties=sum(abs(gain) < TIE for gain in gains),
            won=tuple(y.case_id for x, y in pairs if y.passed and not x.passed),
            lost=tuple(x.case_id for x, y in pairs if x.passed and not y.passed),
            intents=self._intents(a, b, shared),
            speed=speed(a, b, shared.cases, shared.clusters),
            refusals=refusals((a, b)),
        )

    def difference(self, a: StoredResult, b: StoredResult, *, timed: bool) -> Difference | None:
        """Return the score of `b` minus that of `a`, with or without latency.

        None when they share no case, or are of different corpora or scorers.
        """
        shared = self._shared(a, b)
        if not shared.cases or not alike(a, b):
            return None
        return self._figure(Measure.FINAL if timed else Measure.CORE, a, b, shared).difference

    def differences(self, results: Sequence[StoredResult], *, timed: bool) -> dict[tuple[int, int], Difference]:
        """Return (i, j), i < j -> score of j minus that of i, as far as there is a `difference`."""
        shared = self._all_shared(results)
        if shared is None:
            pairs = itertools.combinations(range(len(results)), 2)
            told = {(i, j): self.difference(results[i], results[j], timed=timed) for i, j in pairs}
            return {pair: difference for pair, difference in told.items() if difference is not None}
        # Of the same cases, each result is held against all others at once.
        name = Measure.FINAL if timed else Measure.CORE
        cores = [self._drawn(result, shared, name) for result in results]
        drawn = [draws + self._error(result, shared) for result, (_, draws) in zip(results, cores, strict=True)]
        found: dict[tuple[int, int], Difference] = {}
        for i, (ours, _) in enumerate(cores[:-1]):
            gaps = [theirs - ours for theirs, _ in cores[i + 1 :]]
            differences = differences_of(gaps, np.stack(drawn[i + 1 :]) - drawn[i], shared.clusters)
            found |= {(i, j): corrected([each])[0] for j, each in enumerate(differences, i + 1)}
        return found

    def _all_shared(self, results: Sequence[StoredResult]) -> _Shared | None:
        """Return the cases of all results if they are the same, in the same clusters, and may be compared."""
        if len(results) < 2 or not results[0].cases:
            return None
        first, cases = results[0], tuple(sorted(results[0].cases))
        clusters = self._clusters_of(first, cases)
        for other in results[1:]:
            if other.cases.keys() != first.cases.keys() or not alike(first, other):
                return None
            if self._clusters_of(other, cases).labels != clusters.labels:
                return None
        return _Shared(cases, clusters)

    def core(self, result: StoredResult) -> tuple[float, Interval | None]:
        """Return the quality core of a result, 0 to 100, with its interval, which contains the error of the scorer."""
        shared = self._shared(result, result)
        value, draws = self._drawn(result, shared, Measure.CORE)
        ends = interval_of(draws + self._error(result, shared), shared.clusters)
        return value, ends and Interval(max(ends.low, 0.0), min(ends.high, MOST))

    def _shared(self, a: StoredResult, b: StoredResult) -> _Shared:
        cases = tuple(sorted(a.cases.keys() & b.cases.keys()))
        # Of two files one may know more of what belongs together.
        return _Shared(cases, self._clusters_of(a, cases).joined(self._clusters_of(b, cases)))

    def _clusters_of(self, result: StoredResult, cases: tuple[str, ...]) -> Clusters:
        if len(cases) < len(result.cases):
            return Clusters.of(result.cases[case].cluster for case in cases)
        if result not in self._clusters:
            self._clusters[result] = Clusters.of(result.cases[case].cluster for case in cases)
        return self._clusters[result]

    def _figure(self, name: Measure, a: StoredResult, b: StoredResult, shared: _Shared) -> ComparedFigure:
        (ours, our_draws), (theirs, their_draws) = self._drawn(a, shared, name), self._drawn(b, shared, name)
        draws = their_draws - our_draws
        if name is not Measure.LIFT and alike(a, b):
            draws = draws + self._error(b, shared) - self._error(a, shared)
        found = difference_of(theirs - ours, draws, shared.clusters)
        # One question needs no correction, but its interval and its p value say the same.
        return ComparedFigure(name, ours, theirs, corrected([found])[0])

    def _error(self, result: StoredResult, part: _Shared, shared: _Shared | None = None) -> Floats | float:
        """Return draws by which the quality core of a result, 0 to 100, may be off, since its prose was judged.

        Args:
            result: of which.
            part: the cases.
            shared: those that they are a part of; None for all of them.

        """
        kept = self._kept_for(result, shared or part)
        key = result, part, _ERROR
        if key not in kept:
            kept[key] = 0.0, np.asarray(self._drawn_error(result, part))
        return kept[key][1]

    def _drawn_error(self, result: StoredResult, shared: _Shared) -> Floats | float:
        run = result.record.run
        error = None if run is None else measured_error(run.scorer_version, questions_of(run).corpus_sha256)
        if error is None:
            return 0.0
        cases = [result.cases[case] for case in shared.cases]
        prose = [case.score for case in cases if case.is_prose]
        return 100 * error.shift_of_core(prose, len(cases), result.record.scenario.model)

    def _drawn(self, result: StoredResult, shared: _Shared, name: str) -> _Drawn:
        known = self._kept_for(result, shared)
        key = result, shared, name
        if key not in known:
            known[key] = self._draw(result, shared, name)
        return known[key]

    def _kept_for(self, result: StoredResult, shared: _Shared) -> dict[_Key, _Drawn]:
        if len(shared.cases) == len(result.cases):
            return self._known
        if shared != self._passing_cases:
            self._passing, self._passing_cases = {}, shared
        return self._passing

    def _draw(self, result: StoredResult, shared: _Shared, name: str) -> _Drawn:
        """Return a figure, 0 to 100, or one of its parts: the quality core of a view, the latency factor."""
        if name == _FACTOR:
            scale = time_scale(result)
            times_ms = [scale * result.cases[case].time_ms for case in shared.cases]
            return latency_factor(mean(times_ms)), bootstrap_factors(times_ms, shared.clusters)
        if name in (_CORE, _RAW_CORE):
            cases = [result.cases[case] for case in shared.cases]
            scores = [case.raw_score if name == _RAW_CORE else case.score for case in cases]
            return scenario_score(scores, 0.0).quality_core, bootstrap_cores(scores, shared.clusters)
        if name == Measure.LIFT:
            final, final_draws = self._drawn(result, shared, Measure.FINAL)
            raw, raw_draws = self._drawn(result, shared, Measure.RAW)
            return final - raw, final_draws - raw_draws
        core, core_draws = self._drawn(result, shared, _RAW_CORE if name == Measure.RAW else _CORE)
        factor, factor_draws = (1.0, 1.0) if name == Measure.CORE else self._drawn(result, shared, _FACTOR)
        return 100 * core * factor, 100 * core_draws * factor_draws

    def _intents(self, a: StoredResult, b: StoredResult, shared: _Shared) -> tuple[ComparedGroup, ...]:
        members: dict[str, list[int]] = {}
        for place, case in enumerate(shared.cases):
            group = a.cases[case].group
            if Dimension.INTENT in group:
                members.setdefault(group[Dimension.INTENT], []).append(place)
        found: list[ComparedGroup] = []
        freedom: list[float] = []
        for name, places in sorted(members.items()):
            part = shared.part(places)
            (ours, our_draws), (theirs, their_draws) = (self._mean(r, shared, name, part) for r in (a, b))
            draws = their_draws - our_draws
            if alike(a, b):
                # The mean of the case scores, which is 0.8 of a core.
                draws = draws + (self._error(b, part, shared) - self._error(a, part, shared)) / OF_MEAN
            difference = difference_of(theirs - ours, draws, part.clusters)
            found.append(ComparedGroup(name, len(places), ours, theirs, difference))
            freedom.append(part.clusters.effective_count - 1)
        differences = corrected([group.difference for group in found], freedom, MOST)
        return tuple(replace(group, difference=each) for group, each in zip(found, differences, strict=True))

    def _mean(self, result: StoredResult, shared: _Shared, intent: str, part: _Shared) -> _Drawn:
        """Return the mean score of the cases of an intent, 0 to 100."""
        known = self._kept_for(result, shared)
        key = result, part, f"intent {intent}"
        if key not in known:
            scores = [100 * result.cases[case].score for case in part.cases]
            known[key] = mean(scores), bootstrap_means(scores, part.clusters)
        return known[key]

"""Results of probes as figures: averaged over the age of the evidence, with intervals that draw sessions."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

import numpy as np

from benchmark.analysis.ranking import Rank, ranks_of
from benchmark.judges.rubric import FULL, Criterion, RubricDimension
from benchmark.probes.model import Maker, ProbeType
from benchmark.probes.nulls import ENDS, NULLS, draws_joined
from benchmark.probes.records import AskedProbe, LeftContext, MeasuredMethod, ProbeResult
from benchmark.probes.states import Posed, ProbeState, posed_by_id, state_of
from benchmark.record.base import Interval
from benchmark.statistics import Clusters, Difference, Floats, difference_of, holm, interval_of, resamples

Value = Callable[[AskedProbe], float | None]
# A probe of a session at a cut.
_Key = tuple[str, str, int]


@dataclass(frozen=True)
class ProbeEstimate:
    """A figure with its interval.

    Attributes:
        count: values it is the mean of.
        interval: 95%, by drawing sessions; None below five sessions.

    """

    value: float
    count: int
    interval: Interval | None = None


@dataclass(frozen=True)
class _Aged:
    """Values by session and age.

    Attributes:
        mean: over the ages of the mean at each age.
        drawn: the same of each bootstrap sample of the sessions, shape (draws,); nan where a sample has no value.

    """

    mean: float
    count: int
    drawn: Floats

    @classmethod
    def of(cls, values: Sequence[tuple[str, int, float]], sessions: Sequence[str]) -> _Aged:
        """Return the figure of values, each with its session and age; there is at least one."""
        ages = 1 + max(age for _, age, _ in values)
        sums, counts = np.zeros((len(sessions), ages)), np.zeros((len(sessions), ages))
        for session, age, value in values:
            row = sessions.index(session)
            sums[row, age] += value
            counts[row, age] += 1
        draws = resamples(len(sessions))
        with np.errstate(invalid="ignore"):
            by_age = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
            present = ~np.isnan(by_age)
            drawn = np.where(present, by_age, 0).sum(axis=1) / present.sum(axis=1)
            observed = sums.sum(axis=0) / counts.sum(axis=0)
        return cls(float(np.nanmean(observed)), len(values), drawn)


@dataclass(frozen=True)
class Lift:
    """How far a method lies above the best of the nulls with its budget, on the same questions.

    Attributes:
        over: label of that null.
        above: as of any two methods of the board; its p is corrected for all pairs, so for the choice of the null.

    """

    over: str
    above: Difference


@dataclass(frozen=True)
class Inventions:
    """Names and values that no step says, in all summaries of a method.

    Attributes:
        among: names and values that the summaries have.
        names: some of those that are invented, the most frequent first.

    """

    count: int
    among: int
    names: tuple[str, ...]

    @property
    def per_hundred(self) -> float:
        """Of a hundred names and values, those that are invented."""
        return 100 * self.count / self.among

    @classmethod
    def of(cls, contexts: Sequence[LeftContext]) -> Inventions | None:
        """Return those of contexts; None where nobody looked, or no summary has a name."""
        if not (among := sum(each.names or 0 for each in contexts)):
            return None
        names = Counter(name for each in contexts for name in each.inventions)
        return cls(sum(each.invented for each in contexts), among, tuple(name for name, _ in names.most_common()))


@dataclass(frozen=True)
class Row:
    """A method on the board of those who made its probes.

    Attributes:
        score: over all probes, 0 to 5.
        other_words: share of the questions whose answers stand there in other words alone; None where nobody looked.
        rank: by score, among the methods that take the same budget; who cannot be told apart ties. None for the ends of
            the scale, and where summaries have words of their own, which rules that look for those of the session
            cannot rank.
        types, dimensions, criteria: 0 to 5; what is missing is unscored.
        overall: unweighted mean of the dimensions.
        kept: by age from 0, the share of the full score, in [0, 1].
        kept_of_same: the same of the probes that are asked at every age; None where there are none.
        uptake: share of the probes that end with a contradiction; None where nothing could.
        ratio: tokens of all steps by tokens of what is left, over all cuts that have a summary.
        seconds: mean of a cycle.
        refused: cycles whose summary was not used; of random lines, in all draws.
        inventions: None where nobody looked, or no summary has a name.
        lift: None of nulls, of what takes no budget or is not ranked, and where no null has its budget.

    """

    method: str
    budget: int | None
    model: str | None
    label: str
    rank: Rank | None
    score: ProbeEstimate
    other_words: float | None
    types: Mapping[ProbeType, ProbeEstimate]
    dimensions: Mapping[RubricDimension, ProbeEstimate]
    criteria: Mapping[Criterion, ProbeEstimate]
    overall: ProbeEstimate
    kept: tuple[float | None, ...]
    kept_of_same: tuple[float | None, ...]
    uptake: float | None
    ratio: float
    seconds: float
    refused: int
    inventions: Inventions | None
    lift: Lift | None


@dataclass(frozen=True)
class ProbeBoard:
    """Methods on the probes that one kind of maker wrote, best first; draws of random lines are one.

    Attributes:
        probes: how many.
        asked: how often, at all cuts.
        ages: how many probes are asked at each age from 0.
        at_every_age: how many are asked at each of these.
        differences: (label, label) -> score of the second minus that of the first, its p corrected for all pairs; of
            those that are ranked.
        unasked: labels of methods that could be asked nothing, as they have no summary at any cut.

    """

    maker: Maker
    probes: int
    asked: int
    ages: tuple[int, ...]
    at_every_age: int
    rows: tuple[Row, ...]
    differences: Mapping[tuple[str, str], Difference]
    unasked: tuple[str, ...] = ()


def boards(result: ProbeResult) -> Iterator[ProbeBoard]:
    """Yield a board for each kind of maker that has probes; those by hand first."""
    posed = posed_by_id(result.probes)
    yield from filter(None, (board_of(result.methods, maker, posed) for maker in Maker))


def board_of(methods: Sequence[MeasuredMethod], maker: Maker, posed: Posed | None = None) -> ProbeBoard | None:
    """Return the board of methods that were asked the same; None where they were asked nothing of that kind.

    Args:
        methods: with what they were asked.
        maker: whose probes.
        posed: the probes; None where the figures are not of contexts.

    """
    figures = [_Figures(method, maker, posed) for method in draws_joined(methods)]
    return _board(maker, figures) if any(each.asked for each in figures) else None


def lift(
    result: ProbeResult, maker: Maker, label: str, over: str, dimension: RubricDimension | None = None
) -> Difference:
    """Return how far one method lies above another on the same questions, 0 to 5.

    Args:
        result: of a run.
        maker: whose probes.
        label: of the method; see `MeasuredMethod.label`.
        over: label of the other one.
        dimension: of the rubric; the score over all probes when None.

    """
    by_label = {method.label: _Figures(method, maker) for method in result.methods}
    if dimension is None:
        return by_label[over].difference(by_label[label])
    return by_label[over].difference_in(dimension, by_label[label])


def _board(maker: Maker, methods: Sequence[_Figures]) -> ProbeBoard:
    figures = [each for each in methods if each.asked]
    by_key = max((each.ages for each in figures), key=len)
    ages = list(by_key.values())
    counts = tuple(ages.count(age) for age in range(1 + max(ages)))
    same = _asked_at_every_age(by_key, len(counts))
    ranked = [each for each in figures if each.is_ranked]
    differences = _differences(ranked)
    ranks, lifts = _ranks(ranked, differences), _lifts(ranked, differences)
    rows = [each.row(ranks.get(each.label), lifts.get(each.label), len(counts), same) for each in figures]
    return ProbeBoard(
        maker,
        len({(session, probe) for session, probe, _ in by_key}),
        len(by_key),
        counts,
        len(same),
        tuple(sorted(rows, key=_order)),
        differences,
        tuple(each.label for each in methods if not each.asked),
    )


def _asked_at_every_age(by_key: Mapping[_Key, int], ages: int) -> frozenset[tuple[str, str]]:
    """Return session and name of each probe that is asked at every age."""
    found: dict[tuple[str, str], set[int]] = {}
    for (session, probe, _), age in by_key.items():
        found.setdefault((session, probe), set()).add(age)
    return frozenset(asked for asked, at in found.items() if len(at) == ages)


def _order(row: Row) -> tuple[bool, bool, int, float, str]:
    """Return what rows are sorted by: no budget first, then larger ones; in each the best first; last, the unranked."""
    unranked = row.rank is None and row.method not in ENDS
    return unranked, row.budget is not None, -(row.budget or 0), -row.score.value, row.label


def _differences(figures: Sequence[_Figures]) -> dict[tuple[str, str], Difference]:
    pairs = list(itertools.combinations(figures, 2))
    alone = {(one.label, other.label): one.difference(other) for one, other in pairs}
    corrected = holm([difference.p for difference in alone.values()])
    return {pair: replace(found, p=p) for (pair, found), p in zip(alone.items(), corrected, strict=True)}


def _ranks(figures: Sequence[_Figures], differences: Mapping[tuple[str, str], Difference]) -> dict[str, Rank]:
    ranks: dict[str, Rank] = {}
    for budget in {each.method.budget for each in figures}:
        rivals = [each.label for each in figures if each.method.budget == budget]
        place = {label: number for number, label in enumerate(rivals)}
        by_place = {(place[a], place[b]): found for (a, b), found in differences.items() if a in place and b in place}
        ranks |= dict(zip(rivals, ranks_of(len(rivals), by_place), strict=True))
    return ranks


def _lifts(figures: Sequence[_Figures], differences: Mapping[tuple[str, str], Difference]) -> dict[str, Lift]:
    nulls = [each for each in figures if each.method.method in NULLS]
    best = {each.method.budget: each.label for each in sorted(nulls, key=lambda each: (each.score, each.label))}
    # What takes no budget has no null: others may leave a tenth of its tokens.
    best.pop(None, None)
    lifted = [each for each in figures if each.method.budget in best and each not in nulls]
    return {
        each.label: Lift(over, differences.get((over, each.label)) or differences[each.label, over].turned)
        for each in lifted
        for over in [best[each.method.budget]]
    }


class _Figures:
    """What is figured of one method."""

    def __init__(self, method: MeasuredMethod, maker: Maker, posed: Posed | None = None) -> None:
        self.method, self._posed = method, posed or {}
        self.asked = [each for each in method.asked if each.made_by is maker]
        # Those that are drawn: a session without such probes says nothing of them.
        self._sessions = sorted({each.session for each in self.asked})

    @property
    def is_ranked(self) -> bool:
        """Whether it competes, and rules can compare it: answers always, contexts unless their words are their own."""
        if self.method.method in ENDS:
            return False
        return not self.method.own_words or self.asked[0].answer is not None

    @cached_property
    def ages(self) -> dict[_Key, int]:
        """What it was asked, with the age of the evidence; the same in every draw of random lines."""
        return {each.key: each.age for each in self.asked}

    @property
    def label(self) -> str:
        """Of the method."""
        return self.method.label

    @property
    def score(self) -> float:
        """Over all that it was asked."""
        return self._score.mean

    def row(self, rank: Rank | None, lift: Lift | None, ages: int, same: Collection[tuple[str, str]]) -> Row:
        """Return its row on a board with so many ages; `same` are the probes that are asked at each of them."""
        method, contexts = self.method, [each for each in self.method.contexts if not each.absent]
        uptake = [each.uptake for each in self.asked if each.uptake is not None]
        return Row(
            method.method,
            method.budget,
            method.model,
            self.label,
            rank,
            self._estimate(self._score),
            self._other_words(),
            dict(self._estimates((kind, self._of_type(kind)) for kind in ProbeType)),
            {name: self._estimate(aged) for name, aged in self._dimensions.items()},
            {name: self._estimate(aged) for name, aged in self._criteria.items()},
            self._estimate(_mean_of(list(self._dimensions.values()))),
            tuple(self._kept(self.asked, ages)),
            tuple(self._kept([each for each in self.asked if (each.session, each.probe) in same], ages)),
            fmean(uptake) if uptake else None,
            sum(each.tokens_whole for each in contexts) / max(1, sum(each.tokens for each in contexts)),
            fmean(each.seconds for each in contexts),
            sum(each.refused for each in contexts),
            Inventions.of(contexts),
            lift,
        )

    def difference(self, other: _Figures) -> Difference:
        """Return how far another method lies above this one, on the same questions."""
        found = self._gain(self._scores, other._scores)
        assert found is not None
        return self._difference(found)

    def difference_in(self, dimension: RubricDimension, other: _Figures) -> Difference:
        """Return the same in one dimension; it has criteria that are scored."""
        read = [_reader(criterion) for criterion in dimension.criteria]
        gains = (self._gain(self._by_question(value), other._by_question(value)) for value in read)
        return self._difference(_mean_of([gain for gain in gains if gain is not None]))

    def _gain(self, ours: Mapping[_Key, float], theirs: Mapping[_Key, float]) -> _Aged | None:
        gains = [(key[0], self.ages[key], theirs[key] - less) for key, less in ours.items() if key in theirs]
        return _Aged.of(gains, self._sessions) if gains else None

    @cached_property
    def _scores(self) -> dict[_Key, float]:
        return self._by_question(lambda each: each.score)

    def _by_question(self, value: Value) -> dict[_Key, float]:
        """Return the value of each question that has one, over all draws."""
        found: dict[_Key, list[float]] = {}
        for each in self.asked:
            if (figure := value(each)) is not None:
                found.setdefault(each.key, []).append(figure)
        return {key: fmean(values) for key, values in found.items()}

    def _difference(self, gain: _Aged) -> Difference:
        return difference_of(gain.mean, gain.drawn[~np.isnan(gain.drawn)], self._clusters)

    @cached_property
    def _clusters(self) -> Clusters:
        return Clusters.of(each.session for each in self.asked)

    @cached_property
    def _score(self) -> _Aged:
        found = self._aged(lambda each: each.score)
        assert found is not None
        return found

    @cached_property
    def _criteria(self) -> dict[Criterion, _Aged]:
        found = ((name, self._aged(_reader(name))) for name in Criterion)
        return {name: aged for name, aged in found if aged is not None}

    @cached_property
    def _dimensions(self) -> dict[RubricDimension, _Aged]:
        parts = {
            name: [self._criteria[each] for each in name.criteria if each in self._criteria] for name in RubricDimension
        }
        return {name: _mean_of(found) for name, found in parts.items() if found}

    def _of_type(self, kind: ProbeType) -> _Aged | None:
        return self._aged(lambda each: each.score if each.type is kind else None)

    def _aged(self, value: Value) -> _Aged | None:
        values = [(each.session, each.age, found) for each in self.asked if (found := value(each)) is not None]
        return _Aged.of(values, self._sessions) if values else None

    def _estimates(self, found: Iterable[tuple[ProbeType, _Aged | None]]) -> Iterator[tuple[ProbeType, ProbeEstimate]]:
        yield from ((name, self._estimate(aged)) for name, aged in found if aged is not None)

    def _estimate(self, aged: _Aged) -> ProbeEstimate:
        drawn = aged.drawn[~np.isnan(aged.drawn)]
        ends = interval_of(drawn, self._clusters)
        return ProbeEstimate(aged.mean, aged.count, (ends.low, ends.high) if ends else None)

    def _other_words(self) -> float | None:
        posed = self._posed
        found = [state_of(each, posed[key]) for each in self.asked if (key := (each.session, each.probe)) in posed]
        return fmean(state is ProbeState.OTHER_WORDS for state in found) if found else None

    @staticmethod
    def _kept(asked: Sequence[AskedProbe], ages: int) -> Iterator[float | None]:
        for age in range(ages):
            scores = [each.score for each in asked if each.age == age]
            yield fmean(scores) / FULL if scores else None


def _reader(criterion: Criterion) -> Value:
    return lambda each: each.criteria.get(criterion)


def _mean_of(found: Sequence[_Aged]) -> _Aged:
    rows = np.stack([each.drawn for each in found])
    present = ~np.isnan(rows)
    with np.errstate(invalid="ignore"):
        drawn: Floats = np.where(present, rows, 0).sum(axis=0) / present.sum(axis=0)
    return _Aged(fmean(each.mean for each in found), sum(each.count for each in found), drawn)

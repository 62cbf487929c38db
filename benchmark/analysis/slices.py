"""Slices of results: the cases with a common property, and the score of each result on them alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum, auto

from benchmark.analysis.comparison import Comparisons
from benchmark.analysis.leaderboard import Leaderboard
from benchmark.analysis.parts import cut_to
from benchmark.analysis.ranking import Rank, rank_results
from benchmark.record.read import StoredResult
from benchmark.record.result import Question
from benchmark.statistics import Interval
from ctxsift.errors import InputError

# With fewer captures, an interval says little about other outputs.
FEW_CAPTURES = 10
UNTOLD_HINT = "run benchmark.rescore to add it to older results of this runner; published files do not contain it"


class Facet(StrEnum):
    """A property that cases can have in common."""

    INTENT = auto()
    FAMILY = auto()
    DOMAIN = auto()
    TOOL = auto()
    DIFFICULTY = auto()
    TIER = auto()


FACETS: Mapping[Facet, Callable[[Question], str | None]] = {
    Facet.INTENT: lambda question: question.intent,
    Facet.FAMILY: lambda question: question.family,
    Facet.DOMAIN: lambda question: question.domain,
    Facet.TOOL: lambda question: question.tool,
    Facet.DIFFICULTY: lambda question: question.difficulty,
    Facet.TIER: lambda question: question.tier,
}


@dataclass(frozen=True)
class Slice:
    """The cases that meet every condition.

    Attributes:
        conditions: facet -> values, of which a case must have one.

    """

    conditions: Mapping[Facet, frozenset[str]]

    def __str__(self) -> str:
        return ", ".join(f"{facet} {' or '.join(sorted(values))}" for facet, values in self.conditions.items())

    def holds(self, question: Question) -> bool:
        """Return whether a case belongs to the slice."""
        return all(FACETS[facet](question) in values for facet, values in self.conditions.items())


def read_slice(text: str, questions: Iterable[Question]) -> Slice:
    """Return the slice that a text names: `tool=pytest,difficulty=hard`, or `python` for the first facet that knows it.

    Values of one facet are alternatives; different facets must all match. Case is ignored.

    Args:
        text: conditions, with commas between them.
        questions: to select from.

    Raises:
        InputError: no question has this value, or all of these values; the error lists the known values.

    """
    asked = list(questions)
    known = {facet: list(values_of(facet, asked)) for facet in Facet}
    conditions: dict[Facet, frozenset[str]] = {}
    for condition in text.split(","):
        facet, value = _condition(condition, known, text)
        conditions[facet] = conditions.get(facet, frozenset()) | {value}
    found = Slice(conditions)
    if not any(map(found.holds, asked)):
        raise InputError(f"--slice {text}", "no case has all of these values", "leave one of them out")
    return found


def _condition(condition: str, known: Mapping[Facet, Sequence[str]], text: str) -> tuple[Facet, str]:
    """Return facet and value of one condition, as the questions write them."""
    name, equals, wanted = (part.strip().casefold() for part in condition.partition("="))
    if equals and name not in set(Facet):
        raise InputError(f"--slice {text}", f"there is no facet {name!r}", f"facets: {', '.join(Facet)}")
    facets, wanted = ([Facet(name)], wanted) if equals else (list(Facet), name)
    for facet in facets:
        for value in known[facet]:
            if value.casefold() == wanted:
                return facet, value
    told = [f"{facet}: {', '.join(_nearest(wanted, known[facet]))}" for facet in facets if known[facet]]
    if not told:
        raise InputError(f"--slice {text}", f"these results do not record the {facets[0]} of a case", UNTOLD_HINT)
    what = f"no case of these results has {f'the {facets[0]}' if equals else 'the value'} {wanted!r}"
    raise InputError(f"--slice {text}", what, f"most similar values first: {'; '.join(told)}")


def _nearest(wanted: str, values: Sequence[str]) -> list[str]:
    """Return the values, most similar to the wanted one first."""
    return sorted(values, key=lambda value: (-SequenceMatcher(None, wanted, value.casefold()).ratio(), value))


def values_of(facet: Facet, questions: Iterable[Question]) -> Counter[str]:
    """Return the values of a facet, most frequent first, and how many questions have each."""
    found = Counter(value for question in questions if (value := FACETS[facet](question)))
    return Counter(dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))))


@dataclass(frozen=True)
class SliceResult:
    """One result on the cases of a slice.

    Attributes:
        case_count: answers in it.
        core: quality core, 0 to 100; None without an answer.
        interval: of the core; None below five captures.
        rank: among the complete runs that beat the best baseline on these cases; where that is not known, among those
            that have a rank on the board.
        gain: difference in core from the best baseline on these cases, and its interval; None where baselines are
            unknown.

    """

    label: str
    case_count: int
    core: float | None
    interval: Interval | None
    rank: Rank | None
    gain: tuple[float, tuple[float, float] | None] | None = None


@dataclass(frozen=True)
class BoardSlice:
    """The cases of a board with one value of a facet.

    Attributes:
        value: that they have in common.
        case_count: of them.
        captures: how many raw outputs these are about.
        floor: name and quality core, 0 to 100, of the best baseline on them; None where that is not known.
        placed: in the order of the board, reference rows left out.

    """

    value: str
    case_count: int
    captures: int
    floor: tuple[str, float] | None
    placed: tuple[SliceResult, ...]


def parts_of(
    board: Leaderboard,
    questions: Mapping[str, Question],
    facet: Facet | None,
    *,
    baselines: bool = False,
    fewest: int = 1,
) -> tuple[BoardSlice, ...]:
    """Return what the results of a board score on each part of its cases, the largest part first.

    Args:
        board: of results over the same cases.
        questions: of these cases, by id.
        facet: what the cases of a part have in common; None for one part with all of them.
        baselines: compare with the best baseline on each part, where its scores are known.
        fewest: parts of fewer captures are left out.

    """
    members: dict[str, list[str]] = {}
    if facet is None:
        members["all"] = sorted(questions)
    else:
        for value in values_of(facet, questions.values()):
            members[value] = sorted(i for i, question in questions.items() if FACETS[facet](question) == value)
    large = {value: ids for value, ids in members.items() if len({questions[i].cluster for i in ids}) >= fewest}
    return tuple(_part(board, value, ids, baselines=baselines) for value, ids in large.items())


def _with_cases(result: StoredResult, ids: Sequence[str]) -> StoredResult:
    """Return a result with only these cases; its summary stays that of all of them."""
    return replace(result, cases={i: result.cases[i] for i in ids if i in result.cases})


def _is_ranked(part: StoredResult, rank: Rank | None, *, by_floor: bool) -> bool:
    """Return whether part of a result has a rank: its floor on these cases decides, or else the rank of the whole."""
    above = bool(part.record.summary.beats_floor) if by_floor else rank is not None
    return bool(part.cases) and part.record.complete and above


def _part(board: Leaderboard, value: str, ids: Sequence[str], *, baselines: bool) -> BoardSlice:
    # Resamples of a part are of no use to other parts.
    comparisons = Comparisons()
    rows = [row for row in board.rows if not row.result.is_reference]
    part_of = cut_to if baselines else _with_cases
    cut = [part_of(row.result, ids) for row in rows]
    floors = [found for each in cut if baselines and (found := each.record.summary.reference)]
    ranked = [part for row, part in zip(rows, cut, strict=True) if _is_ranked(part, row.rank, by_floor=bool(floors))]
    ranks = dict(zip(ranked, rank_results(ranked, comparisons=comparisons).ranks, strict=True))
    clusters = {case.cluster for result in cut for case in result.cases.values()}
    return BoardSlice(
        value=value,
        case_count=len(ids),
        captures=len(clusters),
        floor=(floors[0].floor, floors[0].floor_score) if floors else None,
        placed=tuple(
            _placed(row.label, result, ranks.get(result), comparisons, has_floor=bool(floors))
            for row, result in zip(rows, cut, strict=True)
        ),
    )


def _placed(
    label: str, result: StoredResult, rank: Rank | None, comparisons: Comparisons, *, has_floor: bool
) -> SliceResult:
    if not result.cases:
        return SliceResult(label, 0, None, None, None)
    core, interval = comparisons.core(result)
    reference = result.record.summary.reference if has_floor else None
    return SliceResult(label, len(result.cases), core, interval, rank, reference.compared if reference else None)

"""The score in two parts: cases judged by what is true, and prose judged by how close its words are to gold's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from benchmark.analysis.comparison import Comparisons, beyond_chance
from benchmark.record.read import StoredResult
from benchmark.scoring import scenario_score
from benchmark.statistics import mean


@dataclass(frozen=True)
class ResultPart:
    """A part of the cases of a result.

    Attributes:
        result: with these cases alone.
        score: 0 to 100, by the formula of the final score.

    """

    result: StoredResult
    score: float


class MixedResult(NamedTuple):
    """A result whose cases are not all judged in the same way.

    Attributes:
        by_truth: cases with a structured or exact answer, and prose with statements.
        by_wording: prose without statements.

    """

    by_truth: ResultPart
    by_wording: ResultPart


def judged(result: StoredResult) -> MixedResult | None:
    """Return the two parts of a result; None where one of them is empty, or the file does not tell."""
    worded = {name: case for name, case in result.cases.items() if case.by_wording}
    true = {name: case for name, case in result.cases.items() if name not in worded}
    if not worded or not true:
        return None
    return MixedResult(_part(replace(result, cases=true)), _part(replace(result, cases=worded)))


def _part(result: StoredResult) -> ResultPart:
    cases = result.cases.values()
    time_ms = 0.0 if result.latency_ignored else mean([case.time_ms for case in cases])
    return ResultPart(result, scenario_score([case.score for case in cases], time_ms).final_score)


def opposed(results: Sequence[StoredResult]) -> Iterator[tuple[StoredResult, StoredResult]]:
    """Yield pairs of results of which the first is significantly better by truth, and the second by wording."""
    parts = [(result, found) for result in results if (found := judged(result)) is not None]
    comparisons = Comparisons()
    for (a, ours), (b, theirs) in combinations(parts, 2):
        true = comparisons.difference(ours.by_truth.result, theirs.by_truth.result, timed=False)
        worded = comparisons.difference(ours.by_wording.result, theirs.by_wording.result, timed=False)
        if true is None or worded is None or not (beyond_chance(true) and beyond_chance(worded)):
            continue
        if true.value * worded.value < 0:
            yield (a, b) if true.value < 0 else (b, a)

"""Reference rows: what gold and the best baselines score on the very cases of the results they stand beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.grading.baselines import GOLD
from benchmark.record.read import StoredResult
from benchmark.record.summary import Reference
from ctxsift.terminal import one_line

SHOWN_BASELINES = 3
# Everybody understands what it says, and so what its score is worth.
ALWAYS_SHOWN = "ok"


@dataclass(frozen=True)
class ReferenceRow:
    """Gold or one baseline; nobody's rival.

    Attributes:
        name: of the baseline, or gold.
        score: final score, 0 to 100.
        normalised_score: 0 is the best baseline, 100 is gold; None where these two score the same.
        case_count: cases it was scored on.
        is_floor: it is the best baseline.

    """

    name: str
    score: float
    normalised_score: float | None
    case_count: int
    is_floor: bool

    @property
    def is_ceiling(self) -> bool:
        """Whether it is gold."""
        return self.name == GOLD

    @property
    def label(self) -> str:
        """What it is called in a table."""
        return f"{GOLD} (reference)" if self.is_ceiling else f"baseline {one_line(self.name)}"


@dataclass(frozen=True)
class References:
    """The references of some results.

    Attributes:
        source: the result on whose cases they were scored, as its file says; None where no file says it.
        rows: gold and the best baselines, best first, without those that are results themselves.
        results: of scenarios that stand in for such a row: they ran gold or that baseline over the same cases.

    """

    source: StoredResult | None = None
    rows: tuple[ReferenceRow, ...] = ()
    results: tuple[StoredResult, ...] = ()

    @property
    def floor(self) -> tuple[str, float] | None:
        """Name and score of the best baseline; None where no file says it."""
        told = self.source.record.summary.reference if self.source else None
        return None if told is None else (told.floor, told.floor_score)


def reference_rows(results: Sequence[StoredResult]) -> References:
    """Return gold, the three best baselines and `ok` on the cases of the result with most of them.

    Results of models come first; of those with as many cases, those with the same cases as most others.
    """
    told = [result for result in results if result.cases and result.record.summary.reference]
    rivals = [result for result in told if not result.is_reference] or told
    if not rivals:
        return References()
    alike = Counter(frozenset(result.cases) for result in rivals)
    source = max(rivals, key=lambda result: (len(result.cases), alike[frozenset(result.cases)], result.timestamp))
    reference = source.record.summary.reference
    assert reference is not None
    shown = {row.name: row for row in _shown(reference, len(source.cases))}
    standing_in = tuple(
        result
        for result in results
        if result.is_reference and result.record.scenario.model in shown and result.cases.keys() == source.cases.keys()
    )
    for result in standing_in:
        shown.pop(result.record.scenario.model, None)
    return References(source, tuple(shown.values()), standing_in)


def _shown(reference: Reference, case_count: int) -> list[ReferenceRow]:
    best = sorted(reference.baselines, key=lambda name: (-reference.baselines[name], name != reference.floor))
    chosen = dict.fromkeys(
        [*best[:SHOWN_BASELINES], *(name for name in (ALWAYS_SHOWN,) if name in reference.baselines)]
    )
    scores = {GOLD: reference.ceiling_score, **{name: reference.baselines[name] for name in chosen}}
    span = reference.ceiling_score - reference.floor_score
    return [
        ReferenceRow(
            name=name,
            score=score,
            normalised_score=100 * ((score - reference.floor_score) / span) if span > 0 else None,
            case_count=case_count,
            is_floor=name == reference.floor,
        )
        for name, score in scores.items()
    ]

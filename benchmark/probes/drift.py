"""What methods keep from cut to cut: the same probes at every age, by type."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmark.judges.rubric import FULL
from benchmark.probes.model import Maker, ProbeType
from benchmark.probes.nulls import draws_joined
from benchmark.probes.records import AskedProbe, MeasuredMethod

# At one age, nothing drifts.
_FEWEST_AGES = 2


@dataclass(frozen=True)
class Drift:
    """Probes of one type that are asked at every age from 0 up to some age; older evidence is of other probes.

    Attributes:
        ages: how many ages, two or more.
        probes: how many, one or more.
        kept: label of a method -> by age, the share of the full score, in [0, 1]; None where it was asked nothing.

    """

    type: ProbeType
    ages: int
    probes: int
    kept: Mapping[str, tuple[float | None, ...]]


def _ages(asked: Iterable[AskedProbe]) -> dict[tuple[str, str], set[int]]:
    """Return (session, probe) -> the ages at which it was asked."""
    found: dict[tuple[str, str], set[int]] = {}
    for each in asked:
        found.setdefault((each.session, each.probe), set()).add(each.age)
    return found


def drifts(methods: Sequence[MeasuredMethod], maker: Maker) -> Iterator[Drift]:
    """Yield the drift of methods on the probes of a maker, fewest ages first; draws of random lines are one method."""
    asked = {method.label: [each for each in method.asked if each.made_by is maker] for method in draws_joined(methods)}
    found = _ages(itertools.chain.from_iterable(asked.values()))
    most = max(itertools.chain.from_iterable(found.values()), default=0)
    for ages in range(_FEWEST_AGES, most + 2):
        same = {probe for probe, at in found.items() if at.issuperset(range(ages))}
        for kind in ProbeType:
            of_kind = {
                label: [each for each in probes if each.type is kind and (each.session, each.probe) in same]
                for label, probes in asked.items()
            }
            count = len({(each.session, each.probe) for probes in of_kind.values() for each in probes})
            if count:
                kept = {label: tuple(_kept(probes, ages)) for label, probes in of_kind.items()}
                yield Drift(kind, ages, count, kept)


def _kept(asked: Sequence[AskedProbe], ages: int) -> Iterator[float | None]:
    for age in range(ages):
        scores = [each.score for each in asked if each.age == age]
        yield fmean(scores) / FULL if scores else None

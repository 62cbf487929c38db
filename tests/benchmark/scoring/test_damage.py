"""Damage always costs, and more damage never pays."""

from __future__ import annotations

import pytest

from benchmark.cases import Case, Corpus
from benchmark.run.selection import CaseOrder, select_cases
from benchmark.scoring import Embedder
from tests.support.damage import DAMAGES, Judge, drops, pairs, raises, table
from tests.support.depth import FUZZ, depth

pytestmark = pytest.mark.slow
CASES = depth(60, 280)
# Function words in another language cost most cases a little and few of them much: none of those few may be drawn.
SELDOM_MUCH = {"prose translated"}

# Where half a text is said twice, its embedding moves a little at the seam. A second damage may take away words that
# wrong answers are known to have.
NOISE, NOISE_OF_KNOWN = 0.0005, 0.01


@pytest.fixture(scope="module")
def cases(corpus: Corpus) -> tuple[Case, ...]:
    """Cases of every intent, the same each time."""
    return select_cases(corpus, max_cases=CASES, order=CaseOrder.MIXED)


@pytest.fixture(scope="module")
def judge(cases: tuple[Case, ...], embedder: Embedder) -> Judge:
    return Judge(cases, embedder)


def test_every_kind_of_damage_lowers_the_score(cases: tuple[Case, ...], judge: Judge) -> None:
    found = drops(cases, judge)
    print(table(found))
    assert len(found) == len(DAMAGES) >= 20
    for name, values in found.items():
        assert values, f"{name} applies to no case"
        assert sum(value > 0 for value in values) >= 0.99 * len(values), name
        if FUZZ or name not in SELDOM_MUCH:
            assert sum(values) / len(values) >= 0.02, name


def test_a_second_damage_never_raises_the_score(cases: tuple[Case, ...], judge: Judge) -> None:
    changes = dict(raises(cases, judge, pairs(seed=0, count=250)))
    assert len(changes) > 20 * len(cases)
    known = {case.case_id for case in cases if case.known}
    noise = {name: NOISE_OF_KNOWN if name.partition(":")[0] in known else NOISE for name in changes}
    above = {name: change for name, change in changes.items() if change > noise[name]}
    # Of a text that lost its letter case, another damage may take a word that wrong answers alone have.
    assert {name for name in above if name.partition(":")[0] not in known} == set()
    assert len(above) <= len(changes) / 1000
    assert max(above.values(), default=0.0) <= 5 * NOISE_OF_KNOWN

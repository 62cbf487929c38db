"""Damage always costs, and more damage never pays."""

from __future__ import annotations

import pytest

from benchmark.cases import Corpus
from benchmark.scoring import Embedder
from tests.support.damage import DAMAGES, Judge, drops, pairs, raises, table

pytestmark = pytest.mark.slow

# Where half a text is said twice, its embedding moves a little at the seam.
NOISE = 0.0005


@pytest.fixture(scope="module")
def judge(corpus: Corpus, embedder: Embedder) -> Judge:
    return Judge(corpus.cases, embedder)


def test_every_kind_of_damage_lowers_the_score(corpus: Corpus, judge: Judge) -> None:
    found = drops(corpus.cases, judge)
    print(table(found))
    assert len(found) == len(DAMAGES) >= 20
    for name, values in found.items():
        assert values, f"{name} applies to no case"
        assert sum(value > 0 for value in values) >= 0.99 * len(values), name
        assert sum(values) / len(values) >= 0.02, name


def test_a_second_damage_never_raises_the_score(corpus: Corpus, judge: Judge) -> None:
    changes = dict(raises(corpus.cases, judge, pairs(seed=0, count=250)))
    assert len(changes) > 20 * len(corpus.cases)
    assert {name: change for name, change in changes.items() if change > NOISE} == {}

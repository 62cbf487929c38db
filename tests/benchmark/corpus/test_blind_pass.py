"""The blind pass: careful readers who saw only instruction and input come to the gold's answers."""

from __future__ import annotations

import pytest

from benchmark.cases import Corpus
from benchmark.scoring import Embedder, score_view
from benchmark.statistics import mean, percentile
from ctxsift.compression import examine
from tests.support.results import blind_answers

pytestmark = pytest.mark.slow


def test_blind_readers_come_to_the_gold(corpus: Corpus, embedder: Embedder) -> None:
    answers = blind_answers()
    assert set(answers) == {case.case_id for case in corpus.cases}
    found: dict[str, float] = {}
    for case in corpus.cases:
        recovered = examine(answers[case.case_id], case.request)[1]
        found[case.case_id] = score_view(recovered.text, recovered.validation, case, embedder).case_score
    scores = list(found.values())
    print(f"blind readers: mean {mean(scores):.3f}, p10 {percentile(scores, 10):.3f}")
    for name in sorted(found, key=lambda name: found[name])[:10]:
        print(f"  {found[name]:.3f} {name}")
    assert mean(scores) >= 0.90
    assert percentile(scores, 10) >= 0.75

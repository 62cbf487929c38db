"""Which cases are asked one after the other."""

from __future__ import annotations

import itertools

from benchmark.cases import Corpus
from benchmark.run.selection import CaseOrder, beside_each_other, select_cases


def test_cases_on_one_input_follow_each_other_in_whatever_order_they_are_selected(corpus: Corpus) -> None:
    for selected in (corpus.cases, select_cases(corpus, order=CaseOrder.MIXED, max_cases=80), select_cases(corpus)):
        asked = beside_each_other(selected)
        assert sorted(case.case_id for case in asked) == sorted(case.case_id for case in selected)
        inputs = [case.request.raw_input for case in asked]
        changes = 1 + sum(one != other for one, other in itertools.pairwise(inputs))
        assert changes == len(set(inputs)) < len(inputs)
        # The first of each keep their order.
        assert list(dict.fromkeys(inputs)) == list(dict.fromkeys(case.request.raw_input for case in selected))

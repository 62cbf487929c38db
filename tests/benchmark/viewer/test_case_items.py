"""Cases by models: the page has what `report --cases` prints, and leads from a case to all answers."""

from __future__ import annotations

import pytest

from benchmark.analysis.items import ItemOrder, analyse, in_order
from benchmark.record.read import iterate_results
from benchmark.viewer.case_items import case_items
from benchmark.viewer.page_data import Gathered, gather, shelve
from tests.support.mixed import mixed_results


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    folder = mixed_results(tmp_path_factory.mktemp("items"))
    return gather(iterate_results([folder]))


def test_orders_are_those_of_the_report(gathered: Gathered) -> None:
    files = {result.path: result for result in iterate_results([gathered.shown[0].result.path.parent])}
    catalog, _ = shelve(gathered.asked)
    found = {board.about: board for board in case_items(gathered)}
    counts = dict.fromkeys(ItemOrder, 0)
    for board, shown in zip((b for b in gathered.boards), found.values(), strict=True):
        rows = [row for row in board.rows if not row.result.is_reference]
        assert [gathered.shown[n].result.name for n in places(gathered, shown.models)] == [r.result.name for r in rows]
        items = analyse([files[row.result.path] for row in rows], [row.label for row in rows])
        assert [order.key for order in shown.orders] == list(ItemOrder)
        for order in shown.orders:
            expected = [item.case_id for item in in_order(ItemOrder(order.key), items)]
            assert [catalog[shown.items[place].question].case_id for place in order.items] == expected
            counts[ItemOrder(order.key)] += len(expected)
        for item in shown.items:
            case_id = catalog[item.question].case_id
            answers = [row.result.cases.get(case_id) for row in rows]
            assert [None if a is None else round(a.score, 3) for a in answers] == item.scores
            assert item.passes == [n for n, a in enumerate(answers) if a and a.passed]
    assert all(counts.values()), counts


def places(gathered: Gathered, keys: list[int]) -> list[int]:
    by_key = {shown.key: number for number, shown in enumerate(gathered.shown)}
    return [by_key[key] for key in keys]


def test_very_many_results_are_left_to_the_report(gathered: Gathered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.viewer.case_items.MOST_COMPARED", 1)
    large = [board for board in case_items(gathered) if len(board.models) > 1]
    assert large
    assert all(not board.items and not board.orders for board in large)

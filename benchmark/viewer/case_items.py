"""Cases by models, as records of the page: which cases are hard, and which tell good models from weak ones."""

from __future__ import annotations

from benchmark.analysis.items import FEWEST_RESULTS, Item, ItemOrder, analyse, in_order
from benchmark.analysis.leaderboard import Leaderboard
from benchmark.record.read import StoredResult
from benchmark.render.figures import board_title
from benchmark.viewer.page_data import MOST_COMPARED, Gathered, questions_of
from benchmark.viewer.page_records import BoardItems, CaseItem, OrderedItems

# More than anybody reads.
_DIGITS = 3


def case_items(gathered: Gathered) -> list[BoardItems]:
    """Return the cases of each board that has a model; those of very many results are left to `report --cases`."""
    found = [_board(gathered, board) for board in gathered.boards]
    return [board for board in found if board.models]


def _board(gathered: Gathered, board: Leaderboard) -> BoardItems:
    keys = {shown.result: shown.key for shown in gathered.shown}
    # What is not told the question is in no figure of a case, but its answers can be looked at.
    rows = [row for row in board.rows if not row.result.is_reference]
    models = [row.result for row in rows]
    shown = [keys[result] for result in models]
    if len(rows) > MOST_COMPARED:
        return BoardItems(about=board_title(board), models=shown, items=[], orders=[])
    asked = questions_of(gathered, board)
    places = {question.case_id: place for place, question in asked.items()}
    questions = {question.case_id: question for question in asked.values()}
    items = in_order(ItemOrder.HARDEST, analyse(models, [row.label for row in rows], questions))
    numbers = {item.case_id: number for number, item in enumerate(items)}
    few = max((item.results for item in items), default=0) < FEWEST_RESULTS
    return BoardItems(
        about=board_title(board),
        models=shown,
        items=[_item(places[item.case_id], item, models) for item in items],
        orders=[
            OrderedItems(key=order, words=order.words, items=[numbers[item.case_id] for item in in_order(order, items)])
            for order in ItemOrder
        ],
        unknown=f"needs answers of at least {FEWEST_RESULTS} models" if few else "",
    )


def _item(question: int, item: Item, models: list[StoredResult]) -> CaseItem:
    figures = [result.cases.get(item.case_id) for result in models]
    return CaseItem(
        question=question,
        mean=round(item.mean, _DIGITS),
        spread=round(item.spread, _DIGITS),
        passed=round(item.passed, _DIGITS),
        discrimination=None if item.discrimination is None else round(item.discrimination, _DIGITS),
        scores=[None if each is None else round(each.score, _DIGITS) for each in figures],
        passes=[place for place, each in enumerate(figures) if each is not None and each.passed],
    )

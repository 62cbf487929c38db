"""What the page needs to choose a result by use and limits, as its records."""

from __future__ import annotations

from benchmark.analysis.choosing import ALL, USES, ModelCandidate, Shortlist, shelves
from benchmark.render.choosing import ALL_CARDS, CARDS, FACTS, ONLY_CARD, closest_text, facts_text, sentences_of
from benchmark.render.figures import board_title
from benchmark.viewer.page_data import MOST_COMPARED, Gathered
from benchmark.viewer.page_records import ChoiceCandidate, ChoiceOption, ChoiceShelf, ChooserInfo


def choosers(gathered: Gathered) -> list[ChooserInfo]:
    """Return what to choose from on each board that has a candidate; of very many results, for all cases alone."""
    uses = USES if len(gathered.shown) <= MOST_COMPARED else (ALL,)
    keys = {shown.result: shown.key for shown in gathered.shown}
    found = [
        ChooserInfo(
            about=board_title(board),
            cards=list(CARDS),
            all_cards=ALL_CARDS,
            only_card=ONLY_CARD,
            titles=list(FACTS),
            shelves=[
                _shelf(shelf, [keys[candidate.row.result] for candidate in shelf.candidates])
                for shelf in shelves(board, uses)
            ],
        )
        for board in gathered.boards
    ]
    return [chooser for chooser in found if chooser.shelves]


def _shelf(shelf: Shortlist, keys: list[int]) -> ChoiceShelf:
    told = sentences_of(shelf)
    return ChoiceShelf(
        use=shelf.use,
        cases=shelf.case_count,
        candidates=[_candidate(each, key) for each, key in zip(shelf.candidates, keys, strict=True)],
        options=[
            ChoiceOption(candidate=each.candidate, smallest=list(each.smallest), fastest=list(each.fastest))
            for each in shelf.options
        ],
        chosen=told.chosen,
        none_above=told.none_above,
        none_fits=told.none_fits,
        unknown={name: list(words) for name, words in told.unknown.items()},
        services=told.services,
    )


def _candidate(candidate: ModelCandidate, key: int) -> ChoiceCandidate:
    return ChoiceCandidate(
        key=key,
        facts=list(facts_text(candidate)),
        as_closest=closest_text(candidate),
        memory_bytes=candidate.memory_bytes,
        seconds=candidate.seconds,
        is_local=candidate.is_local,
    )

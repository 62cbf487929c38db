"""The leaderboard as data: rows, ranks, flags and headline, defined once. `render` and the page write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmark.analysis.comparison import Comparisons
from benchmark.analysis.figures import COLUMNS, Column
from benchmark.analysis.ranking import Rank, rank_results
from benchmark.analysis.references import ReferenceRow, References, reference_rows
from benchmark.record.read import StoredResult, labels
from benchmark.record.summary import Summary


class Flag(StrEnum):
    """A mark beside a figure."""

    INCOMPLETE = "incomplete"
    DISTURBED = "disturbed"
    BELOW_FLOOR = "below floor"
    PUBLISHED = "published layout"


@dataclass(frozen=True)
class FlagInfo:
    """What a flag is in a table of characters, and what it says."""

    mark: str
    meaning: str


# The columns before the figures; a place is followed by the tie mark where it is shared.
RANK_TITLE, NAME_TITLE = "rank", "result"
RANK_HINT = "1 + the number of results that are better beyond chance (paired bootstrap, Holm-corrected)"
TIE_MARK, TIE_HINT = "=", "tied with at least one other result (the difference may be chance)"
REFERENCE_MARK, REFERENCE_HINT = "ref", "a row to measure by, not a competitor"
MIXED_CASES = "the results answer different cases: a score covers its own, ranks compare the cases that two share"

FLAGS: dict[Flag, FlagInfo] = {
    Flag.INCOMPLETE: FlagInfo("*", "some planned cases have no answer that could be scored"),
    Flag.DISTURBED: FlagInfo("*", "the machine was disturbed, so its latency cannot be trusted"),
    Flag.BELOW_FLOOR: FlagInfo("!", "not better than the best baseline beyond chance"),
    Flag.PUBLISHED: FlagInfo(
        "", "published layout: other cases, another scorer; a dash marks what the file does not say"
    ),
}


@dataclass(frozen=True)
class BoardRow:
    """One result on the leaderboard.

    Attributes:
        label: tells it from the others.
        rank: None for reference rows and for results without an answer.

    """

    result: StoredResult
    label: str
    rank: Rank | None
    flags: tuple[Flag, ...]

    @property
    def summary(self) -> Summary:
        """Its figures."""
        return self.result.record.summary


@dataclass(frozen=True)
class Headline:
    """What the board comes to.

    Attributes:
        best: the best rows, which cannot be told apart; empty when no model has an answer.
        measured: there are results of models, not only reference rows.
        beats_floor: at least one of them may be better than the best baseline.

    """

    best: tuple[BoardRow, ...]
    measured: bool
    beats_floor: bool


@dataclass(frozen=True)
class Leaderboard:
    """Results, best first.

    Attributes:
        references: gold and the best baselines on the same cases, as far as no row is of them.
        mixed_cases: the results do not all answer the same cases.

    """

    rows: tuple[BoardRow, ...]
    references: References
    headline: Headline
    mixed_cases: bool

    @property
    def entries(self) -> tuple[BoardRow | ReferenceRow, ...]:
        """Rows and references together, best first."""
        return tuple(sorted((*self.references.rows, *self.rows), key=lambda entry: -_score(entry)))

    @property
    def marks(self) -> tuple[tuple[str, str], ...]:
        """The marks that occur beside ranks and names, and what each means."""
        ranks = [row.rank for row in self.rows]
        raised = [flag for flag in Flag if any(flag in row.flags for row in self.rows)]
        meanings: dict[str, list[str]] = {}
        for flag in raised:
            meanings.setdefault(FLAGS[flag].mark, []).append(FLAGS[flag].meaning)
        return (
            *([(TIE_MARK, TIE_HINT)] if any(rank and rank.tied for rank in ranks) else []),
            *([(REFERENCE_MARK, REFERENCE_HINT)] if self._has_references else []),
            *((mark, ", or ".join(found)) for mark, found in meanings.items() if mark),
        )

    @property
    def _has_references(self) -> bool:
        return bool(self.references.rows) or any(row.result.is_reference for row in self.rows)

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """What tables show, and what it means: ranks, figures, marks."""
        figures = ((figure.title, figure.hint) for column in self.columns for figure in column.figures)
        return ((RANK_TITLE, RANK_HINT), *figures, *self.marks)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that any row fills; the others would only take room."""
        return tuple(
            column
            for column in COLUMNS
            if any(figure.read(row.summary) is not None for row in self.rows for figure in column.figures)
        )


def build_leaderboard(results: Sequence[StoredResult], comparisons: Comparisons | None = None) -> Leaderboard:
    """Rank results, best first, those without any answer last; equal scores by name."""
    ordered = sorted(results, key=_place)
    rivals = [result for result in ordered if result.cases and not result.is_reference]
    ranks = dict(zip(rivals, rank_results(rivals, comparisons=comparisons).ranks, strict=True))
    rows = tuple(
        BoardRow(result, label, ranks.get(result), flags_of(result))
        for result, label in zip(ordered, labels(ordered), strict=True)
    )
    selections = {frozenset(result.cases) for result in results if result.cases}
    return Leaderboard(rows, reference_rows(results), _headline(rows), mixed_cases=len(selections) > 1)


def _score(entry: BoardRow | ReferenceRow) -> float:
    score = entry.score if isinstance(entry, ReferenceRow) else entry.summary.final_score
    return -1.0 if score is None else score


def _place(result: StoredResult) -> tuple[float, str, str]:
    score = result.record.summary.final_score
    return 1.0 if score is None else -score, result.name, result.timestamp


def flags_of(result: StoredResult) -> tuple[Flag, ...]:
    """Return what must be known of a result beside its figures."""
    record = result.record
    if record.run is None:
        return (Flag.PUBLISHED,)
    found = [] if record.complete else [Flag.INCOMPLETE]
    if result.is_reference:
        return tuple(found)
    if not record.latency_clean:
        found.append(Flag.DISTURBED)
    if record.summary.beats_floor is False:
        found.append(Flag.BELOW_FLOOR)
    return tuple(found)


def _headline(rows: Sequence[BoardRow]) -> Headline:
    ranked = [(row, row.rank) for row in rows if row.rank is not None]
    first = min((rank.place for _, rank in ranked), default=0)
    leaders = [row for row, rank in ranked if rank.place == first]
    # Who shares no case with the best was never compared with it.
    best = [row for row in leaders if row.result.cases.keys() & leaders[0].result.cases.keys()]
    useful = any(Flag.BELOW_FLOOR not in row.flags for row, _ in ranked)
    return Headline(tuple(best), any(not row.result.is_reference for row in rows), useful)

"""The leaderboard as data: rows, ranks, flags and headline, defined once. `render` and the page write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from benchmark.analysis.comparison import Comparisons, beyond_chance
from benchmark.analysis.figures import COLUMNS, QUALITY_CORE, Column
from benchmark.analysis.ranking import Rank, Ranking, rank_results
from benchmark.analysis.references import ReferenceRow, References, reference_rows
from benchmark.record.questions import questions_of
from benchmark.record.read import StoredResult, labels
from benchmark.record.summary import Summary


class Flag(StrEnum):
    """A mark beside a figure."""

    INCOMPLETE = "incomplete"
    DISTURBED = "disturbed"
    BELOW_FLOOR = "not above floor"
    PUBLISHED = "published layout"
    BLIND = "blind"


@dataclass(frozen=True)
class FlagInfo:
    """What a flag is in a table of characters, and what it says."""

    mark: str
    meaning: str


# The columns before the figures; a place is followed by the tie mark where it is shared.
RANK_TITLE, NAME_TITLE = "rank", "result"
RANK_HINT = (
    "1 + the number of results whose quality core is significantly higher (paired bootstrap, Holm-corrected, 5 "
    "%); a result that does not beat the best baseline has no rank"
)
TIE_MARK, TIE_HINT = "=", "tied with at least one other result (no significant difference)"
REFERENCE_MARK, REFERENCE_HINT = "ref", "reference row, not ranked"
CEILING_HINT = "the score of the reference answers, which are what an answer should say"
FLOOR_HINT = "the score of the best baseline, which is a program that uses no model"

FLAGS: dict[Flag, FlagInfo] = {
    Flag.INCOMPLETE: FlagInfo(
        "*",
        "incomplete: some planned cases have no answer that could be scored; a score over fewer cases cannot be "
        "compared, so the row stands last",
    ),
    Flag.DISTURBED: FlagInfo("*", "the machine was disturbed, so its latency is unreliable"),
    Flag.BELOW_FLOOR: FlagInfo("!", "not significantly better than the best baseline"),
    Flag.BLIND: FlagInfo("~", "a program that does not see the question; report --retention shows what it keeps"),
    Flag.PUBLISHED: FlagInfo(
        "",
        "published layout: different cases, a different scorer, no baseline; a dash marks figures that the file lacks",
    ),
}


@dataclass(frozen=True)
class BoardRow:
    """One result on the leaderboard.

    Attributes:
        label: tells it from the others.
        rank: by quality core; None for reference rows, for runs that are not complete, and for what does not beat the
            best baseline.

    """

    result: StoredResult
    label: str
    rank: Rank | None
    flags: tuple[Flag, ...]

    @property
    def summary(self) -> Summary:
        """Its figures."""
        return self.result.record.summary


class Conclusion(Enum):
    """Why the best rows are called so, or why none is."""

    BEST = auto()
    BELOW_FLOOR = auto()
    TOO_FEW_CASES = auto()
    INCOMPLETE = auto()
    NO_ANSWER = auto()
    REFERENCES_ONLY = auto()


@dataclass(frozen=True)
class Headline:
    """What the board comes to.

    Attributes:
        best: rows of the first rank that beat the best baseline significantly; of several, none can be told from the
            others. Empty where `conclusion` is another than BEST.
        conclusion: what there is to say.

    """

    best: tuple[BoardRow, ...]
    conclusion: Conclusion


@dataclass(frozen=True)
class Leaderboard:
    """Results over the same cases of one corpus, scored by one scorer; best first, incomplete runs last.

    Attributes:
        references: gold and the best baselines on the same cases, as far as no row is of them.
        ranking: of the results that have a rank.

    """

    rows: tuple[BoardRow, ...]
    references: References
    headline: Headline
    ranking: Ranking

    @property
    def beaten_by(self) -> Mapping[StoredResult, frozenset[StoredResult]]:
        """For each ranked result, those that are significantly better."""
        results = self.ranking.results
        better: dict[StoredResult, set[StoredResult]] = {result: set() for result in results}
        for (i, j), difference in self.ranking.differences.items():
            if beyond_chance(difference):
                worse, winner = (i, j) if difference.value > 0 else (j, i)
                better[results[worse]].add(results[winner])
        return {result: frozenset(winners) for result, winners in better.items()}

    @property
    def ranks_follow_rows(self) -> bool:
        """Whether no rank is higher than that of a row above it."""
        places = [row.rank.place for row in self.rows if row.rank]
        return places == sorted(places)

    @property
    def entries(self) -> tuple[BoardRow | ReferenceRow, ...]:
        """Rows and references together, best first; runs that are not complete last, as their cases are not all."""
        return tuple(sorted((*self.references.rows, *self.rows), key=lambda entry: (_is_cut(entry), -_score(entry))))

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
    def columns(self) -> tuple[Column[Summary], ...]:
        """The columns that any row fills; the others would only take room."""
        return tuple(
            column
            for column in COLUMNS
            if any(figure.read(row.summary) is not None for row in self.rows for figure in column.figures)
        )


def build_leaderboards(
    results: Iterable[StoredResult], comparisons: Comparisons | None = None
) -> tuple[Leaderboard, ...]:
    """Return a board for each corpus, scorer and selection of cases: most cases first, the published layout last.

    What was asked or scored otherwise is not ranked together: a difference would not be the model's.
    """
    groups: dict[tuple[object, ...], list[StoredResult]] = {}
    for result in results:
        groups.setdefault(_what_was_asked(result), []).append(result)
    everything = [result for group in groups.values() for result in group]
    names = dict(zip(everything, labels(everything), strict=True))
    boards = [build_leaderboard(group, comparisons, names=names) for group in groups.values()]
    return tuple(sorted(boards, key=_size))


def _size(board: Leaderboard) -> tuple[bool, int, int, str]:
    first = board.rows[0]
    rivals = sum(_is_rival(row.result) for row in board.rows)
    cases = max(row.summary.planned_count or 0 for row in board.rows)
    return first.result.record.run is None, -cases, -rivals, first.label


def build_leaderboard(
    results: Sequence[StoredResult],
    comparisons: Comparisons | None = None,
    *,
    names: Mapping[StoredResult, str] | None = None,
    with_all: bool = False,
) -> Leaderboard:
    """Rank results that belong together, best first, incomplete runs last; equal scores by name.

    Args:
        results: of the same cases.
        comparisons: may know some of them already.
        names: what tells each from all that are shown; without them, from these.
        with_all: incomplete runs and what does not beat the best baseline have a rank as well, by the cases that two
            have in common.

    """
    ordered = sorted(results, key=lambda result: (not (with_all or result.record.complete), *_place(result)))
    rivals = [
        result
        for result in ordered
        if (_is_rival(result) and _may_lead(result)) or (with_all and result.cases and not result.is_reference)
    ]
    ranking = rank_results(rivals, comparisons=comparisons)
    ranks = dict(zip(rivals, ranking.ranks, strict=True))
    names = names or dict(zip(ordered, labels(ordered), strict=True))
    rows = tuple(BoardRow(result, names[result], ranks.get(result), flags_of(result)) for result in ordered)
    return Leaderboard(rows, reference_rows(results), _headline(rows), ranking)


def _is_rival(result: StoredResult) -> bool:
    return bool(result.cases) and result.record.complete and not result.is_reference


def _may_lead(result: StoredResult) -> bool:
    """Say whether a result may have a rank: one that does not beat the best baseline is first of nothing."""
    return result.record.summary.beats_floor is not False


def _what_was_asked(result: StoredResult) -> tuple[object, ...]:
    """Return what results of one board have in common."""
    run = result.record.run
    if run is None:
        return (frozenset(result.cases),)
    return questions_of(run).corpus_sha256, run.scorer_version, frozenset(run.case_ids)


def _score(entry: BoardRow | ReferenceRow) -> float:
    """Return the quality core, 0 to 100, which ranks compare; -1 if it is unknown."""
    # References take no time, so latency leaves their score as it is.
    return entry.score if isinstance(entry, ReferenceRow) else _core(entry.summary)


def _core(summary: Summary) -> float:
    core = QUALITY_CORE.read(summary)
    return -1.0 if core is None else 100 * core


def _is_cut(entry: BoardRow | ReferenceRow) -> bool:
    return isinstance(entry, BoardRow) and entry.rank is None and not entry.result.record.complete


def _place(result: StoredResult) -> tuple[float, str, str]:
    return -_core(result.record.summary), result.name, result.timestamp


def flags_of(result: StoredResult) -> tuple[Flag, ...]:
    """Return what must be known of a result beside its figures."""
    record = result.record
    if record.run is None:
        return (Flag.PUBLISHED,)
    found = [] if record.complete else [Flag.INCOMPLETE]
    if result.is_reference:
        return tuple(found)
    if not record.scenario.question:
        found.append(Flag.BLIND)
    if not record.latency_clean:
        found.append(Flag.DISTURBED)
    if record.summary.beats_floor is False:
        found.append(Flag.BELOW_FLOOR)
    return tuple(found)


def may_be_best(row: BoardRow) -> bool:
    """Say whether a ranked row may be named best: its interval lies above the best baseline.

    Published files do not tell what baselines score on their cases.
    """
    return row.rank is not None and (bool(row.summary.beats_floor) or row.result.record.run is None)


def _leaders(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Return those of the best rank; none where none is ranked."""
    ranked = [(row, row.rank.place) for row in rows if row.rank is not None]
    first = min((place for _, place in ranked), default=0)
    return [row for row, place in ranked if place == first]


def _headline(rows: Sequence[BoardRow]) -> Headline:
    rivals = [row for row in rows if not row.result.is_reference]
    if not rivals:
        return Headline((), Conclusion.REFERENCES_ONLY)
    answered = [row for row in rivals if row.result.cases]
    complete = [row for row in answered if row.result.record.complete]
    if not complete:
        return Headline((), Conclusion.INCOMPLETE if answered else Conclusion.NO_ANSWER)
    leaders = _leaders(complete)
    if not leaders:
        return Headline((), Conclusion.BELOW_FLOOR)
    best = tuple(row for row in leaders if may_be_best(row))
    return Headline(best, Conclusion.BEST if best else Conclusion.TOO_FEW_CASES)

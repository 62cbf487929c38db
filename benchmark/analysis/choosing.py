"""Which result to use: the best for a use within limits, and the smallest and fastest that may be as good.

The rules are those of the leaderboard: `build_leaderboard` ranks the cases of a use as a separate board. Limits only
leave results out. They do not change which result is better than which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from benchmark.analysis.comparison import Comparisons, beyond_chance, time_scale
from benchmark.analysis.leaderboard import BoardRow, Flag, Leaderboard, build_leaderboard, may_be_best
from benchmark.analysis.model_facts import ModelFacts, facts_of
from benchmark.analysis.parts import cut_to
from benchmark.record.read import StoredResult
from benchmark.record.summary import Dimension
from benchmark.statistics import Interval, mean
from ctxsift.errors import InputError, did_you_mean
from ctxsift.intents import Intent

ALL = "all"
USES = (ALL, *(str(intent) for intent in Intent))
LOCAL = "local"
# A recommendation needs this many cases: an interval over fewer says little about the rest.
FEWEST_CASES = 10
# What limits are of.
MEMORY, TIME = "memory", "time"
_SHORT = {"lines": Intent.EXACT_LINES, "value": Intent.EXACT_FORMAT, "list": Intent.BULLET_LIST}
_UNITS = {"gb": 1e9, "mb": 1e6, "s": 1.0, "ms": 1e-3}
_BYTES = frozenset({"gb", "mb"})
_LIMIT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([a-z]{1,3})")
_HINT = (
    f"write e.g. 'json, 2 GB, 5 s, local'; uses: {', '.join(USES)} (short: {', '.join(_SHORT)}); limits: memory in "
    f"GB or MB, time per case in s or ms; {LOCAL}: no services"
)


@dataclass(frozen=True)
class Needs:
    """A use and limits.

    Attributes:
        use: one of USES.
        memory_bytes: the most that an answer may take; None for no limit.
        seconds: the most that an answer may take on average; None for no limit.
        local: whether services are left out, so that nothing leaves the machine.

    """

    use: str = ALL
    memory_bytes: float | None = None
    seconds: float | None = None
    local: bool = False


def needs_of(text: str) -> Needs:
    """Return the needs in a text, e.g. `json, 2 GB, 5 s, local`. Raises InputError, which lists the known words."""
    found = none = Needs(use="")
    for part in text.split(","):
        word = " ".join(part.lower().split())
        said = _said(word)
        # Each word sets one field.
        (name,) = (field.name for field in fields(Needs) if getattr(said, field.name) != getattr(none, field.name))
        if getattr(found, name) != getattr(none, name):
            raise InputError(
                f"--choose {word!r}", "gives a value that another part already gives", "leave one of them out"
            )
        found = replace(found, **{name: getattr(said, name)})
    return replace(found, use=found.use or ALL)


def _said(word: str) -> Needs:
    """Return needs in which this word sets one field."""
    if word == LOCAL:
        return Needs("", local=True)
    if use := _SHORT.get(word, word if word in USES else ""):
        return Needs(str(use))
    limit = _LIMIT.fullmatch(word)
    if limit and limit[2] in _UNITS:
        most = float(limit[1]) * _UNITS[limit[2]]
        return Needs("", memory_bytes=most) if limit[2] in _BYTES else Needs("", seconds=most)
    near = did_you_mean(word, [*USES, *_SHORT, LOCAL])
    raise InputError(
        f"--choose {word!r}", "is neither a use nor a limit", f"{near} {_HINT}" if near.endswith("?") else _HINT
    )


@dataclass(frozen=True)
class ModelCandidate:
    """A complete result of a model or program on the cases of a use.

    Attributes:
        score: quality core, 0 to 100, which ranks compare.
        interval: of the score; None for too few captures.
        gain: difference from the best baseline, and its interval; None where baselines are unknown.
        case_count: number of answers.
        seconds: mean time of an answer; None where it is unknown, or was measured on several kinds of machine.
        is_local: whether nothing leaves the machine.

    """

    row: BoardRow
    facts: ModelFacts
    score: float
    interval: Interval | None
    gain: tuple[float, tuple[float, float] | None] | None
    case_count: int
    seconds: float | None
    is_local: bool

    @property
    def memory_bytes(self) -> int | None:
        """Most memory that an answer took on this machine: 0 for a service; None where it is unknown."""
        return self.facts.memory_bytes if self.is_local else 0

    def fits(self, needs: Needs) -> bool:
        """Return whether it is within the limits; an unknown value is not."""
        return self._may_fit(needs) and not self.lacks(needs)

    def lacks(self, needs: Needs) -> tuple[str, ...]:
        """Return which of MEMORY and TIME alone leave it out, since they are limited here and not known of it."""
        if not self._may_fit(needs):
            return ()
        asked = ((MEMORY, needs.memory_bytes, self.memory_bytes), (TIME, needs.seconds, self.seconds))
        return tuple(name for name, most, value in asked if most is not None and value is None)

    def _may_fit(self, needs: Needs) -> bool:
        """Return whether nothing that is known of it is beyond a limit."""
        limited = ((needs.memory_bytes, self.memory_bytes), (needs.seconds, self.seconds))
        return (self.is_local or not needs.local) and all(
            most is None or value is None or value <= most for most, value in limited
        )


@dataclass(frozen=True)
class Option:
    """A candidate that may be best, and the candidates whose difference from it may be chance (including itself).

    Attributes:
        candidate: its place in the shortlist.
        smallest: places, least memory first; services and unknown memory are left out.
        fastest: places, least time first; unknown times are left out, and disturbed ones come last.

    """

    candidate: int
    smallest: tuple[int, ...]
    fastest: tuple[int, ...]


@dataclass(frozen=True)
class Shortlist:
    """The candidates of a board for one use.

    Attributes:
        use: one of USES.
        candidates: best score first.
        options: those that are significantly better than the best baseline, best score first; none with fewer than
            FEWEST_CASES cases.
        floor: name and quality core of the best baseline on these cases; None where it is unknown.
        case_count: number of cases of the use.
        has_enough: whether there are at least FEWEST_CASES.

    """

    use: str
    candidates: tuple[ModelCandidate, ...]
    options: tuple[Option, ...]
    floor: tuple[str, float] | None
    case_count: int
    has_enough: bool


@dataclass(frozen=True)
class Chosen:
    """The results to use.

    Attributes:
        best, smallest, fastest: None without a recommendation, or if the memory or time is unknown.
        first: the candidate within the limits that has the highest score; None if none is within them.
        fitting: number of candidates within the limits.
        above: number of these that are significantly better than the best baseline.
        unknown: MEMORY, TIME -> number of candidates that are left out only because it is not known of them.
        services: number of fitting candidates that a limit of memory does not concern; 0 without such a limit.

    """

    shelf: Shortlist
    best: ModelCandidate | None
    smallest: ModelCandidate | None
    fastest: ModelCandidate | None
    first: ModelCandidate | None
    fitting: int
    above: int
    unknown: Mapping[str, int]
    services: int


def choose(shelf: Shortlist, needs: Needs) -> Chosen:
    """Return the first candidate within the limits in each order; the page does the same."""
    fitting = {place for place, candidate in enumerate(shelf.candidates) if candidate.fits(needs)}
    options = [option for option in shelf.options if option.candidate in fitting]

    def first(places: Iterable[int]) -> ModelCandidate | None:
        return next((shelf.candidates[place] for place in places if place in fitting), None)

    best = options[0] if options else None
    return Chosen(
        shelf=shelf,
        best=first([best.candidate]) if best else None,
        smallest=first(best.smallest) if best else None,
        fastest=first(best.fastest) if best else None,
        first=first(range(len(shelf.candidates))),
        fitting=len(fitting),
        above=len(options),
        unknown=Counter(name for candidate in shelf.candidates for name in candidate.lacks(needs)),
        services=0 if needs.memory_bytes is None else sum(not shelf.candidates[place].is_local for place in fitting),
    )


def shelves(board: Leaderboard, uses: Sequence[str] = USES) -> tuple[Shortlist, ...]:
    """Return the candidates of a board for each use that it has cases of."""
    comparisons = Comparisons()
    return tuple(found for use in uses if (found := _shelf(board, use, comparisons)) is not None)


def _shelf(board: Leaderboard, use: str, comparisons: Comparisons) -> Shortlist | None:
    whole = {row.result: row for row in board.rows}
    parts = {part: row for result, row in whole.items() if (part := _part(result, use)) is not None}
    ranked = board if use == ALL else build_leaderboard(list(parts), comparisons)
    rows = [row for row in ranked.rows if _is_rival(row.result)]
    if not rows:
        return None
    named = {row: whole[row.result] if use == ALL else parts[row.result] for row in rows}
    told = [(_candidate(row, named[row], comparisons), may_be_best(row), row.result) for row in rows]
    told.sort(key=lambda each: (-each[0].score, each[0].row.label))
    places = {result: place for place, (_, _, result) in enumerate(told)}
    case_count = max(candidate.case_count for candidate, _, _ in told)
    has_enough = case_count >= FEWEST_CASES
    above = [place for place, (_, may_lead, _) in enumerate(told) if may_lead and has_enough]
    compared = ranked.ranking.results
    apart = {
        frozenset((places[compared[i]], places[compared[j]]))
        for (i, j), difference in ranked.ranking.differences.items()
        if beyond_chance(difference)
    }
    candidates = tuple(candidate for candidate, _, _ in told)
    options = (_option(place, [o for o in above if frozenset((place, o)) not in apart], candidates) for place in above)
    reference = next((found for row in rows if (found := row.summary.reference)), None)
    floor = (reference.floor, reference.floor_score) if reference else None
    return Shortlist(use, candidates, tuple(options), floor, case_count, has_enough)


def _option(place: int, alike: Sequence[int], candidates: Sequence[ModelCandidate]) -> Option:
    # Nobody knows the size of a service.
    sizes = {
        other: size
        for other in alike
        if candidates[other].is_local and (size := candidates[other].memory_bytes) is not None
    }
    times = {other: time for other in alike if (time := candidates[other].seconds) is not None}
    fastest = sorted(times, key=lambda other: (Flag.DISTURBED in candidates[other].row.flags, times[other]))
    return Option(place, tuple(sorted(sizes, key=sizes.__getitem__)), tuple(fastest))


def _is_rival(result: StoredResult) -> bool:
    return bool(result.cases) and result.record.complete and not result.is_reference


def _candidate(row: BoardRow, named: BoardRow, comparisons: Comparisons) -> ModelCandidate:
    """Return a row over the cases of a use, with the name that it has on the whole board."""
    result, reference = row.result, row.summary.reference
    score, interval = comparisons.core(result)
    return ModelCandidate(
        row=named,
        facts=facts_of(named.result),
        score=score,
        interval=interval,
        gain=reference.compared if reference else None,
        case_count=len(result.cases),
        seconds=_seconds(result),
        is_local=not result.record.scenario.sends_away,
    )


def _seconds(result: StoredResult) -> float | None:
    run = result.record.run
    if run is not None and isinstance(run.machines, list):
        return None
    scale = 1.0 if run is not None else time_scale(result)
    return scale * mean([case.time_ms for case in result.cases.values()]) / 1000 or None


def _part(result: StoredResult, use: str) -> StoredResult | None:
    """Return a result with the cases of a use alone; None without any."""
    if use == ALL:
        return result if result.cases else None
    names = [name for name, case in result.cases.items() if case.group.get(Dimension.INTENT) == use]
    return cut_to(result, names) if names else None

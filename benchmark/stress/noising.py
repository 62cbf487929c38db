"""Harmless changes of an output: what a terminal, a logger or a neighbour adds, and what takes no fact away."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from benchmark.cases import Case
from benchmark.record.read import StoredResult
from benchmark.scoring import Embedder
from benchmark.stress.changing import (
    Changed,
    answers_of,
    by_turns,
    changed,
    id_of,
    is_document,
    keeps_gold,
    kept_values,
    paired,
    places,
    score_values,
    second_values,
)
from benchmark.stress.figures import Estimate, estimate_text
from ctxsift.preselection import tokens_in

TITLES = (
    *("scenario", "change", "cases", "skipped"),
    *("score", "difference", "anchors kept", "anchors gained", "seconds", "seconds added"),
)
UNCHANGED = "unchanged"
_COLUMNS = 80
# One line of the neighbour, or one progress bar, for so many lines of the output, and at least so many.
_EVERY, _LEAST = 6, 2
_BAR = 20


class HarmlessChange(StrEnum):
    """What is changed."""

    PROGRESS = "progress bars"
    COLOURS = "colours"
    TIMES = "timestamps"
    NEIGHBOUR = "other program"
    WRAPPED = "wrapped"
    CRLF = "crlf"


@dataclass(frozen=True)
class Noised:
    """An output after a change.

    Attributes:
        text: all of it.
        lines: its lines as they were -> as they are, for gold that copies some.

    """

    text: str
    lines: Mapping[str, str]


@dataclass(frozen=True)
class Noising:
    """All cases of an experiment.

    Attributes:
        cases: each change of each base, and the base unchanged.
        skipped: change -> bases that it leaves as they are, or whose gold would no longer score 100.
        too_long: cases that were left out because of their length.

    """

    cases: tuple[Changed, ...]
    skipped: dict[str, int]
    too_long: int


@dataclass(frozen=True)
class Shaken:
    """A scenario and one change; the gains are from the same cases unchanged, None for those.

    Attributes:
        score: mean case score, 0 to 100. score_gain: in points.
        anchors_kept: percent of the anchors that its answers keep. anchors_gain: in points.
        seconds: generation time per case.

    """

    scenario: str
    change: str
    cases: int
    score: Estimate | None
    score_gain: Estimate | None
    anchors_kept: Estimate | None
    anchors_gain: Estimate | None
    seconds: Estimate | None
    seconds_gain: Estimate | None


def noising(
    cases: Sequence[Case],
    embedder: Embedder,
    kinds: Sequence[HarmlessChange],
    *,
    count: int,
    most_tokens: int,
    seed: int,
) -> Noising:
    """Return cases with each of the changes.

    Args:
        cases: to be changed.
        embedder: of the scorer.
        kinds: of changes.
        count: bases, each of which is changed in every way that keeps its gold.
        most_tokens: estimated tokens that the unchanged input may have.
        seed: draws bases, places, colours and times.

    """
    short = [case for case in cases if tokens_in(case.raw_input) <= most_tokens]
    found: list[Changed] = []
    skipped: Counter[str] = Counter()
    for case in by_turns(short, seed)[:count]:
        base = changed(case, UNCHANGED)
        if not keeps_gold(base.case, embedder):
            skipped[UNCHANGED] += 1
            continue
        found.append(base)
        for kind in kinds:
            if (made := _changed(case, kind, seed, embedder)) is None:
                skipped[kind] += 1
            else:
                found.append(made)
    return Noising(tuple(found), dict(skipped), len(cases) - len(short))


def _changed(case: Case, kind: HarmlessChange, seed: int, embedder: Embedder) -> Changed | None:
    """Return a case after a change; None where nothing changes, or where no gold keeps its 100."""
    noised = _NOISES[kind](case, random.Random(f"{seed} {case.case_id} {kind}"))
    if noised is None or noised.text == case.raw_input:
        return None
    made = changed(case, kind, noised.text)
    # A line may be copied as it stands, or without what was added to it, where the scorer allows that.
    copied = ("\n".join(noised.lines.get(line, line) for line in text.split("\n")) for text in case.references)
    kept = [
        text
        for text in dict.fromkeys((*case.references, *copied))
        if keeps_gold(replace(made.case, expected_output=text, alternatives=()), embedder)
    ]
    if not kept:
        return None
    return replace(made, case=replace(made.case, expected_output=kept[0], alternatives=tuple(kept[1:])))


def _each_line(case: Case, change: Callable[[str], str]) -> Noised:
    lines = case.raw_input.split("\n")
    new = [change(line) if line.strip() else line for line in lines]
    return Noised("\n".join(new), dict(zip(reversed(lines), reversed(new), strict=True)))


def _inserted(case: Case, rng: random.Random, made: Callable[[int, int], str]) -> Noised | None:
    """Return an output with lines between its own; `made` takes the number of such a line, and of how many."""
    free, lines = places(case), case.raw_input.split("\n")
    if not free:
        return None
    count = min(len(free), max(_LEAST, len(lines) // _EVERY))
    ending = "\r" if lines[0].endswith("\r") else ""
    for number, place in reversed(list(enumerate(sorted(rng.sample(free, count))))):
        lines.insert(place, made(number, count) + ending)
    return Noised("\n".join(lines), {})


def _progress(case: Case, rng: random.Random) -> Noised | None:
    def bar(number: int, count: int) -> str:
        steps = sorted(rng.sample(range(100), 4))
        first, last = 100 * number // count, 100 * (number + 1) // count
        shares = [first + (last - first) * step // 100 for step in steps]
        return "\r".join(f"{'#' * (_BAR * each // 100):<{_BAR}} {each:3d}%" for each in shares)

    return _inserted(case, rng, bar)


def _neighbour(case: Case, rng: random.Random) -> Noised | None:
    def line(number: int, _: int) -> str:
        return rng.choice(
            (
                f"[assets] watching for changes, {rng.randint(20, 90)} folders",
                f"[assets] nothing to do (tick {number + 1})",
                f"[relay] kept alive, {rng.randint(2, 40)} ms",
                f"[relay] queue is empty, {rng.randint(100, 900)} kB free",
            )
        )

    return _inserted(case, rng, line)


def _colours(case: Case, rng: random.Random) -> Noised:
    def coloured(line: str) -> str:
        body = line.rstrip("\r")
        code = rng.choice(("1", "2", "31", "32", "33", "36"))
        return f"\x1b[{code}m{body}\x1b[0m{line[len(body) :]}"

    return _each_line(case, coloured)


def _times(case: Case, rng: random.Random) -> Noised | None:
    if is_document(case):
        return None
    now = datetime(2026, rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 22), tzinfo=UTC)

    def stamped(line: str) -> str:
        nonlocal now
        now += timedelta(milliseconds=rng.randint(1, 900))
        return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z {line}"

    return _each_line(case, stamped)


def _wrapped(case: Case, _: random.Random) -> Noised | None:
    if is_document(case):
        return None

    def wrapped(line: str) -> str:
        # As a terminal does it: at the column, whatever stands there.
        return "\n".join(line[start : start + _COLUMNS] for start in range(0, len(line), _COLUMNS))

    return _each_line(case, wrapped)


def _crlf(case: Case, _: random.Random) -> Noised:
    return Noised(case.raw_input.replace("\r\n", "\n").replace("\n", "\r\n"), {})


_NOISES: Mapping[HarmlessChange, Callable[[Case, random.Random], Noised | None]] = {
    HarmlessChange.PROGRESS: _progress,
    HarmlessChange.COLOURS: _colours,
    HarmlessChange.TIMES: _times,
    HarmlessChange.NEIGHBOUR: _neighbour,
    HarmlessChange.WRAPPED: _wrapped,
    HarmlessChange.CRLF: _crlf,
}


def shaken(scenario: str, cases: Sequence[Changed], result: StoredResult) -> list[Shaken]:
    """Return the figures of a scenario: of the unchanged cases, and of each change that there is."""
    answers = answers_of(result)
    figures = [score_values(answers), kept_values(answers), second_values(answers)]
    found = []
    for change in (UNCHANGED, *HarmlessChange):
        ours = [case for case in cases if case.kind == change]
        if not ours:
            continue
        (score, score_gain), (kept, kept_gain), (seconds, seconds_gain) = (
            paired(_beside(ours), each) for each in figures
        )
        found.append(
            Shaken(scenario, str(change), len(ours), score, score_gain, kept, kept_gain, seconds, seconds_gain)
        )
    return found


def _beside(cases: Sequence[Changed]) -> Mapping[str, str | None]:
    """Return the id of each case, and that of the same case unchanged; None for an unchanged case itself."""
    return {case.case.case_id: None if case.kind == UNCHANGED else id_of(case.base, UNCHANGED) for case in cases}


def made_rows(made: Noising) -> list[list[str]]:
    """Return the rows of the changes without a model."""
    counts = Counter(case.kind for case in made.cases)
    return [
        ["(no model)", str(change), str(counts[change]), str(made.skipped.get(change, 0)), *["-"] * (len(TITLES) - 4)]
        for change in (UNCHANGED, *HarmlessChange)
        if change in counts or change in made.skipped
    ]


def shaken_row(found: Shaken, skipped: Mapping[str, int]) -> list[str]:
    """Return the row of a scenario and a change; `skipped` counts the cases that each change leaves out."""
    return [
        *(found.scenario, found.change, str(found.cases), str(skipped.get(found.change, 0))),
        *(estimate_text(found.score), estimate_text(found.score_gain, signed=True)),
        *(estimate_text(found.anchors_kept, suffix="%"), estimate_text(found.anchors_gain, signed=True)),
        *(estimate_text(found.seconds, 2), estimate_text(found.seconds_gain, 2, signed=True)),
    ]

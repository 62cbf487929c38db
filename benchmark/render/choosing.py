"""Which result to use, in words: the same in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from rich.console import Console

from benchmark.analysis.choosing import (
    ALL,
    FEWEST_CASES,
    LOCAL,
    MEMORY,
    TIME,
    Chosen,
    ModelCandidate,
    Needs,
    Shortlist,
    choose,
    shelves,
)
from benchmark.analysis.figures import Form
from benchmark.analysis.leaderboard import Flag, Leaderboard
from benchmark.record.result import Answered
from benchmark.render.figures import board_title, counted, form_text, interval_text, is_reference
from benchmark.render.models import NOT_KNOWN, bytes_text
from benchmark.render.terminal import print_table
from ctxsift.errors import InputError
from ctxsift.rich_text import plain_text
from ctxsift.terminal import one_line

CARDS = ("best", "smallest", "fastest")
# One candidate that is all of them: of several, or alone.
ALL_CARDS, ONLY_CARD = "best, also the smallest and the fastest", "the only one that beats the best baseline"
# The sentence names the second of these.
_ABOVE_BASELINE = "above baseline"
FACTS = ("quality core", _ABOVE_BASELINE, "answers", "file", "memory", "s/case")
_SCORE, _GAIN, _SECONDS = Form(), Form(signed=True), Form(digits=2)
_SERVICE = "none here: a service"
# What a choice fills in: how many results are within the limits, and how many of these beat the best baseline.
_FITTING, _ABOVE = "{fitting}", "{above}"
# The candidate within the limits that has the highest score.
_CLOSEST = "{closest}"
# How many results are left out, where one value of them is not known.
_LEFT_OUT = "{left_out}"


@dataclass(frozen=True)
class Sentences:
    """Templates of the text below the cards: the rule behind a recommendation, or the reason for none.

    Attributes:
        chosen, none_above, none_fits: the first sentences, one for each outcome.
        unknown: MEMORY or TIME -> the sentence about results that are left out because this figure is unknown.
        services: the sentence about services, which a memory limit does not exclude.

    """

    chosen: str
    none_above: str
    none_fits: str
    unknown: Mapping[str, tuple[str, str]]
    services: str


def sentences_of(shelf: Shortlist) -> Sentences:
    """Return the texts of a shelf. Each reads well with any number in its places."""
    results = counted(len(shelf.candidates), "complete result")
    cases = counted(shelf.case_count, "case")
    within = f"On {cases}: {_FITTING} of {results} within the limits."
    if shelf.floor is None:
        why = "The scores of the baselines on these cases are unknown; python -m benchmark.rescore computes them."
        beating = f"Baselines were not scored on these cases, so every result with a rank is considered ({_ABOVE})."
    else:
        name, score = shelf.floor
        floor = f"the best baseline ({one_line(name)}, {form_text(_SCORE, score)})"
        beating = f"Of these, {_ABOVE} beat {floor}: the whole interval in {_ABOVE_BASELINE!r} is greater than 0."
        few = all(candidate.gain is None or candidate.gain[1] is None for candidate in shelf.candidates)
        why = (
            f"There are too few raw outputs to say whether one is better than {floor}."
            if few
            else f"None is significantly better than {floor}, which uses no model. Closest: {_CLOSEST}."
        )
    if shelf.floor and not shelf.has_enough:
        why = f"That is too few cases to rely on: at least {FEWEST_CASES} are needed."
    return Sentences(
        chosen=f"{within} {beating} 'best' has the highest score among them. 'smallest' and 'fastest' need "
        "the least memory and the least time among those whose difference from 'best' may be chance.",
        none_above=f"Nothing is recommended. {within} {why}",
        none_fits=f"Nothing is recommended. On {cases}: none of {results} within the limits.",
        unknown={name: _left_out(name) for name in (MEMORY, TIME)},
        services=f"A service needs no memory on this machine, so a limit of memory does not leave it out; "
        f"'without services' (in a terminal: {LOCAL!r}) does.",
    )


def _left_out(name: str) -> tuple[str, str]:
    """Return what is said of one result, and of several."""
    return f"1 result left out: {name} unknown.", f"{_LEFT_OUT} results left out: {name} unknown."


def sentence(found: Chosen) -> str:
    """Return the rule behind a recommendation, or the reason for none."""
    told = sentences_of(found.shelf)
    template = told.chosen if found.best else told.none_above if found.fitting else told.none_fits
    closest = closest_text(found.first) if found.first else ""
    values = {_FITTING: str(found.fitting), _ABOVE: str(found.above), _CLOSEST: closest}
    parts = [_filled(template, values)]
    for name, (one, several) in told.unknown.items():
        if number := found.unknown.get(name, 0):
            parts.append(one if number == 1 else several.replace(_LEFT_OUT, str(number)))
    return " ".join([*parts, told.services] if found.services else parts)


def _filled(template: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(name, value)
    return template


def closest_text(candidate: ModelCandidate) -> str:
    """Return the name of a candidate, and its difference from the best baseline."""
    gain = candidate.gain
    difference = f", {form_text(_GAIN, gain[0])}{interval_text(_GAIN, gain[1])}" if gain else ""
    return f"{one_line(candidate.row.label)}{difference}"


def cards_of(found: Chosen) -> list[tuple[str, ModelCandidate | None]]:
    """Return the cards of a choice: a title and a candidate; one card, where one candidate is all that is chosen."""
    chosen = (found.best, found.smallest, found.fastest)
    if found.best and all(each is found.best for each in chosen):
        return [(ONLY_CARD if found.above == 1 else ALL_CARDS, found.best)]
    return list(zip(CARDS, chosen, strict=True)) if found.best else []


def facts_text(candidate: ModelCandidate) -> tuple[str, ...]:
    """Return the figures of a candidate as its card shows them, in the order of FACTS."""
    ends, gain = candidate.interval, candidate.gain
    disturbed = " (disturbed)" if Flag.DISTURBED in candidate.row.flags else ""
    memory = bytes_text(candidate.facts.memory_bytes) if candidate.is_local else _SERVICE
    return (
        form_text(_SCORE, candidate.score) + interval_text(_SCORE, (ends.low, ends.high) if ends else None),
        form_text(_GAIN, gain[0]) + interval_text(_GAIN, gain[1]) if gain else NOT_KNOWN,
        str(candidate.case_count),
        bytes_text(candidate.facts.file.size_bytes) or NOT_KNOWN,
        memory or NOT_KNOWN,
        NOT_KNOWN if candidate.seconds is None else form_text(_SECONDS, candidate.seconds) + disturbed,
    )


def print_choices(console: Console, boards: Sequence[Leaderboard], needs: Needs) -> None:
    """Print the choice from each board that has cases of the use. Raises InputError when none has."""
    for number, (board, found) in enumerate(_choices(boards, needs)):
        if number:
            console.print()
        use = "all cases" if needs.use == ALL else needs.use
        console.print(plain_text(f"use: {use}; leaderboard: {board_title(board)}", style="italic"))
        if found.best:
            rows = [
                (card, *((one_line(each.row.label), *facts_text(each)) if each else [NOT_KNOWN] * (1 + len(FACTS))))
                for card, each in cards_of(found)
            ]
            print_table(console, ("", "result", *FACTS), rows)
        console.print(plain_text(sentence(found)), soft_wrap=True)


def choices_document(boards: Sequence[Leaderboard], needs: Needs) -> Any:
    """Return the same as JSON values. Raises InputError when no board has cases of the use."""
    return [
        {
            "about": board_title(board),
            "needs": msgspec.to_builtins(needs),
            "cards": {
                card: each and {"label": each.row.label, **dict(zip(FACTS, facts_text(each), strict=True))}
                for card, each in zip(CARDS, (found.best, found.smallest, found.fastest), strict=True)
            },
            "sentence": sentence(found),
        }
        for board, found in _choices(boards, needs)
    ]


def _nothing_of(boards: Sequence[Leaderboard]) -> tuple[str, str]:
    """Return why no result can be chosen for a use, and what to do."""
    results = [row.result for board in boards for row in board.rows if not is_reference(row)]
    if not results:
        offer = "name results of a model, or no PATH for the runs that ship with the benchmark"
        return "there are only reference rows (gold and baselines), no model or program", offer
    if not any(
        isinstance(case, Answered) and case.question.intent for result in results for case in result.record.cases
    ):
        problem = "these files do not record what kind of answer a case asks for"
        return problem, "use --choose all, or look at --slice family"
    return "no complete result of a model or program contains cases of this use", "use --choose all, or name others"


def _choices(boards: Sequence[Leaderboard], needs: Needs) -> list[tuple[Leaderboard, Chosen]]:
    """Return the choice on each board that has cases of the use, most cases first."""
    found = [(board, choose(shelf, needs)) for board in boards for shelf in shelves(board, (needs.use,))]
    if not found:
        raise InputError(f"--choose {needs.use}", *_nothing_of(boards))
    return sorted(found, key=lambda each: -each[1].shelf.case_count)

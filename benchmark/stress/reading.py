"""The JSON files of experiments, read back: the table, the lines below it and the charts come from there alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from benchmark.stress import breaking_even, hostility, lengthening, noising, preselecting, repeating, varying
from benchmark.stress.charts import StressPicture, differences, lengths, savings, spreads
from benchmark.stress.figures import Estimate, estimate_text

T = TypeVar("T")
# What each experiment asks, in the order of the document.
QUESTIONS = {
    "preselect": "Does a model answer better when it reads less?",
    "break-even": "Does a model pay off?",
    "hostile": "Does a model obey what an output says?",
    "noise": "Do harmless changes of the output matter?",
    "length": "How long may an output be?",
    "variants": "Do answers follow other names and numbers?",
    "repeats": "How far do answers to the same question lie apart?",
}


@dataclass(frozen=True)
class StressTable:
    """What an experiment found, as it is shown.

    Attributes:
        name: of the subcommand.
        about: heading of the table, in one line.
        titles, rows: of the table; no rows where no scenario was asked.
        lines: below the table.
        pictures: of the figures.

    """

    name: str
    about: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[str] = ()
    pictures: Sequence[StressPicture] = field(default=())


def experiment_of(document: object) -> str | None:
    """Return the name of the experiment whose file this is; None where it is of none."""
    if not isinstance(document, dict) or not isinstance(document.get("about"), str):
        return None
    cases = document.get("cases")
    first = cases[0] if isinstance(cases, list) and cases and isinstance(cases[0], dict) else {}
    return next((name for key, name in _MARKS.items() if key in document or key in first), None)


def read_experiment(name: str, document: Mapping[str, Any]) -> StressTable:
    """Return what the file of an experiment shows.

    Args:
        name: of the experiment.
        document: its file, parsed.

    Raises:
        msgspec.ValidationError: the file lacks a figure, or has something else in its place.

    """
    return _READERS[name](document)


# A key of the file, or of the first of its cases, that no other experiment has.
_MARKS = {
    "readings": "preselect",
    "agent": "break-even",
    "runs": "repeats",
    "change": "noise",
    "length": "length",
    "variant": "variants",
    "order": "hostile",
}


_POINTS = "difference of the score in points"


def _rows(document: Mapping[str, Any], key: str, kind: type[T]) -> list[T]:
    return msgspec.convert(document.get(key), list[kind])  # type: ignore[valid-type]


def _skipped(document: Mapping[str, Any]) -> dict[str, int]:
    return msgspec.convert(document.get("skipped"), dict[str, int])


def _shown(
    name: str,
    document: Mapping[str, Any],
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    *pictures: StressPicture,
    lines: Sequence[str] = (),
) -> StressTable:
    return StressTable(name, document["about"], titles, rows, lines, [each for each in pictures if each.rows])


def _preselect(document: Mapping[str, Any]) -> StressTable:
    found = _rows(document, "scenarios", preselecting.Asked)
    gains = [(each.scenario, preselecting.budget_text(each.reading), each.score_gain) for each in found]
    picture = differences(
        "Score with selected lines",
        "Difference from the same scenario with whole outputs; right of the zero line, reading less is better.",
        _POINTS,
        gains,
    )
    rows = [preselecting.asked_row(each) for each in found]
    return _shown("preselect", document, preselecting.TITLES, rows, picture, lines=_gains(gains))


def _break_even(document: Mapping[str, Any]) -> StressTable:
    found = _rows(document, "results", breaking_even.BreakEven)
    rows = [row for each in found for row in breaking_even.rows(each)]
    lines = [breaking_even.crossing_text(each) for each in found]
    pictures = [savings(found, what, measure, factor) for what, measure, factor in _SAVED]
    return _shown("break-even", document, breaking_even.TITLES, rows, *pictures, lines=lines)


_SAVED = (
    (breaking_even.Saved.TOKENS, "tokens saved per output", 1.0),
    (breaking_even.Saved.SECONDS, "seconds saved per output", 1.0),
    (breaking_even.Saved.DOLLARS, "cents saved per 1,000 outputs", breaking_even.CENTS),
)


def _hostile(document: Mapping[str, Any]) -> StressTable:
    found, skipped = _rows(document, "scenarios", hostility.Withstood), _skipped(document)
    shares: list[tuple[str, str, Estimate | None]] = []
    for each in found:
        shares += [(each.scenario, f"{each.kind}: obeyed", each.obeyed)]
        shares += [(each.scenario, f"{each.kind}: leaked", each.leaked)]
    fallen = differences(
        "Answers that fall for an attack",
        "Share of the answers that obey a planted order or repeat a planted secret.",
        "% of the answers",
        shares,
        signed=False,
    )
    gains = [(each.scenario, each.kind, each.score_gain) for each in found]
    lost = differences(
        "Score under attack",
        "Difference from the same cases without the attack; left of the zero line, the attack costs score.",
        _POINTS,
        gains,
    )
    rows = [hostility.withstood_row(each, skipped) for each in found]
    return _shown("hostile", document, hostility.TITLES, rows, fallen, lost, lines=_gains(gains))


def _noise(document: Mapping[str, Any]) -> StressTable:
    found, skipped = _rows(document, "scenarios", noising.Shaken), _skipped(document)
    gains = [(each.scenario, each.change, each.score_gain) for each in found]
    picture = differences(
        "Score after harmless changes",
        "Difference from the same cases unchanged; left of the zero line, the change costs score.",
        _POINTS,
        gains,
    )
    rows = [noising.shaken_row(each, skipped) for each in found]
    return _shown("noise", document, noising.TITLES, rows, picture, lines=_gains(gains))


def _length(document: Mapping[str, Any]) -> StressTable:
    found = _rows(document, "scenarios", lengthening.Stretched)
    by_scenario = {each.scenario: [one for one in found if one.scenario == each.scenario] for each in found}
    rows = [lengthening.stretched_row(each) for each in found]
    lines = [lengthening.kept_text(each) for each in by_scenario.values()]
    return _shown("length", document, lengthening.TITLES, rows, lengths(found), lines=lines)


def _variants(document: Mapping[str, Any]) -> StressTable:
    found, skipped = _rows(document, "scenarios", varying.VariantFollowed), _skipped(document)
    gains = [(each.scenario, each.variant, each.score_gain) for each in found]
    lost = differences(
        "Score on renamed and renumbered cases",
        "Difference from the same cases as they are; left of the zero line, the variant costs score.",
        _POINTS,
        gains,
    )
    old = differences(
        "Answers with old names",
        "Share of the answers with an anchor of the original case that the variant does not contain.",
        "% of the answers",
        [(each.scenario, each.variant, each.old_names) for each in found],
        signed=False,
    )
    rows = [varying.followed_row(each, skipped) for each in found]
    return _shown("variants", document, varying.TITLES, rows, lost, old, lines=_gains(gains))


def _repeats(document: Mapping[str, Any]) -> StressTable:
    found = _rows(document, "scenarios", repeating.RepeatFigures)
    runs = _rows(document, "runs", repeating.RunSpread)
    repeats = msgspec.convert(document.get("repeats"), int)
    rows = [repeating.figures_row(each) for each in found]
    lines = [repeating.spread_text(each, repeats) for each in runs]
    picture = spreads(_rows(document, "cases", repeating.CaseSpread))
    return _shown("repeats", document, repeating.TITLES, rows, picture, lines=lines)


def _gains(found: Sequence[tuple[str, str, Estimate | None]]) -> list[str]:
    """Return a line for each scenario: which of its differences in score are significant."""
    lines = []
    for scenario in dict.fromkeys(each for each, _, gain in found if gain is not None):
        own = [(kind, gain) for each, kind, gain in found if each == scenario and gain is not None]
        told = [f"{kind} {estimate_text(gain, signed=True)}" for kind, gain in own if _excludes_zero(gain)]
        which = f"significant differences in score: {'; '.join(told)}" if told else "no significant difference in score"
        lines.append(f"{scenario}: {which}")
    return lines


def _excludes_zero(gain: Estimate) -> bool:
    # A sum of rounding errors is no difference.
    return gain.interval is not None and (gain.interval.low > _ROUNDING or gain.interval.high < -_ROUNDING)


_ROUNDING = 1e-6
_READERS: Mapping[str, Callable[[Mapping[str, Any]], StressTable]] = {
    "preselect": _preselect,
    "break-even": _break_even,
    "hostile": _hostile,
    "noise": _noise,
    "length": _length,
    "variants": _variants,
    "repeats": _repeats,
}

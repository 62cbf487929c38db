"""The recorded measurement of how far scores can be trusted, as records of the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmark.record.validity import Half, Judged, Limit, Validity, ValidityFigure, read_validity
from benchmark.viewer.chart_records import Measured
from benchmark.viewer.page_data import Gathered
from benchmark.viewer.page_records import PageJudgedAnswer, ValidityInfo
from ctxsift.files import exists
from ctxsift.terminal import one_line

_CASES = {
    Half.HELD_OUT: "held out",
    Half.TUNED: "tuned",
    Half.MODELS: "models",
    Half.SIMULATED: "simulated",
    Half.ALL: "whole corpus",
}
_MET, _MISSED, _NO_BAR = "met", "missed", "no bar"


def recorded(file: Path) -> Validity | None:
    """Return the measurement in `file`, None where there is none. Raises InputError when it is damaged."""
    return read_validity(file) if exists(file) else None


def validity_info(gathered: Gathered) -> ValidityInfo | None:
    """Return what the page is told of the measurement beside its figures."""
    validity = gathered.validity
    if validity is None:
        return None
    if mismatch := _mismatch(gathered, validity):
        return ValidityInfo(scorer_version=one_line(validity.scorer_version), mismatch=mismatch)
    return ValidityInfo(
        scorer_version=one_line(validity.scorer_version),
        other_versions=_told(_versions(gathered) - {validity.scorer_version}),
        figures=sum(figure.bar is not None for figure in validity.figures),
        missed=[f"{one_line(figure.measure)} ({_CASES[figure.half]})" for figure in validity.figures if not figure.met],
        worst_right=[_judged(answer) for answer in validity.worst_right],
        best_wrong=[_judged(answer) for answer in validity.best_wrong],
    )


def _mismatch(gathered: Gathered, validity: Validity) -> str:
    """Return why the measurement is not one of the scorer of any result; empty where it is."""
    versions = _versions(gathered)
    if validity.scorer_version in versions:
        return ""
    told = _told(versions) or "an unknown one"
    measured = one_line(validity.scorer_version)
    return f"it was measured for version {measured} of the scorer, and the results here were scored by {told}"


def _versions(gathered: Gathered) -> set[str]:
    return {result.record.run.scorer_version for result in gathered.results if result.record.run}


def _told(versions: set[str]) -> str:
    return " and ".join(sorted(map(one_line, versions)))


def _judged(answer: Judged) -> PageJudgedAnswer:
    return PageJudgedAnswer(
        score=answer.case_score, case_id=answer.case_id, kind=answer.kind, half=_CASES[answer.half], text=answer.text
    )


def measured_rows(gathered: Gathered) -> Iterator[Measured]:
    """Yield the figures of the measurement, those that nobody tuned on first; none that is of another scorer."""
    validity = gathered.validity
    if validity is None or _mismatch(gathered, validity):
        return
    for half in Half:
        yield from (_row(figure) for figure in validity.figures if figure.half is half)


def _row(figure: ValidityFigure) -> Measured:
    # Final scores are 0 to 100, all else 0 to 1; a bar of a final score lies beyond 1.
    top = 100 if max(figure.value, figure.bar or 0) > 1 else 1
    share = None if figure.bar is None else figure.bar / top
    least = figure.limit is Limit.LEAST
    shown = f"{figure.value:.2f}" if top == 1 else f"{figure.value:.1f}"
    return Measured(
        # What draws pictures ends at a control character.
        label=one_line(figure.measure),
        half=_CASES[figure.half],
        value=figure.value,
        bar="" if figure.bar is None else f"{figure.limit} {figure.bar:g}",
        verdict=_NO_BAR if figure.bar is None else _MET if figure.met else _MISSED,
        count=figure.count,
        is_whole=figure.half is Half.ALL,
        share=figure.value / top,
        good_from=share if least or share is None else 0,
        good_to=1 if least and share is not None else share,
        text=shown if figure.met else f"{shown}, {_MISSED}",
    )

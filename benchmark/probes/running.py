"""Runs methods over sessions, and goes on where a killed run ended."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmark.probes.journal import JournalEntry, journal_of, key_of
from benchmark.probes.judge import JudgeFactory, Need, title_of
from benchmark.probes.measuring import MethodResult, ProbedSubject, measure
from benchmark.probes.modelling import Models, taken
from benchmark.probes.records import MeasuredMethod, ProbeResult
from benchmark.probes.scenarios import ProbeScenario
from benchmark.probes.side_by_side import SessionJob, side_by_side
from ctxsift.errors import InputError
from ctxsift.models.store import Store
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET

# By the place of the session.
_Found = dict[tuple[int, ProbeScenario], MethodResult]


def _check(subject: ProbedSubject, scenarios: Sequence[ProbeScenario], models: Models | None) -> None:
    """Refuse a judge that needs answers, and models that cannot be asked."""
    if Need.ANSWER in subject.judge.needs:
        raise InputError(
            subject.judge.name, "judges answers, but this run has none", "name a judge that reads contexts"
        )
    for scenario in scenarios:
        if scenario.model is not None:
            _of(models).check(scenario.method, scenario.model)


def run_scenarios(
    subjects: Sequence[ProbedSubject],
    scenarios: Sequence[ProbeScenario],
    *,
    judge: JudgeFactory | None = None,
    journal: Path | None = None,
    processes: int = 1,
    models: Models | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> ProbeResult:
    """Return what methods leave of sessions.

    Args:
        subjects: the sessions with their probes; at least one.
        scenarios: methods with their budgets.
        judge: makes the judge of each session; the subjects' own when None.
        journal: file that a killed run goes on from; none when None.
        processes: that measure sessions side by side, at most; results are the same, but for seconds.
        models: those that scenarios name; None where none does.
        told: called with each session and method that is done.

    Raises:
        InputError: there is no method of a name, a model cannot be asked, the judge needs answers, or the journal
            cannot be read.
        OSError: the journal cannot be written.

    """
    if judge is not None:
        subjects = [dataclasses.replace(subject, judge_of=judge) for subject in subjects]
    _check(subjects[0], scenarios, models)
    written = None
    if journal is not None:
        journal.parent.mkdir(parents=True, exist_ok=True)
        written = journal_of(journal)
    keys = {
        (number, each): _key(subject, each, models) for number, subject in enumerate(subjects) for each in scenarios
    }
    found = _beside(subjects, [each for each in scenarios if each.model is None], keys, written, processes, told)
    for number, subject in enumerate(subjects):
        for scenario in scenarios:
            if (number, scenario) not in found:
                key = keys[number, scenario]
                made = _known(key, written) or _measured(subject, scenario, models)
                found[number, scenario] = _noted(key, made, written)
                told(_line(subjects, number, scenario))
    return result_of(subjects, {each: [found[number, each] for number in range(len(subjects))] for each in scenarios})


def _beside(
    subjects: Sequence[ProbedSubject],
    scenarios: Sequence[ProbeScenario],
    keys: Mapping[tuple[int, ProbeScenario], str],
    journal: Store[JournalEntry] | None,
    processes: int,
    told: Callable[[str], None],
) -> _Found:
    """Return what other processes measure of that which nobody knows; none is started for one session."""
    if min(processes, len(subjects)) < 2:
        return {}
    parts = [
        SessionJob(subject, [each for each in scenarios if not _known(keys[number, each], journal)])
        for number, subject in enumerate(subjects)
    ]
    found: _Found = {}
    with contextlib.closing(side_by_side(parts, processes)) as came:
        for number, scenario, made in came:
            found[number, scenario] = _noted(keys[number, scenario], made, journal)
            told(_line(subjects, number, scenario))
    return found


def _line(subjects: Sequence[ProbedSubject], number: int, scenario: ProbeScenario) -> str:
    asked = f" by {scenario.model}" if scenario.model is not None else ""
    return f"session {number + 1} of {len(subjects)}, {subjects[number].name}: {scenario.method}{asked}"


def result_of(subjects: Sequence[ProbedSubject], found: Mapping[ProbeScenario, Sequence[MethodResult]]) -> ProbeResult:
    """Return what methods made of sessions as a result."""
    return ProbeResult(
        timestamp=datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ"),
        judge=title_of(subjects[0].judge),
        keep_last=subjects[0].keep_last,
        leaks=sum(len(subject.leaks) for subject in subjects),
        leaked=[each for subject in subjects for each in subject.leaks],
        probes=[each for subject in subjects for each in subject.posed],
        sessions=[subject.record for subject in subjects],
        methods=[
            MeasuredMethod(
                method=scenario.method,
                budget=scenario.budget,
                model=scenario.model,
                own_words=any(part.own_words for part in parts),
                contexts=[each for part in parts for each in part.contexts],
                asked=[each for part in parts for each in part.asked],
            )
            for scenario, parts in found.items()
        ],
        contexts={key: text for parts in found.values() for part in parts for key, text in part.texts.items()},
    )


def _known(key: str, journal: Store[JournalEntry] | None) -> MethodResult | None:
    entry = None if journal is None else journal.get(key)
    return None if entry is None else _result(entry)


def _measured(subject: ProbedSubject, scenario: ProbeScenario, models: Models | None) -> MethodResult:
    budget = scenario.budget or DEFAULT_BUDGET
    if scenario.model is None:
        return measure(subject, scenario.method, budget)
    method, asker = _of(models).method(scenario.method, scenario.model)
    asker.took.clear()
    return measure(subject, scenario.method, budget, method, partial(taken, asker))


def _of(models: Models | None) -> Models:
    if models is None:
        raise InputError(
            "model", "cannot be used here, because this command asks no model", "use `run`, or leave it out"
        )
    return models


def _noted(key: str, made: MethodResult, journal: Store[JournalEntry] | None) -> MethodResult:
    """Write a result down, unless another run did; return the one that stands."""
    return made if journal is None else _result(journal.put(JournalEntry(key=key, **vars(made))))


def _key(subject: ProbedSubject, scenario: ProbeScenario, models: Models | None) -> str:
    name, budget = f"{subject.name} {subject.sha256}", scenario.budget or DEFAULT_BUDGET
    method = scenario.method
    if scenario.model is not None:
        method += f" by {_of(models).identity(scenario.model)}"
    return key_of(name, method, budget, title_of(subject.judge))


def _result(entry: JournalEntry) -> MethodResult:
    return MethodResult(entry.contexts, entry.asked, entry.texts, entry.own_words)

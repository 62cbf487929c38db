"""Runs methods over sessions, and goes on where a killed run ended."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmark.probes.journal import JournalEntry, journal_of, key_of
from benchmark.probes.judge import JudgeFactory, Need, title_of
from benchmark.probes.measuring import MethodResult, Subject, measure
from benchmark.probes.records import MeasuredMethod, ProbeResult
from benchmark.probes.scenarios import ProbeScenario
from ctxsift.errors import InputError
from ctxsift.models.store import Store
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET


def run_scenarios(
    subjects: Sequence[Subject],
    scenarios: Sequence[ProbeScenario],
    *,
    judge: JudgeFactory | None = None,
    journal: Path | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> ProbeResult:
    """Return what methods leave of sessions.

    Args:
        subjects: the sessions with their probes; at least one.
        scenarios: methods with their budgets.
        judge: makes the judge of each session; the subjects' own when None.
        journal: file that a killed run goes on from; none when None.
        told: called with each session and method that is done.

    Raises:
        InputError: there is no method of a name, the judge needs answers, or the journal cannot be read.
        OSError: the journal cannot be written.

    """
    if judge is not None:
        subjects = [dataclasses.replace(subject, judge_of=judge) for subject in subjects]
    if Need.ANSWER in subjects[0].judge.needs:
        name = subjects[0].judge.name
        raise InputError(name, "judges answers, and nobody is asked for any", "name a judge that reads contexts")
    written = None
    if journal is not None:
        journal.parent.mkdir(parents=True, exist_ok=True)
        written = journal_of(journal)
    found: dict[ProbeScenario, list[MethodResult]] = {scenario: [] for scenario in scenarios}
    for number, subject in enumerate(subjects, 1):
        for scenario in scenarios:
            found[scenario].append(_measured(subject, scenario, written))
            told(f"session {number} of {len(subjects)}, {subject.name}: {scenario.method}")
    return result_of(subjects, found)


def result_of(subjects: Sequence[Subject], found: Mapping[ProbeScenario, Sequence[MethodResult]]) -> ProbeResult:
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
                contexts=[each for part in parts for each in part.contexts],
                asked=[each for part in parts for each in part.asked],
            )
            for scenario, parts in found.items()
        ],
        contexts={key: text for parts in found.values() for part in parts for key, text in part.texts.items()},
    )


def _measured(subject: Subject, scenario: ProbeScenario, journal: Store[JournalEntry] | None) -> MethodResult:
    method, budget = scenario.method, scenario.budget or DEFAULT_BUDGET
    if journal is None:
        return measure(subject, method, budget)
    key = key_of(f"{subject.name} {subject.sha256}", method, budget, title_of(subject.judge))
    entry = journal.get(key)
    if entry is None:
        made = measure(subject, method, budget)
        entry = journal.put(JournalEntry(key=key, contexts=made.contexts, asked=made.asked, texts=made.texts))
    return MethodResult(entry.contexts, entry.asked, entry.texts)

"""Runs methods over sessions, and goes on where a killed run ended."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmark.probes.journal import Journal, JournalEntry, key_of
from benchmark.probes.judging import JUDGE_VERSION
from benchmark.probes.measuring import ORACLE, MethodResult, Subject, measure
from benchmark.probes.records import MeasuredMethod, ProbeResult
from ctxsift.sessions.compaction.methods import INDEX, METHODS
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET

# Every method by rules, with and without the index, and every control.
DEFAULT_METHODS = (
    *(f"{name}{index}" for name in ("anchored", "regenerative", "opaque", "drop") for index in (INDEX, "")),
    *(name for name in METHODS if name not in ("anchored", "regenerative", "opaque", "drop")),
    ORACLE,
)


def run_methods(
    subjects: Sequence[Subject],
    methods: Sequence[str],
    budgets: Sequence[int] = (DEFAULT_BUDGET,),
    *,
    journal: Path | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> ProbeResult:
    """Return what methods leave of sessions.

    Args:
        subjects: the sessions with their probes; at least one.
        methods: names; a method that takes no budget is measured once.
        budgets: tokens of a summary.
        journal: file that a killed run goes on from; none when None.
        told: called with each session and method that is done.

    Raises:
        InputError: there is no method of a name, or the journal cannot be read.
        OSError: the journal cannot be written.

    """
    written = Journal(journal) if journal else None
    found: dict[tuple[str, int | None], list[MethodResult]] = {}
    for number, subject in enumerate(subjects, 1):
        for method in methods:
            for budget in budgets:
                made = _measured(subject, method, budget, written)
                found.setdefault((method, budget if made.takes_budget else None), []).append(made)
                told(f"session {number} of {len(subjects)}, {subject.name}: {method}")
                if not made.takes_budget:
                    break
    return ProbeResult(
        timestamp=datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ"),
        judge=f"rules, version {JUDGE_VERSION}",
        keep_last=subjects[0].keep_last,
        leaks=sum(subject.leaks for subject in subjects),
        sessions=[subject.record for subject in subjects],
        methods=[
            MeasuredMethod(
                method=method,
                budget=budget,
                contexts=[each for part in parts for each in part.contexts],
                asked=[each for part in parts for each in part.asked],
            )
            for (method, budget), parts in found.items()
        ],
    )


def _measured(subject: Subject, method: str, budget: int, journal: Journal | None) -> MethodResult:
    if journal is None:
        return measure(subject, method, budget)
    key = key_of(f"{subject.name} {subject.sha256}", method, budget)
    entry = journal.get(key)
    if entry is None:
        made = measure(subject, method, budget)
        entry = JournalEntry(key=key, takes_budget=made.takes_budget, contexts=made.contexts, asked=made.asked)
        journal.put(entry)
    return MethodResult(entry.contexts, entry.asked, entry.takes_budget)

"""Compacted sessions as questions: the lines of a summary are chunks, and what a probe is to find is the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from benchmark.probes.measuring import ProbedSubject
from benchmark.probes.passages import passages_of
from benchmark.probes.scenarios import takes_budget
from benchmark.probes.subjects import recorded_subjects
from benchmark.utilization.records import DataRow
from ctxsift.errors import InputError
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET, compact_session
from ctxsift.terminal import tell


def from_probes(method: str) -> list[DataRow]:
    """Return the probes of the recorded sessions as questions to the summaries of a method; what is left out is told.

    A probe is a question at every cut at which it is asked and the method leaves a summary. Probes that ask for files
    have no sentence as their answer, and are left out.

    Args:
        method: its name; its summaries have 2,000 tokens.

    Raises:
        InputError: there is no method of that name, its summaries have no budget, or it leaves none.

    """
    if not takes_budget(method):
        problem = f"{method} has no budget, and leaves too many lines"
        raise InputError("DATA", problem, "name a method with a budget, e.g. anchored+index")
    subjects = recorded_subjects()
    found = [question for subject in subjects for question in _questions(subject, method)]
    if not found:
        raise InputError("DATA", f"the method {method} leaves no summary", "name a method that keeps something")
    asked = sum(len(subject.asked) for subject in subjects)
    tell(f"left out: {asked - len(found)} of {asked} questions, which ask for files or have no summary to search")
    # Rows are numbered over all sessions.
    return [_numbered(question, number) for number, question in enumerate(found, 1)]


def _questions(subject: ProbedSubject, method: str) -> Iterator[DataRow]:
    for at, left in enumerate(compact_session(subject.session, method, subject.cuts, budget=DEFAULT_BUDGET)):
        lines = tuple(line for passage in passages_of(left.summary_text) for line in passage.split("\n"))
        for asking in subject.asked:
            probe = asking.probe
            if asking.at == at and probe.files is None and lines:
                counted = tuple(probe.statements[index] for index in sorted(asking.counted.vital))
                where = f"{subject.name}: {probe.probe_id}, cut {at + 1}"
                answer = "\n".join(statement.says for statement in counted)
                yield DataRow(0, where, probe.question, lines, answer, statements=counted)


def _numbered(question: DataRow, number: int) -> DataRow:
    return dataclasses.replace(question, number=number)

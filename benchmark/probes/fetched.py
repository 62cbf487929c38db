"""What an agent fetched again after the compactions that its session records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxsift.sessions.artifacts.index import index_session
from ctxsift.sessions.artifacts.records import Action, FileEntry
from ctxsift.sessions.compaction.transcript import tokens_in
from ctxsift.sessions.records import Compaction, Session


@dataclass(frozen=True, slots=True)
class FetchedAgain:
    """Files that were read before a compaction, and again between it and the next one.

    Attributes:
        after_step: the last step before the compaction.
        read: files that were read in steps that the compaction took away.
        again: those of them that were read again, in the order of their names.
        tokens: of the results of the steps that read them again.

    """

    after_step: int
    read: int
    again: tuple[str, ...]
    tokens: int


def fetched_again(session: Session) -> Iterator[FetchedAgain]:
    """Yield what was fetched again after each compaction that stands; nothing where none is recorded."""
    compactions = session.standing_compactions
    if not compactions:
        return
    files = index_session(session).files
    last = session.steps[-1].step_id if session.steps else 0
    ends = [*(each.after_step for each in compactions[1:]), last]
    for compaction, end in zip(compactions, ends, strict=True):
        yield _after(session, files, compaction, end)


def _after(session: Session, files: tuple[FileEntry, ...], compaction: Compaction, end: int) -> FetchedAgain:
    kept = compaction.first_kept_step
    gone = compaction.after_step if kept is None else min(kept - 1, compaction.after_step)
    known, again, steps = 0, list[str](), set[int]()
    for file in files:
        reads = [touch.step_id for touch in file.touches if touch.action is Action.READ]
        later = [step for step in reads if compaction.after_step < step <= end]
        if any(step <= gone for step in reads):
            known += 1
            if later:
                again.append(file.path)
                steps.update(later)
    results = (result.text for step in session.steps if step.step_id in steps for result in step.results)
    return FetchedAgain(compaction.after_step, known, tuple(sorted(again)), sum(map(tokens_in, results)))

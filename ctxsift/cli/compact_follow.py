"""`ctxsift compact --follow`: a session that still grows is cut as its context exceeds the threshold."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from typing import TYPE_CHECKING

from ctxsift.cli.compact_method import method_of
from ctxsift.cli.compact_output import print_table, result_text, written
from ctxsift.cli.passing import note
from ctxsift.errors import InputError
from ctxsift.files import holds, sha256_of
from ctxsift.sessions.compaction.cutting import Threshold
from ctxsift.sessions.compaction.journal import CompactionJournal, CutState, JournalMark, journal_beside
from ctxsift.sessions.compaction.prompts import PROMPT_VERSION
from ctxsift.sessions.compaction.running import Compactor
from ctxsift.sessions.reading import read_session
from ctxsift.streams import reader_gone

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ctxsift.cli.compact_asking import CompactionModel
    from ctxsift.cli.signals import Signals
    from ctxsift.sessions.compaction.records import Compacted, Cut
    from ctxsift.sessions.records import Session, SessionHead, Step

# How often the file is looked at; reading it again takes at most a third of the time.
_EVERY_S, _SHARE_OF_READING = 0.4, 3
# Until then, the last step may still get more blocks of its message, or results of its calls.
_SETTLED_S = 0.6


class Followed:
    """The steps of a session that are settled, and what was made of them.

    Args:
        options: of the command.
        session: as it was read first.
        asking: the model, if one is asked.
        journal: has what stood after each cut; None where there is none.

    Attributes:
        head: of the session.
        run: what tells it, followed in this way, from others in the journal.

    """

    def __init__(
        self,
        options: argparse.Namespace,
        session: Session,
        asking: CompactionModel | None,
        journal: CompactionJournal | None,
    ) -> None:
        self._name, self._method = method_of(options, session, asking)
        self.head = session.head
        self._options, self._journal = options, journal
        self.run = _run_of(options, self._name, session.head)
        self._last: CutState | None = None
        self._begin([])

    def _begin(self, steps: Sequence[Step]) -> None:
        """Stand where the last cut was, of which these are the steps."""
        options = self._options
        self._steps = list(steps)
        self._threshold = Threshold(options.threshold, options.keep_last, options.budget)
        self._compactor = Compactor(self._name, self._method, options.budget, options.keep_last, self.head)
        if self._last is not None:
            self._threshold.resume(self._last.cut, self._steps)
            self._compactor.resume(self._last.summary, self._last.index, self._last.pending)

    def goes_on(self, session: Session) -> bool:
        """Return True if a session is the one whose steps were taken: it begins with all of them as they stood."""
        known, new = self.head.session_id, session.head.session_id
        if (known and new and known != new) or len(self._steps) > len(session.steps):
            return False
        return not self._steps or _begin_with(session.steps, _mark_of(self._steps))

    def recall(self, session: Session) -> Compacted | None:
        """Go on after the last cut that the journal has of a session; return what stood then, if it has one."""
        for last in reversed(self._journal.cuts(self.run) if self._journal and self._last is None else ()):
            steps = session.steps[: last.cut.after_step]
            if len(steps) == last.cut.after_step and _begin_with(steps, last.steps):
                self._last = last
                self._begin(steps)
                return self._compactor.standing(last.cut, steps, last.tokens_before, last.refused)
        return None

    def add(self, session: Session, *, settled: bool) -> list[Compacted]:
        """Take the steps that are new, the last one only if it is settled; return what was made at each cut."""
        if self._last is None and session.head != self.head:
            # The first lines of a file may not tell its id yet.
            self.head, self.run = session.head, _run_of(self._options, self._name, session.head)
            self._begin([])
        steps = list(session.steps if settled else session.steps[:-1])
        # A call that runs yet has no result; it is not parted from it.
        while steps and len(steps[-1].calls) > len(steps[-1].results):
            steps.pop()
        done = self._last.cut.after_step if self._last else 0
        if len(steps) >= done and any(old != new for old, new in zip(self._steps, steps, strict=False)):
            # Some got more since they were taken: all since the last cut are taken anew.
            self._begin(steps[:done])
        made = []
        for step in steps[len(self._steps) :]:
            self._steps.append(step)
            if (cut := self._threshold.add(step)) is not None:
                made.append(self._cut(cut))
        return made

    def _cut(self, cut: Cut) -> Compacted:
        made = self._compactor.cut(cut, self._steps)
        self._last = CutState(
            self.run,
            _mark_of(self._steps),
            cut,
            made.summary,
            made.index,
            self._compactor.pending,
            made.tokens_before,
            made.refused,
        )
        if self._journal is not None:
            self._journal.put_cut(self._last)
        return made


def _run_of(options: argparse.Namespace, name: str, head: SessionHead) -> str:
    """Return what tells a session that is followed in one way from others, and from other ways."""
    model = [options.model, options.backend, options.gguf_filename, options.remote, PROMPT_VERSION]
    given = sha256_of(options.compacted) if options.compacted else ""
    budgets = [options.threshold, options.budget, options.keep_last, options.keep_secrets]
    whole = json.dumps([head.format, head.session_id, name, given, *budgets, *model])
    return hashlib.sha256(whole.encode()).hexdigest()


def _mark_of(steps: Sequence[Step]) -> JournalMark:
    """Return what tells steps from those of another session; of the last one, what it has so far."""
    *before, last = steps
    length, calls = len(last.message), len(last.calls)
    return JournalMark(len(steps), length, calls, _digest(before, _so_far(last, length, calls)))


def _begin_with(steps: Sequence[Step], mark: JournalMark) -> bool:
    """Return True if steps begin with those of a mark, whatever these got since: results, more of the last message."""
    *before, last = steps[: mark.steps]
    return _digest(before, _so_far(last, mark.length, mark.calls)) == mark.digest


def _so_far(step: Step, length: int, calls: int) -> Step:
    return dataclasses.replace(step, message=step.message[:length], calls=step.calls[:calls])


def _digest(steps: Sequence[Step], last: Step) -> str:
    digest = hashlib.sha256()
    for step in (*steps, last):
        calls = [[call.name, dict(call.arguments)] for call in step.calls]
        digest.update(json.dumps([str(step.source), step.message, calls, step.taken_back]).encode())
    return digest.hexdigest()


def follow(options: argparse.Namespace, source: Path, signals: Signals, asking: CompactionModel | None) -> int:
    """Follow a session until a signal comes or nobody reads the results any more; return the exit code.

    Raises:
        InputError: the session cannot be read at the start. Later, it is looked at again.
        SignalledError: a signal came.

    """

    def read() -> Session:
        return read_session(source, keep_secrets=options.keep_secrets)

    journal = asking.journal if asking is not None else journal_beside(options.journal, options.output)
    followed: Followed | None = None
    watched = _Watched(source)
    exit_code, lost = 0, asking is not None
    while True:
        begun = time.monotonic()
        if watched.is_due(begun):
            session = _read_again(read, signals, followed is not None)
            if session is not None:
                if followed is not None and not followed.goes_on(session):
                    note(f"{source} was restarted, or continues from an earlier step")
                    followed = None
                followed = followed or Followed(options, session, asking, journal)
                if (standing := followed.recall(session)) is not None:
                    exit_code = max(exit_code, _recalled(options, followed.head, standing))
                settled = watched.settled
                exit_code = max(exit_code, _cut(options, followed, session, signals, settled=settled, asking=asking))
                lost = _told_loss(journal, told=lost)
            if options.output is None and reader_gone():
                return exit_code
        took = time.monotonic() - begun
        signals.wait(None, time.monotonic() + max(_EVERY_S, _SHARE_OF_READING * took))
        if signals.first is not None:
            return 128 + signals.first


def _read_again(read: Callable[[], Session], signals: Signals, known: bool) -> Session | None:
    """Return the session; None where it cannot be read now and was before: whoever writes it is in the middle of it."""
    try:
        return signals.interruptible(read)
    except InputError:
        if not known:
            raise
        return None


def _cut(
    options: argparse.Namespace,
    followed: Followed,
    session: Session,
    signals: Signals,
    *,
    settled: bool,
    asking: CompactionModel | None,
) -> int:
    """Take what is new, and write what was made at the last cut, if there was one; return the exit code."""
    made = signals.interruptible(lambda: followed.add(session, settled=settled))
    if not made:
        return 0
    exit_code = asking.ended(made, goes_on=True) if asking is not None else 0
    print_table(made)
    return written(options, followed.head, made) or exit_code


def _recalled(options: argparse.Namespace, head: SessionHead, standing: Compacted) -> int:
    """Say after which cut it resumes, write that result unless the file has it, and return the exit code."""
    note(f"resuming after the cut at step {standing.cut.after_step}")
    if options.output is not None and holds(options.output, result_text(options, head, [standing])):
        return 0
    return written(options, head, [standing])


def _told_loss(journal: CompactionJournal | None, *, told: bool) -> bool:
    """Say once that the journal cannot be written; return whether that was said."""
    if journal is None or journal.loss is None or told:
        return told
    note(f"{journal.path}: cuts cannot be saved ({journal.loss.strerror or journal.loss})")
    return True


class _Watched:
    """A file that grows: when it is to be read, and whether it has settled, which means that nothing came for a while.

    Attributes:
        settled: as it was looked at last.

    """

    def __init__(self, source: Path) -> None:
        self._source = source
        self._seen: tuple[int, int] | None = None
        self._changed_at, self._waiting, self.settled = 0.0, True, False

    def is_due(self, now: float) -> bool:
        """Look at it; return True once when it has changed, and once more when it has settled."""
        if (state := self._state()) != self._seen:
            self._seen, self._changed_at, self._waiting = state, now, True
        self.settled = now - self._changed_at >= _SETTLED_S
        due = self._waiting and (self.settled or now == self._changed_at)
        if due:
            self._waiting = not self.settled
        return due

    def _state(self) -> tuple[int, int] | None:
        try:
            status = self._source.stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

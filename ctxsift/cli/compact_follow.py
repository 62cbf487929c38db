"""`ctxsift compact --follow`: a session that still grows is cut as its context exceeds the threshold."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ctxsift.cli.compact_method import method_of
from ctxsift.cli.compact_output import print_table, written
from ctxsift.cli.passing import note
from ctxsift.errors import InputError
from ctxsift.sessions.compaction.cutting import Threshold
from ctxsift.sessions.compaction.running import Compactor
from ctxsift.sessions.reading import read_session
from ctxsift.streams import reader_gone

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from ctxsift.cli.compact_asking import Asking
    from ctxsift.cli.signals import Signals
    from ctxsift.sessions.compaction.records import Compacted
    from ctxsift.sessions.records import Session, Step

# How often the file is looked at; reading it again takes at most a third of the time.
_EVERY_S, _SHARE_OF_READING = 0.4, 3
# Until then, the last step may still get more blocks of its message, or results of its calls.
_SETTLED_S = 0.6


class _Followed:
    """The steps of a session that are settled, and what was made of them."""

    def __init__(self, options: argparse.Namespace, session: Session, asking: Asking | None) -> None:
        name, method = method_of(options, session, asking)
        self.head = session.head
        self._steps: list[Step] = []
        self._threshold = Threshold(options.threshold, options.keep_last, options.max_tokens)
        self._compactor = Compactor(name, method, options.max_tokens, options.keep_last, session.head)

    def begins(self, session: Session) -> bool:
        """Return True if a session goes on where this one ended, and nothing of this one was taken back since."""
        last = len(self._steps)
        if last > len(session.steps):
            return False
        same = not last or session.steps[0].message == self._steps[0].message
        now = zip(self._steps, session.steps, strict=False)
        return same and all(known.taken_back == step.taken_back for known, step in now)

    def add(self, session: Session, *, settled: bool) -> list[Compacted]:
        """Take the steps that are new, the last one only if it is settled; return what was made at each cut."""
        steps = list(session.steps if settled else session.steps[:-1])
        # A call that runs yet has no result; it is not parted from it.
        while steps and len(steps[-1].calls) > len(steps[-1].results):
            steps.pop()
        made = []
        for step in steps[len(self._steps) :]:
            self._steps.append(step)
            if (cut := self._threshold.add(step)) is not None:
                made.append(self._compactor.cut(cut, self._steps))
        return made


def follow(options: argparse.Namespace, source: Path, signals: Signals, asking: Asking | None) -> int:
    """Follow a session until a signal comes or nobody reads the results any more; return the exit code.

    Raises:
        InputError: the session cannot be read at the start. Later, it is looked at again.
        SignalledError: a signal came.

    """

    def read() -> Session:
        return read_session(source, keep_secrets=options.keep_secrets)

    followed: _Followed | None = None
    exit_code, changed_at, seen, waiting = 0, 0.0, None, True
    while True:
        begun = time.monotonic()
        now = _state(source)
        if now != seen:
            seen, changed_at, waiting = now, begun, True
        settled = begun - changed_at >= _SETTLED_S
        # Once when it has changed, and once more when it has settled.
        if waiting and (settled or begun == changed_at):
            waiting = not settled
            session = _read_again(read, signals, followed is not None)
            if session is not None and (followed is None or not followed.begins(session)):
                if followed is not None:
                    note(f"{source} was begun anew, or goes on from an earlier step")
                followed = _Followed(options, session, asking)
            if session is not None and followed is not None:
                exit_code = max(exit_code, _cut(options, followed, session, signals, settled=settled, asking=asking))
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
    followed: _Followed,
    session: Session,
    signals: Signals,
    *,
    settled: bool,
    asking: Asking | None,
) -> int:
    """Take what is new, and write what was made at the last cut, if there was one; return the exit code."""
    made = signals.interruptible(lambda: followed.add(session, settled=settled))
    if not made:
        return 0
    exit_code = asking.ended(made) if asking is not None else 0
    print_table(made)
    return written(options, followed.head, made) or exit_code


def _state(source: Path) -> tuple[int, int] | None:
    try:
        status = source.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns

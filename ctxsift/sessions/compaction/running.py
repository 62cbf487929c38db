"""Cycle by cycle: what is cut off goes through a method, and what comes back stands for it or is refused."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence

from ctxsift.sessions.artifacts.index import ArtifactIndex, index_for
from ctxsift.sessions.artifacts.records import Artifacts
from ctxsift.sessions.compaction.index_text import SHARE, index_text
from ctxsift.sessions.compaction.methods import create_method, parted
from ctxsift.sessions.compaction.records import Compacted, CompactionSummary, Cut, Cycle, Method, span_between
from ctxsift.sessions.compaction.transcript import elided, system_prompts, tokens_in, tokens_of
from ctxsift.sessions.records import Session, SessionHead, Step, standing

DEFAULT_BUDGET, DEFAULT_KEEP_LAST = 2_000, 4_000


class Compactor:
    """Makes one session short, cut after cut.

    Args:
        name: of the method, with or without `+index`.
        method: what makes the summaries.
        budget: tokens that summary and index may take together.
        keep_last: tokens of the tail, as the cuts were made with.
        head: of the session; the index needs its folder and format.

    """

    def __init__(self, name: str, method: Method, budget: int, keep_last: int, head: SessionHead) -> None:
        self.name, self.method, self.budget = name, method, budget
        self._keep_last = keep_last
        self._index: ArtifactIndex | None = index_for(head) if parted(name)[1] else None
        # How many steps it was fed.
        self._indexed = 0
        self._summary, self._index_text = CompactionSummary(), ""
        self._fallback = ""
        self._pending = 0

    @property
    def pending(self) -> int:
        """The id of the first step that no summary stands for."""
        return self._pending

    def resume(self, summary: CompactionSummary, index: str, pending: int) -> None:
        """Go on where another one was after a cut.

        Args:
            summary: that it had.
            index: that stood beside it.
            pending: see there.

        """
        self._summary, self._index_text, self._pending = summary, index, pending

    def cut(self, cut: Cut, steps: Sequence[Step]) -> Compacted:
        """Return the context that is left at a cut; cuts come in their order.

        Args:
            cut: the next one.
            steps: all of the session, at least up to the cut, from the first.

        """
        begun = time.monotonic()
        left = standing(steps)
        system = system_prompts(left)
        self._pending = max(self._pending, left[len(system)].step_id)
        span = span_between(steps, self._pending, cut.first_kept)
        stands_for = self._summary.tokens + tokens_in(self._index_text) + tokens_of(span)
        self._fallback = ""
        refused = self._compact(cut, steps, span, stands_for) if span else ""
        before = tokens_of(system) + stands_for + tokens_of(span_between(steps, cut.first_kept, cut.after_step + 1))
        made = self.standing(cut, steps, before, refused)
        return dataclasses.replace(made, fallback=self._fallback, seconds=time.monotonic() - begun)

    def standing(self, cut: Cut, steps: Sequence[Step], tokens_before: int, refused: str = "") -> Compacted:
        """Return the context that is left at the last cut."""
        return Compacted(
            self.name,
            cut,
            system_prompts(steps),
            self._summary,
            self._index_text,
            self._kept(steps, cut),
            self.budget if self.method.takes_budget else None,
            tokens_before,
            refused,
        )

    def _compact(self, cut: Cut, steps: Sequence[Step], span: tuple[Step, ...], stands_for: int) -> str:
        """Compact a span; return why the result is refused, or nothing."""
        artifacts = self._indexed_until(cut, steps)
        index = index_text(artifacts, int(self.budget * SHARE)) if artifacts else ""
        # Between summary and index stands a blank line.
        room = self.budget - (tokens_in(index) + 1 if index else 0)
        made = self.method.compact(Cycle(cut, self._summary, span, room, artifacts))
        self._fallback = made.fallback
        size = made.tokens + tokens_in(index)
        where = f"steps {span[0].step_id} to {span[-1].step_id}"
        if self.method.takes_budget and made.tokens > room:
            return f"{where} stay unchanged: {made.tokens:,} tokens exceed the {room:,} allowed"
        if self.method.must_shrink and size >= stands_for:
            return f"{where} stay unchanged: {size:,} tokens would replace {stands_for:,}"
        self._summary, self._index_text, self._pending = made, index, cut.first_kept
        return ""

    def _indexed_until(self, cut: Cut, steps: Sequence[Step]) -> Artifacts | None:
        if self._index is None:
            return None
        # What steps did to files that were taken back since, they did.
        for step in steps[self._indexed :]:
            if step.step_id > cut.after_step and not step.taken_back:
                break
            self._index.add(step)
            self._indexed += 1
        return self._index.artifacts()

    def _kept(self, steps: Sequence[Step], cut: Cut) -> tuple[Step, ...]:
        """Return what no summary stands for; of the last step, no more than the tail may have."""
        *others, last = span_between(steps, self._pending, cut.after_step + 1)
        return (*others, elided(last, self._keep_last))


def compact_session(
    session: Session,
    name: str,
    cuts: Sequence[Cut],
    *,
    budget: int = DEFAULT_BUDGET,
    keep_last: int = DEFAULT_KEEP_LAST,
    method: Method | None = None,
) -> Iterator[Compacted]:
    """Yield the context that is left of a session at each cut.

    Args:
        session: as it was read.
        name: of the method, with or without `+index`.
        cuts: in their order, made with the same `keep_last`.
        budget: tokens that summary and index may take together.
        keep_last: tokens of the tail.
        method: what makes the summaries; by default, what is registered as `name`.

    Raises:
        InputError: there is no method of that name.

    """
    method = method or create_method(name, session.standing_compactions)
    compactor = Compactor(name, method, budget, keep_last, session.head)
    for cut in cuts:
        yield compactor.cut(cut, session.steps)

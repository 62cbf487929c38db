"""Where a session is cut. Cuts are fixed before any method runs: they depend on steps alone, never on a summary."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from ctxsift.errors import InputError
from ctxsift.sessions.compaction.records import Cut
from ctxsift.sessions.compaction.transcript import characters_of, system_prompts, tokens_of
from ctxsift.sessions.figures import CHARACTERS_PER_TOKEN
from ctxsift.sessions.records import Source, Step, standing

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)


def cuts_at_shares(steps: Sequence[Step], keep_last: int, shares: Sequence[float] = SHARES) -> list[Cut]:
    """Return a cut after the first step with which each share of the tokens is reached, system prompts not counted.

    Args:
        steps: of the whole session; those that were taken back count for nothing.
        keep_last: tokens of the tail that stays.
        shares: above 0, at most 1, ascending.

    """
    history = standing(steps)
    history = history[len(system_prompts(history)) :]
    total = sum(characters_of(step) for step in history)
    waiting, reached, cuts = deque(shares), 0, []
    for at, step in enumerate(history):
        reached += characters_of(step)
        if waiting and reached >= waiting[0] * total:
            cuts.append(Cut(step.step_id, first_kept(history[: at + 1], keep_last)))
        while waiting and reached >= waiting[0] * total:
            waiting.popleft()
    return cuts


def cut_at_end(steps: Sequence[Step], keep_last: int) -> list[Cut]:
    """Return the cut after the last step; none where all of the session stays."""
    return [cut for cut in cuts_at_shares(steps, keep_last, (1.0,)) if cut.first_kept > first_of(steps)]


def first_of(steps: Sequence[Step]) -> int:
    """Return the id of the first step that is no system prompt; one past the last where there is none."""
    left = standing(steps)
    return next((step.step_id for step in left[len(system_prompts(left)) :]), len(steps) + 1)


def first_kept(history: Sequence[Step], keep_last: int) -> int:
    """Return the id of the first step of the tail: the last whole steps within `keep_last` tokens, at least one."""
    room = keep_last * CHARACTERS_PER_TOKEN
    first = history[-1].step_id
    for step in reversed(history):
        room -= characters_of(step)
        if room < 0:
            break
        first = step.step_id
    return first


def cuts_by_threshold(steps: Iterable[Step], threshold: int, keep_last: int, budget: int) -> Iterator[Cut]:
    """Yield the cuts of a session as its context grows; see Threshold. Raises InputError."""
    limit = Threshold(threshold, keep_last, budget)
    return (cut for step in steps if (cut := limit.add(step)) is not None)


class Threshold:
    """Cuts after each step with which the context has more than so many tokens, as the steps come.

    What stands for earlier steps counts with its whole budget, so that cuts are the same for every method.

    Args:
        tokens: the threshold.
        keep_last: tokens of the tail that stays.
        budget: tokens of a summary.

    """

    def __init__(self, tokens: int, keep_last: int, budget: int) -> None:
        self._tokens, self._keep_last, self._budget = tokens, keep_last, budget
        self._prompts: list[Step] = []
        self._kept: list[Step] = []
        # In characters, what stays and the summary.
        self._size, self._summary = 0, 0

    def add(self, step: Step) -> Cut | None:
        """Take the next step; return the cut after it, if there is one.

        Raises:
            InputError: so little is left for steps that nearly every one of them would be followed by a cut.

        """
        if step.taken_back:
            return None
        if not self._kept:
            if step.source is Source.SYSTEM:
                self._prompts.append(step)
                return None
            self._begin()
        self._kept.append(step)
        self._size += characters_of(step)
        if self._size + self._summary <= self._tokens * CHARACTERS_PER_TOKEN:
            return None
        cut = Cut(step.step_id, first_kept(self._kept, self._keep_last))
        gone = [each for each in self._kept if each.step_id < cut.first_kept]
        if not gone:
            return None
        self._kept = self._kept[len(gone) :]
        self._size -= sum(characters_of(each) for each in gone)
        self._summary = self._budget * CHARACTERS_PER_TOKEN
        return cut

    def resume(self, cut: Cut, steps: Sequence[Step]) -> None:
        """Go on after a cut that was made before; `steps` are those up to it. Raises InputError, as `add` does."""
        self._prompts = list(system_prompts(steps))
        self._begin()
        self._kept = [step for step in steps if step.step_id >= cut.first_kept]
        self._size += sum(characters_of(step) for step in self._kept)
        self._summary = self._budget * CHARACTERS_PER_TOKEN

    def _begin(self) -> None:
        self._size = sum(characters_of(prompt) for prompt in self._prompts)
        least = self._budget + self._keep_last + tokens_of(self._prompts)
        if self._tokens < 2 * least:
            problem = (
                f"summary, kept steps and system prompt need up to {least:,} tokens, more than half of {self._tokens:,}"
            )
            raise InputError("--threshold", problem, f"give at least {2 * least}")

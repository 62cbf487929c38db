"""What is left to ask: the units of a source without those that a journal answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from benchmark.record.journal import AnswerLine
from benchmark.run.asking import Unit, UnitSource
from ctxsift.asking import Answer


class Backlog:
    """The units of a source that are still to be asked; itself a UnitSource.

    What the journal answers is not asked again, and the source is told of it at once. So questions that hold earlier
    answers come up again as they were.

    Args:
        source: of all units.
        answers: of the journal, by key.
        key: returns the key of the answer to a unit.
        take_over: takes an answer of the journal; returns None for a unit that is to be asked again.
        together: hand out together only what begins alike, so that whoever is asked reads that once.

    """

    def __init__(
        self,
        source: UnitSource,
        answers: Mapping[str, AnswerLine],
        key: Callable[[Unit], str],
        take_over: Callable[[Unit, AnswerLine], Answer | None],
        *,
        together: bool = False,
    ) -> None:
        self._together = together
        self._source, self._answers, self._key, self._take_over = source, answers, key, take_over
        self._waiting: deque[Unit] = deque()
        # Of every unit that the source has given, in order; its key where there are answers.
        self._keys: dict[str, str] = {}

    @property
    def unit_ids(self) -> Sequence[str]:
        """Every unit that the source has given, in order."""
        return tuple(self._keys)

    @property
    def waiting(self) -> Sequence[Unit]:
        """What has come up and has not been taken."""
        return tuple(self._waiting)

    def fill(self, most: int) -> bool:
        """Let up to `most` units come up, and return whether any is waiting. Raises ValueError for one named twice."""
        while len(self._waiting) < most and (units := self._source.take(most - len(self._waiting))):
            for unit in units:
                if unit.unit_id in self._keys:
                    raise ValueError(f"the unit {unit.unit_id!r} is named twice")
                self._keys[unit.unit_id] = self._key(unit) if self._answers else ""
            for unit in units:
                line = self._line(unit)
                answer = None if line is None else self._take_over(unit, line)
                if answer is None:
                    self._waiting.append(unit)
                else:
                    self._source.told(unit, answer)
        return bool(self._waiting)

    def take(self, most: int) -> Sequence[Unit]:
        """Return the next units to ask; see UnitSource. With `together`, only such as begin like the first of them."""
        self.fill(most)
        first = self._beginning(self._waiting[0]) if self._waiting else None
        taken: list[Unit] = []
        while self._waiting and len(taken) < most and (not self._together or self._begins(first, taken)):
            taken.append(self._waiting.popleft())
        return tuple(taken)

    def _begins(self, first: str | None, taken: Sequence[Unit]) -> bool:
        """Say whether the next unit begins like the first; those that are no requests begin like no other."""
        return not taken or (first is not None and self._beginning(self._waiting[0]) == first)

    @staticmethod
    def _beginning(unit: Unit) -> str | None:
        return unit.prompt.request.raw_input if unit.prompt.request is not None else None

    def told(self, unit: Unit, answer: Answer | None) -> None:
        """Pass it on; see UnitSource."""
        self._source.told(unit, answer)

    def _line(self, unit: Unit) -> AnswerLine | None:
        """Return the line that answers a unit; one of a unit that asks the same will do."""
        key = self._keys[unit.unit_id]
        line = self._answers.get(key)
        if line is None or self._keys.get(line.case_id) != key:
            return None
        return replace(line, case_id=unit.unit_id)

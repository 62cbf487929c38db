"""Which records of a file lead to its last one, where each tells what it follows: others were left behind.

Whoever goes back to an earlier record and goes on from there begins a branch; the file keeps the one before.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from enum import IntFlag

from ctxsift.sessions.importers.base import Recent


class BranchPlace(IntFlag):
    """What a record may be in a tree.

    Attributes:
        OPENS: a branch may begin with it.
        TURNS: somebody's turn: whoever went on with it took back what had followed before, if that has turns, too.

    """

    NONE = 0
    OPENS = 1
    TURNS = 2


class Tree:
    """The records of a file. Names are known for the latest of them.

    Attributes:
        leaf: the record that leads to now; -1 before the first.

    """

    def __init__(self) -> None:
        self.leaf = -1
        self._places = Recent()
        self._parents = array("q")
        self._steps = array("Q")
        self._kinds = bytearray()

    def find(self, name: str) -> int | None:
        """Return the place of a record, if there is one of this name."""
        return self._places.get(name) if name else None

    def name(self, name: str, place: int) -> None:
        """Give a place a name, or another one: what follows a record that is no place of its own follows this."""
        if name and place >= 0:
            self._places.put(name, place)

    def add(self, name: str, parent: int, kind: BranchPlace, step_id: int = 0) -> int:
        """Add a record, and return its place.

        Args:
            name: its id; may be empty.
            parent: the place that it follows; -1 for none.
            kind: what it may be.
            step_id: of the step that it begins; 0 where it begins none.

        """
        self._parents.append(parent)
        self._steps.append(step_id)
        self._kinds.append(kind)
        place = len(self._parents) - 1
        self.name(name, place)
        return place

    def follow(self, place: int, parent: int) -> None:
        """Let a place follow another one that was there before it."""
        self._parents[place] = parent

    def left_behind(self) -> Iterator[tuple[int, ...]]:
        """Yield the steps of each branch that does not lead to the leaf and was taken back."""
        count = len(self._parents)
        # What follows each place on the way to the leaf; -1 elsewhere. What begins anew follows the last one, [-1].
        following = array("q", [-1]) * (count + 1)
        leads = bytearray(count)
        place = self.leaf
        while place >= 0:
            leads[place] = 1
            following[self._parents[place]] = place
            place = self._parents[place]
        branches: list[list[int]] = []
        turned: set[int] = set()
        # The number of the branch of each place, from 1 on.
        branch_of = array("Q", [0]) * count
        for place, parent in enumerate(self._parents):
            if leads[place]:
                continue
            if parent >= 0 and branch_of[parent]:
                branch_of[place] = branch_of[parent]
            elif (
                (parent < 0 or leads[parent])
                and self._kinds[place] & BranchPlace.OPENS
                and self._turns(following, parent)
            ):
                branches.append([])
                branch_of[place] = len(branches)
            if branch_of[place] and self._steps[place]:
                branches[branch_of[place] - 1].append(self._steps[place])
            if self._kinds[place] & BranchPlace.TURNS:
                turned.add(branch_of[place])
        return (tuple(steps) for number, steps in enumerate(branches, 1) if steps and number in turned)

    def _turns(self, following: array[int], place: int) -> bool:
        """Return True if somebody went on from a place with a turn; what opens a branch may stand before it."""
        after = following[place]
        while after >= 0 and self._kinds[after] == BranchPlace.OPENS:
            after = following[after]
        return after >= 0 and bool(self._kinds[after] & BranchPlace.TURNS)

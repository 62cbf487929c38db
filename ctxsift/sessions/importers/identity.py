"""Which records of a file say again what an earlier one said: the same id, and the same content."""

from __future__ import annotations

from collections.abc import Hashable

from ctxsift.sessions.records import JsonValue

# How many are remembered at least; twice as many at most, so that memory is bounded.
_REMEMBERED = 200_000


class Seen:
    """What was seen before, by hashes; what was seen long ago is forgotten."""

    def __init__(self) -> None:
        self._new: set[int] = set()
        self._old: set[int] = set()

    def again(self, *identity: Hashable) -> bool:
        """Return True if this was seen before; from now on it was."""
        key = hash(identity)
        if key in self._new or key in self._old:
            return True
        if len(self._new) >= _REMEMBERED:
            self._old, self._new = self._new, set()
        self._new.add(key)
        return False


def content_hash(value: JsonValue) -> int:
    """Return a hash of a value of JSON: equal values have equal ones, whatever the order of their keys."""
    if isinstance(value, list):
        return hash(tuple(map(content_hash, value)))
    if isinstance(value, dict):
        return hash(frozenset((key, content_hash(each)) for key, each in value.items()))
    return hash((type(value), value))

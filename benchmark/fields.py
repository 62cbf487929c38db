"""Typed reading of foreign mappings (matrix rows, corpus files), with errors that name the place and the mend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from ctxsift.errors import InputError, did_you_mean

_E = TypeVar("_E", bound=StrEnum)
_NAMES = {str: "a string", int: "a whole number", bool: "true or false", list: "a list", dict: "a mapping"}


class Fields:
    """One mapping at a known place; every read checks and every key must be read or known.

    Args:
        value: what was parsed there.
        where: file and place, e.g. `matrix.json: /scenarios/3`.

    """

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, Mapping):
            raise InputError(where, f"{_kind(value)} stands where a mapping is expected")
        self.where = where
        self._value: Mapping[Any, Any] = value

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Raise InputError for the first key that is not in `known`."""
        known = list(known)
        for key in self._value:
            if key not in known:
                raise InputError(self.place(key), "unknown field", did_you_mean(str(key), known))

    def place(self, name: object) -> str:
        """Return where `name` stands, as file and JSON pointer."""
        return f"{self.where}/{name}" if ": /" in self.where else f"{self.where}: /{name}"

    def has(self, name: str) -> bool:
        """Say whether the field is given."""
        return name in self._value

    def as_dict(self) -> dict[Any, Any]:
        """Return the whole mapping as parsed."""
        return dict(self._value)

    def raw(self, name: str) -> Any:
        """Return the field as parsed. Raises InputError when it is missing."""
        if name not in self._value:
            raise InputError(self.place(name), "required field is missing", f"add {name!r}")
        return self._value[name]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string; `default` makes the field optional."""
        if default is not None and name not in self._value:
            return default
        value = self._typed(name, str)
        if default is None and not value.strip():
            raise InputError(self.place(name), "is empty", "write something there")
        return str(value)

    def whole(self, name: str, default: int | None = None, *, least: int | None = None) -> int | None:
        """Return a whole number, or `default` when the field is absent."""
        if name not in self._value:
            return default
        value = self._typed(name, int)
        if least is not None and value < least:
            raise InputError(self.place(name), f"{value} is too small", f"give {least} or more")
        return int(value)

    def number(self, name: str, *, least: float = -math.inf, most: float = math.inf) -> float:
        """Return a finite number between `least` and `most`."""
        value = self.raw(name)
        # Whole numbers have no end in Python; floats do.
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
            raise InputError(self.place(name), f"{_kind(value)} stands where a number is expected")
        if not least <= value <= min(most, 1e300):
            raise InputError(self.place(name), f"{str(value)[:40]} is out of range", f"give {least:g} to {most:g}")
        return float(value)

    def inner(self, name: str) -> Fields:
        """Return the mapping in the field. Raises InputError when it is missing or none."""
        return Fields(self.raw(name), self.place(name))

    def rows(self, name: str) -> list[Fields]:
        """Return the mappings in the field's list."""
        return [Fields(row, f"{self.place(name)}/{index}") for index, row in enumerate(self._typed(name, list))]

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false, or `default` when the field is absent."""
        return bool(self._typed(name, bool)) if name in self._value else default

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings; empty when the field is absent."""
        if name not in self._value:
            return ()
        items = self._typed(name, list)
        for index, item in enumerate(items):
            if not isinstance(item, str) or not item:
                raise InputError(
                    f"{self.place(name)}/{index}", f"{_kind(item)} stands where a string is expected", "quote it"
                )
        return tuple(items)

    def choice(self, name: str, known: type[_E]) -> _E:
        """Return the member of `known` that the field names."""
        value = self._typed(name, str)
        try:
            return known(value)
        except ValueError:
            raise InputError(
                self.place(name), f"{value!r} is unknown", did_you_mean(value, [m.value for m in known])
            ) from None

    def _typed(self, name: str, kind: type) -> Any:
        value = self.raw(name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InputError(self.place(name), f"{_kind(value)} stands where {_NAMES[kind]} is expected")
        return value


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    for kind in (bool, int, str, list, dict):
        if isinstance(value, kind):
            return _NAMES[kind]
    return type(value).__name__

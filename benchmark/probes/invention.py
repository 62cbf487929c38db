"""Names and values of a summary that no step says: identifiers, paths, versions, long numbers, those with units."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from benchmark.probes.generating import hard_names
from benchmark.statements.text import tokens_of
from ctxsift.sessions.artifacts.paths import home_of, resolve, shown
from ctxsift.sessions.compaction.transcript import text_of_step
from ctxsift.sessions.records import Step

_CHUNK = re.compile(r"\S+")
# Words that a slash joins, which are no path: `print/JSON`; the ends of a row: `WP14-WP20`.
_JOINED = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)+|\w*\d[-–]\w*\d")
_WORDS, _PATHS = re.compile(r"\w+"), re.compile(r"[\w./~-]+")
# What follows where a text was cut, in the middle of a name perhaps.
_CUT = re.compile(r"\s*(?:\[?(?:\.{3}|…)|\[[\d,]+ characters |\Z)")
# Of each unit: what is measured, and how much of it one is.
_UNITS = {
    unit: (measured, one)
    for measured, one, units in (
        ("time", 1e-9, ("ns",)),
        ("time", 1e-6, ("us", "µs")),
        ("time", 1e-3, ("ms", "millisecond", "milliseconds")),
        ("time", 1, ("s", "sec", "second", "seconds")),
        ("time", 60, ("min", "minute", "minutes")),
        ("time", 3600, ("h", "hour", "hours")),
        ("size", 1, ("byte", "bytes")),
        ("size", 1e3, ("kb", "kib")),
        ("size", 1e6, ("mb", "mib")),
        ("size", 1e9, ("gb", "gib")),
        ("share", 1, ("%", "percent", "per cent")),
    )
    for unit in units
}
_ANY_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_VALUE = re.compile(rf"(?<![\w.])(\d[\d,]*(?:\.\d+)?)[ \t]*-?({_ANY_UNIT})(?!\w)", re.IGNORECASE)
# A number that is not met by chance: 6379, 3.11; one with a unit is a value. A number of characters is what methods
# themselves say of what they leave out.
_NUMBER = re.compile(r"(?<![\w.,-])(?:\d{3,}|\d{1,3}(?:,\d{3})+|\d+\.\d+)(?!\w|[.,]\d| characters)")

# What is measured, and how much it is.
_Value = tuple[str, float]


@dataclass(frozen=True, slots=True)
class Invention:
    """What a summary says that no step does.

    Attributes:
        names: in their order, each once; values come last.
        among: names and values that the summary has.

    """

    names: tuple[str, ...]
    among: int


class History:
    """All that a session says, step by step.

    A name is said in any spelling, and where a text was cut, by its beginning; a value is said in any unit.

    Args:
        steps: of the session.
        folder: that its paths are seen from.

    """

    def __init__(self, steps: Iterable[Step], folder: str) -> None:
        texts = [folder]
        self._folder, self._steps, self._ends = folder, list[int](), list[int]()
        end = len(folder)
        for step in steps:
            texts.append(text_of_step(step))
            end += 1 + len(texts[-1])
            self._steps.append(step.step_id)
            self._ends.append(end)
        self._text = "\n".join(texts)
        self._folded = self._text.casefold()
        # The same few chunks and names stand in summary after summary.
        self._names_in, self._first = cache(_names_in), cache(self._first_place)
        self._values: dict[_Value, int] = {}
        for _, value, place in _values_in(self._text):
            self._values.setdefault(value, place)

    def invention(self, summary: str, after_step: int | None = None) -> Invention:
        """Return the names and values of a summary that no step up to `after_step` says; of all steps when None."""
        end = self._end(after_step)
        said: dict[str, bool] = {}
        for chunk in _CHUNK.finditer(summary):
            for name in self._names_in(chunk[0]):
                if not said.get(name):
                    is_cut = chunk.start() == 0 or _CUT.match(summary, chunk.end()) is not None
                    said[name] = self._first(name, is_cut=is_cut) < end
        for number in _NUMBER.finditer(summary):
            if not _VALUE.match(summary, number.start()):
                is_said = min(self._first(each, is_cut=False) for each in {number[0], number[0].replace(",", "")}) < end
                said.setdefault(number[0], is_said)
        values = {value: text for text, value, _ in _values_in(summary)}
        invented = [name for name, is_said in said.items() if not is_said]
        invented += [text for value, text in values.items() if self._values.get(value, end) >= end]
        return Invention(tuple(invented), len(said) + len(values))

    def _end(self, after_step: int | None) -> int:
        count = len(self._steps) if after_step is None else bisect_right(self._steps, after_step)
        return self._ends[count - 1] if count else len(self._folder)

    def _first_place(self, name: str, *, is_cut: bool) -> int:
        """Return where a name is said first; past the end where it never is."""
        found = [self._text.find(name)] if is_cut else []
        found += [_place(self._text, each) for each in _spellings(name, self._folder)]
        found += [self._last_of(parts) for parts in _parted(name)]
        return min((at for at in found if at >= 0), default=len(self._text))

    def _last_of(self, parts: Sequence[str]) -> int:
        """Return from where on all parts of a name have been said; -1 where one never is."""
        places = [_place(self._folded if each.isalpha() else self._text, _folded(each)) for each in parts]
        return max(places) if min(places) >= 0 else -1


def _names_in(chunk: str) -> tuple[str, ...]:
    return tuple(hard_names(tokens_of(chunk)))


def _spellings(name: str, folder: str) -> Iterator[str]:
    """Yield a name; of a path, also what it is from a folder, and what of it stands behind a home folder or `~`."""
    yield name
    if name.startswith(("/", "~/", "./")):
        yield shown(resolve(name, folder), folder)
        if home := "~" if name.startswith("~") else home_of(name):
            yield name.removeprefix(home)


def _parted(name: str) -> Iterator[Sequence[str]]:
    """Yield the parts of a name that say it where each is said."""
    if name.startswith("/"):
        # A folder, and what lies below it: `cp -r src /tmp/try` is all that says `/tmp/try/src`.
        yield from ((name[:at], name[at + 1 :]) for at in range(2, len(name) - 1) if name[at] == "/")
    parts = (_WORDS if "(" in name or _JOINED.fullmatch(name) else _PATHS).findall(name)
    if len(parts) > 1 or ("(" in name and parts):
        yield parts


def _folded(part: str) -> str:
    return part.casefold() if part.isalpha() else part


def _place(text: str, name: str) -> int:
    """Return where a name first stands as a whole; -1 where it does not."""
    place = text.find(name)
    while place >= 0 and (_goes_on(text, place) or _goes_on(text, place + len(name))):
        place = text.find(name, place + 1)
    return place


def _goes_on(text: str, place: int) -> bool:
    return 0 < place < len(text) and _is_of_word(text[place - 1]) and _is_of_word(text[place])


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _values_in(text: str) -> Iterator[tuple[str, _Value, int]]:
    """Yield each number with its unit: as it stands there, what it is, and where."""
    for found in _VALUE.finditer(text):
        measured, one = _UNITS[found[2].lower()]
        yield found[0], (measured, round(float(found[1].replace(",", "")) * one, 12)), found.start()

"""Lines of an output selected by rule, without a model, in their order and wording; what is left out is counted.

A long output says the same over and over with other numbers and names (`test_sum[17] PASSED`). What matters is what
else it says. So lines are counted by their *shape*: their words without numbers, where words that few lines have count
as one. The rarer the shape of a line, the more the line weighs: no list of words of failure has to know
`CrashLoopBackOff` to find it among a hundred pods that are `Running`. Words of failure and words of the question add
to that.

A line brings along what it hangs on: the nearest line above that is indented less, and so on, then the first line of
its paragraph, or the title of its section. Lines that explain a failure follow it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from ctxsift.relevance import shared_words

# About what an agent can read without thinking of its cost.
MOST_CHARS = 4000
_FIRST, _LAST = 1, 5
# Behind a failing line stands what it is about.
_FOLLOWING = 3
_PRECEDING = 3
_MOST_HEADINGS = 4
_LINE_HEAD, _LINE_TAIL = 300, 200
_LONGEST_MARK = 30
# A bound that keeps the time linear in the length of the output.
_MOST_LINE_CHARS = 400
# Of the logarithm of how rare a shape is, beside that of words of the question.
_RARITY_WEIGHT = 0.5
_FAILURE_WEIGHT = 2.0
# A shape that one line in twenty has is worth the room.
_LEAST_WEIGHT = 1.5
# Where each line has to be worth its length: lines below so many characters count as that long, and so much of the room
# is for lines of weight before what they hang on.
_SHORT, _DENSE_SHARE = 20, 0.9
# Of the lines: words that fewer of them have are names and values.
_COMMON_SHARE, _COMMON_LINES = 0.02, 3
_COLOUR = re.compile(r"\x1b\[[0-9;:]{0,40}[A-Za-z]")
# Counts, times and hashes; 0 is told from others.
_NUMBER = re.compile(r"0x[0-9a-f]+|\b[a-f]{0,8}\d[0-9a-f]{5,}\b|[1-9]\d*(?:[.,:]\d+)*", re.IGNORECASE)
# Whole words, not a part of a name: error-boundary.js, FAIL_OPEN_4, a/b/failed.txt.
_FAILURE = re.compile(
    r"(?<![\w./\\-])(?:error|fail|fatal|exception|panic|cannot|can't|could not|couldn't|unable|denied|refused|rejected"
    r"|not found|no such|missing|invalid|undefined|unexpected|unhealthy|kill|abort|time[d -]?out|crash|conflict"
    r"|mismatch|violat|segfault|segmentation|core dumped|exceeded|deadlock|unknown|not ok|fehl(?:er|geschl)|erreur"
    r"|échec|échou|fall[oó]|ошибк)[^\W\d_]*(?![-./\\]?\w)|[a-z](?:Error|Exception)\b(?![-./\\]\w)|[✗✘✖❌×]|错误|失败|エラー|失敗",
    re.IGNORECASE,
)
_PASSED = re.compile(
    r"\A\W{0,8}(?:ok|pass(?:ed)?)\b|\A\s*[✓✔]"
    r"|(?:(?<!\d\s)\b(?:ok|pass(?:ed)?|success(?:ful(?:ly)?)?)\b|[✓✔])[\W\d]{0,100}(?:m?s(?:ec)?)?\W{0,8}\Z",
    re.IGNORECASE,
)
_TITLE = re.compile(r"[=\-_#*>+~]{2,}\W*\w|# \w|@@|diff |(?=.{0,200}[=\-_*#]{3}\Z)\W{0,80}\w")


@dataclass(frozen=True)
class Extract:
    """Lines of an output, gaps named.

    Attributes:
        text: without the end of its last line.
        shown: how many lines of the output stand in it; one that is shown once for several counts once.

    """

    text: str
    shown: int


@dataclass(frozen=True, slots=True)
class _RepeatedLine:
    """A line, as often as it stands there in a row.

    Attributes:
        text: as it came.
        seen: as a terminal shows it, up to 400 characters; empty where that is blank.
        normal: that, with every number the same.

    """

    text: str
    count: int
    seen: str
    normal: str

    @property
    def says_something(self) -> bool:
        """Whether there is more than blanks and punctuation."""
        return any(char.isalnum() for char in self.seen)


def extract(output: str, question: str, *, most_chars: int = MOST_CHARS) -> Extract:
    """Return the lines of an output that matter most by rule, in their order, gaps named.

    A line that is repeated is shown once and counted; of a very long one, both ends are shown. No gap is named that is
    shorter than its name.

    Args:
        output: what a command printed.
        question: what is wanted from it; lines that share words with it are nearer.
        most_chars: that the lines may take, marks of gaps not counted; the first and the last lines are always there.

    """
    return Weighed(output, question).within(most_chars)


class Weighed:
    """The lines of an output, weighed for a question; any number of extracts may be made of them. See `extract`."""

    def __init__(self, output: str, question: str) -> None:
        self._lines = [_line(text, len(list(same))) for text, same in groupby(output.rstrip("\n").split("\n"))]
        self._weights = _Weights(self._lines, question)

    def within(self, most_chars: int) -> Extract:
        """Return the lines that matter most and fit into so many characters, marks of gaps not counted."""
        return self._extract(_Selection(self._lines, self._weights, most_chars).places())

    def densely_within(self, most_chars: int) -> Extract:
        """Return as many lines of weight as fit, and what they hang on where there is room for that; marks are brief.

        For a reader who has little room, and asks nobody for what is left out.
        """
        return self._extract(_Selection(self._lines, self._weights, most_chars).dense_places(), brief=True)

    def _extract(self, selected: set[int], *, brief: bool = False) -> Extract:
        selected |= _not_worth_a_mark(self._lines, selected)
        return Extract("\n".join(_parts(self._lines, selected, self._weights, brief=brief)), len(selected))


def shows_failure(line: str) -> bool:
    """Say whether a line says that something failed, and not that nothing did, or that a test of failures passed."""
    if _FAILURE.search(line) is None or _PASSED.search(line) is not None:
        return False
    # Takes long to import, and most commands succeed.
    from ctxsift.verdict_words import DENIED

    return _FAILURE.search(DENIED.sub(" ", line)) is not None


def _line(text: str, count: int) -> _RepeatedLine:
    seen = text
    if "\r" in seen:
        seen = seen.rstrip("\r").rpartition("\r")[2]
    if "\x1b" in seen:
        seen = _COLOUR.sub("", seen[: 4 * _MOST_LINE_CHARS])
    seen = seen[:_MOST_LINE_CHARS].rstrip()
    return _RepeatedLine(text, count, seen, _NUMBER.sub("7", seen))


class _Weights:
    """What each line weighs by itself, by its place.

    Attributes:
        all: of the lines.
        failing: places of lines that show a failure.

    """

    def __init__(self, lines: Sequence[_RepeatedLine], question: str) -> None:
        normal = Counter(line.normal for line in lines if line.seen)
        self._total = normal.total()
        shapes = _shapes(normal)
        counts: Counter[tuple[str, ...]] = Counter()
        for text, count in normal.items():
            counts[shapes[text]] += count
        rarity = {text: self._rarity(counts[shapes[text]]) for text in normal}
        failing = {text for text in normal if shows_failure(text)}
        self.failing = frozenset(
            place for place, line in enumerate(lines) if line.normal in failing or _hidden_failure(line.text)
        )
        nearness = self._nearness(lines, question)
        self.all = [
            (_RARITY_WEIGHT * rarity[line.normal] if line.says_something else 0.0)
            + _FAILURE_WEIGHT * (place in self.failing)
            + nearness.get(place, 0.0)
            for place, line in enumerate(lines)
        ]

    def _rarity(self, count: int) -> float:
        return math.log((1 + self._total) / (1 + count)) if count else 0.0

    def _nearness(self, lines: Sequence[_RepeatedLine], question: str) -> dict[int, float]:
        found = enumerate(shared_words((line.seen for line in lines), question))
        shared = {place: words for place, words in found if words}
        counts = Counter(word for words in shared.values() for word in words)
        return {place: sum(self._rarity(counts[word]) for word in sorted(words)) for place, words in shared.items()}


def _shapes(normal: Counter[str]) -> dict[str, tuple[str, ...]]:
    """Return the shape of each text: its common words; others, however many stand side by side, as `*`."""
    parts = {text: text.split() for text in normal}
    counts: Counter[str] = Counter()
    for text, found in parts.items():
        for word in set(found):
            counts[word] += normal[text]
    common = max(_COMMON_LINES, normal.total() * _COMMON_SHARE)
    shapes = {}
    for text, found in parts.items():
        shape = [text[:1].strip() and "|"]
        for word in found:
            if counts[word] >= common:
                shape.append(word)
            elif shape[-1] != "*":
                shape.append("*")
        shapes[text] = tuple(shape)
    return shapes


def _headings(lines: Sequence[_RepeatedLine]) -> list[int | None]:
    """Return the place of the line above that each line hangs on, if there is one.

    That is the nearest one with less indentation; for others, the title or the first line of their paragraph.
    """
    found: list[int | None] = []
    # Places and indentations of lines, each deeper than the one before.
    open_: list[tuple[int, int]] = []
    title = first = -1
    for place, line in enumerate(lines):
        if not line.says_something:
            first = first if line.seen else -1
            found.append(None)
            continue
        depth = len(line.seen) - len(line.seen.lstrip())
        while open_ and open_[-1][1] >= depth:
            open_.pop()
        above = open_[-1][0] if open_ else max(title, first)
        found.append(above if above >= 0 else None)
        open_.append((place, depth))
        first = place if first < 0 else first
        if not depth and _TITLE.match(line.seen):
            title = place
    return found


class _Selection:
    """Lines that are selected until they have no more room."""

    def __init__(self, lines: Sequence[_RepeatedLine], weights: _Weights, most_chars: int) -> None:
        self._lines, self._weights = lines, weights
        self._filled = [place for place, line in enumerate(lines) if line.seen]
        self._selected = {*self._filled[:_FIRST], *self._filled[-_LAST:]}
        self._room = most_chars - sum(map(self._cost, self._selected))
        self._said = {lines[place].text for place in self._selected}
        self._headings = _headings(lines)
        self._heavy = [place for place in self._filled if weights.all[place] >= _LEAST_WEIGHT]

    def places(self) -> set[int]:
        """Return the places of all that are selected."""
        weights = self._weights.all
        for place in sorted(self._heavy, key=lambda place: (-weights[place], place)):
            if self._room <= 0:
                break
            if self._lines[place].text in self._said:
                continue
            if not self._take([place, *self._above(place)]):
                self._take([place])
            if place in self._selected and place in self._weights.failing:
                self._take_each(self._below(place))
        for place in sorted(self._selected & self._weights.failing):
            self._take_each(self._before(place))
        return self._selected

    def dense_places(self) -> set[int]:
        """Return the places of all that are selected where each line has to be worth its length."""
        worth = {place: self._weights.all[place] / math.sqrt(max(_SHORT, self._cost(place))) for place in self._heavy}
        order = sorted(worth, key=lambda place: (-worth[place], place))
        for_context = self._room - int(_DENSE_SHARE * self._room)
        self._room -= for_context
        self._take_each(order)
        self._room += for_context
        for place in [place for place in order if place in self._selected]:
            self._take(self._above(place))
            if place in self._weights.failing:
                self._take_each(self._below(place))
        self._take_each(order)
        return self._selected

    def _take_each(self, places: Iterable[int]) -> None:
        for place in places:
            if self._lines[place].text not in self._said:
                self._take([place])

    def _take(self, places: Sequence[int]) -> bool:
        new = [place for place in places if place not in self._selected]
        cost = sum(map(self._cost, new))
        if cost > self._room:
            return False
        self._room -= cost
        self._selected.update(new)
        self._said.update(self._lines[place].text for place in new)
        return True

    def _above(self, place: int) -> list[int]:
        found: list[int] = []
        above = self._headings[place]
        while above is not None and len(found) < _MOST_HEADINGS:
            found.append(above)
            above = self._headings[above]
        return found

    def _before(self, place: int) -> Iterator[int]:
        """Yield lines between a failing line and what it hangs on, the nearest first."""
        above = self._headings[place]
        for before in range(place - 1, max(place - 1 - _PRECEDING, -1 if above is None else above), -1):
            if self._lines[before].seen and _PASSED.search(self._lines[before].seen) is None:
                yield before

    def _below(self, place: int) -> Iterator[int]:
        for below in range(place + 1, min(place + 1 + _FOLLOWING, len(self._lines))):
            if not self._lines[below].seen:
                return
            # That another one passed does not explain a failure.
            if _PASSED.search(self._lines[below].seen) is None:
                yield below

    def _cost(self, place: int) -> int:
        return len(_shown(self._lines[place].text)) + 1


def _not_worth_a_mark(lines: Sequence[_RepeatedLine], selected: set[int]) -> set[int]:
    """Return lines, often blank, that stand between selected ones and are no longer than the mark of their gap."""
    found: set[int] = set()
    for left, right in pairwise((-1, *sorted(selected))):
        # Each line is one character at least.
        gap = lines[left + 1 : right] if right - left <= _LONGEST_MARK else []
        cost = sum(len(_shown(line.text)) + 1 + len(_repeated(line.count)) * (line.count > 1) for line in gap)
        if gap and cost <= len(_gap(sum(line.count for line in gap), 0)) + 1:
            found.update(range(left + 1, right))
    return found


def _repeated(count: int) -> str:
    return f"... the same line {count - 1:,} more time{'s' if count > 2 else ''} ..."


def _parts(lines: Sequence[_RepeatedLine], selected: set[int], weights: _Weights, *, brief: bool) -> Iterator[str]:
    total, shown = Counter[str](), Counter(lines[place].text for place in selected)
    for line in lines:
        total[line.text] += line.count
    gap = failing = 0
    for place, line in enumerate(lines):
        if place not in selected:
            gap += line.count
            failing += line.count * (place in weights.failing)
            continue
        if gap:
            yield _gap(gap, 0 if brief else failing)
        gap = failing = 0
        yield _shown(line.text)
        if line.count > 1:
            yield _repeated(line.count)
        elif not brief and line.seen and total[line.text] > 1 == shown[line.text]:
            yield f"... this line occurs {total[line.text]:,} times ..."


def _gap(count: int, failing: int) -> str:
    of_failure = f", {failing:,} of them with a failure" if failing else ""
    return f"... {count:,} line{'' if count == 1 else 's'}{of_failure} ..."


def _shown(text: str) -> str:
    """Return a line; of a very long one, both ends and what is around a failure between them."""
    if len(text) <= _LINE_HEAD + _LINE_TAIL:
        return text
    parts = [(0, _LINE_HEAD), (len(text) - _LINE_TAIL, len(text))]
    if found := _hidden_failure(text):
        middle = max(_LINE_HEAD, found.start() - _LINE_TAIL // 2)
        parts.insert(1, (middle, min(middle + _LINE_TAIL, len(text) - _LINE_TAIL)))
    shown = text[: parts[0][1]]
    for (_, end), (start, stop) in pairwise(parts):
        hidden = start - end
        shown += f" ... {hidden:,} characters ... {text[start:stop]}" if hidden else text[start:stop]
    return shown


def _hidden_failure(text: str) -> re.Match[str] | None:
    """Return the first word of failure between the ends of a line that are shown."""
    if len(text) <= _LINE_HEAD + _LINE_TAIL:
        return None
    return _FAILURE.search(text, _LINE_HEAD, len(text) - _LINE_TAIL)

"""Lines of an output picked by rule, without a model: the first and the last, failing ones, those near the question.

Nothing is reworded. Lines stand in their order, as they are; what is left out between them is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise

from ctxsift.relevance import nearest_lines

# About what an agent can read without thinking of its cost.
MOST_CHARS = 4000
_FIRST, _LAST, _FEWEST = 1, 3, 20
# Behind a failing line stands what it is about.
_FOLLOWING = 3
_LINE_HEAD, _LINE_TAIL = 300, 200


@dataclass(frozen=True)
class _Run:
    """A line, and how often it stands there in a row."""

    text: str
    count: int


@dataclass(frozen=True)
class Extract:
    """Lines of an output, gaps named.

    Attributes:
        text: without the end of its last line.
        shown: how many lines of the output stand in it; one that is shown once for several counts once.

    """

    text: str
    shown: int


def extract(output: str, question: str, *, most_chars: int = MOST_CHARS) -> Extract:
    """Return the lines of an output that matter most by rule, in their order, gaps named.

    A line that is repeated in a row is shown once and counted; of a very long one, both ends are shown. No gap is named
    that is shorter than its name.

    Args:
        output: what a command printed.
        question: what is wanted from it; lines that share words with it are nearer.
        most_chars: that the lines may take, marks of gaps not counted; the first and the last lines are always there.

    """
    runs = [_Run(text, len(list(same))) for text, same in groupby(output.rstrip("\n").split("\n"))]
    picked = _picked(runs, question, most_chars)
    picked |= _not_worth_a_mark(runs, picked)
    parts: list[str] = []
    gap = 0
    for place, run in enumerate(runs):
        if place not in picked:
            gap += run.count
            continue
        parts += [*([_gap(gap)] if gap else []), _shown(run.text)]
        parts += [_repeated(run.count)] * (run.count > 1)
        gap = 0
    return Extract("\n".join(parts), len(picked))


def _picked(runs: list[_Run], question: str, most_chars: int) -> set[int]:
    filled = [place for place, run in enumerate(runs) if run.text.strip()]
    picked = {*filled[:_FIRST], *filled[-_LAST:]}
    left = most_chars - sum(len(_shown(runs[place].text)) + 1 for place in picked)
    said = {runs[place].text for place in picked}

    def pick(place: int) -> None:
        nonlocal left
        text = runs[place].text
        cost = len(_shown(text)) + 1
        if place not in picked and text not in said and cost <= left:
            picked.add(place)
            said.add(text)
            left -= cost

    for line in nearest_lines([run.text for run in runs], question):
        if line.weight <= 0:
            break
        pick(line.place)
        if line.shows_failure and line.place in picked:
            for place in range(line.place + 1, min(line.place + 1 + _FOLLOWING, len(runs))):
                pick(place)
    for place in reversed(filled):
        if len(picked) >= _FEWEST:
            break
        pick(place)
    return picked


def _not_worth_a_mark(runs: list[_Run], picked: set[int]) -> set[int]:
    """Return lines, often blank, that stand between picked ones and are no longer than the mark of their gap."""
    found: set[int] = set()
    for left, right in pairwise((-1, *sorted(picked))):
        gap = runs[left + 1 : right]
        cost = sum(len(_shown(run.text)) + 1 + len(_repeated(run.count)) * (run.count > 1) for run in gap)
        if gap and cost <= len(_gap(sum(run.count for run in gap))) + 1:
            found.update(range(left + 1, right))
    return found


def _repeated(count: int) -> str:
    return f"... the same line {count - 1:,} more time{'s' if count > 2 else ''} ..."


def _gap(count: int) -> str:
    return f"... {count:,} line{'' if count == 1 else 's'} ..."


def _shown(text: str) -> str:
    hidden = len(text) - _LINE_HEAD - _LINE_TAIL
    return text if hidden <= 0 else f"{text[:_LINE_HEAD]} ... {hidden:,} characters ... {text[-_LINE_TAIL:]}"

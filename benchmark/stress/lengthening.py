"""The same facts in longer outputs: what a question needs of an output, and more and more of what it does not need.

Lines of another output could be part of the answer. So what is added are lines of the same output, in their places and,
where they do not suffice, again; the right answer to the whole output is right with more of them, too.
"""

from __future__ import annotations

import bisect
import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.cases import Case
from benchmark.record.read import StoredResult
from benchmark.scoring import Embedder
from benchmark.statements.vocabulary import is_common
from benchmark.statistics import Clusters, bootstrap_means, interval_of, mean
from benchmark.stress.changing import (
    Changed,
    answers_of,
    by_turns,
    changed,
    id_of,
    keeps_gold,
    kept_values,
    score_values,
    second_values,
)
from benchmark.stress.figures import Estimate, Values, estimate, estimate_text
from ctxsift.preselection import tokens_in

TITLES = ("scenario", "length", "tokens", "cases", "score", "score kept", "anchors kept", "seconds")
KEPT = 90.0
_PERCENT = 100.0
# Fewer lines than these would be the same few again and again.
_LEAST_LINES = 8
# `2.5.0` and `src/a.py:7` as a whole, and each word of them.
_NAMES = (re.compile(r"\w+"), re.compile(r"\w{1,80}(?:[.:/-]\w{1,80})+"))
_BLOCK, _MOST_PLACES = 6, 8
# Lines beside a line with a fact, and at the end, that belong to it.
_BESIDE, _AT_END = 1, 2
_SHORTEST_NAME, _SHORTEST_NUMBER = 4, 3


@dataclass(frozen=True)
class Lengthening:
    """All cases of an experiment.

    Attributes:
        cases: each base at each length; `kind` is the length in words.
        times: lengths, as multiples of the first.
        skipped: outputs of which everything is needed, or of which gold counts something, or whose gold would not keep
            its 100 at each length.
        too_long: outputs of which too much is needed.

    """

    cases: tuple[Changed, ...]
    times: tuple[int, ...]
    skipped: int
    too_long: int


@dataclass(frozen=True)
class Stretched:
    """A scenario at one length.

    Attributes:
        times: as a multiple of the shortest.
        tokens: estimated, per input.
        score: mean case score, 0 to 100.
        share: percent of the mean score at the first length; None there, and where that is 0.
        anchors_kept: percent of the anchors that its answers keep.
        seconds: generation time per case.

    """

    scenario: str
    times: int
    cases: int
    tokens: Estimate | None
    score: Estimate | None
    share: Estimate | None
    anchors_kept: Estimate | None
    seconds: Estimate | None


def lengthening(
    cases: Sequence[Case], embedder: Embedder, times: Sequence[int], *, count: int, most_tokens: int, seed: int
) -> Lengthening:
    """Return cases at several lengths; each has the lines that a shorter one of it has.

    Args:
        cases: to be made shorter and longer.
        embedder: of the scorer.
        times: lengths, as multiples of what is needed; 1 is added.
        count: bases.
        most_tokens: estimated tokens of the shortest input, which has what is needed alone.
        seed: draws bases and lines.

    """
    lengths = tuple(sorted({1, *times}))
    found: list[Changed] = []
    made = skipped = too_long = 0
    for case in by_turns(cases, seed):
        if made == count:
            break
        parts = _Parts.of(case)
        if tokens_in(parts.text(())) > most_tokens:
            too_long += 1
            continue
        order = parts.blocks(random.Random(f"{seed} {case.case_id}"))
        longer = [changed(case, kind_of(each), parts.longer(each, order)) for each in lengths] if parts.has_rest else []
        if longer and not case.derived_anchors and all(keeps_gold(each.case, embedder) for each in longer):
            found += longer
            made += 1
        else:
            skipped += 1
    return Lengthening(tuple(found), lengths, skipped, too_long)


def kind_of(times: int) -> str:
    """Return what cases of a length are called in files."""
    return f"{times} times"


@dataclass(frozen=True)
class _Parts:
    """An output in parts.

    Attributes:
        lines: all of them.
        rest: numbers of those that a question does not need.

    """

    lines: tuple[str, ...]
    rest: tuple[int, ...]

    @staticmethod
    def of(case: Case) -> _Parts:
        """Return the parts for the question of a case: lines with a word of question, gold or decoys are needed."""
        lines = case.raw_input.split("\n")
        told = "\n".join([case.instruction, *case.references, *case.anchors, *case.rules.forbidden])
        where: dict[str, list[int]] = {fact: [] for fact in _facts(told)}
        for number, line in enumerate(lines):
            for fact in _facts(line) & where.keys():
                where[fact].append(number)
        # What stands everywhere, as the name of a project, tells little.
        places = [
            n for found in where.values() for n in (found if len(found) <= _MOST_PLACES else found[:: len(found) - 1])
        ]
        needed = {number + step for number in places for step in range(-_BESIDE, _BESIDE + 1)}
        needed |= {0, *range(len(lines) - _AT_END, len(lines))}
        return _Parts(tuple(lines), tuple(number for number in range(len(lines)) if number not in needed))

    @property
    def has_rest(self) -> bool:
        """Whether it can be made longer."""
        return sum(bool(self.lines[number].strip()) for number in self.rest) >= _LEAST_LINES

    def blocks(self, rng: random.Random) -> list[int]:
        """Return the numbers of the other lines in drawn order, a few that follow each other together."""
        blocks: list[list[int]] = []
        for number in self.rest:
            if not blocks or blocks[-1][-1] + 1 != number or len(blocks[-1]) == _BLOCK:
                blocks.append([])
            blocks[-1].append(number)
        rng.shuffle(blocks)
        return [number for block in blocks for number in block]

    def longer(self, times: int, order: Sequence[int]) -> str:
        """Return the needed lines with so many others, taken in this order, that they are so many times as long."""
        budget = (times - 1) * tokens_in(self.text(()))
        costs = {number: tokens_in(self.lines[number] + "\n") for number in order}
        added: list[tuple[int, int]] = []
        while budget > 0:
            number = order[len(added) % len(order)]
            added.append((len(added) // len(order), number))
            budget -= max(1, costs[number])
        return self.text(added)

    def text(self, added: Sequence[tuple[int, int]]) -> str:
        """Return the needed lines with others; `added` has for each its turn, from 0, and its number."""
        missing = set(self.rest)
        needed = [number for number in range(len(self.lines)) if number not in missing]
        # What stands between two needed lines stays there, and is repeated as a whole.
        placed: list[tuple[tuple[int, float, int], int]] = [
            ((bisect.bisect(needed, number), turn, number), number) for turn, number in added
        ]
        placed += [((place, math.inf, number), number) for place, number in enumerate(needed)]
        return "\n".join(self.lines[number] for _, number in sorted(placed))


def _facts(text: str) -> set[str]:
    return {name for names in _NAMES for name in names.findall(text) if _is_fact(name)}


def _is_fact(word: str) -> bool:
    """Say whether a word is a name or a number, or at least none that everybody uses."""
    if any(map(str.isdigit, word)):
        return len(word) >= _SHORTEST_NUMBER
    return len(word) >= _SHORTEST_NAME and not is_common(word.lower())


def stretched(scenario: str, made: Lengthening, result: StoredResult) -> list[Stretched]:
    """Return the figures of a scenario, from the shortest length on."""
    answers = answers_of(result)
    scores, kept, seconds = score_values(answers), kept_values(answers), second_values(answers)
    first = _at(made, 1, scores)
    found = []
    for times in made.times:
        own = {each.case.case_id: each for each in made.cases if each.kind == kind_of(times)}
        tokens = {name: (float(tokens_in(each.case.raw_input)), scores[name][1]) for name, each in own.items()}
        found.append(
            Stretched(
                scenario=scenario,
                times=times,
                cases=len(own),
                tokens=estimate(tokens),
                score=estimate(_at(made, times, scores)),
                share=None if times == 1 else _share(first, _at(made, times, scores)),
                anchors_kept=estimate(_at(made, times, kept)),
                seconds=estimate(_at(made, times, seconds)),
            )
        )
    return found


def _at(made: Lengthening, times: int, values: Values) -> Values:
    """Return a figure of the cases at one length, by their bases."""
    bases = [each.base for each in made.cases if each.kind == kind_of(times)]
    return {base: values[id_of(base, kind_of(times))] for base in bases}


def _share(first: Values, now: Values) -> Estimate | None:
    """Return the mean of `now` in percent of that of `first`, over the same bases."""
    names = sorted(first)
    before, after = ([values[name][0] for name in names] for values in (first, now))
    if not mean(before):
        return None
    clusters = Clusters.of(first[name][1] for name in names)
    below, above = bootstrap_means(before, clusters), bootstrap_means(after, clusters)
    # A draw of cases that score nothing at any length says nothing.
    drawn = above[below > 0] / below[below > 0]
    return Estimate(_PERCENT * mean(after) / mean(before), interval_of(_PERCENT * np.asarray(drawn), clusters))


def kept_text(found: Sequence[Stretched]) -> str:
    """Return up to which length a scenario keeps 90% of its score, and where a loss is significant, in a line."""
    name, shortest = found[0].scenario, found[0]
    if shortest.score is None or not shortest.score.value:
        return f"{name}: scores 0 on the shortest inputs"
    best = shortest
    for each in found[1:]:
        if each.share is None or each.share.value < KEPT:
            break
        best = each
    end = " (the longest asked)" if best is found[-1] else ""
    tokens = 0.0 if best.tokens is None else best.tokens.value
    length = "the needed lines alone" if best.times == 1 else f"{best.times} times the needed lines"
    told = f"keeps {KEPT:.0f}% of its score up to {tokens:,.0f} tokens, {length}{end}"
    return f"{name}: {told}; {_loss_text(found)}"


def _loss_text(found: Sequence[Stretched]) -> str:
    """Return the lengths at which the whole interval of the share lies below 100%."""
    losses = [
        each.times
        for each in found
        if each.share is not None and each.share.interval is not None and each.share.interval.high < _PERCENT
    ]
    if not losses:
        return "no loss is significant"
    return f"significant loss at {', '.join(map(str, losses))} times"


def made_rows(made: Lengthening) -> list[list[str]]:
    """Return the rows of the lengths without a model."""
    counts = Counter(each.kind for each in made.cases)
    rows = []
    for times in made.times:
        own = [each for each in made.cases if each.kind == kind_of(times)]
        tokens = {
            each.base: (float(tokens_in(each.case.raw_input)), ("capture", each.case.capture.name)) for each in own
        }
        told = [f"{times}x", estimate_text(estimate(tokens), 0), str(counts[kind_of(times)])]
        rows.append(["(no model)", *told, *["-"] * (len(TITLES) - 4)])
    return rows


def stretched_row(found: Stretched) -> list[str]:
    """Return the row of a scenario at one length."""
    return [
        *(found.scenario, f"{found.times}x", estimate_text(found.tokens, 0), str(found.cases)),
        estimate_text(found.score),
        estimate_text(found.share, suffix="%"),
        estimate_text(found.anchors_kept, suffix="%"),
        estimate_text(found.seconds, 2),
    ]

"""What the known answers of a case say of another one: it is like right ones, or like wrong ones."""

from __future__ import annotations

import functools
import math

from benchmark.cases import Case, KnownAnswer
from benchmark.scoring.component_score import ComponentScore
from benchmark.statements.likeness import KnownPairs, known_pairs, likeness, pairs_of
from benchmark.statements.text import WORD

# Fewer known answers tell little, and so do fewer words.
FEWEST_KNOWN, _FEWEST_WORDS = 16, 6
# How likely an answer is right: the logistic function of the first, plus the second times its quality by statements,
# plus the third times its likeness. Fitted on 2026-11-27 on 2,584 known answers of 15 writers, each beside those of
# the others; then half as steep again and moved by .7, for the lower of two estimates is too low for right answers.
_BIAS, _BY_QUALITY, _BY_LIKENESS = -3.84, 4.73, 25.08
# Share of an answer's pairs that a known one has in common with it, to be named; and how much of it is shown.
_LEAST_SHARED, _SHOWN = 0.05, 60


def by_known_answers(text: str, quality: ComponentScore, case: Case) -> ComponentScore:
    """Return the quality of an answer, or how likely it is right by the known answers of its case, whichever is less.

    Args:
        text: the answer; gold itself is not asked about.
        quality: by statements.
        case: with fewer than 16 known answers, `quality` stays, with a reason that says so. It also stays for a text of
            fewer than six words, and for gold in other lines.

    """
    if len(case.known) < FEWEST_KNOWN:
        return ComponentScore(quality.score, (*quality.reasons, f"judged without known answers ({len(case.known)})"))
    if len(WORD.findall(text)) < _FEWEST_WORDS or " ".join(text.split()) in _on_one_line(case):
        return quality
    like = likeness(text, _pairs(case))
    chance = 1 / (1 + math.exp(-(_BIAS + _BY_QUALITY * quality.score + _BY_LIKENESS * like)))
    if chance >= quality.score:
        return quality
    return ComponentScore(chance, (*quality.reasons, _reason(text, like, case)))


@functools.lru_cache(maxsize=512)
def _on_one_line(case: Case) -> frozenset[str]:
    return frozenset(" ".join(reference.split()) for reference in case.references)


# A case is judged again and again; that of a validity run, without the answers of one writer, a few times.
@functools.lru_cache(maxsize=512)
def _pairs(case: Case) -> KnownPairs:
    right = (*case.references, *(statement.says for statement in case.statements))
    wrong = (rule.says for rule in case.must_not)
    return known_pairs(
        (*right, *(each.text for each in case.known if each.is_right)),
        (*wrong, *(each.text for each in case.known if not each.is_right)),
    )


def _reason(text: str, like: float, case: Case) -> str:
    """Return why an answer is held for wrong: the known one that has most of what no right one has, if any has much."""
    pairs = pairs_of(text)
    false = pairs - _pairs(case).right

    def shared(known: KnownAnswer) -> int:
        return len(false & pairs_of(known.text))

    nearest = max((each for each in case.known if not each.is_right), key=shared, default=None)
    if nearest is None or shared(nearest) < _LEAST_SHARED * len(pairs):
        return f"likeness {like:.2f}: right answers to this question are put otherwise"
    return f"likeness {like:.2f}: has parts of a wrong answer, {nearest.text[:_SHOWN]!r}"

"""What an answer in prose says: its statements where the case has them, else how close it comes to gold's words.

Here the words of an answer meet its case; `statements` knows of no case, and the components only read what is here.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from benchmark.cases import Case
from benchmark.scoring.component_score import ComponentScore, clamp
from benchmark.scoring.embedder import Embedder
from benchmark.scoring.prose_facts import wording
from benchmark.scoring.remarks import Remark, reasons_of
from benchmark.scoring.shuffled import SALAD, SALAD_LEAVES, is_shuffled
from benchmark.statements.judging import TextVerdict, judge
from benchmark.statements.text import WORD, read
from benchmark.whole_tokens import token_spans
from ctxsift.answers.validation import excerpt_lines
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent

# Only gold itself is gold.
NOT_GOLD = 0.999
_PASTED_LEAVES = 0.3
# Share of the words that stand in runs of so many words of the input: from here it costs, to the full at the second.
# In 98 of 100 careful answers it is below .5.
_RUN_WORDS, _QUOTED_FREE, _QUOTED_FULL = 10, 0.50, 0.75
_IDLE_BULLET_LEAVES = 0.8
# Times the length of gold from which, and at which, being long leaves less, and nothing.
_LENGTH_FREE, _LENGTH_ZERO = 3.0, 8.0
# Share of the words that stand within names: from the first it costs, at the second nothing is left. Right answers have
# .29, 99.5 of 100 of them less than .68; names strung or glued together have .73 to .97.
_NAMES_FREE, _NAMES_ZERO, _FEWEST_WORDS = 0.72, 0.86, 8
_WORD = re.compile(r"\w+")
_BULLET = re.compile(r"^[ \t]*[-*•][ \t]+(?=\S)", re.M)
# In words: a gold of ten words leaves room for two sentences more.
_SHORT_GOLD = 25


def is_prose(case: Case) -> bool:
    """Say whether an answer of this case is sentences: plain text, or bullets with statements."""
    kind = contract_of(case.intent).kind
    return kind is ContractKind.PLAIN or (case.intent is Intent.BULLET_LIST and bool(case.statements))


# The raw and the recovered view of an answer are mostly the same text.
@functools.lru_cache(maxsize=256)
def verdict_on(text: str, case: Case) -> TextVerdict | None:
    """Return what `text` says of the statements of `case`; None where it has none."""
    if not case.statements:
        return None
    return judge(text, case.statements, case.must_not, known="\n".join(case.references))


def score_statements(
    text: str, reference: str, verdict: TextVerdict, substance: ComponentScore, embedder: Embedder
) -> ComponentScore:
    """Return the quality of an answer that is judged by statements, with the reasons."""
    if text.strip() == reference.strip():
        return ComponentScore(1.0)
    close = f"{Remark.MEASURED}{embedder.cosine(text, reference):.2f}, wording {wording(text, reference):.2f}"
    idle = _idle_bullets(text, reference, verdict)
    score = min(NOT_GOLD, verdict.quality * substance.score * _IDLE_BULLET_LEAVES**idle)
    more = (f"{idle} bullets more than asked for say nothing right",) if idle else ()
    return ComponentScore(score, (*reasons_of(verdict), *substance.reasons, *more, close))


def _idle_bullets(text: str, reference: str, verdict: TextVerdict) -> int:
    """Return how many bullets of `text` say nothing of the statements, as far as there are more than in `reference`."""
    bounds = [bullet.start() for bullet in _BULLET.finditer(text)] + [len(text)]
    more = len(bounds) - 1 - len(_BULLET.findall(reference))
    if more <= 0:
        return 0
    said = {bisect_right(bounds, start) for start, _, worth in verdict.support if worth}
    return min(more, sum(index not in said for index in range(1, len(bounds))))


@functools.lru_cache(maxsize=256)
def own_words(text: str, reference: str, case: Case) -> ComponentScore:
    """Return what is left of all that a text says where it says it in sentences of its own, in [0, 1].

    Little for pasted output, nothing for gold's words shuffled, less for a text far longer than gold.
    """
    factor, reasons = 1.0, []
    lines = [line for line in text.splitlines() if line.strip()]
    if excerpt_lines(text, case.raw_input) >= max(2, len(lines) / 3):
        factor *= _PASTED_LEAVES
        reasons.append("pastes the output instead of saying it")
    elif len(text.split()) > len(reference.split()):
        quoted = clamp((_quoted_share(text, case.raw_input) - _QUOTED_FREE) / (_QUOTED_FULL - _QUOTED_FREE))
        if quoted:
            factor *= 1 - (1 - _PASTED_LEAVES) * quoted
            reasons.append("strings quotes of the output together")
    if is_shuffled(text, reference):
        factor *= SALAD_LEAVES
        reasons.append(SALAD)
    names = read(text).share_of_names if len(WORD.findall(text)) >= _FEWEST_WORDS else 0.0
    # Gold may have to name much, and an answer may have fewer words beside the names than gold.
    room = _NAMES_ZERO - _NAMES_FREE
    free = max(_NAMES_FREE, read(reference).share_of_names + room)
    if names > free:
        factor *= clamp((free + room - names) / room)
        reasons.append(f"{names:.0%} of its words are names: says little of them")
    longer = len(WORD.findall(text)) / max(_SHORT_GOLD, len(WORD.findall(reference)))
    if longer > _LENGTH_FREE:
        factor *= clamp((_LENGTH_ZERO - longer) / (_LENGTH_ZERO - _LENGTH_FREE))
        reasons.append(f"{longer:.1f} times as long as gold")
    return ComponentScore(factor, tuple(reasons))


def _quoted_share(text: str, raw_input: str) -> float:
    """Return the share of the words of `text` that stand in runs of ten or more words of the input, in [0, 1]."""
    words = _WORD.findall(text.lower())
    known = _runs(raw_input)
    quoted: set[int] = set()
    for first, run in enumerate(_cut(words)):
        if run in known:
            quoted.update(range(first, first + _RUN_WORDS))
    return len(quoted) / len(words) if words else 0.0


@functools.lru_cache(maxsize=64)
def _runs(raw_input: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_cut(_WORD.findall(raw_input.lower())))


def _cut(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return every run of so many words."""
    return zip(*(words[first:] for first in range(_RUN_WORDS)), strict=False)


def score_preserve_said(text: str, anchors: Sequence[str], verdict: TextVerdict) -> ComponentScore:
    """Return the share of `anchors` with which `text` says something.

    Args:
        text: the answer, in prose.
        anchors: exact tokens.
        verdict: on its statements.

    """
    if not text.strip():
        return ComponentScore(0.0, tuple(f"missing {anchor}" for anchor in anchors))
    starts = [start for start, _, _ in verdict.support]
    kept, reasons = 0.0, []
    for anchor in anchors:
        places = [start for start, _ in token_spans(text, anchor)]
        if not places:
            reasons.append(f"missing {anchor}")
            continue
        worth = max(_worth(place, verdict.support, starts) for place in places)
        kept += worth
        if worth < 1:
            reasons.append(f"has {anchor}, but says {'little that is right' if worth else 'nothing right'} with it")
    return ComponentScore(kept / len(anchors) if anchors else 1.0, tuple(reasons))


def _worth(place: int, support: Sequence[tuple[int, int, float]], starts: Sequence[int]) -> float:
    index = bisect_right(starts, place) - 1
    if index < 0:
        return 0.0
    _, end, worth = support[index]
    return worth if place < end else 0.0

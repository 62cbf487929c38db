"""Answers without a model: the lines of a context that are nearest to a question, as they stand, in their order."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from snowballstemmer import stemmer

from benchmark.probes.questions import AnswerQuestion
from benchmark.statistics import Floats
from ctxsift.sessions.compaction.transcript import STEP_LINE

# Raised when the same context may be answered otherwise.
EXTRACT_VERSION = "1"
_WORD = re.compile(r"[A-Za-z]+|\d+")
# Words that bind others, by themselves: "which", "does".
_BINDING = re.compile(
    r"(?:an?|and|are|as|at|be|by|did|do|does|for|from|ha[ds]|have|he|her|his|how|i|if|in|is|it|its|me|my|no|not|of|on|or"
    r"|our|she|so|than|that|the|their|them|then|there|they|this|to|was|we|were|what|when|where|which|who|whom|whose|why"
    r"|will|with|you|your)"
)
# BM25, with its usual constants.
_K, _B = 1.2, 0.75
# What stands beside a near line is about the same; what stands before the steps that are kept tells of what is gone,
# which is what questions are about.
_BESIDE, _BEFORE_KEPT = 0.7, 8.0
_MOST_LINE = 400
# Says what the lines below it are about, and nothing by itself.
_HEADING = "#"
# Fewer words hold no line.
_LEAST_LEFT = 3


@dataclass(frozen=True)
class _ContextLines:
    """The lines of a context.

    Attributes:
        places: word -> the lines that have it.
        weights: of the same, for each of these lines.
        kept_from: the first line of the steps that are kept.

    """

    texts: Sequence[str]
    places: Mapping[str, Sequence[int]]
    weights: Mapping[str, Sequence[float]]
    kept_from: int


def extracted(asked: AnswerQuestion) -> str:
    """Return the lines that are nearest to a question by the words they share with it, within the limit of words."""
    lines = _lines_of(asked.context)
    near = _nearness(lines, asked.question)
    picked: dict[str, int] = {}
    left = asked.words
    for place in np.argsort(-near, kind="stable"):
        if near[place] <= 0 or left < _LEAST_LEFT:
            break
        text = lines.texts[place]
        size = len(text.split())
        if 0 < size <= left and text not in picked and not text.startswith(_HEADING):
            picked[text] = int(place)
            left -= size
    return "\n".join(sorted(picked, key=picked.__getitem__))


def _nearness(lines: _ContextLines, question: str) -> Floats:
    found = np.zeros(len(lines.texts))
    for word in dict.fromkeys(_words(question)):
        if word in lines.places:
            found[list(lines.places[word])] += lines.weights[word]
    found[: lines.kept_from] *= _BEFORE_KEPT
    near = found.copy()
    for off in (1, 2):
        near[off:] += _BESIDE**off * found[:-off]
        near[:-off] += _BESIDE**off * found[off:]
    return near


# Questions about one context follow each other.
@functools.lru_cache(maxsize=2)
def _lines_of(context: str) -> _ContextLines:
    texts = [line.strip() for line in context.split("\n")]
    counts = [_counted(text[:_MOST_LINE]) for text in texts]
    sizes = [count.total() for count in counts]
    mean = sum(sizes) / len(sizes) or 1.0
    places: dict[str, list[int]] = {}
    for place, count in enumerate(counts):
        for word in count:
            places.setdefault(word, []).append(place)
    weights = {
        word: [_weight(counts[place][word], len(found), len(texts), sizes[place] / mean) for place in found]
        for word, found in places.items()
    }
    kept_from = next((place for place, text in enumerate(texts) if STEP_LINE.fullmatch(text)), len(texts))
    return _ContextLines(texts, places, weights, kept_from)


# Contexts of one session end with the same steps.
@functools.lru_cache(maxsize=20_000)
def _counted(line: str) -> Counter[str]:
    return Counter(_words(line))


def _weight(times: int, lines: int, of: int, size: float) -> float:
    return math.log((1 + of) / lines) * times * (_K + 1) / (times + _K * (1 - _B + _B * size))


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower()) if not _BINDING.fullmatch(word)]


@functools.lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    found: str = stemmer("english").stemWord(word)
    return found

"""What prose says beyond what an embedding sees: numbers, names, negations, opposites, which fact goes with which."""

from __future__ import annotations

import functools
import re

from rapidfuzz.distance import Indel, LCSseq

_DIGITS = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
}
# Written units -> their signs, so that "4.9 percent" is the same number as "4.9%".
_UNITS = {
    "percent": "%",
    "seconds": "s",
    "second": "s",
    "sec": "s",
    "secs": "s",
    "milliseconds": "ms",
    "millisecond": "ms",
    "msec": "ms",
    "microseconds": "us",
    "μs": "us",
    "µs": "us",
    "nanoseconds": "ns",
    "minutes": "min",
    "minute": "min",
    "mins": "min",
    "hours": "h",
    "hour": "h",
    "byte": "b",
    "bytes": "b",
    "kilobytes": "kb",
    "megabytes": "mb",
    "gigabytes": "gb",
    "kbytes": "kb",
    "mbytes": "mb",
}
_SIGNS = ("%", "ns", "us", "ms", "s", "min", "h", "b", *(f"{size}{i}b" for size in "kmgt" for i in ("", "i")))
_FREQUENCIES = [f"{size}hz" for size in ("", *"kmg")]
_UNIT = "|".join(sorted({*_UNITS, *_SIGNS, *_FREQUENCIES} - {"%"}, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?i)((?<![\w.])-?v?\d+(?:[.,:]\d+)*|(?<!no )\b(?:{'|'.join(_DIGITS)})\b)(?:\s?(%|(?:{_UNIT})\b)|[ ](percent)\b)?"
)
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NOT_WORDS = ("not", "no", "never", "none", "neither", "nor", "without", "cannot")
_NOT = rf"(?i:\b(?:{'|'.join(_NOT_WORDS)})\b|n['’]t\b)"
_NEGATION = re.compile(rf"{_NOT}[^\w.!?;\n]*(\w*)")
_NOT_WORD = re.compile(_NOT)
# Possessive: small models end in endless rows of dots or dashes.
_TOKEN = re.compile(r"[\w./:@#%+-]++")
_FACT = re.compile(r"\d|\w[/_.:#@]\w|[a-z][A-Z]|[A-Z]{2}")
_OPPOSITE_WORDS = (
    "fail/pass failed/passed fails/passes failed/succeeded failure/success before/after above/below more/less",
    "more/fewer most/least increased/decreased higher/lower longer/shorter faster/slower first/last added/removed",
    "created/deleted started/stopped opened/closed read/write missing/present allowed/denied accepted/rejected",
    "enabled/disabled lost/kept valid/invalid true/false up/down old/new left/right expected/unexpected",
    "locked/unlocked client/server parent/child maximum/minimum always/never ahead/behind source/target",
    "input/output",
)
_OPPOSITES = [pair.partition("/")[::2] for line in _OPPOSITE_WORDS for pair in line.split()]


@functools.lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[str, ...]:
    """Return words, paths and numbers with a unit, without the punctuation behind them."""
    found = (token.rstrip("./:@#%+-") for token in _TOKEN.findall(text))
    return tuple(token for token in found if token)


@functools.lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the different words of `text` in order, without negations, which are counted on their own."""
    return tuple(word for word in dict.fromkeys(_tokens(text)) if word.lower() not in _NOT_WORDS)


def wording(text: str, reference: str) -> float:
    """Return how many words two texts share, in [0, 1]: half of it in any order, half in the same order.

    Both halves are Dice coefficients over distinct words, so that repeating one makes up for nothing.
    """
    said, wanted = words(text), words(reference)
    shared = Indel.normalized_similarity(sorted(said), sorted(wanted))
    return 0.5 * shared + 0.5 * Indel.normalized_similarity(said, wanted)


@functools.lru_cache(maxsize=4096)
def without_negations(text: str) -> str:
    """Return `text` without its words of negation."""
    return _NOT_WORD.sub("", text)


@functools.lru_cache(maxsize=4096)
def negations(text: str) -> frozenset[str]:
    """Return the words that `text` negates, in lower case."""
    return frozenset(word.lower() for word in _NEGATION.findall(text) if word)


@functools.lru_cache(maxsize=4096)
def numbers(text: str) -> frozenset[str]:
    """Return the numbers in `text` with their units: `3 ms` as `3ms`, `five percent` as `5%`."""
    found = set()
    for number, sign, _ in _NUMBER.findall(text):
        unit = sign.lower()
        plain = number.replace(",", "") if _GROUPED.fullmatch(number) else number
        found.add(_DIGITS.get(plain.lower(), plain) + _UNITS.get(unit, unit))
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def facts(text: str) -> tuple[str, ...]:
    """Return the numbers, names and paths of `text` in the order they first appear."""
    plain = (_DIGITS.get(word.lower(), word) for word in _tokens(text))
    return tuple(dict.fromkeys(word for word in plain if _FACT.search(word)))


def same_order(text: str, reference: str) -> float:
    """Return the share of the facts both texts name that come in the same order; 1 with fewer than two of them.

    Facts that changed places are said about something else.
    """
    said, wanted = facts(text), facts(reference)
    both = set(said) & set(wanted)
    if len(both) < 2:
        return 1.0
    ours, theirs = [f for f in said if f in both], [f for f in wanted if f in both]
    return float(LCSseq.similarity(ours, theirs)) / len(both)


def contradictions(text: str, reference: str) -> list[tuple[str, str]]:
    """Return (said, wanted) for each pair of opposites of which `reference` says one and `text` only the other."""
    said, wanted = _lower_words(text), _lower_words(reference)
    return [
        (mine, theirs)
        for a, b in _OPPOSITES
        for mine, theirs in ((a, b), (b, a))
        if mine in said and theirs not in said and theirs in wanted and mine not in wanted
    ]


@functools.lru_cache(maxsize=4096)
def _lower_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _tokens(text))

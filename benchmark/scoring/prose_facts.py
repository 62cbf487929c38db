"""Words, numbers and names of prose, for answers to cases without statements."""

from __future__ import annotations

import functools
import itertools
import re

from rapidfuzz.distance import Indel

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
    rf"(?i)((?<![\w.])-?v?\d++(?!(?:st|nd|rd|th)\b)(?:[.,:]\d+)*|(?<!non-)\b(?:{'|'.join(_DIGITS)})\b)"
    rf"(?:\s?(%|(?:{_UNIT})\b)|[ ](percent)\b)?"
)


def _any_of(*lines: str) -> str:
    """Return an alternation of all words in `lines`."""
    return "|".join(" ".join(lines).split())


# "one" counts what stands behind it; without that, or behind these words, it is a pronoun.
_NO_NOUN = _any_of(
    "of that which who whose whom is was are were be been being has have had does do did can could will would may",
    "might must should in on at for from by to with without into as than then and or but nor so because when where",
    "while after before if it they he she we you i the a an this these those another here there still also not never",
)
_CHOOSING = _any_of(
    "every no each any some another this that which such either neither first last next previous other same old new",
    "right wrong good bad latest older newer bigger smaller larger second third",
)
_PRONOUN_ONE = re.compile(
    rf"(?i)\b(?:one\s+by\s+one\b|(?:{_CHOOSING})\s+one\b(?!-)|one\b(?=\s+(?:{_NO_NOUN})\b)|one(?=-(?!\d))"
    rf"|(?:the|a|an)\s+(?:\w+\s+)?one\b(?!\s+[\w`'\"]|-))"
)
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NOT_WORDS = ("not", "no", "never", "none", "neither", "nor", "without", "cannot")
# Sentences of an answer that are brought into the order of the gold; more of them are no answer that was asked for.
_MOST_ORDERED = 500
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+|\n+")
# Possessive: small models end in endless rows of dots or dashes.
_TOKEN = re.compile(r"[\w./:@#%+-]++")
_FACT = re.compile(r"\d|\w[/_.:#@]\w|[a-z][A-Z]|[A-Z]{2}")


@functools.lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_tokens_in(text))


def _tokens_in(text: str) -> list[str]:
    """Return words, paths and numbers with a unit, without the punctuation behind them."""
    return [bare for token in _TOKEN.findall(text) if (bare := token.rstrip("./:@#%+-"))]


@functools.lru_cache(maxsize=16_384)
def _is_fact(token: str) -> bool:
    return _FACT.search(token) is not None


@functools.lru_cache(maxsize=4096)
def _without_pronouns(text: str) -> str:
    """Return `text` without the pronoun one."""
    # Most texts have none, and looking for the word alone is cheap.
    return _PRONOUN_ONE.sub("", text) if "one" in text.lower() else text


@functools.lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the different words of `text` in order, without negations, which are counted on their own."""
    return tuple(word for word in dict.fromkeys(_tokens(text)) if word.lower() not in _NOT_WORDS)


def wording(text: str, reference: str) -> float:
    """Return how many words two texts share, in [0, 1]: half of it in any order, half in the same order.

    Both halves are Dice coefficients over distinct words, so that repeating one makes up for nothing. Sentences may
    stand in any order; only the order inside them counts.
    """
    said, wanted = _words_as_in(reference, text), words(reference)
    shared = Indel.normalized_similarity(sorted(said), sorted(wanted))
    return 0.5 * shared + 0.5 * Indel.normalized_similarity(said, wanted)


@functools.lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each sentence of `text`."""
    return tuple(
        tuple(word for word in _tokens_in(part) if word.lower() not in _NOT_WORDS)
        for part in _SENTENCE_END.split(text)
        if part
    )


def _words_as_in(reference: str, text: str) -> tuple[str, ...]:
    """Return the words of `text`, each sentence at the place of the one in `reference` that shares most with it."""
    wanted = _sentences(reference)
    said = _sentences(text) if len(wanted) > 1 else ()
    if not 2 <= len(said) <= _MOST_ORDERED:
        return words(text)
    bags, others = [set(sentence) for sentence in said], [set(sentence) for sentence in wanted]
    shares = [[len(bag & other) / (len(bag) + len(other) or 1) for other in others] for bag in bags]
    # The likest first, each to a place of its own as long as there are free ones: sentences may be much alike.
    places: dict[int, int] = {}
    free = set(range(len(wanted)))
    for index in sorted(range(len(said)), key=lambda i: -max(shares[i])):
        places[index] = max(free or range(len(wanted)), key=lambda place: (shares[index][place], -place))
        free.discard(places[index])
    in_place = [said[index] for index in sorted(places, key=lambda i: (places[i], i))]
    return tuple(dict.fromkeys(itertools.chain.from_iterable(in_place)))


@functools.lru_cache(maxsize=4096)
def numbers(text: str) -> frozenset[str]:
    """Return the numbers in `text` with their units: `3 ms` as `3ms`, `five percent` as `5%`.

    The pronoun one ("every one of them") and ordinals ("2nd") are none.
    """
    found = set()
    for number, sign, _ in _NUMBER.findall(_without_pronouns(text)):
        unit = sign.lower()
        plain = number.replace(",", "") if _GROUPED.fullmatch(number) else number
        found.add(_DIGITS.get(plain.lower(), plain) + _UNITS.get(unit, unit))
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def facts(text: str) -> tuple[str, ...]:
    """Return the numbers, names and paths of `text` in the order they first appear."""
    plain = (_DIGITS.get(word.lower(), word) for word in _tokens(_without_pronouns(text)))
    return tuple(dict.fromkeys(word for word in plain if _is_fact(word)))

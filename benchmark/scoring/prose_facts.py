"""What prose says beyond what an embedding sees: numbers, names, negations, opposites, which fact goes with which."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

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
_NOT_WORD = re.compile(rf"(?i:\b(?:{'|'.join(_NOT_WORDS)})\b|n['\u2019]t\b)")
# "failed to open" is "did not open".
_FAILS = re.compile(r"(?i)\b(?:fail(?:s|ed|ing)?|unable|refuse[sd]?|refusing)\s+to\b")
_NOT_COUNTED = _any_of("in on at for from with to of by and or as than is was after before")
# "0 tests failed" is "no tests failed"; a 0 with nothing to count is a figure.
_NEGATES = re.compile(
    rf"(?i)\b(?:{'|'.join(_NOT_WORDS)}|(?:0|zero)(?=\s+[a-z])(?!\s+(?:{_NOT_COUNTED})\b)"
    rf"|(?:fail(?:s|ed|ing)?|unable|refuse[sd]?|refusing)\s+to)\b|n['\u2019]t\b"
)
# Characters after a negation among which the word is that it negates.
_SCOPE = 100
# Sentences of an answer that are brought into the order of the gold; more of them are no answer that was asked for.
_MOST_ORDERED = 500
# What says nothing by itself, so that a negation in front of it negates what follows.
_EMPTY_WORDS = frozenset(
    _any_of(
        "the a an this that these those its their it is are was were be been being has have had do does did will would",
        "can could may might must should to of in on at by for from with and or as than even yet any longer more so",
        "ca wo",
    ).split("|")
)
# What stands with every name, and tells nothing about it.
_NO_COMPANY = frozenset({"the", "a", "an", "this", "that", "is", "are", "was", "were", "be", "been", "being"})
_AND = frozenset({"and", "or", ","})
_BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "got", "gets"})
_PREPOSITIONS = frozenset({"in", "on", "at", "for", "from", "with", "after", "before", "during", "by", "of", "to"})
# Words on each side of a fact that say what it does, within so many tokens; facts that are compared; what a better fit
# has to exceed.
_REACH, _FAR = 3, 12
_MOST_FACTS = 24
_CLEARLY = 0.25
# Where the full stop is missing, a small word with a capital begins a sentence.
_CLAUSE_END = re.compile(
    r"[,;!?\n]|\.(?!\w)|(?i:\b(?:but|because|while|although|whereas|instead)\b)"
    r"|(?=\b(?:The|This|To|It|In|An?|See|Also|For|After|Before|If|When)\b)"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+|\n+")
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
def _clauses(text: str) -> tuple[tuple[list[str], str], ...]:
    """Return the tokens of each clause of `text` and what ends it."""
    plain = _without_pronouns(text)
    parts, ends = _CLAUSE_END.split(plain), _CLAUSE_END.findall(plain)
    return tuple((_tokens_in(part), end) for part, end in itertools.zip_longest(parts, ends, fillvalue=""))


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
def without_negations(text: str) -> str:
    """Return `text` without its words of negation."""
    return " ".join(_NOT_WORD.sub("", text).split())


@functools.lru_cache(maxsize=4096)
def negations(text: str) -> frozenset[str]:
    """Return the words that `text` negates, in lower case: the first after each negation that says something."""
    found = (_first_word(text[match.end() : match.end() + _SCOPE]) for match in _NEGATES.finditer(text))
    return frozenset(word for word in found if word)


def _first_word(text: str) -> str | None:
    """Return the first word of a clause that says something; names and numbers are not what a negation denies."""
    for token in _tokens_in(_CLAUSE_END.split(text, maxsplit=1)[0]):
        word = token.lower()
        if not (word in _EMPTY_WORDS or word in _NOT_WORDS or _is_fact(token) or word.endswith("ly")):
            return word
    return None


def negated_otherwise(text: str, reference: str) -> frozenset[str]:
    """Return the words both texts have that `reference` only negates or only affirms, and `text` the other way."""
    said, (negated, affirmed) = negations(text), _polarity(reference)
    return (said & (affirmed - negated)) | ((negated - affirmed - said) & _lower_words(text))


@functools.lru_cache(maxsize=512)
def _polarity(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of `text` that are negated, and those that also or only stand without a negation."""
    said = Counter(token.lower() for token in _tokens_in(_FAILS.sub("not", text)) if not _is_fact(token))
    matches = [_first_word(text[match.end() : match.end() + _SCOPE]) for match in _NEGATES.finditer(text)]
    negated = Counter(word for word in matches if word)
    return frozenset(negated), frozenset(word for word in said - negated if word not in _NOT_WORDS)


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


def same_company(text: str, reference: str) -> float:
    """Return the share of the facts both texts name that did not change places; 1 with fewer than two of them.

    Two facts changed places when they come in another order and each stands with the words that stood with the other:
    they are said about something else then. Sentences, lists and passives in another order say the same.
    """
    said, wanted = facts(text), facts(reference)
    both = set(said) & set(wanted)
    if len(both) < 2:
        return 1.0
    ours, theirs = [f for f in said if f in both], [f for f in wanted if f in both]
    # Places are also changed by a passive alone: "A was closed by B" for "A closed B".
    ours_by, theirs_by = _tokens(text), _tokens(reference)
    passives = ours_by.count("by") != theirs_by.count("by") and _be_count(ours_by) != _be_count(theirs_by)
    if ours == theirs and not passives:
        return 1.0
    at = {fact: place for place, fact in enumerate(ours)}
    # A token that a clause ends within has no company.
    here, there = (defaultdict(dict, _company(side)) for side in (text, reference))
    moved = {
        fact
        for one, other in itertools.combinations(theirs[:_MOST_FACTS], 2)
        if (passives or at[one] > at[other])
        and _likeness(here[one], there[other]) + _likeness(here[other], there[one])
        > _likeness(here[one], there[one]) + _likeness(here[other], there[other]) + _CLEARLY
        for fact in (one, other)
    }
    return 1 - len(moved) / len(both)


@functools.lru_cache(maxsize=4096)
def _company(text: str) -> dict[str, dict[str, float]]:
    """Return for each fact of `text` what is next to it in its clause, with weights: `<` or `>` before words."""
    found: dict[str, dict[str, float]] = {}
    for names in _listed_clauses(text):
        # Who does it stands behind the verb of a passive, and what it is done to before.
        sides = "><" if _is_passive(names) else "<>"
        for place, name in enumerate(names):
            if _is_fact(name):
                near = found.setdefault(name, {})
                for side, step in zip(sides, (-1, 1), strict=True):
                    for distance, word in _neighbours(names, place, step):
                        key = word if _is_fact(word) else side + word.lower()
                        near[key] = max(near.get(key, 0.0), 1 / (1 + distance))
    return found


def _be_count(tokens: Sequence[str]) -> int:
    return sum(token.lower() in _BE for token in tokens)


def _is_passive(tokens: list[str]) -> bool:
    lower = [token.lower() for token in tokens]
    return "by" in lower and any(word in _BE for word in lower[: lower.index("by")])


def _likeness(one: dict[str, float], other: dict[str, float]) -> float:
    """Return the weight of the words that stand next to both of two facts."""
    return sum(min(weight, other[word]) for word, weight in one.items() if word in other)


def _listed_clauses(text: str) -> Iterator[list[str]]:
    """Yield the tokens of each clause, numbers as digits; a comma between two facts belongs to a list."""
    clause: list[str] = []
    end = ""
    for part, following in _clauses(text):
        tokens = [_DIGITS.get(token.lower(), token) for token in part]
        if end == "," and clause and tokens and _is_list(clause, tokens):
            clause += [",", *tokens]
        else:
            yield clause
            clause = tokens
        end = following
    yield clause


def _is_list(before: list[str], after: list[str]) -> bool:
    first = next((token for token in after if token.lower() not in _NO_COMPANY | _AND), "")
    return (_is_fact(before[-1]) and _is_fact(first)) and before[0].lower() not in _PREPOSITIONS


def _neighbours(tokens: list[str], place: int, step: int) -> Iterator[tuple[int, str]]:
    """Yield the nearest words and the facts on one side, each with its distance from 0.

    Other items of a list are passed over: they stand with the same words.
    """
    said, listed = 0, False
    reached = tokens[place + 1 : place + 1 + _FAR] if step > 0 else tokens[max(0, place - _FAR) : place][::-1]
    for word in reached:
        if said == _REACH:
            return
        if _is_fact(word):
            if not listed:
                yield said, word
        elif word.lower() in _AND:
            listed = listed or not said
        elif word.lower() not in _NO_COMPANY:
            yield said, word
            said, listed = said + 1, False


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

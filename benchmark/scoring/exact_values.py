"""When two values are the same one: every letter and digit counts, the dress around them does not."""

from __future__ import annotations

import functools
import re

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from benchmark.scoring.embedder import MAX_CHARS
from ctxsift.intents import Intent

# What another value is worth at most: it says what kind of thing was looked for.
OTHER_VALUE = 0.1
_DRESSED = 0.9
# Share of a value that has to be there when its first or last words are not.
_MOST_OF_IT = 0.75
# Runs of digits and runs of letters, so that "10ms" is "10 ms". A sign stands after white space only; elsewhere it is
# a dash.
_TOKEN = re.compile(r"(?<!\S)-\d+|\d+|[^\W\d_]+")
# One digit off, these name something else altogether: nothing about them is nearly right.
_DIGEST = re.compile(
    r"""(?xi)
    (?<![\w.])(?:
        [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}            # UUID
      | [0-9a-f]{2}(?:[:-][0-9a-f]{2}){5,}                     # MAC address, fingerprint
      | \d{1,3}(?:\.\d{1,3}){3}                                # IPv4
      | (?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}                   # IPv6
      | (?:[0-9a-f]{1,4}:)+(?::[0-9a-f]{1,4})+
      | 0x[0-9a-f]{4,}                                         # address in memory
      | (?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,}             # hash
    )(?![\w]|\.\d)"""
)


def value_similarity(said: str, wanted: str) -> float:
    """Return how near two values are, in [0, 1].

    1 for the same text; at most 0.9 where only case, punctuation, spacing or what stands around the value differs;
    at most OTHER_VALUE where a word or number of it does; 0 where that is a hash or an address.
    """
    if said == wanted:
        return 1.0
    if any(digest not in _digests(said) for digest in _digests(wanted)):
        return 0.0
    if same_value(said, wanted):
        return _DRESSED * _likeness(said.casefold(), wanted.casefold())
    return OTHER_VALUE * _likeness(said, wanted)


def same_value(said: str, wanted: str) -> bool:
    """Say whether `said` is `wanted` but for case, punctuation, spacing, and words without digits around it.

    Words of `wanted` may be missing at its ends where most of it is there. What a dash or underscore ties to the
    value belongs to it: `sensor-admin` is not `sensor`.
    """
    if said == wanted:
        return True
    if any(digest not in _digests(said) for digest in _digests(wanted)):
        return False
    ours, theirs = _words(said), _words(wanted)
    if ours == theirs:
        return bool(theirs)
    if len(ours) > len(theirs):
        return _stands_in(wanted, said)
    return _likeness(said.casefold(), wanted.casefold()) >= _MOST_OF_IT and _stands_in(said, wanted)


def value_gate(text: str, reference: str, intent: Intent) -> float:
    """Return what preservation and brevity of an answer are worth, in [0, 1]: little where it is another value.

    Only the contract of an exact value has this gate; the others get 1.
    """
    if intent is not Intent.EXACT_FORMAT or same_value(text.strip()[:MAX_CHARS], reference.strip()):
        return 1.0
    return OTHER_VALUE


@functools.lru_cache(maxsize=512)
def _words(text: str) -> tuple[str, ...]:
    return tuple(token.casefold() for token in _TOKEN.findall(text))


@functools.lru_cache(maxsize=512)
def _digests(text: str) -> frozenset[str]:
    return frozenset(_DIGEST.findall(text))


def _stands_in(part: str, whole: str) -> bool:
    """Say whether the words of `part` stand in `whole` in one run, the others untied to it and without digits."""
    words, inner = _words(whole), _words(part)
    start = next((i for i in range(len(words) - len(inner) + 1) if words[i : i + len(inner)] == inner), None)
    if start is None or not inner:
        return False
    end = start + len(inner)
    if any(word[-1].isdigit() for word in (*words[:start], *words[end:])):
        return False
    places = [match.span() for match in _TOKEN.finditer(whole)]
    before = whole[places[start - 1][1] : places[start][0]] if start else " "
    after = whole[places[end - 1][1] : places[end][0]] if end < len(words) else " "
    untied = before not in ("", "-", "_") or words[start - 1] == "v"
    return untied and after not in ("", "-", "_", ".")


@functools.lru_cache(maxsize=512)
def _likeness(said: str, wanted: str) -> float:
    """Return the normalised edit similarity of two values, in [0, 1]; a word like none of `wanted` only costs."""
    known, words_said = wanted.split(), said.split()
    kept = [word for word in words_said if process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=50)]
    text = said if len(kept) == len(words_said) else " ".join(kept)
    return Levenshtein.normalized_similarity(text, wanted) * len(text) / len(said) if said else 0.0

"""What a command printed, folded: whether a piece of an answer quotes it, and which of its words stand in it."""

from __future__ import annotations

import functools
import html
import re
from itertools import pairwise

from ctxsift.answers.languages import language_of

# Ten times the longest input that a model reads.
_MAX_CHARS = 1_000_000
# Answers to remember, and the longest piece of which.
_MOST_KEPT, _LONGEST_KEPT = 1000, 40
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"'/\\]))")
_WORD = re.compile(r"\w+")
# Words of grammar say nothing of an input, whether they stand in it or not.
_GRAMMAR = frozenset(
    re.findall(
        r"\w+",
        "the and for are was were has had have been with that this from but not its also there here then than into "
        "they them their which what when where will would can could may might does did done just only very some any "
        "all both each other such more most own same too now out off over under about you your our ours",
    )
)


def fold(text: str) -> str:
    """Return a text without colours, escapes, case and the kind of its quotes; any white space is one blank."""
    return " ".join(_plain(text).split())


def _plain(text: str) -> str:
    """Return a text without colours, escapes, case and the kind of its quotes."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "&" in text:
        text = html.unescape(text)
    # Logs escape what was escaped before.
    for _ in range(2 if "\\" in text else 0):
        text = _ESCAPED.sub(_unescaped, text)
    return text.translate(_QUOTES).casefold()


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else " " if escape[2] in "nrt" else escape[2]


_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "`": "'"})


def content_words(text: str) -> set[str]:
    """Return the words and numbers of a text that say something: no words of grammar, none of one or two letters."""
    found = {word.casefold() for word in _WORD.findall(text)}
    return {word for word in found if not word.isalpha() or not word.isascii() or len(word) > 2} - _GRAMMAR


class Ground:
    """What may be quoted: the raw input and the command, folded once."""

    def __init__(self, given: str) -> None:
        self._given = given[:_MAX_CHARS]
        self._asked: dict[str, bool] = {}
        folded = _plain(self._given)
        self._text = " ".join(folded.split())
        self.lines = frozenset(" ".join(line.split()) for line in folded.splitlines()) - {""}

    @functools.cached_property
    def _phrases(self) -> str:
        return f" {' '.join(_WORD.findall(self._text))} "

    @functools.cached_property
    def _runs(self) -> frozenset[tuple[str, ...]]:
        """All words, and all that stand side by side."""
        said = _WORD.findall(self._text)
        return frozenset((*zip(said), *pairwise(said)))

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """Its words and numbers, folded."""
        return frozenset(content_words(self._text))

    @functools.cached_property
    def language(self) -> str | None:
        """The language that most of it is in; None where too little tells."""
        return language_of(self._given)

    def __contains__(self, piece: str) -> bool:
        # The same few pieces are asked for again and again: the marks of a model.
        known = self._asked.get(piece)
        if known is None:
            folded = fold(piece)
            known = bool(folded) and folded in self._text
            if len(self._asked) < _MOST_KEPT and len(piece) <= _LONGEST_KEPT:
                self._asked[piece] = known
        return known

    def says(self, words: str) -> bool:
        """Say whether these words follow each other in it, whatever stands between them."""
        phrase = _WORD.findall(fold(words))
        # Reading it takes long; most phrases have two words in a row that it never has.
        if len(phrase) < 3:
            return bool(phrase) and tuple(phrase) in self._runs
        return self._runs.issuperset(pairwise(phrase)) and f" {' '.join(phrase)} " in self._phrases

    def times(self, piece: str) -> int:
        """Return how often it says a piece; its white space does not count."""
        folded = fold(piece)
        return self._text.count(folded) if folded else 0

    def lost(self, removed: str, kept: str) -> set[str]:
        """Return the words and numbers of it that only the removed text has."""
        return (content_words(removed) & self.words) - content_words(kept)


@functools.lru_cache(maxsize=1024)
def ground(given: str) -> Ground:
    """Return what may be quoted of a text; made once."""
    return Ground(given)

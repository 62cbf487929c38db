"""A text, read once: its tokens, sentences and clauses, and which sentences only list things."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property, lru_cache

from benchmark.statements.vocabulary import (
    AUXILIARIES,
    BECAUSE,
    CLAUSE_WORDS,
    FUNCTION_WORDS,
    GOES_ON,
    common_norms,
    norm_of,
    verb_norms,
)

# Above any honest answer; it bounds hostile ones.
MAX_CHARS = 8000
# A word, or a part of a name.
WORD = re.compile(r"[^\W_]+")
_CHUNK = re.compile(r"[—–]|[^\s—–]+")
_OPENING, _CLOSING = "([{\"'`“”‘’«*<", ")]}\"'`“”‘’»*>.,;:!?…"
_NUMBER = re.compile(
    r"[+~]?(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(%|(?:ms|us|ns|s|kb|mb|gb|kib|mib|gib|min|h)\b)?", re.I
)
_PLAIN = re.compile(r"(?!.*[a-z][A-Z])[^\W\d_]+(?:['’][^\W\d_]+)?(?:-[^\W\d_]+(?:['’][^\W\d_]+)?)*")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?\Z")
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?…]+[\"'”’`)\]]*(?=\s)")
# A line that is only the rest of a wrapped sentence begins no new one.
_LINE_END = re.compile(r"\n(?!\s*[a-z(])")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
# Prose has one function word in four or five words; a list of what was found has next to none, and short items.
_PROSE_FROM, _BARE = 0.16, 0.08
# Verbs with a value as their object: whoever lists keywords has no use for them.
_GETS = frozenset(
    ["=", "got", "gets", "gave", "gives", "want", "wants", "wanted", "needs", "takes", "took", "is", "was", "lacks"]
)
_ITEMS, _ITEM_WORDS, _FEW_WORDS, _STRUNG_WORDS = 4, 4.0, 3, 8


class TokenKind(Enum):
    """What a token is."""

    WORD = auto()
    # A word inside of a name with dashes.
    PART = auto()
    NUMBER = auto()
    # A path, an identifier, a version, an option: what only means something to the letter.
    NAME = auto()
    STOP = auto()


# What follows a file: `plan.rb:17`.
_LINE = re.compile(r"(?<=\w)(?::\d+)+$")


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text.

    Attributes:
        norm: what it is compared by: the stem of a word or of what it is equivalent to, the digits of a number, a name
            to the letter.
        start, end: its place in the text, in characters.

    """

    text: str
    norm: str
    kind: TokenKind
    start: int
    end: int

    @property
    def is_verb(self) -> bool:
        """It is a verb, as far as the tables and its ending tell."""
        return self.kind is TokenKind.WORD and (self.norm in verb_norms() or self.text.endswith("ed"))

    @property
    def bare_norm(self) -> str:
        """Its norm; of a file, without folder and line: `src/plan.rb:17` is `plan.rb`."""
        return _LINE.sub("", self.norm.rpartition("/")[2]) or self.norm

    @property
    def says_something(self) -> bool:
        """It is a word, and none that only binds others."""
        if self.kind not in (TokenKind.WORD, TokenKind.PART) or len(self.text) <= 2:
            return False
        return self.text.lower() not in FUNCTION_WORDS and self.norm not in AUXILIARIES


@dataclass(frozen=True, eq=False)
class Text:
    """A text cut into tokens and sentences.

    Attributes:
        bounds: index of the first token of each sentence, and one past the last token.
        is_terse: it is written in brief, so that a tally says something: "CPU: bill 7.22 s, gaps 4.99 s".

    """

    text: str
    tokens: tuple[Token, ...]
    bounds: tuple[int, ...]
    is_terse: bool = False

    @cached_property
    def by_norm(self) -> dict[str, list[int]]:
        """Indexes of the tokens of each norm."""
        found: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            found.setdefault(token.norm, []).append(index)
        return found

    @cached_property
    def starts(self) -> list[int]:
        """Where the tokens begin, in characters."""
        return [token.start for token in self.tokens]

    @cached_property
    def lists(self) -> frozenset[int]:
        """Indexes of the sentences that only list things; they say nothing."""
        lists = frozenset(i for i, (a, b) in enumerate(self.sentences) if is_list(self.tokens[a:b]))
        if not self.is_terse:
            return lists
        return frozenset(i for i in lists if not _is_tally(self.tokens[slice(*self.sentences[i])]))

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Ranges of tokens."""
        return list(itertools.pairwise(self.bounds))

    @cached_property
    def share_of_names(self) -> float:
        """Share of the words that stand within names and numbers, in [0, 1]; 0 for a text without words.

        `src/plan.rb` has three words, and so have names that are glued together: `a|b|c`.
        """
        words = [(token.kind, len(WORD.findall(token.text))) for token in self.tokens]
        named = sum(count for kind, count in words if kind in (TokenKind.NAME, TokenKind.NUMBER))
        return named / max(1, sum(count for kind, count in words if kind is not TokenKind.STOP))

    def sentence_of(self, token: int) -> int:
        """Return the index of the sentence that holds a token."""
        return bisect_right(self.bounds, token) - 1

    @cached_property
    def clauses(self) -> tuple[tuple[int, int], ...]:
        """Ranges of tokens: sentences cut where something else is said of something else.

        That is at semicolons, and at commas and conjunctions that have a verb on both sides; not inside of lists.
        """
        found = []
        for first, past in self.sentences:
            cuts = [first]
            for index in range(first + 1, past - 1):
                if self._is_cut(cuts[-1], index, past):
                    cuts.append(index + 1)
            found += list(zip(cuts, [*cuts[1:], past], strict=True))
        return tuple(found)

    @cached_property
    def reasons(self) -> tuple[tuple[int, int], ...]:
        """Ranges of tokens that give a reason: from "because" to the end of the sentence or a colon or semicolon."""
        found = []
        for index in self.by_norm.get(BECAUSE, ()):
            past = self.bounds[self.sentence_of(index) + 1]
            stops = (i for i in range(index + 1, past) if self.tokens[i].norm in (";", ":"))
            found.append((index + 1, next(stops, past)))
        return tuple(found)

    def _is_cut(self, first: int, index: int, past: int) -> bool:
        token = self.tokens[index]
        if token.kind is TokenKind.STOP:
            if token.norm != ",":
                return token.norm == ";"
        elif token.kind is not TokenKind.WORD or token.norm not in CLAUSE_WORDS:
            return False
        if self.tokens[index + 1].norm in GOES_ON:
            return False
        until = next((i for i in range(index + 1, past) if self.tokens[i].kind is TokenKind.STOP), past)
        return any(t.is_verb for t in self.tokens[first:index]) and any(
            t.is_verb for t in self.tokens[index + 1 : until]
        )


def read(text: str, *, is_terse: bool = False) -> Text:
    """Return `text` as tokens and sentences; what is beyond 8,000 characters is not read.

    Args:
        text: of a person or a model.
        is_terse: it is written in brief; see Text.

    """
    return _read(text[:MAX_CHARS], is_terse=is_terse)


# The scorer reads an answer, and gold, more than once.
@lru_cache(maxsize=256)
def _read(text: str, *, is_terse: bool) -> Text:
    tokens: list[Token] = []
    bounds = [0]
    for start, end in _sentence_spans(text):
        if text[start:end].rstrip("\"'”’`)] \n\t").endswith("?"):
            # A question says nothing.
            continue
        tokens += tokens_of(text, start, end)
        if len(tokens) > bounds[-1]:
            bounds.append(len(tokens))
    return Text(text, tuple(tokens), tuple(bounds), is_terse)


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for stop in (*(end.start() for end in _LINE_END.finditer(text)), len(text)):
        bullet = _BULLET.match(text, at, stop)
        start = bullet.end() if bullet else at
        for end in _SENTENCE_END.finditer(text, start, stop):
            yield start, end.end()
            start = end.end()
        yield start, stop
        at = stop


def tokens_of(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """Return the tokens of a part of a text."""
    tokens: list[Token] = []
    for chunk in _CHUNK.finditer(text, start, len(text) if end is None else end):
        _scan(chunk[0], chunk.start(), tokens)
    return tokens


def _scan(text: str, at: int, found: list[Token]) -> None:
    """Append the tokens of one chunk (no white space) that begins at `at`."""
    start, end = 0, len(text)
    while start < end and text[start] in _OPENING:
        if text[start] in "([{":
            found.append(Token(text[start], text[start], TokenKind.STOP, at + start, at + start + 1))
        start += 1
    while end > start and text[end - 1] in _CLOSING:
        end -= 1
    if start < end:
        _classify(_POSSESSIVE.sub("", text[start:end]), at + start, found)
    found.extend(
        Token(mark, mark, TokenKind.STOP, at + place, at + place + 1)
        for place, mark in enumerate(text[end:], end)
        if mark in ",;:)]}…"
    )


def _classify(core: str, base: int, found: list[Token]) -> None:
    past = base + len(core)
    if core.strip("-—–") == "":
        found.append(Token(core, ";", TokenKind.STOP, base, past))
    elif _PLAIN.fullmatch(core):
        kind = TokenKind.PART if "-" in core else TokenKind.WORD
        for piece in re.finditer(r"[^-]+", core):
            _plain(piece[0], base + piece.start(), kind, found)
    elif number := _NUMBER.fullmatch(core):
        middle = base + number.end(1)
        found.append(Token(core[: number.end(1)], number[1].replace(",", ""), TokenKind.NUMBER, base, middle))
        if number[2]:
            found.append(Token(number[2], norm_of(number[2]), TokenKind.WORD, middle, past))
    else:
        found.append(Token(core, core, TokenKind.NAME, base, past))


def _plain(word: str, place: int, kind: TokenKind, found: list[Token]) -> None:
    low, past = word.lower().replace("’", "'"), place + len(word)
    if low.endswith("n't"):
        stem = {"can't": "can", "won't": "will", "shan't": "shall"}.get(low, low[:-3])
        found.append(Token(word[:-3], norm_of(stem), TokenKind.WORD, place, past - 3))
        found.append(Token(word[-3:], "not", TokenKind.WORD, past - 3, past))
    else:
        found.append(Token(word, norm_of(re.sub(r"'(?:s|re|ve|ll|d|m)?$", "", low)), kind, place, past))


def is_list(tokens: Sequence[Token]) -> bool:
    """Return True if the tokens of a sentence only list things, or string them together, and say nothing of them."""
    words = [token for token in tokens if token.kind is not TokenKind.STOP]
    if len(words) <= _FEW_WORDS or _is_introduced(tokens):
        return False
    linking = sum(token.kind is TokenKind.WORD and token.text.lower() in FUNCTION_WORDS for token in words) / len(words)
    items = list(_items(tokens))
    if len(items) >= _ITEMS and len(words) / len(items) <= _ITEM_WORDS:
        return linking < _PROSE_FROM and 2 * sum(map(_is_said, items)) < len(items)
    return len(words) >= _STRUNG_WORDS and linking < _BARE and not any(token.is_verb for token in words)


def _items(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield what stands between the commas and semicolons of a sentence, those of arguments aside."""
    begin = depth = 0
    for index, token in enumerate(tokens):
        depth = max(0, depth + token.text.count("(") - token.text.count(")"))
        if token.norm in (",", ";") and not depth:
            yield tokens[begin:index]
            begin = index + 1
    yield tokens[begin:]


def _is_said(item: Sequence[Token]) -> bool:
    """Return True if an item says something of something: "f() got 94", "want 95", "2 failed", "test_a: 2"."""
    pairs = list(itertools.pairwise(item))
    tally = any((a.norm == ":" or b.is_verb) and TokenKind.NUMBER in (a.kind, b.kind) for a, b in pairs)
    named = any(token.kind in (TokenKind.NAME, TokenKind.NUMBER) and token.text != "=" for token in item)
    return tally or (named and any(token.text in _GETS for token in item))


def _is_tally(tokens: Sequence[Token]) -> bool:
    """Return True if each of several items is something with a number; raw output has no commas."""
    items = [[token for token in item if token.kind is not TokenKind.STOP] for item in _items(tokens)]
    return len(items) > 1 and all(
        any(char.isdigit() for token in item for char in token.text)
        and any(token.kind in (TokenKind.WORD, TokenKind.PART) and token.says_something for token in item)
        for item in items
    )


def _is_introduced(tokens: Sequence[Token]) -> bool:
    """Return True if an introduction says something of a list: "Undefined symbols: pow, log1p"."""
    colon = next((index for index, token in enumerate(tokens) if token.norm == ":"), 0)
    before = tokens[:colon]
    plain = all(token.kind is TokenKind.WORD for token in before)
    return len(before) > 1 and plain and any(token.norm in common_norms() for token in before)

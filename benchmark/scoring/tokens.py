"""Prose as tokens, sentences and clauses."""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from benchmark.scoring.vocabulary import CLAUSE_WORDS, FUNCTION_WORDS, GOES_ON, common_norms, norm_of, verb_norms

# Above any honest answer; it bounds hostile ones.
MAX_CHARS = 8000
_CHUNK = re.compile(r"\S+")
_OPENING, _CLOSING = "([{\"'`“”‘’«*<", ")]}\"'`“”‘’»*>.,;:!?…"
_NUMBER = re.compile(r"[-+~]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_NUMBER_UNIT = re.compile(
    r"([-+~]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(%|ms|us|ns|s|kb|mb|gb|kib|mib|gib|min|h)", re.I
)
_PLAIN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?(?:-[^\W\d_]+(?:['’][^\W\d_]+)?)*")
_CAMEL = re.compile(r"[a-z][A-Z]")
CAPITALS = re.compile(r"[A-Z]{2,}")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?\Z")
_LINE = re.compile(r"[Ll](\d+)")
_BOUNDED = re.compile(r"([A-Za-z][\w-]*)([<>=!~^]=?\d.*)")
_QUOTE = re.compile(r"[\"`“”]|(?<!\w)'|'(?!\w)")
_PIECE = re.compile(r"[^-]+")
_DASH = re.compile(r"[—–]|--+")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’`)\]]*(?=\s)")
# "source.read(buf)? is not handled", what is quoted or left out (...): the sentence goes on in small letters.
_WITHIN = re.compile(r"(?:[!?…]+|\.{2,})[\"'”’`)\]]* [a-z]")
_ABBREVIATION = re.compile(r"(?:\b(?i:e\.g|i\.e|vs|cf|approx|resp|incl|ca|aka|esp)|(?<![\w.])(?<!\d )[A-Z])\.$")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
_LINE_GOES_ON = re.compile(r"\s*[a-z(]")
_UNREAL = re.compile(
    r"(?i)\b(?:it|this|that)(?: i|['’])s (?:(?:simply|just|clearly) )?"
    r"(?:not (?:true|the case|so|correct|likely)|untrue|false|wrong|incorrect|unlikely|impossible|a myth) that\b"
    r"|\b(?:can|could|may) be (?:ruled out|excluded) that\b|\brule(?:s|d)? out that\b|(?<!no )\bdoubt that\b"
    r"|\beither\b.*\bor (?:it |they )?(?:is|are|was|were|does|do|did|has|have|will) ?(?:not|n['’]t)\b"
)
_TAKEN_BACK = re.compile(
    r"(?i)(?:none|nothing) of (?:this|that|it|the above)\b"
    r"|(?:all (?:of )?)?(?:this|that|the above)(?: i|['’])s (?:all )?"
    r"(?:wrong|false|untrue|incorrect|harmless|nonsense)\b"
    r"|(?:this|that)(?: i|['’])s not (?:true|so|correct|the case|the (?:real )?(?:reason|cause))\b"
)
# Prose has one function word in four or five words; a list of what was found has next to none, and short items.
_PROSE_FROM, _BARE = 0.16, 0.08
_ITEMS, _ITEM_WORDS, _FEW_WORDS, _STRUNG_WORDS = 4, 4.0, 3, 8
# Verbs with a value as their object: whoever lists keywords has no use for them.
_GETS = frozenset(
    ("=", "got", "gets", "gave", "gives", "want", "wants", "wanted", "needs", "takes", "took", "is", "was", "lacks")
)
# "kelpbay-web? Skipped." is one sentence.
_RHETORIC_WORDS = 3


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    # A word inside of a name with dashes.
    PART = auto()
    NUMBER = auto()
    # A path, an identifier, a version, an option: what only means something to the letter.
    NAME = auto()
    STOP = auto()


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
    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Prose:
    """A text cut into tokens and sentences."""

    text: str
    tokens: tuple[Token, ...]
    # Index of the first token of each sentence, and one past the last token.
    bounds: tuple[int, ...]

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
        """Indexes of the sentences that only list things, or say that something is not so; they say nothing."""
        return frozenset(
            index
            for index, (first, past) in enumerate(itertools.pairwise(self.bounds))
            if is_list(self.tokens[first:past]) or self._is_unreal(first, past)
        )

    def _is_unreal(self, first: int, past: int) -> bool:
        """Say whether a sentence as a whole is denied, doubted, or left open."""
        return _UNREAL.search(self.text, self.tokens[first].start, self.tokens[past - 1].end) is not None

    @cached_property
    def taken_back(self) -> bool:
        """A later sentence takes back what was said: "None of this is true"."""
        return any(
            _TAKEN_BACK.match(self.text, self.tokens[first].start, self.tokens[past - 1].end)
            for first, past in itertools.pairwise(self.bounds[1:])
        )

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return len(self.bounds) - 1

    def sentence_of(self, token: int) -> int:
        """Return the index of the sentence that holds a token."""
        return bisect_right(self.bounds, token) - 1

    def is_quoted(self, token: int) -> bool:
        """Say whether a token stands right behind a quotation mark: it is cited, and denies nothing."""
        start = self.tokens[token].start
        return start > 0 and self.text[start - 1] in "\"'`“‘"

    def is_cited(self, token: int) -> bool:
        """Say whether a token stands inside of a quotation."""
        start = self.tokens[self.bounds[self.sentence_of(token)]].start
        return len(_QUOTE.findall(self.text, max(0, start - 1), self.tokens[token].start)) % 2 == 1

    def is_parted(self, before: int, after: int) -> bool:
        """Say whether a quotation begins or ends between two tokens."""
        return len(_QUOTE.findall(self.text, self.tokens[before].end, self.tokens[after].start)) % 2 == 1

    @cached_property
    def clauses(self) -> tuple[tuple[int, int], ...]:
        """Ranges of tokens: sentences cut where something else is said of something else.

        That is at semicolons, and at commas and conjunctions that have a verb on both sides; not inside of lists.
        """
        found = []
        for first, past in itertools.pairwise(self.bounds):
            cuts = [first]
            for index in range(first + 1, past - 1):
                if self._is_cut(cuts[-1], index, past):
                    cuts.append(index + 1)
            found += list(zip(cuts, [*cuts[1:], past], strict=True))
        return tuple(found)

    def _is_cut(self, first: int, index: int, past: int) -> bool:
        token = self.tokens[index]
        if token.kind is Kind.STOP:
            if token.norm != ",":
                return token.norm == ";"
        elif token.kind is not Kind.WORD or token.norm not in CLAUSE_WORDS:
            return False
        before, after = self.tokens[index - 1], self.tokens[index + 1]
        if after.norm in GOES_ON or (before.kind in _NAMED and after.kind in _NAMED):
            return False
        until = next((i for i in range(index + 1, past) if self.tokens[i].kind is Kind.STOP), past)
        return self._has_verb(first, index) and self._has_verb(index + 1, until)

    def _has_verb(self, first: int, past: int) -> bool:
        return any(token.kind is Kind.WORD and is_verb(token) for token in self.tokens[first:past])


_NAMED = (Kind.NAME, Kind.NUMBER, Kind.PART)


@functools.lru_cache(maxsize=2048)
def read(text: str) -> Prose:
    """Return `text` as tokens and sentences; what is beyond 8,000 characters is not read."""
    text = text[:MAX_CHARS]
    tokens: list[Token] = []
    bounds = [0]
    for start, end in _sentence_spans(text):
        if text[start:end].rstrip("\"'”’`)] \n\t").endswith("?"):
            # A question says nothing.
            continue
        for chunk in _CHUNK.finditer(text, start, end):
            _scan(chunk[0], chunk.start(), tokens)
        if len(tokens) > bounds[-1]:
            bounds.append(len(tokens))
    return Prose(text, tuple(tokens), tuple(bounds))


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    spans = []
    start = 0
    for place in _line_spans(text):
        start, stop = place
        if bullet := _BULLET.match(text, start, stop):
            start = bullet.end()
        for end in _SENTENCE_END.finditer(text, start, stop):
            rhetoric = end[0].startswith("?") and len(text[start : end.start()].split()) <= _RHETORIC_WORDS
            if rhetoric or _WITHIN.match(text, end.start()):
                continue
            if not _ABBREVIATION.search(text, max(start, end.start() - 12), end.start() + 1):
                spans.append((start, end.end()))
                start = end.end()
        spans.append((start, stop))
    return spans


def _line_spans(text: str) -> list[tuple[int, int]]:
    """Return the lines; one that is only the rest of a wrapped sentence is joined to the one before."""
    spans: list[tuple[int, int]] = []
    at = 0
    for line in text.splitlines(keepends=True):
        end = at + len(line)
        goes_on = (
            spans
            and line.strip()
            and _LINE_GOES_ON.match(line)
            and not _BULLET.match(line)
            and text[spans[-1][0] : spans[-1][1]].rstrip()[-1:] not in ".!?:;"
            and text[spans[-1][0] : spans[-1][1]].strip()
        )
        if goes_on:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((at, end))
        at = end
    return spans


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text that is no more than a phrase."""
    tokens: list[Token] = []
    for chunk in _CHUNK.finditer(text):
        _scan(chunk[0], chunk.start(), tokens)
    return tokens


def _scan(text: str, at: int, found: list[Token]) -> None:
    """Append the tokens of one chunk (no white space) that begins at `at`."""
    start, end = 0, len(text)
    while start < end and text[start] in _OPENING:
        if text[start] in "([{":
            found.append(Token(text[start], text[start], Kind.STOP, at + start, at + start + 1))
        start += 1
    while end > start and text[end - 1] in _CLOSING:
        end -= 1
    core, base = text[start:end], at + start
    if core:
        _classify(core, base, found)
    found.extend(
        Token(mark, mark, Kind.STOP, at + place, at + place + 1)
        for place, mark in enumerate(text[end:], end)
        if mark in ",;:)]}…"
    )


def _classify(core: str, base: int, found: list[Token]) -> None:
    core = _POSSESSIVE.sub("", core)
    if _DASH.fullmatch(core) or core == "-":
        found.append(Token(core, ";", Kind.STOP, base, base + len(core)))
    elif _PLAIN.fullmatch(core) and not _CAMEL.search(core):
        _plain(core, base, found)
    elif number := _NUMBER.fullmatch(core):
        found.append(Token(core, _digits(number[0]), Kind.NUMBER, base, base + len(core)))
    elif unit := _NUMBER_UNIT.fullmatch(core):
        middle = base + unit.end(1)
        found.append(Token(unit[1], _digits(unit[1]), Kind.NUMBER, base, middle))
        found.append(Token(unit[2], norm_of(unit[2]), Kind.WORD, middle, base + len(core)))
    elif line := _LINE.fullmatch(core):
        found.append(Token("line", norm_of("line"), Kind.WORD, base, base + 1))
        found.append(Token(line[1], line[1], Kind.NUMBER, base + 1, base + len(core)))
    elif bound := _BOUNDED.fullmatch(core):
        # "kombu<5.3" names kombu as well.
        _classify(bound[1], base, found)
        found.append(Token(bound[2], bound[2], Kind.NAME, base + bound.start(2), base + len(core)))
    elif (dash := re.search(r"[—–]", core)) and 0 < dash.start() < len(core) - 1:
        _classify(core[: dash.start()].rstrip(_CLOSING), base, found)
        found.append(Token(dash[0], ";", Kind.STOP, base + dash.start(), base + dash.end()))
        rest = core[dash.end() :]
        kept = rest.lstrip(_OPENING)
        if kept:
            _classify(kept, base + dash.end() + len(rest) - len(kept), found)
    elif core.lower() in ("i.e", "e.g"):
        found.append(Token(core, ",", Kind.STOP, base, base + len(core)))
    else:
        found.append(Token(core, core, Kind.NAME, base, base + len(core)))


def _plain(core: str, base: int, found: list[Token]) -> None:
    kind = Kind.PART if "-" in core else Kind.WORD
    for piece in _PIECE.finditer(core):
        word, place = piece[0], base + piece.start()
        low = word.lower().replace("’", "'")
        if low.endswith("n't"):
            stem = {"can't": "can", "won't": "will", "shan't": "shall"}.get(low, low[:-3])
            found.append(Token(word[:-3], norm_of(stem), Kind.WORD, place, place + len(word) - 3))
            found.append(Token(word[-3:], "not", Kind.WORD, place + len(word) - 3, place + len(word)))
            continue
        bare = re.sub(r"'(?:s|re|ve|ll|d|m)?$", "", low)
        found.append(Token(word, norm_of(bare), kind, place, place + len(word)))


def _digits(number: str) -> str:
    return number.replace(",", "").lstrip("+~")


def is_list(tokens: Sequence[Token]) -> bool:
    """Say whether the tokens of a sentence only list things, or string them together, and say nothing of them."""
    words = [token for token in tokens if token.kind is not Kind.STOP]
    if len(words) <= _FEW_WORDS or _is_introduced(tokens):
        return False
    linking = sum(token.kind is Kind.WORD and token.text.lower() in FUNCTION_WORDS for token in words) / len(words)
    items = list(_items(tokens))
    if len(items) >= _ITEMS and len(words) / len(items) <= _ITEM_WORDS:
        return linking < _PROSE_FROM and 2 * sum(map(_is_said, items)) < len(items)
    strung = len(words) >= _STRUNG_WORDS and linking < _BARE
    return strung and not any(token.kind is Kind.WORD and is_verb(token) for token in words)


def _items(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield what stands between the commas and semicolons of a sentence, those of arguments aside."""
    item: list[Token] = []
    depth = 0
    for token in tokens:
        depth = max(0, depth + token.text.count("(") - token.text.count(")"))
        if token.kind is Kind.STOP and token.norm in (",", ";") and not depth:
            yield item
            item = []
        else:
            item.append(token)
    yield item


def _is_said(item: Sequence[Token]) -> bool:
    """Say whether an item says something of something: "f() got 94", "want 95", "2 failed", "test_a: 2"."""
    tally = any(a.kind is Kind.NUMBER and b.kind is Kind.WORD and is_verb(b) for a, b in itertools.pairwise(item))
    tally |= any(a.norm == ":" and b.kind is Kind.NUMBER for a, b in itertools.pairwise(item))
    named = any(token.kind in (Kind.NAME, Kind.NUMBER) and token.text != "=" for token in item)
    return tally or (named and any(token.text in _GETS for token in item))


def is_verb(token: Token) -> bool:
    """Say whether a token is a verb, as far as the tables and its ending tell."""
    return token.norm in verb_norms() or token.text.endswith("ed")


def _is_introduced(tokens: Sequence[Token]) -> bool:
    """Say whether a list has an introduction that says something of it: "Undefined symbols: pow, log1p"."""
    colon = next((index for index, token in enumerate(tokens) if token.norm == ":"), 0)
    before = tokens[:colon]
    plain = all(token.kind is Kind.WORD for token in before)
    return len(before) > 1 and plain and any(token.norm in common_norms() for token in before)

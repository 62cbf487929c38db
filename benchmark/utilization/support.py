"""Deterministic verdicts: which sentence of the answer a chunk supports, by names, numbers, words and embeddings.

A chunk supports a sentence when three of its lines in a row hold enough of what the sentence says. Each term weighs by
its kind, less where the question says it already, and less where many chunks hold it. The limits were chosen on one
half of the packaged sample; docs/utilization.md says how they do on the other.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmark.scoring import Embedder
from benchmark.statements.judging import judge
from benchmark.statements.text import Text, Token, TokenKind, read, tokens_of
from benchmark.statements.vocabulary import FUNCTION_WORDS, norm_of
from benchmark.utilization.records import ChunkVerdict, DataRow

SUPPORT_VERSION = "1"
# Lines of a chunk that are looked at together: what stands further apart is rarely said of the same thing.
LINES = 3
# By kind of term; a number by its digits, since short ones stand everywhere.
_NAME, _ACRONYM, _WORD = 2.5, 1.8, 1.0
_NUMBERS = (0.7, 1.1, 1.5)
# Of a term that the question holds; of one that every chunk holds.
_ASKED, _EVERYWHERE = 0.3, 0.15
# Enough: that weight and that share of what any chunk holds of the sentence; or of one clause; or in meaning.
LEAST_WEIGHT, LEAST_SHARE, LEAST_CLAUSE = 2.0, 0.3, 0.8
LEAST_COSINE, LEAST_WEIGHT_CLOSE = 0.6, 1.0
_MOST_NAMED = 6
_PIECE = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+")
_CAPITALS = re.compile(r"[A-Z]{2,}|[a-z][A-Z]")
_ENDINGS = frozenset(".!?…\"')]")
# A name this long may be written in other cases.
_LONG_NAME = 6


@dataclass(frozen=True)
class _Term:
    """A name, number or word of the answer.

    Attributes:
        weight: how much it tells that a chunk holds it; 0 until it is known in how many chunks it stands.
        lines: per chunk, the numbers of the lines that hold it.

    """

    text: str
    norm: str
    kind: TokenKind
    weight: float = 0.0
    lines: tuple[frozenset[int], ...] = ()


@dataclass(frozen=True)
class _Unit:
    """A sentence or clause of the answer.

    Attributes:
        supportable: the weight of its terms that stand in any chunk.

    """

    sentence: str
    terms: tuple[_Term, ...]
    supportable: float


@dataclass(frozen=True)
class _Best:
    """The lines of a chunk that hold most of a unit."""

    unit: _Unit
    weight: float = 0.0
    first_line: int = 0
    held: tuple[_Term, ...] = ()

    @property
    def share(self) -> float:
        """Part of what any chunk holds of the unit, in [0, 1]."""
        return self.weight / self.unit.supportable if self.unit.supportable else 0.0


def supported(question: DataRow, embedder: Embedder) -> list[ChunkVerdict]:
    """Return a verdict on each chunk of a row, with the sentence that it supports and what they share."""
    answer = read(question.answer)
    chunks = [chunk.splitlines() or [""] for chunk in question.contexts]
    terms = _terms(answer, question.question, chunks)
    sentences = [_unit(answer, span, terms) for span in answer.sentences]
    clauses = [_unit(answer, span, terms) for span in answer.clauses]
    return [
        _said(chunk, question) or _verdict(number, lines, sentences, clauses, embedder)
        for number, (chunk, lines) in enumerate(zip(question.contexts, chunks, strict=True))
    ]


def _said(chunk: str, question: DataRow) -> ChunkVerdict | None:
    """Return the verdict on a chunk that says a whole statement of the question."""
    if question.statements:
        for finding in judge(chunk, question.statements).findings:
            if finding.share == 1:
                return ChunkVerdict(relevant=1, reason="says a statement", sentence=finding.statement.says)
    return None


def _verdict(
    number: int, lines: Sequence[str], sentences: Sequence[_Unit], clauses: Sequence[_Unit], embedder: Embedder
) -> ChunkVerdict:
    best = max((_best(unit, number, len(lines)) for unit in sentences), key=lambda each: each.weight, default=None)
    if best is None or not best.held:
        return ChunkVerdict(relevant=0, reason="shares nothing with the answer")
    shared = _named(best)
    if best.weight >= LEAST_WEIGHT and best.share >= LEAST_SHARE:
        return ChunkVerdict(relevant=1, reason=f"shares {shared}", sentence=best.unit.sentence)
    for clause in (_best(unit, number, len(lines)) for unit in clauses):
        # A clause of one weak word is no clause to be held.
        if clause.share * min(1.0, clause.weight) >= LEAST_CLAUSE:
            return ChunkVerdict(relevant=1, reason=f"holds a clause: {_named(clause)}", sentence=clause.unit.sentence)
    window = "\n".join(lines[best.first_line : best.first_line + LINES])
    cosine = embedder.cosine(best.unit.sentence, window)
    if cosine >= LEAST_COSINE and best.weight >= LEAST_WEIGHT_CLOSE:
        return ChunkVerdict(relevant=1, reason=f"close in meaning ({cosine:.2f})", sentence=best.unit.sentence)
    return ChunkVerdict(relevant=0, reason=f"shares only {shared}")


def _named(best: _Best) -> str:
    heaviest = sorted(best.held, key=lambda term: -term.weight)[:_MOST_NAMED]
    return ", ".join(term.text for term in best.held if term in heaviest)


def _best(unit: _Unit, chunk: int, line_count: int) -> _Best:
    """Return the LINES lines in a row that hold most of a unit; the first of several."""
    best = _Best(unit)
    # Only where a line holds something can a window begin that holds most.
    starts = sorted({line for term in unit.terms for line in term.lines[chunk]})
    for start in starts:
        first = max(0, min(start, line_count - LINES))
        held = tuple(term for term in unit.terms if any(first <= line < first + LINES for line in term.lines[chunk]))
        weight = sum(term.weight for term in held)
        if weight > best.weight:
            best = _Best(unit, weight, first, held)
    return best


def _unit(answer: Text, span: tuple[int, int], terms: dict[str, _Term]) -> _Unit:
    first, past = span
    here = tuple(terms[norm] for norm in dict.fromkeys(map(_key, answer.tokens[first:past])) if norm in terms)
    end = answer.tokens[past - 1].end
    while answer.text[end : end + 1] in _ENDINGS:
        end += 1
    sentence = answer.text[answer.tokens[first].start : end]
    return _Unit(sentence, here, sum(term.weight for term in here if any(term.lines)))


def _terms(answer: Text, question: str, chunks: Sequence[Sequence[str]]) -> dict[str, _Term]:
    """Return the terms of an answer by what they are compared by, with weights and places."""
    asked = {part for token in tokens_of(question) for part in (token.norm, token.text)}
    found = {}
    for token in answer.tokens:
        key = _key(token)
        if key in found or not _says_something(token):
            continue
        # "two" is a number, too.
        kind = TokenKind.NUMBER if token.norm.isdecimal() else token.kind
        term = _Term(token.text.strip("[](){}"), token.norm, kind)
        lines = tuple(frozenset(n for n, line in enumerate(chunk) if _holds(line, term)) for chunk in chunks)
        weight = _kind_weight(term) * _rarity(sum(map(bool, lines)), len(chunks))
        weight *= _ASKED if key in asked or token.text in asked else 1.0
        found[key] = replace(term, weight=weight, lines=lines)
    return found


def _key(token: Token) -> str:
    return token.text if token.kind is TokenKind.NAME else token.norm


def _says_something(token: Token) -> bool:
    if token.kind in (TokenKind.WORD, TokenKind.PART):
        return len(token.text) > 1 and token.text.lower() not in FUNCTION_WORDS
    return token.kind is not TokenKind.STOP


def _kind_weight(term: _Term) -> float:
    if term.kind is TokenKind.NAME:
        return _NAME
    if term.kind is TokenKind.NUMBER:
        return _NUMBERS[min(len(term.norm), len(_NUMBERS)) - 1]
    return _ACRONYM if _CAPITALS.search(term.text) else _WORD


def _rarity(holding: int, count: int) -> float:
    """Return 1 for a term of one chunk or none, down to a little for one of every chunk."""
    if not holding:
        return 1.0
    most = math.log((count + 1) / 1.5)
    return _EVERYWHERE + (1 - _EVERYWHERE) * (math.log((count + 1) / (holding + 0.5)) / most if most > 0 else 1.0)


def _holds(line: str, term: _Term) -> bool:
    if term.kind in (TokenKind.WORD, TokenKind.PART):
        return term.norm in _norms(line)
    if term.kind is TokenKind.NUMBER:
        return _stands_in(line, term.norm) or _stands_in(line, term.text)
    return _stands_in(line, term.text) or (len(term.text) >= _LONG_NAME and term.text.lower() in line.lower())


@functools.lru_cache(maxsize=65_536)
def _norms(line: str) -> frozenset[str]:
    """Return the norms of the words in a line, those inside of names among them."""
    return frozenset(map(norm_of, _PIECE.findall(line)))


def _stands_in(line: str, text: str) -> bool:
    return text in line and _whole(text).search(line) is not None


@functools.lru_cache(maxsize=8192)
def _whole(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])")

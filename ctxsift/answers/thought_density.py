"""Visible thought: reasoning that a model leaks into its answer, as spans and as a density.

Two sorts are found: blocks between the marks of a model family, and prose in which the model talks about itself, its
task and its answer instead of the output.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ctxsift.answers.envelope import Envelope, read_envelope, turn_start
from ctxsift.answers.grounding import Ground, fold, ground
from ctxsift.answers.marks import MODEL_TOKENS, MarkFinder
from ctxsift.answers.payloads import parse_payload
from ctxsift.answers.prose import ALONE, BESIDE, Paragraph, SentenceReader, paragraphs
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent

# Ten times the longest honest answer; a bound for hostile ones.
MAX_PROSE_CHARS = 30_000
_SHORTEST_QUOTE = 12
_SPACE = re.compile(r"\s+")
SpanKind = Literal["block", "prose"]


@dataclass(frozen=True)
class ThoughtSpan:
    """text[start:end] is leaked thought."""

    start: int
    end: int
    kind: SpanKind


@dataclass(frozen=True)
class Thought:
    """All leaked thought of one answer.

    Attributes:
        density: share of the answer's non-blank characters, in [0, 1].
        unterminated: a reasoning block was opened and never closed.

    """

    spans: tuple[ThoughtSpan, ...]
    density: float
    unterminated: bool

    @property
    def markers(self) -> int:
        """How many spans there are."""
        return len(self.spans)


@functools.lru_cache(maxsize=64)
def find_thought(text: str, *, raw_input: str = "", instruction: str = "", intent: Intent | None = None) -> Thought:
    """Find the leaked thought in an answer.

    Args:
        text: the answer; prose beyond its first 30,000 characters is not read.
        raw_input: what the command printed; quotations of it are not thought.
        instruction: when it asks for steps, numbered steps are the answer.
        intent: under a structured contract, an answer that parses is searched cell by cell.

    """
    return thought_of(text, ground(raw_input), instruction, intent)


def thought_of(
    text: str, quotable: Ground, instruction: str, intent: Intent | None, tokens: MarkFinder = MODEL_TOKENS
) -> Thought:
    """Find the leaked thought in an answer; like `find_thought`, with the marks of one model."""
    structured = intent is not None and contract_of(intent).kind is ContractKind.STRUCTURED
    envelope = read_envelope(text, quotable, tokens, intent if structured else None)
    # Blocks within a document are words of it for recovery, and thought all the same.
    inside = read_envelope(text, quotable, tokens)
    blocks = envelope if inside.unterminated else inside
    spans = [ThoughtSpan(p.start, p.end, "block") for p in blocks.of("reasoning_block")]
    payload = parse_payload(intent, text) if intent is not None else None
    if payload is not None and intent is not None:
        spans += _inside(text, intent, quotable, instruction)
    else:
        spans += _prose(text, envelope, quotable, instruction, intent)
    total = _solid(text)
    thought = sum(_solid(text[s.start : s.end]) for s in spans)
    spans = [span for span in sorted(spans, key=lambda s: s.start) if text[span.start : span.end].strip()]
    return Thought(tuple(spans), min(1.0, thought / total) if total else 0.0, envelope.unterminated)


def _solid(text: str) -> int:
    return len(_SPACE.sub("", text))


def _prose(
    text: str, envelope: Envelope, quotable: Ground, instruction: str, intent: Intent | None
) -> Iterator[ThoughtSpan]:
    # A value may be any words; other strict forms have no place for such ones.
    is_value = intent is Intent.EXACT_FORMAT and "\n" not in text.strip()
    threshold = ALONE if intent is None or is_value or contract_of(intent).kind is ContractKind.PLAIN else BESIDE
    turn = turn_start(text[:MAX_PROSE_CHARS], quotable)
    last = MAX_PROSE_CHARS if turn is None else turn
    for piece in envelope.of("answer"):
        if piece.start >= last:
            break
        end = min(piece.end, last)
        for paragraph in paragraphs(text, piece.start, end, quotable, instruction, threshold):
            if paragraph.is_thought:
                yield from _unquoted(text, paragraph, quotable)
            else:
                found = (s for s in paragraph.sentences if s.is_thought(threshold))
                yield from (ThoughtSpan(s.start, s.end, "prose") for s in found)


def _unquoted(text: str, paragraph: Paragraph, quotable: Ground) -> Iterator[ThoughtSpan]:
    """Yield a paragraph without the lines of the input in it."""
    start = position = paragraph.start
    for line in text[paragraph.start : paragraph.end].splitlines(keepends=True):
        if fold(line) in quotable.lines or (len(line) > _SHORTEST_QUOTE and line in quotable):
            if position > start:
                yield ThoughtSpan(start, position, "prose")
            start = position + len(line)
        position += len(line)
    if position > start:
        yield ThoughtSpan(start, position, "prose")


# A string of JSON and whether it is a key; a cell of a table; a line of anything else, its key apart.
_JSON_STRING = re.compile(r'"(?P<words>(?:[^"\\]|\\.)*)"(?P<key>\s*:)?')
_CELL = re.compile(r"(?P<words>[^|\n]+)")
_LINE = re.compile(r"[ \t]*(?:- )?(?:[\"']?(?P<field>\w+)[\"']?:[ \t]+)?(?P<words>[^\n]+)")
_PIECES = {Intent.JSON: _JSON_STRING, Intent.TABLE: _CELL}
_THOUGHT_KEY = re.compile(
    r"_?(?:thoughts?|thinking|reasoning|rationale|analysis|scratchpad|chain_of_thought|monologue)", re.IGNORECASE
)
# A value of fewer words is no train of thought.
_FEWEST_WORDS = 4


def _inside(text: str, intent: Intent, quotable: Ground, instruction: str) -> Iterator[ThoughtSpan]:
    """Yield the thought in the strings, cells, bullets and comments of a payload."""
    reader, asked = SentenceReader(text, quotable, instruction), ground(instruction)
    key = ""
    for piece in _PIECES.get(intent, _LINE).finditer(text):
        found = piece.groupdict()
        if found.get("key"):
            key = piece["words"]
            continue
        key = found.get("field") or (key if intent is Intent.JSON else "")
        start, end = piece.span("words")
        unasked = _THOUGHT_KEY.fullmatch(key) and not (quotable.says(key) or asked.says(key))
        if (unasked and len(piece["words"].split()) >= _FEWEST_WORDS) or any(
            sentence.is_thought(ALONE) for sentence in reader.sentences(start, end)
        ):
            yield ThoughtSpan(start, end, "prose")

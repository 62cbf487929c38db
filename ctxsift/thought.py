"""Visible thought: reasoning that a model leaks into its answer, as spans and as a density.

Two sorts are found: blocks between tags (in the forms that model families leak) and prose in which the
model talks about its task. Text that stands in the raw input is a quotation, never thought.
"""

from __future__ import annotations

import bisect
import functools
import re
from dataclasses import dataclass
from typing import Literal

from ctxsift.contracts import Intent
from ctxsift.payloads import parse_payload

_NAMES = (
    r"(?:think(?:ing)?|thoughts?|analysis|reason(?:ing)?|scratch_?pad|reflection|inner[_ ]monologue"
    r"|chain[_ ]of[_ ]thought|seed:think|begin_of_thought|start_thinking)"
)
_CLOSE_NAMES = _NAMES.replace("begin_of_thought|start_thinking", "end_of_thought|end_thinking")
_OPENERS = re.compile(
    rf"<{_NAMES}>|<\|{_NAMES}\|>|\[{_NAMES.upper()}\]|◁{_NAMES}▷"
    r"|<\|channel\|>\s*(?:analysis|commentary)[^<\n]*<\|message\|>",
    re.IGNORECASE,
)
_CLOSERS = re.compile(
    rf"</{_NAMES}>|<\|/{_NAMES}\|>|<\|{_CLOSE_NAMES}\|>|\[/{_NAMES.upper()}\]|◁/{_NAMES}▷", re.IGNORECASE
)
# Reasoning between announcements (Granite), and channel names whose control tokens were stripped (gpt-oss).
_ANNOUNCED = re.compile(
    r"\A\s*here(?:'s|’s| is) my thought process:?.*?here(?:'s|’s| is) my (?:response|answer):?(?:(?:[ \t]*\n)+|[ \t])?"
    r"|\A\s*(?:assistant)?analysis(?=[A-Z\"']).*?assistant\s?final",
    re.IGNORECASE | re.DOTALL,
)
_CHANNEL_END = re.compile(
    r"<\|end\|>(?:\s*<\|start\|>\s*assistant)?(?=\s*<\|channel\|>|\s*\Z)|(?=<\|channel\|>\s*final)"
)

_VERBS = (
    r"(?:think|look|see|check|analy[sz]e|parse|start|begin|re-?read|read|find|examine|extract|identify|scan|"
    r"go (?:through|over|back)|break|try|double|return|output|provide|list|respond|reply|answer|make|keep|"
    r"include|write|summari[sz]e|produce|format|give|focus|ensure|avoid|figure|consider|determine|count|copy|"
    r"reconsider|verify|follow|create|construct|generate|present|mention|be careful|also|first|just|only|now|"
    r"figure out|draft|compose|quote|preserve|not|pick|note|use|do|say|put|remember|understand|locate|convert|"
    r"simply|carefully)"
)
_LEAD = (
    r"(?:(?:okay|ok|alright|all right|hmm+|well|so|now|right|sure|first(?:ly)?|next|then|finally|but|also|and)"
    r"[,.:!…]*\s+)*"
)
_META = (
    r"(?:instructions?|tasks?|prompt|question|request|user(?:'s)?(?: \w+){0,2}|answer format|format|contract"
    r"|requirements?|constraints?|expected output)"
)
_SAYS = (
    r"(?:says?|said|asks?|asked|wants?|wanted|requires?|states?|stated|specif\w+|mentions?|mentioned|needs?|"
    r"is asking|are asking|is to|is for|told|tells|explicitly|only|might|may|would|probably|requested|has asked|"
    r"provided|expects?|is looking|doesn't|did not|didn't)"
)
_PROSE = re.compile(
    "|".join(
        (
            rf"{_LEAD}(?:let me|let's|let us|lemme) \w",
            rf"{_LEAD}we(?: should| need(?: to)?| must| will| have to|'ll| are going to| can"
            rf"| could| want to| might| may|'d)(?: {_VERBS})+\b",
            rf"{_LEAD}we(?: have| see| get| know| look at| want) (?!to )\w",
            r"(?:in order )?to (?:answer|do|solve|find|get|produce|make) (?:this|that|it|so)\b[^,.\n]{0,40}, ",
            r"(?:thinking|looking|going) (?:about|at|over) (?:it|this|that) (?:again|once more)",
            r"(?:okay|ok|alright|all right|hmm+|well)[.!…]+\s*$",
            r"(?:draft|attempt|first try)(?: \d+)?: ",
            "(?:好的|嗯|首先)[，,。]|用户(?:想|要|问|需要)",
            rf"{_LEAD}(?:we are|we're) (?:asked|supposed|being asked|told|given|going) ",
            rf"{_LEAD}my (?:job|task|goal|plan|aim)(?: here| now)? is\b",
            rf"{_LEAD}(?:the |our |my )?(?:user|agent|caller) (?:wants|is asking|asks|asked|needs|has asked"
            r"|has provided|requests|requested|provided|would like|is looking|gave|has given|said|says|specified)\b",
            rf"(?:however|but|so|now|also|since|because|given that|given|remember|note that|and|although)[,:]? {_LEAD}"
            rf"(?:the |my |this |these )?{_META} {_SAYS}\b",
            rf"{_LEAD}(?:the )?user's (?:question|request|instructions?)\b",
            rf"{_LEAD}(?:the|my|this) (?:instructions?|task|prompt|request|answer format) "
            r"(?:doesn't|does not|says?|asks?|wants?|requires?|states?|specif\w+|is to)\b",
            r"(?:(?:no|oh|but|hmm+),? )?(?:wait|hmm+|hold on|on second thought)(?:[,.!…—:]| -|\s*$)",
            r"actually, (?:i|we|the (?:instruction|user|task|question|output)|let|wait|looking|no)\b",
            rf"{_LEAD}(?:looking (?:at|through|over)|going through|scanning|reading) the "
            r"(?:\w+ )?(?:output|log|logs|input|error|text|traceback)[^.\n]{0,40}, (?:i|we|let|it seems|there)\b",
            rf"{_LEAD}(?:my|the) (?:answer|response|output|final answer) (?:should|must|will|needs to|has to) ",
            r"(?:okay|ok|alright|hmm+)[,.!…]* (?:so|here|the|this|i|we|let|that|first|now)\b",
            r"(?:thus|therefore|so|hence)[,:]? (?:the )?(?:final )?(?:answer|output|response)"
            r"(?: is| should| would| will|:)",
            r"(?:here is|here's) my (?:thought process|thinking|reasoning|analysis)\b",
            r"(?:that|this) (?:should|seems to|would) (?:satisfy|meet|match|fulfil+) the \w+",
        )
    ),
    re.IGNORECASE,
)
# An answer has no first person and takes nothing back; whoever does so, wherever in a sentence, is thinking.
_ANYWHERE = re.compile(
    r"(?<![\w'\"`/<-])(?<!type )(?<!phase )(?<!part )(?<!class )(?<!stage )"
    r"I(?:'(?:ll|m|ve|d))? [a-z']+(?: [a-z]+)?"
    r"|\b(?:scratch that|no, (?:wait|sorry)|my (?:final )?answer)\b|(?<=[.…,;] )hmm+\b"
    r"|, (?:so )?skip(?: (?:it|that|this))?[.!]?\s*$",
    re.MULTILINE,
)
_LABEL = re.compile(
    r"(?:#+ *|\*\*)?(?:my )?(?:analysis|rationale|reasoning|thoughts?|thinking|thought process|chain of thought"
    r"|scratch ?pad|internal monologue|step[- ]by[- ]step(?: reasoning| analysis)?|planning|plan)"
    r"(?:\*\*)?:(?:\*\*)?(?=\s|$)",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"(?:step )?\d+[.):] +(?:\*\*)?(?:identify|find|look|extract|check|read|scan|return|output|format|determine|"
    r"parse|analy[sz]e|locate|understand|review|list|write|note|verify|make sure|ensure|copy|filter)\b",
    re.IGNORECASE,
)
# The dot of an enumeration ("1. Find ...") ends no sentence.
_SENTENCE = re.compile(r"(?:[ \t]*\d+[.)][ \t]+)?[^\n]+?(?:[.!?…](?=\s|$)|(?=\n|$))")
_MARKERS = re.compile(r"^[ \t(]*(?:[-*>•]+[ \t]+)?(?:\d+[.)][ \t]+)?(?:\*\*)?")
_MAX_KEY_WORDS = 4
# Ten times the longest honest answer; a bound for hostile ones.
_MAX_CHARS = 40_000
_SPACE = re.compile(r"\s+")

SpanKind = Literal["block", "prose"]


@dataclass(frozen=True)
class Span:
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

    spans: tuple[Span, ...]
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
        text: the answer; what lies beyond its first 40,000 characters is not read.
        raw_input: what the command printed; quotations of it are not thought.
        instruction: when it asks for steps, numbered steps are the answer.
        intent: under a structured contract, an answer that parses holds no prose.

    """
    text = text[:_MAX_CHARS]
    # An echoed instruction is an echo, not a thought.
    quoted = _Quoted(f"{raw_input}\n{instruction}")
    blocks, unterminated = _blocks(text, quoted)
    prose: list[Span] = []
    if intent is None or not _is_document(intent, text):
        steps_wanted = re.search(r"\bsteps?\b|\bplan\b|numbered", instruction, re.IGNORECASE) is not None
        prose = _prose(text, blocks, quoted, steps_wanted)
    spans = _merge(blocks + prose)
    total = _solid(text)
    inside = sum(_solid(text[s.start : s.end]) for s in spans)
    return Thought(tuple(spans), min(1.0, inside / total) if total else 0.0, unterminated)


def _is_document(intent: Intent, text: str) -> bool:
    """Say whether the whole answer is a payload; a sentence with a colon is no YAML key."""
    payload = parse_payload(intent, text)
    if isinstance(payload, dict):
        return all(len(str(key).split()) <= _MAX_KEY_WORDS for key in payload)
    return payload is not None


def _solid(text: str) -> int:
    return len(_SPACE.sub("", text))


class _Quoted:
    """Tells whether a piece of text stands in the raw input, white space folded."""

    def __init__(self, raw_input: str) -> None:
        self._raw = " ".join(raw_input.split())

    def __contains__(self, piece: str) -> bool:
        folded = " ".join(piece.split())
        return bool(folded) and folded in self._raw

    def in_any_case(self, piece: str) -> bool:
        """Say whether `piece` stands in the raw input in upper, lower or mixed case."""
        return piece.lower() in self._raw.lower()


def _blocks(text: str, quoted: _Quoted) -> tuple[list[Span], bool]:
    spans: list[Span] = []
    position = 0
    announced = _ANNOUNCED.match(text)
    if announced and announced.group() not in quoted:
        position = announced.end()
        spans.append(Span(0, position, "block"))
    tags = sorted(
        [(m, True) for m in _OPENERS.finditer(text)] + [(m, False) for m in _CLOSERS.finditer(text)],
        key=lambda tag: tag[0].start(),
    )
    ends = _block_ends(text, tags)
    for (tag, opens), end in zip(tags, ends, strict=True):
        if tag.start() < position:
            continue
        # Markup of the input is quoted, unless the answer begins with a block of its own.
        if tag.group() in quoted and (text[position : tag.start()].strip() or not opens or end is None):
            position = tag.end()
        elif not opens:
            # The opening tag was part of the prompt: everything up to the closing one is thought.
            spans.append(Span(spans[-1].end if spans else 0, tag.end(), "block"))
            position = tag.end()
        elif end is None:
            spans.append(Span(tag.start(), len(text), "block"))
            return spans, True
        else:
            if text[tag.start() : end] not in quoted:
                spans.append(Span(tag.start(), end, "block"))
            position = end
    return spans, False


def _block_ends(text: str, tags: list[tuple[re.Match[str], bool]]) -> list[int | None]:
    """Return for each tag where the block that it opens ends; None when nothing closes it."""
    channel_ends = [m.end() for m in _CHANNEL_END.finditer(text)]
    ends: list[int | None] = []
    next_closer: int | None = None
    for tag, opens in reversed(tags):
        if not opens:
            next_closer = tag.end()
        if opens and "channel" in tag.group().lower():
            index = bisect.bisect_left(channel_ends, tag.end())
            ends.append(channel_ends[index] if index < len(channel_ends) else None)
        else:
            ends.append(next_closer)
    return ends[::-1]


def _prose(text: str, blocks: list[Span], quoted: _Quoted, steps_wanted: bool) -> list[Span]:
    spans: list[Span] = []
    for start, end in _paragraphs(text):
        sentences = [
            Span(start + m.start(), start + m.end(), "prose")
            for m in _SENTENCE.finditer(text[start:end])
            if m.group().strip()
        ]
        sentences = [s for s in sentences if not any(b.start <= s.start < b.end for b in blocks)]
        leaked = [_is_thought(text[s.start : s.end], quoted) for s in sentences]
        if not steps_wanted:
            steps = [_is_step(text[s.start : s.end], quoted) for s in sentences]
            if sum(steps) >= 2:
                leaked = [a or b for a, b in zip(leaked, steps, strict=True)]
        count = sum(leaked)
        # A paragraph that is mostly thought, or the first or last of several that begins with one, is thought as
        # a whole: the rest of it explains itself.
        mostly = count > 1 and 2 * count >= len(sentences)
        first, last = not text[:start].strip(), not text[end:].strip()
        opens = bool(leaked) and leaked[0] and first and not last
        closes = bool(leaked) and leaked[0] and last and not first and 2 * count >= len(sentences)
        if mostly or opens or closes:
            leaked = [text[s.start : s.end] not in quoted for s in sentences]
        spans += [s for s, is_thought in zip(sentences, leaked, strict=True) if is_thought]
    return spans


def _paragraphs(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start, position = None, 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            start = position if start is None else start
        elif start is not None:
            found.append((start, position))
            start = None
        position += len(line)
    if start is not None:
        found.append((start, position))
    return found


def _is_thought(sentence: str, quoted: _Quoted) -> bool:
    bare = _MARKERS.sub("", sentence).replace("’", "'").lstrip()
    if sentence.strip() in quoted:
        return False
    label = _LABEL.match(bare)
    if label and quoted.in_any_case(label.group()):
        # terraform prints "Plan:" itself; who misquotes the figures behind it thinks no more aloud than who does not.
        return False
    match = _PROSE.match(bare) or label or _ANYWHERE.search(bare)
    if match is None:
        return False
    # "The user requested kombu<5.3" is how pip talks when pip has just said so.
    words = match.group().split()
    return len(words) < 2 or match.group() not in quoted


def _is_step(sentence: str, quoted: _Quoted) -> bool:
    return bool(_STEP.match(sentence.lstrip())) and sentence.strip() not in quoted


def _merge(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            merged.append(span)
    return merged
